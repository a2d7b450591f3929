//! Tables of inputs: a row is a case. `«name»` in a document or an operation is the cell of that column; the last column is what comes out.

/// A table under a heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    columns: Vec<String>,
    /// The rows, without head and dashes.
    pub rows: Vec<Row>,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its line in the file.
    pub line: usize,
    cells: Vec<String>,
}

impl Row {
    /// The row in words: its inputs.
    #[must_use]
    pub fn name(&self) -> String {
        let inputs = self.cells.len().saturating_sub(1).max(1);
        self.cells.iter().take(inputs).map(String::as_str).collect::<Vec<_>>().join(" · ")
    }

    /// The last cell as it is written.
    #[must_use]
    pub fn outcome(&self) -> &str {
        self.cells.last().map_or("", String::as_str)
    }
}

impl Table {
    pub(super) fn line(&mut self, number: usize, line: &str) {
        let cells = cells(line);
        if self.columns.is_empty() {
            self.columns = cells;
        } else if !cells.iter().all(|cell| !cell.is_empty() && cell.chars().all(|c| matches!(c, '-' | ':'))) {
            self.rows.push(Row { line: number, cells });
        }
    }

    /// A text with the row's cells in place of the columns' names. `quoted`: between double quotes a cell is written as JSON writes it.
    #[must_use]
    pub fn filled(&self, text: &str, row: &Row, quoted: bool) -> String {
        let mut out = text.to_owned();
        for (column, cell) in self.columns.iter().zip(&row.cells) {
            let value = value(cell);
            if quoted {
                let json = serde_json::Value::String(value.clone()).to_string();
                out = out.replace(&format!("\"«{column}»\""), &json);
            }
            out = out.replace(&format!("«{column}»"), &value);
        }
        out
    }
}

/// The cells of a line: bars part them, `\|` does not.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let inner = line.strip_prefix('|').unwrap_or(line);
    let inner = inner.strip_suffix('|').filter(|inner| !inner.ends_with('\\')).unwrap_or(inner);
    let mut found = vec![String::new()];
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, found.last_mut()) {
            ('\\', Some(cell)) if chars.peek() == Some(&'|') => {
                cell.push_str("\\|");
                chars.next();
            }
            ('|', _) => found.push(String::new()),
            (c, Some(cell)) => cell.push(c),
            (_, None) => {}
        }
    }
    found.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

/// What a cell stands for: code without its marks; `⏎` is a line end, `␍` a carriage return, `⇥` a tab, `␠` a blank at an edge.
fn value(cell: &str) -> String {
    let cell = cell.replace("\\|", "|");
    let fence = cell.bytes().take_while(|byte| *byte == b'`').count();
    let marks = "`".repeat(fence);
    let inner =
        (fence > 0 && cell.len() > 2 * fence).then(|| cell.strip_prefix(&marks)?.strip_suffix(&marks)).flatten().map(|inner| {
            match inner.strip_prefix(' ').and_then(|inner| inner.strip_suffix(' ')) {
                Some(cut) if cut.starts_with('`') || cut.ends_with('`') => cut,
                _ => inner,
            }
        });
    let text = match (inner, cell.as_str()) {
        (Some(inner), _) => inner.to_owned(),
        (None, "(empty)") => String::new(),
        (None, cell) => cell.to_owned(),
    };
    text.replace('⏎', "\n").replace('␍', "\r").replace('⇥', "\t").replace('␠', " ").replace('␢', "\u{feff}")
}

/// A text as a cell shows it.
#[must_use]
pub fn cell(text: &str) -> String {
    if text.is_empty() {
        return "(empty)".into();
    }
    let mut shown = text.replace('\n', "⏎").replace('\r', "␍").replace('\t', "⇥").replace('\u{feff}', "␢").replace('|', "\\|");
    if shown.starts_with(' ') {
        shown.replace_range(..1, "␠");
    }
    if shown.ends_with(' ') {
        shown.replace_range(shown.len() - 1.., "␠");
    }
    let mut longest = 0;
    let mut run = 0;
    for c in shown.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let marks = "`".repeat(longest + 1);
    if shown.starts_with('`') || shown.ends_with('`') {
        format!("{marks} {shown} {marks}")
    } else {
        format!("{marks}{shown}{marks}")
    }
}

/// A message as a cell shows it.
pub(super) fn prose(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', "⏎")
}

/// A line of a table with another last cell.
pub(super) fn with_last_cell(line: &str, text: &str) -> String {
    let mut all = cells(line);
    if let Some(last) = all.last_mut() {
        text.clone_into(last);
    }
    format!("| {} |", all.join(" | "))
}
