//! Stores that earlier versions wrote: each schema version leaves one, and every one of them opens.
//!
//! `cargo xtask fixture` writes the one of today's version, once; what is there is never written again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use deckle_store::review::Fate;
use deckle_store::{
    Changes, LogFilter, Meta, NewTurn, OpKind, Protection, Role, SCHEMA_VERSION, SessionId, Store, TeamId, Tenant, Token, TurnId,
    TurnState, UserId, Workspace, WorkspaceId, read_token,
};
use serde_json::json;

use crate::support::*;

/// Names the file that is to be written; without it the writer is an empty test.
const WRITE: &str = "DECKLE_WRITE_FIXTURE";
const DOCS: &str = "//- guides/start\n---\ntitle: Start\n---\n\n# Start\n\nOne.\n\nTwo.\n//- old\n# Old\n//- kept/a\n# A\n";

fn folder_of_fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn tenant() -> Tenant {
    Tenant::parse("acme").unwrap()
}

/// The secret of the fixture's token.
const SECRET: [u8; 32] = [7; 32];

#[tokio::test]
async fn write() {
    let Ok(path) = std::env::var(WRITE) else { return };
    assert!(!Path::new(&path).exists(), "{path} is there; what was released never changes");
    let dir = tempfile::TempDir::new().unwrap();
    let file = dir.path().join("store.db");
    let url = format!("sqlite:{}", file.display());
    let store = Store::open_with(&url, clock()).await.unwrap();
    let engine = Engine::of("sqlite", store, tenant(), url);
    let workspace = engine.workspace(DOCS).await;
    let access = engine.store.access(&engine.tenant);
    let (ana, team) = (UserId::parse("ana").unwrap(), TeamId::parse("docs").unwrap());
    access.set_user(&ana, "Ana", "ana@localhost", Role::Editor).await.unwrap();
    access.set_team(&team, "Docs").await.unwrap();
    access.set_member(&team, &ana, true).await.unwrap();
    access
        .grant(&WorkspaceId::parse("docs").unwrap(), &deckle_store::Subject::Team(team.clone()), "kept/", Some(Role::Reader))
        .await
        .unwrap();
    let token = Token {
        id: "laptop".into(),
        actor: agent(),
        label: "for the agent".into(),
        path: "guides/".into(),
        role: Role::Editor,
        until: None,
    };
    access.create_token(&token, SECRET).await.unwrap();
    engine.store.quotas(&engine.tenant).set(&team, "tokens", 1_000, Duration::from_secs(3_600)).await.unwrap();
    workspace.protect("kept/", Some(Protection::Edit), &crate::support::ana()).await.unwrap();

    let id = branch("work");
    let handle = workspace.create_branch(&id, &agent(), "say it better").await.unwrap();
    let base = handle.head().await.unwrap();
    let text = base.text(&key("guides/start")).await.unwrap().unwrap();
    let changes = Changes::new().write(key("guides/start"), text.replace("One.", "One, said better.")).rename(
        key("old"),
        key("new"),
        "# Old\n",
    );
    handle.commit(&base, &changes, &meta("say it better").call(run("r1"), call("c1"))).await.unwrap();
    let head = handle.head().await.unwrap();
    handle
        .commit(&head, &Changes::new().delete(key("new")), &meta("no longer wanted").call(run("r1"), call("c2")))
        .await
        .unwrap();
    let review = workspace.review(&id).await.unwrap();
    workspace.decide(&id, &[(review.changes[0].id.clone(), Fate::Accept)], "good", &crate::support::ana()).await.unwrap();

    let sessions = workspace.sessions();
    let (session, turn) = (SessionId::parse("s1").unwrap(), TurnId::parse("t1").unwrap());
    sessions.create(&session, &ana, Some(&id), "Say it better").await.unwrap();
    let new = NewTurn {
        id: turn.clone(),
        session: session.clone(),
        branch: id,
        run: run("r1"),
        request: json!({ "message": "say it better" }),
    };
    let (_, lease) = sessions.begin_turn(&new, "gone", Duration::from_secs(30)).await.unwrap();
    sessions
        .append_messages(
            &session,
            Some(&turn),
            0,
            &[json!({ "user": "say it better" }), json!({ "assistant": "Done." })],
            Some(&lease),
        )
        .await
        .unwrap();
    sessions.append_events(&session, &turn, &[json!({ "type": "agent_done" })], Some(&lease)).await.unwrap();
    sessions.offload(&session, "r-1", "search", "text/plain", b"long result").await.unwrap();
    sessions.end_turn(&turn, TurnState::Done, &json!({ "outcome": "done" }), &lease).await.unwrap();
    engine.store.close().await;
    std::fs::copy(&file, &path).unwrap();
}

/// A copy of a fixture, opened.
async fn opened(version: i64) -> (tempfile::TempDir, Store, Workspace) {
    let fixture = folder_of_fixtures().join(format!("schema-{version}.db"));
    assert!(
        fixture.is_file(),
        "schema version {version} left no store behind: run `cargo xtask fixture`, and commit {}",
        fixture.display()
    );
    let dir = tempfile::TempDir::new().unwrap();
    let copy = dir.path().join("store.db");
    std::fs::copy(&fixture, &copy).unwrap();
    let store = Store::open_with(&format!("sqlite:{}", copy.display()), clock()).await.unwrap();
    let workspace = store.workspace(&tenant(), &WorkspaceId::parse("docs").unwrap()).await.unwrap();
    (dir, store, workspace)
}

#[tokio::test]
async fn stores_of_every_schema_version_open_whole() {
    for version in 1..=SCHEMA_VERSION {
        let (_dir, store, workspace) = opened(version).await;
        assert_eq!(store.fsck(&tenant()).await.unwrap().findings, [], "version {version}");

        let main = workspace.snapshot().await.unwrap();
        assert_eq!(main.keys().await.unwrap(), [key("guides/start"), key("kept/a"), key("old")]);
        assert_eq!(
            main.text(&key("guides/start")).await.unwrap().unwrap().as_ref(),
            "---\ntitle: Start\n---\n\n# Start\n\nOne.\n\nTwo.\n"
        );
        let handle = workspace.branch(&branch("work")).await.unwrap();
        let head = handle.head().await.unwrap();
        assert_eq!(head.keys().await.unwrap(), [key("guides/start"), key("kept/a")]);
        let log = workspace.log(&LogFilter::default()).await.unwrap();
        assert_eq!(log.iter().filter(|op| op.kind == OpKind::Commit).count(), 2);
        assert!(handle.replay(&run("r1"), &call("c1")).await.unwrap().is_some(), "a call that was made is known");

        let review = workspace.review(&branch("work")).await.unwrap();
        assert!(review.changes.len() >= 2 && review.decisions.len() == 1, "{review:#?}");
        let sessions = workspace.sessions();
        let session = SessionId::parse("s1").unwrap();
        let messages = sessions.messages(&session, 0..10).await.unwrap();
        assert_eq!(messages[1].body, json!({ "assistant": "Done." }));
        assert_eq!(sessions.events(&session, 0, 10).await.unwrap().len(), 1);
        assert_eq!(sessions.turns(&session).await.unwrap()[0].state, TurnState::Done);
        assert!(sessions.offloaded(&session, "r-1").await.is_ok());
        let secret: String = SECRET.iter().map(|byte| format!("{byte:02x}")).collect();
        let text = format!("dk/acme/laptop/{secret}");
        let (_, id, secret) = read_token(&text).unwrap();
        let token = store.access(&tenant()).token(id, secret).await.unwrap().unwrap();
        let rights = store.access(&tenant()).rights(&WorkspaceId::parse("docs").unwrap(), &token.actor.person).await.unwrap();
        assert_eq!((rights.role(&key("kept/a")), rights.role(&key("old"))), (Role::Reader, Role::Editor));
        assert!(store.quotas(&tenant()).get(&TeamId::parse("docs").unwrap(), "tokens").await.unwrap().is_some());

        // And it goes on: what was deleted comes back with its id, what is protected is protected, what was decided is merged.
        handle.restore(&head, &[key("new")], &meta("back")).await.unwrap();
        let head = handle.head().await.unwrap();
        let refused = handle.commit(&head, &Changes::new().write(key("kept/a"), "# B\n"), &meta("")).await;
        assert!(refused.is_err(), "{refused:?}");
        let options = deckle_store::MergeOptions::default();
        workspace.merge(&branch("work"), &options, &Meta::new(crate::support::ana(), "merge")).await.unwrap();
        assert_eq!(store.fsck(&tenant()).await.unwrap().findings, [], "version {version}");
    }
}
