//! A conversation, whole: what is stored and what models are shown.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum ChatMessage {
    /// A person, or the loop on a person's behalf.
    User {
        /// What was said.
        text: String,
    },
    /// The model.
    Assistant {
        /// What it said.
        #[serde(default)]
        text: String,
        /// What it reasoned, for the record.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reasoning: String,
        /// The tools that it called, in order.
        #[serde(default)]
        calls: Vec<ToolCall>,
        /// The provider's own blocks, to send back as they were.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        native: Option<Native>,
    },
    /// What a tool call came to.
    Tool {
        /// The call.
        id: String,
        /// The tool.
        name: String,
        /// The result.
        content: String,
        /// Whether it was refused or failed.
        is_error: bool,
    },
}

/// A provider's own form of an assistant message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Native {
    /// `anthropic` or `openai`, and the model; the blocks are sent back only to the same.
    pub model: String,
    /// The blocks.
    pub blocks: Value,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id of the call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments; as text when they are not an object.
    pub arguments: Value,
    /// Why it cannot be executed: cut off, or not JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
}

impl ToolCall {
    /// The id as a key of the store: letters, digits and a few marks.
    #[must_use]
    pub fn key(&self) -> String {
        let key: String = self
            .id
            .chars()
            .take(120)
            .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':') { c } else { '-' })
            .collect();
        if key.is_empty() { "call".to_owned() } else { key }
    }
}
