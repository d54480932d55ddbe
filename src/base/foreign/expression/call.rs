//! Calls of Python's and TypeScript's functions and methods.

use super::super::call::{find, is_module};
use super::show::{SUM, Writer};
use super::{Node, Shape};

/// A call as it is written here.
pub struct Call {
    pub text: String,
    /// Whether it is a call again, no operation.
    pub binds: bool,
}

/// Whether a function gives true or false.
pub fn asks(function: &Node) -> bool {
    ASKS.contains(&own_name(function))
}

/// Whether a function gives a text.
pub fn gives_text(function: &Node) -> bool {
    let names = [
        "lower", "upper", "strip", "trim", "str", "string", "join", "replace", "format",
    ];
    names.contains(&own_name(function))
}

fn own_name(function: &Node) -> &str {
    match function {
        Node::Plain(name) | Node::Field(_, _, name) => name,
        _ => "",
    }
}

static ASKS: [&str; 15] = [
    "any",
    "all",
    "exists",
    "contains",
    "includes",
    "startswith",
    "startsWith",
    "endswith",
    "endsWith",
    "isinstance",
    "matches",
    "has",
    "some",
    "every",
    "hasValue",
];

/// Whether a function says how long something is.
pub fn is_size(function: &Node) -> bool {
    matches!(function, Node::Plain(name) if name == "size" || name == "len")
}

/// The type that a word asks for, as `type(x)` gives it.
pub fn kind(word: &str) -> Option<&'static str> {
    Some(match word {
        "int" | "integer" => "int",
        "float" | "double" => "float",
        "string" | "str" | "text" => "string",
        "bool" | "boolean" => "bool",
        "list" | "array" => "list",
        "map" | "dict" | "object" => "map",
        _ => return None,
    })
}

/// The methods that there are here.
pub static METHODS: &str = "all charAt checked contains distinct endsWith enumerate exists existsOne exists_one filter find first flatten \
    fold format getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getHours getMilliseconds getMinutes \
    getMonth getSeconds group_by hasValue indexOf join keys last lastIndexOf lines lower lowerAscii map matches max \
    merge min optFlatMap optMap or orValue regex_find regex_find_all replace reverse size slice sort sort_by split \
    startsWith substring sum to_map transformList transformMap trim truncate unique upper upperAscii value values \
    with without";

/// What stands before the dot in names of functions.
const SPACES: [&str; 5] = ["cel", "lists", "math", "optional", "strings"];

/// Names that a [form](super::super::call) has for what is called, and for what it is called with.
const SUBJECT: [&str; 4] = ["x", "xs", "m", "text"];
const OTHERS: [&str; 8] = ["y", "a", "b", "i", "ys", "other", "call_id", "from"];

/// Names of arguments, and those of a form.
const NAMED: [(&str, &str); 3] = [
    ("content", "text"),
    ("text", "text"),
    ("tool_call_id", "call_id"),
];

/// Whether a name is that of a function or a method that [`written`] takes apart.
pub fn knows(name: &str) -> bool {
    let names = [
        "dict", "next", "any", "all", "some", "every", "sort", "toSorted", "max", "min", "sum",
        "list", "tuple", "set", "map", "filter", "includes", "getattr", "count", "remove",
    ];
    names.contains(&name)
}

/// Functions whose arguments may have names here.
const MAKERS: [&str; 4] = ["user", "assistant", "system", "tool"];

pub fn written(writer: &Writer, function: &Node, args: &[(String, Node)]) -> Option<Call> {
    let makes = matches!(function, Node::Plain(name) if MAKERS.contains(&name.as_str()));
    let has_names = args.iter().any(|(name, _)| !name.is_empty());
    let plain = || {
        (makes || !has_names).then_some(())?;
        if let Node::Field(of, ".", name) = function
            && !writer.template
            && !METHODS.split(' ').any(|own| own == name)
            && !matches!(&**of, Node::Plain(space) if SPACES.contains(&space.as_str()))
        {
            return None;
        }
        let args = args.iter().map(|(name, value)| {
            let value = writer.alone(value)?;
            Some(match name.as_str() {
                "" => value,
                name => format!("{name}: {value}"),
            })
        });
        let args = args.collect::<Option<Vec<_>>>()?.join(", ");
        let text = format!("{}({args})", writer.operand(function)?);
        Some(Call { text, binds: true })
    };
    let given = |wanted: &str| {
        args.iter()
            .find(|(name, _)| name == wanted)
            .map(|(_, value)| value)
    };
    let values: Vec<&Node> = args
        .iter()
        .filter(|(name, _)| name.is_empty())
        .map(|(_, value)| value)
        .collect();
    let call = |text: String| Some(Call { text, binds: true });
    let module = match function {
        Node::Field(of, ".", _) => of.path().is_some_and(|of| is_module(&of)),
        _ => false,
    };
    let (name, subject, others) = match function {
        Node::Plain(name) => (
            name,
            values.first().copied(),
            values.get(1..).unwrap_or(&[]),
        ),
        Node::Field(of, ".", name) if module => {
            if of.path().as_deref() == Some("re") {
                return None;
            }
            (
                name,
                values.first().copied(),
                values.get(1..).unwrap_or(&[]),
            )
        }
        Node::Field(of, ".", name) => (name, Some(&**of), values.as_slice()),
        _ => return plain(),
    };
    let is_method = matches!(function, Node::Field(..)) && !module;
    match (name.as_str(), subject, others) {
        ("dict", None, []) if has_names && given("*").is_none() => {
            let entries = args
                .iter()
                .map(|(name, value)| Some(format!("\"{name}\": {}", writer.alone(value)?)));
            return call(format!(
                "{{{}}}",
                entries.collect::<Option<Vec<_>>>()?.join(", ")
            ));
        }
        ("sorted" | "sort" | "toSorted", Some(list), []) => {
            let shown = writer.operand(list)?;
            let mut text = match given("key") {
                Some(key) => format!("{shown}.sort_by({})", key_of(writer, list, key)?),
                None => format!("{shown}.sort()"),
            };
            match given("reverse") {
                Some(Node::Plain(yes)) if yes == "true" => text.push_str(".reverse()"),
                Some(Node::Plain(no)) if no == "false" => {}
                Some(_) => return None,
                None => {}
            }
            let known =
                |(name, _): &(String, Node)| ["", "key", "reverse"].contains(&name.as_str());
            return args.iter().all(known).then_some(Call { text, binds: true });
        }
        ("max" | "min", Some(list), []) if given("key").is_some() && args.len() == 2 => {
            let end = if name == "max" { "last" } else { "first" };
            let key = key_of(writer, list, given("key")?)?;
            return call(format!(
                "{}.sort_by({key}).{end}().value()",
                writer.operand(list)?
            ));
        }
        ("max" | "min", None, []) if given("*").is_some() && args.len() == 1 => {
            return call(format!("{}.{name}()", writer.operand(given("*")?)?));
        }
        // Names that the rest doesn't know.
        _ if has_names => {}
        ("join", Some(Node::Plain(between)), [list]) if is_method && writer.template => {
            return Some(Call {
                text: format!("{} | join({between})", writer.operand(list)?),
                binds: false,
            });
        }
        ("join", Some(Node::Plain(between)), [list])
            if is_method && between.starts_with(['"', '\'']) && !writer.template =>
        {
            return call(format!("{}.join({between})", writer.operand(list)?));
        }
        ("includes", Some(list), [of])
            if is_method && matches!(writer.shape(list), Some(Shape::List | Shape::Map)) =>
        {
            let asked = Node::binary("in", (*of).clone(), list.clone());
            return Some(Call {
                text: writer.alone(&asked)?,
                binds: false,
            });
        }
        ("split", Some(of), []) if is_method && !writer.template => {
            return call(format!("{}.split(\" \")", writer.operand(of)?));
        }
        ("has" | "defined" | "hasattr", Some(of), []) if writer.template => {
            return Some(Call {
                text: format!("{} is defined", writer.operand(of)?),
                binds: false,
            });
        }
        ("next", Some(Node::Each(_, each)), others) if !writer.template => {
            let other = others.first().map(|other| writer.alone(other));
            let end = match other {
                Some(other) => format!("orValue({})", other?),
                None => "value()".to_owned(),
            };
            return call(format!("{}.first().{end}", writer.each(each)?));
        }
        ("any" | "all", Some(Node::Each(_, each)), []) if !writer.template => {
            return call(writer.asked(each, if name == "any" { "exists" } else { "all" })?);
        }
        ("max" | "min", Some(list), []) if !is_method => {
            return call(format!("{}.{name}()", writer.operand(list)?));
        }
        ("max" | "min", Some(_), _) if !is_method => {
            let name = if name == "max" { "greatest" } else { "least" };
            let all = values.iter().map(|value| writer.alone(value));
            return call(format!(
                "math.{name}({})",
                all.collect::<Option<Vec<_>>>()?.join(", ")
            ));
        }
        ("sum", Some(list), []) if !is_method => {
            return call(writer.sum(list)?);
        }
        ("list" | "tuple" | "dict", Some(of), []) if !is_method => {
            return call(writer.operand(of)?);
        }
        ("set", Some(of), []) if !is_method => {
            return call(format!("{}.unique()", writer.operand(of)?));
        }
        ("isinstance", Some(of), [Node::List(kinds)]) => {
            let each = kinds.iter().map(|kind| {
                let one = vec![(String::new(), of.clone()), (String::new(), kind.clone())];
                Some(written(writer, function, &one)?.text)
            });
            let text = each.collect::<Option<Vec<_>>>()?.join(" || ");
            return Some(Call { text, binds: false });
        }
        ("isinstance", Some(of), [kind]) if of.path().as_deref() == Some("error") => {
            let same = Node::binary("==", of.clone(), (*kind).clone());
            return Some(Call {
                text: writer.alone(&same)?,
                binds: false,
            });
        }
        ("isinstance", Some(of), [kind]) => {
            let kind = writer.kind(kind)?;
            return Some(Call {
                text: format!("type({}) == {kind}", writer.alone(of)?),
                binds: false,
            });
        }
        ("map" | "filter", Some(function @ Node::Function(..)), [list]) if !is_method => {
            let function = writer.function(function, list, name == "filter")?;
            return call(format!("{}.{name}({function})", writer.operand(list)?));
        }
        ("get" | "getattr", Some(of), [key, other @ ..]) if !writer.template => {
            let null = Node::plain("null");
            return got(writer, of, key, other.first().copied().unwrap_or(&null));
        }
        ("orValue", Some(of), [other]) if writer.shape(of) == Some(Shape::Nullable) => {
            return Some(Call {
                text: writer.alone(&Node::binary("??", of.clone(), (*other).clone()))?,
                binds: false,
            });
        }
        ("count", Some(list), [value]) if is_method && !writer.template => {
            let (list, value) = (writer.list(list)?, writer.part(value, SUM)?);
            return call(format!("size({list}.filter(e, e == {value}))"));
        }
        ("remove", Some(list), [value]) if is_method && !writer.template => {
            let (list, value) = (writer.list(list)?, writer.part(value, SUM)?);
            return call(format!("{list}.filter(e, e != {value})"));
        }
        (
            "append" | "push" | "add" | "extend" | "concat" | "insert" | "unshift",
            Some(list),
            more,
        ) if is_method && !writer.template => {
            let (value, first) = match (name.as_str(), more) {
                ("insert", [Node::Plain(zero), value]) if zero == "0" => (value, true),
                ("insert", _) => return None,
                (name, [value]) => (value, name == "unshift"),
                _ => return None,
            };
            let value = match name.as_str() {
                "extend" | "concat" => writer.operand(value)?,
                _ => format!("[{}]", writer.alone(value)?),
            };
            // A reducer adds what is written to what the field has.
            if writer.adds_to(list) {
                return (!first).then_some(Call {
                    text: value,
                    binds: true,
                });
            }
            let list = writer.list(list)?;
            let text = match first {
                true => format!("{value} + {list}"),
                false => format!("{list} + {value}"),
            };
            return Some(Call { text, binds: false });
        }
        ("map", Some(list), [Node::Function(names, value)]) if names.len() == 2 && is_method => {
            let names: Vec<&str> = names.iter().rev().map(String::as_str).collect();
            let (value, list) = (writer.alone(value)?, writer.operand(list)?);
            return call(format!(
                "{list}.transformList({}, {value})",
                names.join(", ")
            ));
        }
        ("reduce", Some(list), [Node::Function(names, value), first]) if is_method => {
            let (value, first) = (writer.alone(value)?, writer.alone(first)?);
            let list = writer.operand(list)?;
            return call(format!(
                "{list}.fold({}, {first}, {value})",
                names.join(", ")
            ));
        }
        ("list" | "set" | "tuple", None, []) => return call("[]".to_owned()),
        ("dict", None, []) => return call("{}".to_owned()),
        (_, Some(list), [function @ Node::Function(..)]) if is_method => {
            let (name, asks) = match name.as_str() {
                "some" | "any" => ("exists", true),
                "every" => ("all", true),
                "filter" | "find" | "exists" | "all" | "exists_one" => (name.as_str(), true),
                "map" | "sort_by" | "group_by" => (name.as_str(), false),
                "sortBy" | "orderBy" | "order_by" => ("sort_by", false),
                "groupBy" => ("group_by", false),
                _ => return None,
            };
            return call(format!(
                "{}.{name}({})",
                writer.operand(list)?,
                writer.function(function, list, asks)?
            ));
        }
        _ => {}
    }
    let Some(row) = find(name) else {
        return match record(function, args) {
            Some(record) => call(writer.alone(&record)?),
            None => plain(),
        };
    };
    let form = match writer.template {
        true if !row.template.is_empty() => row.template,
        true => return plain(),
        false if row.expression.is_empty() => return None,
        false => row.expression,
    };
    // `datetime.now()`
    if module && args.is_empty() && form == format!("{name}()") {
        return call(form.to_owned());
    }
    // It has the same name here.
    let is_own = match form.strip_prefix("math.") {
        Some(form) => module && form.starts_with(name.as_str()),
        None => form.starts_with(&format!("{name}(")) || form.contains(&format!(".{name}(")),
    };
    if is_own {
        return plain();
    }
    let text = filled(writer, form, subject, others, args)?;
    let binds = !form.contains(' ');
    Some(Call { text, binds })
}

/// `m.get("k", other)`
fn got(writer: &Writer, of: &Node, key: &Node, other: &Node) -> Option<Call> {
    let call = |text: String, binds| Some(Call { text, binds });
    // `(m or {}).get("k", other)`
    let of = match of {
        Node::Binary("||" | "??", of, empty) if matches!(&**empty, Node::Map(none) if none.is_empty()) => {
            of
        }
        of => of,
    };
    let ty = writer.ty(of).unwrap_or_default();
    let shown = writer.operand(of)?;
    let named = match key {
        Node::Plain(key) => key.trim_matches(['"', '\'']),
        _ => "",
    };
    let got = match writer.types.is_record(&ty) {
        true if named.is_empty() => return None,
        true => format!("{shown}.{named}"),
        false => format!(
            "{shown}[?{}].orValue({})",
            writer.alone(key)?,
            writer.alone(other)?
        ),
    };
    match ty.ends_with('?') {
        true => call(
            format!("{shown} != null ? {got} : {}", writer.alone(other)?),
            false,
        ),
        false => call(got, true),
    }
}

/// `Doc(id=1)`
fn record(function: &Node, args: &[(String, Node)]) -> Option<Node> {
    let Node::Plain(name) = function else {
        return None;
    };
    let named = args
        .iter()
        .all(|(field, _)| !["", "*"].contains(&field.as_str()));
    let is_record = named && name.starts_with(|c: char| c.is_ascii_uppercase());
    is_record.then(|| Node::Record(name.clone(), args.to_vec()))
}

/// What to order by.
fn key_of(writer: &Writer, list: &Node, key: &Node) -> Option<String> {
    match key {
        Node::Plain(size) if size == "len" => Some("x, size(x)".to_owned()),
        key => writer.function(key, list, false),
    }
}

/// A form with what the call has in place of its names; all that the call has must have one.
fn filled(
    writer: &Writer,
    form: &str,
    subject: Option<&Node>,
    others: &[&Node],
    args: &[(String, Node)],
) -> Option<String> {
    let mut subject = subject;
    let mut others = others.iter();
    let mut named: Vec<&(String, Node)> =
        args.iter().filter(|(name, _)| !name.is_empty()).collect();
    let mut own = |wanted: &str| {
        let at = named.iter().position(|(name, _)| {
            NAMED
                .iter()
                .any(|(other, own)| other == name && *own == wanted)
        });
        at.map(|at| &named.remove(at).1)
    };
    let mut known: Vec<(&str, String)> = Vec::new();
    let mut text = String::new();
    let mut rest = form;
    while !rest.is_empty() {
        let word = super::word(rest);
        let length = word.len().max(1);
        let is_name = !text.ends_with(['.', '"']) && !rest.get(length..)?.starts_with('(');
        match known.iter().find(|(name, _)| *name == word && is_name) {
            Some((_, value)) => text.push_str(value),
            None if is_name && (SUBJECT.contains(&word) || OTHERS.contains(&word)) => {
                let value = match SUBJECT.contains(&word) {
                    true => own(word).or_else(|| subject.take()),
                    false => own(word).or_else(|| others.next().copied()),
                };
                let alone = text.ends_with('(') && rest.get(length..)?.starts_with([')', ',']);
                let value = match alone {
                    true => writer.alone(value?)?,
                    false => writer.operand(value?)?,
                };
                text.push_str(&value);
                known.push((word, value));
            }
            None => text.push_str(rest.get(..length)?),
        }
        rest = rest.get(length..)?;
    }
    let more = named.iter().map(|(name, value)| match name.as_str() {
        "name" => Some(format!(", name: {}", writer.alone(value)?)),
        _ => None,
    });
    let more = more.collect::<Option<String>>()?;
    if !more.is_empty() {
        text.insert_str(text.len() - 1, &more);
    }
    // `has(x.y)` is of a field.
    let of_field = form.contains("x.y");
    let rest_of = of_field || others.next().is_some() || subject.is_some_and(|_| form != "now()");
    (!rest_of && !text.contains("..") && !text.contains("condition")).then_some(text)
}
