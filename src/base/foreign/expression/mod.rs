//! Expressions as Python and TypeScript write them, and the same here: `a if x is None else b`, `[f(x) for x in xs]`,
//! `sorted(xs, key=lambda x: x.n)`, `xs[-1]`. The help for a form of theirs shows the whole expression that it stands in.
//! [`read`] makes a tree of it, [`show`] the text to write.

mod call;
pub mod jump;
mod read;
mod show;

pub use call::METHODS;

use super::text::{Composed, balanced};

/// A stretch of a text, and what is written in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Where the expression begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// The same here.
    pub here: String,
}

/// The outermost expression around a place that has another form here.
pub fn around(text: &str, at: usize, types: Types) -> Option<Written> {
    starts(text.get(..at)?).into_iter().find_map(|start| {
        let (node, length) = read::read(text.get(start..)?)?;
        let end = start + length;
        if end <= at || !ends(text.get(end..)?) {
            return None;
        }
        let writer = show::Writer::new(types).into_field(text.get(..start)?);
        let here = writer.alone(&node)?;
        let same = |text: &str| text.replace([' ', '\n'], "");
        (same(&here) != same(text.get(start..end)?)).then_some(Written { start, end, here })
    })
}

/// An expression as it is written here, and how it binds.
pub fn expression(written: &str, types: Types) -> Option<String> {
    show::expression(&whole(written)?, types)
}

/// The expression that a text begins with, as it is written here, and how long it is.
pub fn first(text: &str, types: Types) -> Option<(String, usize)> {
    let (node, length) = read::read(text)?;
    Some((show::expression(&node, types)?, length))
}

/// A value as a template has it.
pub fn in_template(written: &str, types: Types) -> Option<String> {
    show::in_template(&whole(written)?, types)
}

fn whole(written: &str) -> Option<Node> {
    let (node, length) = read::read(written)?;
    written
        .get(length..)?
        .trim_ascii()
        .is_empty()
        .then_some(node)
}

/// Words that stand before an expression.
const BEFORE: [&str; 11] = [
    "when", "require", "ensure", "skip", "until", "else", "return", "where", "messages", "in",
    "exit",
];

/// Words that may follow one.
const BEHIND: [&str; 7] = ["else", "as", "when", "where", "then", "with", "keep"];

/// The most places that are tried.
const MOST: usize = 12;

/// Where an expression may begin that a text ends in, the first place first.
fn starts(before: &str) -> Vec<usize> {
    let mut open: Vec<Vec<usize>> = vec![vec![0]];
    let mut quote = None;
    let mut last = ' ';
    let mut chars = before.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map_or(' ', |(_, next)| *next);
        let behind = at + c.len_utf8();
        let level = open.len();
        match (quote, c) {
            (Some(_), '\\') => drop(chars.next()),
            (Some(q), _) => quote = quote.filter(|_| q != c),
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[' | '{') => open.push(vec![behind]),
            (None, ')' | ']' | '}') if level > 1 => drop(open.pop()),
            (None, ',') => {
                if let Some(starts) = open.last_mut() {
                    *starts = vec![behind];
                }
            }
            (None, ':' | '=' | '>' | '\n') => {
                let sign = match c {
                    '=' => next != '=' && !"=!<>".contains(last),
                    '>' => last == '-',
                    _ => true,
                };
                if let Some(starts) = open.last_mut().filter(|_| sign) {
                    starts.push(behind);
                }
            }
            _ => {}
        }
        last = c;
    }
    let mut starts = open.concat();
    starts.drain(..starts.len().saturating_sub(MOST));
    for start in &mut starts {
        loop {
            let rest = before.get(*start..).unwrap_or("");
            *start += rest.len() - rest.trim_ascii_start().len();
            let word = word(rest.trim_ascii_start());
            let behind = before.get(*start + word.len()..).unwrap_or("");
            match BEFORE.contains(&word) && behind.starts_with([' ', '\n']) {
                true => *start += word.len(),
                false => break,
            }
        }
    }
    starts
}

/// Whether an expression can end before a text.
fn ends(behind: &str) -> bool {
    let rest = behind.trim_start_matches([' ', '\t', '\r']);
    rest.is_empty()
        || rest.starts_with(['\n', ',', ')', ']', '}', ';'])
        || rest.starts_with("->")
        || BEHIND.contains(&word(rest))
}

/// The word that a text begins with.
pub fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    text.get(..end.unwrap_or(text.len())).unwrap_or("")
}

/// A type, as far as it says which values a condition takes for false.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Text,
    List,
    Int,
    Float,
    Bool,
    Nullable,
    Other,
}

/// The text of a file: of its declarations the types of names are read.
#[derive(Debug, Clone, Copy)]
pub struct Types<'t>(pub &'t str);

impl<'t> Types<'t> {
    /// The type that a name is declared with, where all declarations of the name agree in their shape.
    fn ty(self, name: &str) -> Option<&'t str> {
        let mut found = self
            .declarations(name)
            .filter(|text| declared(text).is_some());
        let first = found.next()?;
        let same = found.all(|other| declared(other) == declared(first));
        same.then(|| whole_type(first))
    }

    /// The declarations of the fields of a record.
    fn fields_of(self, ty: &str) -> Option<Self> {
        let begin = format!("type {} {{", ty.trim_end_matches('?'));
        let inside = self.0.split_once(&begin)?.1;
        Some(Self(inside.get(..balanced(inside, '}')?)?))
    }

    /// Whether a type is that of a record.
    fn is_record(self, ty: &str) -> bool {
        self.fields_of(ty).is_some()
    }

    /// The reducer that a field is declared with.
    pub fn reducer(self, field: &str) -> Option<&'t str> {
        let of = |text: &'t str| {
            let line = text.split(['\n', ',']).next()?;
            Some(word(line.split_once(" via ")?.1))
        };
        self.declarations(field).find_map(of)
    }

    /// Whether something of that name is declared.
    pub fn has(self, name: &str) -> bool {
        self.declarations(name).any(|text| declared(text).is_some())
    }

    /// What stands behind a name and `:`, wherever it does.
    fn declarations(self, name: &str) -> impl Iterator<Item = &'t str> {
        let is_name = !name.is_empty() && word(name) == name;
        let places = self.0.match_indices(if is_name { name } else { ":" });
        places.filter_map(move |(at, found)| {
            let inside = |c: char| c.is_ascii_alphanumeric() || "_.\"'".contains(c);
            let behind = self.0.get(at + found.len()..)?.strip_prefix(':')?;
            (is_name && !self.0.get(..at)?.ends_with(inside)).then_some(behind)
        })
    }
}

/// The type that a text begins with, as it stands there.
fn whole_type(text: &str) -> &str {
    let text = text.trim_start_matches(' ');
    let mut depth = 0;
    let end = text.find(|c: char| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        depth == 0 && !(c.is_ascii_alphanumeric() || "_>?".contains(c))
    });
    text.get(..end.unwrap_or(text.len())).unwrap_or("")
}

/// The type of the elements of a list or a map.
fn element(ty: &str) -> Option<&str> {
    ty.split_once('<')?.1.strip_suffix('>')
}

/// What the type is that a text begins with.
fn declared(text: &str) -> Option<Shape> {
    let text = text.trim_start_matches(' ');
    let name = word(text);
    let behind = text.get(name.len()..)?;
    let behind = match behind.strip_prefix('<') {
        Some(inside) => inside.split_once('>')?.1.trim_start_matches('>'),
        None => behind,
    };
    match name {
        "" => None,
        // `answer: string(x)` is a value.
        _ if behind.starts_with(['(', '.']) => None,
        _ if behind.starts_with('?') => Some(Shape::Nullable),
        "string" => Some(Shape::Text),
        "list" | "map" => Some(Shape::List),
        "int" => Some(Shape::Int),
        "float" => Some(Shape::Float),
        "bool" => Some(Shape::Bool),
        "json" | "message" | "timestamp" | "duration" | "bytes" | "uint" => Some(Shape::Other),
        _ if name.starts_with(|c: char| c.is_ascii_uppercase()) => Some(Shape::Other),
        _ => None,
    }
}

/// A form of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    /// A name, a number, a text, as it stands.
    Plain(String),
    /// A text with values in it.
    Text(Composed),
    /// `a.b`, `a.?b`
    Field(Box<Node>, &'static str, String),
    /// `a[b]`, `a[?b]`
    Index(Box<Node>, &'static str, Box<Node>),
    /// `a[b:c]`
    Part(Box<Node>, Option<Box<Node>>, Option<Box<Node>>),
    /// `f(a, name=b)`
    Call(Box<Node>, Vec<(String, Node)>),
    List(Vec<Node>),
    /// `*xs` in a list; as a key in a map, `**m`.
    Spread(Box<Node>),
    Map(Vec<(Node, Node)>),
    /// `Doc { id: a }`
    Record(String, Vec<(String, Node)>),
    Not(Box<Node>),
    Minus(Box<Node>),
    Binary(&'static str, Box<Node>, Box<Node>),
    /// Condition, value, other value.
    Choice(Box<Node>, Box<Node>, Box<Node>),
    /// `lambda x: a`, `x => a`
    Function(Vec<String>, Box<Node>),
    /// `a for x in xs if c`, the bracket around it before it.
    Each(char, Box<Each>),
}

/// What is made of each element.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Each {
    key: Option<Node>,
    value: Node,
    names: Vec<String>,
    of: Node,
    when: Option<Node>,
}

impl Node {
    fn plain(text: impl Into<String>) -> Self {
        Node::Plain(text.into())
    }

    fn method(of: Node, name: &str, args: Vec<Node>) -> Self {
        let named = Node::Field(Box::new(of), ".", name.to_owned());
        Node::Call(
            Box::new(named),
            args.into_iter().map(|arg| (String::new(), arg)).collect(),
        )
    }

    fn binary(sign: &'static str, left: Node, right: Node) -> Self {
        Node::Binary(sign, Box::new(left), Box::new(right))
    }

    /// `a.b.c`
    fn path(&self) -> Option<String> {
        match self {
            Node::Plain(name) => Some(name.clone()),
            Node::Field(of, ".", name) => Some(format!("{}.{name}", of.path()?)),
            _ => None,
        }
    }
}
