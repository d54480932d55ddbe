//! Scorers in YAML: a map of names, each with one of `exact`, `contains`, `cel`, `json_schema`, `model` and `graph`.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::base::name;
use crate::expr::Type;
use crate::ir::{Flow, Model, Place};
use crate::project::yaml::{Cursor, Table};

use super::{Grader, Kind, Scorer};
use crate::evaluate::scope::{Code, Known, NAMES};

const KINDS: [&str; 6] = ["exact", "contains", "cel", "json_schema", "model", "graph"];
const KEYS: [&str; 13] = [
    "exact",
    "contains",
    "cel",
    "json_schema",
    "model",
    "graph",
    "to",
    "any_case",
    "schema",
    "prompt",
    "system",
    "pass",
    "min",
];

/// What scorers are read against.
pub struct Around<'a> {
    /// The flow, as it is.
    pub flow: &'a Arc<Flow>,
    /// What is known of the stage.
    pub known: &'a Known,
    /// The text of a file beside the one that is read.
    pub file: &'a dyn Fn(&str) -> Result<String, String>,
}

/// Reads all of them; what is wrong is reported at its place.
pub fn read(cursor: &Cursor<'_>, around: &Around<'_>) -> Vec<Scorer> {
    let all = cursor.entries();
    if all.is_empty() && cursor.json().is_object() {
        cursor.report(cursor.finding("there is no scorer: nothing would be judged"));
    }
    let scorers = all
        .iter()
        .filter_map(|(name, cursor)| one(name, cursor, around));
    scorers.collect()
}

fn one(name: &str, cursor: &Cursor<'_>, around: &Around<'_>) -> Option<Scorer> {
    let table = cursor.table("a scorer", &KEYS)?;
    let kinds: Vec<&str> = (KINDS.into_iter())
        .filter(|kind| table.get(kind).is_some())
        .collect();
    let [kind] = kinds.as_slice() else {
        if !table.has_unknown() {
            let message = format!("a scorer has one of {}", name::list(KINDS));
            cursor.report(cursor.finding(message));
        }
        return None;
    };
    misplaced(&table, kind);
    let reader = Reader { table, around };
    let kind = match *kind {
        "exact" => reader.exact(),
        "contains" => reader.contains(),
        "cel" => reader.cel(),
        "json_schema" => reader.json_schema(),
        "model" => reader.model(),
        _ => reader.graph(),
    };
    let pass = reader.share("pass");
    Some(Scorer {
        name: name.to_owned(),
        kind: kind?,
        pass: pass.unwrap_or(1.0),
        min: reader.share("min"),
    })
}

/// Keys of other kinds would be passed over.
fn misplaced(table: &Table<'_>, kind: &str) {
    let goes_with: [(&str, &[&str]); 5] = [
        ("to", &["exact", "contains"]),
        ("any_case", &["contains"]),
        ("schema", &["json_schema"]),
        ("prompt", &["model"]),
        ("system", &["model"]),
    ];
    for (key, kinds) in goes_with {
        if let (Some(entry), false) = (table.get(key), kinds.contains(&kind)) {
            let message = format!(
                "`{key}` goes with {} only",
                name::either(kinds.iter().copied())
            );
            entry.report(entry.key_finding(message));
        }
    }
}

struct Reader<'a, 'd> {
    table: Table<'d>,
    around: &'a Around<'a>,
}

impl Reader<'_, '_> {
    fn code(&self, key: &str) -> Option<Code> {
        let cursor = self.table.get(key)?;
        self.compiled(&cursor, cursor.text()?)
    }

    fn compiled(&self, cursor: &Cursor<'_>, text: &str) -> Option<Code> {
        match self.around.known.code(text) {
            Ok(code) => Some(code),
            Err(why) => {
                let known = NAMES.into_iter().chain(["state"]);
                let help = format!("known here: {}", name::list(known));
                let message = format!("`{text}` can't be evaluated: {why}");
                cursor.report(cursor.finding(message).help(help));
                None
            }
        }
    }

    /// A value and the expected one: `expect` in its place, where nothing is said.
    fn pair(&self, key: &str) -> Option<(Code, Code)> {
        let value = self.code(key)?;
        if self.table.get("to").is_some() {
            return Some((value, self.code("to")?));
        }
        let named = |name: &str| Some(value.text.strip_prefix(name)?.to_owned());
        let of = named("output").or_else(|| named("state"));
        let plain = |rest: &String| {
            let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
            rest.chars().all(word) && (rest.is_empty() || rest.starts_with('.'))
        };
        let cursor = self.table.get(key)?;
        let to = match (of.filter(plain), value.text.as_str()) {
            (Some(rest), _) => format!("expect{rest}"),
            (None, name) if NAMES.contains(&name) => format!("expect.{name}"),
            (None, text) => {
                let message = format!("`to` is missing: what is expected of `{text}`");
                cursor.report(cursor.finding(message).help("write `to: expect.FIELD`"));
                return None;
            }
        };
        let to = self.compiled(&cursor, &to)?;
        Some((value, to))
    }

    fn exact(&self) -> Option<Kind> {
        let (value, to) = self.pair("exact")?;
        Some(Kind::Exact { value, to })
    }

    fn contains(&self) -> Option<Kind> {
        let (value, of) = self.pair("contains")?;
        let any_case = self.table.get("any_case");
        let fits = matches!(
            value.ty.without_null(),
            Type::String
                | Type::Literal(_)
                | Type::Enum(_)
                | Type::List(_)
                | Type::Json
                | Type::Error
                | Type::Union(_)
        );
        if !fits {
            let cursor = self.table.get("contains")?;
            let ty = self.around.known.shown(&value.ty);
            let message = format!("`{}` is `{ty}`, expected a text or a list", value.text);
            cursor.report(cursor.finding(message));
            return None;
        }
        Some(Kind::Contains {
            value,
            of,
            any_case: any_case.and_then(|flag| flag.flag()).unwrap_or(false),
        })
    }

    fn cel(&self) -> Option<Kind> {
        let code = self.code("cel")?;
        let fits = matches!(
            code.ty.without_null(),
            Type::Bool | Type::Int | Type::Uint | Type::Float | Type::Json | Type::Error
        );
        if !fits {
            let cursor = self.table.get("cel")?;
            let ty = self.around.known.shown(&code.ty);
            let message = format!("this gives `{ty}`, expected `bool` or a number from 0 to 1");
            cursor.report(cursor.finding(message));
            return None;
        }
        Some(Kind::Cel(code))
    }

    fn json_schema(&self) -> Option<Kind> {
        let value = self.code("json_schema");
        let schema = self.table.require("schema")?;
        let json = match schema.json() {
            Json::String(path) => {
                let read = (self.around.file)(path);
                let json = read.and_then(|text| {
                    serde_json::from_str(&text)
                        .map_err(|error| format!("`{path}` is not JSON: {error}"))
                });
                json.map_err(|why| schema.report(schema.finding(why)))
                    .ok()?
            }
            written => written.clone(),
        };
        match jsonschema::validator_for(&json) {
            Ok(validator) => Some(Kind::JsonSchema {
                value: value?,
                schema: Box::new(validator),
            }),
            Err(error) => {
                schema.report(schema.finding(format!("this is no JSON Schema: {error}")));
                None
            }
        }
    }

    fn model(&self) -> Option<Kind> {
        let cursor = self.table.get("model")?;
        let named = cursor.text()?;
        let own = self
            .around
            .flow
            .models
            .iter()
            .find(|model| model.name == named);
        let model = match (own, named.split_once('/')) {
            (Some(model), _) => model.clone(),
            (None, Some((provider, model))) if !provider.is_empty() && !model.is_empty() => {
                reference(provider, model)
            }
            (None, _) => {
                let names = self
                    .around
                    .flow
                    .models
                    .iter()
                    .map(|model| model.name.as_str());
                let help = name::did_you_mean(named, names).unwrap_or_else(|| {
                    "name one of the flow, or write `PROVIDER/MODEL`".to_owned()
                });
                cursor.report(
                    cursor
                        .finding(format!("the flow has no model `{named}`"))
                        .help(help),
                );
                return None;
            }
        };
        let prompt = self.table.require("prompt")?;
        let system = self.table.get("system");
        let text = self.words(&prompt)?;
        let role = match &system {
            Some(system) => Some(self.words(system)?),
            None => None,
        };
        match Grader::of_model(model, &text, role.as_deref()) {
            Ok(grader) => Some(Kind::Grader(grader)),
            Err(why) => {
                let names = super::grader::names();
                let help = format!("known in it: {}", name::list(names));
                prompt.report(
                    prompt
                        .finding(format!("this is no prompt: {why}"))
                        .help(help),
                );
                None
            }
        }
    }

    /// A text, or that of a file: `{ file: prompts/grade.md }`.
    fn words(&self, cursor: &Cursor<'_>) -> Option<String> {
        if cursor.json().is_object() {
            let file = cursor.table("a text", &["file"])?.require("file")?;
            let read = (self.around.file)(file.text()?);
            return read.map_err(|why| file.report(file.finding(why))).ok();
        }
        cursor.text().map(str::to_owned)
    }

    fn graph(&self) -> Option<Kind> {
        let cursor = self.table.get("graph")?;
        let named = cursor.text()?;
        match Grader::of_graph(self.around.flow, named) {
            Ok(grader) => Some(Kind::Grader(grader)),
            Err(why) => {
                let names = self
                    .around
                    .flow
                    .graphs
                    .iter()
                    .map(|graph| graph.name.as_str());
                let finding = cursor.finding(why);
                cursor.report(finding.maybe_help(name::did_you_mean(named, names)));
                None
            }
        }
    }

    /// A number from 0 to 1.
    fn share(&self, key: &str) -> Option<f64> {
        let cursor = self.table.get(key)?;
        let number = cursor.json().as_f64();
        let share = number.filter(|number| (0.0..=1.0).contains(number));
        if share.is_none() {
            cursor.expected("a number from 0 to 1");
        }
        share
    }
}

/// A model that the flow doesn't name.
fn reference(provider: &str, model: &str) -> Model {
    Model {
        name: format!("{provider}/{model}"),
        provider: provider.to_owned(),
        model: model.to_owned(),
        temperature: None,
        top_p: None,
        max_tokens: None,
        thinking_budget: None,
        reasoning_effort: None,
        seed: None,
        timeout_ms: None,
        retry: None,
        fallback: Vec::new(),
        fallback_on: None,
        at: Place::default(),
    }
}
