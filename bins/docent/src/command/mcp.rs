//! `docent mcp`: an MCP server on standard input and output that forwards requests to `/mcp` of a running service.

use crate::client::ServiceClient;
use crate::output::sanitize;
use anyhow::{Context, anyhow};
use docent::cli::RemoteArgs;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ResultType, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use std::os::fd::AsFd;
use tokio::fs::File;

const READING: &str = "reading the response";

/// Serves until standard input ends.
pub(crate) async fn run(args: &RemoteArgs) -> anyhow::Result<()> {
    let mut bridge = Bridge { client: ServiceClient::open(args)?, instructions: None };
    // Fails before the protocol starts if the service cannot be used.
    bridge.instructions = bridge.initialize().await?;
    let (input, output) = (async_stream(std::io::stdin())?, async_stream(std::io::stdout())?);
    match bridge.serve((input, output)).await {
        Ok(server) => server.waiting().await.context("running the MCP server").map(drop),
        // The client closed the connection before initializing, for example to test the command.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(error).context("starting the MCP server"),
    }
}

/// Wraps a standard stream for async use; reads and writes run on blocking threads.
fn async_stream(stream: impl AsFd) -> anyhow::Result<File> {
    let own = stream.as_fd().try_clone_to_owned().context("opening a standard stream")?;
    Ok(File::from_std(own.into()))
}

/// Forwards requests to the service.
struct Bridge {
    client: ServiceClient,
    /// The service's instructions for models.
    instructions: Option<String>,
}

impl Bridge {
    /// Initializes the session and returns the service's instructions.
    async fn initialize(&self) -> anyhow::Result<Option<String>> {
        let client = json!({ "name": "docent mcp", "version": env!("CARGO_PKG_VERSION") });
        let version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let result = self
            .call("initialize", params)
            .await?
            .map_err(|error| anyhow!("{}", sanitize(&error.message)))?;
        Ok(result["instructions"].as_str().map(str::to_owned))
    }

    /// Calls a method of the service; returns its result or the JSON-RPC error.
    async fn call(&self, method: &str, params: Value) -> anyhow::Result<Result<Value, ErrorData>> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let response = self.client.post(&["mcp"], &body).await?;
        let mut response: Value = response.json().await.context(READING)?;
        match response["error"].take() {
            Value::Null => Ok(Ok(response["result"].take())),
            error => Ok(Err(serde_json::from_value(error).context(READING)?)),
        }
    }
}

/// Adds the result type that newer clients require. The service leaves it out, because it is called with an older
/// protocol version.
fn with_type(kind: Option<ResultType>) -> Option<ResultType> {
    kind.or(Some(ResultType::COMPLETE))
}

impl ServerHandler for Bridge {
    fn get_info(&self) -> ServerConfig {
        let mut config = ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("docent", env!("CARGO_PKG_VERSION")).with_title("Docent"));
        config.instructions.clone_from(&self.instructions);
        config
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let failed = |error| ErrorData::internal_error(format!("{error:#}"), None);
        let tools = self.call("tools/list", json!({})).await.map_err(failed)??;
        let mut tools: ListToolsResult = serde_json::from_value(tools).context(READING).map_err(failed)?;
        tools.result_type = with_type(tools.result_type);
        Ok(tools)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let params = json!({ "name": request.name, "arguments": request.arguments.unwrap_or_default() });
        let result = match self.call("tools/call", params).await {
            Ok(result) => serde_json::from_value::<CallToolResult>(result?).context(READING),
            Err(error) => Err(error),
        };
        // As a tool result the model can pass the error on, for example that a login is required.
        let failed = |error| CallToolResult::error(vec![ContentBlock::text(format!("{error:#}"))]);
        let mut result = result.unwrap_or_else(failed);
        result.result_type = with_type(result.result_type);
        Ok(result.into())
    }
}
