//! The registry as MCP shows it: schemas, annotations, results.

use std::sync::Arc;

use deckle_agent::tools::{Done, SPECS, ToolSpec};
use deckle_doc::Diag;
use deckle_store::BranchId;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// What only the person beside the agent loop sees.
const NOT_HERE: [&str; 2] = ["report_progress", "navigate"];

/// The tools that clients get, in the registry's order.
pub fn shown() -> impl Iterator<Item = &'static ToolSpec> {
    SPECS.iter().filter(|spec| !NOT_HERE.contains(&spec.name))
}

/// Returns a tool as clients are told of it. Every hint is set: what is not said counts as destructive and open to the world.
pub fn tool(spec: &ToolSpec) -> Tool {
    Tool::new(spec.name, spec.description, object((spec.schema)()))
        .with_title(spec.title)
        .with_raw_output_schema(object(output_schema()))
        .with_annotations(ToolAnnotations::from_raw(
            Some(spec.title.to_owned()),
            Some(spec.read_only),
            Some(spec.destructive),
            Some(spec.idempotent),
            Some(false),
        ))
}

fn object(value: Value) -> Arc<JsonObject> {
    Arc::new(value.as_object().cloned().unwrap_or_default())
}

/// One shape for all: what the tool says, how much it touched, and where that stands.
fn output_schema() -> Value {
    json!({
        "type": "object",
        "required": ["text", "documents", "blocks", "wrote"],
        "properties": {
            "text": { "type": "string", "description": "what a reader is told; the same as the text content" },
            "documents": { "type": "integer", "description": "documents read or changed" },
            "blocks": { "type": "integer", "description": "blocks changed" },
            "wrote": { "type": "boolean", "description": "whether something was written" },
            "branch": { "type": "string", "description": "the branch on which it stands; absent when it went into main" },
            "data": { "description": "the result as data, where a tool has any" }
        }
    })
}

/// Returns the result of a call that was done.
pub fn result(done: &Done, branch: Option<&BranchId>) -> CallToolResult {
    let mut data = json!({
        "text": done.content,
        "documents": done.documents,
        "blocks": done.blocks,
        "wrote": done.receipt.is_some(),
    });
    if let Some(branch) = branch {
        data["branch"] = json!(branch.as_str());
    }
    if let Some(value) = &done.data {
        data["data"] = value.clone();
    }
    let mut result = CallToolResult::success(vec![ContentBlock::text(done.content.clone())]);
    result.structured_content = Some(data);
    result
}

/// Returns the result of a call that was refused: the model is told, with the same words as everywhere.
pub fn refusal(diag: &Diag) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(diag.to_string())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_says_what_it_does_to_the_world() {
        let tools: Vec<Tool> = shown().map(tool).collect();
        assert_eq!(tools.len(), SPECS.len() - NOT_HERE.len());
        for tool in tools {
            let hints = tool.annotations.unwrap();
            assert!(hints.read_only_hint.is_some() && hints.destructive_hint.is_some(), "{}", tool.name);
            assert!(hints.idempotent_hint.is_some() && hints.open_world_hint == Some(false), "{}", tool.name);
            assert!(!(hints.read_only_hint == Some(true) && hints.destructive_hint == Some(true)), "{}", tool.name);
            assert_eq!(tool.input_schema["type"], "object");
            assert!(tool.output_schema.is_some_and(|schema| schema["type"] == "object"));
            assert!(tool.description.is_some_and(|text| text.len() > 40));
        }
    }
}
