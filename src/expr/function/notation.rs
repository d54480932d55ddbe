//! How signatures are written: from `(list<T>, int) -> T?` to a [`Signature`].

use super::super::ty::Type;
use super::signature::{Pattern, Signature};

/// Parses a signature; the error says what was expected where.
pub fn parse_signature(text: &str) -> Result<Signature, String> {
    let mut reader = Reader { text, at: 0 };
    reader.expect("(")?;
    let (mut params, mut variadic) = (Vec::new(), false);
    while !reader.eat(")") {
        if variadic {
            return Err(reader.wrong("`)` after `...`"));
        }
        params.push(reader.param()?);
        variadic = reader.eat("...");
        if !reader.eat(",") && !reader.peek(")") {
            return Err(reader.wrong("`,` or `)`"));
        }
    }
    reader.expect("->")?;
    let result = reader.union()?;
    match reader.rest() {
        "" => Ok(Signature {
            params,
            variadic,
            result,
        }),
        _ => Err(reader.wrong("the end")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("").trim_start()
    }

    fn peek(&self, word: &str) -> bool {
        self.rest().starts_with(word)
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.peek(word);
        if found {
            self.at = self.text.len() - self.rest().len() + word.len();
        }
        found
    }

    fn expect(&mut self, word: &str) -> Result<(), String> {
        match self.eat(word) {
            true => Ok(()),
            false => Err(self.wrong(&format!("`{word}`"))),
        }
    }

    fn wrong(&self, expected: &str) -> String {
        format!(
            "expected {expected} at `{}` of the signature `{}`",
            self.rest(),
            self.text
        )
    }

    /// A type, or an expression of names: `T => U`, `(int, T) => U`.
    fn param(&mut self) -> Result<Pattern, String> {
        let mut names = Vec::new();
        if self.eat("(") {
            while !self.eat(")") {
                names.push(self.union()?);
                self.eat(",");
            }
        } else {
            let plain = self.union()?;
            if !self.peek("=>") {
                return Ok(plain);
            }
            names.push(plain);
        }
        self.expect("=>")?;
        Ok(Pattern::Lambda(names, Box::new(self.union()?)))
    }

    fn union(&mut self) -> Result<Pattern, String> {
        let first = self.pattern()?;
        let mut options = vec![first];
        while self.eat("|") {
            options.push(self.pattern()?);
        }
        Ok(match options.len() {
            1 => options.remove(0),
            _ => Pattern::Union(options),
        })
    }

    fn pattern(&mut self) -> Result<Pattern, String> {
        let rest = self.rest();
        let len = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let name = rest.get(..len).unwrap_or("");
        if name.is_empty() {
            return Err(self.wrong("a type"));
        }
        self.eat(name);
        let mut args = Vec::new();
        if self.eat("<") {
            args.push(self.union()?);
            while self.eat(",") {
                args.push(self.union()?);
            }
            self.expect(">")?;
        }
        let mut pattern = named(name, args)
            .ok_or_else(|| format!("unknown type `{name}` in the signature `{}`", self.text))?;
        while self.eat("?") {
            pattern = Pattern::Nullable(Box::new(pattern));
        }
        Ok(pattern)
    }
}

fn named(name: &str, mut args: Vec<Pattern>) -> Option<Pattern> {
    let of = Box::new(args.pop().unwrap_or(Pattern::Any));
    let exact = match name {
        "list" => return Some(Pattern::List(of)),
        "map" => return Some(Pattern::Map(of)),
        "optional" => return Some(Pattern::Optional(of)),
        "K" => return Some(Pattern::Any),
        "field" => return Some(Pattern::Field),
        "message" | "tool_call" | "usage" | "error" | "run" => {
            return Some(Pattern::Record(name.to_owned()));
        }
        "null" => Type::Null,
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "float" => Type::Float,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "json" => Type::Json,
        "timestamp" => Type::Timestamp,
        "duration" => Type::Duration,
        "type" => Type::TypeValue,
        _ => {
            let mut letters = name.chars();
            let letter = letters.next().filter(char::is_ascii_uppercase)?;
            return letters.next().is_none().then_some(Pattern::Var(letter));
        }
    };
    Some(Pattern::Exact(exact))
}
