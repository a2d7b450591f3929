//! What is true after the write. It acknowledges; it does not echo the document.

use deckle_doc::DocKey;
use serde::Serialize;

/// The receipt of a transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// One entry a document.
    pub documents: Vec<DocumentReceipt>,
    /// Things to know: separators that were added, payloads that were repaired.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What happened to one document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentReceipt {
    /// Its key, after a rename the new one.
    pub key: String,
    /// `created`, `updated`, `renamed`, `deleted` or `unchanged`.
    pub change: &'static str,
    /// The key before a rename.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    /// The ids of blocks that came.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// The ids of blocks whose text changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// The ids of blocks that went.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// How many runs of bytes were replaced.
    pub splices: usize,
    /// How many bytes went, and how many came.
    pub bytes_removed: usize,
    /// How many bytes came.
    pub bytes_added: usize,
    /// How many links were rewritten.
    #[serde(skip_serializing_if = "is_zero")]
    pub links: usize,
    /// The SHA-256 of every byte outside the splices, before; the same after.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub untouched: String,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Receipt {
    /// Returns how many blocks came, changed or went.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.documents.iter().map(|document| document.added.len() + document.changed.len() + document.removed.len()).sum()
    }

    /// Returns how many documents are not as they were.
    #[must_use]
    pub fn changed_documents(&self) -> usize {
        self.documents.iter().filter(|document| document.change != "unchanged").count()
    }

    /// Returns the entry of a document.
    #[must_use]
    pub fn document(&self, key: &DocKey) -> Option<&DocumentReceipt> {
        self.documents.iter().find(|document| document.key == key.as_str())
    }

    /// Returns the receipt in a few lines, for a person or a model.
    #[must_use]
    pub fn summary(&self) -> String {
        let mut lines = Vec::new();
        for document in &self.documents {
            let mut line = format!("{} `{}`", document.change, document.key);
            if let Some(from) = &document.renamed_from {
                line.push_str(&format!(" (was `{from}`)"));
            }
            let mut parts = Vec::new();
            for (what, ids) in [("added", &document.added), ("changed", &document.changed), ("removed", &document.removed)] {
                if !ids.is_empty() {
                    let shown: Vec<&str> = ids.iter().take(8).map(String::as_str).collect();
                    let more = if ids.len() > 8 { ", …" } else { "" };
                    parts.push(format!(
                        "{} block{} {what} ({}{more})",
                        ids.len(),
                        if ids.len() == 1 { "" } else { "s" },
                        shown.join(", ")
                    ));
                }
            }
            if document.links > 0 {
                parts.push(format!("{} link{} rewritten", document.links, if document.links == 1 { "" } else { "s" }));
            }
            if parts.is_empty() && document.splices > 0 {
                parts.push(format!("{} bytes removed, {} added", document.bytes_removed, document.bytes_added));
            }
            if !parts.is_empty() {
                line.push_str(": ");
                line.push_str(&parts.join(", "));
            }
            lines.push(line);
        }
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        lines.join("\n")
    }
}
