//! Takes down what the client reports of its attempts, for the timelines.

use std::fmt::Write as _;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::story::attempts;

/// From here on every attempt of the client is taken down.
pub(crate) fn capture() {
    // Nothing else in this program sets one, so this cannot fail.
    let _ = tracing::subscriber::set_global_default(Attempts);
}

struct Attempts;

impl Subscriber for Attempts {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tower_outcome::transport")
            && metadata.is_event()
            && *metadata.level() == Level::DEBUG
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::from("attempt:"));
        event.record(&mut line);
        attempts().push(line.0);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() != "message" {
            let _ = write!(self.0, " {} {value:?}", field.name());
        }
    }
}
