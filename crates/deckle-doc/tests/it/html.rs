//! A renderer for tests: what the specification's examples show is HTML.

use deckle_doc::{Alignment, Block, Inline, InlineKind, Kind, Tree};

/// Returns the document as HTML, in the layout of the specification's examples. With `gfm`, its extensions too.
pub fn render(tree: &Tree, gfm: bool) -> String {
    let mut out = String::new();
    blocks(&tree.root(), false, gfm, &mut out);
    out
}

fn blocks(parent: &Block<'_>, tight: bool, gfm: bool, out: &mut String) {
    for block in parent.children() {
        element(&block, tight, gfm, out);
    }
}

fn fresh_line(out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}

fn element(block: &Block<'_>, tight: bool, gfm: bool, out: &mut String) {
    let source = block.tree().source();
    match block.kind() {
        Kind::Heading { level, .. } => {
            fresh_line(out);
            out.push_str(&format!("<h{level}>{}</h{level}>\n", inlines(block, gfm)));
        }
        Kind::Paragraph | Kind::Math | Kind::Opaque { .. } if tight => out.push_str(&inlines(block, gfm)),
        Kind::Paragraph | Kind::Math | Kind::Opaque { .. } => {
            fresh_line(out);
            out.push_str(&format!("<p>{}</p>\n", inlines(block, gfm)));
        }
        Kind::Quote => {
            fresh_line(out);
            out.push_str("<blockquote>\n");
            blocks(block, false, gfm, out);
            fresh_line(out);
            out.push_str("</blockquote>\n");
        }
        Kind::List { ordered, tight, .. } => {
            fresh_line(out);
            let name = if ordered.is_some() { "ol" } else { "ul" };
            match ordered {
                Some(start) if start != 1 => out.push_str(&format!("<ol start=\"{start}\">\n")),
                _ => out.push_str(&format!("<{name}>\n")),
            }
            for item in block.children() {
                out.push_str("<li>");
                if let Kind::Item { task: Some(done) } = item.kind() {
                    let checked = if done { "checked=\"\" " } else { "" };
                    out.push_str(&format!("<input {checked}disabled=\"\" type=\"checkbox\"> "));
                }
                if item.children().next().is_some_and(|first| !tight || first.kind() != Kind::Paragraph) {
                    out.push('\n');
                }
                blocks(&item, tight, gfm, out);
                out.push_str("</li>\n");
            }
            out.push_str(&format!("</{name}>\n"));
        }
        Kind::Code { info, .. } => {
            fresh_line(out);
            let language = text(info.of(source)).split([' ', '\t']).next().unwrap_or_default().to_owned();
            let class = if language.is_empty() { String::new() } else { format!(" class=\"language-{language}\"") };
            out.push_str(&format!("<pre><code{class}>{}</code></pre>\n", escape(&block.code().unwrap_or_default())));
        }
        Kind::Html => {
            fresh_line(out);
            out.push_str(&lines(block).join("\n"));
            out.push('\n');
        }
        Kind::Break => {
            fresh_line(out);
            out.push_str("<hr />\n");
        }
        Kind::Table { .. } => table(block, gfm, out),
        _ => {}
    }
}

fn table(block: &Block<'_>, gfm: bool, out: &mut String) {
    fresh_line(out);
    out.push_str("<table>\n");
    let columns = block.alignments();
    for (place, row) in block.children().enumerate() {
        let (open, name) = if place == 0 { ("<thead>\n", "th") } else { ("<tbody>\n", "td") };
        if place < 2 {
            out.push_str(open);
        }
        out.push_str("<tr>\n");
        let cells: Vec<_> = row.children().collect();
        for (column, alignment) in columns.iter().enumerate() {
            let align = match alignment {
                Alignment::None => "",
                Alignment::Left => " align=\"left\"",
                Alignment::Center => " align=\"center\"",
                Alignment::Right => " align=\"right\"",
            };
            let text = cells.get(column).map(|cell| inlines(cell, gfm)).unwrap_or_default();
            out.push_str(&format!("<{name}{align}>{text}</{name}>\n"));
        }
        out.push_str("</tr>\n");
        if place == 0 {
            out.push_str("</thead>\n");
        }
    }
    if block.children().count() > 1 {
        out.push_str("</tbody>\n");
    }
    out.push_str("</table>\n");
}

/// The lines of a block without the prefixes of its containers.
fn lines(block: &Block<'_>) -> Vec<String> {
    let source = block.tree().source();
    block.lines().iter().map(|line| format!("{}{}", " ".repeat(line.spaces), &source[line.text.clone()])).collect()
}

fn inlines(block: &Block<'_>, gfm: bool) -> String {
    let nodes = deckle_doc::inline::nodes(block);
    let mut out = String::new();
    run(&nodes, block, gfm, &mut out);
    out
}

fn run(nodes: &[Inline], block: &Block<'_>, gfm: bool, out: &mut String) {
    let source = block.tree().source();
    let mut at = 0;
    while at < nodes.len() {
        let node = &nodes[at];
        let inside = &nodes[at + 1..at + 1 + node.descendants as usize];
        at += 1 + inside.len();
        let wrap = |name: &str, out: &mut String| {
            out.push_str(&format!("<{name}>"));
            run(inside, block, gfm, out);
            out.push_str(&format!("</{name}>"));
        };
        match node.kind {
            InlineKind::Text => out.push_str(&escape(&text(&piece(block, &node.span)))),
            InlineKind::Emphasis => wrap("em", out),
            InlineKind::Strong => wrap("strong", out),
            InlineKind::Strikethrough => wrap("del", out),
            InlineKind::Code => {
                let code = piece(block, &node.content).replace('\n', " ");
                let code = if in_cell(block) { code.replace("\\|", "|") } else { code };
                out.push_str(&format!("<code>{}</code>", escape(&code)));
            }
            InlineKind::Link(target) => {
                out.push_str(&format!(
                    "<a href=\"{}\"{}>",
                    escape(&url(&text(target.destination.of(source)))),
                    title(&target, source)
                ));
                run(inside, block, gfm, out);
                out.push_str("</a>");
            }
            InlineKind::Image(target) => {
                let mut alt = String::new();
                words(inside, block, &mut alt);
                let source_of = escape(&url(&text(target.destination.of(source))));
                out.push_str(&format!("<img src=\"{source_of}\" alt=\"{}\"{} />", escape(&alt), title(&target, source)));
            }
            InlineKind::Autolink { bare: false } => {
                let address = piece(block, &node.content);
                let mail = if address.contains(':') { "" } else { "mailto:" };
                out.push_str(&format!("<a href=\"{mail}{}\">{}</a>", escape(&url(&address)), escape(&address)));
            }
            InlineKind::Autolink { bare: true } if gfm => {
                let address = piece(block, &node.content);
                let scheme = if address.contains("://") {
                    ""
                } else if address.contains('@') && !address.starts_with("mailto:") && !address.starts_with("xmpp:") {
                    "mailto:"
                } else if address.starts_with("www.") {
                    "http://"
                } else {
                    ""
                };
                out.push_str(&format!("<a href=\"{scheme}{}\">{}</a>", escape(&url(&text(&address))), escape(&text(&address))));
            }
            InlineKind::Html => out.push_str(&piece(block, &node.span)),
            InlineKind::HardBreak => out.push_str("<br />\n"),
            InlineKind::SoftBreak => out.push('\n'),
            _ => out.push_str(&escape(&text(&piece(block, &node.span)))),
        }
    }
}

fn in_cell(block: &Block<'_>) -> bool {
    block.kind() == Kind::Cell
}

fn words(nodes: &[Inline], block: &Block<'_>, out: &mut String) {
    for node in nodes {
        match node.kind {
            InlineKind::Text => out.push_str(&text(&piece(block, &node.span))),
            InlineKind::Code => out.push_str(&piece(block, &node.content)),
            InlineKind::SoftBreak | InlineKind::HardBreak => out.push('\n'),
            _ => {}
        }
    }
}

/// The text of a range of a leaf, without the prefixes of containers.
fn piece(block: &Block<'_>, range: &std::ops::Range<usize>) -> String {
    let source = block.tree().source();
    let mut out = String::new();
    for line in block.lines() {
        let start = line.text.start.max(range.start);
        let end = line.text.end.min(range.end);
        if start > end || range.start > line.text.end || range.end < line.text.start {
            continue;
        }
        if !out.is_empty() || line.text.start > range.start {
            out.push('\n');
        }
        let text = &source[start..end];
        out.push_str(if line.text.start >= range.start && !out.is_empty() { text.trim_start_matches([' ', '\t']) } else { text });
    }
    out
}

fn title(target: &deckle_doc::Target, source: &str) -> String {
    target.title.map(|title| format!(" title=\"{}\"", escape(&text(title.of(source))))).unwrap_or_default()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn url(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'();/?:@&=+$,#%".contains(&byte) {
            out.push(byte as char);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// Takes off escapes and character references: the named ones that the examples use.
fn text(source: &str) -> String {
    const NAMES: [(&str, &str); 20] = [
        ("nbsp", "\u{a0}"),
        ("amp", "&"),
        ("copy", "©"),
        ("AElig", "Æ"),
        ("Dcaron", "Ď"),
        ("frac34", "¾"),
        ("HilbertSpace", "ℋ"),
        ("DifferentialD", "ⅆ"),
        ("ClockwiseContourIntegral", "∲"),
        ("ngE", "≧̸"),
        ("ouml", "ö"),
        ("auml", "ä"),
        ("quot", "\""),
        ("lt", "<"),
        ("gt", ">"),
        ("Ouml", "Ö"),
        ("apos", "'"),
        ("hellip", "…"),
        ("mdash", "—"),
        ("ndash", "–"),
    ];
    let mut out = String::new();
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        if c == '\\' && rest[1..].starts_with(|c: char| c.is_ascii_punctuation()) {
            out.push_str(&rest[1..2]);
            rest = &rest[2..];
            continue;
        }
        if c == '&'
            && let Some(end) = rest.find(';')
        {
            let name = &rest[1..end];
            let number = name.strip_prefix('#').and_then(|digits| match digits.strip_prefix(['x', 'X']) {
                Some(hex) if (1..=6).contains(&hex.len()) => u32::from_str_radix(hex, 16).ok(),
                None if (1..=7).contains(&digits.len()) => digits.parse().ok(),
                _ => None,
            });
            let value = number
                .map(|number| char::from_u32(number).filter(|c| *c != '\0').unwrap_or('\u{FFFD}').to_string())
                .or_else(|| NAMES.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()));
            if let Some(value) = value {
                out.push_str(&value);
                rest = &rest[end + 1..];
                continue;
            }
        }
        out.push(if c == '\0' { '\u{FFFD}' } else { c });
        rest = &rest[c.len_utf8()..];
    }
    out
}
