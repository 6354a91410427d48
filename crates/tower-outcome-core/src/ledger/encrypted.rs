//! A ledger whose rows show nothing of what calls carried or were answered.
//!
//! ```
//! # #[cfg(feature = "encryption")]
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use serde_json::json;
//! use tower_outcome_core::ledger::{
//!     AesGcmSiv, Claim, EncryptedLedger, Ending, EntryKey, Event, Ledger, MemoryLedger, Owner,
//! };
//! use tower_outcome_core::{Code, Intent};
//!
//! let key = [7; 32]; // 32 random bytes, from where your secrets are
//! let ledger = EncryptedLedger::new(MemoryLedger::default(), AesGcmSiv::new(1, key));
//! let intent = Intent::new("acme", "refund", &json!({ "order": 7 }))?;
//! let key = EntryKey::of(&intent);
//!
//! let claim = Claim::new(&intent, Owner::random(), Duration::from_secs(30));
//! ledger.apply(&key, Event::Claim(claim)).await?;
//! let ending = Ending::Done {
//!     code: Code::Done,
//!     result: Some(br#"{"id":"re_1"}"#.as_slice().into()),
//! };
//! ledger.apply(&key, Event::Settle { epoch: 1, ending }).await?;
//!
//! let opened = ledger.read(&key).await?.and_then(|entry| entry.result);
//! assert_eq!(opened.as_deref(), Some(br#"{"id":"re_1"}"#.as_slice()));
//! let stored = ledger.get_ref().read(&key).await?.and_then(|entry| entry.result);
//! assert!(!stored.unwrap().windows(4).any(|part| part == b"re_1"));
//! # Ok(()) }
//! # #[cfg(not(feature = "encryption"))] fn main() {}
//! ```

use std::fmt;

use super::cipher::Cipher;
use super::entry::{Entry, EntryKey, WriteRecord};
use super::event::{Answer, Ending, Event, Resolved};
use super::{Filter, Ledger, LedgerFuture, Listing, Page, StoredRequest};
use crate::Code;

/// Seals results and requests on their way into a ledger, and opens them on their way out.
///
/// A seal opens in the row and the column that it was made for, and that of a request beside the route
/// and the key that it was sent with. What does not open, because it was damaged or exchanged, is of an
/// unknown key or was never sealed, is as if it had not been kept: a write that was done is then
/// `already_done` with its result omitted, and a request is not sent again. So is what cannot be
/// sealed, and what is longer than the store takes once it is sealed. No word depends on it.
///
/// All else stays as it is, for the store to work with: scope, tool, states, times, hashes of arguments
/// and credentials, and of each write its label, route, key and reference. Whoever may write to the
/// store can still change those, take rows away, or put an earlier result back into its row.
#[derive(Clone)]
pub struct EncryptedLedger<L, C> {
    ledger: L,
    cipher: C,
}

impl<L: Ledger, C: Cipher> EncryptedLedger<L, C> {
    /// Keeps in `ledger` what `cipher` has sealed.
    #[must_use]
    pub const fn new(ledger: L, cipher: C) -> Self {
        Self { ledger, cipher }
    }

    /// The ledger, with all that is sealed.
    pub const fn get_ref(&self) -> &L {
        &self.ledger
    }

    /// The event with its result and its request sealed, for a store that is to be asked in another
    /// way than by [`Ledger::apply`].
    #[must_use]
    pub fn sealed(&self, key: &EntryKey, event: Event) -> Event {
        match event {
            Event::Find { result } => Event::Find {
                result: self.seal_result(key, result),
            },
            Event::Resolve {
                epoch,
                verdict: Resolved::Done { result },
                by,
                reason,
            } => Event::Resolve {
                epoch,
                verdict: Resolved::Done {
                    result: self.seal_result(key, result),
                },
                by,
                reason,
            },
            Event::Send {
                epoch,
                write,
                lease,
                sends_for,
            } => Event::Send {
                epoch,
                write: self.seal_request(key, write),
                lease,
                sends_for,
            },
            Event::Settle { epoch, ending } => Event::Settle {
                epoch,
                ending: self.seal_ending(key, ending),
            },
            Event::Alias { .. }
            | Event::Claim(_)
            | Event::Home { .. }
            | Event::Look { .. }
            | Event::Release { .. }
            | Event::Resend { .. }
            | Event::Resolve {
                verdict: Resolved::Failed,
                ..
            } => event,
        }
    }

    /// The answer to a [`sealed`](Self::sealed) event, with the result opened.
    #[must_use]
    pub fn opened(&self, key: &EntryKey, answer: Answer) -> Answer {
        let Answer::Settled {
            code,
            result,
            until,
        } = answer
        else {
            return answer;
        };
        let result = self.open_result(key, result);
        let code = match code {
            Code::AlreadyDone if result.is_none() => Code::ResultOmitted,
            code => code,
        };
        Answer::Settled {
            code,
            result,
            until,
        }
    }

    fn seal_ending(&self, key: &EntryKey, ending: Ending) -> Ending {
        match ending {
            Ending::Done { code, result } => Ending::Done {
                code,
                result: self.seal_result(key, result),
            },
            Ending::Failed { .. } => ending,
            Ending::Partial { result } => Ending::Partial {
                result: self.seal_result(key, result),
            },
            Ending::Unknown { conclusion, result } => Ending::Unknown {
                conclusion,
                result: self.seal_result(key, result),
            },
        }
    }

    fn seal_result(&self, key: &EntryKey, result: Option<Box<[u8]>>) -> Option<Box<[u8]>> {
        self.cipher.seal(&of_result(key), &result?).ok()
    }

    fn open_result(&self, key: &EntryKey, result: Option<Box<[u8]>>) -> Option<Box<[u8]>> {
        self.cipher.open(&of_result(key), &result?).ok()
    }

    fn seal_request(&self, key: &EntryKey, mut write: WriteRecord) -> WriteRecord {
        write.request = write.request.take().and_then(|request| {
            let sealed = (self.cipher).seal(&of_request(key, &write), request.as_bytes());
            sealed.ok().map(StoredRequest::new)
        });
        write
    }

    fn open_entry(&self, mut entry: Entry) -> Entry {
        entry.result = self.open_result(&entry.key, entry.result.take());
        for write in &mut entry.writes {
            write.request = write.request.take().and_then(|request| {
                let opened = (self.cipher).open(&of_request(&entry.key, write), request.as_bytes());
                opened.ok().map(StoredRequest::new)
            });
        }
        entry
    }

    fn open_listing(&self, listing: Listing) -> Listing {
        let entries = self.open_all(listing.entries);
        Listing { entries, ..listing }
    }

    fn open_all(&self, entries: Vec<Entry>) -> Vec<Entry> {
        let entries = entries.into_iter();
        entries.map(|entry| self.open_entry(entry)).collect()
    }
}

impl<L: fmt::Debug, C> fmt::Debug for EncryptedLedger<L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncryptedLedger")
            .field("ledger", &self.ledger)
            .finish_non_exhaustive()
    }
}

impl<L: Ledger, C: Cipher> Ledger for EncryptedLedger<L, C> {
    fn apply<'a>(&'a self, key: &'a EntryKey, event: Event) -> LedgerFuture<'a, Answer> {
        let applied = self.ledger.apply(key, self.sealed(key, event));
        Box::pin(async move { Ok(self.opened(key, applied.await?)) })
    }

    fn read<'a>(&'a self, key: &'a EntryKey) -> LedgerFuture<'a, Option<Entry>> {
        let read = self.ledger.read(key);
        Box::pin(async move { Ok(read.await?.map(|entry| self.open_entry(entry))) })
    }

    fn unresolved(&self, limit: usize) -> LedgerFuture<'_, Listing> {
        let listed = self.ledger.unresolved(limit);
        Box::pin(async move { Ok(self.open_listing(listed.await?)) })
    }

    fn due(&self, limit: usize) -> LedgerFuture<'_, Listing> {
        let listed = self.ledger.due(limit);
        Box::pin(async move { Ok(self.open_listing(listed.await?)) })
    }

    fn page<'a>(&'a self, filter: &'a Filter) -> LedgerFuture<'a, Page> {
        let listed = self.ledger.page(filter);
        Box::pin(async move {
            let page = listed.await?;
            let entries = self.open_all(page.entries);
            Ok(Page { entries, ..page })
        })
    }

    fn encrypts(&self) -> bool {
        true
    }

    crate::forward_ledger!(self => self.ledger; counts purge changed may_lose_writes
        needs_honoured_keys);
}

fn of_result(key: &EntryKey) -> Vec<u8> {
    associated(key, &["result"])
}

/// A request belongs to its record: beside another key or route it would be another write.
fn of_request(key: &EntryKey, write: &WriteRecord) -> Vec<u8> {
    associated(
        key,
        &["request", &write.label, &write.route, &write.wire_key],
    )
}

/// Each part behind its length, so that no two places are written alike.
fn associated(key: &EntryKey, place: &[&str]) -> Vec<u8> {
    let scope = [key.scope.as_bytes(), key.key.as_bytes()];
    let place = place.iter().map(|part| part.as_bytes());
    let mut bytes = b"tower-outcome/ledger/1".to_vec();
    for part in scope.into_iter().chain(place) {
        bytes.extend_from_slice(&(part.len() as u64).to_be_bytes());
        bytes.extend_from_slice(part);
    }
    bytes
}
