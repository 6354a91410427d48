//! The promises that later decisions rest on.

use std::time::Duration;

macro_rules! words {
    ($($(#[$doc:meta])* pub enum $kind:ident { $($(#[$about:meta])* $name:ident = $text:literal,)+ })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum $kind {
            $($(#[$about])* $name,)+
        }

        #[cfg(feature = "profiles")]
        impl $kind {
            pub(crate) const WORDS: &[(&'static str, Self)] = &[$(($text, Self::$name),)+];
        }
    )+};
}

words! {
    /// How it can be found out what became of a write.
    pub enum LookUp {
        /// The request can be cancelled by its key.
        CancelByKey = "cancel_by_key",
        /// The thing can be read and compared with what was wanted.
        Compare = "compare",
        /// A list or a search finds it.
        List = "list",
        /// It can be asked for by its key.
        ByKey = "by_key",
        /// It can be asked for by a reference of ours in the request.
        ByReference = "by_reference",
        /// An answer names the resource.
        ByResource = "by_resource",
        /// The provider tells of it by itself.
        Webhook = "webhook",
    }

    /// What a key belongs to: under another of these the same key is a new one.
    pub enum Scope {
        /// The account, the workspace, the company.
        Account = "account",
        /// The credential: a rotated one makes the key a new one.
        Credential = "credential",
        /// Live and test.
        Environment = "environment",
        /// The region, or the host.
        Region = "region",
        /// Method and path.
        Route = "route",
    }

    /// What a failure leaves under its key.
    pub enum StoredFailures {
        /// A repeat gets the latest state of the thing.
        LatestState = "latest_state",
        /// The key is dead after a failure, whatever that did.
        Poison = "poison",
        /// Nothing: a repeat runs again, whatever the first time did.
        ReExecute = "re_execute",
        /// A repeat drives the work to its end.
        Redrive = "redrive",
        /// The failure: a repeat gets it again, for as long as the key lives.
        Replay = "replay",
    }
}

/// For how long a key is known to be honoured, from the first request under it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Retention {
    /// At least for this long.
    For(Duration),
    /// It does not expire.
    Forever,
}
