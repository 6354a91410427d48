//! Whole stacks over a real client, and a server whose first answer goes wrong.

use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tower::buffer::BufferLayer;
use tower::limit::ConcurrencyLimitLayer;
use tower::load_shed::LoadShedLayer;
use tower::retry::RetryLayer;
use tower::timeout::TimeoutLayer;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Layer as _, ServiceExt as _};
use tower_outcome::transport::Wire;
use tower_outcome::{
    ClaimLayer, DeadlineLayer, KeyLayer, KeyedRetry, MemoryLedger, Outcome, OutcomeBody,
    OutcomeLayer, Profile, ReplyBody, ShieldLayer,
};
use tower_outcome_testkit::{Billing, Refusing, Reply, Step};

use crate::support::intended;

type Boxed = BoxCloneSyncService<Request<OutcomeBody>, Response<ReplyBody<Incoming>>, BoxError>;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Layer {
    Claim,
    Deadline,
    Key,
    Retry,
    Shield,

    // Other people's:
    Buffer,
    ConcurrencyLimit,
    LoadShed,
    Timeout,
}

pub(crate) const FOREIGN: [Layer; 4] = [
    Layer::Buffer,
    Layer::ConcurrencyLimit,
    Layer::LoadShed,
    Layer::Timeout,
];

/// What the server does with the first write that reaches it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    Close,
    GatewayError,
    Refuse,
    Silence,
}

/// Makes the same write twice through each stack, to a server with keys and to one without.
///
/// # Panics
///
/// If a word is false, or something was written twice.
pub(crate) async fn check(fault: Fault, stacks: &[Vec<Layer>]) {
    let mut complaints = Vec::new();
    for honours_keys in [false, true] {
        // A few at a time: a deadline is to run out because of the server's silence alone.
        for orders in stacks.chunks(8) {
            let checks = orders
                .iter()
                .map(|order| tokio::spawn(complaints_of(order.clone(), fault, honours_keys)));
            for check in checks.collect::<Vec<_>>() {
                complaints.extend(check.await.unwrap());
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

async fn complaints_of(order: Vec<Layer>, fault: Fault, honours_keys: bool) -> Vec<String> {
    let mut server = Server::start(fault, honours_keys).await;
    let profile = if honours_keys {
        Profile::idempotency_key()
    } else {
        Profile::generic()
    };
    let outcome = OutcomeLayer::new().with_profile(profile);
    let client = tower_outcome::Client::new(outcome.layer(stack(&order))).boxed();
    let mut words = Vec::new();
    let mut complaints = Vec::new();
    for call in ["first", "second"] {
        let mut request = intended();
        *request.uri_mut() = format!("{}/refunds", server.url()).parse().unwrap();
        request.headers_mut().insert(CALL, call.parse().unwrap());
        let verdict = client.send(request).await;
        let word = verdict.conclusion();
        words.push((call, word));
        let commits = server.commits();
        if commits > 1 || (commits == 0 && word.outcome().is_done()) {
            complaints.push(format!("{call}: {} with {commits} commits", word.code()));
        }
        server = server.open();
    }
    // Asked last: what comes after the word makes a lie of it as well.
    for (call, word) in words {
        let arrived = server.arrivals(call);
        if word.outcome() == Outcome::Failed && arrived > 0 {
            complaints.push(format!("{call}: {} and {arrived} arrived", word.code()));
        }
    }
    let of = |complaint| format!("{order:?}, {fault:?}, keys {honours_keys}, {complaint}");
    complaints.into_iter().map(of).collect()
}

enum Server {
    Away(Refusing),
    There(Billing),
}

impl Server {
    async fn start(fault: Fault, honours_keys: bool) -> Self {
        let billing = if honours_keys {
            Billing::start().await.unwrap()
        } else {
            Billing::start_without_keys().await.unwrap()
        };
        match fault {
            Fault::Close => billing.script([Step::CommitThenClose]),
            Fault::GatewayError => {
                billing.script([Step::CommitThenAnswerWith(Reply::new(503))]);
            }
            Fault::Refuse => return Self::Away(billing.stop().await.unwrap()),
            Fault::Silence => billing.script([Step::CommitThenSilence, Step::CommitThenSilence]),
        }
        Self::There(billing)
    }

    fn open(self) -> Self {
        match self {
            Self::Away(refusing) => Self::There(refusing.open().unwrap()),
            Self::There(billing) => Self::There(billing),
        }
    }

    fn url(&self) -> String {
        match self {
            Self::Away(refusing) => refusing.url(),
            Self::There(billing) => billing.url(),
        }
    }

    fn commits(&self) -> usize {
        match self {
            Self::Away(_) => 0,
            Self::There(billing) => billing.commits(),
        }
    }

    /// How many requests of `call` were read in full, each of which may have changed something.
    fn arrivals(&self, call: &str) -> usize {
        let Self::There(billing) = self else { return 0 };
        let received = billing.received();
        let of_call = received
            .iter()
            .filter(|it| it.complete && it.header(CALL) == Some(call));
        of_call.count()
    }
}

/// The layers in `order`, outermost first, over a real client.
fn stack(order: &[Layer]) -> Boxed {
    let client = Client::builder(TokioExecutor::new()).build_http();
    let wire = Boxed::new(Wire::hyper(client).map_err(plain));
    order.iter().rfold(wire, |inner, layer| match layer {
        Layer::Claim => {
            let claim = ClaimLayer::new(MemoryLedger::default());
            let layer = claim.with_patience(Duration::from_millis(20));
            Boxed::new(layer.layer(inner).map_err(plain))
        }
        Layer::Deadline => Boxed::new(DeadlineLayer::new(DEADLINE).layer(inner).map_err(plain)),
        Layer::Key => Boxed::new(KeyLayer::new().layer(inner).map_err(plain)),
        Layer::Retry => {
            let policy = KeyedRetry::new(2).with_first_delay(Duration::from_millis(1));
            Boxed::new(RetryLayer::new(policy).layer(inner))
        }
        Layer::Buffer => Boxed::new(BufferLayer::new(4).layer(inner)),
        Layer::ConcurrencyLimit => Boxed::new(ConcurrencyLimitLayer::new(1).layer(inner)),
        Layer::LoadShed => Boxed::new(LoadShedLayer::new().layer(inner)),
        Layer::Timeout => Boxed::new(TimeoutLayer::new(DEADLINE / 2).layer(inner)),
        Layer::Shield => Boxed::new(ShieldLayer::new().layer(inner).map_err(plain)),
    })
}

fn plain(error: tower_outcome::Error) -> BoxError {
    error.into()
}

const CALL: &str = "x-call";
const DEADLINE: Duration = Duration::from_millis(100);
