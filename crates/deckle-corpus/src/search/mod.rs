//! Search: ranked words, plain text, titles, tags, fields. Results are bounded in tokens and name the block that answers.

mod index;
mod snippet;
mod titles;

use std::collections::{BTreeMap, BTreeSet};

use deckle_doc::{DocKey, Ids, Tree};
use regex::RegexBuilder;

use crate::corpus::Corpus;

pub(crate) use index::Index;
pub use titles::TitleHit;

/// How much is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The most documents.
    pub documents: usize,
    /// The most passages of one document.
    pub passages: usize,
    /// The most tokens of all keys, paths and passages; a token is counted as four bytes.
    pub tokens: usize,
}

impl Default for Bounds {
    /// Ten documents of three passages, 2,000 tokens: what a model reads at a glance.
    fn default() -> Bounds {
        Bounds { documents: 10, passages: 3, tokens: 2000 }
    }
}

/// A document that answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The document.
    pub key: DocKey,
    /// Its title.
    pub title: Option<String>,
    /// How well it answers; only the order counts.
    pub score: f64,
    /// Where it answers, best first.
    pub passages: Vec<Passage>,
}

/// A place that answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The headings above it.
    pub section: Vec<String>,
    /// The id of its block.
    pub block: String,
    /// The words around the answer.
    pub text: String,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The best answers.
    pub hits: Vec<Hit>,
    /// How many documents answer and are not among them.
    pub more: usize,
}

impl Corpus {
    /// Ranks documents by the words of `query`: BM25, a word of a heading counts three times and one of the title six times.
    #[must_use]
    pub fn search(&self, query: &str, bounds: Bounds) -> Found {
        let words = index::words(query);
        let terms: BTreeSet<String> = words.into_iter().collect();
        let ranked = self.index().rank(&terms);
        self.bounded(ranked, bounds, |tree, ids| snippet::for_terms(tree, ids, &terms, bounds.passages))
    }

    /// Finds text as it stands on disk, ignoring case, in the order of keys and places.
    #[must_use]
    pub fn find_text(&self, text: &str, bounds: Bounds) -> Found {
        let pattern = RegexBuilder::new(&regex::escape(text)).case_insensitive(true).build();
        let Ok(pattern) = pattern else { return Found::default() };
        if text.is_empty() {
            return Found::default();
        }
        let matching = self.documents().filter(|(_, document)| pattern.is_match(document.text()));
        let ranked = matching.map(|(key, _)| (key.clone(), 1.0)).collect();
        self.bounded(ranked, bounds, |tree, ids| snippet::for_pattern(tree, ids, &pattern, bounds.passages))
    }

    fn bounded(&self, ranked: Vec<(DocKey, f64)>, bounds: Bounds, seek: impl Fn(&Tree, &Ids) -> Vec<Passage>) -> Found {
        let all = ranked.len();
        let mut found = Found::default();
        let mut bytes = 0;
        for (key, score) in ranked.into_iter().take(bounds.documents) {
            let Some(document) = self.get(&key) else { continue };
            let passages = match (document.tree(), document.ids()) {
                (Ok(tree), Some(ids)) => seek(tree, ids),
                _ => Vec::new(),
            };
            let title = document.facts().title.clone();
            let mut size = key.as_str().len() + title.as_ref().map_or(0, String::len);
            let fits = |size: usize| bytes + size <= bounds.tokens.saturating_mul(4);
            // The first answer is given whatever the bound: nothing at all would read as no answer.
            if !found.hits.is_empty() && !fits(size) {
                break;
            }
            let mut kept = Vec::new();
            for passage in passages {
                let more = passage.text.len() + passage.block.len() + passage.section.iter().map(String::len).sum::<usize>();
                if kept.is_empty() && found.hits.is_empty() || fits(size + more) {
                    size += more;
                    kept.push(passage);
                }
            }
            bytes += size;
            found.hits.push(Hit { key, title, score, passages: kept });
        }
        found.more = all - found.hits.len();
        found
    }

    /// Returns the documents of each tag.
    #[must_use]
    pub fn tags(&self) -> BTreeMap<&str, Vec<&DocKey>> {
        let mut tags: BTreeMap<&str, Vec<&DocKey>> = BTreeMap::new();
        for (key, document) in self.documents() {
            for tag in &document.facts().tags {
                tags.entry(tag).or_default().push(key);
            }
        }
        tags
    }

    /// Returns the documents of each value that a top-level field of the front matter has, the value as written.
    #[must_use]
    pub fn field(&self, name: &str) -> BTreeMap<&str, Vec<&DocKey>> {
        let mut values: BTreeMap<&str, Vec<&DocKey>> = BTreeMap::new();
        for (key, document) in self.documents() {
            if let Some((_, value)) = document.facts().fields.iter().find(|(field, _)| field == name) {
                values.entry(value).or_default().push(key);
            }
        }
        values
    }

    /// Returns the documents with this title or alias, without case.
    #[must_use]
    pub fn titled(&self, title: &str) -> &[DocKey] {
        self.names().called(title)
    }
}
