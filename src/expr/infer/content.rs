//! `message.content`, a text or a list of parts, where its text is meant: that is `message.text`.

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::base::Span;
use crate::diag::{Diagnostic, codes};

use super::super::ty::{MESSAGE, TEXT, Type};
use super::checker::Checker;
use super::path::path;

impl Checker<'_> {
    /// The name `content` of an expression that is the content of a message.
    pub(super) fn content_of<'e>(&mut self, expr: &'e Expr) -> Option<&'e Name> {
        let ExprKind::Select { operand, field, .. } = &expr.kind else {
            return None;
        };
        // Below a look without reports nothing would be said, and what is nested is looked at once.
        if self.quiet {
            return None;
        }
        let is_content =
            field.node == "content" && self.silent(operand).without_null() == Type::Record(MESSAGE);
        is_content.then_some(field)
    }

    /// `string(m.content)`, which fails where the content is a list of parts.
    pub(super) fn content_as_text(&mut self, call: &Expr, args: &[Expr]) {
        let [arg] = args else {
            return;
        };
        let Some(name) = self.content_of(arg) else {
            return;
        };
        let message =
            "the text of a message is `.text`; `string(..)` fails where the content has parts";
        let (begin, end) = (
            Span {
                end: arg.span.start,
                ..call.span
            },
            Span {
                start: name.span.start,
                ..call.span
            },
        );
        let found = Diagnostic::new(&codes::CONTENT_AS_TEXT, message, call.span);
        self.report(
            found
                .help("write `.text` in place of `string(..content)`")
                .fix(begin, "")
                .fix(end, TEXT),
        );
    }

    /// `m.content.text`: neither a text nor a list has fields.
    pub(super) fn field_of_content(&mut self, operand: &Expr, field: &Name) -> Option<Type> {
        let name = self.content_of(operand)?;
        let message = format!(
            "`content` is a text or a list of parts, so it has no field `{}`",
            field.node
        );
        let found = Diagnostic::new(&codes::UNKNOWN_FIELD, message, field.span);
        Some(self.report(match field.node == TEXT {
            true => found.help(text_of(operand)).fix(
                Span {
                    end: field.span.start,
                    ..name.span
                },
                "",
            ),
            false => found.help("the text of a message is `.text`; a part of it is `.content[0]`"),
        }))
    }
}

/// What to write for the content of a message where its text is meant.
pub(super) fn text_of(content: &Expr) -> String {
    let message = path(content);
    match message
        .as_deref()
        .and_then(|path| path.strip_suffix(".content"))
    {
        Some(message) => format!("write `{message}.{TEXT}`"),
        None => format!("the text of a message is `.{TEXT}`"),
    }
}
