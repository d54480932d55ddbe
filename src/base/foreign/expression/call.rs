//! Calls of Python's and TypeScript's functions and methods: which [form](super::super::call) is written for one.

use super::super::call::{Form, forms, is_module};
use super::show::Writer;
use super::{Budget, Each, Node, Shape, element, listed, read};

/// Whether a function gives true or false.
pub fn asks(function: &Node) -> bool {
    let names = "any all exists contains includes startswith startsWith endswith endsWith isinstance matches has some every hasValue";
    names.split(' ').any(|name| name == own_name(function))
}

/// Whether a function gives a text.
pub fn gives_text(function: &Node) -> bool {
    let names = "lower upper strip trim str string join replace format";
    names.split(' ').any(|name| name == own_name(function))
}

fn own_name(function: &Node) -> &str {
    match function {
        Node::Plain(name) | Node::Field(_, _, name) => name,
        _ => "",
    }
}

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

/// Methods that name an element and say what is made of it, those that ask something of it first.
const MACROS: [&str; 8] = [
    "filter",
    "find",
    "exists",
    "all",
    "exists_one",
    "map",
    "sort_by",
    "group_by",
];

/// What stands before the dot in names of functions.
const SPACES: [&str; 5] = ["cel", "lists", "math", "optional", "strings"];

/// Functions whose arguments may have names here.
const MAKERS: [&str; 4] = ["user", "assistant", "system", "tool"];

/// Names of arguments that stand by their place in a form.
const NAMED: [(&str, &str); 3] = [
    ("content", "text"),
    ("text", "text"),
    ("tool_call_id", "call_id"),
];

/// Arguments, each with its name or none.
type Args = [(String, Node)];

/// What is written for a call: another expression, or the call as it is. `None` where nothing is known to be the same.
pub fn written(writer: &Writer, call: &Node) -> Option<Node> {
    let Node::Call(function, args) = call else {
        return None;
    };
    let (name, subject) = match &**function {
        Node::Plain(name) => (name.as_str(), None),
        Node::Field(of, _, name) => match of.path() {
            // Its arguments stand in another order.
            Some(path) if path == "re" => return None,
            Some(path) if is_module(&path) => (name.as_str(), None),
            Some(path) if SPACES.contains(&path.as_str()) => return Some(call.clone()),
            _ => (name.as_str(), Some(of)),
        },
        _ => return Some(call.clone()),
    };
    let subject = subject.map(|of| (String::new(), (**of).clone()));
    let values: Vec<(String, Node)> = subject.into_iter().chain(args.iter().cloned()).collect();
    let special = match writer.template {
        true => None,
        false => special(writer, name, &values),
    };
    let mut known = forms(name)
        .iter()
        .filter_map(|form| applied(writer, form, &values));
    let meant = match special {
        Some(meant) => Some(meant?),
        None => known.next(),
    };
    match meant {
        Some(meant) if meant != *call => {
            writer.rewrites(name);
            Some(meant)
        }
        Some(_) => Some(call.clone()),
        None => is_own(writer, function, args).then(|| call.clone()),
    }
}

/// Whether a call that no form is known for may be one of this language.
fn is_own(writer: &Writer, function: &Node, args: &Args) -> bool {
    if writer.template {
        return true;
    }
    let has_names = args.iter().any(|(name, _)| !name.is_empty());
    match function {
        Node::Plain(name) if MAKERS.contains(&name.as_str()) => true,
        _ if has_names => false,
        Node::Plain(name) => {
            let mut forms = forms(name).iter().map(|form| form.expression);
            forms.len() == 0 || forms.any(|form| form.starts_with(&format!("{name}(")))
        }
        Node::Field(_, ".", name) => METHODS.split(' ').any(|own| own == name),
        _ => true,
    }
}

/// Calls that no form of the table stands for.
fn special(writer: &Writer, name: &str, values: &Args) -> Option<Option<Node>> {
    let plain: Vec<&Node> = values.iter().map(|(_, value)| value).collect();
    let named = !values.is_empty()
        && values
            .iter()
            .all(|(name, _)| !["", "*"].contains(&name.as_str()));
    Some(match (name, plain.as_slice()) {
        ("dict", _) if named => {
            let entries = values.iter();
            let entries =
                entries.map(|(name, value)| (Node::Plain(format!("{name:?}")), value.clone()));
            Some(Node::Map(entries.collect()))
        }
        // `Doc(id=1)`
        (name, _)
            if named
                && name.starts_with(|c: char| c.is_ascii_uppercase())
                && forms(name).is_empty() =>
        {
            Some(Node::Record(name.to_owned(), values.to_vec()))
        }
        ("isinstance", [of, Node::List(kinds)]) => {
            let each = kinds
                .iter()
                .map(|kind| Node::call("isinstance", vec![(*of).clone(), kind.clone()]));
            each.reduce(|left, right| Node::binary("||", left, right))
        }
        ("isinstance", [of, kind]) if of.path().as_deref() == Some("error") => {
            Some(Node::binary("==", (*of).clone(), (*kind).clone()))
        }
        ("isinstance", [of, asked]) => asked.path().and_then(|asked| kind(&asked)).map(|kind| {
            Node::binary(
                "==",
                Node::call("type", vec![(*of).clone()]),
                Node::plain(kind),
            )
        }),
        ("any" | "all", [Node::Each(_, each)]) => {
            asked(each, if name == "any" { "exists" } else { "all" })
        }
        ("get" | "getattr", [of, key]) => got(writer, of, key, &Node::plain("null")),
        ("get" | "getattr", [of, key, other]) => got(writer, of, key, other),
        // `xs.map((x, i) => a)`
        ("map", [list, Node::Function(names, value)]) if names.len() == 2 => {
            let names = names.iter().rev().map(Node::plain);
            let args = names.chain([(**value).clone()]).collect();
            Some(Node::method((*list).clone(), "transformList", args))
        }
        ("reduce", [list, Node::Function(names, value), first]) => {
            let args = names
                .iter()
                .map(Node::plain)
                .chain([(*first).clone(), (**value).clone()]);
            Some(Node::method((*list).clone(), "fold", args.collect()))
        }
        _ => return None,
    })
}

/// `any(c for x in xs)`
fn asked(each: &Each, method: &str) -> Option<Node> {
    let [_] = each.names.as_slice() else {
        return None;
    };
    let of = |of, method, asked: &Node| {
        let function = Node::Function(each.names.clone(), Box::new(asked.clone()));
        Node::method(of, method, vec![function])
    };
    let list = each.of.clone();
    let list = match &each.when {
        Some(when) => of(list, "filter", when),
        None => list,
    };
    Some(of(list, method, &each.value))
}

/// `m.get("k", other)`
fn got(writer: &Writer, of: &Node, key: &Node, other: &Node) -> Option<Node> {
    // `(m or {}).get("k", other)`
    let of = match of {
        Node::Binary("||" | "??", of, empty) if matches!(&**empty, Node::Map(none) if none.is_empty()) => {
            of
        }
        of => of,
    };
    let ty = writer.ty(of).unwrap_or_default();
    let named = key.bare().unwrap_or("");
    let got = match writer.types.is_record(&ty) {
        true if named.is_empty() => return None,
        true => Node::Field(of.clone().into(), ".", named.to_owned()),
        false => {
            let entry = Node::Index(of.clone().into(), "[?", key.clone().into());
            Node::method(entry, "orValue", vec![other.clone()])
        }
    };
    let there = Node::binary("!=", of.clone(), Node::plain("null"));
    Some(match ty.ends_with('?') {
        true => Node::Choice(there.into(), got.into(), other.clone().into()),
        false => got,
    })
}

/// Names of elements in forms: what a form is made of may not have them.
const OWN_NAMES: [&str; 2] = ["e", "w"];

/// Names of a form, and what stands for each.
type Bound<'n> = Vec<(&'n str, Vec<Node>)>;

/// A form with what a call is called with, where that is what the form takes.
fn applied(writer: &Writer, form: &Form, values: &Args) -> Option<Node> {
    let text = match writer.template {
        true => form.template,
        false => form.expression,
    };
    let (bound, more) = bind(writer, form.args.filter(|_| !text.is_empty())?, values)?;
    let values = || bound.iter().flat_map(|(_, values)| values);
    if OWN_NAMES
        .iter()
        .any(|own| values().any(|value| value.mentions(own)))
    {
        return None;
    }
    let (meant, _) = read::read(text, &Budget::default(), writer.template)?;
    let mut meant = filled(&meant, &bound)?;
    match &mut meant {
        _ if more.is_empty() => {}
        // `HumanMessage("x", name="ann")`
        Node::Call(function, args) if MAKERS.contains(&own_name(function)) => args.extend(more),
        _ => return None,
    }
    Some(meant)
}

/// What the arguments of a form stand for, and arguments with names that are left.
fn bind(
    writer: &Writer,
    args: &'static str,
    values: &Args,
) -> Option<(Bound<'static>, Vec<(String, Node)>)> {
    let (plain, mut named): (Vec<_>, Vec<_>) = values.iter().partition(|(name, _)| name.is_empty());
    let mut plain = plain.into_iter().map(|(_, value)| value);
    let mut bound = Bound::new();
    for arg in args.split(", ").filter(|arg| !arg.is_empty()) {
        if let Some(all) = arg.strip_prefix('&') {
            bound.push((all, plain.by_ref().cloned().collect()));
            continue;
        }
        let mut by_name = |is_it: &dyn Fn(&str) -> bool| {
            let at = named.iter().position(|(name, _)| is_it(name))?;
            Some(&named.remove(at).1)
        };
        let (name, wanted) = match arg.strip_prefix('*') {
            Some(spread) => ("*", spread),
            None => arg.split_once('=').unwrap_or(("", arg)),
        };
        let (wanted, known) = wanted.split_once(':').unwrap_or((wanted, ""));
        let meant = |given: &str| NAMED.contains(&(given, wanted));
        let value = match name {
            "" => plain.next().or_else(|| by_name(&meant))?,
            name => by_name(&|given| given == name)?,
        };
        let fits = match known {
            "there" => writer.shape(value) != Some(Shape::Nullable),
            "null" => writer.shape(value) == Some(Shape::Nullable),
            "list" => matches!(writer.shape(value), Some(Shape::List | Shape::Map)),
            "floats" => element(&writer.ty(value)?) == Some("float"),
            _ => true,
        };
        let value = match (wanted, value) {
            ("f", Node::Plain(name)) if !forms(name).is_empty() => {
                let value = Node::call(name, vec![Node::plain("x")]);
                Node::Function(vec!["x".to_owned()], value.into())
            }
            ("f", Node::Function(..)) => value.clone(),
            ("f", _) | (_, Node::Function(..)) => return None,
            ("t", Node::Plain(text)) => text.starts_with(['"', '\'']).then(|| value.clone())?,
            ("t", _) => return None,
            ("true" | "0" | "1" | "2", value) => {
                (*value == Node::plain(wanted)).then(|| value.clone())?
            }
            (_, value) => value.clone(),
        };
        fits.then(|| bound.push((wanted, vec![value])))?;
    }
    let all = plain.next().is_none() && named.iter().all(|(name, _)| name == "name");
    all.then(|| (bound, named.into_iter().cloned().collect()))
}

/// A form with what stands for its names.
pub fn form(form: &str, parts: &[(&str, &Node)]) -> Option<Node> {
    let (form, _) = read::read(form, &Budget::default(), false)?;
    let parts = parts
        .iter()
        .map(|(name, part)| (*name, vec![(*part).clone()]));
    filled(&form, &parts.collect())
}

/// The same of a form that is read.
fn filled(form: &Node, bound: &Bound) -> Option<Node> {
    let of = |name: &str| {
        bound
            .iter()
            .find(|(own, _)| *own == name)
            .map(|(_, values)| values)
    };
    let node = |node: &Node| filled(node, bound).map(Box::new);
    Some(match form {
        Node::Plain(name) => match of(name) {
            Some(values) => values.first()?.clone(),
            None => form.clone(),
        },
        Node::Field(of, sign, name) => Node::Field(node(of)?, sign, name.clone()),
        Node::Index(of, sign, index) => Node::Index(node(of)?, sign, node(index)?),
        Node::Call(function, args) => {
            let mut all = Vec::new();
            for (name, arg) in args {
                match of(own_name(arg)).filter(|_| name == "*") {
                    Some(values) => {
                        all.extend(values.iter().map(|value| (String::new(), value.clone())))
                    }
                    None => all.push((name.clone(), filled(arg, bound)?)),
                }
            }
            Node::Call(node(function)?, all)
        }
        Node::List(values) => Node::List(
            values
                .iter()
                .map(|of| filled(of, bound))
                .collect::<Option<_>>()?,
        ),
        Node::Not(of) => Node::Not(node(of)?),
        Node::Binary(sign, left, right) => Node::Binary(sign, node(left)?, node(right)?),
        Node::Choice(condition, value, other) => {
            Node::Choice(node(condition)?, node(value)?, node(other)?)
        }
        Node::Function(names, value) => Node::Function(names.clone(), node(value)?),
        _ => form.clone(),
    })
}

/// A call as its parts are written here.
pub fn shown(writer: &Writer, function: &Node, args: &Args) -> Option<String> {
    let args = args.iter().map(|(name, value)| match (value, function) {
        (Node::Function(..), Node::Field(list, _, method)) => {
            let at = MACROS.iter().position(|own| own == method)?;
            writer.function(value, list, at < 5)
        }
        _ => {
            let sign = if writer.template { "=" } else { ": " };
            let value = writer.alone(value)?;
            Some(match name.as_str() {
                "" => value,
                name => format!("{name}{sign}{value}"),
            })
        }
    });
    Some(format!("{}({})", writer.called(function)?, listed(args)?))
}
