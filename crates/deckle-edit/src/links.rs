//! Links between documents: where they are written, what they mean, and how to write them anew.

use std::collections::BTreeMap;
use std::ops::Range;

use deckle_doc::inline::InlineKind;
use deckle_doc::{Block, DocKey, Kind};

use crate::Documents;
use crate::blocks::is_reference;

/// How a link is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// `[[target]]`, `![[target]]`.
    Wiki,
    /// A Markdown destination, relative or from the root.
    Path,
}

/// A link as it is written in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The bytes of the target alone: without heading, alias, title.
    pub target: Range<usize>,
    /// The whole link.
    pub span: Range<usize>,
    /// The target as written.
    pub text: String,
    /// How.
    pub written: Written,
    /// Whether the block holds nothing else, so that it includes the document.
    pub inclusion: bool,
}

/// A link, and the document that it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentLink {
    /// The link.
    pub link: Link,
    /// Whether it is an inclusion.
    pub inclusion: bool,
    /// The document, when there is one.
    pub resolved: Option<DocKey>,
}

/// The endings that a link may give a document.
pub(crate) const ENDINGS: [&str; 5] = [".md", ".markdown", ".mdx", ".html", ".htm"];

/// Returns the links of one leaf or link definition.
pub fn block_links<'t>(block: &Block<'t>) -> impl Iterator<Item = Link> + use<'t> {
    let source = block.tree().source();
    let inclusion = block.kind() == Kind::Paragraph && is_reference(block);
    let mut found = Vec::new();
    if let Kind::LinkDefinition { destination, .. } = block.kind() {
        found.extend(path_link(source, destination.range(), block.content(), false));
    }
    for inline in block.inlines() {
        match inline.kind {
            InlineKind::Wikilink { target, embed, .. } => {
                let text = target.of(source).trim();
                if !text.is_empty() {
                    let lead = target.of(source).len() - target.of(source).trim_start().len();
                    let start = target.range().start + lead;
                    found.push(Link {
                        target: start..start + text.len(),
                        span: inline.span.clone(),
                        text: text.to_owned(),
                        written: Written::Wiki,
                        inclusion: inclusion || embed,
                    });
                }
            }
            // The destination of a reference stands in its definition.
            InlineKind::Link(target) | InlineKind::Image(target) if target.form == deckle_doc::LinkForm::Inline => {
                found.extend(path_link(source, target.destination.range(), inline.span.clone(), inclusion));
            }
            _ => {}
        }
    }
    found.into_iter()
}

/// A destination that may name a document: no scheme, not only a fragment.
fn path_link(source: &str, destination: Range<usize>, span: Range<usize>, inclusion: bool) -> Option<Link> {
    let text = source.get(destination.clone())?;
    let path = &text[..text.find(['#', '?']).unwrap_or(text.len())];
    let scheme = path.split('/').next().is_some_and(|first| first.contains(':'));
    if path.is_empty() || scheme || path.starts_with("//") {
        return None;
    }
    let target = destination.start..destination.start + path.len();
    Some(Link { target, span, text: path.to_owned(), written: Written::Path, inclusion })
}

impl Link {
    /// Whether it means `key`, as far as its text alone tells.
    #[must_use]
    pub fn points_to(&self, from: &DocKey, key: &str) -> bool {
        match self.written {
            Written::Wiki => {
                let target = strip_ending(&self.text).0;
                target == key
                    || !target.contains('/') && key.rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case(target))
            }
            Written::Path => path_candidates(from, &self.text).iter().any(|candidate| candidate == key),
        }
    }

    /// Returns the document that it means.
    #[must_use]
    pub fn resolve(&self, documents: &dyn Documents, from: &DocKey) -> Option<DocKey> {
        match self.written {
            Written::Path => path_candidates(from, &self.text)
                .iter()
                .filter_map(|text| DocKey::parse(text).ok())
                .find(|key| documents.contains(key)),
            Written::Wiki => {
                let target = strip_ending(&self.text).0;
                let exact = DocKey::parse(target.trim_start_matches('/')).ok().filter(|key| documents.contains(key));
                if exact.is_some() || target.contains('/') {
                    return exact.or_else(|| {
                        path_candidates(from, &self.text)
                            .iter()
                            .filter_map(|text| DocKey::parse(text).ok())
                            .find(|key| documents.contains(key))
                    });
                }
                by_name(documents, from, target)
            }
        }
    }
}

/// The document whose last segment is `name`: the one in the same folder, else the shortest key, else the first.
fn by_name(documents: &dyn Documents, from: &DocKey, name: &str) -> Option<DocKey> {
    let wanted = name.to_lowercase();
    let mut all: Vec<DocKey> = documents.keys().into_iter().filter(|key| last_segment(key).to_lowercase() == wanted).collect();
    all.sort_by_key(|key| (folder(key) != folder(from), key.as_str().len(), key.clone()));
    all.into_iter().next()
}

pub(crate) fn last_segment(key: &DocKey) -> &str {
    key.as_str().rsplit('/').next().unwrap_or_default()
}

pub(crate) fn folder(key: &DocKey) -> &str {
    key.as_str().rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Takes a document's ending off a target.
pub(crate) fn strip_ending(text: &str) -> (&str, &str) {
    ENDINGS.iter().find_map(|ending| text.strip_suffix(ending).map(|bare| (bare, *ending))).unwrap_or((text, ""))
}

/// The keys that a path may mean, the likeliest first.
fn path_candidates(from: &DocKey, text: &str) -> Vec<String> {
    let decoded = percent_decode(text);
    let (bare, _) = strip_ending(&decoded);
    let base = if let Some(rooted) = bare.strip_prefix('/') { join("", rooted) } else { join(folder(from), bare) };
    let mut found = Vec::new();
    if let Some(path) = base {
        let path = path.trim_end_matches('/').to_owned();
        if !path.is_empty() && !bare.ends_with('/') {
            found.push(path.clone());
        }
        let folder = if path.is_empty() { String::new() } else { format!("{path}/") };
        found.extend(["index", "README", "_index"].map(|name| format!("{folder}{name}")));
    }
    found
}

/// Joins a relative path to a folder; nothing when it leaves the root.
pub(crate) fn join(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let ends_in_folder = path.ends_with('/');
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    let mut joined = parts.join("/");
    if ends_in_folder && !joined.is_empty() {
        joined.push('/');
    }
    Some(joined)
}

/// The path from one folder to a path below the root.
pub(crate) fn relative(from_folder: &str, to: &str) -> String {
    let from: Vec<&str> = from_folder.split('/').filter(|part| !part.is_empty()).collect();
    let target: Vec<&str> = to.split('/').collect();
    let shared = from.iter().zip(&target[..target.len().saturating_sub(1)]).take_while(|(one, other)| one == other).count();
    let mut parts = vec![".."; from.len() - shared];
    parts.extend(&target[shared..]);
    parts.join("/")
}

pub(crate) fn percent_decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex =
            (bytes[at] == b'%').then(|| text.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok())).flatten();
        match hex {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// Writes the bytes that a destination cannot hold as `%XX`.
pub(crate) fn percent_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b' ' | b'<' | b'>' | b'(' | b')' | b'%' | b'"' | 0..=0x1f | 0x7f => out.push_str(&format!("%{byte:02X}")),
            0x80.. => out.push_str(&format!("%{byte:02X}")),
            _ => out.push(byte as char),
        }
    }
    out
}

/// Returns the links of a document that may name documents, each with the one it means.
#[must_use]
pub fn document_links(documents: &dyn Documents, key: &DocKey) -> Vec<DocumentLink> {
    if let Some(known) = documents.known_links(key) {
        return known;
    }
    let Some(tree) = documents.tree(key) else { return Vec::new() };
    let mut found = Vec::new();
    for block in tree.blocks() {
        for link in block_links(&block) {
            let resolved = link.resolve(documents, key);
            found.push(DocumentLink { inclusion: link.inclusion, resolved, link });
        }
    }
    found
}

/// Returns the documents that a document includes or references (outward), or that include or reference it, each with the place of the first such
/// link in the document that holds it; sorted by key, each once.
#[must_use]
pub fn related(documents: &dyn Documents, key: &DocKey, inclusion: bool, outward: bool) -> Vec<(DocKey, Range<usize>)> {
    let mut found: BTreeMap<DocKey, Range<usize>> = BTreeMap::new();
    if outward {
        for link in document_links(documents, key).into_iter().filter(|link| link.inclusion == inclusion) {
            if let Some(target) = link.resolved {
                found.entry(target).or_insert(link.link.span);
            }
        }
    } else {
        for other in documents.may_link_to(key) {
            if other == *key {
                continue;
            }
            let links = document_links(documents, &other);
            let link = links.into_iter().find(|link| link.inclusion == inclusion && link.resolved.as_ref() == Some(key));
            if let Some(link) = link {
                found.insert(other, link.link.span);
            }
        }
    }
    found.into_iter().collect()
}
