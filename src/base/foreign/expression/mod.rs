//! Expressions as Python and TypeScript write them, and the same here: `a if x is None else b`, `[f(x) for x in xs]`,
//! `sorted(xs, key=lambda x: x.n)`, `xs[-1]`. The help for a form of theirs shows the whole expression that it stands in.
//! [`read`] makes a tree of it, [`show`] the text to write.

mod call;
pub mod jump;
mod read;
mod show;

pub use call::METHODS;

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::text::{Composed, balanced, outside, printed};
use show::Writer;

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

/// How much of a text is read for one help, in bytes, and how much is written: some forms say a value twice.
pub const LONGEST: usize = 4_000;

/// How many parts of an expression are read and written for one help.
const MOST_PARTS: usize = 500;

/// How many of them are left.
#[derive(Clone)]
struct Budget(Rc<Cell<usize>>);

impl Default for Budget {
    fn default() -> Self {
        Self(Rc::new(Cell::new(MOST_PARTS)))
    }
}

impl Budget {
    fn take(&self) -> Option<()> {
        self.0.set(self.0.get().checked_sub(1)?);
        Some(())
    }
}

/// The outermost expression around a place that has another form here.
pub fn around(text: &str, at: usize, types: Types) -> Option<Written> {
    let before = text.get(..at).filter(|before| before.len() <= LONGEST)?;
    let called = word(text.get(at..)?);
    starts(before).into_iter().find_map(|start| {
        let writer = Writer::new(types).into_field(text.get(..start)?);
        let (node, length) = writer.read(text.get(start..)?)?;
        let end = start + length;
        if end <= at || !ends(text.get(end..)?) {
            return None;
        }
        let here = writer.alone(&node)?;
        // What is called there is the same here.
        let is_call = text.get(at + called.len()..)?.starts_with('(') && !SIGNS.contains(&called);
        if is_call && !writer.rewritten.borrow().contains(called) {
            return None;
        }
        let same = |text: &str| text.replace([' ', '\n'], "");
        (same(&here) != same(text.get(start..end)?)).then_some(Written { start, end, here })
    })
}

/// A text that is one expression, as it is written here.
pub fn expression(written: &str, types: Types) -> Option<String> {
    Writer::new(types).whole(written)
}

/// The expression that a text begins with, as it is written here, and how long it is.
pub fn first(text: &str, types: Types) -> Option<(String, usize)> {
    let writer = Writer::new(types);
    let (node, length) = writer.read(text)?;
    Some((writer.alone(&node)?, length))
}

/// The same of a condition.
pub fn condition(text: &str, types: Types) -> Option<(String, usize)> {
    let writer = Writer::new(types);
    let (node, length) = writer.read(text)?;
    Some((writer.asks(&node)?, length))
}

/// A value as a template has it.
pub fn in_template(written: &str, types: Types) -> Option<String> {
    let writer = Writer::in_template(types);
    // `x:.2f`
    match printed(written).filter(|(_, verb)| verb != "%s") {
        Some((value, verb)) => Some(format!("'{verb}' | format({})", writer.whole(value)?)),
        None => writer.whole(written),
    }
}

/// Words that are operators.
const SIGNS: [&str; 6] = ["not", "and", "or", "in", "is", "if"];

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
    for (at, c) in outside(before) {
        let behind = at + c.len_utf8();
        let next = || before.get(behind..).unwrap_or("");
        let last = || before.get(..at).unwrap_or("");
        let level = open.len();
        match c {
            '(' | '[' | '{' => open.push(vec![behind]),
            ')' | ']' | '}' if level > 1 => drop(open.pop()),
            _ => {
                let begins = match c {
                    ',' | ':' | '\n' => true,
                    '=' => !next().starts_with('=') && !last().ends_with(['=', '!', '<', '>']),
                    '>' => last().ends_with('-'),
                    _ => false,
                };
                if let Some(starts) = open.last_mut().filter(|_| begins) {
                    starts.retain(|_| c != ',');
                    starts.push(behind);
                }
            }
        }
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
        || rest.starts_with("//")
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
    Map,
    Int,
    Float,
    Bool,
    Nullable,
    Other,
}

/// What is declared under a name.
#[derive(Debug, Default)]
struct Declared {
    /// The first type.
    ty: Option<String>,
    /// Whether another declaration has a type of another shape.
    differs: bool,
    reducer: Option<String>,
}

/// What a text declares.
#[derive(Debug, Default)]
struct Names {
    all: HashMap<String, Declared>,
    /// The fields of its records.
    records: HashMap<String, Names>,
}

impl Names {
    /// Reads what stands behind names and `:`, wherever they do.
    fn of(text: &str) -> Self {
        let inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut names = Self::default();
        let mut before = "";
        for behind in text.split(':') {
            let path = before.trim_end_matches(inside);
            let name = before.get(path.len()..).unwrap_or("");
            before = behind;
            if name.is_empty() || path.ends_with(['.', '"', '\'']) {
                continue;
            }
            let line = behind.split('\n').next().unwrap_or("");
            let reducer = line.split(',').next();
            let reducer = reducer.and_then(|line| line.split_once(" via "));
            let own = names.all.entry(name.to_owned()).or_default();
            own.reducer = own
                .reducer
                .take()
                .or(reducer.map(|(_, name)| word(name).to_owned()));
            let shape = declared(line);
            match &own.ty {
                _ if shape.is_none() => {}
                Some(first) => own.differs |= declared(first) != shape,
                None => own.ty = Some(whole_type(line).to_owned()),
            }
        }
        names
    }

    /// The type that a name is declared with, where all declarations of the name agree in their shape.
    fn ty(&self, name: &str) -> Option<&str> {
        let found = self.all.get(name).filter(|found| !found.differs)?;
        found.ty.as_deref()
    }

    fn has(&self, name: &str) -> bool {
        self.all.get(name).is_some_and(|found| found.ty.is_some())
    }
}

/// What a file declares, read when that is first asked for.
#[derive(Debug, Default)]
pub struct Index(OnceCell<Names>);

/// The text of a file: of its declarations the types of names are read.
#[derive(Debug, Clone, Copy)]
pub struct Types<'t> {
    /// The text.
    pub text: &'t str,
    index: &'t Index,
}

impl<'t> Types<'t> {
    /// Of a file whose index is kept elsewhere.
    pub fn new(text: &'t str, index: &'t Index) -> Self {
        Self { text, index }
    }

    fn names(self) -> &'t Names {
        self.index.0.get_or_init(|| {
            let mut names = Names::of(self.text);
            for (at, begin) in self.text.match_indices("type ") {
                let named = self.text.get(at + begin.len()..).unwrap_or("");
                let name = word(named);
                let body = named
                    .get(name.len()..)
                    .and_then(|body| body.strip_prefix(" {"));
                let fields = body.and_then(|body| body.get(..balanced(body, '}')?));
                if let Some(fields) = fields {
                    let record = names.records.entry(name.to_owned());
                    record.or_insert_with(|| Names::of(fields));
                }
            }
            names
        })
    }

    /// The declarations of the fields of a record.
    fn fields_of(self, ty: &str) -> Option<&'t Names> {
        self.names().records.get(ty.trim_end_matches('?'))
    }

    /// Whether a type is that of a record.
    fn is_record(self, ty: &str) -> bool {
        self.fields_of(ty).is_some()
    }

    /// The reducer that a field is declared with.
    pub fn reducer(self, field: &str) -> Option<&'t str> {
        self.names().all.get(field)?.reducer.as_deref()
    }

    /// Whether something of that name is declared.
    pub fn has(self, name: &str) -> bool {
        self.names().has(name)
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
        "list" => Some(Shape::List),
        "map" => Some(Shape::Map),
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

impl Node {
    /// Whether a name stands in it, other than in a text, a function or what goes over a list.
    fn mentions(&self, name: &str) -> bool {
        match self {
            Node::Plain(plain) => plain == name,
            Node::Field(of, ..) | Node::Spread(of) | Node::Not(of) | Node::Minus(of) => {
                of.mentions(name)
            }
            Node::Index(of, _, with) | Node::Binary(_, of, with) => {
                of.mentions(name) || with.mentions(name)
            }
            Node::Call(of, args) => {
                of.mentions(name) || args.iter().any(|(_, value)| value.mentions(name))
            }
            Node::Choice(when, yes, no) => [when, yes, no].iter().any(|of| of.mentions(name)),
            Node::List(all) => all.iter().any(|of| of.mentions(name)),
            _ => false,
        }
    }
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

/// Texts between commas.
fn listed(texts: impl Iterator<Item = Option<String>>) -> Option<String> {
    Some(texts.collect::<Option<Vec<_>>>()?.join(", "))
}

impl Node {
    /// A name, or what a text in quotes says.
    fn bare(&self) -> Option<&str> {
        match self {
            Node::Plain(text) => Some(text.trim_matches(['"', '\''])),
            _ => None,
        }
    }

    fn plain(text: impl Into<String>) -> Self {
        Node::Plain(text.into())
    }

    fn method(of: Node, name: &str, args: Vec<Node>) -> Self {
        let named = Node::Field(Box::new(of), ".", name.to_owned());
        let args = args.into_iter().map(|arg| (String::new(), arg));
        Node::Call(Box::new(named), args.collect())
    }

    fn call(name: &str, args: Vec<Node>) -> Self {
        let args = args.into_iter().map(|arg| (String::new(), arg));
        Node::Call(Node::plain(name).into(), args.collect())
    }

    fn binary(sign: &'static str, left: Node, right: Node) -> Self {
        Node::Binary(sign, Box::new(left), Box::new(right))
    }

    /// `a?.b.c` as a condition, `a != null`, and what there is then, `a.b.c`.
    fn without_null(&self) -> Option<(Node, Node)> {
        let (of, sign) = match self {
            Node::Field(of, sign, _) => (of, *sign),
            Node::Index(of, ..) => (of, "["),
            Node::Call(of, _) => (of, "("),
            _ => return None,
        };
        let inner = of.without_null();
        let mut there = inner.as_ref().map(|(there, _)| there.clone());
        let of = inner.map_or_else(|| (**of).clone(), |(_, of)| of);
        if sign == "?." {
            let this = Node::binary("!=", of.clone(), Node::plain("null"));
            there = Some(match there {
                Some(before) => Node::binary("&&", before, this),
                None => this,
            });
        }
        let of = Box::new(of);
        let value = match self {
            Node::Field(_, "?.", name) => Node::Field(of, ".", name.clone()),
            Node::Field(_, sign, name) => Node::Field(of, sign, name.clone()),
            Node::Index(_, sign, index) => Node::Index(of, sign, index.clone()),
            Node::Call(_, args) => Node::Call(of, args.clone()),
            _ => return None,
        };
        Some((there?, value))
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
