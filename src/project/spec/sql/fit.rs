//! Whether a query fits the tool that it serves: its parameters, and what it gives.

use std::collections::BTreeMap;

use serde_json::json;

use super::{Form, SqlSpec, Target};
use crate::base::name;
use crate::expr::accept::accept;
use crate::expr::{Type, TypeTable};

/// Something that doesn't fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// The text in the entry that it is about; none where it is about the entry.
    pub text: Option<String>,
    /// What is wrong.
    pub message: String,
    /// The way out.
    pub help: String,
}

/// All that doesn't fit a tool with these parameters and that result.
pub fn misfits(
    spec: &SqlSpec,
    tool: &str,
    params: &BTreeMap<&str, &Type>,
    returns: Option<(&Type, &TypeTable)>,
) -> Vec<Misfit> {
    let mut found = match &spec.target {
        Target::Sqlite(_, query) | Target::Postgres(_, query) => {
            parameters(tool, &query.names(), params)
        }
        Target::Scratch { setup, query } => {
            let names = setup.iter().chain([query]);
            names.filter_map(|name| text(tool, name, params)).collect()
        }
        Target::Unset => Vec::new(),
    };
    found.extend(returns.and_then(|(ty, types)| result(spec.form, tool, ty, types)));
    found
}

/// Names in a query that the tool has not, and parameters that it does not use.
fn parameters(tool: &str, used: &[&str], params: &BTreeMap<&str, &Type>) -> Vec<Misfit> {
    let others = used.iter().filter(|name| !params.contains_key(**name));
    let others = others.map(|used| Misfit {
        text: Some(format!(":{used}")),
        ..unknown(tool, used, params, ":")
    });
    let mut found: Vec<Misfit> = others.collect();
    let misspelt = !found.is_empty();
    let unused = params.keys().filter(|name| !used.contains(name));
    // A parameter that is misspelt in the query is not said twice.
    found.extend(unused.filter(|_| !misspelt).map(|name| Misfit {
        text: None,
        message: format!("the query of tool `{tool}` does not use its parameter `{name}`"),
        help: format!("write `:{name}` where it belongs, or take it from the tool"),
    }));
    found
}

fn unknown(tool: &str, used: &str, params: &BTreeMap<&str, &Type>, colon: &str) -> Misfit {
    let known = || params.keys().copied();
    Misfit {
        text: Some(used.to_owned()),
        message: format!("tool `{tool}` has no parameter `{used}`"),
        help: match name::closest(used, known()) {
            Some(near) => format!("did you mean `{colon}{near}`?"),
            None if params.is_empty() => "it has none".to_owned(),
            None => format!("its parameters: {}", name::list(known())),
        },
    }
}

/// A parameter that is to be SQL.
fn text(tool: &str, name: &str, params: &BTreeMap<&str, &Type>) -> Option<Misfit> {
    let ty = match params.get(name) {
        None => return Some(unknown(tool, name, params, "")),
        Some(Type::Nullable(of)) => of,
        Some(ty) => *ty,
    };
    let is_text = matches!(ty, Type::String | Type::Json | Type::Error);
    (!is_text).then(|| Misfit {
        text: Some(name.to_owned()),
        message: format!("parameter `{name}` of tool `{tool}` is no text, and SQL is one"),
        help: "declare it as `string`".to_owned(),
    })
}

/// A result of another form than the tool's type.
fn result(form: Form, tool: &str, ty: &Type, types: &TypeTable) -> Option<Misfit> {
    let (fits, word, gives) = match form {
        Form::Rows => (
            accept(&json!([]), ty, types).is_ok(),
            "rows",
            "a list of rows",
        ),
        Form::Changes => (accept(&json!(0), ty, types).is_ok(), "changes", "a number"),
        Form::Row => (may_be_row(ty), "row", "a row or null"),
        Form::Value => return None,
    };
    (!fits).then(|| Misfit {
        text: None,
        message: format!(
            "the query of tool `{tool}` gives {gives} (`result: {word}`), and the tool `{}`",
            types.show(ty)
        ),
        help: "`result` is one of `rows`, `row`, `value` and `changes`".to_owned(),
    })
}

fn may_be_row(ty: &Type) -> bool {
    match ty {
        Type::Nullable(of) => may_be_row(of),
        Type::Record(_) | Type::Map(_) | Type::Json | Type::Union(_) | Type::Error => true,
        _ => false,
    }
}
