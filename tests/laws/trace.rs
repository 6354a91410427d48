//! Everything that our crates say to `tracing`, as text.

use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Metadata, Subscriber};

/// Takes down what is said on this thread while it lives.
pub(crate) struct Trace {
    text: Arc<Mutex<String>>,
    _guard: DefaultGuard,
}

impl Trace {
    pub(crate) fn start() -> Self {
        let text = Arc::default();
        let guard = tracing::subscriber::set_default(Listener(Arc::clone(&text)));
        Self {
            text,
            _guard: guard,
        }
    }

    pub(crate) fn text(&self) -> String {
        self.text.lock().unwrap().clone()
    }
}

struct Listener(Arc<Mutex<String>>);

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tower_outcome")
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        attributes.record(&mut Line(&mut self.0.lock().unwrap()));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Line(&mut self.0.lock().unwrap()));
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Line(&mut self.0.lock().unwrap()));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line<'a>(&'a mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        writeln!(self.0, "{field} {value:?}").unwrap();
    }
}
