//! Messages for a value that doesn't fit, each with the mend where there is one.

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal};
use crate::base::name::{certain, closest, few};
use crate::diag::{Diagnostic, Fact, Home, codes};

use super::super::ty::{EnumId, MESSAGE, RecordId, TEXT, Type};
use super::checker::Checker;
use super::null::without_null;
use super::path::{access_path, path};
use super::record::MADE_BY;
use super::relation::{Texts, assignable, texts};

impl Checker<'_> {
    /// Reports that `expr`, of type `found`, stands where `expected` is expected.
    pub(super) fn mismatch(&mut self, expr: &Expr, found: &Type, expected: &Type) {
        if let Type::Nullable(inner) = found
            && assignable(inner, expected, self.types)
        {
            let message = self.clashing(&self.may_be_null(expr), expected);
            self.null_not_handled(expr, message, None);
            return;
        }
        let diagnostic = match (found, expected.without_null()) {
            (Type::Literal(text), Type::Enum(id)) => self.text_for_enum(expr, text, id),
            (Type::Literal(text), wanted)
                if matches!(texts(&wanted, self.types), Some(Texts::Of(_))) =>
            {
                self.other_text(expr, text, expected)
            }
            (Type::Null, wanted) => {
                let message = self.wanting(expected, "`null`");
                let wide = self.types.show(&Type::nullable(wanted)).to_string();
                Diagnostic::new(&codes::NULL_NOT_HANDLED, message, expr.span)
                    .help(format!("give a value, or declare it as `{wide}`"))
            }
            (_, wanted) => {
                let shown = match found {
                    Type::List(of) if **of == Type::Never => "an empty list".to_owned(),
                    Type::Map(of) if **of == Type::Never => "an empty map".to_owned(),
                    _ => self.show(&written(found, &wanted)),
                };
                let message = match path(expr) {
                    Some(path) => self.clashing(&format!("`{path}` is {shown}"), expected),
                    None => self.wanting(expected, &shown),
                };
                let plain = Diagnostic::new(&codes::TYPE_MISMATCH, message, expr.span);
                let content = match wanted {
                    Type::String => self.content_of(expr),
                    _ => None,
                };
                match content {
                    Some(name) => plain
                        .help(super::content::text_of(expr))
                        .fix(name.span, TEXT)
                        .fact(Fact::Foreign),
                    None => self.with_mend(plain, expr, (found, &wanted), expected.admits_null()),
                }
            }
        };
        let declared = self.taker.as_ref().and_then(|taker| taker.declared);
        let diagnostic = match declared {
            Some(span) => diagnostic.label(span, "declared here"),
            None => diagnostic,
        };
        let diagnostic = match (found, access_path(expr)) {
            (Type::Json, Some(place)) => diagnostic.fact(Fact::Value(place)),
            _ => diagnostic,
        };
        // One text where others are expected is a mistake of its own.
        let shown = match texts(&expected.without_null(), self.types) {
            Some(Texts::Of(_)) => Type::String,
            _ => Type::Null,
        };
        let diagnostic = match self.refuser() {
            Some((by, name)) => diagnostic.fact(Fact::Refused {
                by,
                name,
                found: self.types.show(&written(found, &shown)).to_string(),
            }),
            None => diagnostic,
        };
        self.report(diagnostic);
    }

    /// What takes the value, where it takes all of it and is declared somewhere.
    fn refuser(&self) -> Option<(Home, String)> {
        let taker = self.taker.as_ref().filter(|taker| !taker.part)?;
        let of = taker.of.map(|id| Home::Record(id.0));
        let by = of.or(taker.declared.map(Home::Takes))?;
        Some((by, taker.what.clone()))
    }

    /// What is expected and what is found in its place.
    fn wanting(&self, expected: &Type, found: &str) -> String {
        let expected = self.show(expected);
        match &self.taker {
            Some(taker) if taker.part => {
                format!("expected {expected} in {}, found {found}", taker.what)
            }
            Some(taker) => format!("{} {} {expected}, found {found}", taker.what, taker.verb),
            None => format!("expected {expected}, found {found}"),
        }
    }

    /// What a thing with a name is, and what was expected of it.
    fn clashing(&self, is: &str, expected: &Type) -> String {
        let expected = self.show(expected);
        match &self.taker {
            Some(taker) if taker.part => format!("{is}, expected {expected} in {}", taker.what),
            Some(taker) => format!("{is}, but {} {} {expected}", taker.what, taker.verb),
            None => format!("{is}, expected {expected}"),
        }
    }

    fn with_mend(
        &self,
        found: Diagnostic,
        expr: &Expr,
        (from, to): (&Type, &Type),
        nullable: bool,
    ) -> Diagnostic {
        if let (Type::String, ExprKind::Literal(Literal::Int(i))) = (to, &expr.kind) {
            return found.help(format!("write `\"{i}\"`"));
        }
        if let (ExprKind::Literal(Literal::Int(i)), Type::Float) = (&expr.kind, to) {
            return found
                .help(format!("write `{i}.0`"))
                .fix(expr.span, format!("{i}.0"));
        }
        if let (Type::Record(MESSAGE), Type::String) = (from, to) {
            let value = path(expr).unwrap_or_else(|| "..".to_owned());
            return found.help(format!("its text is `{value}.text`"));
        }
        // `["user", "hello"]`
        if let (ExprKind::List(_), Type::Record(MESSAGE)) = (&expr.kind, to) {
            return found.help(MADE_BY).fact(Fact::Foreign);
        }
        if let (Type::Record(from), Type::Record(to)) = (from, to) {
            return found.maybe_help(self.record_gap(*from, *to));
        }
        if let Type::Optional(inner) = from
            && assignable(inner, to, self.types)
        {
            return found.help(match nullable {
                true => "give what is not there a value: `.orValue(null)`",
                false => "give the optional a default: `.orValue(..)`",
            });
        }
        if *from == Type::Json
            && let Some(each) = each_of(to)
        {
            let value = path(expr).unwrap_or_else(|| "..".to_owned());
            return found.help(format!("go through it: `{value}.{each}`"));
        }
        if let (ExprKind::Binary(op, left, right), Type::Int, Type::Float) = (&expr.kind, from, to)
            && op.node == BinaryOp::Divide
        {
            let (left, right) = (as_float(left), as_float(right));
            return found.help(format!(
                "`int` divided by `int` is cut off: convert both first, `{left} / {right}`"
            ));
        }
        if let Type::List(of) = to
            && assignable(from, of, self.types)
        {
            return found.help("make it a list: `[..]`");
        }
        if let (Type::List(of), Type::List(to)) = (from, to)
            && of.admits_null()
            && assignable(&of.without_null(), to, self.types)
            && **of != Type::Json
        {
            return found.help(without_null(expr));
        }
        let value = path(expr).unwrap_or_else(|| "..".to_owned());
        let condition = match from {
            _ if *to != Type::Bool => None,
            _ if is_written(expr) => None,
            Type::Enum(id) => self
                .first_of(*id)
                .map(|member| format!("{value} == {member}")),
            Type::String | Type::Literal(_) => Some(format!("{value} != \"\"")),
            Type::Int => Some(format!("{value} != 0")),
            Type::Float => Some(format!("{value} != 0.0")),
            Type::List(_) | Type::Map(_) => Some(format!("size({value}) > 0")),
            Type::Nullable(_) => Some(format!("{value} != null")),
            _ => None,
        };
        if let Some(condition) = condition {
            return found.help(format!("compare it: `{condition}`"));
        }
        if *to == Type::Bool && is_written(expr) {
            return found.help("write `true` or `false`");
        }
        // A number that is written out is written otherwise, not converted.
        if let (ExprKind::Literal(Literal::Float(_)), Type::Int) = (&expr.kind, to) {
            return found.help("write a whole number, without a point");
        }
        if let (ExprKind::Literal(Literal::String(text)), Type::Int | Type::Float) =
            (&expr.kind, to)
            && text.parse::<f64>().is_ok()
        {
            return found.help(format!("write `{text}`, without quotes"));
        }
        if *from == Type::Json
            && let Some(asked) = self.expected_answer(&value, to)
        {
            return found.help(match conversion(from, to) {
                Some(call) => format!("{asked}, or convert it: `{call}({value})`"),
                None => asked,
            });
        }
        if let (Type::Json, Type::Union(members)) = (from, to) {
            let calls = members.iter().filter_map(|member| conversion(from, member));
            let calls: Vec<String> = calls.map(|call| format!("`{call}({value})`")).collect();
            return match calls.is_empty() {
                true => found,
                false => found.help(format!("say which it is: {}", calls.join(" or "))),
            };
        }
        let call = conversion(from, to);
        found.maybe_help(call.map(|call| match (from, call) {
            (Type::String, "timestamp" | "duration" | "int" | "float") => {
                format!("where its text can be read as one, convert it: `{call}({value})`")
            }
            _ => format!("convert it: `{call}({value})`"),
        }))
    }

    /// What says the type of an answer, or of a part of it.
    fn expected_answer(&self, value: &str, to: &Type) -> Option<String> {
        let ty = self.types.show(to);
        let asks = self.named("answered").is_some();
        let field = value.strip_prefix("answer").filter(|_| asks)?;
        if field.is_empty() {
            return Some(format!("say what the answer is, `expect {ty}` in the node"));
        }
        let field = field.strip_prefix('.').filter(|name| !name.contains('.'))?;
        Some(format!(
            "say what the answer is, `type NAME {{ {field}: {ty} }}` beside the graphs and `expect NAME` in the node"
        ))
    }

    fn text_for_enum(&self, expr: &Expr, text: &str, id: EnumId) -> Diagnostic {
        let Some(declared) = self.types.enums.get(id) else {
            return Diagnostic::new(&codes::TYPE_MISMATCH, "expected an enum", expr.span);
        };
        let names = || declared.members.iter().map(|m| m.name.as_str());
        if names().any(|n| n == text) {
            let member = format!("{}.{text}", declared.name);
            let message = self.wanting(&Type::Enum(id), &format!("the text `{text:?}`"));
            return Diagnostic::new(&codes::TYPE_MISMATCH, message, expr.span)
                .help(format!("write `{member}`"))
                .fix(expr.span, member);
        }
        let message = format!("enum `{}` has no member `{text}`", declared.name);
        let found = Diagnostic::new(&codes::UNKNOWN_MEMBER, message, expr.span);
        let Some(near) = closest(text, names()) else {
            return found.help(format!("its members are {}", few(names())));
        };
        let found = found.help(format!("did you mean `{}.{near}`?", declared.name));
        match certain(text, names()) {
            Some(near) => found.fix(expr.span, format!("{}.{near}", declared.name)),
            None => found,
        }
    }

    fn other_text(&self, expr: &Expr, text: &str, expected: &Type) -> Diagnostic {
        let wanted = expected.without_null();
        let known = match texts(&wanted, self.types) {
            Some(Texts::Of(known)) => known,
            _ => Vec::new(),
        };
        let message = self.wanting(expected, &format!("`{text:?}`"));
        let quoted: Vec<String> = known.iter().map(|one| format!("{one:?}")).collect();
        Diagnostic::new(&codes::TYPE_MISMATCH, message, expr.span).meant(
            expr.span,
            &format!("{text:?}"),
            quoted.iter().map(String::as_str).collect::<Vec<_>>(),
            "it takes",
        )
    }

    /// A member of an enum, as it is written.
    fn first_of(&self, id: EnumId) -> Option<String> {
        let declared = self.types.enums.get(id)?;
        let first = declared.members.first()?;
        Some(format!("{}.{}", declared.name, first.name))
    }

    /// The first field in which one record doesn't fit another.
    fn record_gap(&self, from: RecordId, to: RecordId) -> Option<String> {
        let (from, to) = (self.types.records.get(from)?, self.types.records.get(to)?);
        to.fields
            .iter()
            .find_map(|wanted| match from.field(&wanted.name) {
                None => Some(format!("`{}` has no field `{}`", from.name, wanted.name)),
                Some(found) if !assignable(&found.ty, &wanted.ty, self.types) => Some(format!(
                    "its field `{}` is {}, not {}",
                    wanted.name,
                    self.show(&found.ty),
                    self.show(&wanted.ty)
                )),
                Some(_) => None,
            })
    }
}

/// A text that stands where no text can is shown as `string`, not by its letters.
fn written(found: &Type, wanted: &Type) -> Type {
    match (found, wanted) {
        (Type::Literal(_), Type::String | Type::Union(_)) => found.clone(),
        _ => super::join::widen(found.clone()),
    }
}

/// Whether a value is written out.
fn is_written(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(_))
}

/// How each element or entry of `json` is made what a list or map of it takes.
fn each_of(to: &Type) -> Option<String> {
    let value = |of: &Type, name: &str| match (of, conversion(&Type::Json, of)) {
        (Type::Json, _) => Some(name.to_owned()),
        (_, call) => Some(format!("{}({name})", call?)),
    };
    match to {
        Type::List(of) => Some(format!("map(x, {})", value(of, "x")?)),
        Type::Map(of) => Some(format!("transformMap(k, v, {})", value(of, "v")?)),
        _ => None,
    }
}

/// How an operand, an `int`, is written as a float.
fn as_float(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Literal(Literal::Int(i)) => format!("{i}.0"),
        _ => format!("float({})", path(expr).unwrap_or_else(|| "..".to_owned())),
    }
}

/// The function that turns one type into another, where there is one.
fn conversion(from: &Type, to: &Type) -> Option<&'static str> {
    use Type::{Bool, Duration, Float, Int, Json, Literal, String, Timestamp, Uint};
    match (from, to) {
        (Float | Uint | String | Json | Timestamp, Int) => Some("int"),
        (Int | Uint | String | Json, Float) => Some("float"),
        (Bool | Int | Uint | Float | Json | Timestamp | Duration, String) => Some("string"),
        (String | Literal(_) | Json, Timestamp) => Some("timestamp"),
        (String | Literal(_) | Json, Duration) => Some("duration"),
        (Json, Bool) => Some("bool"),
        _ => None,
    }
}
