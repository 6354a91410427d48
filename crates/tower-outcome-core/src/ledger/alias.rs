//! One entry for a wish that has several keys.
//!
//! While rules [succeed](crate::IntentRules::succeeding) others, or a secret succeeds another, some
//! processes know a wish by one key and some by two. Its entry is that of the oldest key; each
//! younger key is an alias of it, written before anybody claims. An alias is never claimed, so that
//! the claim on the one entry is what keeps a wish from being sent twice; who claims on an alias is
//! answered [`Answer::Moved`] and claims where it leads. Every step is that of one row: a process that
//! ends between two of them leaves an alias of an entry that is still to come, which is as good.
//!
//! Who knows the youngest key alone may have come first. Then the wish has its entry there, and those
//! who know both keys meet it. Once that entry is free again, it becomes an alias as well.
//!
//! Rules that are rolled back while both versions are at work lead each to the other: two processes
//! that write their aliases at the same time close a circle. Nobody can have a claim in one. Who comes
//! upon it sets the [first](EntryKey) of its keys [free](Event::Home), which is the same one for
//! everybody, and the others lead there.
//!
//! Rules that give one key to wishes which their predecessors told apart make an alias *shared*: it
//! leads nowhere, and who knows no other key is answered that it is still being confirmed.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use serde_json::json;
//! use tower_outcome_core::ledger::{Answer, Claim, EntryKey, Event, Ledger, MemoryLedger, Owner, alias};
//! use tower_outcome_core::IntentRules;
//!
//! let former = IntentRules::new("refund").with_version("1");
//! let rules = IntentRules::new("refund").with_version("2");
//! let overlap = rules.clone().succeeding(former.clone());
//!
//! let ledger = MemoryLedger::default();
//! let claim = async |rules: &IntentRules| {
//!     let intent = rules.intent("acme", &json!({ "order": 7 }))?;
//!     let intent = alias::place(&ledger, &intent).await?;
//!     let claim = Claim::new(&intent, Owner::random(), Duration::from_secs(30));
//!     let answer = ledger.apply(&EntryKey::of(&intent), Event::Claim(claim)).await?;
//!     Ok::<_, Box<dyn std::error::Error>>(answer)
//! };
//! assert!(matches!(claim(&overlap).await?, Answer::Granted(_)));
//! assert_eq!(claim(&former).await?, Answer::InProgress);
//! assert_eq!(claim(&rules).await?, Answer::InProgress);
//! # Ok(()) }
//! ```

use super::entry::{Entry, EntryKey, State};
use super::event::{Answer, Event};
use super::{Ledger, LedgerError};
use crate::{IdempotencyKey, Intent};

/// The wish at its entry, with its younger keys known to the ledger. To be claimed, sent and shown
/// under the key that it has then.
///
/// Asks nothing of the ledger that a claim would not ask as well, but for wishes with several keys
/// and for aliases. A claim on what it returns may still be answered [`Answer::Moved`], if an older
/// key came to be known meanwhile: then it is to be placed once more.
///
/// # Errors
///
/// [`LedgerError`] where the ledger cannot be asked or has no room for an alias, and where aliases
/// lead on and on.
pub async fn place<L: Ledger + ?Sized>(ledger: &L, intent: &Intent) -> Result<Intent, LedgerError> {
    let intent = intent.clone().at_home(*intent.own_key());
    let mut home = follow(ledger, &EntryKey::of(&intent), Uses::Claim).await?;
    let mut is_younger = false;
    let mut younger = intent.successor();
    while let Some(version) = younger {
        let key = home.at(*version.own_key());
        if key != home && introduce(ledger, &key, &home).await? == Introduced::HasItsOwn {
            // The keys that are younger still lead there, for those who know no other.
            if !is_younger {
                home = key;
                is_younger = true;
            }
        }
        younger = version.successor();
    }
    Ok(intent.at_home(home.key))
}

/// The entry of a wish, under whichever of its keys, as it stands now, and the wish there. Writes
/// nothing.
///
/// # Errors
///
/// [`LedgerError`] where the ledger cannot be asked, and where aliases lead on and on.
pub async fn find<L: Ledger + ?Sized>(
    ledger: &L,
    intent: &Intent,
) -> Result<(Intent, Option<Entry>), LedgerError> {
    let own = EntryKey::of(intent);
    let mut asked = Some(intent);
    while let Some(version) = asked {
        if let Some(entry) = read(ledger, &own.at(*version.own_key())).await? {
            return Ok((intent.clone().at_home(entry.key.key), Some(entry)));
        }
        asked = version.successor();
    }
    Ok((intent.clone(), None))
}

/// What [`Ledger::read`] returns, of the entry that `key` leads to.
///
/// # Errors
///
/// [`LedgerError`] where the ledger cannot be asked, and where aliases lead on and on.
pub async fn read<L: Ledger + ?Sized>(
    ledger: &L,
    key: &EntryKey,
) -> Result<Option<Entry>, LedgerError> {
    let mut entry = ledger.read(key).await?;
    let mut way = Way::default();
    while let Some((alias, to)) = entry.as_ref().and_then(led) {
        match way.on(alias, &to)? {
            Next::Circle(home, _) => {
                let home = ledger.read(&home).await?;
                return Ok(home.map(in_circle));
            }
            Next::Step => entry = ledger.read(&to).await?,
        }
    }
    Ok(entry)
}

/// What an entry is followed for.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Uses {
    /// Each alias on the way is kept from being forgotten before the claim is made.
    Claim,
    Look,
}

/// Where an entry is that `key` leads to, whether it is there yet or not.
async fn follow<L: Ledger + ?Sized>(
    ledger: &L,
    key: &EntryKey,
    uses: Uses,
) -> Result<EntryKey, LedgerError> {
    let mut key = key.clone();
    let mut way = Way::default();
    while let Some((_, to)) = ledger.read(&key).await?.as_ref().and_then(led) {
        if uses == Uses::Claim {
            let (of, shared) = (to.key, false);
            ledger.apply(&key, Event::Alias { of, shared }).await?;
        }
        key = match way.on(&key, &to)? {
            Next::Circle(home, instead_of) => {
                match ledger.apply(&home, Event::Home { instead_of }).await {
                    Err(error) if !error.is_fenced() => return Err(error),
                    // Somebody else was faster, perhaps.
                    Ok(_) | Err(_) => home,
                }
            }
            Next::Step => to,
        };
    }
    Ok(key)
}

/// An alias, and where it leads.
fn led(entry: &Entry) -> Option<(&EntryKey, EntryKey)> {
    Some((&entry.key, entry.leads_to()?))
}

/// The aliases that were followed.
#[derive(Default)]
struct Way {
    aliases: Vec<EntryKey>,
    circles: usize,
}

enum Next {
    /// The first key of the circle that is closed now, and where its alias leads.
    Circle(EntryKey, IdempotencyKey),
    Step,
}

impl Way {
    /// Goes on from `alias` to where it leads.
    fn on(&mut self, alias: &EntryKey, to: &EntryKey) -> Result<Next, LedgerError> {
        if self.aliases.len() >= MOST_VERSIONS || self.circles >= MOST_CIRCLES {
            let reason = "aliases of this key lead on and on";
            return Err(LedgerError::unusable(reason, None));
        }
        self.aliases.push(alias.clone());
        let Some(start) = self.aliases.iter().position(|known| known == to) else {
            return Ok(Next::Step);
        };
        let circle = &self.aliases[start..];
        let steps = circle.iter().zip(circle.iter().cycle().skip(1));
        let first = steps.min_by_key(|(alias, _)| &alias.key);
        let next = first.map_or(Next::Step, |(alias, to)| {
            Next::Circle(alias.clone(), to.key)
        });
        self.aliases.clear();
        self.circles += 1;
        Ok(next)
    }
}

/// The entry of the first key of a circle: free, as it is set whenever somebody claims.
fn in_circle(mut entry: Entry) -> Entry {
    if entry.leads_to().is_some() {
        entry.state = State::Free;
        entry.alias_of = None;
    }
    entry
}

#[derive(Eq, PartialEq)]
enum Introduced {
    /// It leads to the other entry, or is known to lead to several.
    Alias,
    /// The wish has its entry here.
    HasItsOwn,
}

async fn introduce<L: Ledger + ?Sized>(
    ledger: &L,
    key: &EntryKey,
    home: &EntryKey,
) -> Result<Introduced, LedgerError> {
    let of = home.key;
    let shared = false;
    match ledger.apply(key, Event::Alias { of, shared }).await? {
        Answer::InProgress => return Ok(Introduced::HasItsOwn),
        Answer::Moved(to) if are_apart(ledger, &key.at(to), home).await? => {
            let shared = true;
            ledger.apply(key, Event::Alias { of, shared }).await?;
        }
        _ => {}
    }
    Ok(Introduced::Alias)
}

/// Whether two keys lead to two entries. What is to be home may lead on by now: others place the same
/// wish meanwhile.
async fn are_apart<L: Ledger + ?Sized>(
    ledger: &L,
    one: &EntryKey,
    other: &EntryKey,
) -> Result<bool, LedgerError> {
    let first = follow(ledger, one, Uses::Look).await?;
    let second = follow(ledger, other, Uses::Look).await?;
    Ok(first != second && follow(ledger, one, Uses::Look).await? == first)
}

/// More versions of rules than anybody has at work at once.
const MOST_VERSIONS: usize = 16;

/// How many circles are opened that others close again and again, one after the other.
const MOST_CIRCLES: usize = 16;
