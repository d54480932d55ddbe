//! Filters and tests.

use crate::ast::Name;
use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal};
use crate::ast::template::ELEMENT;
use crate::base::AccessPath;
use crate::base::name::either;
use crate::diag::{Diagnostic, Level, codes};
use crate::value::{List, Map, Value};

use super::super::super::function::signature::Pattern;
use super::super::super::function::{FunctionSpec, Rule, jinja};
use super::super::super::operator as operators;
use super::super::super::ty::Type;
use super::super::checker::Checker;
use super::super::compare::{NO_RANKS, ordered};
use super::super::either::has_field;
use super::super::join::{join, widen};
use super::super::usage::named;
use super::kind::{self, Kind, plain};

impl Checker<'_> {
    /// `of | name(args)`
    pub(super) fn filter(&mut self, of: &Expr, name: &Name, args: &[Expr]) -> Type {
        let Some(found) = jinja::find(name) else {
            self.expr(of, None);
            self.each(args);
            return Type::Error;
        };
        let written = found.bare_name();
        if written == "default" {
            return self.or_default(of, args);
        }
        let ty = match found.takes_any() {
            true => self.expr(of, None),
            false => self.not_null(of, &format!("which the filter `{written}` does not take")),
        };
        if written == "safe" {
            return ty;
        }
        let of_type = plain(ty.clone());
        let receiver = match jinja::has_key(found.name) {
            true => self.iterated(written, of, &of_type, name),
            false => self.received(found, written, of, &of_type, name),
        };
        let Some(receiver) = receiver else {
            // What the arguments say of each element is as unknown as the elements.
            return Type::Error;
        };
        let mut all = vec![receiver];
        let behind = match args {
            [_, key, rest @ ..] if jinja::has_key(found.name) => {
                let element = kind::element(&of_type);
                let of_element = [(ELEMENT.to_owned(), element.clone())];
                let (key, element) = self.binding(of_element, |checker| {
                    let ty = checker.expr(key, None);
                    let facts = checker.facts(key, true);
                    let known =
                        checker.under(facts, |c| c.narrowed(element, &AccessPath::name(ELEMENT)));
                    (ty, known)
                });
                if found.name == "|select" {
                    return Type::list(element);
                }
                if written == "sum" && !self.adds_up(&key, name) {
                    return Type::Error;
                }
                all.push(match key {
                    // Of whole numbers and others the sum is either.
                    Type::Union(_) if written == "sum" => Type::Json,
                    key => plain(key),
                });
                rest
            }
            args => args,
        };
        all.extend(behind.iter().map(|arg| self.expr(arg, None)));
        if written == "format" {
            self.formats(of, &all);
        }
        if matches!(found.rule, Rule::Ordered)
            && let Some(key) = all.get(1).filter(|key| !ranked(key))
        {
            let message = format!(
                "the filter `{written}` needs elements with an order, found {}",
                self.show(key)
            );
            let help = "name a field to order by: `attribute=\"..\"`";
            return self
                .report(Diagnostic::new(&codes::TYPE_MISMATCH, message, name.span).help(help));
        }
        let what = format!("the filter `{written}`");
        self.arguments_of(found, &what, behind, &all, name.span)
    }

    /// `x | default(other)`
    fn or_default(&mut self, of: &Expr, args: &[Expr]) -> Type {
        let ty = self.expr(of, None);
        let others: Vec<Type> = args.iter().map(|arg| self.expr(arg, None)).collect();
        match others.first() {
            Some(other) => join(&ty.without_null(), &widen(other.clone()), self.types),
            None => ty,
        }
    }

    /// The list of what a filter goes over; `None` where it can't, which is reported.
    fn iterated(&mut self, filter: &str, of: &Expr, ty: &Type, name: &Name) -> Option<Type> {
        let list = Type::list(kind::element(ty));
        match Kind::of(ty) {
            None | Some(Kind::List | Kind::Map) => Some(list),
            // That a sign has no fields, and no filter gathers them, is said of the argument.
            Some(Kind::Text)
                if matches!(filter, "map" | "groupby" | "selectattr" | "rejectattr") =>
            {
                Some(list)
            }
            Some(Kind::Text) if filter != "sum" => {
                let found = named(of, &self.show(ty));
                let message = format!("the filter `{filter}` goes through {found} sign by sign");
                let mut found = Diagnostic::new(&codes::TYPE_MISMATCH, message, name.span)
                    .help("it takes a list; split the text, or take the filter out");
                found.level = Level::Warning;
                self.report(found);
                Some(list)
            }
            Some(_) => {
                let found = named(of, &self.show(ty));
                let message = format!("the filter `{filter}` takes a list, found {found}");
                self.error(&codes::TYPE_MISMATCH, message, name.span);
                None
            }
        }
    }

    /// What a filter is applied to, where it takes it; else it is reported.
    fn received(
        &mut self,
        found: &FunctionSpec,
        filter: &str,
        of: &Expr,
        ty: &Type,
        name: &Name,
    ) -> Option<Type> {
        if *ty == Type::Error {
            return None;
        }
        let time = matches!(
            self.silent(of).without_null(),
            Type::Timestamp | Type::Duration
        );
        let number = matches!(filter, "int" | "float");
        if self.is_method_of(found, ty) && !(time && number) {
            return Some(ty.clone());
        }
        let first = found
            .signatures
            .iter()
            .filter_map(|signature| signature.param(0));
        let first: Vec<String> = first.map(Pattern::to_string).collect();
        let takes = either(first.iter().map(String::as_str));
        let shown = named(of, &self.show(ty));
        let message = format!("the filter `{filter}` takes {takes}, found {shown}");
        let texts = Kind::of(ty) == Some(Kind::List) && takes.contains("string");
        let each = texts.then(|| format!("of each element: `x | map(\"{filter}\")`"));
        let wrong = Diagnostic::new(&codes::TYPE_MISMATCH, message, name.span);
        self.report(wrong.maybe_help(each));
        None
    }

    /// Only numbers have a sum.
    fn adds_up(&mut self, summed: &Type, at: &Name) -> bool {
        let number = is_number(summed);
        if !number {
            let message = format!("the filter `sum` adds numbers, found {}", self.show(summed));
            let help = match is_number(&summed.without_null()) {
                true => "leave out what is null: `xs | map(attribute=\"n\") | select | sum`",
                false => "numbers that fields hold: `xs | sum(attribute=\"n\")`",
            };
            self.report(Diagnostic::new(&codes::TYPE_MISMATCH, message, at.span).help(help));
        }
        number
    }

    /// Reports a text that is written out and that the filter can't fill with values of those types: the filter itself is asked,
    /// with a value of each type.
    fn formats(&mut self, of: &Expr, all: &[Type]) {
        let ExprKind::Literal(Literal::String(text)) = &of.kind else {
            return;
        };
        let values = all.iter().skip(1).map(sample);
        let Some(values) = values.collect::<Option<Vec<Value>>>() else {
            return;
        };
        let all: Vec<Value> = std::iter::once(Value::String(text.clone()))
            .chain(values)
            .collect();
        let compute = jinja::find("|format").and_then(FunctionSpec::compute);
        if let Some(Err(why)) = compute.map(|compute| compute(&all)) {
            let message = format!("this `format` always fails: {why}");
            let found = Diagnostic::new(&codes::WRONG_ARGUMENTS, message, of.span);
            self.report(found.help(
                "each verb takes a value: `%s` any, `%d`, `%f`, `%e`, `%x` and `%o` a number",
            ));
        }
    }

    /// `of is test`
    pub(super) fn test(&mut self, of: &Expr, test: &str, args: &[Expr]) -> Type {
        let asks = matches!(test, "is defined" | "is undefined");
        let ty = match &of.kind {
            // A name may be asked for without being there: that is what the test is for.
            ExprKind::Ident(_) if asks => self.silent(of),
            // Which of several records it is, is asked so.
            ExprKind::Select { operand, field, .. } if asks && self.lacks_field(operand, field) => {
                self.expr(operand, None);
                Type::Bool
            }
            _ => self.expr(of, None),
        };
        let others: Vec<Type> = args.iter().map(|arg| self.expr(arg, None)).collect();
        if let ("is lt" | "is le" | "is gt" | "is ge", [than], [other]) =
            (test, args, others.as_slice())
        {
            self.in_order((of, &ty), (than, other));
        }
        if let Some(found) = jinja::find(test).filter(|found| !found.takes(args.len() + 1)) {
            let wanted = found.arities().next().unwrap_or(1) - 1;
            let message = format!(
                "the test `{}` takes {wanted}, found {}",
                found.bare_name(),
                args.len()
            );
            self.error(&codes::WRONG_ARGUMENTS, message, of.span);
        }
        Type::Bool
    }

    /// Whether it is of several records, some of which have the field.
    fn lacks_field(&mut self, of: &Expr, field: &str) -> bool {
        match self.silent(of) {
            Type::Union(members) => members.iter().any(|of| has_field(of, field, self.types)),
            _ => false,
        }
    }

    fn in_order(&mut self, (left, a): (&Expr, &Type), (right, b): (&Expr, &Type)) {
        let (a, b) = (widen(a.without_null()), widen(b.without_null()));
        if let (Type::Enum(_), _) | (_, Type::Enum(_)) = (&a, &b) {
            let (side, ty) = if matches!(a, Type::Enum(_)) {
                (left, &a)
            } else {
                (right, &b)
            };
            let message = format!("{} has no order", named(side, &self.show(ty)));
            let found = Diagnostic::new(&codes::TYPE_MISMATCH, message, side.span);
            self.report(found.help(NO_RANKS));
        } else if operators::binary(BinaryOp::Less, &a, &b).is_none()
            && a != Type::Error
            && b != Type::Error
        {
            let (a, b) = (named(left, &self.show(&a)), named(right, &self.show(&b)));
            let message = format!("{a} and {b} have no order");
            self.error(&codes::TYPE_MISMATCH, message, left.span.to(right.span));
        }
    }
}

/// Whether values of a type count as numbers, as far as is known.
fn is_number(ty: &Type) -> bool {
    match ty {
        Type::Null | Type::Nullable(_) => false,
        Type::Union(members) => members.iter().all(is_number),
        ty => matches!(
            Kind::of(ty),
            None | Some(Kind::Whole | Kind::Number | Kind::Bool)
        ),
    }
}

/// Whether keys of a type have an order; those of several fields have that of each.
fn ranked(key: &Type) -> bool {
    match key {
        Type::Nullable(of) | Type::List(of) => ranked(of),
        Type::Union(members) => {
            let kinds: Vec<Option<Kind>> = members.iter().map(Kind::of).collect();
            let mixed = |pair: &[Option<Kind>]| matches!(pair, [a, b] if a != b);
            !kinds.windows(2).any(mixed) && members.iter().all(ranked)
        }
        Type::Null | Type::Never => true,
        other => ordered(other),
    }
}

/// Some value of a type; none where the kind of its values is open.
fn sample(ty: &Type) -> Option<Value> {
    if let Type::Literal(text) = ty {
        return Some(Value::String(text.clone()));
    }
    Some(match Kind::of(&ty.without_null())? {
        Kind::Text => Value::from("a"),
        Kind::Whole => Value::Int(1),
        Kind::Number => Value::Float(1.5),
        Kind::Bool => Value::Bool(true),
        Kind::List => Value::List(List::new()),
        Kind::Map => Value::Map(Map::new()),
    })
}
