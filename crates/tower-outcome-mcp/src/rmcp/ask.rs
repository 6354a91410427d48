//! Rounds of input before a call.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{InputRequiredResult, InputResponses, JsonObject};
use rmcp::service::{RequestContext, RoleServer};

/// One round of a call that needs input: what the client has sent so far.
///
/// Nothing has been sent or claimed at this point, so that a round may end in a question, in a
/// refusal or in nothing at all.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Round {
    /// The call's arguments, the same in every round.
    pub arguments: JsonObject,
    /// What the client answered to the last round's questions.
    pub input_responses: Option<InputResponses>,
    /// What the last round left with the client. Not to be trusted unless it was sealed.
    pub request_state: Option<String>,
    /// The request of this round; its `peer` can be asked directly where the protocol is older.
    pub context: RequestContext<RoleServer>,
}

/// What comes of a round.
#[derive(Clone, Debug)]
pub enum Ask {
    /// Makes the call with these arguments. What a person chose and counts for the wish goes into
    /// them, so that it is part of the key.
    Call(JsonObject),
    /// Ends the call unsent: the person does not want it.
    Declined,
    /// Asks the client; the call comes again with its answers.
    Input(InputRequiredResult),
}

pub(super) type AskFunction = Arc<dyn Fn(Round) -> AskFuture + Send + Sync>;
type AskFuture = Pin<Box<dyn Future<Output = Result<Ask, ErrorData>> + Send>>;

pub(super) fn boxed<A, F>(ask: A) -> AskFunction
where
    A: Fn(Round) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Ask, ErrorData>> + Send + 'static,
{
    Arc::new(move |round| Box::pin(ask(round)))
}
