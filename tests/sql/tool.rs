//! A tool of a flow, bound by a line of `graphc.yaml`, and calls of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use graphc::backend::bind::bind;
use graphc::base::SourceMap;
use graphc::compile::compile;
use graphc::expr::Type;
use graphc::expr::accept::accept;
use graphc::ir::Flow;
use graphc::project::config;
use graphc::run::model::CallContext;
use graphc::run::tool::{ToolBackend, ToolCall, ToolError};
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

pub struct Bound {
    flow: Flow,
    backend: Arc<dyn ToolBackend>,
}

impl Bound {
    /// The last tool that is declared, bound as the line says. Otherwise what was found wrong.
    pub fn new(declared: &str, binding: &str, folder: &Path) -> Result<Bound, Vec<String>> {
        let graph = "graph Main { state { out a: string = \"\" } start -> end }\n";
        let text = format!("{declared}\n{graph}");
        let compiled = compile("a.graph", &BTreeMap::from([("a.graph".to_owned(), text)]));
        let messages: Vec<String> = compiled
            .diagnostics
            .iter()
            .map(|d| d.message.clone())
            .collect();
        let Some(flow) = compiled.flow else {
            panic!("{messages:?}")
        };
        let name = &flow.tools.iter().last().unwrap().name;
        let mut sources = SourceMap::new();
        let yaml = format!("tools:\n  {name}: {binding}\n");
        let file = sources.add("graphc.yaml", &yaml);
        let said = |found: graphc::diag::Diagnostics| -> Vec<String> {
            found
                .iter()
                .map(|finding| finding.message.clone())
                .collect()
        };
        let config = config::load(&sources, file, None, &|_| None).map_err(said)?;
        let backends = bind(&flow, &config, None, folder).map_err(said)?;
        let backend = backends.tools.iter().last().unwrap().clone().unwrap();
        Ok(Bound { flow, backend })
    }

    /// What a call gives, of the tool's type.
    pub async fn call(&self, args: &Json, cx: &CallContext) -> Result<Json, ToolError> {
        let tool = self.flow.tools.iter().last().unwrap();
        let call = ToolCall {
            tool: tool.name.clone(),
            args: args.as_object().unwrap().clone(),
        };
        let result = self.backend.call(call, cx).await?;
        let ty = tool.returns.as_ref().unwrap_or(&Type::Json);
        let value = accept(&result, ty, &self.flow.types).unwrap_or_else(|wrong| {
            panic!("{result} is not of its type: {}", wrong[0]);
        });
        Ok(value.to_json())
    }
}

/// How a result or an error is shown.
pub fn shown(outcome: &Result<Json, ToolError>) -> String {
    match outcome {
        Ok(json) => format!("=> {json}"),
        Err(error) => format!("=> {}: {}", error.kind.word(), error.message),
    }
}

pub fn context() -> CallContext {
    CallContext {
        thread_id: "t-1".into(),
        run_id: "r-1".into(),
        node: "main".into(),
        send: None,
        ordinal: 0,
        attempt: 1,
        idempotency_key: "key-1".into(),
        rank: Vec::new(),
        timeout: Some(Duration::from_secs(60)),
        cancel: CancellationToken::new(),
        stop: CancellationToken::new(),
        memory: None,
        nested: None,
        reports: None,
        secrets: Default::default(),
        waits: Default::default(),
    }
}

/// A folder of its own.
pub fn folder(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sql-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
