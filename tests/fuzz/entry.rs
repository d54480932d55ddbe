//! What reads texts from outside, and what must hold of each text besides that there is an answer.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use graphc::ast::node::TemplateText;
use graphc::base::{FileId, SourceMap, Span};
use graphc::compile::{Compiled, compile};
use graphc::diag::{Diagnostics, render};
use graphc::expr::accept::accept;
use graphc::expr::eval::{Effect, Env, compile as compile_expr, compile_unchecked};
use graphc::expr::infer::infer;
use graphc::expr::template::{Template, check};
use graphc::expr::{Scope, Slot, Type, TypeTable};
use graphc::ir::Flow;
use graphc::project::{config, scenario};
use graphc::run::decode::decode;
use graphc::run::plan::plan;
use graphc::value::Value;
use graphc::viz::{Drawing, Form, draw};
use graphc::{fmt, parse};
use serde_json::Value as Json;

use crate::declared::{Declared, declared};

/// A reader of texts.
pub struct Entry {
    /// Its name, also that of its folder in `tests/fuzz/corpus`.
    pub name: &'static str,
    /// Reads a text; panics where something doesn't hold.
    pub read: fn(&str),
}

/// All of them.
pub const ENTRIES: &[Entry] = &[
    Entry {
        name: "parse",
        read: parses,
    },
    Entry {
        name: "check",
        read: checks,
    },
    Entry {
        name: "fmt",
        read: formats,
    },
    Entry {
        name: "eval",
        read: evaluates,
    },
    Entry {
        name: "template",
        read: renders,
    },
    Entry {
        name: "config",
        read: configures,
    },
    Entry {
        name: "scenario",
        read: reads_scenarios,
    },
    Entry {
        name: "ir",
        read: loads,
    },
];

/// The reader of that name.
pub fn named(name: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.name == name)
}

/// Every place lies in its text, between two characters.
fn places(found: &Diagnostics, sources: &SourceMap) {
    let spans = found.iter().flat_map(|diagnostic| {
        let labels = diagnostic.labels.iter().map(|label| label.span);
        labels.chain(diagnostic.fix.iter().map(|edit| edit.span))
    });
    for span in spans {
        let text = sources.file(span.file).map_or("", |file| &file.text);
        let inside = text.get(span.start as usize..span.end as usize);
        assert!(
            inside.is_some(),
            "{span:?} is no place of {} bytes",
            text.len()
        );
    }
}

fn shown(found: &Diagnostics, sources: &SourceMap) {
    places(found, sources);
    render::human(found, sources, render::Style::PLAIN);
    for line in render::json(found, sources).lines() {
        serde_json::from_str::<Json>(line).unwrap();
    }
    serde_json::from_str::<Json>(&render::sarif(found, sources)).unwrap();
    render::github(found, sources);
}

fn parses(text: &str) {
    let mut sources = SourceMap::new();
    let id = sources.add("case.graph", text);
    let mut found = Diagnostics::new();
    parse::parse(text, id, &mut found);
    shown(&found, &sources);
    let mut found = Diagnostics::new();
    let expr = parse::expression(text, id, &mut found);
    places(&found, &sources);
    assert_eq!(expr.is_none(), found.has_errors());
}

/// Files of a case: `//# file: NAME` begins another.
fn files(text: &str) -> BTreeMap<String, String> {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut name = "main.graph".to_owned();
    for line in text.split_inclusive('\n') {
        match line.strip_prefix("//# file:") {
            Some(other) => name = other.trim().to_owned(),
            None => files.entry(name.clone()).or_default().push_str(line),
        }
    }
    files
}

fn compiled(text: &str) -> Compiled {
    compile("main.graph", &files(text))
}

fn checks(text: &str) {
    let Compiled {
        flow,
        sources,
        diagnostics,
    } = compiled(text);
    shown(&diagnostics, &sources);
    assert_eq!(flow.is_some(), !diagnostics.has_errors());
    let Some(flow) = flow else { return };
    let json = serde_json::to_string(&flow).unwrap();
    let again: Flow = serde_json::from_str(&json).unwrap();
    assert_eq!(json, serde_json::to_string(&again).unwrap());
    drawn(&flow);
    if let Err(error) = plan(Arc::new(flow)) {
        panic!("a flow without errors has no plan: {error}");
    }
}

/// Drawings of a flow that the pictures' own bounds let through.
fn drawn(flow: &Flow) {
    let graphs: Vec<_> = flow.graphs.ids().collect();
    for form in [Form::Mermaid, Form::Dot] {
        let _ = draw(flow, &graphs, &Drawing::of(form));
    }
}

fn formats(text: &str) {
    let Some(once) = fmt::format(text, FileId(0), &mut Diagnostics::new()) else {
        return;
    };
    let mut found = Diagnostics::new();
    let twice = fmt::format(&once, FileId(0), &mut found);
    let twice = twice.unwrap_or_else(|| panic!("the formatted text does not parse: {found:?}"));
    assert!(once == twice, "formatted again it is another");
    assert!(fmt::same_tokens(text, &once), "tokens are gone");
}

/// The scope of expressions and templates that are read alone, and values for it.
static SCOPE: LazyLock<(Declared, Given)> = LazyLock::new(|| {
    let scope = declared(
        "enum Status { pending, approved }
        type Doc { id: string, title: string, note: string?, tags: list<string> = [], next: Doc? }
        type state { docs: map<Doc>, list: list<Doc>, hero: Doc?, name: string, n: int, x: float, status: Status, data: json }
        type scope { topic: string, items: list<int>, ok: bool, a: json, b: json, t: timestamp, d: duration }",
    );
    let values: Json = serde_json::from_str(
        r#"{"docs": {"a": {"id": "a", "title": "First"}}, "list": [{"id": "c", "title": "Third", "tags": ["x"]}], "hero": null,
        "name": "Ann Bée", "n": 3, "x": 0.5, "status": "pending", "data": {"k": [1, 2, {"z": null}]}, "topic": "rust",
        "items": [3, 1, 2], "ok": true, "a": [1, 2, {"b": "c"}], "b": 7, "t": "2026-01-02T03:04:05Z", "d": "90s"}"#,
    )
    .unwrap();
    let read = |names: &[(String, Type)]| -> Vec<Value> {
        let value = |(name, ty): &(String, Type)| accept(&values[name], ty, &scope.types).unwrap();
        names.iter().map(value).collect()
    };
    let given = Given {
        slots: read(&scope.scope.names),
        fields: read(scope.scope.state.as_deref().unwrap()),
    };
    (scope, given)
});

struct Given {
    slots: Vec<Value>,
    fields: Vec<Value>,
}

impl Env for Given {
    fn slot(&self, slot: Slot) -> Option<Value> {
        self.slots.get(slot.0 as usize).cloned()
    }

    fn field(&self, index: u32) -> Option<Value> {
        self.fields.get(index as usize).cloned()
    }

    fn effect(&self, effect: Effect) -> Result<Value, String> {
        Ok(match effect {
            Effect::Now => Value::Timestamp(jiff::Timestamp::UNIX_EPOCH),
            Effect::Uuid => Value::from("00000000-0000-4000-8000-000000000000"),
            Effect::Random => Value::Float(0.5),
        })
    }
}

fn evaluates(text: &str) {
    let (Declared { scope, types }, given) = &*SCOPE;
    let mut sources = SourceMap::new();
    let id = sources.add("case", text);
    let Some(expr) = parse::expression(text, id, &mut Diagnostics::new()) else {
        return;
    };
    let mut found = Diagnostics::new();
    let ty = infer(&expr, scope, types, None, &mut found);
    places(&found, &sources);
    types.show(&ty);
    let inside = |span: Span| {
        sources
            .file(id)
            .unwrap()
            .text
            .get(span.start as usize..span.end as usize)
    };
    for program in [
        compile_expr(&expr, scope, types),
        compile_unchecked(&expr, scope, types),
    ] {
        match program.map(|program| program.eval(given)) {
            Ok(Ok(value)) => {
                let stored = value.to_stored();
                assert!(value.check_size().is_ok(), "the value is beyond the bounds");
                assert!(
                    Value::from_stored(&stored).is_some(),
                    "{stored} can't be read again"
                );
                let text = value.to_json().to_string();
                if let Ok(again) = serde_json::from_str(&text) {
                    let _ = accept(&again, &ty, types);
                }
            }
            Ok(Err(error)) => assert!(inside(error.span).is_some(), "{:?}", error.span),
            Err(error) => assert!(inside(error.span).is_some(), "{:?}", error.span),
        }
    }
    let records = types.records.ids().map(Type::Record);
    for ty in records.chain([Type::Json]) {
        let _ = decode(text, &ty, types);
    }
}

fn renders(text: &str) {
    let (Declared { scope, types }, given) = &*SCOPE;
    let mut sources = SourceMap::new();
    let id = sources.add("case", text);
    let template = TemplateText::of_file(text.to_owned(), id);
    let mut found = Diagnostics::new();
    check(&template, scope, types, &mut found);
    places(&found, &sources);
    graphc::expr::template::reads(&template, scope);
    let rendered = Template::compile(&template, scope).and_then(|template| template.render(given));
    if let Err(error) = rendered {
        let (start, end) = (error.span.start as usize, error.span.end as usize);
        assert!(text.get(start..end).is_some(), "{:?}", error.span);
    }
    let _ = Template::compile(&template, &Scope::default()).map(|t| {
        t.render(&Given {
            slots: Vec::new(),
            fields: Vec::new(),
        })
    });
    let _ = TypeTable::default();
}

fn configures(text: &str) {
    let mut sources = SourceMap::new();
    let id = sources.add("graphc.yaml", text);
    let env = |name: &str| {
        name.len()
            .is_multiple_of(2)
            .then(|| format!("value of {name}"))
    };
    for profile in [None, Some("offline")] {
        match config::load(&sources, id, profile, &env) {
            Ok(config) => shown(&config.doubts, &sources),
            Err(found) => shown(&found, &sources),
        }
    }
}

fn reads_scenarios(text: &str) {
    static FLOW: LazyLock<Flow> = LazyLock::new(|| {
        let text = include_str!("../fit/desk.graph");
        compiled(text).flow.unwrap()
    });
    let mut sources = SourceMap::new();
    let id = sources.add("desk.test.yaml", text);
    match scenario::load(&sources, id) {
        Ok(suite) => shown(&graphc::project::fit::fit(&suite, &FLOW, None), &sources),
        Err(found) => shown(&found, &sources),
    }
}

fn loads(text: &str) {
    let Ok(flow) = serde_json::from_str::<Flow>(text) else {
        return;
    };
    let flow = Arc::new(flow);
    if plan(flow.clone()).is_ok() {
        drawn(&flow);
        flow.version();
    }
}
