//! Scores that a model gives, or a graph of the flow: a run of its own, with what was judged as its input.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json};

use crate::backend::scenario::{Script, Start};
use crate::compile::compile;
use crate::diag::Level;
use crate::expr::Type;
use crate::ir::{Flow, GraphId, Model};
use crate::run::ambient::SystemAmbient;
use crate::run::engine::{Engine, RunOptions};
use crate::run::plan::{Plan, plan};
use crate::run::store::RunState;

use crate::evaluate::scope::NAMES;

use super::{Given, Judged, Replies};

/// Files of the flow that asks a model.
const FLOW: &str = "grade.graph";
const PROMPT: &str = "prompt";
const SYSTEM: &str = "system";

/// What a grader may be given, by name.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    NAMES.into_iter().chain(["state"])
}

/// A graph that grades.
pub struct Grader {
    plan: Arc<Plan>,
    graph: GraphId,
    /// Names that it takes.
    takes: BTreeSet<String>,
    /// Whether it was made of a model and a prompt.
    is_model: bool,
}

impl Grader {
    /// A graph of the flow: its `in` fields are named as what it is given, of its `out` fields `score` is the score and `reason`
    /// its reason.
    ///
    /// # Errors
    /// Why the graph can't be one, in words.
    pub fn of_graph(flow: &Arc<Flow>, named: &str) -> Result<Self, String> {
        let Some(id) = flow.graph(named) else {
            return Err(format!("the flow has no graph `{named}`"));
        };
        let fields = || {
            flow.graphs
                .get(id)
                .into_iter()
                .flat_map(|graph| &graph.fields)
        };
        let takes = fields().filter(|field| field.mode.is_in());
        if let Some(other) = takes.clone().find(|field| {
            let needs = field.default.is_none() && field.channel.begins_with(&field.ty).is_none();
            needs && !names().any(|name| name == field.name)
        }) {
            return Err(format!(
                "graph `{named}` needs `{}`, and a grader is given {}",
                other.name,
                crate::base::name::list(names())
            ));
        }
        let score = fields().find(|field| field.mode.is_out() && field.name == "score");
        let is_number = |ty: &Type| matches!(ty, Type::Float | Type::Int | Type::Bool | Type::Json);
        if !score.is_some_and(|score| is_number(&score.ty)) {
            return Err(format!(
                "graph `{named}` has no `out score: float`: what it gives is no score"
            ));
        }
        let takes = takes.map(|field| field.name.clone());
        let takes = takes.filter(|name| names().any(|known| known == name));
        Ok(Self {
            takes: takes.collect(),
            plan: Arc::new(plan(Arc::clone(flow)).map_err(|error| error.to_string())?),
            graph: id,
            is_model: false,
        })
    }

    /// A model that is asked for a score and a reason. The prompt's names are those of [`names`].
    ///
    /// # Errors
    /// What is wrong with the prompt, in words.
    pub fn of_model(model: Model, prompt: &str, system: Option<&str>) -> Result<Self, String> {
        let flow = asking(model, prompt, system)?;
        let graph = flow.entry.ok_or("there is no graph")?;
        Ok(Self {
            plan: Arc::new(plan(Arc::new(flow)).map_err(|error| error.to_string())?),
            graph,
            takes: names().map(str::to_owned).collect(),
            is_model: true,
        })
    }

    /// Its word in YAML.
    pub fn word(&self) -> &'static str {
        match self.is_model {
            true => "model",
            false => "graph",
        }
    }

    /// Grades a run.
    pub async fn grade(&self, scorer: &str, judged: &Judged<'_>) -> Given {
        let flow = &self.plan.flow;
        let own = || {
            let suite = judged.row.scorer_suite(scorer)?;
            Script::new(&suite, 0, Start::Run)
        };
        let script = match judged.replies {
            Replies::All => own().or_else(|| Script::new(judged.row.suite(), 0, Start::Run)),
            Replies::Own => own(),
            Replies::None => None,
        };
        let backends = match &script {
            Some(script) => judged.outside.play(flow, script),
            None => judged.outside.reach(flow, self.graph, &[]),
        };
        let backends = backends.map_err(|found| {
            let first = found.iter().next();
            first.map_or_else(String::new, |found| found.message.clone())
        })?;
        let engine = Engine {
            plan: Arc::clone(&self.plan),
            backends,
            store: None,
            ambient: Arc::new(SystemAmbient),
        };
        let given = judged.values.to_json(&judged.played.state);
        let given: JsonMap<String, Json> = (given.into_iter())
            .filter(|(name, _)| self.takes.contains(name))
            .collect();
        let observed = judged.outside.observed.clone();
        let options = RunOptions {
            observed: observed.filter(|_| script.is_none()),
            cancel: judged.cancel.clone(),
            ..RunOptions::default()
        };
        let thread = format!("{}/{scorer}", judged.row.id);
        let input = Json::Object(given);
        let result = engine.start(self.graph, &thread, &input, options).await;
        let result = result.map_err(|error| error.to_string())?;
        match (&result.error, result.state) {
            (Some(error), _) => return Err(error.message.clone()),
            (None, RunState::Done) => {}
            (None, _) => return Err("it has not come to its end".to_owned()),
        }
        let score = result.output.get("score");
        let number = score.and_then(|score| match score {
            Json::Bool(holds) => Some(f64::from(u8::from(*holds))),
            other => other.as_f64(),
        });
        let reason = result.output.get("reason").and_then(Json::as_str);
        match number.filter(|number| (0.0..=1.0).contains(number)) {
            Some(number) => Ok((number, reason.map(str::to_owned))),
            None => Err(format!(
                "its score is {}, expected a number from 0 to 1",
                score.unwrap_or(&Json::Null)
            )),
        }
    }
}

/// A flow that asks a model for a score; what is wrong with the prompt, in words. The reason comes first: a score that is thought
/// about is a better one.
fn asking(model: Model, prompt: &str, system: Option<&str>) -> Result<Flow, String> {
    let declared: Vec<String> = names().map(|name| format!("{name}: json")).collect();
    let declared = declared.join(", ");
    let given: Vec<String> = names()
        .map(|name| format!("{name}: state.{name}"))
        .collect();
    let given = given.join(", ");
    let state: Vec<String> = names().map(|name| format!("in {name}: json")).collect();
    let state = state.join("\n");
    let (role, says) = match system {
        Some(_) => (
            format!("prompt role({declared}) = file \"{SYSTEM}\""),
            format!("system role({given})"),
        ),
        None => (String::new(), String::new()),
    };
    let flow = format!(
        r#"
type Grade {{
  /// Why, in one or two sentences.
  reason: string
  /// From 0 (bad) to 1 (good).
  score: float @min(0) @max(1)
}}
model grader = "a/b"
prompt asked({declared}) = file "{PROMPT}"
{role}
graph Grading {{
  state {{
    {state}
    out reason: string
    out score: float
  }}
  start -> grade
  node grade: llm -> end {{
    model grader
    {says}
    prompt asked({given})
    output Grade
    set {{ reason: output.reason, score: output.score }}
  }}
}}
"#
    );
    let files = [
        (FLOW, flow.as_str()),
        (PROMPT, prompt),
        (SYSTEM, system.unwrap_or_default()),
    ];
    let files: BTreeMap<String, String> = files
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .into();
    let compiled = compile(FLOW, &files);
    let mut flow = compiled.flow.ok_or_else(|| {
        let wrong = compiled
            .diagnostics
            .iter()
            .find(|found| found.level == Level::Error);
        wrong.map_or_else(String::new, |wrong| {
            let at = compiled.sources.location(wrong.span());
            let file = compiled.sources.name(wrong.span().file);
            format!("line {} of the {file}: {}", at.line, wrong.message)
        })
    })?;
    for own in flow.models.iter_mut() {
        *own = Model {
            fallback: Vec::new(),
            ..model.clone()
        };
    }
    Ok(flow)
}
