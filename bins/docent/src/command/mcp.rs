//! `docent mcp`: the documents of a running service for a program on this machine that speaks the Model Context
//! Protocol over standard input and output. Each request is passed on to the service's `/mcp`.

use crate::{client::Remote, output::printable};
use anyhow::{Context, anyhow};
use docent::cli::RemoteArgs;
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use std::os::fd::AsFd;
use tokio::fs::File;

/// Serves until standard input ends.
pub(crate) async fn run(args: &RemoteArgs) -> anyhow::Result<()> {
    let bridge = Bridge { remote: Remote::open(args)? };
    // Whoever starts this sees at once when it cannot work.
    bridge.ask("tools/list", json!({})).await?;
    let (input, output) = (stream(std::io::stdin())?, stream(std::io::stdout())?);
    let serving = bridge.serve((input, output)).await.context("beginning to speak the protocol")?;
    serving.waiting().await.context("speaking the protocol")?;
    Ok(())
}

/// One of the standard streams, read and written apart from the async threads.
fn stream(stream: impl AsFd) -> anyhow::Result<File> {
    let own = stream.as_fd().try_clone_to_owned().context("opening a standard stream")?;
    Ok(File::from_std(own.into()))
}

/// Passes requests on.
struct Bridge {
    remote: Remote,
}

impl Bridge {
    /// What the service answers to a request of the protocol.
    async fn ask(&self, method: &str, params: Value) -> anyhow::Result<Value> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let answer = self.remote.post(&["mcp"], &body).await?;
        let mut answer: Value = answer.json().await.context("reading the service's answer")?;
        match answer["error"]["message"].as_str() {
            Some(message) => Err(anyhow!("{}", printable(message))),
            None => Ok(answer["result"].take()),
        }
    }
}

impl ServerHandler for Bridge {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("docent", env!("CARGO_PKG_VERSION")).with_title("Docent"))
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools =
            self.ask("tools/list", json!({})).await.and_then(|tools| Ok(serde_json::from_value(tools)?));
        tools.map_err(|error| ErrorData::internal_error(format!("{error:#}"), None))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let params = json!({ "name": request.name, "arguments": request.arguments.unwrap_or_default() });
        let result = self.ask("tools/call", params).await;
        let result = result.and_then(|result| Ok(serde_json::from_value::<CallToolResult>(result)?));
        // A model can tell people what is wrong, such as that they are to log in again.
        let failed = |error| CallToolResult::error(vec![ContentBlock::text(format!("{error:#}"))]);
        Ok(result.unwrap_or_else(failed).into())
    }
}
