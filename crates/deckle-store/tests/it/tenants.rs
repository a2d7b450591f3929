//! Tenants are invisible to one another: every call that takes an id answers for a foreign one as for a missing one.

use std::time::Duration;

use deckle_doc::Diag;
use deckle_store::{
    Actor, Changes, LogFilter, NewTurn, SessionId, StoreError, TakeOver, TeamId, Timestamp, TurnId, TurnState, UserId, Workspace,
    WorkspaceId,
};
use serde_json::json;

use crate::support::*;

/// What a tenant tried, and what it was told.
async fn attempts(workspace: &Workspace, names: &str) -> Vec<(&'static str, String)> {
    fn told<T: std::fmt::Debug>(result: Result<T, StoreError>, names: &str) -> String {
        match result {
            Ok(value) => format!("{value:?}"),
            Err(error) => Diag::from(&error).to_string().replace(names, "NAME"),
        }
    }
    let id = branch(names);
    let session = SessionId::parse(names).unwrap();
    let turn = TurnId::parse(names).unwrap();
    let sessions = workspace.sessions();
    let ttl = Duration::from_secs(1);
    let new = NewTurn {
        id: TurnId::parse("mine").unwrap(),
        session: session.clone(),
        branch: id.clone(),
        run: run("r"),
        request: json!(1),
    };
    let found = workspace.op_of_call(&run(names), &call(names)).await.unwrap();
    vec![
        ("branch", told(workspace.branch(&id).await.map(|_| ()), names)),
        ("branches", told(workspace.branches().await, names)),
        ("discard", told(workspace.discard(&id, &ana()).await, names)),
        ("trash", told(workspace.trash().await, names)),
        ("protections", told(workspace.protections().await, names)),
        ("call", format!("{found:?}")),
        ("log of branch", told(workspace.log(&LogFilter { branch: Some(id), ..LogFilter::default() }).await, names)),
        ("session", told(sessions.get(&session).await, names)),
        ("sessions", told(sessions.list(None, 100).await, names)),
        ("messages", told(sessions.messages(&session, 0..100).await, names)),
        ("count", told(sessions.message_count(&session).await, names)),
        ("append", told(sessions.append_messages(&session, None, 1, &[json!(1)], None).await, names)),
        ("events", told(sessions.events(&session, 0, 100).await, names)),
        ("append events", told(sessions.append_events(&session, &turn, &[json!(1)], None).await, names)),
        ("offload", told(sessions.offload(&session, "x", "t", "m", b"x").await, names)),
        ("offloaded", told(sessions.offloaded(&session, names).await, names)),
        ("turn", told(sessions.turn(&turn).await, names)),
        ("turns", told(sessions.turns(&session).await, names)),
        ("running", told(sessions.running_turns().await, names)),
        ("begin", told(sessions.begin_turn(&new, "p", ttl).await, names)),
        ("take over", told(sessions.take_over(&turn, "p", ttl, TakeOver::Dead("holder")).await, names)),
        ("cancel", told(sessions.cancel_turn(&turn).await, names)),
        ("lease", told(sessions.lease_of(&branch(names)).await, names)),
    ]
}

/// Fills a workspace with one of everything, all called by one name.
async fn furnish(engine: &Engine, workspace: &Workspace, names: &str) {
    let handle = workspace.create_branch(&branch(names), &agent(), "secret intent").await.unwrap();
    let base = handle.head().await.unwrap();
    let write = meta("secret").call(run(names), call(names));
    handle.commit(&base, &Changes::new().write(key("secret"), "secret\n"), &write).await.unwrap();
    let head = handle.head().await.unwrap();
    handle.commit(&head, &Changes::new().delete(key("secret")), &meta("secret")).await.unwrap();
    workspace.protect("secret/", Some(deckle_store::Protection::Edit), &ana()).await.unwrap();
    let sessions = workspace.sessions();
    let session = SessionId::parse(names).unwrap();
    let turn = TurnId::parse(names).unwrap();
    sessions.create(&session, &UserId::parse("ana").unwrap(), Some(&branch(names)), "secret").await.unwrap();
    let new =
        NewTurn { id: turn.clone(), session: session.clone(), branch: branch(names), run: run(names), request: json!("secret") };
    sessions.begin_turn(&new, "holder", Duration::from_secs(1_000_000)).await.unwrap();
    sessions.append_messages(&session, Some(&turn), 0, &[json!("secret")], None).await.unwrap();
    sessions.append_events(&session, &turn, &[json!("secret")], None).await.unwrap();
    sessions.offload(&session, names, "tool", "text", b"secret").await.unwrap();
    engine.store.quotas(&engine.tenant).set(&TeamId::parse(names).unwrap(), "tokens", 1, Duration::from_secs(9)).await.unwrap();
}

#[tokio::test]
async fn foreign_and_missing_answer_the_same() {
    for mut engine in engines().await {
        let theirs = engine.workspace("//- secret\nsecret\n").await;
        furnish(&engine, &theirs, "theirs").await;
        let before = format!("{:?}", (theirs.log(&LogFilter::default()).await.unwrap(), theirs.branches().await.unwrap()));
        // As many tenants as we have time for, each trying everything twice: for what is another's, and for what is not there.
        let tenants = 6;
        for _ in 0..tenants {
            engine.tenant = tenant();
            let mine = engine.workspace("//- mine\nmine\n").await;
            let foreign = attempts(&mine, "theirs").await;
            let missing = attempts(&mine, "nobody").await;
            assert_eq!(foreign, missing, "{}", engine.name);
            let all = format!("{foreign:?}");
            assert!(!all.contains("secret"), "{all}");
            assert!(
                engine.store.quotas(&engine.tenant).get(&TeamId::parse("theirs").unwrap(), "tokens").await.unwrap().is_none()
            );
            assert_eq!(engine.store.workspaces(&engine.tenant).await.unwrap(), [WorkspaceId::parse("docs").unwrap()]);
            let total = engine.store.quotas(&engine.tenant).total(Timestamp(0), None).await.unwrap();
            assert_eq!(total.requests, 0);
            // Content is per tenant too: the same bytes are stored, and read, for each on its own.
            let error = mine.snapshot().await.unwrap().text(&key("secret")).await.unwrap();
            assert_eq!(error, None);
        }
        let after = format!("{:?}", (theirs.log(&LogFilter::default()).await.unwrap(), theirs.branches().await.unwrap()));
        assert_eq!(before, after, "no attempt left a trace");
        let turns = theirs.sessions().running_turns().await.unwrap();
        assert_eq!((turns.len(), turns[0].state, turns[0].cancel), (1, TurnState::Running, false));
    }
}

#[tokio::test]
async fn a_workspace_of_another_tenant_is_not_there() {
    for engine in engines().await {
        engine.workspace("//- a\nA\n").await;
        let docs = WorkspaceId::parse("docs").unwrap();
        let error = engine.store.workspace(&tenant(), &docs).await.unwrap_err();
        assert!(matches!(error, StoreError::NotFound { what: "workspace", .. }), "{error}");
        engine.store.workspace(&engine.tenant, &docs).await.unwrap();
        engine.store.create_workspace(&tenant(), &docs, &Actor::local()).await.unwrap();
    }
}

/// The second lock: even a statement that forgets its tenant shows nothing, because the connection is bound to a role
/// whose rows are chosen by the database.
#[tokio::test]
async fn postgres_itself_hides_the_rows_of_others() {
    let Ok(url) = std::env::var("DECKLE_TEST_POSTGRES") else { return };
    for engine in engines().await.into_iter().filter(|engine| engine.name == "postgres") {
        engine.workspace("//- a\nA\n").await;
        let pool = sqlx::PgPool::connect(&url).await.unwrap();
        let mut connection = pool.acquire().await.unwrap();
        sqlx::raw_sql("SET ROLE deckle_app").execute(&mut *connection).await.unwrap();
        let tables: Vec<(String,)> = sqlx::query_as(
            "SELECT c.relname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relkind = 'r' AND a.attname = 'tenant'",
        )
        .fetch_all(&mut *connection)
        .await
        .unwrap();
        assert!(tables.len() > 20, "{}", tables.len());
        for (table,) in tables {
            for setting in [None, Some("nobody"), Some(engine.tenant.as_str())] {
                sqlx::query("SELECT set_config('deckle.tenant', $1, false)")
                    .bind(setting.unwrap_or(""))
                    .execute(&mut *connection)
                    .await
                    .unwrap();
                let sql = format!("SELECT COUNT(*) FROM {table} WHERE tenant <> $1");
                let (count,): (i64,) = sqlx::query_as(sqlx::AssertSqlSafe(sql))
                    .bind(setting.unwrap_or(""))
                    .fetch_one(&mut *connection)
                    .await
                    .unwrap();
                assert_eq!(count, 0, "{table} as {setting:?}");
            }
        }
        // And no row can be written for another.
        sqlx::query("SELECT set_config('deckle.tenant', 'me', false)").execute(&mut *connection).await.unwrap();
        let foreign =
            sqlx::query("INSERT INTO workspaces (tenant, id, main, op_seq, created_at) VALUES ('you', 'w', 'ref', 0, 0)")
                .execute(&mut *connection)
                .await;
        assert!(foreign.is_err());
    }
}
