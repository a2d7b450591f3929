//! The run as a state machine, tools, history repair, models.
//!
//! [`Run`](run::Run) has no clock, no socket and no task: it is handed what happened and says what to do next. [`drive`](drive::drive) performs that
//! against a model, the tools and a journal. A process may die at any point; [`history::repair`] and the store's record of calls let another go on.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod chat;
pub mod drive;
pub mod history;
pub mod models;
pub mod prompt;
pub mod run;
pub mod tools;
pub mod view;

pub use chat::{ChatMessage, ToolCall};
pub use models::{Model, ModelError, ModelSpec};
