//! The handler: what a client asks, and what it is answered.

use std::sync::Arc;

use deckle_agent::tools::ToolError;
use deckle_doc::Diag;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

use crate::desk::Desk;
use crate::{resources, tools};

/// How a model should work here; clients put it into their prompt.
const INSTRUCTIONS: &str = "Documents are Markdown, addressed by key (guides/quick-start). Every block has an id. Work in four steps: \
locate (search, list_documents), count (update_blocks with dry_run: true shows what would change), pin (read_document gives the ids), mutate \
(update_blocks, edit_section) with `expect` stating how many documents and blocks you mean: when a count differs, nothing is written and you are \
told what is there. What you do not name stays as it is, byte for byte. A refusal says what to do next; follow it. Your writes stand on a branch \
that a person reviews and merges.";

/// A server for one client, or for many that share a desk.
#[derive(Clone, Debug)]
pub struct Server {
    desk: Arc<Desk>,
}

impl Server {
    /// Returns a server on a desk.
    #[must_use]
    pub fn new(desk: Arc<Desk>) -> Self {
        Self { desk }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_resources().build());
        info.server_info = Implementation::new("deckle", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::shown().map(tools::tool).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::shown().find(|spec| spec.name == name).map(tools::tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !tools::shown().any(|spec| spec.name == request.name) {
            let names: Vec<&str> = tools::shown().map(|spec| spec.name).collect();
            let message = format!("there is no tool `{}`; there are: {}", request.name, names.join(" "));
            return Err(ErrorData::invalid_params(message, None));
        }
        // A call that began is not torn in the middle: cancellation is looked at before it.
        if context.ct.is_cancelled() {
            return Err(ErrorData::internal_error("the call was cancelled before it began; nothing was written", None));
        }
        let arguments = request.arguments.map_or(Value::Null, Value::Object);
        let result = match self.desk.call(&request.name, arguments).await {
            Ok((done, branch)) => tools::result(&done, branch.as_ref()),
            Err(ToolError::Refused(diag)) => tools::refusal(&diag),
            Err(ToolError::Fatal(error)) => tools::refusal(&Diag::from(&error)),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        resources::list(&self.head().await?, request).await
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(resources::read(&self.head().await?, &request.uri).await?.into())
    }
}

impl Server {
    async fn head(&self) -> Result<deckle_store::Snapshot, ErrorData> {
        self.desk.head().await.map_err(|error| ErrorData::internal_error(Diag::from(&error).to_string(), None))
    }
}
