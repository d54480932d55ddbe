//! Expressions: from flat rows of operands and operators to trees.

use std::iter::Peekable;

use crate::ast::Name;
use crate::ast::expr::{
    BinaryOp, Element, Entry, Expr, ExprKind, Literal, LogicalOp, RecordField, UnaryOp,
};
use crate::base::{Span, Spanned};
use crate::diag::{Diagnostic, codes};

use super::build::Builder;
use super::grammar::{Pair, Pairs, Rule};
use super::literal;
use super::text::Quoted;

/// How high the tree of an expression may be. Every later stage may thus walk it by recursion.
pub const MAX_HEIGHT: u32 = 400;

/// An expression and what its parent needs to know of it.
pub(super) struct Tall {
    expr: Expr,
    /// Its place with the parentheses around it.
    outer: Span,
    /// Height of its tree.
    height: u32,
}

impl Tall {
    fn leaf(kind: ExprKind, span: Span) -> Self {
        Self {
            expr: Expr { kind, span },
            outer: span,
            height: 1,
        }
    }
}

type Row<'i> = Peekable<Pairs<'i>>;

impl Builder<'_> {
    /// An expression.
    pub fn expr(&mut self, pair: Pair) -> Expr {
        let outer = std::mem::replace(&mut self.too_deep, false);
        let expr = self.tall(pair).expr;
        self.too_deep = outer;
        expr
    }

    fn tall(&mut self, pair: Pair) -> Tall {
        let span = self.span(&pair);
        let mut row = pair.into_inner().peekable();
        self.conditional(&mut row)
            .unwrap_or_else(|| Tall::leaf(ExprKind::Error, span))
    }

    /// Puts a node over others, unless it would be too high.
    fn over(&mut self, kind: ExprKind, span: Span, below: u32) -> Tall {
        if below < MAX_HEIGHT {
            return Tall {
                expr: Expr { kind, span },
                outer: span,
                height: below + 1,
            };
        }
        if !self.too_deep {
            self.too_deep = true;
            let message = format!("this expression is more than {MAX_HEIGHT} levels deep");
            self.diags.push(
                Diagnostic::new(&codes::LIMIT_EXCEEDED, message, span)
                    .help("name parts of it by `let`, or make a list and fold it"),
            );
        }
        Tall::leaf(ExprKind::Error, span)
    }

    /// `c ? a : d ? b : e`, built from its end.
    fn conditional(&mut self, row: &mut Row) -> Option<Tall> {
        let mut branches = Vec::new();
        let mut last = self.binary(row, 0)?;
        while row.next_if(|p| p.as_rule() == Rule::question).is_some() {
            let yes = self.binary(row, 0)?;
            row.next_if(|p| p.as_rule() == Rule::colon)?;
            let no = self.binary(row, 0)?;
            branches.push((last, yes));
            last = no;
        }
        for (condition, yes) in branches.into_iter().rev() {
            let span = condition.outer.to(last.outer);
            let below = condition.height.max(yes.height).max(last.height);
            let kind = ExprKind::Conditional(
                Box::new(condition.expr),
                Box::new(yes.expr),
                Box::new(last.expr),
            );
            last = self.over(kind, span, below);
        }
        Some(last)
    }

    /// Operators that bind at least as strongly as `least`, by precedence climbing: it recurses once a
    /// level of precedence, not once an operator.
    fn binary(&mut self, row: &mut Row, least: u8) -> Option<Tall> {
        let mut left = self.unary(row)?;
        while let Some(op) = row.peek().filter(|p| p.as_rule() == Rule::op) {
            let (strength, op_kind) = operator(op.as_str())?;
            if strength < least {
                break;
            }
            let op_span = self.word_span(op);
            row.next();
            left = match op_kind {
                Operator::Logical(op) => self.logical(left, op, strength, row)?,
                Operator::Binary(op) => {
                    let right = self.binary(row, strength + 1)?;
                    let span = left.outer.to(right.outer);
                    let below = left.height.max(right.height);
                    let kind = ExprKind::Binary(
                        Spanned::new(op, op_span),
                        Box::new(left.expr),
                        Box::new(right.expr),
                    );
                    self.over(kind, span, below)
                }
            };
        }
        Some(left)
    }

    /// The whole chain of one logical operator, whose first sign is already taken.
    fn logical(&mut self, first: Tall, op: LogicalOp, strength: u8, row: &mut Row) -> Option<Tall> {
        let mut span = first.outer;
        let mut below = first.height;
        let mut operands = vec![first.expr];
        loop {
            let next = self.binary(row, strength + 1)?;
            span = span.to(next.outer);
            below = below.max(next.height);
            operands.push(next.expr);
            let again = row.next_if(|p| {
                p.as_rule() == Rule::op
                    && matches!(operator(p.as_str()), Some((_, Operator::Logical(next))) if next == op)
            });
            if again.is_none() {
                return Some(self.over(ExprKind::Logical(op, operands), span, below));
            }
        }
    }

    /// Prefixes, an operand and what follows it.
    fn unary(&mut self, row: &mut Row) -> Option<Tall> {
        let mut prefixes = Vec::new();
        while let Some(prefix) = row.next_if(|p| p.as_rule() == Rule::prefix) {
            prefixes.push((prefix.as_str() == "-", self.word_span(&prefix)));
        }
        let first = row.next()?;
        let mut operand = if first.as_rule() == Rule::number {
            let minus = prefixes.pop_if(|(minus, _)| *minus);
            self.number(&first, minus.map(|(_, span)| span))
        } else {
            self.primary(first, row)?
        };
        while let Some(next) = row.next_if(|p| is_postfix(p.as_rule())) {
            operand = self.postfix(operand, next)?;
        }
        for (minus, span) in prefixes.into_iter().rev() {
            let op = if minus { UnaryOp::Negate } else { UnaryOp::Not };
            let span = span.to(operand.outer);
            let kind = ExprKind::Unary(op, Box::new(operand.expr));
            operand = self.over(kind, span, operand.height);
        }
        Some(operand)
    }

    /// A number with the minus directly before it.
    fn number(&mut self, pair: &Pair, minus: Option<Span>) -> Tall {
        let span = self.word_span(pair);
        let span = minus.map_or(span, |minus| minus.to(span));
        let kind = match literal::number(pair.as_str(), minus.is_some(), span) {
            Ok(literal) => ExprKind::Literal(literal),
            Err(mut found) => {
                let before = self.text.get(..span.start as usize);
                let called = before.is_some_and(|before| before.ends_with("duration("));
                if let Some(edit) = found.fix.first_mut().filter(|_| called) {
                    edit.text = format!("\"{}\"", pair.as_str());
                }
                self.diags.push(*found);
                ExprKind::Error
            }
        };
        Tall::leaf(kind, span)
    }

    fn primary(&mut self, pair: Pair, row: &mut Row) -> Option<Tall> {
        let span = self.span(&pair);
        Some(match pair.as_rule() {
            Rule::name | Rule::lower if super::keyword::RESERVED.contains(&pair.as_str()) => {
                let message = format!("`{}` is a reserved word, not a name", pair.as_str());
                self.diags
                    .push(Diagnostic::new(&codes::SYNTAX_ERROR, message, span));
                Tall::leaf(ExprKind::Error, span)
            }
            Rule::name | Rule::lower => match row.next_if(|p| p.as_rule() == Rule::args) {
                Some(args) => self.call(None, self.name(&pair), args),
                None => Tall::leaf(word(pair.as_str()), span),
            },
            Rule::string => self.string(&pair),
            Rule::paren => Tall {
                outer: span,
                ..self.tall(pair.into_inner().next()?)
            },
            Rule::list => self.list(pair, span),
            Rule::map => self.map(pair, span),
            Rule::record => {
                let mut parts = pair.into_inner();
                let name = self.name(&parts.next()?);
                self.record(name, parts.next()?)
            }
            _ => return None,
        })
    }

    fn string(&mut self, pair: &Pair) -> Tall {
        let span = self.word_span(pair);
        let quoted = Quoted::new(pair.as_str());
        let literal = match quoted.bytes {
            true => Literal::Bytes(self.decoder(span).bytes(&quoted).into()),
            false => Literal::String(self.decoder(span).string(&quoted).into()),
        };
        Tall::leaf(ExprKind::Literal(literal), span)
    }

    fn call(&mut self, target: Option<Tall>, function: Name, args: Pair) -> Tall {
        let mut span = function.span.to(self.span(&args));
        let mut below = 0;
        if let Some(target) = &target {
            span = target.outer.to(span);
            below = target.height;
        }
        let mut built = Vec::new();
        let mut author = None;
        for arg in args.into_inner() {
            if arg.as_rule() == Rule::author {
                author = Some(arg);
                continue;
            }
            let arg = self.tall(arg);
            below = below.max(arg.height);
            built.push(arg.expr);
        }
        let says = target.is_none() && MAKERS.contains(&function.as_str());
        let name = function.clone();
        let kind = ExprKind::Call {
            target: target.map(|t| Box::new(t.expr)),
            function,
            args: built.into(),
        };
        let call = self.over(kind, span, below);
        match author {
            Some(author) => self.authored(call, author, &name, says),
            None => call,
        }
    }

    /// `user(x, name: "ann")`, which is `user(x).with({"name": "ann"})`.
    fn authored(&mut self, call: Tall, author: Pair, function: &Name, says: bool) -> Tall {
        let span = self.span(&author);
        let mut parts = author.into_inner();
        let (name, value) = (
            parts.next(),
            parts.find(|part| part.as_rule() == Rule::expr),
        );
        let (Some(name), Some(value)) = (name, value) else {
            return call;
        };
        if !says {
            let message = format!(
                "arguments of `{}` have no names, found `name:`",
                function.node
            );
            let found = Diagnostic::new(&codes::SYNTAX_ERROR, message, self.span(&name));
            let help = format!("write `{}(..)` with the values alone", function.node);
            self.diags.push(found.help(help));
            return call;
        }
        let value = self.tall(value);
        let key = Expr {
            kind: ExprKind::Literal(Literal::String(name.as_str().into())),
            span: self.span(&name),
        };
        let entry = Entry {
            key,
            value: value.expr,
            optional: false,
        };
        let changes = Expr {
            kind: ExprKind::Map(vec![entry]),
            span,
        };
        let whole = call.outer;
        let below = call.height.max(value.height + 1);
        let kind = ExprKind::Call {
            target: Some(Box::new(call.expr)),
            function: Spanned::new("with".to_owned(), function.span),
            args: vec![changes].into(),
        };
        self.over(kind, whole, below)
    }

    fn list(&mut self, pair: Pair, span: Span) -> Tall {
        let mut elements = Vec::new();
        let mut below = 0;
        let mut optional = false;
        for part in pair.into_inner() {
            if part.as_rule() == Rule::opt {
                optional = true;
                continue;
            }
            let value = self.tall(part);
            below = below.max(value.height);
            elements.push(Element {
                value: value.expr,
                optional: std::mem::take(&mut optional),
            });
        }
        self.over(ExprKind::List(elements), span, below)
    }

    fn map(&mut self, pair: Pair, span: Span) -> Tall {
        let mut entries = Vec::new();
        let mut below = 0;
        let mut optional = false;
        let mut key: Option<Expr> = None;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::opt => optional = true,
                Rule::expr => {
                    let part = self.tall(part);
                    below = below.max(part.height);
                    match key.take() {
                        None => key = Some(part.expr),
                        Some(key) => entries.push(Entry {
                            key,
                            value: part.expr,
                            optional: std::mem::take(&mut optional),
                        }),
                    }
                }
                _ => {}
            }
        }
        self.over(ExprKind::Map(entries), span, below)
    }

    fn record(&mut self, name: Name, body: Pair) -> Tall {
        let span = name.span.to(self.span(&body));
        let mut fields = Vec::new();
        let mut below = 0;
        for field in body.into_inner() {
            let mut optional = false;
            let mut field_name = None;
            for part in field.into_inner() {
                match part.as_rule() {
                    Rule::opt => optional = true,
                    Rule::selector => field_name = Some(self.selector(&part)),
                    Rule::expr => {
                        let value = self.tall(part);
                        below = below.max(value.height);
                        fields.extend(field_name.take().map(|name| RecordField {
                            name,
                            value: value.expr,
                            optional,
                        }));
                    }
                    _ => {}
                }
            }
        }
        self.over(
            ExprKind::Record {
                name,
                fields: fields.into(),
            },
            span,
            below,
        )
    }

    /// `.x`, `.?x`, `.x(..)`, `[i]`, `.Type { .. }`
    fn postfix(&mut self, operand: Tall, pair: Pair) -> Option<Tall> {
        let rule = pair.as_rule();
        let span = operand.outer.to(self.span(&pair));
        let mut optional = None;
        let mut parts = pair.into_inner().peekable();
        if let Some(mark) = parts.next_if(|p| p.as_rule() == Rule::opt) {
            optional = Some(self.word_span(&mark));
        }
        let first = parts.next()?;
        match (rule, parts.next()) {
            (Rule::index, _) => {
                let index = self.tall(first);
                let below = operand.height.max(index.height);
                let kind = ExprKind::Index {
                    operand: Box::new(operand.expr),
                    index: Box::new(index.expr),
                    optional: optional.is_some(),
                };
                Some(self.over(kind, span, below))
            }
            (Rule::record_select, Some(body)) => match operand.expr.dotted() {
                Some(path) => {
                    let name_span = operand.expr.span.to(self.word_span(&first));
                    let name = Spanned::new(format!("{path}.{}", first.as_str()), name_span);
                    Some(self.record(name, body))
                }
                None => {
                    let found = "a record begins with the name of its type alone";
                    self.diags
                        .push(Diagnostic::new(&codes::SYNTAX_ERROR, found, span));
                    Some(Tall::leaf(ExprKind::Error, span))
                }
            },
            (_, Some(args)) => {
                if let Some(mark) = optional {
                    let found = "`.?` reads a field; a method can't be called so";
                    self.diags
                        .push(Diagnostic::new(&codes::SYNTAX_ERROR, found, mark));
                }
                let function = self.selector(&first);
                Some(self.call(Some(operand), function, args))
            }
            (_, None) => {
                let below = operand.height;
                let kind = ExprKind::Select {
                    operand: Box::new(operand.expr),
                    field: self.selector(&first),
                    optional: optional.is_some(),
                };
                Some(self.over(kind, span, below))
            }
        }
    }

    /// The name of a field, the quotes of `` `odd-name` `` left out.
    fn selector(&self, pair: &Pair) -> Name {
        let name = pair.as_str().trim_matches('`').to_owned();
        Spanned::new(name, self.word_span(pair))
    }
}

/// Functions that make a message, which may say by `name:` who said it.
pub const MAKERS: [&str; 5] = ["user", "assistant", "ai", "system", "tool"];

fn is_postfix(rule: Rule) -> bool {
    matches!(rule, Rule::select | Rule::record_select | Rule::index)
}

fn word(text: &str) -> ExprKind {
    match text {
        "true" => ExprKind::Literal(Literal::Bool(true)),
        "false" => ExprKind::Literal(Literal::Bool(false)),
        "null" => ExprKind::Literal(Literal::Null),
        _ => ExprKind::Ident(text.to_owned()),
    }
}

/// An operator of either group.
enum Operator {
    Logical(LogicalOp),
    Binary(BinaryOp),
}

/// How strongly an operator binds, and which it is.
fn operator(text: &str) -> Option<(u8, Operator)> {
    use BinaryOp::*;
    let binary = |strength, op| (strength, Operator::Binary(op));
    Some(match text {
        "||" => (0, Operator::Logical(LogicalOp::Or)),
        "&&" => (1, Operator::Logical(LogicalOp::And)),
        "==" => binary(2, Equal),
        "!=" => binary(2, NotEqual),
        "<" => binary(2, Less),
        "<=" => binary(2, LessEqual),
        ">" => binary(2, Greater),
        ">=" => binary(2, GreaterEqual),
        "in" => binary(2, In),
        "+" => binary(3, Add),
        "-" => binary(3, Subtract),
        "*" => binary(4, Multiply),
        "/" => binary(4, Divide),
        "%" => binary(4, Modulo),
        _ => return None,
    })
}
