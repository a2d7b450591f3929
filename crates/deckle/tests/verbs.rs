//! The local commands through the real binary: what they print, what they refuse, what they leave as it was.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

struct Folder(tempfile::TempDir);

impl Folder {
    fn of(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let folder = Self(folder);
        assert!(folder.run(&["init"]).status.success());
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path().join(file)).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deckle"));
        command.arg("-C").arg(self.path()).args(arguments).env_remove("DECKLE_MODEL").env_remove("DECKLE_DIALECT");
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn piped(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut child =
            self.command(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        child.wait_with_output().unwrap()
    }

    #[track_caller]
    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output));
        String::from_utf8(output.stdout).unwrap()
    }
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn what_was_read_is_written_back_as_it_was() {
    for page in ["# A\n\ntext\n", "# A\r\n\r\ntext\r\n", "no line end", "\u{feff}# A\n"] {
        let folder = Folder::of(&[("a.md", page)]);
        for _ in 0..3 {
            let got = folder.run(&["get", "a"]);
            assert_eq!(got.stdout, page.as_bytes());
            let output = folder.piped(&["create", "a", "--if-exists", "override"], &got.stdout);
            assert!(output.status.success(), "{}", text(&output));
            assert_eq!(folder.read("a.md"), page);
        }
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = Folder::of(&[("a.md", "# A\n\ntext\n")]);
    for _ in 0..3 {
        assert!(folder.run(&["update", "-k", "a", "--append", "{ $header: A, content: more }"]).status.success());
    }
    let mut child = folder.command(&["log"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    assert!(!text(&output).contains("panicked"), "{}", text(&output));
}

#[test]
fn a_merge_takes_what_was_accepted_and_shows_both_sides_of_a_conflict() {
    let folder = Folder::of(&[("a.md", "# A\n\nOne two three.\n\nLast.\n")]);
    folder.ok(&["branch", "create", "x"]);
    folder.ok(&["update", "--branch", "x", "-k", "a", "--replace-text", "{ $text: One two, from: two, to: 2, expect: 1 }"]);
    let nothing = folder.run(&["merge", "x"]);
    assert_eq!(nothing.status.code(), Some(1), "{}", text(&nothing));
    assert!(text(&nothing).contains("nothing-accepted") && text(&nothing).contains("--all"), "{}", text(&nothing));
    // Another block is no conflict, the same one is.
    fs::write(folder.path().join("a.md"), "# A\n\nOne zwei three.\n\nLast.\n").unwrap();
    let conflict = folder.run(&["merge", "x", "--all"]);
    assert_eq!(conflict.status.code(), Some(1));
    for part in ["in the folder:", "zwei", "in the branch:", "{+2+}", "--ours", "--theirs"] {
        assert!(text(&conflict).contains(part), "{part}: {}", text(&conflict));
    }
    assert_eq!(folder.read("a.md"), "# A\n\nOne zwei three.\n\nLast.\n");
    folder.ok(&["merge", "x", "--all", "--theirs", "a"]);
    assert_eq!(folder.read("a.md"), "# A\n\nOne 2 three.\n\nLast.\n");
}

#[test]
fn sections_are_read_and_changed_by_their_heading() {
    let folder = Folder::of(&[("a.md", "# A\n\n## One\n\nfirst\n\n## Two\n\nsecond\n")]);
    assert_eq!(folder.ok(&["section", "get", "a", "Two"]), "## Two\n\nsecond\n");
    folder.ok(&["section", "update", "a", "One", "--content", "## One\n\nnew"]);
    assert_eq!(folder.read("a.md"), "# A\n\n## One\n\nnew\n\n## Two\n\nsecond\n");
    folder.ok(&["section", "move", "a", "One", "Two"]);
    assert_eq!(folder.read("a.md"), "# A\n\n## Two\n\nsecond\n\n## One\n\nnew\n");
    let none = folder.run(&["section", "delete", "a", "Three"]);
    assert_eq!(none.status.code(), Some(4), "{}", text(&none));
    assert!(text(&none).contains("One"), "{}", text(&none));
}

#[test]
fn a_deleted_document_comes_back_as_it_was() {
    let folder = Folder::of(&[("a.md", "# A\n"), ("b/c.md", "# C\n")]);
    folder.ok(&["delete", "b/c"]);
    assert!(!folder.path().join("b/c.md").exists());
    assert_eq!(folder.ok(&["restore"]).trim(), "b/c");
    folder.ok(&["restore", "b/c"]);
    assert_eq!(folder.read("b/c.md"), "# C\n");
}

#[test]
fn the_dialect_is_found_once_and_the_review_reads_the_same_blocks() {
    let folder = Folder::of(&[("a.md", "# A\n\n::: tip Known\nx\n:::\n\ntext\n")]);
    assert!(folder.ok(&["get", "a", "--lens"]).contains("Known"));
    folder.ok(&["branch", "create", "x"]);
    let warning = "{ $header: A, content: \"::: warning New\\ny\\n:::\", expect: 1 }";
    folder.ok(&["update", "--branch", "x", "-k", "a", "--insert-after", warning]);
    let diff = folder.ok(&["diff", "x"]);
    assert!(!diff.contains("added paragraph"), "{diff}");
}

#[test]
fn every_block_operator_has_its_flag() {
    let folder = Folder::of(&[("a.md", "# A\n\none\n\ntwo\n\n- [ ] task\n")]);
    folder.ok(&["update", "-k", "a", "--move", "{ $paragraph: one, after: { $paragraph: two }, expect: 1 }"]);
    assert_eq!(folder.read("a.md"), "# A\n\ntwo\n\none\n\n- [ ] task\n");
    folder.ok(&["update", "-k", "a", "--toggle", "{ $text: task, checked: true, expect: 1 }"]);
    assert!(folder.read("a.md").contains("- [x] task"));
    folder.ok(&["update", "-k", "a", "--set-attr", "{ $header: A, attributes: { level: 2 }, expect: 1 }"]);
    assert!(folder.read("a.md").starts_with("## A\n"));
}

#[test]
fn a_pipe_gets_lines_without_colours() {
    let folder = Folder::of(&[("a.md", "# A\n\ntext\n")]);
    let mut child = folder.command(&["find"]).stdout(Stdio::piped()).spawn().unwrap();
    let first = BufReader::new(child.stdout.take().unwrap()).lines().next().unwrap().unwrap();
    child.wait().unwrap();
    assert_eq!(first, "a — A");
}

#[test]
fn a_schema_is_inferred_bound_and_kept() {
    let folder = Folder::of(&[
        ("people/ann.md", "---\nname: Ann\nstatus: active\n---\n\n# Ann\n\n## Summary\n"),
        ("people/bob.md", "---\nname: Bob\nstatus: gone\n---\n\n# Bob\n\n## Summary\n"),
        ("people/cyd.md", "---\nname: Cyd\nstatus: active\n---\n\n# Cyd\n\n## Summary\n"),
        ("people/dee.md", "---\nname: Dee\nstatus: gone\n---\n\n# Dee\n\n## Summary\n"),
        ("note.md", "# Note\n"),
    ]);
    let none = folder.run(&["schema", "check"]);
    assert_eq!(none.status.code(), Some(4), "{}", text(&none));
    let inferred = folder.ok(&["schema", "infer", "person", "--folder", "people"]);
    assert!(inferred.contains("status = { type = \"string\", required = true, enum = [\"active\", \"gone\"] }"), "{inferred}");
    assert!(inferred.contains("sections = [\"Summary\"]"), "{inferred}");
    fs::write(folder.path().join("deckle.toml"), &inferred).unwrap();
    assert_eq!(folder.ok(&["schema", "check"]), "4 documents checked, 0 broken\n");

    let strict = folder.run(&["update", "--strict", "-k", "people/ann", "--set", "status=away"]);
    assert_eq!(strict.status.code(), Some(1), "{}", text(&strict));
    assert!(
        text(&strict).contains("error[schema]: `people/ann` would break the schema `person`: `status` is `away`"),
        "{}",
        text(&strict)
    );
    // A person is told, and may.
    let told = folder.ok(&["update", "-k", "people/ann", "--set", "status=away"]);
    assert!(told.contains("note: `people/ann` against the schema `person`"), "{told}");
    let broken = folder.run(&["schema", "check", "people/ann", "people/bob"]);
    assert_eq!(broken.status.code(), Some(1));
    assert!(text(&broken).contains("people/ann: `status` is `away`"), "{}", text(&broken));
    assert!(text(&broken).contains("2 documents checked, 1 broken"), "{}", text(&broken));
}

#[test]
fn keys_come_from_templates() {
    let folder = Folder::of(&[("a.md", "# A\n"), ("deckle.toml", "[keys]\ntalk = \"talks/{{pair:one,two}}\"\n")]);
    folder.ok(&["create", "people/{{slug}}", "-c", "# Ada L. Byron\n"]);
    assert_eq!(folder.read("people/ada-l-byron.md"), "# Ada L. Byron\n");
    folder.ok(&["create", "talk", "--value", "one=Zoe", "--value", "two=Ada", "-c", "# Talk\n"]);
    assert_eq!(folder.read("talks/ada--zoe.md"), "# Talk\n");
    let twin = folder.run(&["create", "talk", "--value", "one=Ada", "--value", "two=Zoe", "-c", "# Talk\n"]);
    assert_eq!(twin.status.code(), Some(1));
    assert!(text(&twin).contains("error[document-exists]: there is a document `talks/ada--zoe` already"), "{}", text(&twin));
    let unknown = folder.run(&["create", "x", "--value", "one", "-c", "# X\n"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", text(&unknown));
    fs::write(folder.path().join("deckle.toml"), "[keys\n").unwrap();
    let bad = folder.run(&["create", "y", "-c", "# Y\n"]);
    assert!(text(&bad).contains("`deckle.toml`, line 1"), "{}", text(&bad));
}

#[test]
fn a_read_is_cut_on_a_block_and_names_the_command_for_the_rest() {
    let paragraphs: String = (0..40).map(|number| format!("Paragraph {number} with some words in it.\n\n")).collect();
    let whole = format!("# T\n\n{paragraphs}");
    let folder = Folder::of(&[("long.md", &whole)]);
    let mut read = String::new();
    let mut arguments: Vec<String> = ["get", "long", "--tokens", "100"].map(str::to_owned).to_vec();
    for _ in 0..40 {
        let page = folder.ok(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(page.len() < 600, "{page}");
        let Some((text, rest)) = page.split_once("… ") else {
            read.push_str(&page);
            break;
        };
        read.push_str(text);
        let call = rest.trim().rsplit_once("read on: deckle ").unwrap().1;
        arguments = call.split(' ').map(str::to_owned).collect();
    }
    assert_eq!(read, whole);
    let lens = folder.ok(&["get", "long", "--lens", "--tokens", "50"]);
    assert!(lens.contains("<more blocks=\"") && lens.contains("read=\"deckle get long --lens --tokens 50 --from "), "{lens}");
    let unknown = folder.run(&["get", "long", "--from", "nothing"]);
    assert_eq!(unknown.status.code(), Some(4), "{}", text(&unknown));
}

#[test]
fn blocks_of_files_named_on_standard_input_are_lines_of_json() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.md");
    std::fs::write(&file, "# A\n\n:::note\n- x\n:::\n").unwrap();
    let run = |arguments: &[&str]| {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_deckle"))
            .arg("blocks")
            .args(arguments)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), format!("{}\n", file.display()).as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let with = run(&["--directives"]);
    assert_eq!(with["blocks"][1][0], "containerDirective");
    assert_eq!(run(&[])["blocks"][1][0], "paragraph");
    let full = run(&["--directives", "--ids", "--inline"]);
    let heading = &full["blocks"][0];
    assert_eq!(heading[5].as_str().unwrap().len(), 8);
    assert_eq!(heading[6], serde_json::json!([["text", 2, 3, 0]]));
    let missing = std::process::Command::new(env!("CARGO_BIN_EXE_deckle")).args(["blocks", "no/such.md"]).output().unwrap();
    assert!(!missing.status.success() && text(&missing).contains("no/such.md"), "{}", text(&missing));
}
