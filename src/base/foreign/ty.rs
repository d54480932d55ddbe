//! Types of other languages, by name and in their brackets: `str`, `Optional[int]`, `Dict[str, Any]`, `string[]`.

use super::attribute;
use super::expression::{Index, Types};
use super::text::balanced;

/// What a type is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It has another name.
    Plain(&'static str),
    /// A list of what stands in its brackets.
    List,
    /// A map to the last of what stands in its brackets.
    Map,
    /// What stands in its brackets, or null.
    Optional,
    /// One of what stands in its brackets.
    Union,
    /// What stands in its brackets, and how it is written together.
    Annotated,
    /// What stands in its brackets, no more.
    Wrapper,
    /// There is none; the help says what there is.
    Other(&'static str),
}

/// The kind of a type that has another name here, whatever its case; not where it is one of this language.
pub fn kind(name: &str) -> Option<Kind> {
    let [meant, ..] = super::rows(TABLE, &name.to_ascii_lowercase()).next()?;
    Some(match meant {
        "list<>" => Kind::List,
        "map<>" => Kind::Map,
        "?" => Kind::Optional,
        "|" => Kind::Union,
        "@" => Kind::Annotated,
        "-" => Kind::Wrapper,
        help if help.contains(' ') => Kind::Other(help),
        name => Kind::Plain(name),
    })
}

/// What to do about a name that stands alone, and the name to write for it where it only has another one.
pub fn alone(name: &str) -> Option<(String, Option<&'static str>)> {
    Some(match kind(name)? {
        Kind::Plain(meant) if meant == name => return None,
        Kind::Plain(meant) => {
            let is = |one: &&str| one.eq_ignore_ascii_case(name);
            let certain = SAME.iter().any(&is) || is(&meant);
            (format!("write `{meant}`"), certain.then_some(meant))
        }
        Kind::List => (
            "write `list<..>` with the type of its elements".to_owned(),
            None,
        ),
        Kind::Map => (
            "write `map<..>` with the type of its values, or declare a record: `type NAME { .. }`"
                .to_owned(),
            None,
        ),
        Kind::Optional => ("write `?` behind the type: `string?`".to_owned(), None),
        Kind::Union => ("write `A | B`".to_owned(), None),
        Kind::Annotated | Kind::Wrapper => ("write the type alone".to_owned(), None),
        Kind::Other(help) => (help.to_owned(), None),
    })
}

/// Names that can mean nothing else; `text` or `date` may be a type that is not declared yet.
static SAME: [&str; 6] = ["str", "boolean", "integer", "long", "double", "none"];

/// Names in small letters, and the type; of those that take types in brackets a sign for the [kind](Kind).
static TABLE: &str = "
str/string/text/varchar/char/uuid/url/uri/email/path/symbol => string
int/integer/long/int64/int32/i64/i32/u64/short => int
float/double/decimal/real/float64/float32/f64/f32 => float
bool/boolean => bool
json/any/unknown/jsonvalue => json
datetime/date/time/instant => timestamp
timedelta/interval => duration
basemessage/anymessage/humanmessage/aimessage/chatmessage/toolmessage => message
none/nonetype/undefined/void/nil => null
messages => write `list<message>`
messagesstate/agentstate => write `in out messages: list<message> via add_messages` in the state
list/array/sequence/set/tuple/iterable/vec/vector/frozenset/readonlyarray => list<>
map/dict/mapping/record/dictionary/hashmap/object/typeddict/struct => map<>
optional/maybe/nullable/option => ?
union/literal/oneof => |
annotated => @
required/notrequired/readonly/final/classvar/partial/promise => -
number/numeric => write `int` for whole numbers, `float` for others
enum => declare it beside the graphs, `enum NAME { a, b }`, and write `NAME`
bytes/blob/binary/file => write `string`, its text in base64
";

/// A type as another language writes it, at the start of a text, and what is written here.
#[derive(Debug, PartialEq, Eq)]
pub struct Written {
    /// How long it is.
    pub length: usize,
    /// The same here.
    pub here: String,
    /// Whether that is all that was meant.
    pub certain: bool,
}

/// How deep brackets are followed.
const DEPTH: usize = 8;

/// Reads the type that a text begins with. None where it ends within one, or is nothing known.
pub fn read(text: &str) -> Option<Written> {
    let mut reader = Reader {
        text,
        at: 0,
        certain: true,
        of: String::new(),
    };
    let here = reader.union(DEPTH)?;
    Some(Written {
        length: reader.at,
        here,
        certain: reader.certain,
    })
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    certain: bool,
    /// The type that a `Field(..)` behind it says more of.
    of: String,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches(' ').len();
    }

    fn take(&mut self, sign: char) -> bool {
        let found = self.rest().starts_with(sign);
        self.at += if found { sign.len_utf8() } else { 0 };
        found
    }

    /// `A | B`, up to what is none of it.
    fn union(&mut self, depth: usize) -> Option<String> {
        let mut members = vec![self.member(depth)?];
        loop {
            let before = self.at;
            self.blanks();
            if !self.take('|') {
                self.at = before;
                return Some(joined(members));
            }
            self.blanks();
            members.push(self.member(depth)?);
        }
    }

    fn member(&mut self, depth: usize) -> Option<String> {
        let mut here = self.plain(depth)?;
        // `[]` behind it, a `?`.
        loop {
            if self.rest().starts_with("[]") {
                self.at += 2;
                here = format!("list<{here}>");
            } else if self.rest().starts_with('?') && !here.ends_with('?') {
                self.at += 1;
                here.push('?');
            } else {
                return Some(here);
            }
        }
    }

    /// A name with what stands in its brackets, a text.
    fn plain(&mut self, depth: usize) -> Option<String> {
        let rest = self.rest();
        if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let end = rest.get(1..)?.find([quote, '\n'])?;
            let text = rest.get(1..=end)?;
            rest.get(end + 1..)?.starts_with(quote).then_some(())?;
            self.at += end + 2;
            return Some(format!("{text:?}"));
        }
        let length = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
            .unwrap_or(rest.len());
        let name = rest.get(..length).filter(|name| !name.is_empty())?;
        self.at += length;
        let bare = name.rsplit('.').next().unwrap_or(name);
        let rest = self.rest();
        if let Some(inside) = rest.strip_prefix('(').filter(|_| bare == "Field") {
            let end = balanced(inside, ')')?;
            self.at += end + 2;
            let index = Index::default();
            let types = Types::new("", &index);
            let field = attribute::field(inside.get(..end)?, &self.of, types)?;
            return Some(field.default + &field.limits);
        }
        let close = match rest.chars().next() {
            Some('[') if !rest.starts_with("[]") => ']',
            Some('<') => '>',
            _ => return Some(self.named(bare)),
        };
        self.at += 1;
        let args = self.arguments(depth.checked_sub(1)?, close)?;
        self.applied(bare, args)
    }

    fn arguments(&mut self, depth: usize, close: char) -> Option<Vec<String>> {
        let mut args = Vec::new();
        loop {
            self.blanks();
            args.push(self.union(depth)?);
            self.of = args.first().cloned().unwrap_or_default();
            self.blanks();
            if self.take(close) {
                return Some(args);
            }
            self.take(',').then_some(())?;
        }
    }

    fn named(&mut self, name: &str) -> String {
        match kind(name) {
            Some(Kind::Plain(meant)) => meant.to_owned(),
            Some(Kind::List | Kind::Map) => {
                self.certain = false;
                let own = if kind(name) == Some(Kind::Map) {
                    "map"
                } else {
                    "list"
                };
                format!("{own}<string>")
            }
            None => name.to_owned(),
            Some(_) => {
                self.certain = false;
                name.to_owned()
            }
        }
    }

    fn applied(&mut self, name: &str, args: Vec<String>) -> Option<String> {
        let first = args.first()?.clone();
        let last = args.last()?.clone();
        Some(match kind(name)? {
            Kind::List => {
                self.certain &= args.len() == 1;
                format!("list<{first}>")
            }
            Kind::Map => format!("map<{last}>"),
            Kind::Optional => joined(vec![first, "null".to_owned()]),
            Kind::Union => joined(args),
            Kind::Annotated => {
                self.certain = false;
                annotated(&first, &last)
            }
            Kind::Wrapper => first,
            Kind::Plain(_) | Kind::Other(_) => return None,
        })
    }
}

/// Members of a union; null is a `?` behind a single one.
fn joined(members: Vec<String>) -> String {
    let null = members.iter().any(|member| member == "null");
    let mut rest: Vec<String> = members
        .into_iter()
        .filter(|member| member != "null")
        .collect();
    match (null, rest.len()) {
        (true, 1) => {
            let only = rest.pop().unwrap_or_default();
            if only.ends_with('?') {
                only
            } else {
                only + "?"
            }
        }
        (true, _) => {
            rest.push("null".to_owned());
            rest.join(" | ")
        }
        (false, _) => rest.join(" | "),
    }
}

/// `Annotated[list, add_messages]`: a field with its reducer.
fn annotated(ty: &str, reducer: &str) -> String {
    match reducer {
        "add_messages" => "list<message> via add_messages".to_owned(),
        "add" if ty.starts_with("list") => format!("{ty} via append"),
        "add" | "or_" | "ior" if !ty.starts_with("map") => format!("{ty} via add"),
        "or_" | "ior" => format!("{ty} via merge"),
        limits if limits.is_empty() || limits.starts_with(' ') => format!("{ty}{limits}"),
        name if name.chars().all(|c| c.is_ascii_lowercase() || c == '_') => {
            format!("{ty} via {name}")
        }
        _ => ty.to_owned(),
    }
}
