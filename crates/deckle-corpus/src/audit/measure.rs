//! What a document holds, in numbers that two states can be compared by.

use std::collections::{BTreeMap, HashSet};

use deckle_doc::{Block, Kind, Tree};

/// The words of the text that a document shows.
pub(crate) struct Measure {
    /// The words of all blocks but front matter.
    pub(crate) words: usize,
    /// The sections by their path of headings; equal paths are added up. The text before the first heading is the empty path.
    pub(crate) sections: BTreeMap<String, Section>,
    /// The rows of each table by its head; equal heads are added up.
    pub(crate) tables: BTreeMap<String, usize>,
}

/// A section without those below it.
#[derive(Default)]
pub(crate) struct Section {
    pub(crate) words: usize,
    /// The text of each leaf with how many words it has.
    pub(crate) leaves: Vec<(String, usize)>,
}

/// Returns how many words a text has.
fn count(text: &str) -> usize {
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count()
}

fn is_leaf(block: &Block<'_>) -> bool {
    block.first_child().is_none() && !matches!(block.kind(), Kind::FrontMatter { .. } | Kind::Break | Kind::LinkDefinition { .. })
}

/// Measures a document.
pub(crate) fn measure(tree: &Tree) -> Measure {
    let mut measure = Measure { words: 0, sections: BTreeMap::new(), tables: BTreeMap::new() };
    let mut path: Vec<(u8, String)> = Vec::new();
    let mut name = String::new();
    for block in tree.blocks() {
        if let Some(level) = block.heading_level() {
            path.retain(|(above, _)| *above < level);
            let text = block.plain_text();
            measure.words += count(&text);
            path.push((level, text));
            name = path.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(" › ");
            measure.sections.entry(name.clone()).or_default();
        } else if is_leaf(&block) {
            let words = count(block.text());
            measure.words += words;
            let section = measure.sections.entry(name.clone()).or_default();
            section.words += words;
            if words > 0 {
                section.leaves.push((normal(block.text()), words));
            }
        }
        if let Kind::Table { .. } = block.kind() {
            let cells = |row: Block<'_>| row.children().map(|cell| cell.plain_text()).collect::<Vec<_>>().join(" | ");
            let head = block.first_child().map(cells).unwrap_or_default();
            *measure.tables.entry(head).or_default() += block.children().count();
        }
    }
    measure
}

/// Text without the blanks in which two places may differ.
fn normal(text: &str) -> String {
    text.split_whitespace().filter(|word| *word != ">").collect::<Vec<_>>().join(" ")
}

/// The leaves of a state, by which text is found again where it went.
#[derive(Default)]
pub(crate) struct Leaves {
    texts: HashSet<String>,
}

impl Leaves {
    pub(crate) fn add(&mut self, measure: &Measure) {
        for (text, _) in measure.sections.values().flat_map(|section| &section.leaves) {
            self.texts.insert(text.clone());
        }
    }

    /// How many of a section's words stand somewhere as whole leaves.
    pub(crate) fn kept(&self, section: &Section) -> usize {
        section.leaves.iter().filter(|(text, _)| self.texts.contains(text)).map(|(_, words)| words).sum()
    }
}
