//! Methods that templates may call on texts, lists and maps: those that people know from Jinja, where values are Python's.

use minijinja::value::{Value as Shown, ValueKind};
use minijinja::{Error, ErrorKind};

use crate::base::rendering;

use super::super::ty::Type;
use super::gives::Gives;
use super::receiver::Kind;

/// What a method is called on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Text,
    List,
    Map,
}

type Apply = fn(&Shown, &[Shown]) -> Result<Shown, Error>;

/// A method.
pub(super) struct Method {
    of: Of,
    name: &'static str,
    /// Least and greatest number of arguments.
    pub args: (usize, usize),
    pub gives: Gives,
    apply: Apply,
}

impl Method {
    /// What its arguments must be; `None` where any will do.
    pub(super) fn wants(&self) -> Option<(Kind, &'static str)> {
        match (self.of, self.name) {
            (Of::Text, "join") => Some((Kind::List, "a list")),
            (Of::Text, _) => Some((Kind::Text, "a text")),
            _ => None,
        }
    }
}

const fn method(
    of: Of,
    name: &'static str,
    args: (usize, usize),
    gives: Gives,
    apply: Apply,
) -> Method {
    Method {
        of,
        name,
        args,
        gives,
        apply,
    }
}

static METHODS: &[Method] = &[
    method(Of::Map, "get", (1, 2), Gives::Any, get),
    method(Of::Map, "items", (0, 0), Gives::Pairs, items),
    method(Of::Map, "keys", (0, 0), Gives::Texts, keys),
    method(Of::Map, "values", (0, 0), Gives::Values, values),
    method(Of::List, "count", (1, 1), Gives::Int, count),
    method(Of::List, "index", (1, 1), Gives::Int, index),
    method(Of::Text, "capitalize", (0, 0), Gives::Text, |t, _| {
        text(t).map(capitalize)
    }),
    method(Of::Text, "count", (1, 1), Gives::Int, |t, a| {
        Ok(Shown::from(text(t)?.matches(arg(a, 0)?).count()))
    }),
    method(Of::Text, "endswith", (1, 1), Gives::Bool, |t, a| {
        Ok(Shown::from(text(t)?.ends_with(arg(a, 0)?)))
    }),
    method(Of::Text, "find", (1, 1), Gives::Int, find_text),
    method(Of::Text, "join", (1, 1), Gives::Text, join),
    method(Of::Text, "lower", (0, 0), Gives::Text, |t, _| {
        Ok(Shown::from(text(t)?.to_lowercase()))
    }),
    method(Of::Text, "lstrip", (0, 1), Gives::Text, |t, a| {
        Ok(Shown::from(text(t)?.trim_start_matches(stripped(a))))
    }),
    method(Of::Text, "replace", (2, 2), Gives::Text, |t, a| {
        let (t, from, to) = (text(t)?, arg(a, 0)?, arg(a, 1)?);
        rendering::charge((t.len() + t.matches(from).count() * to.len()) as u64)?;
        Ok(Shown::from(t.replace(from, to)))
    }),
    method(Of::Text, "rstrip", (0, 1), Gives::Text, |t, a| {
        Ok(Shown::from(text(t)?.trim_end_matches(stripped(a))))
    }),
    method(Of::Text, "split", (0, 1), Gives::Texts, split),
    method(Of::Text, "splitlines", (0, 0), Gives::Texts, |t, _| {
        Ok(text(t)?.lines().map(Shown::from).collect())
    }),
    method(Of::Text, "startswith", (1, 1), Gives::Bool, |t, a| {
        Ok(Shown::from(text(t)?.starts_with(arg(a, 0)?)))
    }),
    method(Of::Text, "strip", (0, 1), Gives::Text, |t, a| {
        Ok(Shown::from(text(t)?.trim_matches(stripped(a))))
    }),
    method(Of::Text, "title", (0, 0), Gives::Text, title),
    method(Of::Text, "upper", (0, 0), Gives::Text, |t, _| {
        Ok(Shown::from(text(t)?.to_uppercase()))
    }),
];

/// The method of that name for values of a type.
pub(super) fn find(of: &Type, name: &str) -> Option<&'static Method> {
    let of = kind(of)?;
    METHODS.iter().find(|m| m.of == of && m.name == name)
}

/// The names of the methods for values of a type.
pub(super) fn names(of: &Type) -> impl Iterator<Item = &'static str> {
    let of = kind(of);
    let fitting = METHODS.iter().filter(move |m| Some(m.of) == of);
    fitting.map(|m| m.name)
}

fn kind(of: &Type) -> Option<Of> {
    match of {
        Type::String | Type::Literal(_) | Type::Enum(_) | Type::Timestamp | Type::Duration => {
            Some(Of::Text)
        }
        Type::List(_) => Some(Of::List),
        Type::Map(_) | Type::Record(_) => Some(Of::Map),
        Type::Nullable(of) => kind(of),
        Type::Union(members) => {
            let mut kinds = members.iter().map(kind);
            let first = kinds.next()??;
            kinds.all(|k| k == Some(first)).then_some(first)
        }
        _ => None,
    }
}

/// Calls a method when a template is rendered.
pub(super) fn call(of: &Shown, name: &str, args: &[Shown]) -> Result<Shown, Error> {
    let kind = match of.kind() {
        ValueKind::String => Of::Text,
        ValueKind::Seq | ValueKind::Iterable => Of::List,
        ValueKind::Map => Of::Map,
        _ => return Err(Error::from(ErrorKind::UnknownMethod)),
    };
    let found = METHODS.iter().find(|m| m.of == kind && m.name == name);
    let Some(found) = found else {
        return Err(Error::from(ErrorKind::UnknownMethod));
    };
    rendering::charge_value(of)?;
    match (args.len() < found.args.0, args.len() > found.args.1) {
        (true, _) => Err(Error::from(ErrorKind::MissingArgument)),
        (_, true) => Err(Error::from(ErrorKind::TooManyArguments)),
        _ => (found.apply)(of, args),
    }
}

fn text(of: &Shown) -> Result<&str, Error> {
    of.as_str()
        .ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "expected a text"))
}

fn arg(args: &[Shown], index: usize) -> Result<&str, Error> {
    args.get(index).map_or(Ok(""), text)
}

/// The characters to take off: those of the argument, white space without one.
fn stripped(args: &[Shown]) -> impl Fn(char) -> bool {
    let set = args.first().and_then(Shown::as_str).map(str::to_owned);
    move |c| match &set {
        Some(set) => set.contains(c),
        None => c.is_whitespace(),
    }
}

fn get(map: &Shown, args: &[Shown]) -> Result<Shown, Error> {
    let key = args.first().cloned().unwrap_or_default();
    let found = map.get_item(&key)?;
    Ok(match found.is_undefined() {
        true => args.get(1).cloned().unwrap_or_else(|| Shown::from(())),
        false => found,
    })
}

fn items(map: &Shown, _: &[Shown]) -> Result<Shown, Error> {
    let mut pairs = Vec::new();
    for key in map.try_iter()? {
        let value = map.get_item(&key)?;
        pairs.push(Shown::from(vec![key, value]));
    }
    Ok(Shown::from(pairs))
}

fn keys(map: &Shown, _: &[Shown]) -> Result<Shown, Error> {
    Ok(map.try_iter()?.collect())
}

fn values(map: &Shown, _: &[Shown]) -> Result<Shown, Error> {
    let mut all = Vec::new();
    for key in map.try_iter()? {
        all.push(map.get_item(&key)?);
    }
    Ok(Shown::from(all))
}

fn count(list: &Shown, args: &[Shown]) -> Result<Shown, Error> {
    let wanted = args.first();
    let found = list.try_iter()?.filter(|item| Some(item) == wanted);
    Ok(Shown::from(found.count()))
}

fn index(list: &Shown, args: &[Shown]) -> Result<Shown, Error> {
    let wanted = args.first();
    let found = list.try_iter()?.position(|item| Some(&item) == wanted);
    found
        .map(Shown::from)
        .ok_or_else(|| Error::new(ErrorKind::InvalidOperation, "the list has no such element"))
}

fn find_text(of: &Shown, args: &[Shown]) -> Result<Shown, Error> {
    let of = text(of)?;
    let at = of
        .find(arg(args, 0)?)
        .map(|bytes| of.get(..bytes).unwrap_or("").chars().count());
    Ok(match at {
        Some(at) => Shown::from(at),
        None => Shown::from(-1),
    })
}

fn join(of: &Shown, args: &[Shown]) -> Result<Shown, Error> {
    let mut parts = Vec::new();
    if let Some(list) = args.first() {
        for item in list.try_iter()? {
            rendering::charge_value(&item)?;
            rendering::charge(text(of)?.len() as u64)?;
            parts.push(item.to_string());
        }
    }
    Ok(Shown::from(parts.join(text(of)?)))
}

fn split(of: &Shown, args: &[Shown]) -> Result<Shown, Error> {
    let of = text(of)?;
    match arg(args, 0)? {
        "" if args.is_empty() => Ok(of.split_whitespace().map(Shown::from).collect()),
        "" => Err(Error::new(
            ErrorKind::InvalidOperation,
            "the separator is empty",
        )),
        by => Ok(of.split(by).map(Shown::from).collect()),
    }
}

fn capitalize(text: &str) -> Shown {
    let mut chars = text.chars();
    let first: String = chars
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .collect();
    Shown::from(first + &chars.as_str().to_lowercase())
}

fn title(of: &Shown, _: &[Shown]) -> Result<Shown, Error> {
    let mut out = String::new();
    let mut begins = true;
    for c in text(of)?.chars() {
        match begins {
            true => out.extend(c.to_uppercase()),
            false => out.extend(c.to_lowercase()),
        }
        begins = !c.is_alphanumeric();
    }
    Ok(Shown::from(out))
}
