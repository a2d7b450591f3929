//! Documents as resources: `deckle://document/KEY`.

use deckle_doc::DocKey;
use deckle_store::{Snapshot, StoreError};
use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};
use serde_json::json;

const SCHEME: &str = "deckle://document/";
const MARKDOWN: &str = "text/markdown";
/// How many documents one page lists.
const PAGE: usize = 200;

/// Lists documents, a page at a time; the cursor is the key after which the next page begins.
pub async fn list(head: &Snapshot, request: Option<PaginatedRequestParams>) -> Result<ListResourcesResult, ErrorData> {
    let keys = head.keys().await.map_err(|error| internal(&error))?;
    let after = request.and_then(|request| request.cursor);
    let start = match after.as_deref() {
        None => 0,
        Some(after) => keys.partition_point(|key| key.as_str() <= after),
    };
    let page: Vec<&DocKey> = keys.iter().skip(start).take(PAGE).collect();
    let next = (start + page.len() < keys.len()).then(|| page.last().map(|key| key.to_string())).flatten();
    let resources = page
        .iter()
        .map(|key| Resource::new(uri(key), key.name().to_owned()).with_title(key.to_string()).with_mime_type(MARKDOWN))
        .collect();
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = next;
    Ok(result)
}

/// The one template: any document by its key.
pub fn templates() -> ListResourceTemplatesResult {
    ListResourceTemplatesResult::with_all_items(vec![
        ResourceTemplate::new(format!("{SCHEME}{{+key}}"), "document")
            .with_title("A document by its key")
            .with_description("The bytes of a document as they are, on the branch that this server works on.")
            .with_mime_type(MARKDOWN),
    ])
}

/// Reads a document: its bytes as they are.
pub async fn read(head: &Snapshot, address: &str) -> Result<ReadResourceResult, ErrorData> {
    let missing = || {
        let message = format!("there is no resource `{address}`; resources/list names them, as {SCHEME}guides/quick-start");
        ErrorData::resource_not_found(message, Some(json!({ "uri": address })))
    };
    let key = address.strip_prefix(SCHEME).and_then(|key| DocKey::parse(&decoded(key)).ok()).ok_or_else(missing)?;
    let text = head.text(&key).await.map_err(|error| internal(&error))?.ok_or_else(missing)?;
    Ok(ReadResourceResult::new(vec![ResourceContents::text(text.to_string(), address).with_mime_type(MARKDOWN)]))
}

fn internal(error: &StoreError) -> ErrorData {
    ErrorData::internal_error(deckle_doc::Diag::from(error).to_string(), None)
}

/// The address of a document: what a URI reserves is escaped (RFC 3986).
fn uri(key: &DocKey) -> String {
    let mut out = String::from(SCHEME);
    for byte in key.as_str().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// A key out of an address; escapes that are none stay as they are.
fn decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(value) if byte == b'%' => {
                out.push(value);
                rest = &after[2..];
            }
            _ => {
                out.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_again_by_its_address() {
        for key in ["a", "guides/quick start", "notes/größe", "100%", "a&b=c"] {
            let key = DocKey::parse(key).unwrap();
            let address = uri(&key);
            assert!(address.is_ascii() && !address.contains(' '), "{address}");
            assert_eq!(decoded(address.strip_prefix(SCHEME).unwrap()), key.as_str());
        }
    }
}
