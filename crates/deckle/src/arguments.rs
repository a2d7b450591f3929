//! What can be typed. `--help` is the manual; completions, the man page and `docs/cli.md` are generated from here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// A document workspace that AI agents can edit and cannot corrupt.
///
/// Deckle takes a folder of Markdown as it is. Agents work on branches; you review their changes block by block and merge what you accept. Every
/// byte outside an edit is proven untouched.
///
/// Exit codes: 0 done, 1 refused by a guard or damage found, 2 usage, 3 stale, 4 not found, 5 rights or quota.
#[derive(Parser)]
#[command(name = "deckle", version, max_term_width = 100)]
pub struct Arguments {
    /// The folder to work in; the workspace is it, or the nearest one above it
    #[arg(short = 'C', value_name = "DIR", global = true, default_value = ".")]
    pub directory: PathBuf,
    /// Work in a database in place of a folder: `sqlite:PATH` or `postgres://USER@HOST/NAME`; main is then a line of history in it
    #[arg(long, value_name = "URL", global = true, env = "DECKLE_DATABASE", hide_env_values = true)]
    pub database: Option<String>,
    /// Which workspace of the database; it is made when it is not there
    #[arg(long, value_name = "NAME", global = true, default_value = "docs", requires = "database")]
    pub workspace: String,
    /// Print JSON, for machines
    #[arg(long, global = true)]
    pub json: bool,
    /// When to use colour
    #[arg(long, value_enum, global = true, default_value_t = Color::Auto)]
    pub color: Color,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The commands.
#[derive(Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one value a process")]
pub enum Command {
    /// Make a folder a workspace; only `.deckle/` appears in it
    Init {
        /// Take a folder that holds no Markdown yet
        #[arg(long)]
        allow_empty: bool,
    },
    /// Print a document: the bytes on disk, exactly
    Get {
        /// The document's key, such as `guides/quick-start`
        key: String,
        /// Only this section: its heading, or a path `Parent › Child`
        #[arg(long)]
        section: Option<String>,
        /// Only the block with this id
        #[arg(long, conflicts_with = "section")]
        block: Option<String>,
        /// Only these lines: `10-20`, counted from 1
        #[arg(long, conflicts_with_all = ["section", "block"])]
        lines: Option<String>,
        /// As blocks with ids, as agents read it
        #[arg(long)]
        lens: bool,
        /// At most so many tokens (4 bytes each), cut between blocks; the last line names the command for the rest
        #[arg(long, conflicts_with = "lines")]
        tokens: Option<usize>,
        /// Go on from the block with this id
        #[arg(long, value_name = "ID", conflicts_with_all = ["lines", "block"])]
        from: Option<String>,
        #[command(flatten)]
        at: At,
    },
    /// Print the headings of a document with their ids
    Outline {
        /// The document's key
        key: String,
        #[command(flatten)]
        at: At,
    },
    /// Print the block tree of files, one JSON line a file; without paths, of the files named on standard input
    Blocks {
        /// Files
        paths: Vec<PathBuf>,
        /// The dialect: generic, vitepress, docusaurus, mkdocs, obsidian, myst
        #[arg(long, default_value = "generic")]
        dialect: String,
        /// Read directives; without it they are paragraphs, as for a parser that knows none
        #[arg(long)]
        directives: bool,
        /// Add each block's id
        #[arg(long)]
        ids: bool,
        /// Add the inline nodes of each leaf
        #[arg(long)]
        inline: bool,
    },
    /// Find documents and blocks
    Find {
        /// Words to look for in any block, upper and lower case the same
        words: Option<String>,
        /// A filter, in YAML: `status: draft`
        #[arg(long)]
        filter: Option<String>,
        /// Only this document; may be repeated
        #[arg(short, long)]
        key: Vec<String>,
        /// Show the blocks that a predicate selects, in YAML: `$header: Goals`
        #[arg(long)]
        blocks: Option<String>,
        /// Show the lines that a pattern matches
        #[arg(long)]
        matches: Option<String>,
        /// Sort by a field: `title:1`, `date:-1`
        #[arg(long)]
        sort: Option<String>,
        /// At most so many documents
        #[arg(short, long, default_value_t = 0)]
        limit: usize,
        #[command(flatten)]
        at: At,
    },
    /// Count documents
    Count {
        /// A filter, in YAML
        #[arg(long)]
        filter: Option<String>,
        #[command(flatten)]
        at: At,
    },
    /// Change blocks and front matter
    ///
    /// Each operator takes one YAML mapping: `$`-keys select, bare keys configure. For example
    /// `deckle update -k jon --replace-text '{ $within: Plans, $text: done, from: done, to: begun, expect: 1 }'`.
    /// Without `--branch` the folder itself is written, as by any editor; the change is in the log and can be undone.
    Update {
        /// The document's key; may be repeated
        #[arg(short, long)]
        key: Vec<String>,
        /// A filter, in YAML
        #[arg(long)]
        filter: Option<String>,
        /// How many documents: `1`, or `{ min: 1, max: 9 }`
        #[arg(long)]
        expect: Option<String>,
        /// A whole operation document, or `-` for standard input
        #[arg(long, conflicts_with_all = ["key", "filter"])]
        operation: Option<String>,
        /// Set a key of the front matter: `status=done`
        #[arg(long, value_name = "FIELD=VALUE")]
        set: Vec<String>,
        /// Remove a key of the front matter
        #[arg(long, value_name = "FIELD")]
        unset: Vec<String>,
        /// `$replaceText`
        #[arg(long, value_name = "ARG")]
        replace_text: Vec<String>,
        /// `$replace`
        #[arg(long, value_name = "ARG")]
        replace: Vec<String>,
        /// `$insertBefore`
        #[arg(long, value_name = "ARG")]
        insert_before: Vec<String>,
        /// `$insertAfter`
        #[arg(long, value_name = "ARG")]
        insert_after: Vec<String>,
        /// `$append`
        #[arg(long, value_name = "ARG")]
        append: Vec<String>,
        /// `$prepend`
        #[arg(long, value_name = "ARG")]
        prepend: Vec<String>,
        /// `$delete`
        #[arg(long, value_name = "ARG")]
        delete: Vec<String>,
        /// `$move`: `{ $id: …, after: { $header: Goals } }`; also `before`, `into`, `start`
        #[arg(long = "move", value_name = "ARG")]
        move_blocks: Vec<String>,
        /// `$copy`
        #[arg(long, value_name = "ARG")]
        copy: Vec<String>,
        /// `$wrap`: a container around blocks
        #[arg(long, value_name = "ARG")]
        wrap: Vec<String>,
        /// `$unwrap`
        #[arg(long, value_name = "ARG")]
        unwrap: Vec<String>,
        /// `$setAttr`: attributes, a heading's level, a code block's language
        #[arg(long, value_name = "ARG")]
        set_attr: Vec<String>,
        /// `$toggle`: check or uncheck tasks
        #[arg(long, value_name = "ARG")]
        toggle: Vec<String>,
        #[command(flatten)]
        write: Write,
    },
    /// Create a document; the text comes from standard input unless given
    Create {
        /// The key, a template of one (`people/{{slug}}`, `journal/{{today}}`, `talks/{{pair:one,two}}`), or the name of a template in `deckle.toml`
        key: String,
        /// The text
        #[arg(short, long)]
        content: Option<String>,
        /// When there is one: fail, skip, suffix or override
        #[arg(long, default_value = "fail")]
        if_exists: String,
        /// A value for the key's template, `name=value`; may be repeated
        #[arg(long, value_name = "NAME=VALUE")]
        value: Vec<String>,
        #[command(flatten)]
        write: Write,
    },
    /// Rename a document; every link to it is rewritten
    Rename {
        /// The key
        key: String,
        /// The new key
        to: String,
        #[command(flatten)]
        write: Write,
    },
    /// Delete documents; `deckle restore` brings them back
    Delete {
        /// The keys
        #[arg(required = true)]
        keys: Vec<String>,
        #[command(flatten)]
        write: Write,
    },
    /// Bring deleted documents back, with the block ids they had; without keys, list what can be restored
    Restore {
        /// The keys
        keys: Vec<String>,
        #[command(flatten)]
        at: At,
    },
    /// Read and change a section: a heading and all below it
    ///
    /// Name a section by its heading, by a path `Parent › Child`, or by the heading's id. A name that fits several is refused, with the candidates.
    #[command(subcommand)]
    Section(SectionCommand),
    /// Schemas: what the documents of a folder or a type must be, as `deckle.toml` says
    #[command(subcommand)]
    Schema(SchemaCommand),
    /// List, create and delete branches
    #[command(subcommand)]
    Branch(BranchCommand),
    /// Show what a branch changes, by document and block
    Diff {
        /// The branch
        branch: String,
        /// Only the counts
        #[arg(long)]
        stat: bool,
    },
    /// Decide about the changes of a branch
    Review {
        /// The branch
        branch: String,
        /// Accept these changes; `all` for all that are open
        #[arg(long, value_name = "ID")]
        accept: Vec<String>,
        /// Reject these changes; `all` for all that are open
        #[arg(long, value_name = "ID")]
        reject: Vec<String>,
        /// Take the last decision back
        #[arg(long)]
        undo: bool,
    },
    /// Write what was accepted to the folder
    Merge {
        /// The branch
        branch: String,
        /// Everything that was not rejected, decided or not
        #[arg(long)]
        all: bool,
        /// Only these changes, decided or not
        #[arg(long, value_name = "ID", conflicts_with = "all")]
        only: Vec<String>,
        /// Where both sides changed this document in different ways, keep the folder's side
        #[arg(long, value_name = "KEY")]
        ours: Vec<String>,
        /// Where both sides changed this document in different ways, take the branch's side
        #[arg(long, value_name = "KEY")]
        theirs: Vec<String>,
        /// Show what would be written
        #[arg(long)]
        dry_run: bool,
        /// Merge also what breaks links, or leaves a document to which nothing leads
        #[arg(long)]
        allow_damage: bool,
    },
    /// Give a branch up; its history stays in the log
    Discard {
        /// The branch
        branch: String,
    },
    /// Show the log
    Log {
        /// Only this branch
        #[arg(long)]
        branch: Option<String>,
        /// At most so many entries
        #[arg(short, long, default_value_t = 20)]
        limit: u32,
    },
    /// Take a run back and keep what was done since; `deckle log` names the runs
    Undo {
        /// The run, or an operation's number
        run: String,
    },
    /// Ask an agent; it works on a branch
    Agent {
        /// What is to be done, in plain language
        request: Option<String>,
        /// Go on with a session
        #[arg(long, value_name = "SESSION")]
        resume: Option<String>,
        /// Write this branch
        #[arg(long)]
        branch: Option<String>,
        /// Print the events, one JSON line each
        #[arg(long)]
        ndjson: bool,
        /// Do not ask; it never merges
        #[arg(long)]
        yes: bool,
    },
    /// Serve sessions over HTTP, on loopback
    Serve {
        /// The port; 0 takes a free one
        #[arg(long, default_value_t = 4790)]
        port: u16,
        /// Tell other servers on the same database what happens through this Redis: `redis://HOST`; without it they look by themselves
        #[arg(long, value_name = "URL", env = "DECKLE_REDIS", hide_env_values = true)]
        redis: Option<String>,
        /// After how many seconds without a sign of life another server goes on with a turn
        #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
        lease: u64,
    },
    /// Serve the tools over the Model Context Protocol: on standard input and output, or over HTTP
    ///
    /// Writes stand on a branch that a person reviews and merges. Register it with a client as the command `deckle -C DIR mcp`.
    Mcp {
        /// Serve over HTTP on this loopback port instead, at `/mcp`; 0 takes a free one
        #[arg(long, value_name = "PORT")]
        http: Option<u16>,
        /// The branch to write on, made when there is none; a new one unless given
        #[arg(long, conflicts_with = "direct")]
        branch: Option<String>,
        /// Write into main, by a merge after each call
        #[arg(long)]
        direct: bool,
    },
    /// Run the main job on a sample workspace
    Demo {
        /// Do not wait for an answer
        #[arg(long)]
        yes: bool,
        /// Keep the sample workspace in this folder
        #[arg(long)]
        keep: Option<PathBuf>,
    },
    /// Check the workspace and what Deckle needs
    Doctor,
    /// Check every object, ref and entry of the store
    Fsck,
    /// Print a shell's completions
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the man page
    Man,
}

/// Where to read.
#[derive(Args)]
pub struct At {
    /// Read this branch instead of the folder
    #[arg(long)]
    pub branch: Option<String>,
}

/// Where and how to write.
#[derive(Args)]
pub struct Write {
    /// Write this branch instead of the folder
    #[arg(long)]
    pub branch: Option<String>,
    /// Refuse an edit without its guards
    #[arg(long)]
    pub strict: bool,
    /// Show the receipt and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Commands about branches.
#[derive(Subcommand)]
pub enum BranchCommand {
    /// List the branches
    List,
    /// Create a branch of the folder as it is now
    Create {
        /// Its name
        name: String,
    },
    /// Give a branch up
    Delete {
        /// Its name
        name: String,
    },
}

/// Commands about sections.
#[derive(Subcommand)]
pub enum SectionCommand {
    /// Print a section
    Get {
        #[command(flatten)]
        which: Section,
        #[command(flatten)]
        at: At,
    },
    /// Replace what is below the heading; the text comes from standard input unless given
    Update {
        #[command(flatten)]
        which: Section,
        /// The text, with or without the heading
        #[arg(short, long)]
        content: Option<String>,
        #[command(flatten)]
        write: Write,
    },
    /// Insert a section or blocks behind it
    Insert {
        #[command(flatten)]
        which: Section,
        /// The text
        #[arg(short, long)]
        content: Option<String>,
        #[command(flatten)]
        write: Write,
    },
    /// Add at its end
    Append {
        #[command(flatten)]
        which: Section,
        /// The text
        #[arg(short, long)]
        content: Option<String>,
        #[command(flatten)]
        write: Write,
    },
    /// Delete it with its heading
    Delete {
        #[command(flatten)]
        which: Section,
        #[command(flatten)]
        write: Write,
    },
    /// Move it behind another section
    Move {
        #[command(flatten)]
        which: Section,
        /// The other section
        to: String,
        /// In front of it instead
        #[arg(long)]
        before: bool,
        #[command(flatten)]
        write: Write,
    },
}

/// What to do about schemas.
#[derive(Subcommand)]
pub enum SchemaCommand {
    /// Print the schema that documents keep already, to put into `deckle.toml`
    Infer {
        /// Its name
        name: String,
        /// The folder whose documents are looked at
        #[arg(long, required_unless_present = "of_type", conflicts_with = "of_type")]
        folder: Option<String>,
        /// The `type` in the front matter of the documents that are looked at
        #[arg(long = "type", value_name = "TYPE")]
        of_type: Option<String>,
        #[command(flatten)]
        at: At,
    },
    /// Check documents against the schemas that they are bound to; the exit code is 1 when one is broken
    Check {
        /// The keys; all documents without any
        keys: Vec<String>,
        #[command(flatten)]
        at: At,
    },
}

/// A section of a document.
#[derive(Args)]
pub struct Section {
    /// The document's key
    pub key: String,
    /// The section
    pub section: String,
}
