//! Calls that must not be made twice and were cut off while they were under way: by a timeout of their node, of a node
//! that calls its graph, or of the run. The journal keeps how, so that the question about such a call can say it.

use std::sync::{Mutex, PoisonError};

use serde_json::json;

use super::context::RunContext;
use super::error::RunError;
use super::request::Request;
use super::work::retry::Failure;

/// Calls that were cut off, until it is kept by what.
#[derive(Default)]
pub struct CutOff(Mutex<Vec<Cut>>);

/// A call under way.
#[derive(Debug, Clone)]
pub struct Cut {
    /// The task.
    pub task: String,
    /// Id of the failed attempt, were it one.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// What it is asked with.
    pub request: Request,
}

/// Notes a call as cut off where it is dropped before the call has ended.
pub struct UnderWay<'c> {
    among: &'c CutOff,
    call: Option<Cut>,
}

impl UnderWay<'_> {
    /// The call has ended.
    pub fn ended(mut self) {
        self.call = None;
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if let Some(call) = self.call.take() {
            let mut cut = self.among.0.lock();
            let cut = cut.as_mut().unwrap_or_else(PoisonError::get_mut);
            cut.push(call);
        }
    }
}

impl CutOff {
    /// Watches over a call that begins.
    pub fn watch(&self, call: Cut) -> UnderWay<'_> {
        UnderWay {
            among: self,
            call: Some(call),
        }
    }

    /// Keeps of the calls that were cut off, of a task and of the graphs that it calls or else of all, that `error` was why.
    pub fn settle(&self, cx: &RunContext, task: Option<&str>, error: &RunError) {
        let is_of = |cut: &mut Cut| {
            task.is_none_or(|task| {
                let rest = cut.task.strip_prefix(task);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        let mut cut = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of: Vec<Cut> = cut.extract_if(.., is_of).collect();
        drop(cut);
        for cut in of {
            let failure = Failure {
                in_doubt: Some(true),
                ..error.clone().into()
            };
            let outcome = cut.request.noted(json!({ "failed": failure.to_kept() }));
            cx.journal
                .effect(&cut.task, cut.id, "tool", &cut.tool, outcome);
        }
    }
}
