//! An envelope as `rmcp` sends it.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::handler::server::tool::IntoCallToolResult;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject};
use serde_json::Value;

use crate::EnvelopeResult;
use crate::envelope::schema;

/// The [schema] of every [`EnvelopeResult`], for `#[tool(output_schema = ..)]`.
#[must_use]
pub fn output_schema() -> Arc<JsonObject> {
    match schema() {
        Value::Object(members) => Arc::new(members),
        _ => Arc::default(),
    }
}

impl From<EnvelopeResult> for CallToolResult {
    fn from(result: EnvelopeResult) -> Self {
        let mut sent = Self::default();
        sent.content = vec![ContentBlock::text(result.text())];
        sent.structured_content = Some(result.structured());
        sent.is_error = Some(result.is_error());
        sent
    }
}

impl IntoCallToolResult for EnvelopeResult {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::from(self).into())
    }
}
