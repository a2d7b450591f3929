//! What is wrong in one state.

use std::collections::BTreeMap;

use deckle_doc::DocKey;

use super::damage::has_heading;
use super::{Damage, Finding};
use crate::corpus::Corpus;
use crate::link::Target;
use crate::path::is_index;

impl Corpus {
    /// Returns what is wrong: links to nowhere and to headings that are not there, ambiguous links, headings of one section and
    /// titles of several documents that are the same, documents that nothing links to.
    #[must_use]
    pub fn check(&self) -> Vec<Finding> {
        let mut out = Vec::new();
        let mut titles: BTreeMap<&str, Vec<&DocKey>> = BTreeMap::new();
        for (key, document) in self.documents() {
            self.check_links(key, &mut out);
            let facts = document.facts();
            if let Some(title) = &facts.title {
                titles.entry(title).or_default().push(key);
            }
            let mut path: Vec<(u8, &str)> = Vec::new();
            let mut seen: BTreeMap<String, usize> = BTreeMap::new();
            for heading in &facts.headings {
                path.retain(|(above, _)| *above < heading.level);
                path.push((heading.level, &heading.text));
                let name = path.iter().map(|(_, text)| *text).collect::<Vec<_>>().join(" › ");
                *seen.entry(name).or_default() += 1;
            }
            let doubled = seen.into_iter().filter(|(_, count)| *count > 1);
            out.extend(
                doubled.map(|(section, count)| Finding { key: key.clone(), what: Damage::DuplicateHeading { section, count } }),
            );
            if self.referenced_by(key).next().is_none() && !is_index(key) {
                out.push(Finding { key: key.clone(), what: Damage::Orphan });
            }
        }
        for (title, keys) in titles.into_iter().filter(|(_, keys)| keys.len() > 1) {
            for key in &keys {
                let others = keys.iter().filter(|other| *other != key).map(|other| (*other).clone()).collect();
                out.push(Finding { key: (*key).clone(), what: Damage::DuplicateTitle { title: title.to_owned(), others } });
            }
        }
        out.sort();
        out
    }

    fn check_links(&self, key: &DocKey, out: &mut Vec<Finding>) {
        let Some(document) = self.get(key) else { return };
        let text = document.text();
        for reference in self.outgoing(key) {
            let written = reference.link.written(text).to_owned();
            let what = match reference.target {
                // A reference is wrong where its definition is.
                _ if !reference.link.kind.owns_destination() => continue,
                Target::Missing(_) => Damage::LinkToNowhere { written },
                Target::Ambiguous(documents) => Damage::LinkAmbiguous { written, documents: documents.clone() },
                Target::Document(_) => match reference.link.fragment_text(text) {
                    Some(fragment) if !has_heading(self, reference.target, fragment) => Damage::NoSuchHeading { written },
                    _ => continue,
                },
                _ => continue,
            };
            out.push(Finding { key: key.clone(), what });
        }
    }
}
