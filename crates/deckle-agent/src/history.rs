//! Histories that every provider accepts: each call has one result right after it, each result has a call.

use std::collections::HashSet;

use crate::chat::ChatMessage;

/// What a call gets whose result was lost.
pub const INTERRUPTED: &str =
    "The call was interrupted before its result was recorded. Read the document to see whether its effect is there.";

/// Repairs a history: each call without a result gets one, at its place; each result without a call is dropped; of two results of one call the first
/// stands. Repairing twice is repairing once, with the same bytes.
#[must_use]
pub fn repair(messages: &[ChatMessage]) -> Vec<ChatMessage> {
    let mut out: Vec<ChatMessage> = Vec::with_capacity(messages.len());
    let mut at = 0;
    while at < messages.len() {
        let message = &messages[at];
        at += 1;
        let ChatMessage::Assistant { calls, .. } = message else {
            if !matches!(message, ChatMessage::Tool { .. }) {
                out.push(message.clone());
            }
            continue;
        };
        out.push(message.clone());
        // The results of this message are the tool messages up to the next one that is none.
        let end = messages[at..]
            .iter()
            .position(|next| !matches!(next, ChatMessage::Tool { .. }))
            .map_or(messages.len(), |end| at + end);
        let results = &messages[at..end];
        let mut seen = HashSet::new();
        for call in calls {
            if !seen.insert(call.id.as_str()) {
                continue;
            }
            let found = results.iter().find(|result| matches!(result, ChatMessage::Tool { id, .. } if *id == call.id));
            out.push(found.cloned().unwrap_or_else(|| ChatMessage::Tool {
                id: call.id.clone(),
                name: call.name.clone(),
                content: INTERRUPTED.to_owned(),
                is_error: true,
            }));
        }
        at = end;
    }
    out
}

/// Checks the rules by which real services answer 400.
///
/// # Errors
/// When a call has no result right after it, or a result no call right before it; the text is the service's own.
pub fn check(messages: &[ChatMessage]) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        match message {
            ChatMessage::Tool { id, .. } => {
                let Some(place) = open.iter().position(|call| call == id) else {
                    return Err(format!("messages.{number}: unexpected `tool_use_id` found in `tool_result` blocks: {id}."));
                };
                open.remove(place);
            }
            _ if !open.is_empty() => {
                return Err(format!(
                    "messages.{number}: `tool_use` ids were found without `tool_result` blocks immediately after: {}.",
                    open.join(", ")
                ));
            }
            ChatMessage::Assistant { calls, .. } => open = calls.iter().map(|call| call.id.as_str()).collect(),
            ChatMessage::User { .. } => {}
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(format!("`tool_use` ids were found without `tool_result` blocks immediately after: {}.", open.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::chat::ToolCall;

    fn message() -> impl Strategy<Value = ChatMessage> {
        let id = prop_oneof![Just("a".to_owned()), Just("b".to_owned()), Just("c".to_owned())];
        let call = id.clone().prop_map(|id| ToolCall { id, name: "read".into(), arguments: json!({}), broken: None });
        prop_oneof![
            Just(ChatMessage::User { text: "u".into() }),
            proptest::collection::vec(call, 0..3).prop_map(|mut calls| {
                calls.dedup_by(|a, b| a.id == b.id);
                calls.sort_by(|a, b| a.id.cmp(&b.id));
                calls.dedup_by(|a, b| a.id == b.id);
                ChatMessage::Assistant { text: String::new(), reasoning: String::new(), calls, native: None }
            }),
            id.prop_map(|id| ChatMessage::Tool { id, name: "read".into(), content: "r".into(), is_error: false }),
        ]
    }

    proptest! {
        #[test]
        fn any_history_becomes_well_formed_and_stays(messages in proptest::collection::vec(message(), 0..12)) {
            let once = repair(&messages);
            prop_assert_eq!(check(&once), Ok(()));
            prop_assert_eq!(repair(&once), once);
        }
    }
}
