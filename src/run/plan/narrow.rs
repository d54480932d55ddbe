//! `with` and `where` on tools: what is fixed, conditions ready to be asked, and what a model is shown of such a tool.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::expr::ty::RecordField;
use crate::expr::{Scope, Slot, Type};
use crate::ir::narrow::{Argument, Limit, Narrowed};
use crate::ir::{Tool, ToolId};
use crate::run::model::ToolSpec;

use super::code::{Builder, Code, PlanError};
use super::tool::spec;

/// A tool of which a node or a graph leaves only some calls.
pub struct NarrowPlan {
    /// Parameters whose arguments the flow gives, with their values. In a graph there are none.
    pub fixed: Vec<(RecordField, Code)>,
    /// The other parameters: those that a caller gives.
    pub open: Vec<RecordField>,
    /// What must hold of the arguments, which are slots in the order of the tool's parameters.
    pub conditions: Vec<Code>,
    /// What a model is shown.
    pub spec: ToolSpec,
}

/// Narrowed tools by id.
pub type NarrowPlans = BTreeMap<ToolId, NarrowPlan>;

/// The narrowed tools of a node or a graph; what is fixed is computed in that scope.
pub fn plan(
    builder: &Builder<'_>,
    narrowed: &[Narrowed],
    node: &Scope,
) -> Result<NarrowPlans, PlanError> {
    let mut plans = NarrowPlans::new();
    for narrowed in narrowed {
        let Some(tool) = builder.flow.tools.get(narrowed.tool) else {
            continue;
        };
        let mut scope = Scope {
            functions: builder.functions.clone(),
            ..Scope::default()
        };
        for param in &tool.params {
            scope.declare(param.name.as_str(), Type::Json);
        }
        let conditions = narrowed.conditions.iter();
        let conditions: Vec<Code> = conditions
            .map(|condition| builder.code(condition, &scope))
            .collect::<Result<_, _>>()?;
        let value = |param: &RecordField| narrowed.fixed.iter().find(|arg| arg.name == param.name);
        let (fixed, open): (Vec<_>, Vec<_>) =
            (tool.params.iter().cloned()).partition(|param| value(param).is_some());
        let given = fixed.into_iter().filter_map(|param| {
            let code = builder.code(&value(&param)?.value, node);
            Some(code.map(|code| (param, code)))
        });
        let given: Vec<(RecordField, Code)> = given.collect::<Result<_, _>>()?;
        // What a condition asks of an argument that a model does not give is not for it to read.
        let hides = |slot: &Slot| {
            let param = tool.params.get(slot.0 as usize);
            param.is_some_and(|param| value(param).is_some())
        };
        let shown = |index: &u32| {
            let condition = conditions.get(*index as usize);
            condition.filter(|condition| !condition.reads(&scope).iter().any(hides))
        };
        let shown: Vec<&Code> = narrowed.in_words.iter().filter_map(shown).collect();
        let spec = narrow(spec(builder, tool, &open), tool, (narrowed, &shown));
        let plan = NarrowPlan {
            fixed: given,
            open,
            conditions,
            spec,
        };
        plans.insert(narrowed.tool, plan);
    }
    Ok(plans)
}

fn narrow(mut spec: ToolSpec, tool: &Tool, (narrowed, shown): (&Narrowed, &[&Code])) -> ToolSpec {
    let fixed = |name: &String| narrowed.fixed.iter().any(|arg| arg.name == *name);
    let arguments = narrowed.arguments.iter();
    for argument in arguments.filter(|argument| !fixed(&argument.name)) {
        let param = tool.params.iter().find(|param| param.name == argument.name);
        let Some(param) = param else { continue };
        let name = param.outer_name();
        if let Some(schema) = spec.parameters.pointer_mut(&format!("/properties/{name}")) {
            narrow_schema(schema, argument);
        }
        let required = spec.parameters.pointer_mut("/required");
        if let (Some(Json::Array(required)), true) = (required, argument.required)
            && !required.iter().any(|known| known == name)
        {
            required.push(name.into());
        }
    }
    for condition in shown {
        if !spec.description.is_empty() {
            spec.description.push('\n');
        }
        let line = format!("Only calls with `{}` are accepted.", condition.text());
        spec.description.push_str(&line);
    }
    spec
}

/// Writes what is left of an argument into its schema; below `anyOf` where it may be null.
fn narrow_schema(schema: &mut Json, argument: &Argument) {
    if argument.required
        && let Json::Object(object) = schema
    {
        object.remove("default");
    }
    let inner = schema.pointer("/anyOf/0").cloned();
    let null = schema.pointer("/anyOf/1/type") == Some(&json!("null"));
    if let (Some(mut inner), true, false) = (inner, null, argument.null) {
        // Without null the schema is that of the type alone, with what stood beside it.
        if let (Json::Object(inner), Json::Object(outer)) = (&mut inner, &*schema) {
            let beside = outer.iter().filter(|(key, _)| *key != "anyOf");
            inner.extend(beside.map(|(key, value)| (key.clone(), value.clone())));
        }
        *schema = inner;
    }
    let place = match schema.get("anyOf").is_some() && argument.null {
        true => schema.pointer_mut("/anyOf/0"),
        false => Some(schema),
    };
    if let Some(Json::Object(object)) = place {
        if let Some(values) = &argument.values {
            let left: Vec<&Json> = values.iter().filter(|value| !value.is_null()).collect();
            describe(object, &left);
            object.remove("enum");
            match left.as_slice() {
                [only] => object.insert("const".into(), (*only).clone()),
                several => object.insert("enum".into(), json!(several)),
            };
        }
        let mut limit = |limit: &Option<Limit>, (closed, open): (&str, &str)| {
            if let Some(limit) = limit {
                object.remove(closed);
                let key = if limit.open { open } else { closed };
                object.insert(key.into(), json!(limit.at));
            }
        };
        limit(&argument.min, ("minimum", "exclusiveMinimum"));
        limit(&argument.max, ("maximum", "exclusiveMaximum"));
        lengths(object, argument);
    }
}

fn lengths(object: &mut serde_json::Map<String, Json>, argument: &Argument) {
    let what = match object.get("type").and_then(Json::as_str) {
        Some("array") => "Items",
        Some("object") => "Properties",
        _ => "Length",
    };
    for (end, length) in [("min", argument.min_len), ("max", argument.max_len)] {
        if let Some(length) = length {
            object.insert(format!("{end}{what}"), json!(length));
        }
    }
}

/// Members of an enum that are left out are not described either.
fn describe(object: &mut serde_json::Map<String, Json>, left: &[&Json]) {
    let gone = |line: &str| {
        let all = object.get("enum").and_then(Json::as_array);
        let mut all = all.into_iter().flatten();
        all.any(|member| {
            let name = member.as_str().unwrap_or_default();
            !left.contains(&member) && line.starts_with(&format!("- {name}: "))
        })
    };
    let Some(Json::String(text)) = object.get("description") else {
        return;
    };
    let kept: Vec<&str> = text.lines().filter(|line| !gone(line)).collect();
    let kept = kept.join("\n");
    object.insert("description".into(), kept.into());
}
