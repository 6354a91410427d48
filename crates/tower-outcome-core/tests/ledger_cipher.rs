//! What is sealed opens where it was sealed, with a key that is known.

#![cfg(feature = "encryption")]

use tower_outcome_core::ledger::{AesGcmSiv, Cipher, EncryptedLedger, MemoryLedger};

#[test]
fn no_key_and_nothing_sealed_is_shown() {
    let cipher = AesGcmSiv::new(7, [0x41; 32]).with_earlier_key(6, [0x42; 32]);
    let error = cipher.open(b"row", b"AAAABBBB").unwrap_err();
    let ledger = EncryptedLedger::new(MemoryLedger::default(), cipher.clone());
    let shown = format!("{cipher:?} {ledger:?} {error} {error:?}");
    assert!(shown.contains('7') && shown.contains('6'), "{shown}");
    for secret in ["AAAA", "BBBB", "65, 65", "66, 66", "0x41", "4141"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn what_is_sealed_twice_looks_different() {
    let cipher = cipher();
    let seal = || cipher.seal(b"row", RESULT).unwrap();
    assert_ne!(seal(), seal());
}

#[test]
fn what_an_earlier_version_has_sealed_opens() {
    let sealed: Vec<u8> = (0..SEALED.len() / 2)
        .map(|at| u8::from_str_radix(&SEALED[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    assert_eq!(*cipher().open(b"row", &sealed).unwrap(), *RESULT);
}

fn cipher() -> AesGcmSiv {
    AesGcmSiv::new(1, [1; 32])
}

const RESULT: &[u8] = b"{\"id\":\"re_1\"}";

/// `RESULT`, sealed beside `row` with the key of these tests by another implementation (OpenSSL).
const SEALED: &str =
    "0100000001000102030405060708090a0bec25ad85b78f721bbd96d662534756817e8087b5a7b0af32d67e22f2e3";
