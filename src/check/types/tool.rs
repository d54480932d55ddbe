//! Bodies of tools.

use crate::diag::{Diagnostic, codes};
use crate::expr::Type;
use crate::expr::infer::{Checker, Taker, constant};
use crate::expr::ty::RUN;
use crate::ir::ToolId;
use crate::resolve::preparation::{Preparation, preparations};
use crate::resolve::program::{Program, Tool, ToolBody};

use super::cx::{Computed, Cx, Sent};
use super::jump::JumpStates;

/// What typing a tool's body has shown, for the graphs that run it.
#[derive(Debug, Clone, Default)]
pub struct BodyTypes {
    /// Types of the values that its `set` writes, in its order.
    pub sets: Vec<Type>,
    /// Types of the values that its jumps write, in their order.
    pub jump_sets: Vec<Type>,
    /// Its computed targets.
    pub computed: Vec<Computed>,
    /// What its `each` targets send.
    pub sends: Vec<Sent>,
}

/// Types a tool's body.
pub fn tool(program: &Program, id: ToolId, diags: &mut crate::diag::Diagnostics) -> BodyTypes {
    let Some((tool, body)) = program.tools.get(id).and_then(|t| {
        instead(program, t, diags);
        Some((t, t.body.as_ref()?))
    }) else {
        return BodyTypes::default();
    };
    let mut cx = Cx::outside(program, tool.span.file);
    for param in tool.params.iter().chain(&body.reads) {
        cx.declare(&param.name.node, param.ty.node.clone());
    }
    cx.declare("run", Type::Record(RUN));
    for step in preparations(&body.lets, &body.requires) {
        match step {
            Preparation::Let(bound) => cx.bound(bound),
            Preparation::Require(require) => cx.require(require),
        }
    }
    let mut sets = Vec::new();
    for item in &body.set {
        sets.push(cx.infer_with_effects(&item.value, None));
    }
    cx.emits(&body.emits);
    if let Some(goto) = &body.goto {
        cx.tool = Some(tool.name.node.clone());
        cx.route(goto, &mut JumpStates::new());
    }
    returns(&mut cx, tool, body);
    diags.append(cx.diags);
    BodyTypes {
        sets,
        jump_sets: cx.jump_sets,
        computed: cx.computed,
        sends: cx.sends,
    }
}

/// `@on_error(VALUE)`: a constant of the result's type.
fn instead(program: &Program, tool: &Tool, diags: &mut crate::diag::Diagnostics) {
    let Some(value) = &tool.on_error else { return };
    let Some(returns) = &tool.returns else {
        let message = format!(
            "`@on_error` stands for a result, and tool `{}` gives nothing back",
            tool.name.node
        );
        diags.push(
            Diagnostic::new(&codes::TYPE_MISMATCH, message, value.span)
                .label(tool.name.span, "declared without a result")
                .help("take it out, or give the tool a result"),
        );
        return;
    };
    let mut cx = Cx::outside(program, value.span.file);
    Checker::new(&cx.scope, &program.types, &mut cx.diags)
        .declaring()
        .into(Some(gives_back(tool)))
        .infer(value, Some(&returns.node));
    if cx.diags.is_empty() && constant(value, &program.types).is_none() {
        let message = "the value of `@on_error` must be a constant";
        cx.report(
            Diagnostic::new(&codes::DEFAULT_NOT_CONSTANT, message, value.span)
                .help("write a literal, a list, a map or a record of them"),
        );
    }
    diags.append(cx.diags);
}

fn gives_back(tool: &Tool) -> Taker {
    Taker {
        what: format!("tool `{}`", tool.name.node),
        verb: "gives back",
        part: false,
        declared: tool.returns.as_ref().map(|ty| ty.span),
        of: None,
    }
}

fn returns(cx: &mut Cx, tool: &Tool, body: &ToolBody) {
    match (&tool.returns, &body.returns) {
        (Some(ty), Some(value)) => {
            cx.written(value, Some(&ty.node), Some(gives_back(tool)));
        }
        (None, Some(value)) => {
            let found = cx.infer_with_effects(value, None);
            let message = format!(
                "tool `{}` gives nothing back, but this returns {}",
                tool.name.node,
                cx.show(&found)
            );
            let to = cx.program.types.show(&found).to_string();
            cx.report(
                Diagnostic::new(&codes::TYPE_MISMATCH, message, value.span)
                    .label(tool.name.span, "declared without a result")
                    .help(format!("write `-> {to}` behind its parameters")),
            );
        }
        (Some(ty), None) if !ty.node.admits_null() => {
            let message = format!(
                "tool `{}` gives back {}, but its body has no `return`",
                tool.name.node,
                cx.show(&ty.node)
            );
            cx.report(
                Diagnostic::new(&codes::TYPE_MISMATCH, message, ty.span)
                    .help("end the body with `return EXPR`"),
            );
        }
        _ => {}
    }
}
