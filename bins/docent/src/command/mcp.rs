//! `docent mcp`: the documents of a running service for a program on this machine that speaks the Model Context
//! Protocol over standard input and output. Each request is passed on to the service's `/mcp`.

use crate::{
    cli::RemoteArgs,
    client::{Remote, printable},
};
use anyhow::{Context, anyhow};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListToolsResult, PaginatedRequestParams, ProtocolVersion, ResultType, ServerCapabilities,
        ServerConfig,
    },
    service::{RequestContext, ServerInitializeError},
};
use serde_json::{Value, json};
use std::os::fd::AsFd;
use tokio::{fs::File, sync::Mutex};

const UNREAD: &str = "reading the service's answer";

/// Serves until standard input ends.
pub(crate) async fn run(args: &RemoteArgs) -> anyhow::Result<()> {
    let mut bridge = Bridge { remote: Mutex::new(Remote::open(args)?), instructions: None };
    // Whoever starts this sees at once when it cannot work.
    bridge.instructions = bridge.begin().await?;
    let (input, output) = (stream(std::io::stdin())?, stream(std::io::stdout())?);
    match bridge.serve((input, output)).await {
        Ok(serving) => serving.waiting().await.context("speaking the protocol").map(drop),
        // A client may have wanted to see no more than that this starts.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(error).context("beginning to speak the protocol"),
    }
}

/// One of the standard streams, read and written apart from the async threads.
fn stream(stream: impl AsFd) -> anyhow::Result<File> {
    let own = stream.as_fd().try_clone_to_owned().context("opening a standard stream")?;
    Ok(File::from_std(own.into()))
}

/// Passes requests on. One after the other: the login behind them may have to be renewed.
struct Bridge {
    remote: Mutex<Remote>,
    /// What the service tells models about its tools.
    instructions: Option<String>,
}

impl Bridge {
    /// Greets the service; gives its instructions.
    async fn begin(&self) -> anyhow::Result<Option<String>> {
        let client = json!({ "name": "docent mcp", "version": env!("CARGO_PKG_VERSION") });
        let version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let begun = self
            .ask("initialize", params)
            .await?
            .map_err(|error| anyhow!("{}", printable(&error.message)))?;
        Ok(begun["instructions"].as_str().map(str::to_owned))
    }

    /// What the service answers to a request of the protocol, or why there is no answer.
    async fn ask(&self, method: &str, params: Value) -> anyhow::Result<Result<Value, ErrorData>> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = self.remote.lock().await.post(&["mcp"], &body).await?;
        let mut answer: Value = answer.json().await.context(UNREAD)?;
        match answer["error"].take() {
            Value::Null => Ok(Ok(answer["result"].take())),
            error => Ok(Err(serde_json::from_value(error).context(UNREAD)?)),
        }
    }
}

/// What newer clients demand of a result. The service leaves it out, as it is asked by the older protocol.
fn complete(kind: Option<ResultType>) -> Option<ResultType> {
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
        let tools = self.ask("tools/list", json!({})).await.map_err(failed)??;
        let mut tools: ListToolsResult = serde_json::from_value(tools).context(UNREAD).map_err(failed)?;
        tools.result_type = complete(tools.result_type);
        Ok(tools)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let params = json!({ "name": request.name, "arguments": request.arguments.unwrap_or_default() });
        let result = match self.ask("tools/call", params).await {
            Ok(result) => serde_json::from_value::<CallToolResult>(result?).context(UNREAD),
            Err(error) => Err(error),
        };
        // A model can tell people what is wrong, such as that they are to log in again.
        let failed = |error| CallToolResult::error(vec![ContentBlock::text(format!("{error:#}"))]);
        let mut result = result.unwrap_or_else(failed);
        result.result_type = complete(result.result_type);
        Ok(result.into())
    }
}
