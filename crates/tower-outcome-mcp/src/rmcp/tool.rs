//! What `tools/list` says of a tool.

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};

use super::output_schema;
use crate::ServedTool;

/// The definition of a served tool.
pub(super) fn definition(served: &ServedTool) -> Tool {
    let input_schema = Arc::new(served.input_schema().clone());
    let mut tool = Tool::new_with_raw(served.name().to_owned(), None, input_schema)
        .with_raw_output_schema(output_schema())
        .with_annotations(annotations(served));
    tool.title = served.title().map(Into::into);
    if !served.description().is_empty() {
        tool.description = Some(served.description().to_owned().into());
    }
    tool
}

fn annotations(served: &ServedTool) -> ToolAnnotations {
    let hints = ToolAnnotations::new().read_only(served.is_read_only());
    let hints = if served.is_read_only() {
        // The other two say something of tools that write.
        hints
    } else {
        hints.destructive(served.is_destructive()).idempotent(true)
    };
    hints.open_world(served.is_open_world())
}
