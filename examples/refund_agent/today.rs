//! The refund as people write it today: a client that retries what looks transient, whatever the
//! method, and a tool that tells the model "Error: Function failed."

use std::time::Duration;

use serde_json::Value;

use crate::story::Failure;

/// A plain reqwest client with the usual retry around it.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    url: String,
}

impl Client {
    pub(crate) fn new(url: String) -> Result<Self, Failure> {
        let http = reqwest::Client::builder().timeout(TIMEOUT).build()?;
        Ok(Self { http, url })
    }

    /// The tool: what the model gets to read.
    pub(crate) async fn refund(&self, arguments: &Value) -> Result<Value, &'static str> {
        for attempt in 0..3_u32 {
            if attempt > 0 {
                tokio::time::sleep(Duration::from_millis(50 << attempt)).await;
            }
            let request = self.http.post(&self.url).body(arguments.to_string());
            match request.send().await {
                Ok(answer) if answer.status().is_server_error() => {}
                Ok(answer) if answer.status().is_success() => match answer.text().await {
                    Ok(refund) => return Ok(refund.into()),
                    Err(_) => return Err(FAILED),
                },
                Ok(_) => return Err(FAILED),
                Err(_) => {}
            }
        }
        Err(FAILED)
    }

    /// A model that is told "failed" does what the word invites it to: it calls again, once.
    pub(crate) async fn refund_as_the_model_does(&self, arguments: &Value) -> &'static str {
        match self.refund(arguments).await {
            Ok(_) => "ok",
            Err(_) => word(&self.refund(arguments).await),
        }
    }
}

pub(crate) fn word(result: &Result<Value, &'static str>) -> &'static str {
    match result {
        Ok(_) => "ok",
        Err(_) => "failed",
    }
}

/// What the model is told, and all that it is told.
const FAILED: &str = "Error: Function failed.";

/// The usual timeout: it drops the request, and says nothing of what became of it.
pub(crate) const TIMEOUT: Duration = Duration::from_millis(300);
