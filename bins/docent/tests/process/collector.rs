//! A trace collector: the receiving side of OTLP over gRPC.

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::task::JoinHandle;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};

/// A running collector, stopped when dropped.
pub(crate) struct Collector {
    address: SocketAddr,
    received: Received,
    server: JoinHandle<()>,
}

#[derive(Clone, Default)]
struct Received(Arc<Mutex<Vec<ExportTraceServiceRequest>>>);

#[tonic::async_trait]
impl TraceService for Received {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.0.lock().unwrap().push(request.into_inner());
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Collector {
    /// Starts a collector on a free port.
    pub(crate) fn start() -> Self {
        let incoming = TcpIncoming::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = incoming.local_addr().unwrap();
        let received = Received::default();
        let service = TraceServiceServer::new(received.clone());
        let serving = Server::builder().add_service(service).serve_with_incoming(incoming);
        let server = tokio::spawn(async move { serving.await.unwrap() });
        Self { address, received, server }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Everything received, as text: names, attributes, events, links and resources.
    pub(crate) fn dump(&self) -> String {
        format!("{:?}", self.received.0.lock().unwrap())
    }

    /// The resource attributes of the sender.
    pub(crate) fn resource(&self) -> Vec<KeyValue> {
        let received = self.received.0.lock().unwrap();
        received[0].resource_spans[0].resource.clone().unwrap().attributes
    }

    /// The spans of a trace, ordered by start time.
    pub(crate) fn trace(&self, id: &str) -> Vec<Span> {
        let received = self.received.0.lock().unwrap();
        let scopes = received.iter().flat_map(|request| &request.resource_spans).flat_map(|r| &r.scope_spans);
        let mut spans: Vec<_> =
            scopes.flat_map(|scope| &scope.spans).filter(|span| hex(&span.trace_id) == id).cloned().collect();
        spans.sort_by_key(|span| span.start_time_unix_nano);
        spans
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.server.abort();
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The value of an attribute as text; empty if missing.
pub(crate) fn attribute(attributes: &[KeyValue], key: &str) -> String {
    let found = attributes.iter().find(|attribute| attribute.key == key);
    match found.and_then(|attribute| attribute.value.as_ref()?.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        Some(other) => format!("{other:?}"),
        None => String::new(),
    }
}
