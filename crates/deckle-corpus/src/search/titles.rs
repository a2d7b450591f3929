//! Titles found by what a person remembers of them.

use deckle_doc::DocKey;

use crate::corpus::Corpus;
use crate::names::fold;

/// A title that is like what was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct TitleHit {
    /// The document.
    pub key: DocKey,
    /// The title, alias or key that is like it.
    pub name: String,
    /// How like, from 0 to 1.
    pub score: f64,
}

impl Corpus {
    /// Finds documents by titles, aliases and keys that are like `query`: equal, starting with it, holding it, holding its letters
    /// in order, or one or two typing errors away. Best first.
    #[must_use]
    pub fn find_title(&self, query: &str, limit: usize) -> Vec<TitleHit> {
        let query = fold(query.trim());
        if query.is_empty() {
            return Vec::new();
        }
        let mut hits: Vec<TitleHit> = Vec::new();
        for (key, document) in self.documents() {
            let names = document.facts().names().chain([key.name(), key.as_str()]);
            let best = names.map(|name| (likeness(&query, &fold(name)), name)).max_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((score, name)) = best.filter(|(score, _)| *score > 0.0) {
                hits.push(TitleHit { key: key.clone(), name: name.to_owned(), score });
            }
        }
        hits.sort_by(|a, b| {
            b.score.total_cmp(&a.score).then_with(|| a.name.len().cmp(&b.name.len())).then_with(|| a.key.cmp(&b.key))
        });
        hits.truncate(limit);
        hits
    }
}

fn likeness(query: &str, name: &str) -> f64 {
    if name == query {
        return 1.0;
    }
    let share = query.len() as f64 / name.len().max(query.len()) as f64;
    if name.starts_with(query) {
        return 0.9 + 0.05 * share;
    }
    if let Some(at) = name.find(query) {
        let starts_word = !name[..at].ends_with(char::is_alphanumeric);
        return if starts_word { 0.8 + 0.05 * share } else { 0.7 + 0.05 * share };
    }
    if let Some(errors) = typing_errors(query, name, 2)
        && query.chars().count() >= 4
    {
        return 0.7 - 0.1 * errors as f64;
    }
    in_order(query, name).map_or(0.0, |tightness| 0.1 + 0.35 * tightness)
}

/// How tightly the letters of the query stand in order in the name: 1 when together.
fn in_order(query: &str, name: &str) -> Option<f64> {
    let mut letters = query.chars().filter(|c| !c.is_whitespace());
    let count = letters.clone().count();
    let mut wanted = letters.next();
    let (mut first, mut last) = (None, 0);
    for (at, c) in name.chars().enumerate() {
        if Some(c) == wanted {
            first.get_or_insert(at);
            last = at;
            wanted = letters.next();
        }
    }
    let span = last + 1 - first?;
    // Letters that are strewn about say nothing.
    (wanted.is_none() && count >= 2 && span <= count * 3).then(|| count as f64 / span as f64)
}

/// The edits between two texts (insert, delete, replace, swap), when they are at most `most`.
fn typing_errors(a: &str, b: &str, most: usize) -> Option<usize> {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    if a.len().abs_diff(b.len()) > most || a.len().max(b.len()) > 128 {
        return None;
    }
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let above = &rows[i - 1];
            let mut least = (above[j] + 1).min(row[j - 1] + 1).min(above[j - 1] + usize::from(a[i - 1] != b[j - 1]));
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row[j] = least;
        }
        if row.iter().all(|errors| *errors > most) {
            return None;
        }
        rows.push(row);
    }
    rows.last().and_then(|row| row.last()).copied().filter(|errors| *errors <= most)
}
