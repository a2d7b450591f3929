//! The names of things: each a type of its own, checked once, at the edge.

use std::fmt;
use std::sync::Arc;

use crate::error::StoreError;

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident, $what:literal, $rule:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            #[doc = concat!("Parses a ", $what, ": ", $rule, ".")]
            ///
            /// # Errors
            /// When the text breaks that rule.
            pub fn parse(text: &str) -> Result<Self, StoreError> {
                let check: fn(&str) -> bool = $check;
                if check(text) {
                    Ok(Self(text.into()))
                } else {
                    Err(StoreError::Name { what: $what, name: text.into(), rule: $rule })
                }
            }

            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

/// Letters, digits and `-_.:@`, as every id that travels in URLs and logs has them.
fn is_token(text: &str) -> bool {
    (1..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:@".contains(&byte))
}

/// What git accepts below `refs/heads/`, narrowed to characters that need no quoting.
fn is_branch_name(text: &str) -> bool {
    (1..=100).contains(&text.len())
        && text != "main"
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte))
        && text.split('/').all(|part| {
            !part.is_empty()
                && !part.starts_with(['.', '-'])
                && !part.ends_with('.')
                && !part.ends_with(".lock")
                && !part.contains("..")
        })
}

name_type! {
    /// The owner of everything below it. No query can be built without one, and no text is one:
    ///
    /// ```
    /// let theirs = deckle_store::Tenant::parse("acme")?;
    /// # Ok::<(), deckle_store::StoreError>(())
    /// ```
    /// ```compile_fail,E0423
    /// let theirs = deckle_store::Tenant("acme".into());
    /// ```
    /// ```compile_fail,E0308
    /// # use deckle_store::{Store, WorkspaceId};
    /// async fn read(store: Store, id: WorkspaceId) { let _ = store.workspace("acme", &id).await; }
    /// ```
    Tenant, "tenant", "1 to 128 letters, digits or `-_.:@`", is_token
}
name_type! {
    /// One corpus of one tenant.
    WorkspaceId, "workspace", "1 to 128 letters, digits or `-_.:@`", is_token
}
name_type! {
    /// The name of a branch, which is also its id; main is not one.
    BranchId, "branch name", "1 to 100 letters, digits or `-_./`, not `main`, no part that is empty or begins with `.` or `-`",
    is_branch_name
}
name_type! {
    /// One run of an agent.
    RunId, "run id", "1 to 128 letters, digits or `-_.:@`", is_token
}
name_type! {
    /// One tool call inside a run. The pair of run and call makes a write happen once.
    CallId, "call id", "1 to 128 letters, digits or `-_.:@`", is_token
}
name_type! {
    /// One conversation.
    SessionId, "session id", "1 to 128 letters, digits or `-_.:@`", is_token
}
name_type! {
    /// One request of a conversation, to its end.
    TurnId, "turn id", "1 to 128 letters, digits or `-_.:@`", is_token
}
name_type! {
    /// A person, as the rights know them.
    UserId, "user", "1 to 128 letters, digits or `-_.:@`", is_token
}
name_type! {
    /// A group of users with rights and a quota.
    TeamId, "team", "1 to 128 letters, digits or `-_.:@`", is_token
}

impl Tenant {
    /// The one tenant of local use.
    pub fn local() -> Self {
        Self("local".into())
    }
}

impl WorkspaceId {
    /// The one workspace of a folder.
    pub fn folder() -> Self {
        Self("folder".into())
    }
}

/// Who does something: a person, or an agent on a person's behalf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// The person who answers for it.
    pub person: UserId,
    /// The agent that acts for the person; none when the person acts.
    pub agent: Option<String>,
}

impl Actor {
    /// The one owner of local use.
    pub fn local() -> Self {
        Self { person: UserId("owner".into()), agent: None }
    }

    /// A person.
    pub fn person(person: UserId) -> Self {
        Self { person, agent: None }
    }

    /// The same person's agent.
    #[must_use]
    pub fn agent(&self, name: &str) -> Self {
        Self { person: self.person.clone(), agent: Some(name.to_owned()) }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.agent {
            Some(agent) => write!(f, "{agent} for {}", self.person),
            None => write!(f, "{}", self.person),
        }
    }
}

/// A moment: milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Returns whole seconds.
    pub fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// Returns the moment this much later.
    #[must_use]
    pub fn plus(self, duration: std::time::Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }
}

/// Where the store reads the time: the system's clock, or one that a test moves.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The system's clock.
    pub fn system() -> Self {
        Self(Arc::new(|| {
            let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
        }))
    }

    /// A clock that calls a function.
    pub fn from_fn(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Returns the time.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branch_names_are_safe_in_git_and_never_main() {
        for good in ["fix-links", "agent/2026-01-01", "a.b_c"] {
            assert!(BranchId::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "main", "a b", "../x", "a//b", "/a", "a/", "-x", ".x", "a..b", "x.lock", "a/.b", "é", "a~1", "a:b"] {
            assert!(BranchId::parse(bad).is_err(), "{bad}");
        }
    }
}
