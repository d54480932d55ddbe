//! The constants of a run: what a graph's `context` asks of whoever starts it.

use serde_json::{Map as JsonMap, Value as Json};

use crate::base::name::{closest, list};
use crate::expr::accept::accept_fields;
use crate::ir::Graph;
use crate::run::store::ThreadImage;
use crate::value::Value;

use super::{Engine, Gone, StartError};

impl Engine {
    /// The context of a new run, checked as its input is.
    pub(super) fn context_given(&self, graph: &Graph, given: &Json) -> Result<Value, StartError> {
        let none = JsonMap::new();
        let given = match given {
            Json::Null => &none,
            Json::Object(given) => given,
            _ => {
                let message = "the context must be a JSON object of the graph's `context` fields";
                return Err(StartError::refused(message));
            }
        };
        self.constants(graph, given)
            .map_err(|problems| StartError::refused(problems.join("\n")))
    }

    /// The context that a run began with, in this version of the flow.
    pub(super) fn context_kept(
        &self,
        graph: &Graph,
        image: &ThreadImage,
    ) -> Result<Value, StartError> {
        let mut kept = image
            .status
            .context
            .as_object()
            .cloned()
            .unwrap_or_default();
        // A constant that the flow does not ask for any more is no longer of use.
        kept.retain(|name, _| graph.context.iter().any(|field| field.name == *name));
        let renamed = graph.context.iter().filter_map(|field| {
            let value = kept.remove(&field.name)?;
            Some((field.outer_name().to_owned(), value))
        });
        let kept = renamed.collect();
        self.constants(graph, &kept).map_err(|problems| {
            let message = format!(
                "the flow has changed since the thread's run began, and asks for other constants: {}",
                problems.join("; ")
            );
            StartError::Version {
                message,
                gone: Gone::Other,
            }
        })
    }

    fn constants(
        &self,
        graph: &Graph,
        given: &JsonMap<String, Json>,
    ) -> Result<Value, Vec<String>> {
        let names = || graph.context.iter().map(|field| field.outer_name());
        let mut problems = Vec::new();
        // Constants that are there, misspelt: they are not missing as well.
        let mut meant = Vec::new();
        for name in given.keys() {
            if names().any(|known| known == name) {
                continue;
            }
            let open = names().filter(|known| !given.contains_key(*known));
            let hint = match closest(name, open) {
                Some(close) => {
                    meant.push(close);
                    format!("; did you mean `{close}`?")
                }
                None if graph.context.is_empty() => "; it declares no `context`".to_owned(),
                None => format!("; it takes {}", list(names())),
            };
            problems.push(format!(
                "graph `{}` takes no context `{name}`{hint}",
                graph.name
            ));
        }
        let missing = graph.context.iter().filter(|field| field.required());
        let given_as = |name: &str| given.contains_key(name) || meant.contains(&name);
        for field in missing.filter(|field| !given_as(field.outer_name())) {
            problems.push(format!("context `{}` is missing", field.outer_name()));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let json = Json::Object(given.clone());
        accept_fields(&json, &graph.context, &self.plan.flow.types).map_err(|wrong| {
            let wrong = wrong.lines().map(|mismatch| format!("context {mismatch}"));
            wrong.collect()
        })
    }
}
