//! The corpus as the edit language reads it.

use deckle_doc::{Diag, DocKey, Ids, Tree};
use deckle_edit::documents::{Changed, Fixes};
use deckle_edit::links::{DocumentLink, Link, Written};
use deckle_edit::{Documents, EditError};

use crate::corpus::Corpus;
use crate::error::PlanError;
use crate::link::{LinkKind, Target};

impl Documents for Corpus {
    fn keys(&self) -> Vec<DocKey> {
        Corpus::keys(self).cloned().collect()
    }

    fn tree(&self, key: &DocKey) -> Option<Tree> {
        self.get(key)?.tree().ok().cloned()
    }

    fn ids(&self, key: &DocKey, tree: &Tree) -> Ids {
        let document = self.get(key).filter(|document| document.tree().is_ok_and(|known| known == tree));
        document.and_then(|document| document.ids().cloned()).unwrap_or_else(|| Ids::derive(tree))
    }

    fn contains(&self, key: &DocKey) -> bool {
        // As `tree`: a document past a limit is kept and can't be edited.
        self.get(key).is_some_and(|document| document.tree().is_ok())
    }

    fn may_link_to(&self, key: &DocKey) -> Vec<DocKey> {
        self.referenced_by(key).cloned().collect()
    }

    fn known_links(&self, key: &DocKey) -> Option<Vec<DocumentLink>> {
        let text = self.get(key)?.text();
        let links = self.outgoing(key).into_iter().filter(|reference| {
            // The destination of a reference stands in its definition.
            let link = reference.link;
            link.kind.owns_destination() && !link.path.is_empty() && *reference.target != Target::External
        });
        let known = links.map(|reference| {
            let link = reference.link;
            let inclusion = link.alone || link.kind == LinkKind::Embed;
            DocumentLink {
                link: Link {
                    target: link.path.clone(),
                    span: link.span.clone(),
                    text: link.path_text(text).to_owned(),
                    written: if link.kind.is_wiki() { Written::Wiki } else { Written::Path },
                    inclusion,
                },
                inclusion,
                resolved: reference.target.document().cloned(),
            }
        });
        Some(known.collect())
    }

    fn rename_fixes(&self, changed: Changed<'_>, from: &DocKey, to: &DocKey) -> Option<Result<Fixes, Diag>> {
        let with: Option<Corpus> = (!changed.is_empty()).then(|| {
            let mut with = self.clone();
            for (key, tree) in changed {
                match tree {
                    Some(tree) => with.insert_tree((*key).clone(), (*tree).clone()),
                    None => {
                        with.remove(key);
                    }
                }
            }
            with
        });
        let plan = with.as_ref().unwrap_or(self).rename(from, to);
        Some(plan.map(|plan| plan.edits).map_err(|error| match error {
            // What the edit language refuses itself is said in its words.
            PlanError::Exists { key } => Diag::from(&EditError::Exists { key }),
            PlanError::NotFound { key, near } => Diag::from(&EditError::NoDocument { key: key.to_string(), near }),
            other => Diag::from(&other),
        }))
    }
}
