//! Inputs that some parser has been slow, deep or large on.

fn repeat(unit: &str, bytes: usize) -> String {
    unit.repeat(bytes / unit.len())
}

/// The generators: each makes about `bytes` bytes.
pub fn generators(bytes: usize) -> Vec<(&'static str, String)> {
    let half = bytes / 2;
    let mut links = String::new();
    let mut ticks = String::new();
    let mut definitions = String::new();
    let mut number = 0;
    while links.len() < bytes {
        links.push_str(&format!("[a{number}]: u{number}\n"));
        number += 1;
    }
    let mut length = 1;
    while ticks.len() < bytes {
        ticks.push_str(&"`".repeat(length));
        ticks.push('e');
        length += 1;
    }
    while definitions.len() < bytes {
        definitions.push_str("[a]: u\n'\n");
    }
    let table = format!("|a|\n|-|\n{}", repeat("|", bytes));
    let wide = format!("{}\n{}\n", repeat("|a", bytes / 4), repeat("|-", bytes / 4));
    vec![
        ("quotes", format!("{}a", "> ".repeat(31))),
        ("quote lines", repeat("> > > > > > > > > > > > a\n", bytes)),
        ("list lines", repeat("- - - - - - - - - - - - a\n", bytes)),
        ("alternating lists", repeat("-\n+\n", bytes)),
        ("deep indents", format!("- a\n{}", repeat("  - b\n", bytes))),
        ("definitions", links),
        ("unclosed titles", definitions),
        ("backticks of all lengths", ticks),
        ("open brackets", repeat("[", bytes)),
        ("open images", repeat("![", bytes)),
        ("closed brackets", format!("{}{}", repeat("[", half), repeat("]", half))),
        ("open links", repeat("[a](", bytes)),
        ("open angle links", repeat("[a](<b", bytes)),
        ("wikilinks", repeat("[[", bytes)),
        ("emphasis openers", repeat("*a ", bytes)),
        ("emphasis closers", repeat("a* ", bytes)),
        ("mixed emphasis", repeat("*a_ ", bytes)),
        ("long emphasis", format!("{}a{}", repeat("*", half), repeat("*", half))),
        ("strong in strong", repeat("a**b", bytes) + &repeat("c* ", bytes / 8)),
        ("tildes", repeat("~a~~ ", bytes)),
        ("colons", repeat(":::a\n", 60 * 5) + &repeat("::::\n", bytes)),
        ("directive labels", repeat(":a[", bytes)),
        ("directive attributes", repeat(":a{b=\"", bytes)),
        ("pipes", table),
        ("columns", wide),
        ("rows", format!("|a|b|\n|-|-|\n{}", repeat("|\n", bytes))),
        ("html openers", repeat("<a ", bytes)),
        ("comments", repeat("a <!-- ", bytes)),
        ("declarations", repeat("a <?", bytes)),
        ("entities", repeat("&#", bytes)),
        ("dollars", repeat("$a ", bytes)),
        ("headings", repeat("#\n", bytes)),
        ("addresses", repeat("a@b.", bytes)),
        ("web addresses", repeat("www.a_", bytes)),
        ("closing round brackets", format!("http://a.b/{}", repeat(")", bytes))),
        ("escapes", repeat("\\", bytes)),
        ("footnote labels", repeat("[^a", bytes)),
        ("tabs", repeat("\t", bytes)),
        ("carriage returns", repeat("\r", bytes)),
        ("shortcodes", repeat("{{< ", bytes)),
        ("one word", repeat("a", bytes)),
        ("a paragraph of lines", repeat("a\n", bytes)),
        ("a quoted paragraph", format!("> {}", repeat("a\n", bytes))),
        ("setext candidates", repeat("a\n-\n", bytes)),
    ]
}
