//! Sessions, turns, leases and quotas.

use std::time::Duration;

use deckle_store::{Changes, NewTurn, SessionId, StoreError, TakeOver, TeamId, Timestamp, TurnId, TurnState, Usage, UserId};
use serde_json::json;

use crate::support::*;

const DOCS: &str = "//- a\nA\n";
const TTL: Duration = Duration::from_secs(3600);

fn session(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

fn turn(text: &str) -> TurnId {
    TurnId::parse(text).unwrap()
}

fn person() -> UserId {
    UserId::parse("ana").unwrap()
}

#[tokio::test]
async fn messages_are_whole_and_a_window_is_a_range() {
    for engine in engines().await {
        let sessions = engine.workspace(DOCS).await.sessions();
        sessions.create(&session("s"), &person(), None, "title").await.unwrap();
        let bodies: Vec<_> =
            (0..25).map(|n| json!({"role": "user", "n": n, "text": "\u{0}ü\n", "big": 9_007_199_254_740_993_i64})).collect();
        // Postgres text holds no NUL, so JSON must carry it escaped.
        sessions.append_messages(&session("s"), Some(&turn("t")), 0, &bodies, None).await.unwrap();
        assert_eq!(sessions.message_count(&session("s")).await.unwrap(), 25);
        let window = sessions.messages(&session("s"), 9..12).await.unwrap();
        let places: Vec<u64> = window.iter().map(|message| message.place).collect();
        assert_eq!(places, [9, 10, 11]);
        assert_eq!(window[1].body, bodies[10]);
        // A checkpoint repeated after a crash changes nothing; another message at a taken place is refused, and so is a gap.
        sessions.append_messages(&session("s"), Some(&turn("t")), 20, &bodies[20..], None).await.unwrap();
        assert_eq!(sessions.message_count(&session("s")).await.unwrap(), 25);
        let error = sessions.append_messages(&session("s"), None, 3, &[json!("other")], None).await.unwrap_err();
        assert!(matches!(error, StoreError::Exists { what: "message", .. }), "{error}");
        let error = sessions.append_messages(&session("s"), None, 26, &[json!(1)], None).await.unwrap_err();
        assert!(matches!(error, StoreError::Gap { next: 25, asked: 26, .. }), "{error}");
    }
}

#[tokio::test]
async fn events_are_numbered_and_read_from_where_a_client_left() {
    for engine in engines().await {
        let sessions = engine.workspace(DOCS).await.sessions();
        sessions.create(&session("s"), &person(), None, "").await.unwrap();
        assert_eq!(sessions.append_events(&session("s"), &turn("t"), &[json!(1), json!(2)], None).await.unwrap(), 1);
        assert_eq!(sessions.append_events(&session("s"), &turn("t"), &[json!(3)], None).await.unwrap(), 3);
        let seqs: Vec<(i64, serde_json::Value)> =
            sessions.events(&session("s"), 1, 10).await.unwrap().into_iter().map(|event| (event.seq, event.body)).collect();
        assert_eq!(seqs, [(2, json!(2)), (3, json!(3))]);
        assert!(matches!(sessions.events(&session("x"), 0, 1).await.unwrap_err(), StoreError::NotFound { what: "session", .. }));
    }
}

#[tokio::test]
async fn many_writers_leave_no_gap_in_the_events() {
    for engine in engines().await {
        let sessions = engine.workspace(DOCS).await.sessions();
        sessions.create(&session("s"), &person(), None, "").await.unwrap();
        let writers = (0..8).map(|writer| {
            let sessions = sessions.clone();
            tokio::spawn(async move {
                for n in 0..10 {
                    sessions.append_events(&session("s"), &turn("t"), &[json!([writer, n])], None).await.unwrap();
                }
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
        let seqs: Vec<i64> = sessions.events(&session("s"), 0, 1000).await.unwrap().iter().map(|event| event.seq).collect();
        assert_eq!(seqs, (1..=80).collect::<Vec<_>>(), "{}", engine.name);
    }
}

#[tokio::test]
async fn one_turn_runs_on_a_branch_and_its_successor_fences_it() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        let handle = workspace.create_branch(&branch("fix"), &agent(), "").await.unwrap();
        let sessions = workspace.sessions();
        sessions.create(&session("s"), &person(), Some(&branch("fix")), "").await.unwrap();
        let new = |id: &str| NewTurn {
            id: turn(id),
            session: session("s"),
            branch: branch("fix"),
            run: run(id),
            request: json!({"say": id}),
        };
        let (first, lease) = sessions.begin_turn(&new("t1"), "process-1", TTL).await.unwrap();
        assert_eq!(first.state, TurnState::Running);
        match sessions.begin_turn(&new("t2"), "process-2", TTL).await.unwrap_err() {
            StoreError::Busy { turn, .. } => assert_eq!(turn, "t1"),
            other => panic!("{other}"),
        }
        let error = sessions.take_over(&turn("t1"), "process-2", TTL, TakeOver::Expired).await.unwrap_err();
        assert!(matches!(error, StoreError::Busy { .. }), "{error}");

        // The holder died, and its successor knows it.
        let (taken, newer) = sessions.take_over(&turn("t1"), "process-2", TTL, TakeOver::Dead("process-1")).await.unwrap();
        assert_eq!(taken.request, json!({"say": "t1"}));
        assert!(newer.fence > lease.fence);

        // The first was only asleep: everything it tries is refused.
        let base = handle.head().await.unwrap();
        let late = meta("late").lease(lease.clone());
        let error = handle.commit(&base, &Changes::new().write(key("a"), "late\n"), &late).await.unwrap_err();
        assert!(matches!(error, StoreError::Fenced { .. }), "{error}");
        for error in [
            sessions.append_events(&session("s"), &turn("t1"), &[json!(1)], Some(&lease)).await.unwrap_err(),
            sessions.append_messages(&session("s"), None, 0, &[json!(1)], Some(&lease)).await.unwrap_err(),
            sessions.renew(&lease, TTL).await.unwrap_err(),
            sessions.end_turn(&turn("t1"), TurnState::Done, &json!(null), &lease).await.unwrap_err(),
        ] {
            assert!(matches!(error, StoreError::Fenced { .. }), "{error}");
        }
        assert_eq!(handle.head().await.unwrap().commit(), base.commit());

        // The second goes on and ends it; then another turn may begin.
        let renewed = sessions.renew(&newer, TTL).await.unwrap();
        handle.commit(&base, &Changes::new().write(key("a"), "good\n"), &meta("good").lease(renewed.clone())).await.unwrap();
        assert!(sessions.cancel_turn(&turn("t1")).await.unwrap());
        assert!(sessions.turn(&turn("t1")).await.unwrap().cancel);
        sessions.end_turn(&turn("t1"), TurnState::Cancelled, &json!({"summary": "x"}), &renewed).await.unwrap();
        assert!(!sessions.cancel_turn(&turn("t1")).await.unwrap(), "it is over");
        assert_eq!(sessions.running_turns().await.unwrap().len(), 0);
        let (_, third) = sessions.begin_turn(&new("t2"), "process-1", TTL).await.unwrap();
        assert!(third.fence > newer.fence);
        assert_eq!(sessions.turns(&session("s")).await.unwrap().len(), 2);
    }
}

#[tokio::test]
async fn an_expired_lease_is_taken_over_and_a_dead_turn_does_not_block_in_silence() {
    for engine in engines().await {
        let workspace = engine.workspace(DOCS).await;
        workspace.create_branch(&branch("fix"), &agent(), "").await.unwrap();
        let sessions = workspace.sessions();
        sessions.create(&session("s"), &person(), None, "").await.unwrap();
        let new =
            |id: &str| NewTurn { id: turn(id), session: session("s"), branch: branch("fix"), run: run(id), request: json!(1) };
        // The clock moves a second at each look, so this lease is over at once.
        sessions.begin_turn(&new("t1"), "p1", Duration::from_millis(1)).await.unwrap();
        match sessions.begin_turn(&new("t2"), "p2", TTL).await.unwrap_err() {
            StoreError::Busy { turn, .. } => assert_eq!(turn, "t1"),
            other => panic!("{other}"),
        }
        let (_, lease) = sessions.take_over(&turn("t1"), "p2", TTL, TakeOver::Expired).await.unwrap();
        sessions.end_turn(&turn("t1"), TurnState::Failed, &json!("died"), &lease).await.unwrap();
        sessions.begin_turn(&new("t2"), "p2", TTL).await.unwrap();
    }
}

#[tokio::test]
async fn results_are_kept_beside_the_conversation() {
    for engine in engines().await {
        let sessions = engine.workspace(DOCS).await.sessions();
        sessions.create(&session("s"), &person(), None, "").await.unwrap();
        sessions.offload(&session("s"), "r1", "read_document", "text/markdown", b"\0bytes").await.unwrap();
        sessions.offload(&session("s"), "r1", "read_document", "text/markdown", b"again").await.unwrap();
        let kept = sessions.offloaded(&session("s"), "r1").await.unwrap();
        assert_eq!(kept, ("text/markdown".to_owned(), b"\0bytes".to_vec()));
        assert!(matches!(sessions.offloaded(&session("s"), "r2").await.unwrap_err(), StoreError::NotFound { .. }));
    }
}

#[tokio::test]
async fn quotas_are_not_overspent_by_many_at_once() {
    for engine in engines().await {
        let quotas = engine.store.quotas(&engine.tenant);
        let team = TeamId::parse("docs").unwrap();
        quotas.set(&team, "tokens", 1000, Duration::from_secs(1_000_000)).await.unwrap();
        let runs = (0..50).map(|n| {
            let (quotas, team) = (quotas.clone(), team.clone());
            tokio::spawn(async move {
                match quotas.reserve(&format!("r{n}"), &team, "tokens", 90, Duration::from_secs(100_000)).await {
                    Ok(held) => {
                        quotas.settle(&held, 80).await.unwrap();
                        quotas.settle(&held, 80).await.unwrap();
                        80
                    }
                    Err(StoreError::Quota { asked: 90, .. }) => 0,
                    Err(other) => panic!("{other}"),
                }
            })
        });
        let mut spent = 0;
        for run in runs.collect::<Vec<_>>() {
            spent += run.await.unwrap();
        }
        let quota = quotas.get(&team, "tokens").await.unwrap().unwrap();
        assert!((880..=1000).contains(&spent), "{}: {spent}", engine.name);
        assert_eq!((quota.used, quota.reserved), (spent, 0));
    }
}

#[tokio::test]
async fn a_quota_begins_anew_and_dead_work_gives_back() {
    for engine in engines().await {
        let quotas = engine.store.quotas(&engine.tenant);
        let team = TeamId::parse("docs").unwrap();
        quotas.set(&team, "tokens", 100, Duration::from_secs(60)).await.unwrap();
        let dead = quotas.reserve("dead", &team, "tokens", 60, Duration::from_secs(6)).await.unwrap();
        assert_eq!(quotas.get(&team, "tokens").await.unwrap().unwrap().reserved, 60);
        // The clock moves with each look; in a while what the dead run held is free again.
        let held = loop {
            match quotas.reserve("next", &team, "tokens", 70, Duration::from_secs(1000)).await {
                Ok(held) => break held,
                Err(StoreError::Quota { left, .. }) => assert_eq!(left, 40),
                Err(other) => panic!("{other}"),
            }
        };
        quotas.settle(&held, 70).await.unwrap();
        quotas.settle(&dead, 60).await.unwrap();
        assert_eq!(quotas.get(&team, "tokens").await.unwrap().unwrap().used, 70, "late settling of the dead counts nothing");
        while quotas.get(&team, "tokens").await.unwrap().unwrap().used > 0 {}
        assert!(quotas.get(&team, "other").await.unwrap().is_none());
        let free = quotas.reserve("free", &team, "other", i64::MAX, Duration::from_secs(1)).await.unwrap();
        quotas.release(&free).await.unwrap();
    }
}

#[tokio::test]
async fn usage_is_counted_once() {
    for engine in engines().await {
        let quotas = engine.store.quotas(&engine.tenant);
        let usage = Usage {
            id: "r1/1".into(),
            person: person(),
            team: None,
            session: Some(session("s")),
            run: Some(run("r1")),
            model: "script".into(),
            input: 10,
            cached: 5,
            output: 3,
        };
        quotas.record(&usage).await.unwrap();
        quotas.record(&usage).await.unwrap();
        quotas.record(&Usage { id: "r1/2".into(), session: None, ..usage }).await.unwrap();
        let all = quotas.total(Timestamp(0), None).await.unwrap();
        assert_eq!((all.requests, all.input, all.cached, all.output), (2, 20, 10, 6));
        assert_eq!(quotas.total(Timestamp(0), Some(&session("s"))).await.unwrap().requests, 1);
    }
}
