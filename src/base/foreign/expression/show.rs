//! From tree to text.

use super::call::{self, kind};
use super::{Each, Node, Shape, Types};

/// It as an expression.
pub fn expression(node: &Node, types: Types) -> Option<String> {
    Some(Writer::new(types).value(node)?.text)
}

/// It as a value in a template, which has Python's words and operators.
pub fn in_template(node: &Node, types: Types) -> Option<String> {
    let writer = Writer {
        types,
        template: true,
    };
    Some(writer.value(node)?.text)
}

pub struct Writer<'t> {
    pub(super) types: Types<'t>,
    pub(super) template: bool,
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
const SUM: u8 = 5;
const PRODUCT: u8 = 6;
const SIGNED: u8 = 7;
const OPERAND: u8 = 8;

/// The most that is written: some forms say a value twice.
const MOST: usize = 4_000;

fn shown(text: impl Into<String>, binds: u8) -> Option<Shown> {
    let text = text.into();
    (text.len() <= MOST).then_some(Shown { text, binds })
}

impl<'t> Writer<'t> {
    /// For expressions.
    pub fn new(types: Types<'t>) -> Self {
        let template = false;
        Self { types, template }
    }

    /// A condition that stands alone.
    pub(super) fn asks(&self, node: &Node) -> Option<String> {
        Some(self.condition(node, true)?.text)
    }

    /// The text of a part that binds at least so much.
    fn part(&self, node: &Node, least: u8) -> Option<String> {
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
        match node {
            Node::Plain(text) => shown(text, OPERAND),
            Node::Text(_) if self.template => None,
            Node::Text(text) => shown(text.expression(self.types)?, OPERAND),
            Node::Field(of, sign, name) => self.field(of, sign, name),
            Node::Index(of, sign, index) => self.index(of, sign, index),
            Node::Part(of, from, to) => self.range(of, from.as_deref(), to.as_deref()),
            Node::Call(function, args) => self.call(function, args),
            Node::List(values) => shown(format!("[{}]", self.all(values)?), OPERAND),
            Node::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| {
                    Some(format!("{}: {}", self.alone(key)?, self.alone(value)?))
                });
                let entries = entries.collect::<Option<Vec<_>>>()?.join(", ");
                shown(format!("{{{entries}}}"), OPERAND)
            }
            Node::Record(name, fields) => {
                let fields = fields
                    .iter()
                    .map(|(field, value)| Some(format!("{field}: {}", self.alone(value)?)));
                let fields = fields.collect::<Option<Vec<_>>>()?.join(", ");
                shown(format!("{name} {{ {fields} }}"), OPERAND)
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
        let values = values.iter().map(|value| self.alone(value));
        Some(values.collect::<Option<Vec<_>>>()?.join(", "))
    }

    fn field(&self, of: &Node, sign: &str, name: &str) -> Option<Shown> {
        // The text of a message; its content may have parts.
        let text = name == "content" && self.types.shape(name).is_none();
        let name = if text { "text" } else { name };
        if name == "hex" && !self.template && self.types.shape(name).is_none() {
            return self.value(of);
        }
        if name == "length" && !self.template && self.types.shape(name).is_none() {
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
        match (of, index) {
            (Node::Plain(root), Node::Plain(key)) if root == "state" => {
                return shown(format!("state.{}", key.trim_matches(['"', '\''])), OPERAND);
            }
            (of, Node::Minus(at)) if matches!(&**at, Node::Plain(one) if one == "1") => {
                let of = self.operand(of)?;
                return match self.template {
                    true => shown(format!("({of} | last)"), OPERAND),
                    false => shown(format!("{of}.last().value()"), OPERAND),
                };
            }
            _ => {}
        }
        shown(
            format!("{}{sign}{}]", self.operand(of)?, self.alone(index)?),
            OPERAND,
        )
    }

    /// `xs[1:3]`
    fn range(&self, of: &Node, from: Option<&Node>, to: Option<&Node>) -> Option<Shown> {
        let text = self.is_text(of);
        let shown_of = self.operand(of)?;
        let bound =
            |bound: Option<&Node>| bound.map_or(Some(String::new()), |node| self.alone(node));
        let (first, last) = (bound(from)?, bound(to)?);
        if self.template {
            return shown(format!("{shown_of}[{first}:{last}]"), OPERAND);
        }
        let of = shown_of;
        shown(
            match (from, to) {
                (None, None) => of,
                (Some(Node::Minus(count)), None) if !text => {
                    let count = self.alone(count)?;
                    format!("{of}.reverse().slice(0, {count}).reverse()")
                }
                (None, Some(Node::Minus(count))) if !text => {
                    format!("{of}.slice(0, size({of}) - {})", self.part(count, PRODUCT)?)
                }
                (Some(Node::Minus(_)), _) | (_, Some(Node::Minus(_))) => return None,
                (None, Some(_)) if text => format!("{of}.truncate({last})"),
                (Some(_), None) if text => format!("{of}.substring({first})"),
                (Some(_), Some(_)) if text => format!("{of}.substring({first}, {last})"),
                (None, Some(_)) => format!("{of}.slice(0, {last})"),
                (Some(_), None) => format!("{of}.slice({first})"),
                (Some(_), Some(_)) => format!("{of}.slice({first}, {last})"),
            },
            OPERAND,
        )
    }

    fn call(&self, function: &Node, args: &[(String, Node)]) -> Option<Shown> {
        let text = call::written(self, function, args)?;
        // What is written for a call may be an operation.
        let binds = match text.binds {
            true => OPERAND,
            false => CHOICE,
        };
        shown(text.text, binds)
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
        // `c and "a" or "b"`
        if let Node::Binary("&&", condition, value) = left
            && let Node::Plain(text) = &**value
            && text.starts_with(['"', '\''])
        {
            return self.value(&Node::Choice(
                condition.clone(),
                value.clone(),
                right.clone().into(),
            ));
        }
        let literal = match right {
            Node::Plain(text) => !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'),
            Node::List(_) | Node::Map(_) | Node::Text(_) | Node::Binary("||" | "??", ..) => true,
            _ => false,
        };
        let shape = left.path().and_then(|path| self.types.shape(&path));
        let conditions = self.is_condition(left) || self.is_condition(right);
        let is_default = sign == "??" || !conditions && (literal || shape.is_some());
        if !is_default {
            let left = grouped(self.condition(left, true)?, OR);
            let right = grouped(self.condition(right, true)?, OR);
            return shown(format!("{left} || {right}"), OR);
        }
        let (left_shown, other) = (self.value(left)?, self.part(right, CHOICE)?);
        let value = grouped(left_shown.clone(), OR);
        match shape {
            Some(Shape::Text | Shape::List | Shape::Int | Shape::Float) if sign != "??" => {
                let condition = grouped(self.condition(left, true)?, OR);
                shown(format!("{condition} ? {value} : {other}"), CHOICE)
            }
            _ => {
                let compared = grouped(left_shown, SUM);
                shown(format!("{compared} == null ? {other} : {value}"), CHOICE)
            }
        }
    }

    /// Whether it is a text, as far as that can be seen.
    fn is_text(&self, node: &Node) -> bool {
        match node {
            Node::Plain(text) if text.starts_with(['"', '\'']) => true,
            Node::Text(_) => true,
            Node::Call(function, _) => call::gives_text(function),
            node => node.path().and_then(|path| self.types.shape(&path)) == Some(Shape::Text),
        }
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
            node => node.path().and_then(|path| self.types.shape(&path)) == Some(Shape::Bool),
        }
    }

    /// It where a condition stands, or the contrary of it.
    fn condition(&self, node: &Node, yes: bool) -> Option<Shown> {
        if self.template {
            let plain = self.value(node)?;
            return match yes {
                true => Some(plain),
                false => shown(format!("not {}", grouped(plain, NEGATED)), NEGATED),
            };
        }
        let sign = if yes { "!=" } else { "==" };
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
            Node::Call(function, args) if args.len() == 1 && call::is_size(function) => {
                let sign = if yes { ">" } else { "==" };
                return shown(format!("{} {sign} 0", self.operand(node)?), RELATION);
            }
            Node::Each(..) => {
                let sign = if yes { ">" } else { "==" };
                return shown(format!("size({}) {sign} 0", self.alone(node)?), RELATION);
            }
            _ => {}
        }
        let value = self.value(node)?;
        let shape = node.path().and_then(|path| self.types.shape(&path));
        let text = value.text;
        let zero = match shape {
            Some(Shape::Text) => "\"\"",
            Some(Shape::Int) => "0",
            Some(Shape::Float) => "0.0",
            Some(Shape::Nullable) => "null",
            Some(Shape::List) => {
                let sign = if yes { ">" } else { "==" };
                return shown(format!("size({text}) {sign} 0"), RELATION);
            }
            Some(Shape::Bool | Shape::Other) | None if yes => return shown(text, value.binds),
            Some(Shape::Bool | Shape::Other) | None => {
                let whole = Shown {
                    text,
                    binds: value.binds,
                };
                return shown(format!("!{}", grouped(whole, SIGNED)), SIGNED);
            }
        };
        shown(format!("{text} {sign} {zero}"), RELATION)
    }

    /// Whether `left or right` stands for a value even where a condition is expected.
    fn is_default(&self, left: &Node, right: &Node) -> bool {
        let null =
            |node: &Node| matches!(node, Node::Plain(text) if text == "false" || text == "true");
        null(right) && left.path().and_then(|path| self.types.shape(&path)) == Some(Shape::Nullable)
    }

    /// What is made of each element.
    pub(super) fn each(&self, each: &Each) -> Option<String> {
        let when = match &each.when {
            Some(when) => Some(self.asks(when)?),
            None => None,
        };
        let value = self.alone(&each.value)?;
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
            let key = self.alone(key)?;
            let of = when.map_or(of.clone(), |when| format!("{of}.filter({names}, {when})"));
            return (method == "map").then(|| format!("{of}.to_map({names}, {key}, {value})"));
        }
        Some(match when {
            None if value == names => of,
            None => format!("{of}.{method}({names}, {value})"),
            Some(when) if value == names => format!("{of}.filter({names}, {when})"),
            Some(when) => format!("{of}.{method}({names}, {when}, {value})"),
        })
    }

    /// What is asked of each element, by its name.
    pub(super) fn asked(&self, each: &Each, method: &str) -> Option<String> {
        let [name] = each.names.as_slice() else {
            return None;
        };
        let of = self.operand(&each.of)?;
        let of = match &each.when {
            Some(when) => format!("{of}.filter({name}, {})", self.asks(when)?),
            None => of,
        };
        let condition = self.asks(&each.value)?;
        Some(format!("{of}.{method}({name}, {condition})"))
    }

    /// A function that is given to a macro: its names and what it makes of them.
    pub(super) fn function(&self, node: &Node, asks: bool) -> Option<String> {
        let Node::Function(names, value) = node else {
            return None;
        };
        let value = match asks {
            true => self.asks(value)?,
            false => self.alone(value)?,
        };
        Some(format!("{}, {value}", names.join(", ")))
    }

    /// The type that `isinstance` asks for.
    pub(super) fn kind(&self, node: &Node) -> Option<&'static str> {
        kind(&node.path()?)
    }
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
