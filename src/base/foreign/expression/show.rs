//! From tree to text.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use super::super::name::{error_kind, role};
use super::call;
use super::{Budget, Each, LONGEST, Node, Shape, Types, declared, element, listed, read};

/// Writes one help. What is read for it counts, too.
#[derive(Clone)]
pub struct Writer<'t> {
    pub(super) types: Types<'t>,
    pub(super) template: bool,
    /// The field that it is written to, by `:` and not `:=`.
    field: String,
    /// Names of elements, and their types as far as they are known.
    names: Vec<(String, Option<String>)>,
    budget: Budget,
    /// Names of what is called that are written otherwise.
    pub(super) rewritten: Rc<RefCell<HashSet<String>>>,
}

/// A text, and how its outermost sign binds.
#[derive(Clone)]
pub(super) struct Shown {
    text: String,
    binds: u8,
}

const CHOICE: u8 = 0;
const OR: u8 = 1;
const AND: u8 = 2;
const NEGATED: u8 = 3;
const RELATION: u8 = 4;
pub(super) const SUM: u8 = 5;
const PRODUCT: u8 = 6;
const SIGNED: u8 = 7;
const OPERAND: u8 = 8;

fn shown(text: impl Into<String>, binds: u8) -> Option<Shown> {
    let text = text.into();
    (text.len() <= LONGEST).then_some(Shown { text, binds })
}

impl<'t> Writer<'t> {
    /// For expressions.
    pub fn new(types: Types<'t>) -> Self {
        Self {
            types,
            template: false,
            field: String::new(),
            names: Vec::new(),
            budget: Budget::default(),
            rewritten: Rc::default(),
        }
    }

    /// For values in a template, which has Python's words and operators.
    pub fn in_template(types: Types<'t>) -> Self {
        Self {
            template: true,
            ..Self::new(types)
        }
    }

    /// Reads the expression that a text begins with, and how long it is.
    pub fn read(&self, text: &str) -> Option<(Node, usize)> {
        read::read(text, &self.budget, self.template)
    }

    /// A text that is one expression, as it is written here.
    pub fn whole(&self, written: &str) -> Option<String> {
        let (node, length) = self.read(written)?;
        let ends = written.get(length..)?.trim_ascii().is_empty();
        ends.then(|| self.alone(&node)).flatten()
    }

    /// For what is written to a field, whose name and `:` a text ends with.
    pub(super) fn into_field(mut self, before: &str) -> Self {
        let named = before.trim_ascii_end().strip_suffix(':').unwrap_or("");
        let inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let start = named.trim_end_matches(inside).len();
        self.field = named.get(start..).unwrap_or("").to_owned();
        self
    }

    /// Whether what is written is added to a value, since that is what the field has.
    pub(super) fn adds_to(&self, of: &Node) -> bool {
        let own = matches!(of, Node::Field(root, ".", name)
            if **root == Node::plain("state") && *name == self.field);
        own && self.types.reducer(&self.field).is_some()
    }

    /// The same, with a name for each element of a list.
    fn within(&self, names: &[String], list: &Node) -> Self {
        let mut inside = self.clone();
        let ty = self.ty(list).and_then(|ty| Some(element(&ty)?.to_owned()));
        let ty = ty.filter(|_| names.len() == 1);
        inside
            .names
            .extend(names.iter().map(|name| (name.clone(), ty.clone())));
        inside
    }

    /// The declared type of a value, as far as that can be seen.
    pub(super) fn ty(&self, node: &Node) -> Option<String> {
        let text = || Some("string".to_owned());
        match node {
            Node::Plain(plain) if plain.starts_with(['"', '\'']) => text(),
            Node::Text(_) => text(),
            Node::Plain(name) => match self.names.iter().rev().find(|(own, _)| own == name) {
                Some((_, ty)) => ty.clone(),
                None => self.types.names().ty(name).map(str::to_owned),
            },
            Node::Field(of, ".", name)
                if (name == "text" || name == "content") && **of == Node::plain("reply") =>
            {
                text()
            }
            Node::Field(of, ".", name) => {
                let own = self.ty(of).and_then(|of| self.types.fields_of(&of));
                let names = own.unwrap_or_else(|| self.types.names());
                names.ty(name).map(str::to_owned)
            }
            Node::Index(of, "[", _) => Some(element(&self.ty(of)?)?.to_owned()),
            Node::Part(of, ..) => self.ty(of),
            Node::Each(_, each) if each.key.is_none() => {
                let of = self.within(&each.names, &each.of).ty(&each.value)?;
                Some(format!("list<{of}>"))
            }
            Node::Call(function, _) if call::gives_text(function) => text(),
            Node::Call(function, args) => match (&**function, args.as_slice()) {
                (Node::Plain(sum), [(_, list)]) if sum == "sum" => {
                    Some(element(&self.ty(list)?)?.to_owned())
                }
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn shape(&self, node: &Node) -> Option<Shape> {
        declared(&self.ty(node)?)
    }

    /// A list that has to be there.
    pub(super) fn list(&self, node: &Node) -> Option<String> {
        match self.shape(node) {
            Some(Shape::Nullable) => None,
            _ => self.operand(node),
        }
    }

    /// An element that may not be there, and a value in its place. None where it is no such element.
    fn optional(&self, node: &Node, other: &Node) -> Option<Option<Shown>> {
        let (of, found) = match node {
            Node::Index(of, "[", index) => match &**index {
                Node::Plain(zero) if zero == "0" => (of, "x.first()"),
                Node::Minus(one) if **one == Node::plain("1") => (of, "x.last()"),
                Node::Minus(_) => return Some(None),
                index => return Some(self.entry(of, index, other)),
            },
            Node::Call(function, args) => match (&**function, args.as_slice()) {
                (Node::Field(of, ".", get), [(_, key)]) if get == "get" => {
                    return Some(self.entry(of, key, other));
                }
                (Node::Field(_, ".", find), [(_, Node::Function(..))]) if find == "find" => {
                    let found = Node::method(node.clone(), "orValue", vec![other.clone()]);
                    return Some(self.value(&found));
                }
                _ => return None,
            },
            _ => return None,
        };
        let is_list = self.list(of).is_some();
        let form = format!("{found}.orValue(y)");
        Some(
            is_list
                .then(|| self.form(&form, &[("x", of), ("y", other)]))
                .flatten(),
        )
    }

    /// `m[?key].orValue(other)`
    fn entry(&self, of: &Node, key: &Node, other: &Node) -> Option<Shown> {
        let record = self.ty(of).is_some_and(|ty| self.types.is_record(&ty));
        self.list(of).filter(|_| !record)?;
        self.form(
            "m[?key].orValue(y)",
            &[("m", of), ("key", key), ("y", other)],
        )
    }

    /// A form with what stands for its names.
    fn form(&self, form: &str, parts: &[(&str, &Node)]) -> Option<Shown> {
        self.value(&call::form(form, parts)?)
    }

    /// A condition that stands alone.
    pub(super) fn asks(&self, node: &Node) -> Option<String> {
        Some(self.condition(node, true)?.text)
    }

    /// The text of a part that binds at least so much.
    pub(super) fn part(&self, node: &Node, least: u8) -> Option<String> {
        Some(grouped(self.value(node)?, least))
    }

    /// A value that something is done with: `x` in `x.f()`.
    pub(super) fn operand(&self, node: &Node) -> Option<String> {
        self.part(node, OPERAND)
    }

    /// A value that stands alone, between commas.
    pub(super) fn alone(&self, node: &Node) -> Option<String> {
        self.part(node, CHOICE)
    }

    pub(super) fn value(&self, node: &Node) -> Option<Shown> {
        self.budget.take()?;
        // `a?.b`
        if let Some((there, value)) = node.without_null() {
            let choice = Node::Choice(there.into(), value.into(), Node::plain("null").into());
            return self.value(&choice).filter(|_| !self.template);
        }
        match node {
            Node::Plain(text) => shown(text, OPERAND),
            Node::Text(_) if self.template => None,
            Node::Text(text) => shown(text.expression(&|value| self.whole(value))?, OPERAND),
            Node::Field(of, sign, name) => self.field(of, sign, name),
            Node::Index(of, sign, index) => self.index(of, sign, index),
            Node::Part(of, from, to) => self.range(of, from.as_deref(), to.as_deref()),
            Node::Call(..) => self.call(node),
            Node::List(values) if values.iter().any(is_spread) => self.joined(values),
            Node::List(_) | Node::Map(_)
                if !self.template
                    && let Some((role, text)) = message(node) =>
            {
                shown(format!("{role}({})", self.alone(text)?), OPERAND)
            }
            Node::List(values) if values.iter().any(|value| placeholder(value).is_some()) => {
                let values = values.iter().map(|value| match placeholder(value) {
                    Some(field) => Node::Spread(field.into()),
                    None => value.clone(),
                });
                self.joined(&values.collect::<Vec<_>>())
            }
            Node::List(values) => shown(format!("[{}]", self.all(values)?), OPERAND),
            Node::Spread(_) => None,
            Node::Map(entries) if entries.iter().any(|(key, _)| is_spread(key)) => {
                self.merged(entries)
            }
            Node::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| {
                    Some(format!("{}: {}", self.alone(key)?, self.alone(value)?))
                });
                shown(format!("{{{}}}", listed(entries)?), OPERAND)
            }
            Node::Record(name, fields) => {
                let (of, fields) = match fields.split_first() {
                    Some(((sign, of), fields)) if sign == "*" => (Some(of), fields),
                    _ => (None, fields.as_slice()),
                };
                let quote = if of.is_some() { "\"" } else { "" };
                let fields = fields.iter();
                let fields = listed(fields.map(|(field, value)| {
                    Some(format!("{quote}{field}{quote}: {}", self.alone(value)?))
                }))?;
                let text = match of {
                    Some(of) => format!("{}.with({{{fields}}})", self.operand(of)?),
                    None => format!("{name} {{ {fields} }}"),
                };
                shown(text, OPERAND)
            }
            Node::Minus(of) => shown(format!("-{}", self.part(of, SIGNED)?), SIGNED),
            Node::Not(of) => self.condition(of, false),
            Node::Choice(condition, value, other) => {
                let condition = grouped(self.condition(condition, true)?, OR);
                let (value, other) = (self.part(value, OR)?, self.part(other, CHOICE)?);
                match self.template {
                    true => shown(format!("{value} if {condition} else {other}"), CHOICE),
                    false => shown(format!("{condition} ? {value} : {other}"), CHOICE),
                }
            }
            Node::Binary(sign, left, right) => self.binary(sign, left, right),
            Node::Function(..) => None,
            Node::Each(_, each) if self.template => match (&each.value, &each.when) {
                // `[x.a for x in xs]`
                (Node::Field(of, ".", name), None) if of.path().as_ref() == each.names.first() => {
                    shown(
                        format!("{} | map(attribute='{name}')", self.operand(&each.of)?),
                        CHOICE,
                    )
                }
                _ => None,
            },
            Node::Each(bracket, each) => {
                let all = self.each(each)?;
                match (bracket, &each.key) {
                    ('{', None) => shown(format!("{all}.unique()"), OPERAND),
                    _ => shown(all, OPERAND),
                }
            }
        }
    }

    /// Values between commas.
    pub(super) fn all(&self, values: &[Node]) -> Option<String> {
        listed(values.iter().map(|value| self.alone(value)))
    }

    /// `[*xs, x]`
    fn joined(&self, values: &[Node]) -> Option<Shown> {
        let mut groups: Vec<String> = Vec::new();
        let own = values.first().is_some_and(|first| match first {
            Node::Spread(of) => self.adds_to(of),
            _ => false,
        });
        for group in values
            .get(usize::from(own)..)?
            .chunk_by(|a, b| !is_spread(a) && !is_spread(b))
        {
            groups.push(match group {
                [Node::Spread(of)] => self.part(of, SUM)?,
                plain => format!("[{}]", self.all(plain)?),
            });
        }
        let binds = if groups.len() == 1 { OPERAND } else { SUM };
        shown(groups.join(" + "), binds)
    }

    /// `{**m, "k": v}`
    fn merged(&self, entries: &[(Node, Node)]) -> Option<Shown> {
        let mut text = String::new();
        let mut is_record = false;
        for group in entries.chunk_by(|(a, _), (b, _)| !is_spread(a) && !is_spread(b)) {
            let (group, record) = match group {
                [(Node::Spread(of), _)] => {
                    let ty = self.ty(of).unwrap_or_default();
                    (self.operand(of)?, self.types.is_record(&ty))
                }
                plain => (self.value(&Node::Map(plain.to_vec()))?.text, false),
            };
            let method = match (text.is_empty(), is_record, record) {
                (true, ..) => {
                    (text, is_record) = (group, record);
                    continue;
                }
                (_, _, true) => return None,
                (_, true, _) => "with",
                _ => "merge",
            };
            text.push_str(&format!(".{method}({group})"));
        }
        shown(text, OPERAND)
    }

    fn field(&self, of: &Node, sign: &str, name: &str) -> Option<Shown> {
        match sign {
            " | " => return shown(format!("{} | {name}", self.called(of)?), CHOICE),
            " is " | " is not " => {
                return shown(format!("{}{sign}{name}", self.part(of, SUM)?), RELATION);
            }
            _ => {}
        }
        // The text of a message; its content may have parts.
        let has_text = || {
            let ty = self.ty(of).unwrap_or_default();
            let own = self.types.fields_of(&ty);
            *of == Node::plain("reply")
                || ty.trim_end_matches('?') == "message"
                || own.is_some_and(|own| own.has("text") && !own.has("content"))
        };
        let text = name == "content" && has_text();
        let name = if text { "text" } else { name };
        if name == "hex" && !self.template && !self.types.has(name) {
            return self.value(of);
        }
        if name == "length" && !self.template && !self.types.has(name) {
            return shown(format!("size({})", self.alone(of)?), OPERAND);
        }
        // What `find` gives may be nothing.
        let found = matches!(of, Node::Call(function, args)
            if matches!(&**function, Node::Field(_, _, name) if name == "find")
                && matches!(args.as_slice(), [(_, Node::Function(..))]));
        let of = self.operand(of)?;
        let of = if found { of + ".value()" } else { of };
        shown(format!("{of}{sign}{name}"), OPERAND)
    }

    fn index(&self, of: &Node, sign: &str, index: &Node) -> Option<Shown> {
        if matches!(index, Node::Minus(at) if **at == Node::plain("1")) {
            let of = self.operand(of)?;
            return match self.template {
                true => shown(format!("({of} | last)"), OPERAND),
                false => shown(format!("{of}.last().value()"), OPERAND),
            };
        }
        shown(
            format!("{}{sign}{}]", self.operand(of)?, self.alone(index)?),
            OPERAND,
        )
    }

    /// `xs[1:3]`
    fn range(&self, of: &Node, from: Option<&Node>, to: Option<&Node>) -> Option<Shown> {
        if self.template {
            let bound =
                |bound: Option<&Node>| bound.map_or(Some(String::new()), |node| self.alone(node));
            let (from, to) = (bound(from)?, bound(to)?);
            return shown(format!("{}[{from}:{to}]", self.operand(of)?), OPERAND);
        }
        let minus = |bound: Option<&Node>| matches!(bound, Some(Node::Minus(_)));
        let form = match (self.is_text(of), from, to) {
            (_, None, None) => "x",
            (false, Some(Node::Minus(count)), None) => {
                return self.form(
                    "x.reverse().slice(0, n).reverse()",
                    &[("x", of), ("n", count)],
                );
            }
            (false, None, Some(Node::Minus(count))) => {
                return self.form("x.reverse().slice(n).reverse()", &[("x", of), ("n", count)]);
            }
            _ if minus(from) || minus(to) => return None,
            (true, None, _) => "x.truncate(b)",
            (true, _, None) => "x.substring(a)",
            (true, ..) => "x.substring(a, b)",
            (false, None, _) => "x.slice(0, b)",
            (false, _, None) => "x.slice(a)",
            (false, ..) => "x.slice(a, b)",
        };
        let none = Node::plain("null");
        let parts = [
            ("x", of),
            ("a", from.unwrap_or(&none)),
            ("b", to.unwrap_or(&none)),
        ];
        self.form(form, &parts)
    }

    fn call(&self, call: &Node) -> Option<Shown> {
        match call::written(self, call)? {
            Node::Call(function, args) if *call == Node::Call(function.clone(), args.clone()) => {
                let binds = if is_filter(call) { CHOICE } else { OPERAND };
                shown(call::shown(self, &function, &args)?, binds)
            }
            other => self.value(&other),
        }
    }

    /// A function as it is called.
    pub(super) fn called(&self, function: &Node) -> Option<String> {
        match is_filter(function) {
            true => Some(self.value(function)?.text),
            false => self.operand(function),
        }
    }

    /// Notes that a call is written otherwise.
    pub(super) fn rewrites(&self, name: &str) {
        self.rewritten.borrow_mut().insert(name.to_owned());
    }

    fn binary(&self, sign: &'static str, left: &Node, right: &Node) -> Option<Shown> {
        let (least, word) = match sign {
            "||" | "??" if self.template => (OR, "or"),
            "&&" if self.template => (AND, "and"),
            "||" | "??" => return self.either(sign, left, right),
            "&&" => {
                let left = grouped(self.condition(left, true)?, AND);
                let right = grouped(self.condition(right, true)?, AND);
                return shown(format!("{left} && {right}"), AND);
            }
            "in" if !self.template && self.is_text(right) => {
                let text = format!("{}.contains({})", self.operand(right)?, self.alone(left)?);
                return shown(text, OPERAND);
            }
            "==" | "!=" if left.path().as_deref() == Some("error") && !self.template => {
                let kind = kind_of_error(right)?;
                return shown(format!("error.kind {sign} {kind}"), RELATION);
            }
            "+" if self.adds_to(left) => return self.value(right),
            "+" if self.adds_to(right) => return None,
            "/" if !self.template && is_size(right) => {
                let right = format!("float({})", self.alone(right)?);
                match self.shape(left) {
                    Some(Shape::Float) => {
                        return shown(format!("{} / {right}", self.part(left, PRODUCT)?), PRODUCT);
                    }
                    Some(Shape::Int) => {
                        return shown(format!("float({}) / {right}", self.alone(left)?), PRODUCT);
                    }
                    _ => (PRODUCT, sign),
                }
            }
            "+" | "-" => (SUM, sign),
            "*" | "/" | "%" => (PRODUCT, sign),
            "==" if self.template && is_null(right) => {
                return shown(format!("{} is none", self.part(left, SUM)?), RELATION);
            }
            "!=" if self.template && is_null(right) => {
                return shown(format!("{} is not none", self.part(left, SUM)?), RELATION);
            }
            _ => (RELATION, sign),
        };
        let right = self.part(right, least + 1)?;
        let left_least = match least {
            RELATION => SUM,
            least => least,
        };
        shown(
            format!("{} {word} {right}", self.part(left, left_least)?),
            least,
        )
    }

    /// `a or b`: one of two conditions, or a value with a default.
    fn either(&self, sign: &'static str, left: &Node, right: &Node) -> Option<Shown> {
        // `a or b or "c"`
        if let Node::Binary("||" | "??", first, second) = left
            && !self.is_condition(left)
        {
            let others = Node::binary(sign, (**second).clone(), right.clone());
            return self.either(sign, first, &others);
        }
        let literal = |node: &Node| match node {
            Node::Plain(text) => !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'),
            Node::List(_) | Node::Map(_) | Node::Text(_) => true,
            _ => false,
        };
        let is_value =
            |node: &Node| literal(node) || !matches!(self.shape(node), None | Some(Shape::Bool));
        // `c and "a" or "b"`
        if let Node::Binary("&&", condition, value) = left
            && (literal(value) || is_value(value) && is_value(right))
        {
            let choice = Node::Choice(condition.clone(), value.clone(), right.clone().into());
            return self.value(&choice);
        }
        let shape = self.shape(left);
        let conditions = self.is_condition(left) || self.is_condition(right);
        let others = literal(right) || matches!(right, Node::Binary("||" | "??", ..));
        let is_default = sign == "??" || !conditions && (others || shape.is_some());
        if !is_default {
            let left = grouped(self.condition(left, true)?, OR);
            let right = grouped(self.condition(right, true)?, OR);
            return shown(format!("{left} || {right}"), OR);
        }
        if let Some(found) = self.optional(left, right) {
            return found;
        }
        if let Some((there, value)) = left.without_null() {
            return self.value(&Node::Choice(
                there.into(),
                value.into(),
                right.clone().into(),
            ));
        }
        let null = || Node::binary("==", left.clone(), Node::plain("null")).into();
        let (left, right) = (Box::new(left.clone()), Box::new(right.clone()));
        self.value(&match shape {
            Some(Shape::Text | Shape::List | Shape::Map | Shape::Int | Shape::Float) => {
                match sign {
                    // It is never null.
                    "??" => *left,
                    _ => Node::Choice(left.clone(), left, right),
                }
            }
            // A record that stands for another must be whole.
            _ if matches!(*right, Node::Record(..) | Node::Call(..)) => return None,
            Some(Shape::Nullable) | None if left.path().is_some() => {
                Node::Choice(null(), right, left)
            }
            _ => return None,
        })
    }

    /// Whether it is a text, as far as that can be seen.
    fn is_text(&self, node: &Node) -> bool {
        self.shape(node) == Some(Shape::Text)
    }

    /// Whether it is true or false, as far as that can be seen.
    fn is_condition(&self, node: &Node) -> bool {
        match node {
            Node::Not(_) => true,
            Node::Binary("||" | "&&", left, right) => {
                self.is_condition(left) || self.is_condition(right)
            }
            Node::Binary("+" | "-" | "*" | "/" | "%" | "??", ..) => false,
            Node::Binary(..) => true,
            Node::Plain(word) if word == "true" || word == "false" => true,
            Node::Call(function, _) => call::asks(function),
            node => self.shape(node) == Some(Shape::Bool),
        }
    }

    /// It where a condition stands, or the contrary of it.
    fn condition(&self, node: &Node, yes: bool) -> Option<Shown> {
        self.budget.take()?;
        if self.template {
            let plain = self.value(node)?;
            return match yes {
                true => Some(plain),
                false => shown(format!("not {}", grouped(plain, NEGATED)), NEGATED),
            };
        }
        match node {
            Node::Not(of) => return self.condition(of, !yes),
            Node::Binary(same @ ("==" | "!="), left, right) if !yes => {
                let other = if *same == "==" { "!=" } else { "==" };
                return self.binary(other, left, right);
            }
            Node::Binary("||", left, right) if yes && !self.is_default(left, right) => {
                let left = grouped(self.condition(left, true)?, OR);
                let right = grouped(self.condition(right, true)?, OR);
                return shown(format!("{left} || {right}"), OR);
            }
            node if is_size(node) => return self.filled(node, yes),
            Node::Each(..) => return self.filled(node, yes),
            _ => {}
        }
        let zero = match self.shape(node) {
            Some(Shape::Text) => "\"\"",
            Some(Shape::Int) => "0",
            Some(Shape::Float) => "0.0",
            Some(Shape::Nullable) => "null",
            Some(Shape::List | Shape::Map) => return self.filled(node, yes),
            Some(Shape::Other) => return None,
            // An element of what is not known.
            None if matches!(node, Node::Plain(name) if self.names.iter().any(|(own, _)| own == name)) =>
            {
                return None;
            }
            Some(Shape::Bool) | None if yes => return self.value(node),
            Some(Shape::Bool) | None => {
                return shown(format!("!{}", self.part(node, SIGNED)?), SIGNED);
            }
        };
        let sign = if yes { "!=" } else { "==" };
        shown(format!("{} {sign} {zero}", self.alone(node)?), RELATION)
    }

    /// Whether a list has elements, or none.
    fn filled(&self, list: &Node, yes: bool) -> Option<Shown> {
        let size = match is_size(list) {
            true => self.alone(list)?,
            false => format!("size({})", self.alone(list)?),
        };
        let sign = if yes { ">" } else { "==" };
        shown(format!("{size} {sign} 0"), RELATION)
    }

    /// Whether `left or right` stands for a value even where a condition is expected.
    fn is_default(&self, left: &Node, right: &Node) -> bool {
        let null =
            |node: &Node| matches!(node, Node::Plain(text) if text == "false" || text == "true");
        null(right) && self.shape(left) == Some(Shape::Nullable)
    }

    /// What is made of each element.
    pub(super) fn each(&self, each: &Each) -> Option<String> {
        let inside = self.within(&each.names, &each.of);
        let when = match &each.when {
            Some(when) => Some(inside.asks(when)?),
            None => None,
        };
        let value = inside.alone(&each.value)?;
        let (of, names, method) = match (each.names.as_slice(), &each.of) {
            ([name], of) => (self.operand(of)?, name.clone(), "map"),
            ([first, second], Node::Call(function, args)) => {
                let names = format!("{first}, {second}");
                match (&**function, args.as_slice()) {
                    (Node::Field(of, ".", name), []) if name == "items" => {
                        (self.operand(of)?, names, "transformList")
                    }
                    (Node::Plain(name), [(_, of)]) if name == "enumerate" => {
                        (self.operand(of)?, names, "transformList")
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        if let Some(key) = &each.key {
            let key = inside.alone(key)?;
            let of = when.map_or(of.clone(), |when| format!("{of}.filter({names}, {when})"));
            return (method == "map").then(|| format!("{of}.to_map({names}, {key}, {value})"));
        }
        Some(match when {
            // The elements of a map are its keys.
            None if value == names && self.shape(&each.of) != Some(Shape::Map) => of,
            None => format!("{of}.{method}({names}, {value})"),
            Some(when) if value == names => format!("{of}.filter({names}, {when})"),
            Some(when) => format!("{of}.{method}({names}, {when}, {value})"),
        })
    }

    /// A function that is given to a macro: its names and what it makes of them, the elements of a list.
    pub(super) fn function(&self, node: &Node, list: &Node, asks: bool) -> Option<String> {
        let Node::Function(names, value) = node else {
            return None;
        };
        let inside = self.within(names, list);
        let value = match asks {
            true => inside.asks(value)?,
            false => inside.alone(value)?,
        };
        Some(format!("{}, {value}", names.join(", ")))
    }
}

/// The kind of an error, as a text, by its class.
fn kind_of_error(class: &Node) -> Option<String> {
    match class {
        Node::Plain(text) if text.starts_with(['"', '\'']) => Some(text.clone()),
        class => Some(format!("\"{}\"", error_kind(&class.path()?)?)),
    }
}

/// `("system", "x")`, `{"role": "system", "content": "x"}`: the function that makes the message, and its text.
fn message(node: &Node) -> Option<(&'static str, &Node)> {
    let (who, text) = match node {
        Node::List(pair) => match pair.as_slice() {
            [who @ Node::Plain(quoted), text] if quoted.starts_with(['"', '\'']) => (who, text),
            _ => return None,
        },
        Node::Map(entries) => match entries.as_slice() {
            [(first, who), (second, text)]
                if first.bare()? == "role" && second.bare()? == "content" =>
            {
                (who, text)
            }
            _ => return None,
        },
        _ => return None,
    };
    Some((role(who.bare()?)?, text))
}

/// `("placeholder", "{messages}")`, `MessagesPlaceholder("messages")`: the field whose messages stand there.
fn placeholder(node: &Node) -> Option<Node> {
    let named = match node {
        Node::List(pair) => match pair.as_slice() {
            [word, named] if word.bare()? == "placeholder" => named,
            _ => return None,
        },
        Node::Call(function, args) if function.bare()? == "MessagesPlaceholder" => &args.first()?.1,
        _ => return None,
    };
    let name = named.bare()?.trim_matches(['{', '}']).to_owned();
    Some(Node::Field(Node::plain("state").into(), ".", name))
}

fn is_size(node: &Node) -> bool {
    matches!(node, Node::Call(function, args) if args.len() == 1 && call::is_size(function))
}

/// `x | f`, `x | f(y)` in a template.
fn is_filter(node: &Node) -> bool {
    match node {
        Node::Field(_, sign, _) => *sign == " | ",
        Node::Call(function, _) => is_filter(function),
        _ => false,
    }
}

fn is_spread(node: &Node) -> bool {
    matches!(node, Node::Spread(_))
}

fn is_null(node: &Node) -> bool {
    matches!(node, Node::Plain(text) if text == "null")
}

/// A text in parentheses where it binds less than it has to.
fn grouped(shown: Shown, least: u8) -> String {
    match shown.binds < least {
        true => format!("({})", shown.text),
        false => shown.text,
    }
}
