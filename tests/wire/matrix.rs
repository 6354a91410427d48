//! Every fault under every client that we know, on a runtime of one thread and on one of several.
//!
//! One test a row. What a row allows follows from what can be known of its fault; see
//! `tower_outcome_matrix::Truth`.

use std::panic::resume_unwind;
use std::thread;

use tokio::runtime::Builder;
use tower_outcome_matrix::{Cell, Client, Row, ours, rows, run};

/// All at a time: most of it is waiting for answers that never come.
fn cells(row: &Row) -> Vec<Cell> {
    let clients = ours();
    let clients = clients
        .iter()
        .filter(|it| row.protocols.contains(&it.protocol));
    thread::scope(|scope| {
        let running: Vec<_> = clients
            .flat_map(|client| [(client, false), (client, true)])
            .map(|(client, multi)| scope.spawn(move || cell(row, client, multi)))
            .collect();
        let ended = running.into_iter().map(std::thread::ScopedJoinHandle::join);
        ended
            .map(|it| it.unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}

fn cell(row: &Row, client: &Client, multi: bool) -> Cell {
    let mut runtime = if multi {
        Builder::new_multi_thread()
    } else {
        Builder::new_current_thread()
    };
    let runtime = runtime.worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(run(row, client)).unwrap()
}

fn check(name: &str) {
    let rows = rows();
    let row = rows.iter().find(|row| row.name == name).unwrap();
    let cells = cells(row);
    assert!(!cells.is_empty());
    for cell in cells {
        assert!(!cell.is_false_failed(), "{cell:?}");
        assert!(!cell.is_false_done(), "{cell:?}");
        assert!(!cell.is_double_commit(), "{cell:?}");
        let may_be_needless = NEEDLESS.contains(&(cell.row, cell.client));
        assert_eq!(cell.is_needless_unknown(), may_be_needless, "{cell:?}");
    }
}

/// What ends `unknown` although it could be known.
const NEEDLESS: [(&str, &str); 1] = [
    // The channel keeps the request in a queue of its own until the connect ends.
    ("the connect hangs", "tonic"),
];

macro_rules! rows {
    ($($test:ident: $name:literal,)+) => {
        const TESTED: &[&str] = &[$($name),+];

        $(
            #[test]
            fn $test() {
                check($name);
            }
        )+
    };
}

#[test]
fn every_row_is_a_test() {
    let all: Vec<_> = rows().iter().map(|row| row.name).collect();
    let missing: Vec<_> = all.iter().filter(|name| !TESTED.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(all.len(), TESTED.len());
}

rows! {
    the_connect_hangs: "the connect hangs",
    the_host_name_does_not_resolve: "the host name does not resolve",
    fin_lies_unseen_in_the_idle_connection: "FIN lies unseen in the idle connection",
    rst_lies_unseen_in_the_idle_connection: "RST lies unseen in the idle connection",
    code_408_lies_unseen_in_the_idle_connection: "408 lies unseen in the idle connection",
    answers: "answers",
    refuses_to_connect: "refuses to connect",
    accepts_once_the_write_has_ended: "accepts once the write has ended",
    accepts_then_closes: "accepts, then closes",
    accepts_then_resets: "accepts, then resets",
    answers_503_before_it_has_read_then_closes: "answers 503 before it has read, then closes",
    half_closes_then_reads: "half-closes, then reads",
    half_closes_then_commits: "half-closes, then commits",
    reads_10_bytes_then_closes: "reads 10 bytes, then closes",
    reads_10_bytes_then_resets: "reads 10 bytes, then resets",
    reads_the_head_then_is_silent: "reads the head, then is silent",
    reads_the_head_answers_413_then_closes: "reads the head, answers 413, then closes",
    reads_all_then_closes: "reads all, then closes",
    reads_all_then_resets: "reads all, then resets",
    reads_all_then_is_silent: "reads all, then is silent",
    reads_all_answers_100_then_is_silent: "reads all, answers 100, then is silent",
    commits_then_closes: "commits, then closes",
    commits_then_resets: "commits, then resets",
    commits_then_is_silent: "commits, then is silent",
    commits_then_sends_nonsense: "commits, then sends nonsense",
    commits_answers_103_then_is_silent: "commits, answers 103, then is silent",
    commits_sends_half_a_head_then_closes: "commits, sends half a head, then closes",
    commits_sends_half_a_head_then_resets: "commits, sends half a head, then resets",
    commits_sends_half_a_body_then_closes: "commits, sends half a body, then closes",
    commits_sends_half_a_body_then_is_silent: "commits, sends half a body, then is silent",
    commits_answers_once_the_write_has_ended: "commits, answers once the write has ended",
    answers_503_to_the_head_then_commits: "answers 503 to the head, then commits",
    commits_answers_103_then_201: "commits, answers 103, then 201",
    answers_400: "answers 400",
    answers_408: "answers 408",
    answers_422: "answers 422",
    answers_429: "answers 429",
    answers_500: "answers 500",
    answers_503: "answers 503",
    commits_answers_500: "commits, answers 500",
    commits_answers_502: "commits, answers 502",
    commits_answers_503: "commits, answers 503",
    commits_answers_504: "commits, answers 504",
    redirects_by_307: "redirects by 307",
    commits_redirects_by_303: "commits, redirects by 303",
    commits_redirects_by_303_into_a_refusal: "commits, redirects by 303 into a refusal",
    closes_the_idle_connection: "closes the idle connection",
    resets_the_idle_connection: "resets the idle connection",
    forgets_the_idle_connection: "forgets the idle connection",
    answers_408_on_the_idle_connection: "answers 408 on the idle connection",
    reads_10_bytes_after_reuse_then_closes: "reads 10 bytes after reuse, then closes",
    commits_after_reuse_then_closes: "commits after reuse, then closes",
    commits_after_reuse_then_resets: "commits after reuse, then resets",
    refuses_the_stream_at_its_head: "refuses the stream at its head",
    refuses_the_stream_at_its_end: "refuses the stream at its end",
    commits_resets_by_no_error: "commits, resets by NO_ERROR",
    commits_resets_by_internal_error: "commits, resets by INTERNAL_ERROR",
    commits_resets_by_cancel: "commits, resets by CANCEL",
    commits_resets_by_enhance_your_calm: "commits, resets by ENHANCE_YOUR_CALM",
    commits_resets_by_http_1_1_required: "commits, resets by HTTP_1_1_REQUIRED",
    resets_by_internal_error: "resets by INTERNAL_ERROR",
    goes_away_below_the_stream_then_closes: "goes away below the stream, then closes",
    goes_away_below_the_stream: "goes away below the stream",
    goes_away_below_the_stream_by_an_error_then_closes: "goes away below the stream by an error, then closes",
    goes_away_with_a_grace_then_below_the_stream: "goes away with a grace, then below the stream",
    commits_goes_away_at_the_stream_then_closes: "commits, goes away at the stream, then closes",
    commits_goes_away_at_the_stream_then_resets: "commits, goes away at the stream, then resets",
    commits_goes_away_with_a_grace_then_closes: "commits, goes away with a grace, then closes",
    answers_and_goes_away_at_the_stream: "answers, and goes away at the stream",
    goes_away_on_the_idle_connection: "goes away on the idle connection",
    commits_breaks_the_protocol: "commits, breaks the protocol",
    commits_sends_half_a_body_resets_the_stream: "commits, sends half a body, resets the stream",
    allows_no_stream_once_one_is_open: "allows no stream once one is open",
    closes_while_the_write_waits_for_a_stream: "closes while the write waits for a stream",
    goes_away_while_the_write_waits_for_a_stream: "goes away while the write waits for a stream",
    closes_after_the_clienthello: "closes after the ClientHello",
    answers_the_clienthello_with_garbage: "answers the ClientHello with garbage",
    resets_after_the_clienthello: "resets after the ClientHello",
    is_silent_after_the_clienthello: "is silent after the ClientHello",
    commits_answers_2000_times_103_and_201: "commits, answers 2000 times 103 and 201",
    commits_answers_2000_times_103_then_closes: "commits, answers 2000 times 103, then closes",
    commits_sends_less_than_it_states_then_closes: "commits, sends less than it states, then closes",
    commits_sends_more_than_it_states_then_closes: "commits, sends more than it states, then closes",
    commits_states_two_lengths_then_closes: "commits, states two lengths, then closes",
    commits_states_no_length_then_closes: "commits, states no length, then closes",
    commits_sends_half_a_chunk_then_closes: "commits, sends half a chunk, then closes",
    commits_sends_a_head_that_is_too_long_then_closes: "commits, sends a head that is too long, then closes",
    commits_switches_protocols_then_is_silent: "commits, switches protocols, then is silent",
    answers_then_resets_by_no_error: "answers, then resets by NO_ERROR",
    answers_then_resets_by_cancel: "answers, then resets by CANCEL",
    answers_then_refuses_the_stream: "answers, then refuses the stream",
    answers_then_goes_away_below_the_stream: "answers, then goes away below the stream",
    commits_sends_half_a_body_goes_away_below_the_stream_then_closes: "commits, sends half a body, goes away below the stream, then closes",
    commits_sends_half_a_body_goes_away_at_the_stream_then_closes: "commits, sends half a body, goes away at the stream, then closes",
    commits_sends_half_a_body_refuses_the_stream: "commits, sends half a body, refuses the stream",
    commits_answers_103_resets_by_internal_error: "commits, answers 103, resets by INTERNAL_ERROR",
    commits_answers_103_goes_away_at_the_stream_then_closes: "commits, answers 103, goes away at the stream, then closes",
    commits_answers_1000_times_103_and_the_answer: "commits, answers 1000 times 103 and the answer",
    commits_goes_away_with_a_grace_then_at_the_stream_then_closes: "commits, goes away with a grace, then at the stream, then closes",
    commits_sends_less_than_it_states: "commits, sends less than it states",
    commits_sends_more_than_it_states: "commits, sends more than it states",
    commits_sends_a_body_before_its_head: "commits, sends a body before its head",
    commits_denies_it_in_the_head_sends_a_message: "commits, denies it in the head, sends a message",
    commits_denies_it_in_the_head_and_not_in_the_trailers: "commits, denies it in the head and not in the trailers",
    commits_denies_it_and_not_in_the_trailers: "commits, denies it and not in the trailers",
}
