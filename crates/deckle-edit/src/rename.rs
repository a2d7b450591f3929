//! Renaming a document: every link that pointed there still does, written as its author wrote it.

use std::collections::BTreeMap;

use deckle_doc::{DocKey, Splice};

use crate::Documents;
use crate::links::{self, Link, Written, folder, join, last_segment, percent_decode, percent_encode, relative, strip_ending};

/// Returns the splices that keep every link right when `from` becomes `to`, by the key of the document that they are in. The moved document itself is
/// under its old key.
pub(crate) fn fixes(documents: &dyn Documents, from: &DocKey, to: &DocKey) -> BTreeMap<DocKey, Vec<Splice>> {
    let mut all: BTreeMap<DocKey, Vec<Splice>> = BTreeMap::new();
    // Whether the new name alone still tells the document.
    let name = last_segment(to).to_lowercase();
    let unique = !documents.keys().iter().any(|key| key != from && last_segment(key).to_lowercase() == name);
    for key in documents.may_link_to(from) {
        if key == *from {
            continue;
        }
        let mut splices = Vec::new();
        for link in links::document_links(documents, &key) {
            if link.resolved.as_ref() == Some(from)
                && let Some(text) = rewritten(&link.link, &key, to, unique)
                && text != link.link.text
            {
                splices.push(Splice::new(link.link.target.clone(), text));
            }
        }
        if !splices.is_empty() {
            all.insert(key, splices);
        }
    }
    let own = moved(documents, from, to, unique);
    if !own.is_empty() {
        all.insert(from.clone(), own);
    }
    all
}

/// The links inside the moved document: relative ones start elsewhere now.
fn moved(documents: &dyn Documents, from: &DocKey, to: &DocKey, unique: bool) -> Vec<Splice> {
    let mut splices = Vec::new();
    for link in links::document_links(documents, from) {
        let target = match &link.resolved {
            Some(resolved) if resolved == from => Some(to.clone()),
            resolved => resolved.clone(),
        };
        let text = match (&target, link.link.written) {
            (Some(target), Written::Wiki) if *target == *to => rewritten(&link.link, to, to, unique),
            (Some(target), Written::Wiki) => {
                // A short wikilink may mean another document from a new folder.
                (folder(from) != folder(to) && !link.link.text.contains('/') && ambiguous(documents, target))
                    .then(|| target.to_string())
            }
            (Some(target), Written::Path) if folder(from) != folder(to) || *target == *to => {
                rewritten(&link.link, to, target, unique)
            }
            // Files that are no documents: images, data.
            (None, Written::Path) if folder(from) != folder(to) && !link.link.text.starts_with('/') => {
                let decoded = percent_decode(&link.link.text);
                join(folder(from), &decoded).map(|path| dressed(&link.link.text, &relative(folder(to), &path)))
            }
            _ => None,
        };
        if let Some(text) = text.filter(|text| *text != link.link.text) {
            splices.push(Splice::new(link.link.target.clone(), text));
        }
    }
    splices
}

fn ambiguous(documents: &dyn Documents, target: &DocKey) -> bool {
    let name = last_segment(target).to_lowercase();
    documents.keys().iter().filter(|key| last_segment(key).to_lowercase() == name).count() > 1
}

/// A link's target anew: from the document that will be `home`, to `to`.
fn rewritten(link: &Link, home: &DocKey, to: &DocKey, unique: bool) -> Option<String> {
    match link.written {
        Written::Wiki => {
            let (bare, ending) = strip_ending(&link.text);
            let rooted = if bare.starts_with('/') { "/" } else { "" };
            let name = if bare.contains('/') || !unique { to.as_str() } else { last_segment(to) };
            Some(format!("{rooted}{name}{ending}"))
        }
        Written::Path => {
            let decoded = percent_decode(&link.text);
            let (bare, ending) = strip_ending(&decoded);
            // A link to a folder means its index; it stays one when the new key is an index as well.
            let by_folder = ending.is_empty() && (bare.ends_with('/') || is_folder_link(bare));
            let mut path = to.to_string();
            let mut tail = ending.to_owned();
            if by_folder {
                match to.as_str().rsplit_once('/') {
                    Some((folder, "index" | "README" | "_index")) => path = format!("{folder}/"),
                    _ => {
                        if !bare.ends_with('/') {
                            tail = String::new();
                        }
                    }
                }
            }
            let text = match bare.strip_prefix('/') {
                Some(_) => format!("/{path}"),
                None => relative(folder(home), &path),
            };
            Some(dressed(&link.text, &format!("{text}{tail}")))
        }
    }
}

/// Whether a path names a folder whose index it means. Without the documents at hand the text decides.
fn is_folder_link(bare: &str) -> bool {
    bare == "." || bare == ".." || bare.ends_with("/.") || bare.ends_with("/..")
}

/// Keeps how the old text was written: `./` in front, percent signs.
fn dressed(old: &str, path: &str) -> String {
    let mut text = path.to_owned();
    if old.starts_with("./") && !text.starts_with("../") && !text.starts_with('/') {
        text = format!("./{text}");
    }
    let encoded = old.contains('%') || !old.contains(' ') && text.contains([' ', '(', ')']);
    if encoded { percent_encode(&text) } else { text }
}
