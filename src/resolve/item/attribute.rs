//! Attributes of tools: `@effect(write) @idempotent @timeout(10s) @approve ..`.

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::ast::ty::Attribute;
use crate::base::{FileId, duration};
use crate::diag::codes;
use crate::ir::EventId;
use crate::ir::flow::ToolEffect;

use super::super::Resolver;
use super::super::names::{Definition, Seen, Wanted};
use super::super::program::Tool;

/// Those that tools have.
const KNOWN: [&str; 10] = [
    "effect",
    "idempotent",
    "timeout",
    "approve",
    "unattended",
    "on_error",
    "progress",
    "untrusted",
    "private",
    "secret",
];

/// Those that stand on parameters and fields.
const OF_VALUES: [&str; 7] = ["min", "max", "len", "pattern", "desc", "alias", "sink"];

impl Resolver<'_> {
    /// Applies the attributes to a tool.
    pub fn tool_attributes(&mut self, file: FileId, tool: &mut Tool, attributes: &[Attribute]) {
        let mut seen = Seen::default();
        for attribute in attributes {
            match seen.insert(&attribute.name, &attribute.name) {
                Some(first) => {
                    let word = format!("@{}", attribute.name.node);
                    self.given_twice_at(&word, first.span, attribute.span);
                }
                None => self.tool_attribute(file, tool, attribute),
            }
        }
    }

    fn tool_attribute(&mut self, file: FileId, tool: &mut Tool, attribute: &Attribute) {
        match attribute.name.node.as_str() {
            "effect" => {
                tool.effect_span = Some(attribute.span);
                if let Some(effect) = self.effect(attribute) {
                    tool.effect = effect;
                }
            }
            "idempotent" => tool.idempotent = self.idempotent(attribute),
            "timeout" => tool.timeout_ms = self.timeout_attribute(attribute),
            "approve" => {
                self.takes_nothing(attribute);
                tool.approve = Some(attribute.span);
            }
            "unattended" => {
                self.takes_nothing(attribute);
                tool.unattended = Some(attribute.span);
            }
            "on_error" => tool.on_error = self.on_error_value(file, attribute),
            "progress" => tool.progress = self.progress(file, attribute),
            _ if tool.marks.put(attribute) => self.takes_nothing(attribute),
            word if OF_VALUES.contains(&word) => self.not_on_tools(tool, attribute),
            _ => self.refuse_attribute(attribute, &KNOWN),
        }
    }

    fn effect(&mut self, attribute: &Attribute) -> Option<ToolEffect> {
        let written = match attribute.args.as_slice() {
            [argument] => match &argument.kind {
                ExprKind::Ident(word) => Some(Name::new(word.clone(), argument.span)),
                _ => None,
            },
            _ => None,
        };
        let needs = "one of `read`, `write` and `destructive`";
        let written = self.or_wrong(attribute, written, needs)?;
        match written.node.as_str() {
            "read" => Some(ToolEffect::Read),
            "write" => Some(ToolEffect::Write),
            "destructive" => Some(ToolEffect::Destructive),
            _ => {
                self.bad_word("effect", &written, &["read", "write", "destructive"]);
                None
            }
        }
    }

    fn idempotent(&mut self, attribute: &Attribute) -> Option<bool> {
        let value = match attribute.args.as_slice() {
            [] => Some(true),
            [argument] => match argument.kind {
                ExprKind::Literal(Literal::Bool(value)) => Some(value),
                _ => None,
            },
            _ => None,
        };
        self.or_wrong(attribute, value, "`true` or `false`, or nothing")
    }

    fn on_error_value(&mut self, file: FileId, attribute: &Attribute) -> Option<Expr> {
        let value = match attribute.args.as_slice() {
            [value] => Some(value),
            _ => None,
        };
        let needs = "one value, the result in place of an error, as in `@on_error([])`";
        let value = self.or_wrong(attribute, value, needs)?;
        Some(self.expr(file, value))
    }

    fn progress(&mut self, file: FileId, attribute: &Attribute) -> Option<EventId> {
        let name = match attribute.args.as_slice() {
            [argument] => argument.dotted().map(|name| Name::new(name, argument.span)),
            _ => None,
        };
        let needs = "the name of an event, as in `@progress(import.progress)`";
        let name = self.or_wrong(attribute, name, needs)?;
        match self.find(file, &name, Wanted::Event)? {
            Definition::Event(event) => Some(event),
            _ => None,
        }
    }

    fn not_on_tools(&mut self, tool: &Tool, attribute: &Attribute) {
        let word = &attribute.name.node;
        let belongs = match word.as_str() {
            "sink" => "a parameter",
            _ => "a parameter or a field",
        };
        let message = format!(
            "`@{word}` stands on {belongs}, not on tool `{}`",
            tool.name.node
        );
        let help = match word.as_str() {
            "desc" => "write a doc comment `/// ..` above the tool".to_owned(),
            _ => format!("write it behind the type of a parameter, as in `name: string @{word}`"),
        };
        self.report(&codes::UNKNOWN_ATTRIBUTE, message, attribute.span, help);
    }

    fn timeout_attribute(&mut self, attribute: &Attribute) -> Option<u64> {
        let argument = match attribute.args.as_slice() {
            [argument] => Some(argument),
            _ => None,
        };
        // What is no literal at all is reported where it was read, and so is a bad duration.
        if argument.is_some_and(|argument| matches!(argument.kind, ExprKind::Error)) {
            return None;
        }
        let text = argument.and_then(duration_text);
        let text = self.or_wrong(attribute, text, "a duration, as in `@timeout(10s)`")?;
        let millis = u64::try_from(duration::parse(text)?.as_millis()).ok()?;
        if millis == 0 {
            let message = "`@timeout` is 0, expected a duration such as `10s`";
            self.bad_value(message.to_owned(), attribute.span);
        }
        (millis > 0).then_some(millis)
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
