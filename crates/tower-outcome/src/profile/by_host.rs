//! What several APIs promise, each at its own host.

use std::sync::Arc;

use super::Profile;
use super::glob::is_like;

/// What several APIs promise, each at its own host.
///
/// A tool call carries it to the client below, where one client serves many tools. A stack that was
/// told a profile ([`Stack::with_profile`](crate::Stack::with_profile)) goes by that one: whoever
/// built it knows the way to the provider, a proxy that repeats requests for one.
///
/// ```
/// use std::sync::Arc;
/// use serde_json::json;
/// use tower_outcome::profile::Profiles;
/// use tower_outcome::{Context, Gate, Intent, Profile};
///
/// # fn f() -> Result<(), tower_outcome::Error> {
/// let billing = Profile::named("mollie").expect("it is built in");
/// let profiles = Profiles::default().with("api.mollie.com", billing);
/// let intent = Intent::new("acme/customer-7", "refund", &json!({ "order": 7 }))?;
/// let context = Context::new(&intent, 0, Gate::new()).with_profiles(Arc::new(profiles));
/// # let _ = context; Ok(()) }
/// # f().unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    of_hosts: Vec<(Box<str>, Arc<Profile>)>,
}

impl Profiles {
    /// The API at `host` promises this. A `*` in it stands for anything; of several hosts that fit
    /// the one that was said first counts.
    #[must_use]
    pub fn with(mut self, host: &str, profile: impl Into<Arc<Profile>>) -> Self {
        let host = host.to_ascii_lowercase().into();
        self.of_hosts.push((host, profile.into()));
        self
    }

    pub(crate) fn at(&self, host: &str) -> Option<&Arc<Profile>> {
        let host = host.to_ascii_lowercase();
        let mut known = self.of_hosts.iter();
        let found = known.find(|(glob, _)| is_like(glob, &host));
        found.map(|(_, profile)| profile)
    }
}
