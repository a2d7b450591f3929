//! Random documents as values, and edits of them. Every word that an edit writes names its side, so that it can be looked for.

use proptest::prelude::*;

/// A document: front matter keys and blocks.
#[derive(Clone, Debug, Default)]
pub struct Doc {
    pub front: Vec<(String, String)>,
    pub blocks: Vec<Blk>,
    pub crlf: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Blk {
    Heading(usize, String),
    Para(String),
    List { ordered: bool, loose: bool, items: Vec<Item> },
    Table(Vec<[String; 2]>),
    Quote(Vec<String>),
    Callout(String, Vec<Blk>),
    Code(Vec<String>),
    Divider,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub text: String,
    pub check: Option<bool>,
    pub inner: Vec<String>,
}

/// An edit; numbers are taken modulo what is there.
#[derive(Clone, Debug)]
pub struct Edit {
    what: u8,
    at: usize,
    to: usize,
    /// Whether both sides make it.
    shared: bool,
}

impl Doc {
    pub fn text(&self) -> String {
        let mut out = String::new();
        if !self.front.is_empty() {
            out.push_str("---\n");
            self.front.iter().for_each(|(key, value)| out.push_str(&format!("{key}: {value}\n")));
            out.push_str("---\n\n");
        }
        let blocks: Vec<String> = self.blocks.iter().map(Blk::text).collect();
        out.push_str(&blocks.join("\n"));
        if self.crlf { out.replace('\n', "\r\n") } else { out }
    }
}

impl Blk {
    fn text(&self) -> String {
        match self {
            Blk::Heading(level, words) => format!("{} {words}\n", "#".repeat(*level)),
            Blk::Para(words) => format!("{words}\n"),
            Blk::List { ordered, loose, items } => {
                let items: Vec<String> = items
                    .iter()
                    .enumerate()
                    .map(|(at, item)| {
                        let marker = if *ordered { format!("{}. ", at + 1) } else { "- ".into() };
                        let check = item.check.map_or("", |done| if done { "[x] " } else { "[ ] " });
                        let indent = " ".repeat(marker.len());
                        let inner: String = item.inner.iter().map(|one| format!("{indent}- {one}\n")).collect();
                        format!("{marker}{check}{}\n{inner}", item.text)
                    })
                    .collect();
                items.join(if *loose { "\n" } else { "" })
            }
            Blk::Table(rows) => {
                let mut out = String::from("| k | v |\n|---|---|\n");
                rows.iter().for_each(|[a, b]| out.push_str(&format!("| {a} | {b} |\n")));
                out
            }
            Blk::Quote(paras) => {
                let paras: Vec<String> = paras.iter().map(|one| format!("> {one}\n")).collect();
                paras.join(">\n")
            }
            Blk::Callout(title, inner) => {
                let inner: Vec<String> = inner.iter().map(Blk::text).collect();
                format!(":::note[{title}]\n{}:::\n", inner.join("\n"))
            }
            Blk::Code(lines) => format!("```\n{}```\n", lines.iter().map(|one| format!("{one}\n")).collect::<String>()),
            Blk::Divider => "***\n".into(),
        }
    }
}

fn word(tag: &'static str) -> impl Strategy<Value = String> {
    prop::collection::vec(0u16..400, 1..5)
        .prop_map(move |words| words.iter().map(|one| format!("{tag}{one}")).collect::<Vec<_>>().join(" "))
}

fn flat() -> impl Strategy<Value = Blk> {
    prop_oneof![
        4 => word("w").prop_map(Blk::Para),
        1 => prop::collection::vec(word("w"), 1..4).prop_map(Blk::Code),
        2 => (any::<bool>(), any::<bool>(), prop::collection::vec(item(), 1..4))
            .prop_map(|(ordered, loose, items)| Blk::List { ordered, loose, items }),
    ]
}

fn item() -> impl Strategy<Value = Item> {
    let inner = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(word("w"), 1..3)];
    (word("w"), prop::option::weighted(0.3, any::<bool>()), inner).prop_map(|(text, check, inner)| Item { text, check, inner })
}

fn block() -> impl Strategy<Value = Blk> {
    prop_oneof![
        6 => flat(),
        2 => (1usize..4, word("w")).prop_map(|(level, words)| Blk::Heading(level, words)),
        1 => prop::collection::vec([word("w"), word("w")], 1..4).prop_map(Blk::Table),
        1 => prop::collection::vec(word("w"), 1..3).prop_map(Blk::Quote),
        1 => (word("w"), prop::collection::vec(flat(), 1..3)).prop_map(|(title, inner)| Blk::Callout(title, inner)),
        1 => Just(Blk::Divider),
    ]
}

/// Random documents.
pub fn doc() -> impl Strategy<Value = Doc> {
    let front = prop_oneof![
        2 => Just(Vec::new()),
        1 => prop::collection::vec(word("w"), 1..4).prop_map(|values| {
            values.into_iter().enumerate().map(|(at, value)| (format!("key{at}"), value)).collect()
        }),
    ];
    (front, prop::collection::vec(block(), 0..8), prop::bool::weighted(0.1)).prop_map(|(front, blocks, crlf)| Doc {
        front,
        blocks,
        crlf,
    })
}

/// Random edits.
pub fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = (0u8..20, 0usize..64, 0usize..64, prop::bool::weighted(0.15));
    prop::collection::vec(edit.prop_map(|(what, at, to, shared)| Edit { what, at, to, shared }), 0..5)
}

/// Makes the edits of one side; those of `other` that are shared are made first, by both.
pub fn edited(doc: &Doc, own: &[Edit], other: &[Edit], tag: &str, first: bool) -> Doc {
    let mut doc = doc.clone();
    let shared = |list: &[Edit]| list.iter().filter(|edit| edit.shared).cloned().collect::<Vec<_>>();
    let (a, b) = if first { (shared(own), shared(other)) } else { (shared(other), shared(own)) };
    for (at, edit) in a.iter().chain(&b).enumerate() {
        make(&mut doc, edit, &format!("s{at}"));
    }
    for (at, edit) in own.iter().filter(|edit| !edit.shared).enumerate() {
        make(&mut doc, edit, &format!("{tag}{at}"));
    }
    doc
}

fn make(doc: &mut Doc, edit: &Edit, tag: &str) {
    let new = format!("{tag}x{} {tag}y", edit.to);
    let count = doc.blocks.len();
    match edit.what {
        0 => doc.blocks.insert(edit.at % (count + 1), Blk::Para(new)),
        1 => doc.blocks.insert(edit.at % (count + 1), Blk::Heading(1 + edit.to % 3, new)),
        2 => {
            let item = Item { text: new, check: None, inner: Vec::new() };
            doc.blocks.insert(edit.at % (count + 1), Blk::List { ordered: false, loose: false, items: vec![item] });
        }
        16 if doc.front.is_empty() => doc.front.push((format!("{tag}key"), new)),
        16 => {
            let at = edit.at % doc.front.len();
            doc.front[at].1 = new;
        }
        17 => doc.front.push((format!("{tag}key"), new)),
        18 if !doc.front.is_empty() => {
            doc.front.remove(edit.at % doc.front.len());
        }
        _ if count == 0 => doc.blocks.push(Blk::Para(new)),
        3 | 4 => {
            doc.blocks.remove(edit.at % count);
        }
        5 | 6 => {
            let block = doc.blocks.remove(edit.at % count);
            doc.blocks.insert(edit.to % count, block);
        }
        7 => {
            let block = doc.blocks.remove(edit.at % count);
            let wrapped = match block {
                Blk::Callout(_, mut inner) => inner.pop().unwrap_or(Blk::Divider),
                other => Blk::Callout(new, vec![other]),
            };
            doc.blocks.insert(edit.at % count, wrapped);
        }
        _ => inside(&mut doc.blocks[edit.at % count], edit, new),
    }
}

/// Edits a block in its inside.
fn inside(block: &mut Blk, edit: &Edit, new: String) {
    match block {
        Blk::Heading(level, words) => match edit.what {
            8 => *level = 1 + edit.to % 3,
            _ => *words = new,
        },
        Blk::Para(words) => match edit.what {
            8 | 9 => *words = format!("{words} {new}"),
            _ => *words = new,
        },
        Blk::List { items, loose, .. } => {
            let at = edit.to % items.len();
            match edit.what {
                8 => items[at].check = Some(items[at].check != Some(true)),
                9 | 10 => items.insert(at, Item { text: new, check: None, inner: Vec::new() }),
                11 => items.push(Item { text: new, check: None, inner: Vec::new() }),
                12 if items.len() > 1 => {
                    items.remove(at);
                }
                13 => items[at].inner.push(new),
                14 => *loose = !*loose,
                15 => items.rotate_left(1),
                _ => items[at].text = new,
            }
        }
        Blk::Table(rows) => {
            let at = edit.to % rows.len();
            match edit.what {
                8 | 9 => rows.insert(at, [new.clone(), new]),
                10 => rows.push([new.clone(), new]),
                11 if rows.len() > 1 => {
                    rows.remove(at);
                }
                _ => rows[at][edit.at % 2] = new,
            }
        }
        Blk::Quote(paras) => {
            let at = edit.to % paras.len();
            match edit.what {
                8 | 9 => paras.insert(at, new),
                10 => paras.push(new),
                11 if paras.len() > 1 => {
                    paras.remove(at);
                }
                _ => paras[at] = new,
            }
        }
        Blk::Callout(title, inner) => match edit.what {
            8 => *title = new,
            9 => inner.push(Blk::Para(new)),
            10 if inner.len() > 1 => {
                inner.remove(edit.to % inner.len());
            }
            _ => {
                let at = edit.to % inner.len().max(1);
                if let Some(one) = inner.get_mut(at) {
                    inside(one, edit, new);
                }
            }
        },
        Blk::Code(lines) => match edit.what {
            8 => lines.push(new),
            _ => {
                let at = edit.to % lines.len();
                lines[at] = new;
            }
        },
        Blk::Divider => *block = Blk::Para(new),
    }
}
