//! Rename and move: documents get other keys, and every link still finds them.

use std::collections::{BTreeMap, BTreeSet};

use deckle_doc::DocKey;

use super::Plan;
use super::engine;
use super::recipe::{Home, Piece, Recipe};
use crate::corpus::Corpus;
use crate::error::PlanError;
use crate::names::fold;

impl Corpus {
    /// Plans to give a document another key. Links to it are written anew where they would no longer find it, links in it where
    /// its folder changes; all in the way that their author wrote them.
    ///
    /// # Errors
    /// When there is no such document, the new key is taken (also by one that differs in case alone), or a link can't be written
    /// so that it keeps its meaning.
    pub fn rename(&self, from: &DocKey, to: &DocKey) -> Result<Plan, PlanError> {
        self.rename_all(&BTreeMap::from([(from.clone(), to.clone())]))
    }

    /// Plans to give every document of a folder another folder.
    ///
    /// # Errors
    /// As [`Corpus::rename`]; also when a key would become too long.
    pub fn rename_folder(&self, from: &str, to: &str) -> Result<Plan, PlanError> {
        let mut moves = BTreeMap::new();
        for key in self.keys() {
            let inside = key.as_str().strip_prefix(from).and_then(|rest| rest.strip_prefix('/'));
            if let Some(rest) = inside {
                let new = if to.is_empty() { rest.to_owned() } else { format!("{to}/{rest}") };
                moves.insert(key.clone(), DocKey::parse(&new)?);
            }
        }
        match moves.is_empty() {
            true => Err(PlanError::NotFound { key: DocKey::parse(from)?, near: Vec::new() }),
            false => self.rename_all(&moves),
        }
    }

    /// Plans to give several documents other keys at once; two may change places.
    ///
    /// # Errors
    /// As [`Corpus::rename`].
    pub fn rename_all(&self, moves: &BTreeMap<DocKey, DocKey>) -> Result<Plan, PlanError> {
        let folded: BTreeSet<String> =
            self.keys().filter(|key| !moves.contains_key(*key)).map(|key| fold(key.as_str())).collect();
        let mut taken = BTreeSet::new();
        let mut recipe = Recipe::default();
        for (from, to) in moves {
            if !self.contains(from) {
                return Err(self.not_found(from));
            }
            if from == to {
                return Err(PlanError::Same { key: to.clone() });
            }
            let name = fold(to.as_str());
            if folded.contains(&name) || !taken.insert(name) {
                return Err(PlanError::Exists { key: to.clone() });
            }
            recipe.documents.insert(to.clone(), vec![Piece::whole(self, from)]);
            recipe.home.insert(from.clone(), Home { key: to.clone(), heading: None });
        }
        recipe.removed = moves.keys().cloned().collect();
        engine::plan(self, &recipe)
    }

    pub(crate) fn not_found(&self, key: &DocKey) -> PlanError {
        let names = self.names();
        let mut near = names.ending_in(key.name());
        near.extend(names.find(key.as_str()).cloned());
        near.extend(names.called(key.as_str()).iter().cloned());
        near.sort();
        near.dedup();
        PlanError::NotFound { key: key.clone(), near }
    }
}
