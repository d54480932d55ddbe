//! `--online`: asks what the settings bind whether calls would find what they need.
//!
//! A backend says so itself ([`ToolBackend::probe`](crate::run::tool::ToolBackend::probe)); here all of a flow are asked at the same time, and each finding gets the
//! place of its binding.

use std::path::Path;

use futures_util::future::join_all;

use crate::backend::bind::bound_tools;
use crate::backend::config::Config;
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::Flow;

use super::super::Failure;
use super::super::run::process;

/// What does not answer, or fits what a flow declares in nothing. `folder` is that of the settings.
///
/// # Errors
/// Where no thread can be started.
pub fn probe(flow: &Flow, config: &Config, folder: &Path) -> Result<Diagnostics, Failure> {
    let tools = bound_tools(flow, config, folder);
    let runtime = process::runtime()?;
    let answers = runtime.block_on(async {
        let asked = tools
            .iter()
            .map(async |(span, tool)| (*span, tool.probe().await));
        let answers = join_all(asked).await;
        join_all(tools.iter().map(|(_, tool)| tool.close())).await;
        answers
    });
    let mut found = Diagnostics::new();
    for (span, answer) in answers {
        for why in answer.err().into_iter().flatten() {
            let span = span.unwrap_or_default();
            found.push(finding(why, span));
        }
    }
    Ok(found)
}

fn finding(message: String, span: Span) -> Diagnostic {
    Diagnostic::new(&codes::INVALID_CONFIG, message, span)
}
