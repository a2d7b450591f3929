//! Errors of the command: one rendering, one exit code.

use std::io;

use deckle_agent::ModelError;
use deckle_doc::{Diag, KeyError};
use deckle_edit::EditError;
use deckle_store::StoreError;

/// Why a command did not do what was asked.
#[derive(Debug)]
pub enum Failure {
    /// With an instruction.
    Diag(Box<Diag>),
    /// Writing to standard output or reading from standard input.
    Io(io::Error),
    /// The command said all there is to say; only the exit code is left.
    Silent(u8),
}

impl Failure {
    /// Returns whether the reader of our output went away.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Returns the exit code: 1 refused, 2 usage, 3 stale, 4 not found, 5 rights or quota.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Io(_) => 1,
            Self::Silent(code) => *code,
            Self::Diag(diag) => match diag.code {
                "syntax" | "usage" | "no-model" | "bad-model" | "no-key" | "bad-script" | "bad-key" | "bad-name" | "name"
                | "not-a-folder" => 2,
                "stale" | "moved" | "changed-underneath" | "branch-moved" | "lease-lost" => 3,
                "section" => 4,
                "rights" | "quota" | "protected" | "not-writable" => 5,
                code if code.starts_with("no-")
                    || code.ends_with("not-found")
                    || code.ends_with("-missing")
                    || code == "not-a-workspace" =>
                {
                    4
                }
                _ => 1,
            },
        }
    }

    /// Prints it to standard error.
    pub fn print(&self, json: bool, colour: bool) {
        match self {
            Self::Silent(_) => {}
            Self::Io(error) => eprintln!("error[io]: {error}"),
            Self::Diag(diag) if json => {
                let value = serde_json::json!({ "code": diag.code, "message": diag.message, "at": diag.at, "hints": diag.hints });
                eprintln!("{value}");
            }
            Self::Diag(diag) if colour => {
                let text = diag.to_string();
                let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
                let head = first
                    .split_once(": ")
                    .map_or_else(|| first.to_owned(), |(head, tail)| format!("\u{1b}[1;31m{head}\u{1b}[0m: {tail}"));
                eprintln!("{head}");
                for line in rest.lines() {
                    match line.strip_prefix("hint: ") {
                        Some(hint) => eprintln!("\u{1b}[36mhint\u{1b}[0m: {hint}"),
                        None => eprintln!("{line}"),
                    }
                }
            }
            Self::Diag(diag) => eprintln!("{diag}"),
        }
    }
}

impl From<Diag> for Failure {
    fn from(diag: Diag) -> Self {
        Self::Diag(Box::new(diag))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Diag::from(&error).into()
    }
}

impl From<EditError> for Failure {
    fn from(error: EditError) -> Self {
        Diag::from(&error).into()
    }
}

impl From<KeyError> for Failure {
    fn from(error: KeyError) -> Self {
        Diag::from(&error).into()
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Diag::from(&error).into()
    }
}
