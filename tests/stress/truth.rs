//! What really happened, and whether what was said is true of it.

use std::collections::{BTreeMap, HashMap};

use tower_outcome::{Envelope, Outcome};
use tower_outcome_core::ledger::{Entry, Filter, Ledger, State};
use tower_outcome_testkit::{Billing, What};

use crate::services::Services;
use crate::wishes::{CALLS, SEED, Service, Wish, calls, wishes};

/// What the services did, and what the ledger says.
pub(crate) struct Truth {
    /// For each call the requests of it that a service read, and those that took effect.
    calls: HashMap<u64, Seen>,
    wishes: BTreeMap<u64, (Wish, usize, Option<Entry>)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    read: usize,
    committed: usize,
}

impl Truth {
    pub(crate) async fn of(services: &Services, ledger: &impl Ledger) -> Self {
        let mut seen = HashMap::new();
        for service in Service::ALL {
            take_in(services.at(service), &mut seen);
        }
        let everything = Filter::new(usize::try_from(CALLS).unwrap());
        let rows = ledger.page(&everything).await.unwrap().entries.into_iter();
        let mut rows: HashMap<_, _> = rows.map(|row| (row.key.clone(), row)).collect();
        let mut commits = HashMap::<_, usize>::new();
        for call in calls() {
            let seen: Seen = seen.get(&call.id).copied().unwrap_or_default();
            *commits.entry(call.wish.n).or_default() += seen.committed;
        }
        let wishes = wishes().map(|wish| {
            let row = rows.remove(&wish.key());
            (wish.n, (wish, commits[&wish.n], row))
        });
        let wishes = wishes.collect();
        Self {
            calls: seen,
            wishes,
        }
    }

    /// Fails if a word or a row is not true, and tells all that is known of each.
    pub(crate) fn uphold(&self, services: &Services, told: &[(u64, Envelope)]) {
        let calls = calls();
        let (mut wrongs, mut words) = (Vec::new(), HashMap::<_, usize>::new());
        for (wish, commits, row) in self.wishes.values() {
            if let Some(wrong) = row_is_wrong(*wish, *commits, state(row.as_ref())) {
                wrongs.push((*wish, wrong.to_owned()));
            }
        }
        for (id, envelope) in told {
            let call = calls[usize::try_from(*id).unwrap()];
            let seen = self.calls.get(id).copied().unwrap_or_default();
            let (_, commits, _) = self.wishes[&call.wish.n];
            if let Some(wrong) = word_is_wrong(envelope.outcome(), call.wish, seen, commits) {
                wrongs.push((call.wish, format!("call {id}: {wrong}")));
            }
            *words
                .entry((envelope.outcome(), envelope.code()))
                .or_default() += 1;
        }
        let stories = wrongs.iter().map(|(wish, wrong)| {
            let story = self.story(services, *wish, told);
            format!("{wrong}\n{story}")
        });
        let stories: Vec<_> = stories.collect();
        assert!(
            stories.is_empty(),
            "seed {SEED:#x}, {words:?}\n{}",
            stories.join("\n")
        );
        let likely = [
            Outcome::AlreadyDone,
            Outcome::Failed,
            Outcome::Ok,
            Outcome::Unknown,
        ];
        for word in likely {
            let said = words.keys().any(|(said, _)| *said == word);
            assert!(said, "{words:?}");
        }
        println!("{words:?} of {} calls", calls.len());
    }

    /// All that is known of a wish: its calls, what they were told, its row, the service's log.
    fn story(&self, services: &Services, wish: Wish, told: &[(u64, Envelope)]) -> String {
        let (_, commits, row) = &self.wishes[&wish.n];
        let mut lines = vec![
            format!("{wish:?} at {:?}: {commits} commits", wish.service()),
            format!("row of {:?}: {row:?}", wish.key()),
        ];
        for call in calls().iter().filter(|call| call.wish.n == wish.n) {
            let told = told.iter().find(|(id, _)| *id == call.id);
            let seen = self.calls.get(&call.id).copied().unwrap_or_default();
            lines.push(format!(
                "{call:?}, {seen:?}, was told {:?}",
                told.map(|(_, envelope)| envelope)
            ));
        }
        lines.extend(log(services.at(wish.service()), &wish.path()));
        lines.join("\n  ")
    }
}

fn state(row: Option<&Entry>) -> Option<State> {
    row.map(|row| row.state)
}

/// What happened on the connections that requests to `path` came over.
fn log(billing: &Billing, path: &str) -> Vec<String> {
    let received = billing.received();
    let requests = received.iter().filter(|request| request.path == path);
    let read =
        requests.map(|request| format!("connection {} read {request:?}", request.connection));
    let mut lines: Vec<_> = read.collect();
    // Its own requests, and what followed each of them.
    let mut own = HashMap::new();
    for event in billing.timeline() {
        if let What::ReadHead { path: read, .. } = &event.what {
            own.insert(event.connection, read == path);
        }
        if own.get(&event.connection) == Some(&true) {
            lines.push(event.to_string());
        }
    }
    lines
}

fn row_is_wrong(wish: Wish, commits: usize, state: Option<State>) -> Option<&'static str> {
    let service = wish.service();
    if commits > service.most_commits() {
        return Some("it was done twice");
    }
    match (state, commits) {
        (Some(State::Done | State::Partial), 0) => Some("it was not done"),
        (Some(State::Failed | State::Free) | None, 1..) => Some("it was done"),
        (Some(State::Unknown), 1..) if service.honours_keys() => Some("it can be found by its key"),
        (Some(State::Claimed | State::Dispatching), _) => Some("it is over"),
        _ => None,
    }
}

fn word_is_wrong(word: Outcome, wish: Wish, seen: Seen, commits: usize) -> Option<&'static str> {
    match word {
        Outcome::AlreadyDone if commits == 0 => Some("nobody did it"),
        Outcome::AlreadyDone | Outcome::Failed if seen.committed > 0 => Some("this call did it"),
        Outcome::Ok if seen.committed == 0 => Some("this call did not do it"),
        Outcome::Ok if seen.committed > wish.service().most_commits() => Some("it did it twice"),
        Outcome::Skipped if seen.read > 0 => Some("this call sent something"),
        _ => None,
    }
}

/// Takes in what became of each request, by the call that it names.
fn take_in(billing: &Billing, calls: &mut HashMap<u64, Seen>) {
    let received = billing.received();
    // Over HTTP/1.1 what follows a head on a connection is about that request.
    let mut open = HashMap::new();
    let mut next = received.iter();
    for event in billing.timeline() {
        match event.what {
            What::ReadHead { .. } => {
                let request = next.next().unwrap();
                assert_eq!(request.connection, event.connection);
                let call = request.header("x-call").map(|call| call.parse().unwrap());
                open.insert(event.connection, call);
                if let Some(call) = call {
                    calls.entry(call).or_default().read += 1;
                }
            }
            What::Committed { .. } => {
                let call = open[&event.connection].expect("only calls write");
                calls.entry(call).or_default().committed += 1;
            }
            _ => {}
        }
    }
}
