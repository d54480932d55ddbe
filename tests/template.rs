//! Templates: each file of `tests/template` declares a scope, gives it values, and has templates with what the check finds in them
//! and what they render to. Parts are separated by `---`, cases by `===`; `UPDATE=1` writes the outcomes anew.

use std::collections::BTreeMap;

use crate::declared::{Declared, declared, files, marks};
use graphc::ast::node::TemplateText;
use graphc::base::FileId;
use graphc::compile::compile;
use graphc::diag::Diagnostics;
use graphc::expr::accept::accept;
use graphc::expr::eval::{Effect, Env};
use graphc::expr::template::{Template, check};
use graphc::expr::{Scope, Slot, Type};
use graphc::value::Value;

struct Given {
    slots: Vec<Option<Value>>,
    fields: Vec<Option<Value>>,
}

impl Env for Given {
    fn slot(&self, slot: Slot) -> Option<Value> {
        self.slots[slot.0 as usize].clone()
    }

    fn field(&self, index: u32) -> Option<Value> {
        self.fields[index as usize].clone()
    }

    fn effect(&self, _: Effect) -> Result<Value, String> {
        Err("templates have no effects".into())
    }
}

#[test]
fn findings_and_texts() {
    for path in files("template", "txt") {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut cases = text.split("\n===\n");
        let head = cases.next().unwrap();
        let (declarations, values) = head.split_once("\n---\n").unwrap();
        let scope = declared(declarations);
        let given = given(&scope, &serde_json::from_str(values).unwrap());
        let mut now = head.to_owned();
        for case in cases {
            let template = case.split("\n---\n").next().unwrap().trim_end_matches('\n');
            now += &format!(
                "\n===\n{template}\n---\n{}",
                outcome(template, &scope, &given)
            );
        }
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, now).unwrap();
        } else {
            assert_eq!(now, text, "{}", path.display());
        }
    }
}

fn outcome(template: &str, declared: &Declared, given: &Given) -> String {
    let text = TemplateText::of_file(template.to_owned(), FileId(0));
    let mut diags = Diagnostics::new();
    check(&text, &declared.scope, &declared.types, &mut diags);
    let rendered = Template::compile(&text, &declared.scope).and_then(|t| t.render(given));
    let rendered = match rendered {
        Ok(text) => format!("=> {text}"),
        Err(error) => {
            let (start, end) = (error.span.start as usize, error.span.end as usize);
            format!("fails at `{}`: {}", &template[start..end], error.message)
        }
    };
    format!("{}{rendered}\n", marks(template, &diags))
}

fn given(declared: &Declared, json: &serde_json::Value) -> Given {
    let read = |names: &[(String, Type)], of: &str| -> Vec<Option<Value>> {
        let value = |(name, ty): &(String, Type)| {
            let json = json.get(of)?.get(name)?;
            Some(accept(json, ty, &declared.types).unwrap_or_else(|e| panic!("{name}: {e:?}")))
        };
        names.iter().map(value).collect()
    };
    let Scope { state, names, .. } = &declared.scope;
    Given {
        slots: read(names, "scope"),
        fields: read(state.as_deref().map_or(&[], |fields| fields), "state"),
    }
}

/// Which bound a prompt of a flow goes beyond, and the part of it that is one too many.
fn beyond(template: &str) -> Option<(String, String)> {
    let flow = format!(
        "model m = \"openai/gpt-5\" {{ timeout 1m }}\ngraph Main {{\n  state {{ out r: string = \"\" }}\n  start -> only\n  \
         node only: llm -> end {{\n    model m\n    prompt \"\"\"{template}\"\"\"\n    set {{ r: reply.text }}\n  }}\n}}\n"
    );
    let compiled = compile(
        "main.graph",
        &BTreeMap::from([("main.graph".to_owned(), flow)]),
    );
    let mut found = compiled.diagnostics.iter();
    let found = found.find(|found| found.message.contains("has at most"))?;
    let at = compiled.sources.text(found.span());
    Some((found.message.clone(), at.to_owned()))
}

/// Most `elif` of a template, and most operators of one placeholder or statement.
const MOST: usize = 400;

#[test]
fn elif_and_operators_are_bounded() {
    for operator in [
        "-",
        "not ",
        "a.",
        "a|trim ~ ",
        "a and ",
        "[",
        "a if b else ",
    ] {
        let chain = |count| format!("{{{{ {}x }}}}", operator.repeat(count));
        assert_eq!(beyond(&chain(MOST / 2).repeat(3)), None, "{operator}");
        assert!(beyond(&chain(MOST + 1)).is_some(), "{operator}");
    }
    let chain = format!(
        "{{% if a %}}{}{{% endif %}}",
        "{%- elif b %}".repeat(MOST + 1)
    );
    let (message, at) = beyond(&chain).unwrap();
    assert_eq!(message, "a template has at most 400 `elif`");
    assert_eq!(at, "elif");
    let signs = "- ".repeat(1_000);
    let plain = format!(
        "{{# {signs} #}}{{% raw %}}{{{{ {signs} }}}}{{% endraw %}}{{{{ '{signs}' }}}}{{{{ {{1: {{2: 3}}}} }}}} {signs}"
    );
    assert_eq!(beyond(&plain), None);
    let wide = format!("{{{{ [{}] }}}}", "'a', 1.5, x, ".repeat(1_000));
    assert_eq!(beyond(&wide), None);
}
