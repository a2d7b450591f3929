//! Inline: the text of a document takes the place of a link to it.

use deckle_doc::{DocKey, Kind};

use super::recipe::{Home, Piece, Recipe};
use super::{Plan, engine, levels};
use crate::corpus::Corpus;
use crate::error::PlanError;

impl Corpus {
    /// Plans to put the text of `key`, without its front matter, where `host` has a paragraph that is only a link to it. Its
    /// headings go below the one they come under. Without `keep` the document is removed, and links to it find its text in
    /// `host`.
    ///
    /// # Errors
    /// When one of the documents is not there, `host` has no such paragraph, a heading would be too deep, the text would change
    /// what is beside it, or a link can't keep its meaning.
    pub fn inline(&self, host: &DocKey, key: &DocKey, keep: bool) -> Result<Plan, PlanError> {
        let into = self.get(host).ok_or_else(|| self.not_found(host))?;
        let document = self.get(key).ok_or_else(|| self.not_found(key))?;
        let limit = |key: &DocKey| {
            let key = key.clone();
            move |limit: &deckle_doc::LimitError| PlanError::Limit { key, limit: *limit }
        };
        let host_tree = into.tree().map_err(limit(host))?;
        let tree = document.tree().map_err(limit(key))?;
        let place = self.outgoing(host).into_iter().find(|reference| {
            let at_root = host_tree.block(reference.link.block).parent() == Some(host_tree.root());
            reference.link.alone && at_root && reference.link.fragment.is_none() && reference.target.document() == Some(key)
        });
        let no_place = || PlanError::NoPlace { host: host.clone(), key: key.clone() };
        let place = place.filter(|_| host != key).ok_or_else(no_place)?;
        let block = host_tree.block(place.link.block);
        let at = block.content();

        let mut body = tree.root().children().filter(|block| !matches!(block.kind(), Kind::FrontMatter { .. })).peekable();
        let start = body.peek().map_or(0, |first| first.span().start);
        let end = body.last().map_or(start, |last| last.content().end);
        let above =
            host_tree.root().children().take_while(|other| *other != block).filter_map(|other| other.heading_level()).last();
        let top = document.facts().headings.iter().map(|heading| heading.level).min();
        let by = top.map_or(0, |top| (i32::from(above.unwrap_or(0)) + 1 - i32::from(top)).max(0));
        let shape = levels::shift(key, tree, start..end, by)?;

        let text = host_tree.source();
        let line = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let gap = |blank: bool| Piece::Text(if blank { String::new() } else { line.to_owned() });
        let source = |key: &DocKey, range, shape| Piece::Source { key: key.clone(), range, shape };
        let mut recipe = Recipe::default();
        let pieces = vec![
            source(host, 0..at.start, Vec::new()),
            gap(levels::blank_before(&text[..at.start])),
            source(key, start..end, shape),
            gap(levels::blank_after(&text[at.end..])),
            source(host, at.end..text.len(), Vec::new()),
        ];
        recipe.documents.insert(host.clone(), pieces);
        if !keep {
            recipe.removed.insert(key.clone());
            let heading = (!document.facts().headings.is_empty()).then_some(0);
            recipe.home.insert(key.clone(), Home { key: host.clone(), heading });
        }
        engine::plan(self, &recipe)
    }
}
