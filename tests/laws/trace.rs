//! Everything that our crates say to `tracing`, as text.

use std::cell::RefCell;
use std::fmt::{Debug, Write as _};
use std::sync::Once;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

thread_local! {
    static HEARD: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Takes down what is said on this thread from its start on.
pub(crate) struct Trace(());

impl Trace {
    pub(crate) fn start() -> Self {
        // One listener for the process: `tracing` asks once per line of code whether anybody
        // listens, and a thread without a listener would answer for all.
        static LISTENING: Once = Once::new();
        LISTENING.call_once(|| tracing::subscriber::set_global_default(Listener).unwrap());
        HEARD.take();
        Self(())
    }

    pub(crate) fn text(&self) -> String {
        let Self(()) = self;
        HEARD.with_borrow(Clone::clone)
    }
}

struct Listener;

fn hear(record: impl FnOnce(&mut Line<'_>)) {
    HEARD.with_borrow_mut(|text| record(&mut Line(text)));
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tower_outcome")
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        hear(|line| attributes.record(line));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        hear(|line| values.record(line));
    }

    fn event(&self, event: &Event<'_>) {
        hear(|line| event.record(line));
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
