//! What the calls are made to: two services, each reached directly and through a proxy that repeats.

use std::pin::pin;

use futures_util::future::{Either, join_all, select};
use serde_json::Value;
use tower_outcome_core::ledger::{Entry, WriteRecord};
use tower_outcome_testkit::{Billing, End, Relay, ReplayingProxy, Reply, Step, What};
use tower_outcome_tools::reconciler::LookUpFuture;
use tower_outcome_tools::{Found, LookUp};

use crate::wishes::{CALLS, Dice, Service};

pub(crate) struct Services {
    /// In the order of [`Service::ALL`].
    billing: Vec<Billing>,
    proxies: Vec<ReplayingProxy>,
}

impl Services {
    pub(crate) async fn start() -> Self {
        let mut dice = Dice(0xface);
        let (mut billing, mut proxies) = (Vec::new(), Vec::new());
        for service in Service::ALL {
            let started = if service.honours_keys() {
                Billing::start().await
            } else {
                Billing::start_without_keys().await
            };
            let started = started.unwrap();
            started.script((0..CALLS).map(|_| fault(&mut dice)));
            if service.is_behind_proxy() {
                let proxy = ReplayingProxy::start(started.addr()).await.unwrap();
                proxy.script((0..CALLS).map(|_| relay(&mut dice)));
                proxies.push(proxy);
            }
            billing.push(started);
        }
        Self { billing, proxies }
    }

    /// Where clients find each of [`Service::ALL`].
    pub(crate) fn urls(&self) -> Vec<String> {
        let mut proxies = self.proxies.iter().peekable();
        let urls = Service::ALL.iter().zip(&self.billing);
        urls.map(|(service, billing)| {
            let proxy = proxies.next_if(|_| service.is_behind_proxy());
            proxy.map_or_else(|| billing.url(), ReplayingProxy::url)
        })
        .collect()
    }

    pub(crate) fn at(&self, service: Service) -> &Billing {
        let at = Service::ALL.iter().position(|known| *known == service);
        &self.billing[at.unwrap()]
    }

    /// Lets answers that are held back go, every third time that one is, until `end`.
    pub(crate) async fn serve_until<T>(&self, end: impl Future<Output = T>) -> T {
        let releasing = self.billing.iter().map(|billing| async {
            let mut held = 0;
            let never = billing.wait_for(|event| {
                if event.what == What::Holding {
                    held += 1;
                    if held % 3 == 0 {
                        billing.release();
                    }
                }
                false
            });
            never.await;
        });
        let releasing = pin!(join_all(releasing));
        match select(pin!(end), releasing).await {
            Either::Left((ended, _)) => ended,
            Either::Right(_) => unreachable!("the services never end"),
        }
    }

    pub(crate) fn release(&self) {
        self.billing.iter().for_each(Billing::release);
    }
}

/// What a service does to a write that it gets.
fn fault(dice: &mut Dice) -> Step {
    let bytes = usize::try_from(dice.roll(200)).unwrap() + 1;
    match dice.roll(40) {
        0 | 1 => Step::CommitThenClose,
        2 => Step::CommitThenReset,
        3 if dice.roll(8) == 0 => Step::CommitThenHold,
        4 | 5 => Step::AnswerWith(Reply::new(500)),
        6 => Step::CommitThenAnswerWith(Reply::new(503)),
        7 | 8 => Step::AnswerWith(Reply::new(400).with_body(r#"{"error":"no such order"}"#)),
        9 => Step::HalfAnswer {
            bytes,
            end: End::Close,
        },
        10 => Step::StopAfter {
            bytes,
            end: End::Reset,
        },
        11 if dice.roll(16) == 0 => Step::ReadAllThenSilence,
        12 => Step::AnswerThen(End::Close),
        _ => Step::Answer,
    }
}

/// What a proxy does to a write on its way.
fn relay(dice: &mut Dice) -> Relay {
    match dice.roll(12) {
        0 => Relay::TwiceAtOnce,
        1 => Relay::LostAs(Reply::new(503)),
        2 => Relay::AnswerInstead(Reply::new(429)),
        3 => Relay::AnswerMeanwhile(Reply::new(504)),
        4 => Relay::Once,
        _ => Relay::AgainIfLost,
    }
}

/// Finds a write by the key that its request carried.
pub(crate) struct AskThem {
    http: reqwest::Client,
}

impl AskThem {
    pub(crate) fn new() -> Self {
        let http = reqwest::Client::builder().build().unwrap();
        Self { http }
    }
}

impl LookUp for AskThem {
    fn find<'a>(&'a self, _: &'a Entry, write: &'a WriteRecord) -> LookUpFuture<'a> {
        Box::pin(async move {
            let (_, place) = write.route.split_once(' ').ok_or("no route")?;
            let url = format!("http://{place}?key={}", write.wire_key);
            let text = self.http.get(url).send().await?.text().await?;
            let answer: Value = serde_json::from_str(&text)?;
            Ok(match answer["found"].get(0) {
                Some(refund) => Found::Done(refund.clone()),
                None => Found::NotFound,
            })
        })
    }
}
