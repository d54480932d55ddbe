//! Marks: what attributes say about where a value comes from and where it may go.
//!
//! `@untrusted @private @secret` stand on a tool (of its result), on fields of a state and of records; `@sink`
//! stands on a parameter of a tool. What follows from them is the checker's knowledge.

use crate::ast::expr::ExprKind;
use crate::ast::ty::Attribute;
use crate::ast::{Name, expr::Expr};
use crate::base::{Span, name};
use crate::diag::{Diagnostic, codes};
use crate::expr::Type;
use crate::ir::flow::SinkKind;

use super::Resolver;

/// Words of marks on values.
const MARKS: [&str; 3] = ["untrusted", "private", "secret"];

/// Attributes that only tools have.
const OF_TOOLS: [&str; 6] = [
    "effect",
    "approve",
    "unattended",
    "idempotent",
    "timeout",
    "on_error",
];

/// What is known of a value by declaration, each with the place of the attribute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks {
    /// `@untrusted`: somebody outside wrote it, and may have meant it for a model to read.
    pub untrusted: Option<Span>,
    /// `@private`: not everybody may see it.
    pub private: Option<Span>,
    /// `@secret`: no model, person, event or result may show it.
    pub secret: Option<Span>,
}

impl Marks {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Sets the mark of that word; `false` where it is none.
    pub(super) fn put(&mut self, attribute: &Attribute) -> bool {
        let slot = match attribute.name.node.as_str() {
            "untrusted" => &mut self.untrusted,
            "private" => &mut self.private,
            "secret" => &mut self.secret,
            _ => return false,
        };
        *slot = Some(attribute.span);
        true
    }
}

/// `@sink` on a parameter: what it is given is taken for more than data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sink {
    /// `@sink(shell)`: what takes it for more; `None` where it is not said.
    pub kind: Option<SinkKind>,
    /// The attribute.
    pub span: Span,
}

/// Where the attributes of a value stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// On a field of a record or a state.
    Field,
    /// On a parameter of a tool.
    Parameter,
    /// Where values only pass through: events, inputs, reducers, `reads`.
    Passing,
}

impl Place {
    /// The marks that may stand there.
    pub(super) fn marks(self) -> &'static [&'static str] {
        match self {
            Place::Field => &MARKS,
            Place::Parameter => &["sink"],
            Place::Passing => &[],
        }
    }
}

impl Resolver<'_> {
    /// The marks among the attributes of a value. Repeated ones are reported with the bounds.
    pub(super) fn marks(
        &mut self,
        attributes: &[Attribute],
        ty: &Type,
        place: Place,
    ) -> (Marks, Option<Sink>) {
        let (mut marks, mut sink) = (Marks::default(), None);
        for attribute in attributes {
            match (attribute.name.node.as_str(), place) {
                ("sink", Place::Parameter) => sink = self.sink(attribute, ty).or(sink),
                (word, Place::Field) if MARKS.contains(&word) => {
                    marks.put(attribute);
                    self.takes_nothing(attribute);
                }
                _ => {}
            }
        }
        (marks, sink)
    }

    /// Whether an attribute is a mark that may stand there, or one that was reported to stand in
    /// the wrong place: in both cases it is no bound.
    pub(super) fn no_bound(&mut self, attribute: &Attribute, place: Place) -> bool {
        let word = attribute.name.node.as_str();
        let belongs = match (word, place) {
            ("sink", Place::Parameter) => return true,
            ("sink", _) => "a parameter of a tool",
            (word, Place::Field) if MARKS.contains(&word) => return true,
            (word, _) if MARKS.contains(&word) => "a tool or a field of a state or a record",
            (word, _) if OF_TOOLS.contains(&word) => "a tool, behind its result",
            _ => return false,
        };
        let here = match place {
            Place::Field => "a field",
            Place::Parameter => "a parameter",
            Place::Passing => "a value that is passed on",
        };
        let message = format!("`@{word}` stands on {belongs}, not on {here}");
        self.diags.push(Diagnostic::new(
            &codes::UNKNOWN_ATTRIBUTE,
            message,
            attribute.span,
        ));
        true
    }

    /// Reports arguments of an attribute that has none.
    pub(super) fn takes_nothing(&mut self, attribute: &Attribute) {
        if attribute.args.is_empty() {
            return;
        }
        let message = format!("`@{}` takes no arguments", attribute.name.node);
        self.bad_value(message, attribute.span);
    }

    fn sink(&mut self, attribute: &Attribute, ty: &Type) -> Option<Sink> {
        let kind = match attribute.args.as_slice() {
            [] => None,
            [
                Expr {
                    kind: ExprKind::Ident(word),
                    span,
                },
            ] => Some(self.sink_kind(&Name::new(word.clone(), *span))?),
            _ => {
                let words = name::list(SinkKind::ALL.iter().map(|kind| kind.word()));
                let message = format!("`@sink` takes nothing or one of {words}");
                self.bad_value(message, attribute.span);
                return None;
            }
        };
        if matches!(
            ty.without_null(),
            Type::Bool | Type::Int | Type::Float | Type::Timestamp | Type::Duration | Type::Enum(_)
        ) {
            let shown = self.program.types.show(ty).to_string();
            let message = format!("`@sink` means nothing on `{shown}`, which holds no free text");
            self.diags.push(Diagnostic::new(
                &codes::USELESS_ATTRIBUTE,
                message,
                attribute.span,
            ));
        }
        Some(Sink {
            kind,
            span: attribute.span,
        })
    }

    fn sink_kind(&mut self, written: &Name) -> Option<SinkKind> {
        let word = written.node.as_str();
        let found = SinkKind::ALL.into_iter().find(|kind| kind.word() == word);
        if found.is_none() {
            let words = SinkKind::ALL.map(SinkKind::word);
            self.bad_word("kind of sink", written, &words);
        }
        found
    }
}
