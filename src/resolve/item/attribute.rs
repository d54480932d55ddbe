//! Attributes of tools: `@effect(write) @idempotent @timeout(10s)`.

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::ast::ty::Attribute;
use crate::diag::{Diagnostic, codes};
use crate::ir::flow::ToolEffect;

use super::super::Resolver;
use super::super::program::Tool;

/// Those with a meaning.
const BUILT: [&str; 3] = ["effect", "idempotent", "timeout"];

/// Those that the language knows besides.
const KNOWN: [&str; 5] = ["approve", "on_error", "unattended", "untrusted", "sink"];

impl Resolver<'_> {
    /// Applies the attributes to a tool.
    pub fn tool_attributes(&mut self, tool: &mut Tool, attributes: &[Attribute]) {
        let mut seen: Vec<&Name> = Vec::new();
        for attribute in attributes {
            if let Some(first) = seen.iter().find(|n| n.node == attribute.name.node) {
                let message = format!("`@{}` is given twice", attribute.name.node);
                let diagnostic =
                    Diagnostic::new(&codes::DUPLICATE_PROPERTY, message, attribute.span)
                        .label(first.span, "first given here");
                self.diags.push(diagnostic);
                continue;
            }
            seen.push(&attribute.name);
            match attribute.name.node.as_str() {
                "effect" => {
                    if let Some(effect) = self.effect(attribute) {
                        tool.effect = effect;
                    }
                }
                "idempotent" => tool.idempotent = self.idempotent(attribute),
                "timeout" => tool.timeout_ms = self.timeout_attribute(attribute),
                _ => self.refuse_attribute(attribute, &KNOWN, &BUILT),
            }
        }
    }

    fn effect(&mut self, attribute: &Attribute) -> Option<ToolEffect> {
        if let [argument] = attribute.args.as_slice()
            && let ExprKind::Ident(word) = &argument.kind
        {
            match word.as_str() {
                "read" => return Some(ToolEffect::Read),
                "write" => return Some(ToolEffect::Write),
                // What it promises is a check of who approves the call, which there is none of.
                "destructive" => {
                    let what = "`@effect(destructive)`";
                    self.diags
                        .push(super::super::unsupported(what, attribute.span));
                    return None;
                }
                _ => {
                    let written = Name::new(word.clone(), argument.span);
                    self.bad_word("effect", &written, &["read", "write", "destructive"]);
                    return None;
                }
            }
        }
        let message = "`@effect` needs one of `read`, `write` and `destructive`";
        self.bad_value(message.to_owned(), attribute.span);
        None
    }

    fn idempotent(&mut self, attribute: &Attribute) -> Option<bool> {
        match attribute.args.as_slice() {
            [] => return Some(true),
            [argument] => {
                if let ExprKind::Literal(Literal::Bool(value)) = argument.kind {
                    return Some(value);
                }
            }
            _ => {}
        }
        let message = "`@idempotent` takes nothing, `true` or `false`";
        self.bad_value(message.to_owned(), attribute.span);
        None
    }

    fn timeout_attribute(&mut self, attribute: &Attribute) -> Option<u64> {
        let millis = match attribute.args.as_slice() {
            [argument] => duration_text(argument).map(millis),
            _ => None,
        };
        match millis {
            Some(Some(millis)) if millis > 0 => Some(millis),
            // A bad duration is an error of syntax.
            Some(None) => None,
            Some(Some(_)) => {
                self.bad_value(
                    "`@timeout` is 0, expected a duration such as `10s`".into(),
                    attribute.span,
                );
                None
            }
            None => {
                let message = "`@timeout` needs a duration, as in `@timeout(10s)`";
                self.bad_value(message.to_owned(), attribute.span);
                None
            }
        }
    }
}

/// The text of `10s`, which the tree holds as `duration("10s")`.
fn duration_text(argument: &Expr) -> Option<&str> {
    let ExprKind::Call {
        target: None,
        function,
        args,
    } = &argument.kind
    else {
        return None;
    };
    match args.as_slice() {
        [
            Expr {
                kind: ExprKind::Literal(Literal::String(text)),
                ..
            },
        ] if function.node == "duration" => Some(text),
        _ => None,
    }
}

/// Milliseconds of a duration of the language.
fn millis(text: &str) -> Option<u64> {
    let unit = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(unit);
    let scale = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(scale)
}
