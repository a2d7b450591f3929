//! People, roles and tokens: never more than the person has, and gone at the next call.

use deckle_doc::DocKey;
use deckle_store::{Role, StoreError, Subject, TeamId, Timestamp, Token, UserId, Verb, WorkspaceId, read_token};

use crate::support::*;

fn user(text: &str) -> UserId {
    UserId::parse(text).unwrap()
}

#[tokio::test]
async fn rights_come_from_role_team_and_person_and_end_at_once() {
    for engine in engines().await {
        engine.workspace("//- a\nA\n").await;
        let access = engine.store.access(&engine.tenant);
        let docs = WorkspaceId::parse("docs").unwrap();
        let team = TeamId::parse("writers").unwrap();
        access.set_user(&user("ana"), "Ana", "ana@example.test", Role::Reader).await.unwrap();
        access.set_team(&team, "Writers").await.unwrap();
        let role = |key: &'static str| {
            let (access, docs) = (access.clone(), docs.clone());
            async move { access.rights(&docs, &user("ana")).await.unwrap().role(&DocKey::parse(key).unwrap()) }
        };
        assert_eq!(role("guide/a").await, Role::Reader);
        access.grant(&docs, &Subject::Team(team.clone()), "guide/", Some(Role::Editor)).await.unwrap();
        assert_eq!(role("guide/a").await, Role::Reader, "not in the team yet");
        access.set_member(&team, &user("ana"), true).await.unwrap();
        assert_eq!(role("guide/a").await, Role::Editor);
        access.grant(&docs, &Subject::User(user("ana")), "guide/secret", Some(Role::None)).await.unwrap();
        assert_eq!(role("guide/secret").await, Role::None);
        access.grant(&docs, &Subject::User(user("ana")), "guide/secret", None).await.unwrap();
        assert_eq!(role("guide/secret").await, Role::Editor);
        access.set_member(&team, &user("ana"), false).await.unwrap();
        assert_eq!(role("guide/a").await, Role::Reader);
        access.disable(&user("ana"), true).await.unwrap();
        assert_eq!(role("guide/a").await, Role::None);
        let nobody = access.rights(&docs, &user("nobody")).await.unwrap();
        assert!(matches!(nobody.check(&key("a"), Verb::Read), Err(StoreError::NotFound { .. })));
        // Another tenant's people, teams and workspaces are not there.
        let other = engine.store.access(&tenant());
        assert!(matches!(other.disable(&user("ana"), false).await, Err(StoreError::NotFound { what: "user", .. })));
        assert!(matches!(
            other.grant(&docs, &Subject::Team(team.clone()), "", Some(Role::Owner)).await,
            Err(StoreError::NotFound { .. })
        ));
        assert!(matches!(other.set_member(&team, &user("ana"), true).await, Err(StoreError::NotFound { what: "team", .. })));
        assert!(access.grant(&docs, &Subject::Team(team), "../x", Some(Role::Owner)).await.is_err());
    }
}

#[tokio::test]
async fn tokens_are_found_by_their_secret_until_they_end() {
    for engine in engines().await {
        engine.workspace("//- a\nA\n").await;
        let access = engine.store.access(&engine.tenant);
        access.set_user(&user("ana"), "Ana", "", Role::Owner).await.unwrap();
        let token = |id: &str, until| Token {
            id: id.into(),
            actor: ana().agent("Agent"),
            label: "laptop".into(),
            path: "guide/".into(),
            role: Role::Editor,
            until,
        };
        let sent = access.create_token(&token("t1", None), [7; 32]).await.unwrap();
        let (tenant_of, id, secret) = read_token(&sent).unwrap();
        assert_eq!((&tenant_of, id), (&engine.tenant, "t1"));
        let found = access.token(id, secret).await.unwrap().unwrap();
        assert_eq!(found, token("t1", None));
        let rights = access.rights(&WorkspaceId::parse("docs").unwrap(), &found.actor.person).await.unwrap().through(&found);
        assert!(rights.check(&key("guide/a"), Verb::Edit).is_ok());
        assert!(matches!(rights.check(&key("guide/a"), Verb::Govern), Err(StoreError::Rights { .. })));
        assert!(matches!(rights.check(&key("a"), Verb::Read), Err(StoreError::NotFound { .. })));
        assert_eq!(access.token(id, "wrong").await.unwrap(), None);
        assert_eq!(engine.store.access(&tenant()).token(id, secret).await.unwrap(), None);
        let error = access.create_token(&token("t1", None), [8; 32]).await.unwrap_err();
        assert!(matches!(error, StoreError::Exists { what: "token", .. }), "{error}");
        access.disable(&user("ana"), true).await.unwrap();
        assert_eq!(access.token(id, secret).await.unwrap(), None, "a person who was shut out");
        access.disable(&user("ana"), false).await.unwrap();
        access.revoke_token("t1").await.unwrap();
        assert_eq!(access.token(id, secret).await.unwrap(), None, "revoked");
        let sent = access.create_token(&token("t2", Some(Timestamp(1))), [9; 32]).await.unwrap();
        let (_, id, secret) = read_token(&sent).unwrap();
        assert_eq!(access.token(id, secret).await.unwrap(), None, "ended");
    }
}
