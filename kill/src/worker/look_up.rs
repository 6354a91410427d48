//! Asks the service what became of a write.

use serde_json::Value;
use tower_outcome_core::ledger::{Entry, WriteRecord};
use tower_outcome_tools::reconciler::LookUpFuture;
use tower_outcome_tools::{Found, LookUp};

/// The effects that the service knows, by their key.
#[derive(Clone)]
pub(super) struct Effects {
    service: String,
    http: reqwest::Client,
}

impl Effects {
    pub(super) fn at(service: &str) -> Self {
        let http = reqwest::Client::builder().no_proxy().build();
        Self {
            service: service.to_owned(),
            http: http.unwrap_or_default(),
        }
    }
}

impl LookUp for Effects {
    fn find<'a>(&'a self, _: &'a Entry, write: &'a WriteRecord) -> LookUpFuture<'a> {
        Box::pin(async move {
            let url = format!("{}/{}", self.service, write.wire_key);
            let text = self.http.get(url).send().await?.text().await?;
            let found: Value = serde_json::from_str(&text)?;
            Ok(match found {
                Value::Null => Found::NotFound,
                found => Found::Done(found),
            })
        })
    }
}
