//! Audits: what is wrong in a corpus, and what a change did to it.

mod check;
mod damage;
mod measure;

use std::fmt;

use deckle_doc::DocKey;

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The document, by its key afterwards, or by the one it had.
    pub key: DocKey,
    /// What was found.
    pub what: Damage,
}

/// What a finding is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Damage {
    /// The document is gone and its text nowhere else; so many documents link to it still.
    DocumentGone {
        /// How many documents link to it.
        linked_from: usize,
    },
    /// The document lost most of its words.
    DocumentShrunk {
        /// Words before.
        before: usize,
        /// Words after.
        after: usize,
    },
    /// A top-level key of the front matter is gone.
    FieldLost {
        /// The key.
        field: String,
    },
    /// A section is gone and its text nowhere else.
    SectionGone {
        /// The headings to it.
        section: String,
        /// Words before.
        before: usize,
    },
    /// A section lost most of its words.
    SectionShrunk {
        /// The headings to it.
        section: String,
        /// Words before.
        before: usize,
        /// Words after.
        after: usize,
    },
    /// A table has fewer rows.
    RowsLost {
        /// Its head, cells divided by `|`.
        table: String,
        /// Rows before, the head included.
        before: usize,
        /// Rows after.
        after: usize,
    },
    /// A link that found its document finds none.
    LinkBroken {
        /// The link as written.
        written: String,
        /// What it meant.
        was: String,
    },
    /// A link finds another document.
    LinkRetargeted {
        /// The link as written.
        written: String,
        /// What it meant.
        was: String,
        /// What it means.
        now: String,
    },
    /// A link to a heading that is not there any more.
    FragmentBroken {
        /// The link as written.
        written: String,
    },
    /// No document links to it any more.
    Orphaned,
    /// A link that finds nothing.
    LinkToNowhere {
        /// The link as written.
        written: String,
    },
    /// A link that several documents answer.
    LinkAmbiguous {
        /// The link as written.
        written: String,
        /// The documents.
        documents: Vec<DocKey>,
    },
    /// A link to a heading that is not there.
    NoSuchHeading {
        /// The link as written.
        written: String,
    },
    /// Headings of one section with the same words.
    DuplicateHeading {
        /// The headings to it.
        section: String,
        /// How many.
        count: usize,
    },
    /// Several documents have the title.
    DuplicateTitle {
        /// The title.
        title: String,
        /// The others.
        others: Vec<DocKey>,
    },
    /// No document links to it.
    Orphan,
}

impl Damage {
    /// Returns the name used in reports and configuration.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Damage::DocumentGone { .. } => "document-gone",
            Damage::DocumentShrunk { .. } => "document-shrunk",
            Damage::FieldLost { .. } => "field-lost",
            Damage::SectionGone { .. } => "section-gone",
            Damage::SectionShrunk { .. } => "section-shrunk",
            Damage::RowsLost { .. } => "rows-lost",
            Damage::LinkBroken { .. } => "link-broken",
            Damage::LinkRetargeted { .. } => "link-retargeted",
            Damage::FragmentBroken { .. } => "fragment-broken",
            Damage::Orphaned => "orphaned",
            Damage::LinkToNowhere { .. } => "link-to-nowhere",
            Damage::LinkAmbiguous { .. } => "link-ambiguous",
            Damage::NoSuchHeading { .. } => "no-such-heading",
            Damage::DuplicateHeading { .. } => "duplicate-heading",
            Damage::DuplicateTitle { .. } => "duplicate-title",
            Damage::Orphan => "orphan",
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damage::DocumentGone { linked_from: 0 } => write!(f, "the document is gone"),
            Damage::DocumentGone { linked_from } => write!(f, "the document is gone, and {linked_from} document(s) link to it"),
            Damage::DocumentShrunk { before, after } => write!(f, "{before} words became {after}"),
            Damage::FieldLost { field } => write!(f, "the front matter lost `{field}`"),
            Damage::SectionGone { section, before } => write!(f, "the section `{section}` of {before} words is gone"),
            Damage::SectionShrunk { section, before, after } => {
                write!(f, "the section `{section}` of {before} words has {after}")
            }
            Damage::RowsLost { table, before, after } => write!(f, "the table `{table}` of {before} rows has {after}"),
            Damage::LinkBroken { written, was } => write!(f, "`{written}` meant `{was}` and finds nothing"),
            Damage::LinkRetargeted { written, was, now } => write!(f, "`{written}` meant `{was}` and now means `{now}`"),
            Damage::FragmentBroken { written } => write!(f, "the heading that `{written}` names is gone"),
            Damage::Orphaned => write!(f, "no document links to it any more"),
            Damage::LinkToNowhere { written } => write!(f, "`{written}` finds nothing"),
            Damage::LinkAmbiguous { written, documents } => {
                let names: Vec<&str> = documents.iter().map(DocKey::as_str).collect();
                write!(f, "`{written}` may mean `{}`", names.join("`, `"))
            }
            Damage::NoSuchHeading { written } => write!(f, "`{written}` names a heading that is not there"),
            Damage::DuplicateHeading { section, count } => write!(f, "{count} headings are `{section}`"),
            Damage::DuplicateTitle { title, others } => {
                let names: Vec<&str> = others.iter().map(DocKey::as_str).collect();
                write!(f, "the title `{title}` is also that of `{}`", names.join("`, `"))
            }
            Damage::Orphan => write!(f, "no document links to it"),
        }
    }
}

/// What a change did: the findings that were not there before it. Review shows it, and a merge can be gated on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditDelta {
    /// The findings, by document.
    pub findings: Vec<Finding>,
}

impl AuditDelta {
    /// Whether nothing was damaged.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Returns how many findings there are of each code.
    #[must_use]
    pub fn counts(&self) -> std::collections::BTreeMap<&'static str, usize> {
        let mut counts = std::collections::BTreeMap::new();
        for finding in &self.findings {
            *counts.entry(finding.what.code()).or_default() += 1;
        }
        counts
    }
}

impl fmt::Display for AuditDelta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "{}: {} [{}]", finding.key, finding.what, finding.what.code())?;
        }
        Ok(())
    }
}
