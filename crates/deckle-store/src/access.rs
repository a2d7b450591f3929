//! People and what they may do: tenant → team → user, roles, grants below a path, and tokens that carry a part of a person's
//! rights to a program. Rights are looked up at every call, so taking one away takes effect at the next.

use deckle_doc::DocKey;
use sha2::{Digest, Sha256};

use crate::error::StoreError;
use crate::ids::{Actor, Clock, TeamId, Tenant, Timestamp, UserId, WorkspaceId};
use crate::sql::{Row, Scope, args};
use crate::store::Store;

/// What a person may do at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Nothing: the place is not there for them.
    None,
    /// Read.
    Reader,
    /// Read, and write through branches.
    Editor,
    /// Everything: merge, protect, purge, and give rights.
    Owner,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// To see it.
    Read,
    /// To change it on a branch.
    Edit,
    /// To change main, rights and protections.
    Govern,
}

impl Role {
    const ALL: [Self; 4] = [Self::None, Self::Reader, Self::Editor, Self::Owner];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Reader => "reader",
            Self::Editor => "editor",
            Self::Owner => "owner",
        }
    }

    fn parse(word: &str) -> Self {
        // A word that nobody knows gives nothing.
        Self::ALL.into_iter().find(|role| role.as_str() == word).unwrap_or(Self::None)
    }

    /// Whether the role is enough.
    pub fn may(self, verb: Verb) -> bool {
        self >= match verb {
            Verb::Read => Self::Reader,
            Verb::Edit => Self::Editor,
            Verb::Govern => Self::Owner,
        }
    }
}

impl Verb {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Govern => "govern",
        }
    }
}

/// Who gets a right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// One person.
    User(UserId),
    /// Everybody in a team.
    Team(TeamId),
}

impl Subject {
    fn column(&self) -> String {
        match self {
            Self::User(id) => format!("user:{id}"),
            Self::Team(id) => format!("team:{id}"),
        }
    }
}

/// A program's part of a person's rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its id, which is no secret.
    pub id: String,
    /// Whose rights it carries, and for which agent.
    pub actor: Actor,
    /// What it is for.
    pub label: String,
    /// Below which path it works; empty: everywhere.
    pub path: String,
    /// The most that it may do.
    pub role: Role,
    /// When it ends.
    pub until: Option<Timestamp>,
}

/// The people and the rights of a tenant. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Access {
    scope: Scope,
    clock: Clock,
}

impl Store {
    /// Returns the people and the rights of a tenant.
    pub fn access(&self, tenant: &Tenant) -> Access {
        Access { scope: self.db.scope(tenant), clock: self.clock.clone() }
    }
}

/// Whether a path of a grant covers a document: the document itself, a folder above it, or everything.
fn covers(path: &str, key: &str) -> bool {
    path.is_empty() || path == key || (path.ends_with('/') && key.starts_with(path))
}

/// Checks a path of a grant.
fn check_path(path: &str) -> Result<(), StoreError> {
    let name = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() || DocKey::parse(name).is_ok() {
        return Ok(());
    }
    Err(StoreError::Name {
        what: "path of a right",
        name: path.into(),
        rule: "empty for everything, `a/` for a folder, `a/b` for a document",
    })
}

impl Access {
    /// Adds a person, or changes one's name, address and role.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn set_user(&self, id: &UserId, name: &str, email: &str, role: Role) -> Result<(), StoreError> {
        let mut tx = self.scope.begin().await?;
        tx.exec(
            "INSERT INTO users (tenant, id, name, email, role, disabled, created_at) VALUES ($1, $2, $3, $4, $5, 0, $6) \
             ON CONFLICT (tenant, id) DO UPDATE SET name = excluded.name, email = excluded.email, role = excluded.role",
            args![id.as_str(), name, email, role.as_str(), self.clock.now()],
        )
        .await?;
        tx.commit().await
    }

    /// Shuts a person out, or lets one in again. Their tokens go with them.
    ///
    /// # Errors
    /// When there is no such person.
    pub async fn disable(&self, id: &UserId, disabled: bool) -> Result<(), StoreError> {
        let mut tx = self.scope.begin().await?;
        let done = tx.exec("UPDATE users SET disabled = $3 WHERE tenant = $1 AND id = $2", args![id.as_str(), disabled]).await?;
        if done == 0 {
            return Err(StoreError::not_found("user", id));
        }
        tx.commit().await
    }

    /// Makes a team, or renames one.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn set_team(&self, id: &TeamId, name: &str) -> Result<(), StoreError> {
        let mut tx = self.scope.begin().await?;
        tx.exec(
            "INSERT INTO teams (tenant, id, name, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (tenant, id) DO UPDATE SET name = excluded.name",
            args![id.as_str(), name, self.clock.now()],
        )
        .await?;
        tx.commit().await
    }

    /// Puts a person in a team, or takes one out.
    ///
    /// # Errors
    /// When there is no such team or person.
    pub async fn set_member(&self, team: &TeamId, user: &UserId, member: bool) -> Result<(), StoreError> {
        let mut tx = self.scope.begin().await?;
        for (what, sql, name) in [
            ("team", "SELECT id FROM teams WHERE tenant = $1 AND id = $2", team.as_str()),
            ("user", "SELECT id FROM users WHERE tenant = $1 AND id = $2", user.as_str()),
        ] {
            if tx.first(sql, args![name]).await?.is_none() {
                return Err(StoreError::not_found(what, name));
            }
        }
        let sql = if member {
            "INSERT INTO members (tenant, team, person) VALUES ($1, $2, $3) ON CONFLICT (tenant, team, person) DO NOTHING"
        } else {
            "DELETE FROM members WHERE tenant = $1 AND team = $2 AND person = $3"
        };
        tx.exec(sql, args![team.as_str(), user.as_str()]).await?;
        tx.commit().await
    }

    /// Says what somebody may do below a path of a workspace, in place of what was said before; none takes it back.
    ///
    /// # Errors
    /// When the path is none, or there is no such workspace.
    pub async fn grant(
        &self,
        workspace: &WorkspaceId,
        subject: &Subject,
        path: &str,
        role: Option<Role>,
    ) -> Result<(), StoreError> {
        check_path(path)?;
        let mut tx = self.scope.begin().await?;
        if tx.first("SELECT id FROM workspaces WHERE tenant = $1 AND id = $2", args![workspace.as_str()]).await?.is_none() {
            return Err(StoreError::not_found("workspace", workspace));
        }
        tx.exec(
            "DELETE FROM grants WHERE tenant = $1 AND workspace = $2 AND subject = $3 AND path = $4",
            args![workspace.as_str(), subject.column(), path],
        )
        .await?;
        if let Some(role) = role {
            tx.exec(
                "INSERT INTO grants (tenant, workspace, subject, path, role) VALUES ($1, $2, $3, $4, $5)",
                args![workspace.as_str(), subject.column(), path, role.as_str()],
            )
            .await?;
        }
        tx.commit().await
    }

    /// Returns all that a person may do in a workspace, to be asked for many documents.
    ///
    /// # Errors
    /// When the store cannot be read. A person who is not there, or is shut out, may do nothing.
    pub async fn rights(&self, workspace: &WorkspaceId, user: &UserId) -> Result<Rights, StoreError> {
        let row =
            self.scope.first("SELECT role, disabled FROM users WHERE tenant = $1 AND id = $2", args![user.as_str()]).await?;
        let Some(row) = row.filter(|row| row.int(1).is_ok_and(|disabled| disabled == 0)) else {
            return Ok(Rights { person: user.clone(), role: Role::None, grants: Vec::new(), limit: None });
        };
        let grants = self
            .scope
            .fetch(
                "SELECT path, role, subject FROM grants WHERE tenant = $1 AND workspace = $2 AND (subject = $3 OR subject IN \
                 (SELECT 'team:' || team FROM members WHERE tenant = $1 AND person = $4))",
                args![workspace.as_str(), format!("user:{user}"), user.as_str()],
            )
            .await?;
        let read = |row: &Row| Ok((row.text(0)?.to_owned(), row.text(2)?.starts_with("user:"), Role::parse(row.text(1)?)));
        let grants = grants.iter().map(read).collect::<Result<Vec<_>, StoreError>>()?;
        Ok(Rights { person: user.clone(), role: Role::parse(row.text(0)?), grants, limit: None })
    }

    /// Makes a token, and returns its secret, which is shown once and never kept.
    ///
    /// # Errors
    /// When there is no such person, or the path is none.
    pub async fn create_token(&self, token: &Token, secret: [u8; 32]) -> Result<String, StoreError> {
        check_path(&token.path)?;
        let mut tx = self.scope.begin().await?;
        let person = token.actor.person.as_str();
        if tx.first("SELECT id FROM users WHERE tenant = $1 AND id = $2", args![person]).await?.is_none() {
            return Err(StoreError::not_found("user", person));
        }
        let secret: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        let made = tx
            .exec(
                "INSERT INTO tokens (tenant, id, digest, person, agent, label, path, role, created_at, until) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (tenant, id) DO NOTHING",
                args![
                    token.id.as_str(),
                    digest(&secret),
                    person,
                    token.actor.agent.as_deref(),
                    token.label.as_str(),
                    token.path.as_str(),
                    token.role.as_str(),
                    self.clock.now(),
                    token.until.map(|until| until.0),
                ],
            )
            .await?;
        if made == 0 {
            return Err(StoreError::Exists { what: "token", name: token.id.clone() });
        }
        tx.commit().await?;
        Ok(format!("dk/{}/{}/{secret}", self.scope.tenant(), token.id))
    }

    /// Ends a token.
    ///
    /// # Errors
    /// When there is none with this id.
    pub async fn revoke_token(&self, id: &str) -> Result<(), StoreError> {
        let mut tx = self.scope.begin().await?;
        let done =
            tx.exec("UPDATE tokens SET revoked_at = $3 WHERE tenant = $1 AND id = $2", args![id, self.clock.now()]).await?;
        if done == 0 {
            return Err(StoreError::not_found("token", id));
        }
        tx.commit().await
    }

    /// Finds the token of a secret. One that is wrong, ended, revoked or belongs to somebody who was shut out is not there.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn token(&self, id: &str, secret: &str) -> Result<Option<Token>, StoreError> {
        let row = self
            .scope
            .first(
                "SELECT t.id, t.digest, t.person, t.agent, t.label, t.path, t.role, t.until FROM tokens t JOIN users u ON u.tenant = t.tenant \
                 AND u.id = t.person WHERE t.tenant = $1 AND t.id = $2 AND t.revoked_at IS NULL AND (t.until IS NULL OR t.until > $3) \
                 AND u.disabled = 0",
                args![id, self.clock.now()],
            )
            .await?;
        let Some(row) = row else { return Ok(None) };
        if !same(row.text(1)?.as_bytes(), digest(secret).as_bytes()) {
            return Ok(None);
        }
        Ok(Some(Token {
            id: row.text(0)?.to_owned(),
            actor: Actor { person: UserId::parse(row.text(2)?)?, agent: row.text_or_none(3)?.map(str::to_owned) },
            label: row.text(4)?.to_owned(),
            path: row.text(5)?.to_owned(),
            role: Role::parse(row.text(6)?),
            until: row.int_or_none(7)?.map(Timestamp),
        }))
    }
}

/// Reads the parts of a token as a program sends it: tenant, id and secret.
pub fn read_token(text: &str) -> Option<(Tenant, &str, &str)> {
    let mut parts = text.strip_prefix("dk/")?.split('/');
    let (tenant, id, secret) = (parts.next()?, parts.next()?, parts.next()?);
    (parts.next().is_none() && !id.is_empty()).then_some(())?;
    Some((Tenant::parse(tenant).ok()?, id, secret))
}

fn digest(secret: &str) -> String {
    Sha256::digest(secret.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares without telling by its time how much was right.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// What a person may do in a workspace, as it was when it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    person: UserId,
    role: Role,
    /// Path, whether it names the person alone, role.
    grants: Vec<(String, bool, Role)>,
    limit: Option<(String, Role)>,
}

impl Rights {
    /// All rights: those of the one owner of local use.
    pub fn local() -> Self {
        Self { person: Actor::local().person, role: Role::Owner, grants: Vec::new(), limit: None }
    }

    /// The same rights through a token: never more than either.
    #[must_use]
    pub fn through(mut self, token: &Token) -> Self {
        self.limit = Some((token.path.clone(), token.role));
        self
    }

    /// Returns the role at a document. The longest path decides; of two of one length the one that names the person.
    pub fn role(&self, key: &DocKey) -> Role {
        let own = self
            .grants
            .iter()
            .filter(|(path, ..)| covers(path, key.as_str()))
            .max_by_key(|(path, personal, role)| (path.len(), *personal, *role))
            .map_or(self.role, |(_, _, role)| *role);
        match &self.limit {
            Some((path, role)) if covers(path, key.as_str()) => own.min(*role),
            Some(_) => Role::None,
            None => own,
        }
    }

    /// Returns the role for the workspace as a whole.
    pub fn overall(&self) -> Role {
        let own = self
            .grants
            .iter()
            .filter(|(path, ..)| path.is_empty())
            .max_by_key(|(_, personal, role)| (*personal, *role))
            .map_or(self.role, |(_, _, role)| *role);
        match &self.limit {
            Some((path, role)) if path.is_empty() => own.min(*role),
            Some(_) => Role::None,
            None => own,
        }
    }

    /// Refuses what the person may not do at a document. What may not be read is answered as what is not there.
    ///
    /// # Errors
    /// When the role is not enough.
    pub fn check(&self, key: &DocKey, verb: Verb) -> Result<(), StoreError> {
        let role = self.role(key);
        if role.may(verb) {
            Ok(())
        } else if role.may(Verb::Read) {
            Err(StoreError::Rights { person: self.person.to_string(), verb: verb.as_str() })
        } else {
            Err(StoreError::not_found("document", key))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> DocKey {
        DocKey::parse(text).unwrap()
    }

    #[test]
    fn the_longest_path_decides_and_a_token_only_takes_away() {
        let rights = Rights {
            person: UserId::parse("ana").unwrap(),
            role: Role::Reader,
            grants: vec![
                ("team/".into(), false, Role::Editor),
                ("team/secret/".into(), false, Role::None),
                ("team/secret/mine".into(), true, Role::Owner),
            ],
            limit: None,
        };
        let role = |rights: &Rights, text: &str| rights.role(&key(text));
        assert_eq!(role(&rights, "x"), Role::Reader);
        assert_eq!(role(&rights, "team/x"), Role::Editor);
        assert_eq!(role(&rights, "teams/x"), Role::Reader);
        assert_eq!(role(&rights, "team/secret/x"), Role::None);
        assert_eq!(role(&rights, "team/secret/mine"), Role::Owner);
        assert!(matches!(rights.check(&key("team/secret/x"), Verb::Read), Err(StoreError::NotFound { .. })));
        assert!(matches!(rights.check(&key("x"), Verb::Edit), Err(StoreError::Rights { .. })));
        let token = Token {
            id: "t".into(),
            actor: Actor::local(),
            label: String::new(),
            path: "team/".into(),
            role: Role::Reader,
            until: None,
        };
        let narrowed = rights.through(&token);
        assert_eq!(role(&narrowed, "team/x"), Role::Reader);
        assert_eq!(role(&narrowed, "team/secret/x"), Role::None);
        assert_eq!((role(&narrowed, "x"), narrowed.overall()), (Role::None, Role::None));
    }

    #[test]
    fn tokens_name_their_tenant() {
        let (tenant, id, secret) = read_token("dk/acme/laptop/00ff").unwrap();
        assert_eq!((tenant.as_str(), id, secret), ("acme", "laptop", "00ff"));
        for wrong in ["", "dk/", "dk/a/b", "dk/a/b/c/d", "dk/a b/c/d", "xx/a/b/c", "dk/a//c"] {
            assert!(read_token(wrong).is_none(), "{wrong}");
        }
    }
}
