//! Expressions (CEL) as written.
//!
//! One tree for every stage: the checker types it, the evaluator compiles it, the formatter
//! prints it. Macros stay calls here: `xs.map(x, x + 1)` is a [`ExprKind::Call`] with two arguments.

use std::sync::Arc;

use thin_vec::ThinVec;

use crate::base::{Span, Spanned};

use super::Name;

/// An expression and its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// From its first to its last byte, parentheses around it left out.
    pub span: Span,
}

impl Expr {
    /// Shows every expression directly inside this one, in the order written.
    pub fn each_part<'a>(&'a self, mut visit: impl FnMut(&'a Expr)) {
        match &self.kind {
            ExprKind::Literal(_) | ExprKind::Ident(_) | ExprKind::Error => {}
            ExprKind::Select { operand, .. } | ExprKind::Unary(_, operand) => visit(operand),
            ExprKind::Index { operand, index, .. } => {
                visit(operand);
                visit(index);
            }
            ExprKind::Call { target, args, .. } => {
                target.as_deref().into_iter().chain(args).for_each(visit);
            }
            ExprKind::Binary(_, left, right) => {
                visit(left);
                visit(right);
            }
            ExprKind::Logical(_, operands) => operands.iter().for_each(visit),
            ExprKind::Conditional(condition, yes, no) => {
                [condition, yes, no]
                    .into_iter()
                    .for_each(|part| visit(part));
            }
            ExprKind::List(elements) => elements.iter().for_each(|e| visit(&e.value)),
            ExprKind::Map(entries) => {
                let parts = entries.iter().flat_map(|e| [&e.key, &e.value]);
                parts.for_each(visit);
            }
            ExprKind::Record { fields, .. } => fields.iter().for_each(|f| visit(&f.value)),
        }
    }

    /// The same, to change them.
    pub fn each_part_mut(&mut self, mut visit: impl FnMut(&mut Expr)) {
        match &mut self.kind {
            ExprKind::Literal(_) | ExprKind::Ident(_) | ExprKind::Error => {}
            ExprKind::Select { operand, .. } | ExprKind::Unary(_, operand) => visit(operand),
            ExprKind::Index { operand, index, .. } => {
                visit(operand);
                visit(index);
            }
            ExprKind::Call { target, args, .. } => {
                let target = target.as_deref_mut();
                target.into_iter().chain(args).for_each(visit);
            }
            ExprKind::Binary(_, left, right) => {
                visit(left);
                visit(right);
            }
            ExprKind::Logical(_, operands) => operands.iter_mut().for_each(visit),
            ExprKind::Conditional(condition, yes, no) => {
                visit(condition);
                visit(yes);
                visit(no);
            }
            ExprKind::List(elements) => elements.iter_mut().for_each(|e| visit(&mut e.value)),
            ExprKind::Map(entries) => {
                let parts = entries.iter_mut().flat_map(|e| [&mut e.key, &mut e.value]);
                parts.for_each(visit);
            }
            ExprKind::Record { fields, .. } => fields.iter_mut().for_each(|f| visit(&mut f.value)),
        }
    }

    /// Takes `bytes` off the start and end of all spans.
    pub fn move_back(&mut self, bytes: u32) {
        self.span.move_back(bytes);
        match &mut self.kind {
            ExprKind::Select { field: name, .. } | ExprKind::Call { function: name, .. } => {
                name.span.move_back(bytes);
            }
            ExprKind::Binary(op, ..) => op.span.move_back(bytes),
            ExprKind::Record { name, fields } => {
                name.span.move_back(bytes);
                let names = fields.iter_mut().map(|field| &mut field.name);
                names.for_each(|name| name.span.move_back(bytes));
            }
            _ => {}
        }
        self.each_part_mut(|part| part.move_back(bytes));
    }

    /// The names of `a.b.c`, with their dots; `None` for any other form.
    pub fn dotted(&self) -> Option<String> {
        let (mut parts, mut at) = (Vec::new(), self);
        while let ExprKind::Select {
            operand,
            field,
            optional: false,
        } = &at.kind
        {
            parts.push(field.as_str());
            at = operand;
        }
        let ExprKind::Ident(name) = &at.kind else {
            return None;
        };
        parts.push(name);
        parts.reverse();
        Some(parts.join("."))
    }

    /// The expressions directly inside this one, in the order written.
    pub fn parts(&self) -> Vec<&Expr> {
        let mut parts = Vec::new();
        self.each_part(|part| parts.push(part));
        parts
    }
}

/// The forms of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// `12`, `"text"`, `null`, ...
    Literal(Literal),
    /// `state`, `x`; also the first part of `Status.pending`. A leading dot (`.x`) is dropped.
    Ident(String),
    /// `a.b`, or `a.?b` where `optional`.
    Select {
        /// Left of the dot.
        operand: Box<Expr>,
        /// Right of the dot.
        field: Name,
        /// `.?`
        optional: bool,
    },
    /// `a[i]`, or `a[?i]` where `optional`.
    Index {
        /// Left of the bracket.
        operand: Box<Expr>,
        /// Between the brackets.
        index: Box<Expr>,
        /// `[?`
        optional: bool,
    },
    /// `f(a)` or `x.f(a)`, macros such as `has(a.b)` and `xs.map(x, e)` included.
    Call {
        /// Left of the dot, for a method.
        target: Option<Box<Expr>>,
        /// Name of the function or macro.
        function: Name,
        /// Arguments as written.
        args: ThinVec<Expr>,
    },
    /// `!a`, `-a`.
    Unary(UnaryOp, Box<Expr>),
    /// `a + b` and the like; `&&` and `||` are [`ExprKind::Logical`].
    Binary(Spanned<BinaryOp>, Box<Expr>, Box<Expr>),
    /// `a && b && c`, at least two operands, flat.
    Logical(LogicalOp, Vec<Expr>),
    /// `c ? a : b`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `[a, ?b]`
    List(Vec<Element>),
    /// `{k: v}`
    Map(Vec<Entry>),
    /// `Doc { id: "x" }`; the name may be dotted.
    Record {
        /// Name of the type.
        name: Name,
        /// Fields as written.
        fields: ThinVec<RecordField>,
    },
    /// A part that could not be parsed; the error is already reported.
    Error,
}

/// An element of a list literal.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    /// The value.
    pub value: Expr,
    /// `?value`: left out where the optional is none.
    pub optional: bool,
}

/// An entry of a map literal.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Expr,
    /// The value.
    pub value: Expr,
    /// `?key: value`: left out where the optional is none.
    pub optional: bool,
}

/// A field of a record literal.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordField {
    /// Its name.
    pub name: Name,
    /// Its value.
    pub value: Expr,
    /// `?name: value`: left out where the optional is none.
    pub optional: bool,
}

/// A literal of a primitive type.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// `12`, `0x1f`. `-9223372036854775808` is one literal, since its positive half has no room.
    Int(i64),
    /// `12u`
    UInt(u64),
    /// `1.5`, `1e3`
    Float(f64),
    /// `"text"`, `'text'`, `r"raw"`, `"""long"""`
    String(Arc<str>),
    /// `b"bytes"`
    Bytes(Arc<[u8]>),
}

/// Operators of one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    /// `!`
    Not,
    /// `-`
    Negate,
}

/// Operators of two operands that always evaluate both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `in`
    In,
}

impl BinaryOp {
    /// All of them.
    pub const ALL: [BinaryOp; 12] = [
        BinaryOp::Add,
        BinaryOp::Subtract,
        BinaryOp::Multiply,
        BinaryOp::Divide,
        BinaryOp::Modulo,
        BinaryOp::Equal,
        BinaryOp::NotEqual,
        BinaryOp::Less,
        BinaryOp::LessEqual,
        BinaryOp::Greater,
        BinaryOp::GreaterEqual,
        BinaryOp::In,
    ];

    /// The sign as it is written.
    pub fn sign(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Modulo => "%",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "!=",
            BinaryOp::Less => "<",
            BinaryOp::LessEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterEqual => ">=",
            BinaryOp::In => "in",
        }
    }
}

/// Operators that may leave operands unevaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogicalOp {
    /// `&&`
    And,
    /// `||`
    Or,
}
