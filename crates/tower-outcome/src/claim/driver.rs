//! One claimed write, from the claim to its settlement.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Poll, ready};
use std::time::Duration;

use futures_util::TryFutureExt as _;
use http::{Request, Response};
use tokio::time::Instant;
use tower_outcome_core::ledger::{
    Answer, Claim, EntryKey, Event, Grant, Ledger, WriteRecord, alias,
};
use tower_outcome_core::{BoxError, Code, Intent};
use tower_service::Service;

use super::outlive::Outlive;
use super::row::{Row, apply};
use super::{Config, stored};
use crate::call::{Call, End};
use crate::{Error, OutcomeBody, ReplyBody, StoredRequests, stored_request};

/// Runs a write of a tool call, taken down by the call's recorder first.
pub(super) async fn recorded<S, B>(
    config: Arc<Config>,
    mut inner: S,
    request: Request<OutcomeBody>,
    call: Call,
) -> Result<Response<ReplyBody<B>>, Error>
where
    S: Service<Request<OutcomeBody>, Response = Response<ReplyBody<B>>>,
    S::Error: Into<BoxError>,
{
    let recorder = call.context().and_then(|context| context.recorder());
    if recorder.is_some_and(|it| it.needs_honoured_keys()) && !call.is_keyed() {
        return Err(Error::new(Code::StoreUnavailable).with_detail(KEYS_NEEDED));
    }
    record(&request, &call, config.stored_requests.as_ref()).await?;
    let future = inner.call(request);
    future.map_err(Error::of_write).await
}

/// Has the call's recorder take a write down, if it has one, and with `kept` the request itself.
async fn record(
    request: &Request<OutcomeBody>,
    call: &Call,
    kept: Option<&StoredRequests>,
) -> Result<(), Error> {
    let Some(recorder) = call.context().and_then(|context| context.recorder()) else {
        return Ok(());
    };
    let kept = kept.filter(|_| recorder.keeps_requests());
    let record = write_record(call, request, kept);
    Ok(recorder.before_send(record).await?)
}

/// Claims a write, unless a call around it has the claim in this very ledger.
pub(super) async fn claimed_unless_held<S, B>(
    config: Arc<Config>,
    inner: S,
    request: Request<OutcomeBody>,
    call: Call,
) -> Result<Response<ReplyBody<B>>, Error>
where
    S: Service<Request<OutcomeBody>, Response = Response<ReplyBody<B>>>,
    S::Error: Into<BoxError>,
{
    if is_held(&config, &call).await? {
        call.spare_ledger();
        recorded(config, inner, request, call).await
    } else {
        claimed(config, inner, request, call).await
    }
}

async fn is_held(config: &Config, call: &Call) -> Result<bool, Error> {
    let context = call.context().zip(call.intent());
    let Some((ledger, (context, intent))) = config.ledger.as_deref().zip(context) else {
        return Ok(false);
    };
    for held in context.claims_of(intent) {
        if held.is_in(ledger).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Claims, sends and settles a write with an intent.
#[expect(
    clippy::manual_async_fn,
    reason = "an async function keeps what it is given twice, and this one is moved"
)]
pub(super) fn claimed<S, B>(
    config: Arc<Config>,
    mut inner: S,
    mut request: Request<OutcomeBody>,
    call: Call,
) -> impl Future<Output = Result<Response<ReplyBody<B>>, Error>>
where
    S: Service<Request<OutcomeBody>, Response = Response<ReplyBody<B>>>,
    S::Error: Into<BoxError>,
{
    async move {
        let Some((ledger, intent)) = config.ledger.as_ref().zip(call.intent()) else {
            return Err(Error::new(Code::NotSent));
        };
        if ledger.needs_honoured_keys() && !call.is_keyed() {
            return Err(Error::new(Code::StoreUnavailable).with_detail(KEYS_NEEDED));
        }
        let (grant, key) = match ask(&config, &**ledger, intent, &call).await? {
            Asked::Granted(grant, key) => (grant, key),
            Asked::Answered(answer) => return Ok(answer),
        };
        call.claimed(grant);

        let row = Row {
            ledger: &**ledger,
            key: &key,
            epoch: grant.epoch,
        };
        if call.gate().is_sealed() {
            return Err(row.release(&call, call.unsent_code()).await);
        }
        let sent = send(&row, &config, &mut inner, &mut request, &call);
        // A panic of whatever stands below must not leave the row behind.
        let result = Outlive::new(sent).await;
        let result = result.unwrap_or_else(|| Err(Error::new(Code::NotSent).with_detail(PANICKED)));
        if call.is_handed_on() {
            // The caller reads on, and the end of what it reads says what became of the write.
            let ledger = Arc::clone(ledger);
            tokio::spawn(settled_by_its_end(ledger, key, grant.epoch, call.clone()));
            return result;
        }
        row.settle(&call, result).await
    }
}

/// Announces the write in its row, and makes it.
async fn send<S, B>(
    row: &Row<'_>,
    config: &Config,
    inner: &mut S,
    request: &mut Request<OutcomeBody>,
    call: &Call,
) -> Result<Response<ReplyBody<B>>, Error>
where
    S: Service<Request<OutcomeBody>, Response = Response<ReplyBody<B>>>,
    S::Error: Into<BoxError>,
{
    // Whoever asks for the tool call after a crash has to know. The request is kept in the write's own
    // row only: what is sent again has to be fenced by that.
    record(request, call, None).await?;
    let announced = row.apply(Event::Send {
        epoch: row.epoch,
        write: write_record(call, request, config.stored_requests.as_ref()),
        lease: config.lease,
        sends_for: config.lease,
    });
    if let Err(error) = announced.await {
        // It may have been written all the same, but nothing has left.
        return Err(Error::new(error.code()).with_source(error));
    }
    let mut future = pin!(inner.call(std::mem::take(request)));
    if let Some(result) = ended(call, future.as_mut()).await {
        return result.map_err(Error::of_write);
    }
    if matches!(call.ended(), Some(End::Deadline | End::Shutdown)) {
        // Boxed: as the grace is.
        Box::pin(row.doubt(call)).await;
    }
    future.await.map_err(Error::of_write)
}

/// Takes down what the end of a stream said.
async fn settled_by_its_end(ledger: Arc<dyn Ledger>, key: EntryKey, epoch: u64, call: Call) {
    let row = Row {
        ledger: &*ledger,
        key: &key,
        epoch,
    };
    if ended(&call, pin!(call.streamed())).await.is_none() {
        row.doubt(&call).await;
        call.streamed().await;
    }
    let judged = call.judge(Ok(()));
    let taken = Outlive::new(row.take_down(&call, judged, None)).await;
    // A panic of the ledger: the row is left to its lease, and to doubt.
    call.settle(taken.unwrap_or(Code::StillConfirming.into()));
}

/// The answer, unless the call ends first and the answer does not come with its end.
async fn ended<F: Future>(call: &Call, mut future: Pin<&mut F>) -> Option<F::Output> {
    let mut sealed = call.gate().sealed();
    // Boxed: most calls end with their answer.
    let mut grace = None;
    poll_fn(|cx| {
        // The answer first: proof in hand beats a clock that ran out in the same wake-up.
        if let Poll::Ready(result) = future.as_mut().poll(cx) {
            return Poll::Ready(Some(result));
        }
        if grace.is_none() {
            ready!(Pin::new(&mut sealed).poll(cx));
        }
        let grace = grace.get_or_insert_with(|| Box::pin(tokio::time::sleep(SETTLE_GRACE)));
        grace.as_mut().poll(cx).map(|()| None)
    })
    .await
}

enum Asked<B> {
    Answered(Response<ReplyBody<B>>),
    Granted(Grant, EntryKey),
}

/// Claims, or waits for the identical call that has the claim.
async fn ask<B>(
    config: &Config,
    ledger: &dyn Ledger,
    intent: &Intent,
    call: &Call,
) -> Result<Asked<B>, Error> {
    let give_up = Instant::now() + config.patience;
    let mut pause = FIRST_PAUSE;
    // Nobody has to ask where a wish with one key is: its claim says so if it is elsewhere.
    let mut placed = intent.clone();
    let mut moves = intent.successor().is_some();
    loop {
        if moves {
            // Boxed: most wishes have one key, and would keep the room for this one's future.
            placed = Box::pin(alias::place(ledger, intent)).await?;
        }
        moves = intent.successor().is_some();
        let key = EntryKey::of(&placed);
        let claim = Claim::new(&placed, config.owner, config.lease);
        match apply(ledger, &key, Event::Claim(claim)).await? {
            Answer::Granted(grant) => {
                call.placed(placed);
                return Ok(Asked::Granted(grant, key));
            }
            Answer::Moved(_) => {
                moves = true;
                if Instant::now() < give_up {
                    continue;
                }
            }
            Answer::Settled { code, result, .. } => {
                call.settle(code.into());
                return Ok(Asked::Answered(stored::unpack(result.as_deref())));
            }
            Answer::StillConfirming => return Err(Error::new(Code::StillConfirming)),
            Answer::Differs { field } => {
                let detail = format!("{field} is not what it was in the call that is stored");
                return Err(Error::new(Code::KeyConflict).with_detail(detail));
            }
            Answer::Applied | Answer::InProgress => {}
        }
        let sealed = tokio::time::timeout(pause, call.gate().sealed()).await;
        if sealed.is_ok() || Instant::now() >= give_up {
            return Err(Error::new(Code::AlreadyInProgress));
        }
        pause = (pause * 2).min(LAST_PAUSE);
    }
}

/// What is known of a write before it leaves, and with `kept` the request itself.
fn write_record(
    call: &Call,
    request: &Request<OutcomeBody>,
    kept: Option<&StoredRequests>,
) -> WriteRecord {
    let (route, label) = call.described();
    let wire_key = call.announced_key();
    // Without a key that the provider honours nothing is ever sent again.
    let kept = kept.filter(|_| call.is_keyed() && wire_key.is_some());
    WriteRecord {
        label,
        route,
        reference: wire_key
            .as_ref()
            .filter(|_| call.profile().takes_reference(request))
            .cloned(),
        wire_key: wire_key.unwrap_or_default(),
        only: call.context().is_none(),
        profile: Some(call.profile().shared_name()),
        credential: kept.and_then(|kept| kept.credential(request.headers())),
        request: kept.and_then(|_| stored_request::pack(request)),
    }
}

const KEYS_NEEDED: &str = "the ledger may forget a claim, and the profile does not promise that the \
    provider honours keys; use a durable ledger, or have this one told that it may";

const PANICKED: &str = "a layer below the claim panicked";

/// For how long a call that has ended may still come back with proof before its doubt is taken down.
const SETTLE_GRACE: Duration = Duration::from_millis(100);

/// The first and the longest pause between two looks at an identical call in flight.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LAST_PAUSE: Duration = Duration::from_millis(250);
