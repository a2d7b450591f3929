//! What a link means, and how a link to another place is written in the same way.
//!
//! **Paths** (Markdown links, images, definitions, HTML): from the document's folder; with a leading `/` from each of the roots in
//! turn; without any dots in front also from the root, where the folder has no such document. A path names a document with or
//! without its ending, as `.html`, or as a folder with an index. **Names** (wikilinks): with dots or a leading `/` as paths;
//! else the key; else the document of that name in the same folder; else the only document whose key ends in it; else the only
//! one with that title or alias. Case counts first and is ignored second. A name that several documents have is ambiguous: it is
//! reported, and never guessed.

use std::collections::BTreeMap;

use deckle_doc::DocKey;

use super::destination::{Spelling, decoded, is_external, joined, relative};
use super::{Link, LinkKind, Target};
use crate::names::Names;
use crate::path;

/// Answers what links mean, with the names of one state of the corpus.
#[derive(Clone, Copy)]
pub(crate) struct Resolver<'n> {
    pub(crate) names: &'n Names,
    /// Folders that a leading `/` may mean.
    pub(crate) roots: &'n [String],
}

/// Endings that pages have where they are served.
const PAGE_ENDINGS: [&str; 2] = [".html", ".htm"];

impl Resolver<'_> {
    /// Returns what a link written in `from` means.
    pub(crate) fn resolve(&self, from: &DocKey, link: &Link, source: &str) -> Target {
        let raw = link.path_text(source);
        self.meaning(from, link.kind, raw, link.fragment.is_some())
    }

    /// Whether a wikilink finds its document by title or alias alone, and not by its key.
    pub(crate) fn by_title(&self, from: &DocKey, raw: &str) -> bool {
        self.by_key(from, raw).is_none()
    }

    pub(crate) fn meaning(&self, from: &DocKey, kind: LinkKind, raw: &str, fragment: bool) -> Target {
        if raw.is_empty() {
            return if fragment { Target::Document(from.clone()) } else { Target::External };
        }
        if is_external(raw) || kind == LinkKind::Autolink {
            return Target::External;
        }
        if kind.is_wiki() { self.name(from, raw) } else { self.path(from, raw) }
    }

    fn path(&self, from: &DocKey, raw: &str) -> Target {
        let plain = decoded(raw);
        if plain.starts_with('/') {
            let found = self.roots.iter().find_map(|root| self.lookup(&joined(root, &plain), &plain));
            return found.unwrap_or_else(|| miss(joined("", &plain)));
        }
        let here = joined(from.folder().unwrap_or_default(), &plain);
        if let Some(target) = self.lookup(&here, &plain) {
            return target;
        }
        if !plain.starts_with('.')
            && let Some(target) = self.lookup(&joined("", &plain), &plain)
        {
            return target;
        }
        miss(here)
    }

    /// Returns the document at a path; `written` tells whether a folder is meant.
    fn lookup(&self, path: &str, written: &str) -> Option<Target> {
        let folder = written.ends_with('/') || matches!(written.rsplit('/').next(), Some("." | ".."));
        let page = || {
            let stem = path::ending(path).and_then(|ending| path.strip_suffix(ending));
            let page = PAGE_ENDINGS.iter().find_map(|ending| path.strip_suffix(ending));
            [stem, Some(path), page].into_iter().flatten().find_map(|path| self.names.find(path))
        };
        let index = || self.names.index_of(path);
        let found = if folder { index().or_else(page) } else { page().or_else(index) };
        found.cloned().map(Target::Document)
    }

    fn name(&self, from: &DocKey, raw: &str) -> Target {
        if let Some(target) = self.by_key(from, raw) {
            return target;
        }
        match self.names.called(raw) {
            [] if is_file(raw) => Target::File(raw.to_owned()),
            [] => Target::Missing(raw.to_owned()),
            [key] => Target::Document(key.clone()),
            keys => Target::Ambiguous(keys.to_vec()),
        }
    }

    fn by_key(&self, from: &DocKey, raw: &str) -> Option<Target> {
        if raw.starts_with('/') || raw.starts_with("./") || raw.starts_with("../") {
            let base = if raw.starts_with('/') { "" } else { from.folder().unwrap_or_default() };
            return Some(self.lookup(&joined(base, raw), raw).unwrap_or_else(|| Target::Missing(raw.to_owned())));
        }
        let stem = path::ending(raw).and_then(|ending| raw.strip_suffix(ending)).unwrap_or(raw);
        let here = || self.names.find(&joined(from.folder().unwrap_or_default(), stem));
        if let Some(key) = self.names.find(stem).or_else(here) {
            return Some(Target::Document(key.clone()));
        }
        let found = self.names.ending_in(stem);
        match found.as_slice() {
            [] => None,
            [key] => Some(Target::Document(key.clone())),
            _ => Some(Target::Ambiguous(found)),
        }
    }
}

/// Whether a path leads somewhere even where nothing stands there: it has dots in front or the ending of a page. A bare word such
/// as `g` may be no path at all.
pub(crate) fn is_path(raw: &str) -> bool {
    raw.starts_with('.') || path::ending(raw).is_some() || PAGE_ENDINGS.iter().any(|ending| raw.ends_with(ending))
}

/// Whether a path goes from a folder to its target without a detour.
pub(crate) fn is_shortest(raw: &str, from: &DocKey, target: &Target) -> bool {
    let plain = decoded(raw);
    let plain = plain.strip_prefix("./").unwrap_or(&plain).trim_end_matches('/');
    let way = |path: &str| relative(from.folder().unwrap_or_default(), path);
    match target {
        Target::Document(key) => {
            let stem = path::ending(plain).and_then(|ending| plain.strip_suffix(ending));
            let page = PAGE_ENDINGS.iter().find_map(|ending| plain.strip_suffix(ending));
            let named = stem.or(page).unwrap_or(plain);
            named == way(key.as_str()) || (path::is_index(key) && named == way(key.folder().unwrap_or_default()))
        }
        Target::File(path) | Target::Missing(path) | Target::Outside(path) => plain == way(path),
        _ => true,
    }
}

fn miss(path: String) -> Target {
    if path.starts_with("..") {
        Target::Outside(path)
    } else if is_file(&path) {
        Target::File(path)
    } else {
        Target::Missing(path)
    }
}

/// Whether a path has the ending of a file that is no document: `.png`, `.pdf`.
fn is_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    let letters = ending.chars().any(|c| c.is_ascii_alphabetic()) && ending.chars().all(|c| c.is_ascii_alphanumeric());
    !stem.is_empty()
        && letters
        && ending.len() <= 5
        && path::ending(path).is_none()
        && !PAGE_ENDINGS.iter().any(|page| path.ends_with(page))
}

/// What a link is to mean, and where it will stand.
pub(crate) struct Wanted<'w> {
    /// The document that holds it, by its key afterwards.
    pub(crate) from: &'w DocKey,
    /// What it is to mean.
    pub(crate) target: &'w Target,
    /// Whether it will have a fragment.
    pub(crate) fragment: bool,
    /// The document that its path named before.
    pub(crate) before: Option<&'w DocKey>,
    /// Whether it stood in its target before.
    pub(crate) was_own: bool,
    /// How other links of the document are written.
    pub(crate) habit: &'w Habit,
}

/// How paths are written in a document or a corpus: for links that do not show it themselves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Habit {
    dotted: usize,
    bare: usize,
    endings: BTreeMap<String, usize>,
}

impl Habit {
    /// Takes in how one more path to a document or file is written.
    pub(crate) fn add(&mut self, path: &str, to_document: bool) {
        match path {
            _ if path.starts_with("./") => self.dotted += 1,
            _ if !path.starts_with(['.', '/']) => self.bare += 1,
            _ => {}
        }
        if to_document {
            let page = || PAGE_ENDINGS.into_iter().find(|ending| path.ends_with(ending));
            let ending = path::ending(path).or_else(page).unwrap_or_default();
            *self.endings.entry(ending.to_owned()).or_default() += 1;
        }
    }

    /// Whether it tells how a path downward starts.
    pub(crate) fn knows_start(&self) -> bool {
        self.dotted != self.bare
    }

    /// Whether it tells how a path ends.
    pub(crate) fn knows_ending(&self) -> bool {
        !self.endings.is_empty()
    }

    /// Whether `./` stands before a path downward.
    fn is_dotted(&self) -> bool {
        self.dotted >= self.bare
    }

    fn ending(&self) -> &str {
        self.endings.iter().max_by_key(|(_, count)| **count).map_or(path::ENDINGS[0], |(ending, _)| ending)
    }

    /// Fills what this habit does not tell from another.
    pub(crate) fn or(mut self, other: &Habit) -> Habit {
        if !self.knows_start() {
            (self.dotted, self.bare) = (other.dotted, other.bare);
        }
        if !self.knows_ending() {
            self.endings.clone_from(&other.endings);
        }
        self
    }
}

/// Returns the path of a link, written as its author wrote it, so that it means `wanted`; nothing when no way of writing does.
pub(crate) fn render(resolver: Resolver<'_>, link: &Link, source: &str, wanted: &Wanted<'_>) -> Option<String> {
    let raw = link.path_text(source);
    let fits = |candidate: &String| {
        // Text that ends the link early, or means something else in a cell, is no way to write it.
        let safe = !link.kind.is_wiki() || !candidate.contains(['[', ']', '|', '#', '\n', '"']);
        let by_key = !link.kind.is_wiki() || candidate.is_empty() || !resolver.by_title(wanted.from, candidate);
        safe && by_key && resolver.meaning(wanted.from, link.kind, candidate, wanted.fragment) == *wanted.target
    };
    // A fragment of the document itself needs no path, unless its author wrote one.
    if wanted.fragment && wanted.target.document() == Some(wanted.from) && !wanted.was_own {
        return Some(String::new());
    }
    let candidates = match (wanted.target, link.kind.is_wiki()) {
        (Target::Document(key), true) => names(raw, key, wanted),
        (Target::Document(key), false) => paths(resolver.roots, link, raw, key, wanted),
        (Target::File(path) | Target::Missing(path) | Target::Outside(path), false) => {
            let spelling = Spelling::of(raw, link.angle, link.kind == LinkKind::Html);
            let slash = if raw.ends_with('/') { "/" } else { "" };
            let way = spelling.write(&format!("{}{slash}", way(raw, path, wanted)));
            // With `./` in front it can't be taken for a path from the root.
            let dotted = format!("./{way}");
            vec![way, dotted]
        }
        _ => Vec::new(),
    };
    candidates.into_iter().find(fits)
}

/// The ways to name a document in a wikilink, the one that is most like the old first.
fn names(raw: &str, key: &DocKey, wanted: &Wanted<'_>) -> Vec<String> {
    let ending = path::ending(raw).unwrap_or_default();
    let segments: Vec<&str> = key.as_str().split('/').collect();
    let suffix = |count: usize| format!("{}{ending}", segments[segments.len() - count.min(segments.len())..].join("/"));
    let mut out = Vec::new();
    if raw.starts_with('/') {
        out.push(format!("/{key}{ending}"));
    } else if raw.starts_with("./") || raw.starts_with("../") {
        out.push(format!("{}{ending}", way(raw, key.as_str(), wanted)));
    }
    let stem = raw.strip_suffix(ending).unwrap_or(raw);
    let was_whole = wanted.before.is_some_and(|before| before.as_str().eq_ignore_ascii_case(stem)) && stem.contains('/');
    if was_whole {
        out.push(suffix(segments.len()));
    }
    // A folder's index may be named by its folder.
    if path::is_index(key) && wanted.before.is_some_and(|before| !stem.ends_with(before.name())) {
        out.push(key.folder().unwrap_or_default().to_owned());
    }
    let count = if stem.starts_with('.') { 1 } else { stem.split('/').count() };
    out.extend((count..=segments.len()).map(suffix));
    out.push(format!("/{key}{ending}"));
    out
}

/// The ways to write a path to a document, the one that is most like the old first.
fn paths(roots: &[String], link: &Link, raw: &str, key: &DocKey, wanted: &Wanted<'_>) -> Vec<String> {
    let spelling = Spelling::of(raw, link.angle, link.kind == LinkKind::Html);
    let plain = decoded(raw);
    let slash = if plain.ends_with('/') { "/" } else { "" };
    let page = PAGE_ENDINGS.iter().find(|ending| plain.ends_with(**ending)).copied();
    let ending = if raw.is_empty() { wanted.habit.ending() } else { path::ending(&plain).or(page).unwrap_or_default() };
    // Whether the old path named the folder of an index instead of the index.
    let named = plain.trim_end_matches('/').strip_suffix(ending).unwrap_or(&plain);
    let by_folder = wanted.before.is_some_and(|before| {
        let last = named.rsplit('/').next().unwrap_or(named);
        path::is_index(before) && !last.eq_ignore_ascii_case(before.name())
    });
    let mut bodies: Vec<String> = Vec::new();
    if by_folder && path::is_index(key) {
        bodies.push(format!("{}{slash}", key.folder().unwrap_or_default()));
    }
    if !by_folder {
        bodies.push(format!("{key}{ending}{slash}"));
    }
    bodies.push(format!("{key}{ending}"));
    bodies.push(format!("{key}{}", path::ENDINGS[0]));
    let mut out = Vec::new();
    for body in &bodies {
        let (path, slash) = body.strip_suffix('/').map_or((body.as_str(), ""), |path| (path, "/"));
        if plain.starts_with('/') {
            for root in roots {
                let inside = if root.is_empty() {
                    Some(path)
                } else {
                    path.strip_prefix(root.as_str()).and_then(|path| path.strip_prefix('/'))
                };
                out.extend(inside.map(|inside| format!("/{inside}{slash}")));
            }
        } else {
            // A bare path that was one from the root stays one.
            let before = wanted.before.map(DocKey::as_str);
            let from_root = !plain.starts_with('.') && before == Some(named) && named.contains('/');
            if from_root {
                out.push(format!("{path}{slash}"));
            }
            let way = way(&plain, path, wanted);
            let slash = if way.ends_with('/') { "" } else { slash };
            out.push(format!("{way}{slash}"));
        }
    }
    out.iter().map(|path| spelling.write(path)).collect()
}

/// The way from the document to a path, with `./` in front where the author writes it.
fn way(old: &str, path: &str, wanted: &Wanted<'_>) -> String {
    let way = relative(wanted.from.folder().unwrap_or_default(), path);
    let dotted = old.starts_with("./") || ((old.starts_with("..") || old.is_empty()) && wanted.habit.is_dotted());
    match way.as_str() {
        "" => "./".to_owned(),
        _ if dotted && !way.starts_with("..") => format!("./{way}"),
        _ => way,
    }
}
