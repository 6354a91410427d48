//! What is wished, by whom, and how it goes wrong: numbers that look like chance and are the same
//! each time.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tower_outcome_core::IntentRules;
use tower_outcome_core::ledger::EntryKey;
use tower_outcome_tools::ToolCall;

/// All calls, in the order in which they start. Each wish is called twice, somewhere near each other.
pub(crate) fn calls() -> Vec<Call> {
    let mut dice = Dice(SEED);
    let mut calls = Vec::new();
    for n in 0..CALLS / 2 {
        let mood = match dice.roll(24) {
            0 => "panics first",
            1 => "panics late",
            2 => "runs ahead",
            3..6 => "dawdles",
            _ => "good",
        };
        let wish = Wish { n, mood };
        let at = calls.len() - usize::try_from(dice.roll(8)).unwrap().min(calls.len());
        calls.push((wish, dice.roll(100)));
        calls.insert(at, (wish, dice.roll(100)));
    }
    let calls = calls.into_iter().zip(0..);
    let calls = calls.map(|((wish, roll), id)| Call {
        id,
        wish,
        leaves_after: (roll < 20).then_some(roll * 4),
    });
    calls.collect()
}

/// Each wish once.
pub(crate) fn wishes() -> impl Iterator<Item = Wish> {
    let wishes = calls().into_iter().map(|call| (call.wish.n, call.wish));
    wishes.collect::<BTreeMap<_, _>>().into_values()
}

/// One call of a wish.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) id: u64,
    pub(crate) wish: Wish,
    /// After how many turns its caller leaves.
    pub(crate) leaves_after: Option<u64>,
}

impl Call {
    pub(crate) fn tool_call(self) -> ToolCall {
        let Self { id, wish, .. } = self;
        let arguments = json!({ "n": wish.n, "mood": wish.mood, "call": id });
        ToolCall::new(SCOPE, wish.tool(), arguments)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub(crate) n: u64,
    /// What its handler does.
    pub(crate) mood: &'static str,
}

impl Wish {
    pub(crate) fn tool(self) -> &'static str {
        TOOLS[usize::try_from(self.n % 3).unwrap()]
    }

    /// The service that it goes to.
    pub(crate) fn service(self) -> Service {
        match (self.tool(), self.n % 4) {
            ("refund", 0) => Service::KeyedBehindProxy,
            ("plain", 0) => Service::PlainBehindProxy,
            ("plain", _) => Service::Plain,
            _ => Service::Keyed,
        }
    }

    /// Where it is written to, so that its effects can be counted.
    pub(crate) fn path(self) -> String {
        format!("/refunds/{}", self.n)
    }

    pub(crate) fn key(self) -> EntryKey {
        let arguments = json!({ "n": self.n, "mood": self.mood, "call": 0 });
        let intent = rules(self.tool()).intent(SCOPE, &arguments);
        EntryKey::of(&intent.unwrap())
    }
}

/// Where a write goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Service {
    /// Honours keys.
    Keyed,
    /// Honours keys, and is reached through something that sends requests on more than once.
    KeyedBehindProxy,
    /// Knows no keys.
    Plain,
    /// Knows no keys, and is reached through something that sends requests on more than once.
    PlainBehindProxy,
}

impl Service {
    pub(crate) const ALL: [Self; 4] = [
        Self::Keyed,
        Self::KeyedBehindProxy,
        Self::Plain,
        Self::PlainBehindProxy,
    ];

    pub(crate) const fn honours_keys(self) -> bool {
        matches!(self, Self::Keyed | Self::KeyedBehindProxy)
    }

    pub(crate) const fn is_behind_proxy(self) -> bool {
        matches!(self, Self::KeyedBehindProxy | Self::PlainBehindProxy)
    }

    /// How often one request may take effect.
    pub(crate) const fn most_commits(self) -> usize {
        match self {
            Self::PlainBehindProxy => 2,
            Self::Keyed | Self::KeyedBehindProxy | Self::Plain => 1,
        }
    }
}

pub(crate) fn wish_of(arguments: &Value) -> Wish {
    let mood = arguments["mood"].as_str();
    let known = MOODS.iter().find(|known| mood == Some(known));
    Wish {
        n: arguments["n"].as_u64().unwrap(),
        mood: known.unwrap(),
    }
}

/// The number alone says what is wished.
pub(crate) fn rules(tool: &str) -> IntentRules {
    let rules = IntentRules::new(tool).key("/n", tower_outcome_core::rule::exact());
    rules.ignore("/mood").ignore("/call")
}

pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

pub(crate) const SEED: u64 = 0x5eed;

pub(crate) const CALLS: u64 = 10_000;

pub(crate) const TOOLS: [&str; 3] = ["refund", "sdk", "plain"];

pub(crate) const SCOPE: &str = "acme";

const MOODS: [&str; 6] = [
    "dawdles",
    "gathers",
    "good",
    "panics first",
    "panics late",
    "runs ahead",
];
