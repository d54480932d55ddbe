//! `model-lacks`, `weak-fallback`, `no-native-schema` and `unknown-family`: what nodes ask that a model can't do.

use std::collections::BTreeSet;

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::Type;
use crate::ir::ModelId;
use crate::resolve::program::{ModelCall, Node};

use super::Family;
use crate::lint::cx::{Cx, call};

/// What a node may ask of a model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    Tools,
    Schema,
}

/// Looks at each node's model, and at those that it falls back to.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    let mut seen: BTreeSet<(Span, Need)> = BTreeSet::new();
    let mut asking: BTreeSet<ModelId> = BTreeSet::new();
    for (_, node) in cx.nodes() {
        let Some(asked) = call(node) else { continue };
        let Some(model) = asked.model else { continue };
        for (need, place) in needs(asked) {
            own(cx, (node, model), (need, place), diags);
            for entry in cx
                .program
                .models
                .get(model)
                .iter()
                .flat_map(|m| &m.fallback)
            {
                if seen.insert((entry.span, need)) {
                    let fallback = (entry.node, entry.span);
                    weaker(cx, (node, model), fallback, (need, place), diags);
                }
            }
            asking.insert(model);
        }
    }
    let unknown = cx.asked_by(asking).into_iter();
    let unknown = unknown.filter(|id| family(cx, *id).is_none());
    let unknown: BTreeSet<ModelId> = unknown.collect();
    let unknown = unknown.into_iter().filter_map(|id| unknown_model(cx, id));
    unknown.for_each(|finding| diags.push(finding));
}

/// Says that a model's abilities were not looked at.
fn unknown_model(cx: &Cx<'_>, id: ModelId) -> Option<Diagnostic> {
    let model = cx.program.models.get(id)?;
    let message = format!(
        "nothing is known of `{}`: what model `{}` is able to do is not checked",
        model.reference.node, model.name.node
    );
    let finding = Diagnostic::new(&codes::UNKNOWN_FAMILY, message, model.reference.span);
    Some(finding.help("say it under `model_families` in graphc.yaml"))
}

fn family<'c>(cx: &'c Cx<'_>, model: ModelId) -> Option<&'c Family> {
    let model = cx.program.models.get(model)?;
    cx.families.of(&model.reference.node)
}

/// What a node asks, each with its place.
fn needs(call: &ModelCall) -> Vec<(Need, Span)> {
    let tools = call.tools.as_ref().filter(|list| !list.tools.is_empty());
    let tools = tools.map(|list| (Need::Tools, list.span));
    let typed = call.output.as_ref();
    let typed = typed.filter(|ty| !matches!(ty.node, Type::Json | Type::String));
    let typed = typed.map(|ty| (Need::Schema, ty.span));
    tools.into_iter().chain(typed).collect()
}

/// Whether the model is able to; `None` where that isn't known.
fn able(cx: &Cx<'_>, model: ModelId, need: Need) -> Option<bool> {
    let family = family(cx, model)?;
    match need {
        Need::Tools => family.tools,
        Need::Schema => family.schema,
    }
}

fn own(
    cx: &Cx<'_>,
    (node, model): (&Node, ModelId),
    (need, place): (Need, Span),
    diags: &mut Diagnostics,
) {
    if able(cx, model, need) != Some(false) {
        return;
    }
    let Some(model) = cx.program.models.get(model) else {
        return;
    };
    let (name, reference) = (&model.name.node, &model.reference.node);
    let node = &node.name.node;
    let finding = match need {
        Need::Tools => Diagnostic::new(
            &codes::MODEL_LACKS,
            format!(
                "node `{node}` gives tools to model `{name}`, but `{reference}` can't call tools"
            ),
            place,
        )
        .help("take another model, or have the tool called by a `call` node"),
        Need::Schema => Diagnostic::new(
            &codes::NO_NATIVE_SCHEMA,
            format!(
                "`{reference}` can't be held to a schema: the reply in `{node}` is read leniently and asked for once more if it is wrong"
            ),
            place,
        ),
    };
    let known = cx.families.source(reference);
    diags.push(finding.label(model.reference.span, known));
}

fn weaker(
    cx: &Cx<'_>,
    (node, model): (&Node, ModelId),
    (fallback, entry): (ModelId, Span),
    (need, place): (Need, Span),
    diags: &mut Diagnostics,
) {
    let lacks = able(cx, fallback, need) == Some(false);
    if !lacks || able(cx, model, need) == Some(false) {
        return;
    }
    let what = match need {
        Need::Tools => "can't call tools",
        Need::Schema => "can't be held to a schema",
    };
    let Some(other) = cx.program.models.get(fallback) else {
        return;
    };
    let message = format!(
        "fallback `{}` of model `{}` {what}, which node `{}` needs",
        other.name.node,
        cx.model_name(model),
        node.name.node
    );
    diags.push(
        Diagnostic::new(&codes::WEAK_FALLBACK, message, entry)
            .label(place, "needed here")
            .label(
                other.reference.span,
                cx.families.source(&other.reference.node),
            )
            .help("fall back to a model that is able to"),
    );
}
