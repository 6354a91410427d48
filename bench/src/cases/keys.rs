//! From arguments to a key.

use std::hint::black_box;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tower_outcome_core::Intent;
use tower_outcome_core::canonical::Canonicalizer;

use crate::measure::wall::compare;
use crate::measure::{Case, Measured, Run, real};

pub(super) const CASES: &[Case] = &[
    case("keys.writer.small", || writer(SMALL)),
    case("keys.writer.middle", || writer(MIDDLE)),
    case("keys.writer.large", || writer(LARGE)),
    case("keys.intent.small", || intent(SMALL)),
    case("keys.intent.middle", || intent(MIDDLE)),
    case("keys.intent.large", || intent(LARGE)),
];

const fn case(name: &'static str, prepare: fn() -> Run) -> Case {
    Case { name, prepare }
}

/// Beside the common way to hash arguments, and beside one that is not even canonical.
pub(super) fn times(measured: &mut Measured) {
    for (name, items) in [("small", SMALL), ("middle", MIDDLE), ("large", LARGE)] {
        let others = vec![canonicalizer(items), plain(items)];
        let compared = compare([intent(items), intent(items)], others);
        let names = ["canonicalizer", "plain"].map(|other| format!("keys.{name}.{other}"));
        compared.note(measured, &names.each_ref().map(|name| &**name));
    }
}

/// How many bytes the canonical form of each size has.
pub(super) fn sizes(measured: &mut Measured) {
    for (name, items) in [("small", SMALL), ("middle", MIDDLE), ("large", LARGE)] {
        let mut canonical = Canonicalizer::new();
        let bytes = canonical.value(&arguments(items)).map_or(0, <[u8]>::len);
        measured.note(
            &format!("keys.{name}.size"),
            "instructions",
            real(bytes as u64),
        );
    }
}

fn writer(items: usize) -> Run {
    let (arguments, mut canonical) = (arguments(items), Canonicalizer::new());
    Box::new(move |times| {
        for _ in 0..times {
            let bytes = canonical.value(black_box(&arguments));
            black_box(bytes.expect(PLAIN));
        }
    })
}

fn intent(items: usize) -> Run {
    let arguments = arguments(items);
    Box::new(move |times| {
        for _ in 0..times {
            let intent = Intent::new("acme/eu", "refund", black_box(&arguments));
            black_box(intent.expect(PLAIN));
        }
    })
}

fn canonicalizer(items: usize) -> Run {
    let arguments = arguments(items);
    Box::new(move |times| {
        for _ in 0..times {
            let bytes = serde_json_canonicalizer::to_vec(black_box(&arguments));
            black_box(Sha256::digest(bytes.expect(PLAIN)));
        }
    })
}

fn plain(items: usize) -> Run {
    let arguments = arguments(items);
    Box::new(move |times| {
        for _ in 0..times {
            let bytes = serde_json::to_vec(black_box(&arguments));
            black_box(Sha256::digest(bytes.expect(PLAIN)));
        }
    })
}

/// What a model says of an order with so many items.
fn arguments(items: usize) -> Value {
    let items: Vec<Value> = (0..items)
        .map(|item| {
            json!({
                "sku": format!("SKU-{item:05}"),
                "quantity": item % 7 + 1,
                "unit_price": 12.5 + real(item as u64),
                "gift": item % 3 == 0,
                "note": "wrap it in “paper”, please",
            })
        })
        .collect();
    json!({
        "order": "A-100477",
        "amount": 129.9,
        "currency": "EUR",
        "reason": "damaged on arrival",
        "customer": { "id": 77_120_934, "email": "jo@example.com" },
        "items": items,
    })
}

const PLAIN: &str = "there is nothing in it to refuse";

/// Items of arguments with some 200 bytes, 2 kB and 20 kB.
const SMALL: usize = 1;
const MIDDLE: usize = 18;
const LARGE: usize = 192;
