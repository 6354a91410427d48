//! The state that a server's connections share with the test.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio::time::Instant;

use crate::refunds::{Refund, Refunds};
use crate::{Event, LookUp, Received, Reply, Step, What};

/// Script, refunds, requests and timeline of one server, behind one lock.
pub(crate) struct Books {
    started: Instant,
    pages: Mutex<Pages>,
    /// Marked after every event.
    changed: watch::Sender<()>,
    /// Counts the releases.
    releases: watch::Sender<usize>,
    /// Whether connections are to end as soon as their client pauses.
    closing: watch::Sender<bool>,
}

struct Pages {
    connections: usize,
    events: Vec<Event>,
    received: Vec<Received>,
    refunds: Refunds,
    script: VecDeque<Step>,
    streams_allowed: Option<u32>,
}

/// The connection, and the stream if it has some.
type Place = (usize, Option<u32>);

impl Books {
    pub(crate) fn new(honours_keys: bool) -> Self {
        Self {
            started: Instant::now(),
            pages: Mutex::new(Pages {
                connections: 0,
                events: Vec::new(),
                received: Vec::new(),
                refunds: Refunds::new(honours_keys),
                script: VecDeque::new(),
                streams_allowed: None,
            }),
            changed: watch::Sender::new(()),
            releases: watch::Sender::new(0),
            closing: watch::Sender::new(false),
        }
    }

    pub(crate) fn script(&self, steps: impl IntoIterator<Item = Step>) {
        // Collected first: the iterator is the caller's code and may call back.
        let steps: Vec<_> = steps.into_iter().collect();
        self.pages().script.extend(steps);
    }

    pub(crate) fn next_step(&self) -> Step {
        self.pages().script.pop_front().unwrap_or(Step::Answer)
    }

    /// Numbers a new connection, and gives it the next step if that one acts on acceptance.
    pub(crate) fn accept(&self) -> (usize, Option<Step>) {
        let mut pages = self.pages();
        pages.connections += 1;
        let number = pages.connections;
        self.enter(&mut pages, (number, None), What::Accepted);
        let step = pages.script.pop_front_if(|step| step.acts_on_accept());
        (number, step)
    }

    /// The next step, if that one has to be known before a head was read.
    pub(crate) fn next_counting_step(&self) -> Option<Step> {
        let script = &mut self.pages().script;
        script.pop_front_if(|step| step.counts_bytes())
    }

    /// How many streams at once a connection over HTTP/2 is told it may open.
    pub(crate) fn streams_allowed(&self) -> Option<u32> {
        self.pages().streams_allowed
    }

    pub(crate) fn allow_streams(&self, most: u32) {
        self.pages().streams_allowed = Some(most);
    }

    pub(crate) fn note(&self, connection: usize, stream: Option<u32>, what: What) {
        self.enter(&mut self.pages(), (connection, stream), what);
    }

    /// Files a request whose head was read and gives it its place in the order.
    pub(crate) fn receive(&self, mut request: Received) -> Received {
        let mut pages = self.pages();
        request.sequence = pages.received.len();
        pages.received.push(request.clone());
        let head = What::ReadHead {
            method: request.method.clone(),
            path: request.path.clone(),
        };
        self.enter(&mut pages, place(&request), head);
        request
    }

    /// Files what became of the body of a request.
    pub(crate) fn receive_body(&self, request: &Received) {
        let mut pages = self.pages();
        pages.received[request.sequence].clone_from(request);
        if request.complete {
            self.enter(&mut pages, place(request), What::ReadAll);
        }
    }

    pub(crate) fn commit(&self, request: &Received) -> Reply {
        let mut pages = self.pages();
        let (what, reply) = pages.refunds.commit(request);
        self.enter(&mut pages, place(request), what);
        reply
    }

    pub(crate) fn look_up(&self, request: &Received) -> Reply {
        self.pages().refunds.look_up(request)
    }

    pub(crate) fn set_look_up(&self, look_up_by: LookUp) {
        self.pages().refunds.look_up_by = look_up_by;
    }

    pub(crate) fn commits(&self, of: impl Fn(&Refund) -> bool) -> usize {
        self.pages().refunds.count(of)
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.pages().received.clone()
    }

    pub(crate) fn timeline(&self) -> Vec<Event> {
        self.pages().events.clone()
    }

    /// The first event that `wanted` accepts, past or to come.
    pub(crate) async fn wait_for(&self, mut wanted: impl FnMut(&Event) -> bool) -> Event {
        let mut changed = self.changed.subscribe();
        let mut seen = 0;
        loop {
            let unseen = self.pages().events[seen..].to_vec();
            seen += unseen.len();
            if let Some(event) = unseen.into_iter().find(|event| wanted(event)) {
                return event;
            }
            // Cannot fail: the sender lives in `self`.
            let _ = changed.changed().await;
        }
    }

    /// Resolves its `changed` at the next release from now on.
    pub(crate) fn releases(&self) -> watch::Receiver<usize> {
        self.releases.subscribe()
    }

    pub(crate) fn release(&self) {
        self.releases.send_modify(|count| *count += 1);
    }

    pub(crate) fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Lets every answer go that is held, and has all connections end.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }

    fn enter(&self, pages: &mut Pages, (connection, stream): Place, what: What) {
        pages.events.push(Event {
            at: self.started.elapsed(),
            connection,
            stream,
            what,
        });
        self.changed.send_replace(());
    }

    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const fn place(request: &Received) -> Place {
    (request.connection, request.stream)
}
