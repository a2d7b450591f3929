//! Two runs on one branch: a block that changed since a run read it is not written over; other blocks are, and both changes are there.
#![allow(clippy::unwrap_used)]

use std::sync::Mutex;

use deckle_agent::ToolCall;
use deckle_agent::tools::{Budget, Config, Seen, Spent, ToolContext, call};
use deckle_doc::types::Rules;
use deckle_doc::{Dialect, DocKey};
use deckle_store::{Actor, BranchId, InitOptions, RunId, Workspace};
use serde_json::{Value, json};

struct Runs {
    workspace: Workspace,
    branch: BranchId,
    _folder: tempfile::TempDir,
}

impl Runs {
    async fn on(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("doc.md"), text).unwrap();
        let workspace = Workspace::init(folder.path(), InitOptions::default()).await.unwrap();
        let branch = BranchId::parse("shared").unwrap();
        workspace.create_branch(&branch, &Actor::local(), "two runs").await.unwrap();
        Self { workspace, branch, _folder: folder }
    }

    async fn run(&self, name: &str, config: Config) -> ToolContext {
        ToolContext {
            branch: self.workspace.branch(&self.branch).await.unwrap(),
            run: RunId::parse(name).unwrap(),
            actor: Actor::local().agent("Agent"),
            lease: None,
            dialect: Dialect::Generic,
            rules: Rules::default(),
            budget: Budget::default(),
            spent: Mutex::new(Spent::default()),
            config,
            seen: Seen::default(),
        }
    }

    async fn text(&self) -> String {
        let head = self.workspace.branch(&self.branch).await.unwrap().head().await.unwrap();
        head.text(&DocKey::parse("doc").unwrap()).await.unwrap().unwrap().to_string()
    }
}

/// Calls a tool; the answer, and whether it was refused.
async fn ask(context: &ToolContext, id: &str, tool: &str, arguments: Value) -> (String, bool) {
    let asked = ToolCall { id: id.into(), name: tool.into(), arguments, broken: None };
    let outcome = call(context, &asked).await.unwrap();
    (outcome.content, outcome.is_error)
}

fn replace(text: &str, to: &str) -> Value {
    json!({ "key": "doc", "update": { "$replaceText": { "$text": text, "to": to, "expect": 1 } } })
}

#[tokio::test]
async fn the_same_block_is_stale_and_another_is_not() {
    let runs = Runs::on("# T\n\none\n\ntwo\n").await;
    let (ann, bob) = (runs.run("ann", Config::default()).await, runs.run("bob", Config::default()).await);
    for run in [&ann, &bob] {
        assert!(!ask(run, "read", "read_document", json!({ "key": "doc" })).await.1);
    }
    assert!(!ask(&ann, "a1", "update_blocks", replace("one", "eins")).await.1);
    let (said, refused) = ask(&bob, "b1", "update_blocks", replace("one", "uno")).await;
    assert!(refused && said.contains("error[stale]") && said.contains("it now reads: eins"), "{said}");
    let (said, refused) = ask(&bob, "b2", "update_blocks", replace("two", "due")).await;
    assert!(!refused, "{said}");
    assert_eq!(runs.text().await, "# T\n\neins\n\ndue\n");
    // What it wrote itself is no news to it, and what it has not seen still is.
    let (said, refused) = ask(&bob, "b3", "update_blocks", replace("eins", "uno")).await;
    assert!(refused && said.contains("error[stale]"), "{said}");
    assert!(!ask(&bob, "read2", "read_document", json!({ "key": "doc" })).await.1);
    let (said, refused) = ask(&bob, "b4", "update_blocks", replace("eins", "uno")).await;
    assert!(!refused, "{said}");
    let (said, refused) = ask(&bob, "b5", "update_blocks", replace("uno", "un")).await;
    assert!(!refused, "{said}");
    assert_eq!(runs.text().await, "# T\n\nun\n\ndue\n");
    // Its writes elsewhere move the branch, and not what it knows of this document.
    assert!(!ask(&bob, "b6", "create_document", json!({ "key": "other", "content": "# Other\n" })).await.1);
    for (id, from, to) in [("b7", "un", "deux"), ("b8", "deux", "trois")] {
        let (said, refused) = ask(&bob, id, "update_blocks", replace(from, to)).await;
        assert!(!refused, "{said}");
        let other = json!({ "key": "other", "update": { "$append": { "$document": {}, "content": id, "expect": 1 } } });
        assert!(!ask(&bob, &format!("{id}o"), "update_blocks", other).await.1);
    }
    assert_eq!(runs.text().await, "# T\n\ntrois\n\ndue\n");
}

#[tokio::test]
async fn a_section_in_which_a_block_changed_is_stale() {
    let runs = Runs::on("# T\n\n## S\n\none\n\n## E\n\nend\n").await;
    let (ann, bob) = (runs.run("ann", Config::default()).await, runs.run("bob", Config::default()).await);
    assert!(!ask(&bob, "read", "read_document", json!({ "key": "doc" })).await.1);
    assert!(!ask(&ann, "a1", "update_blocks", replace("one", "eins")).await.1);
    let section = |to: &str| json!({ "key": "doc", "section": to, "do": "update", "content": "new" });
    let (said, refused) = ask(&bob, "b1", "edit_section", section("S")).await;
    assert!(refused && said.contains("error[stale]"), "{said}");
    let (said, refused) = ask(&bob, "b2", "edit_section", section("E")).await;
    assert!(!refused, "{said}");
    assert_eq!(runs.text().await, "# T\n\n## S\n\neins\n\n## E\n\nnew\n");
}

#[tokio::test]
async fn a_run_keeps_the_schemas_of_the_workspace() {
    let runs = Runs::on("---\ntype: note\nstatus: open\n---\n\n# T\n").await;
    let config = "[schemas.note]\ntype = \"note\"\nfields.status = { enum = [\"open\", \"done\"], required = true }\n";
    let run = runs.run("ann", Config::parse(config).unwrap()).await;
    let set = |value: &str| json!({ "key": "doc", "update": { "$set": { "status": value } } });
    let (said, refused) = ask(&run, "a1", "update_blocks", set("later")).await;
    assert!(refused && said.contains("error[schema]") && said.contains("it is one of: open done"), "{said}");
    let (said, refused) = ask(&run, "a2", "update_blocks", set("done")).await;
    assert!(!refused, "{said}");
}
