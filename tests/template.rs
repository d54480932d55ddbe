//! Templates: each file of `tests/template` declares a scope, gives it values, and has templates with what the check finds in them
//! and what they render to. Parts are separated by `---`, cases by `===`; `UPDATE=1` writes the outcomes anew.

use crate::declared::{Declared, declared, files, marks};
use graphc::ast::node::TemplateText;
use graphc::base::FileId;
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
