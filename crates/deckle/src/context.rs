//! What a command works in: the workspace, its dialect, the model.

use std::path::Path;
use std::sync::Arc;

use deckle_agent::models::anthropic::Anthropic;
use deckle_agent::models::openai::OpenAi;
use deckle_agent::models::script::Script;
use deckle_agent::view::View;
use deckle_agent::{Model, ModelError, ModelSpec};
use deckle_doc::{Diag, Dialect, DocKey};
use deckle_edit::Config;
use deckle_server::turns::LEASE;
use deckle_server::{Turns, TurnsConfig};
use deckle_store::{Actor, BranchId, InitOptions, Notices, Snapshot, Store, StoreError, Tenant, Workspace, WorkspaceId};

use crate::arguments::Arguments;
use crate::failure::Failure;

/// Opens the workspace of a folder, or of the database that is named; a folder that is none yet becomes one.
pub async fn open(arguments: &Arguments) -> Result<Workspace, Failure> {
    if let Some(url) = &arguments.database {
        return in_database(url, &WorkspaceId::parse(&arguments.workspace)?).await;
    }
    let directory = &arguments.directory;
    if Workspace::is_workspace(directory) || in_workspace(directory) {
        let mut workspace = Workspace::open(directory).await?;
        if let Some(dialect) = asked_dialect()?.filter(|dialect| *dialect != workspace.dialect()) {
            workspace.set_dialect(dialect).await?;
        }
        return Ok(workspace);
    }
    make(directory, InitOptions::default()).await
}

/// Opens a workspace of a database. Local use is one tenant.
async fn in_database(url: &str, id: &WorkspaceId) -> Result<Workspace, Failure> {
    let store = Store::open(url).await?;
    let tenant = Tenant::local();
    let mut workspace = match store.workspace(&tenant, id).await {
        Err(StoreError::NotFound { .. }) => match store.create_workspace(&tenant, id, &Actor::local()).await {
            // Another process made it since we looked.
            Err(StoreError::Exists { .. }) => store.workspace(&tenant, id).await?,
            made => made?,
        },
        found => found?,
    };
    if let Some(dialect) = asked_dialect()?.filter(|dialect| *dialect != workspace.dialect()) {
        workspace.set_dialect(dialect).await?;
    }
    Ok(workspace)
}

/// Makes a folder a workspace, in the dialect that most of its documents are written in. It is found once, here, so that every
/// later command, the store's block ids and the review read the same blocks; and so that a command about one document reads one.
pub async fn make(directory: &Path, options: InitOptions) -> Result<Workspace, Failure> {
    let known = Workspace::is_workspace(directory);
    let mut workspace = Workspace::init(directory, options).await?;
    let dialect = match asked_dialect()? {
        Some(dialect) => dialect,
        None if known => return Ok(workspace),
        None => detect(workspace.snapshot().await?.documents().await?.iter().map(|document| &*document.text)),
    };
    if dialect != workspace.dialect() {
        workspace.set_dialect(dialect).await?;
    }
    Ok(workspace)
}

/// Whether a folder above is a workspace.
fn in_workspace(directory: &Path) -> bool {
    directory.canonicalize().is_ok_and(|path| path.ancestors().skip(1).any(Workspace::is_workspace))
}

/// What the workspace says about itself in `deckle.toml`; without the file, nothing.
pub fn config(workspace: &Workspace) -> Result<Config, Failure> {
    let Some(folder) = workspace.folder() else { return Ok(Config::default()) };
    match std::fs::read_to_string(folder.join("deckle.toml")) {
        Ok(text) => Ok(Config::parse(&text)?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Config::default()),
        Err(error) => Err(error.into()),
    }
}

/// The snapshot to read: a branch, or the folder as it is now.
pub async fn snapshot(workspace: &Workspace, branch: Option<&str>) -> Result<Snapshot, Failure> {
    match branch {
        Some(name) => Ok(workspace.branch(&BranchId::parse(name)?).await?.head().await?),
        None => Ok(workspace.snapshot().await?),
    }
}

/// The dialect that `DECKLE_DIALECT` asks for; the workspace keeps it from then on.
fn asked_dialect() -> Result<Option<Dialect>, Failure> {
    let Ok(name) = std::env::var("DECKLE_DIALECT") else { return Ok(None) };
    let dialect = Dialect::named(&name).ok_or_else(|| {
        Failure::from(
            Diag::new("usage", format!("`DECKLE_DIALECT` is `{name}`"))
                .hint("there are: generic vitepress docusaurus mkdocs obsidian myst"),
        )
    })?;
    Ok(Some(dialect))
}

/// Counts the marks of each dialect, line by line outside fences.
pub fn detect<'t>(texts: impl Iterator<Item = &'t str>) -> Dialect {
    let mut counts = [0_usize; 6];
    for line in texts.flat_map(str::lines) {
        let line = line.trim_start();
        let found = if line.starts_with("::: ") && line.len() > 4 {
            Dialect::VitePress
        } else if line.starts_with("!!! ") || line.starts_with("??? ") || line.starts_with("???+ ") {
            Dialect::MkDocs
        } else if line.starts_with("```{") && line.ends_with('}') {
            Dialect::Myst
        } else if line.starts_with("> [!")
            && !["> [!NOTE]", "> [!TIP]", "> [!WARNING]", "> [!IMPORTANT]", "> [!CAUTION]"].contains(&line)
        {
            Dialect::Obsidian
        } else {
            continue;
        };
        let place = Dialect::ALL.iter().position(|dialect| *dialect == found).unwrap_or(0);
        if let Some(count) = counts.get_mut(place) {
            *count += 1;
        }
    }
    let best = counts.iter().enumerate().max_by_key(|(_, count)| **count).filter(|(_, count)| **count > 0);
    best.and_then(|(place, _)| Dialect::ALL.get(place).copied()).unwrap_or_default()
}

/// Loads documents: all, or the named ones.
pub async fn view(snapshot: &Snapshot, keys: Option<&[DocKey]>, dialect: Dialect) -> Result<View, Failure> {
    Ok(match keys {
        Some(keys) => View::some(snapshot, keys, dialect).await?,
        None => View::all(snapshot, dialect).await?,
    })
}

/// The model that the environment names.
pub fn model() -> Result<Arc<dyn Model>, ModelError> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let spec = ModelSpec::parse(&variable("DECKLE_MODEL").ok_or(ModelError::NotConfigured)?)?;
    Ok(match spec {
        ModelSpec::Anthropic(name) => {
            let key = variable("ANTHROPIC_API_KEY").ok_or(ModelError::NoKey { variable: "ANTHROPIC_API_KEY" })?;
            let base = variable("DECKLE_MODEL_URL").unwrap_or_else(|| "https://api.anthropic.com".into());
            Arc::new(Anthropic::new(&name, &base, &key)?)
        }
        ModelSpec::OpenAi(name) => {
            let base = variable("DECKLE_MODEL_URL");
            let key = variable("OPENAI_API_KEY");
            // A local server needs no key.
            if base.is_none() && key.is_none() {
                return Err(ModelError::NoKey { variable: "OPENAI_API_KEY" });
            }
            let base = base.unwrap_or_else(|| "https://api.openai.com/v1".into());
            Arc::new(OpenAi::new(&name, &base, &key.unwrap_or_default())?)
        }
        ModelSpec::Script(file) => {
            let text = std::fs::read_to_string(&file)
                .map_err(|error| ModelError::Script { file: file.clone(), message: error.to_string() })?;
            Arc::new(Script::parse(&file, &text)?)
        }
    })
}

/// The turns of a workspace, with a model or without.
pub async fn turns(workspace: &Workspace, model: Option<Arc<dyn Model>>) -> Result<Turns, Failure> {
    Ok(Turns::new(turns_config(workspace, model).await?))
}

/// What the turns of a workspace need when one process runs them.
pub async fn turns_config(workspace: &Workspace, model: Option<Arc<dyn Model>>) -> Result<TurnsConfig, Failure> {
    let snapshot = workspace.snapshot().await?;
    let name = workspace
        .folder()
        .and_then(|folder| folder.file_name())
        .map_or_else(|| "workspace".to_owned(), |name| name.to_string_lossy().into_owned());
    Ok(TurnsConfig {
        workspace: workspace.clone(),
        model,
        name,
        dialect: snapshot.dialect(),
        actor: Actor::local(),
        notices: Notices::local(),
        lease: LEASE,
        resume: false,
        config: config(workspace)?,
    })
}
