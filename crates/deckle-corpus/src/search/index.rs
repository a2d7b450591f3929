//! The index of words.

use std::collections::{BTreeSet, HashMap};

use deckle_doc::DocKey;

use crate::corpus::Document;

/// How fast more of one word stops to count, and how much length counts: the usual values of BM25.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// What a word of a heading and of the title counts.
const HEADING: u32 = 3;
const TITLE: u32 = 6;

/// Words and the documents that have them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    entries: Vec<Entry>,
    places: HashMap<DocKey, u32>,
    terms: HashMap<Box<str>, Vec<Posting>>,
    /// The words of all living entries.
    length: u64,
}

#[derive(Clone, Debug)]
struct Entry {
    key: DocKey,
    length: u32,
    alive: bool,
}

#[derive(Clone, Copy, Debug)]
struct Posting {
    entry: u32,
    weight: u32,
}

/// Returns the words of a text as they are compared. A letter of a script without blanks between words is a word.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    each_word(text, |word| out.push(word.to_owned()));
    out
}

fn each_word(text: &str, mut f: impl FnMut(&str)) {
    let mut word = String::new();
    for c in text.chars() {
        if is_ideograph(c) {
            if !word.is_empty() {
                f(&word);
                word.clear();
            }
            f(c.encode_utf8(&mut [0; 4]));
        } else if c.is_alphanumeric() {
            if c.is_ascii() { word.push(c.to_ascii_lowercase()) } else { word.extend(c.to_lowercase()) }
        } else if !word.is_empty() {
            f(&word);
            word.clear();
        }
    }
    if !word.is_empty() {
        f(&word);
    }
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{2FA1F}')
}

impl Index {
    pub(crate) fn add(&mut self, key: &DocKey, document: &Document) {
        self.remove(key);
        let entry = self.entries.len() as u32;
        let mut counts: HashMap<String, u32> = HashMap::new();
        let mut length = 0;
        let mut count = |text: &str, weight: u32, length: &mut u32| {
            each_word(text, |word| {
                *length += 1;
                match counts.get_mut(word) {
                    Some(count) => *count += weight,
                    None => {
                        counts.insert(word.to_owned(), weight);
                    }
                }
            });
        };
        count(document.text(), 1, &mut length);
        let facts = document.facts();
        let mut extra = 0;
        // The text was counted once: a heading's words have the rest of their weight to come.
        facts.headings.iter().for_each(|heading| count(&heading.text, HEADING - 1, &mut extra));
        facts.names().for_each(|name| count(name, TITLE - 1, &mut extra));
        count(key.as_str(), TITLE - 1, &mut extra);
        for (word, weight) in counts {
            self.terms.entry(word.into()).or_default().push(Posting { entry, weight });
        }
        self.length += u64::from(length);
        self.entries.push(Entry { key: key.clone(), length, alive: true });
        self.places.insert(key.clone(), entry);
    }

    pub(crate) fn remove(&mut self, key: &DocKey) {
        let Some(place) = self.places.remove(key) else { return };
        if let Some(entry) = self.entries.get_mut(place as usize) {
            entry.alive = false;
            self.length -= u64::from(entry.length);
        }
    }

    /// Whether so much of it is dead that it is cheaper to build it anew.
    pub(crate) fn is_stale(&self) -> bool {
        self.entries.len() > 64 && self.entries.len() > 2 * self.places.len()
    }

    /// Returns the documents that have a word of the query, best first.
    pub(crate) fn rank(&self, terms: &BTreeSet<String>) -> Vec<(DocKey, f64)> {
        let living = self.places.len() as f64;
        let average = (self.length as f64 / living.max(1.0)).max(1.0);
        let mut scores: HashMap<u32, (f64, u32)> = HashMap::new();
        for term in terms {
            let postings = self.postings(term);
            let having = postings.keys().filter(|entry| self.alive(**entry)).count() as f64;
            let rarity = (1.0 + (living - having + 0.5) / (having + 0.5)).ln();
            for (entry, weight) in postings {
                let Some(Entry { length, alive: true, .. }) = self.entries.get(entry as usize) else { continue };
                let weight = f64::from(weight);
                let norm = K1 * (1.0 - B + B * f64::from(*length) / average);
                let score = rarity * weight * (K1 + 1.0) / (weight + norm);
                let sum = scores.entry(entry).or_default();
                sum.0 += score;
                sum.1 += 1;
            }
        }
        // A document with every word comes before one with the same score from fewer.
        let all = terms.len().max(1) as f64;
        let mut ranked: Vec<(DocKey, f64)> = scores
            .into_iter()
            .filter_map(|(entry, (score, count))| {
                let entry = self.entries.get(entry as usize)?;
                Some((entry.key.clone(), score * (f64::from(count) / all)))
            })
            .collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        ranked
    }

    fn alive(&self, entry: u32) -> bool {
        self.entries.get(entry as usize).is_some_and(|entry| entry.alive)
    }

    /// The postings of a word; of one that is nowhere, those of the words that start with it, at half their weight.
    fn postings(&self, term: &str) -> HashMap<u32, u32> {
        if let Some(postings) = self.terms.get(term) {
            return postings.iter().map(|posting| (posting.entry, posting.weight * 2)).collect();
        }
        let mut all = HashMap::new();
        if term.chars().count() >= 3 {
            for (_, postings) in self.terms.iter().filter(|(word, _)| word.starts_with(term)) {
                postings.iter().for_each(|posting| *all.entry(posting.entry).or_default() += posting.weight);
            }
        }
        all
    }
}
