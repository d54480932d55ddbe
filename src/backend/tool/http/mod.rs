//! `http` tools: a request made of templates over the arguments, and the part of the reply that is
//! the result.
//!
//! What is asked is an [`HttpSpec`], whose `template` fills in the arguments; `parts` reads a reply that reports before its result.

mod parts;

use std::sync::Arc;

use async_trait::async_trait;
use reqwest::header::CONTENT_TYPE;
use reqwest::{RequestBuilder, Response, Url};
use serde_json::Value as Json;
use tracing::warn;

use crate::backend::wire::{self, Bounds, Failure, Peer, Wire};
use crate::base::log::HTTP;
use crate::ir::ErrorKind;
use crate::project::spec::http::HttpSpec;
use crate::project::spec::http::host::{self, Allowed};
use crate::project::spec::http::template::{Address, Renderer};
use crate::run::model::CallContext;
use crate::run::probe::{Probed, Problem};
use crate::run::tool::{ToolBackend, ToolCall, ToolError};

use parts::Parts;

/// Most bytes of a reply.
const LIMIT: usize = 16 << 20;

/// A request as a tool.
pub struct HttpTool {
    spec: HttpSpec,
    wire: Arc<Wire>,
}

impl HttpTool {
    /// A request over a shared client.
    pub fn new(spec: HttpSpec, wire: Arc<Wire>) -> Self {
        Self { spec, wire }
    }

    fn request(&self, call: &ToolCall, cx: &CallContext) -> Result<RequestBuilder, Failure> {
        let fill = Renderer::new(&call.args, &cx.secrets);
        // The arguments are the model's, and so is the fault.
        let bad = |why: String| {
            let why = self.spec.secrets.scrub(&why);
            Failure::new(
                ErrorKind::ToolError,
                format!("the request of `{}` can't be made: {why}", call.tool),
            )
        };
        let Address {
            mut url,
            host_filled,
        } = fill.url(&self.spec.url).map_err(|why| {
            warn!(target: HTTP, tool = call.tool, "address refused");
            bad(why)
        })?;
        let client = match host_filled {
            false => self.wire.client()?,
            true => match self.allowed(&url, &call.tool).map_err(bad)? {
                Allowed::Named => self.wire.client()?,
                Allowed::IfPublic => self.wire.public_client()?,
            },
        };
        for (name, value) in &self.spec.query {
            let values = fill.json(value).map_err(bad)?;
            for (name, value) in pairs(name, values) {
                url.query_pairs_mut().append_pair(&name, &value);
            }
        }
        let mut request = client.request(self.spec.method.clone(), url);
        let mut typed = false;
        for (name, value) in &self.spec.headers {
            typed |= name.eq_ignore_ascii_case(CONTENT_TYPE.as_str());
            request = request.header(name, fill.text(value).map_err(bad)?);
        }
        if !cx.idempotency_key.is_empty() {
            request = request.header("Idempotency-Key", wire::key(&cx.idempotency_key));
        }
        Ok(match &self.spec.body {
            None => request,
            Some(body) => match fill.json(body).map_err(bad)? {
                Json::String(text) => request.body(text),
                json if typed => request.body(json.to_string()),
                json => request.json(&json),
            },
        })
    }

    /// How a host that arguments have filled in may be reached.
    fn allowed(&self, url: &Url, tool: &str) -> Result<Allowed, String> {
        host::allowed(url, &self.spec.hosts).inspect_err(|_| {
            let host = url.host_str();
            warn!(target: HTTP, tool, host, "host refused");
        })
    }

    async fn ask(&self, call: &ToolCall, cx: &CallContext) -> Result<Json, Failure> {
        let peer = Peer {
            name: &call.tool,
            secrets: &self.spec.secrets,
        };
        let bounds = Bounds::new(cx, self.spec.timeout);
        let request = self.request(call, cx)?;
        let response = wire::send(request, peer, &bounds).await;
        let response = response.map_err(|mut failure| {
            // A refused request is the tool saying no; the arguments are the model's.
            if failure.kind == ErrorKind::InvalidRequest {
                failure.kind = ErrorKind::ToolError;
            }
            failure
        })?;
        if let (Some(reports), Some(parts)) = (&cx.reports, Parts::of(&response)) {
            let json = parts::read(response, parts, peer, &bounds, reports).await?;
            return self.result(call, json);
        }
        let text_wanted = self.spec.result.is_none() && is_text(&response);
        let bytes = wire::body(response, LIMIT, peer, &bounds).await?;
        if bytes.trim_ascii().is_empty() {
            return Ok(Json::Null);
        }
        let unusable = |why: String| Failure::new(ErrorKind::InvalidOutput, why);
        let json: Json = match serde_json::from_slice(&bytes) {
            Ok(json) => json,
            Err(_) if text_wanted => String::from_utf8_lossy(&bytes).into(),
            Err(error) => {
                let begins = peer.excerpt(&String::from_utf8_lossy(&bytes));
                let name = &call.tool;
                return Err(unusable(format!(
                    "`{name}` answered no JSON ({error}); it begins: {begins}"
                )));
            }
        };
        self.result(call, json)
    }

    /// The part of a reply that is the result.
    fn result(&self, call: &ToolCall, json: Json) -> Result<Json, Failure> {
        match &self.spec.result {
            None => Ok(json),
            Some(selector) => selector.of(&json).cloned().ok_or_else(|| {
                let why = format!("the reply of `{}` has no `{selector}`", call.tool);
                Failure::new(ErrorKind::InvalidOutput, why)
            }),
        }
    }
}

fn is_text(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    kind.and_then(|kind| kind.to_str().ok())
        .is_some_and(|kind| kind.starts_with("text/"))
}

fn pairs(name: &str, value: Json) -> Vec<(String, String)> {
    let text = |value: Json| match value {
        Json::String(text) => text,
        other => other.to_string(),
    };
    match value {
        Json::Null => Vec::new(),
        Json::Array(values) => {
            let values = values.into_iter();
            values.map(|v| (name.to_owned(), text(v))).collect()
        }
        value => vec![(name.to_owned(), text(value))],
    }
}

#[async_trait]
impl ToolBackend for HttpTool {
    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        Ok(self.ask(&call, cx).await?)
    }

    /// Connects. No request is sent, which could have an effect.
    async fn probe(&self) -> Probed {
        if host::is_filled_in(&self.spec.url) {
            return Probed::Skipped("arguments make up its host".to_owned());
        }
        let fixed = self.spec.url.split(['{', '?', '#']).next();
        let url = match Url::parse(fixed.unwrap_or_default()) {
            Ok(url) => url,
            Err(error) => {
                let message = format!("its `url` is no address: {error}");
                return Problem::missing(message).into();
            }
        };
        let host = url.host_str().unwrap_or_default();
        let peer = Peer {
            name: host,
            secrets: &self.spec.secrets,
        };
        let bounds = Bounds::of(wire::PROBE);
        match self.wire.connect(&url, peer, &bounds).await {
            Ok(()) => {
                let port = url.port_or_known_default().unwrap_or_default();
                let shown = format!("{host}:{port} takes connections");
                Probed::Ok(peer.secrets.scrub(&shown))
            }
            Err(failure) => failure.problem().into(),
        }
    }
}
