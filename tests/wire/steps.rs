//! A write that is ended, or loses its connection, after every step that it takes: nothing but the
//! order of polls is left to chance, and that is enumerated.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use http::Request;
use tokio::runtime::Builder;
use tower_outcome::{Code, Conclusion, Outcome, OutcomeBody, OutcomeClient, Watch};

use crate::memory::{Memory, Parting};
use crate::once;

#[derive(Clone, Copy, Debug)]
enum End {
    /// The caller goes away.
    Drop,
    Deadline,
    /// The process goes down.
    Drain,
}

/// What was said of a write, and what became of it in the end.
#[derive(Debug)]
struct Ended {
    /// To the caller, if it was still there.
    told: Option<Conclusion>,
    settled: Option<Conclusion>,
    /// The write had ended by itself before.
    was_over: bool,
    begun: usize,
    commits: usize,
}

impl Ended {
    /// Every word that was said, each of which has to be true of what the server has seen since.
    fn words(&self) -> BTreeSet<&'static str> {
        let mut words = BTreeSet::new();
        for word in [self.told, self.settled].into_iter().flatten() {
            let outcome = word.outcome();
            words.insert(outcome.as_str());
            let refused = word.code() == Code::Rejected;
            let kept_home = self.begun == 0 || refused;
            assert!(
                outcome != Outcome::Failed || self.commits == 0 && kept_home,
                "{self:?}"
            );
            assert!(!outcome.is_done() || self.commits == 1, "{self:?}");
        }
        assert!(self.commits <= 1, "{self:?}");
        words
    }
}

/// Runs the case with an event after no step, one, two, and so on, until the write is over by then.
fn at_every_step(case: impl Fn(usize) -> Ended) -> BTreeSet<&'static str> {
    let mut words = BTreeSet::new();
    for steps in 0..MOST_STEPS {
        let ended = case(steps);
        words.extend(ended.words());
        if ended.was_over {
            return words;
        }
    }
    panic!("the write never ends");
}

#[test]
fn a_write_that_is_ended_after_any_step_is_failed_only_where_nothing_of_it_arrives() {
    for (http2, body) in [(false, BODY), (false, ""), (true, BODY), (true, "")] {
        for end in [End::Drop, End::Deadline, End::Drain] {
            let mut words = BTreeSet::new();
            for order in 0..ORDERS {
                let server = || Memory::new(http2, body.len(), order);
                let case = |steps| block_on(end_after(server(), body, steps, end));
                words.extend(at_every_step(case));
            }
            let seen = words.into_iter().collect::<Vec<_>>();
            let expected: &[_] = match end {
                End::Deadline => &["failed", "ok", "unknown"],
                // The answer is waited for.
                End::Drain | End::Drop => &["failed", "ok"],
            };
            assert_eq!(seen, expected, "HTTP/2: {http2}, {body}, {end:?}");
        }
    }
}

async fn end_after(server: Memory, body: &'static str, steps: usize, end: End) -> Ended {
    let stack = once().with_deadline(DEADLINE);
    let client = stack.over(server.client()).boxed();
    let (request, watch) = watched(body);
    let call = tokio::spawn(async move { client.send(request).await.conclusion() });
    // It has begun.
    step().await;
    for _ in 0..steps {
        step().await;
    }
    let was_over = call.is_finished();
    let told = match end {
        End::Drop => {
            call.abort();
            call.await.ok()
        }
        End::Deadline => {
            tokio::time::advance(DEADLINE).await;
            call.await.ok()
        }
        End::Drain => {
            stack.drain(Duration::ZERO).await;
            call.await.ok()
        }
    };
    let settled = settled(&watch).await;
    let (begun, commits) = server.counts();
    Ended {
        told,
        settled,
        was_over,
        begun,
        commits,
    }
}

#[test]
fn a_connection_that_ends_around_any_step_of_the_next_write_makes_no_word_false() {
    let http1 = [
        Parting::Close,
        Parting::Say(b"HTTP/1.1 408 \r\nconnection: close\r\ncontent-length: 0\r\n\r\n"),
        Parting::Say(b"HTTP/1.1 400 \r\nconnection: close\r\ncontent-length: 0\r\n\r\n"),
    ];
    let http2 = [Parting::Close, Parting::GoAway, Parting::Grace];
    let cases = http1.map(|it| (false, it)).into_iter();
    for (http2, parting) in cases.chain(http2.map(|it| (true, it))) {
        let mut words = BTreeSet::new();
        for order in 0..ORDERS {
            let server = || Memory::new(http2, BODY.len(), order);
            for ahead in 0..STEPS_OF_AN_END {
                words.extend(block_on(part(server(), parting, ahead, 0)).words());
            }
            let case = |behind| block_on(part(server(), parting, 0, behind));
            words.extend(at_every_step(case));
        }
        assert!(words.contains("ok"), "HTTP/2: {http2}, {parting:?}");
    }
}

/// A write over a connection that was used before and ends `ahead` steps before the write begins, or
/// `behind` steps after.
async fn part(server: Memory, parting: Parting, ahead: usize, behind: usize) -> Ended {
    let client: OutcomeClient = once().over(server.client()).boxed();
    let first = client.send(watched(BODY).0).await;
    assert_eq!(first.code(), Code::Done);
    // The connection is idle then.
    tokio::time::sleep(Duration::from_secs(1)).await;

    let (request, watch) = watched(BODY);
    if behind == 0 {
        server.part(parting);
        for _ in 0..ahead {
            step().await;
        }
    }
    let call = tokio::spawn(async move { client.send(request).await.conclusion() });
    for _ in 0..behind {
        step().await;
    }
    let was_over = call.is_finished();
    if behind > 0 {
        server.part(parting);
    }
    let told = call.await.ok();
    let settled = settled(&watch).await;
    let (begun, commits) = server.counts();
    Ended {
        told,
        settled,
        was_over,
        begun: begun - 1,
        commits: commits - 1,
    }
}

/// What became of the write, once everything that was under way is over.
async fn settled(watch: &Watch) -> Option<Conclusion> {
    let settled = match watch.call() {
        Some(call) => Some(call.settled().await),
        None => None,
    };
    tokio::time::sleep(Duration::from_hours(1)).await;
    settled
}

fn watched(body: &'static str) -> (Request<OutcomeBody>, Watch) {
    let watch = Watch::new();
    let mut request = Request::post("http://billing/refunds")
        .body(body.into())
        .unwrap();
    request.extensions_mut().insert(watch.clone());
    (request, watch)
}

/// Lets every task that can go on take its turn. (Tokio's own `yield_now` waits until none can.)
async fn step() {
    let mut others = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut others, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Among the tasks, and not beside them.
fn block_on<T: Send + 'static>(case: impl Future<Output = T> + Send + 'static) -> T {
    let mut runtime = Builder::new_current_thread();
    // Timers are looked at between any two polls.
    runtime.enable_time().start_paused(true).event_interval(1);
    let runtime = runtime.build().unwrap();
    runtime.block_on(runtime.spawn(case)).unwrap()
}

const BODY: &str = r#"{"order":"A-1","amount":1000}"#;
const DEADLINE: Duration = Duration::from_secs(1);
/// So many steps after its end a connection has come to rest.
const STEPS_OF_AN_END: usize = 40;
const MOST_STEPS: usize = 10_000;
/// In so many orders the two ends of a connection get their turns.
const ORDERS: u64 = 6;
