//! From text to tree.

use super::super::name::constant;
use super::super::text;
use super::{Budget, Each, LONGEST, Node, word};

/// How deep brackets are followed.
const DEPTH: usize = 40;

/// Reads the expression that a text begins with, and how long it is.
pub fn read(text: &str, budget: &Budget, template: bool) -> Option<(Node, usize)> {
    let near = text.get(..text.floor_char_boundary(LONGEST))?;
    let mut reader = Reader {
        text: near,
        budget,
        template,
        at: 0,
        depth: DEPTH,
        open: 0,
    };
    let node = reader.choice()?;
    // Else it may go on behind what was read.
    let ends = reader.at < near.len() || near.len() == text.len();
    ends.then_some((node, reader.at))
}

/// `state["x"]`, `state.get("x", y)`
fn field_of_state(of: &Node, key: &Node) -> Option<Node> {
    let is_state = *of == Node::plain("state");
    let name = key.bare().filter(|_| is_state)?.to_owned();
    Some(Node::Field(of.clone().into(), ".", name))
}

struct Reader<'t> {
    text: &'t str,
    budget: &'t Budget,
    /// Whether it has filters: `x | f`.
    template: bool,
    at: usize,
    /// How much deeper it may go.
    depth: usize,
    /// How many brackets are open: within them an expression goes on on the next line.
    open: usize,
}

/// Signs of comparison, and what they are here.
const RELATIONS: [(&str, &str); 10] = [
    ("===", "=="),
    ("!==", "!="),
    ("==", "=="),
    ("!=", "!="),
    ("<=", "<="),
    (">=", ">="),
    ("=<", "<="),
    ("<>", "!="),
    ("<", "<"),
    (">", ">"),
];

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_ascii_start().len();
    }

    /// Takes a sign, with the blanks before it.
    fn take(&mut self, sign: &str) -> bool {
        let rest = self.rest().trim_ascii_start();
        let found = rest.starts_with(sign);
        if found {
            self.at = self.text.len() - rest.len() + sign.len();
        }
        found
    }

    /// The next word, which is not taken.
    fn next_word(&self) -> &'t str {
        match self.open {
            0 => word(self.rest().trim_start_matches([' ', '\t'])),
            _ => word(self.rest().trim_ascii_start()),
        }
    }

    fn take_word(&mut self, wanted: &str) -> bool {
        self.next_word() == wanted && self.take(wanted)
    }

    fn name(&mut self) -> Option<String> {
        let name = self.next_word();
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        (begins && self.take(name)).then(|| name.to_owned())
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.budget.take()?;
        self.depth = self.depth.checked_sub(1)?;
        let found = read(self);
        self.depth += 1;
        found
    }

    /// Reads what stands in a bracket that is taken.
    fn inside<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.open += 1;
        let found = read(self);
        self.open -= 1;
        found
    }

    fn choice(&mut self) -> Option<Node> {
        self.nested(|own| {
            if own.take_word("lambda") {
                let mut names = Vec::new();
                while let Some(name) = own.name() {
                    names.push(name);
                    own.take(",");
                }
                own.take(":").then_some(())?;
                return Some(Node::Function(names, Box::new(own.choice()?)));
            }
            // `if c then a else b`
            if own.take_word("if") {
                let condition = own.either()?;
                own.take_word("then");
                let value = own.either()?;
                own.take_word("else").then_some(())?;
                let other = own.choice()?;
                return Some(Node::Choice(condition.into(), value.into(), other.into()));
            }
            if let Some(names) = own.arrow() {
                return Some(Node::Function(names, Box::new(own.choice()?)));
            }
            let first = own.either()?;
            if own.take_word("if") {
                let condition = own.either()?;
                own.take_word("else").then_some(())?;
                let other = own.choice()?;
                return Some(Node::Choice(condition.into(), first.into(), other.into()));
            }
            if own.rest().trim_ascii_start().starts_with('?') && own.take("?") {
                let value = own.choice()?;
                own.take(":").then_some(())?;
                let other = own.choice()?;
                return Some(Node::Choice(first.into(), value.into(), other.into()));
            }
            Some(first)
        })
    }

    /// `x =>`, `(x, y) =>`
    fn arrow(&mut self) -> Option<Vec<String>> {
        let start = self.at;
        let mut names = Vec::new();
        let bracket = self.take("(");
        while let Some(name) = self.name() {
            names.push(name);
            if !bracket || !self.take(",") {
                break;
            }
        }
        let found = (!bracket || self.take(")")) && !names.is_empty() && self.take("=>");
        if !found {
            self.at = start;
        }
        found.then_some(names)
    }

    /// Values between operators, each of which `next` reads.
    fn operators(
        &mut self,
        signs: &[(&str, &'static str)],
        next: fn(&mut Self) -> Option<Node>,
    ) -> Option<Node> {
        let mut node = next(self)?;
        loop {
            let rest = self.rest().trim_ascii_start();
            let others = ["->", "++", "--", "//"];
            let other = others.iter().any(|sign| rest.starts_with(sign));
            let found =
                signs
                    .iter()
                    .find(|(sign, _)| match sign.starts_with(char::is_alphabetic) {
                        _ if other => false,
                        true => self.take_word(sign),
                        false => self.take(sign),
                    });
            let Some((_, here)) = found else {
                return Some(node);
            };
            node = Node::binary(here, node, next(self)?);
        }
    }

    fn either(&mut self) -> Option<Node> {
        self.operators(&[("??", "??"), ("or", "||"), ("||", "||")], Self::both)
    }

    fn both(&mut self) -> Option<Node> {
        self.operators(&[("and", "&&"), ("&&", "&&")], Self::negated)
    }

    fn negated(&mut self) -> Option<Node> {
        match self.take_word("not") {
            true => self.nested(|own| Some(Node::Not(own.negated()?.into()))),
            false => self.relation(),
        }
    }

    fn relation(&mut self) -> Option<Node> {
        let mut left = self.sum()?;
        let mut all: Option<Node> = None;
        loop {
            let start = self.at;
            let is_short = left.path().is_some();
            let next = match self.next_word() {
                "in" if self.take("in") => {
                    let right = self.sum()?;
                    (Node::binary("in", left, right.clone()), right)
                }
                "not" if self.take("not") => {
                    if !self.take_word("in") {
                        self.at = start;
                        return all.or(Some(left));
                    }
                    let right = self.sum()?;
                    (
                        Node::Not(Node::binary("in", left, right.clone()).into()),
                        right,
                    )
                }
                "is" if self.take("is") => (self.is(left)?, Node::plain("")),
                _ => {
                    let found = RELATIONS.iter().find(|(sign, _)| self.take(sign));
                    let Some((_, sign)) = found else {
                        return all.or(Some(left));
                    };
                    let right = self.sum()?;
                    (Node::binary(sign, left, right.clone()), right)
                }
            };
            // `0 < x < 10`: what stands between is said twice.
            all = Some(match all {
                Some(before) if is_short => Node::binary("&&", before, next.0),
                Some(_) => return None,
                None => next.0,
            });
            left = next.1;
        }
    }

    /// What stands behind `is`.
    fn is(&mut self, left: Node) -> Option<Node> {
        let not = self.take_word("not");
        let word = self.next_word();
        let (equal, other) = match not {
            true => ("!=", "=="),
            false => ("==", "!="),
        };
        let null = || Node::plain("null");
        if constant(word) == Some("null") || word == "none" {
            self.take(word);
            return Some(Node::binary(equal, left, null()));
        }
        if self.template {
            self.take(word);
            let word = super::call::kind(word).unwrap_or(word).to_owned();
            let sign = if not { " is not " } else { " is " };
            return Some(Node::Field(left.into(), sign, word));
        }
        if word == "defined" {
            self.take(word);
            return Some(Node::binary(other, left, null()));
        }
        if let Some(kind) = super::call::kind(word) {
            self.take(word);
            let of = Node::Call(Node::plain("type").into(), vec![(String::new(), left)]);
            return Some(Node::binary(equal, of, Node::plain(kind)));
        }
        Some(Node::binary(equal, left, self.sum()?))
    }

    fn sum(&mut self) -> Option<Node> {
        self.operators(&[("+", "+"), ("-", "-")], |own| {
            own.operators(&[("*", "*"), ("/", "/"), ("%", "%")], Self::signed)
        })
    }

    fn signed(&mut self) -> Option<Node> {
        let rest = self.rest().trim_ascii_start();
        if rest.starts_with('-') && self.take("-") {
            return self.nested(|own| Some(Node::Minus(own.signed()?.into())));
        }
        if rest.starts_with('!') && self.take("!") {
            return self.nested(|own| Some(Node::Not(own.signed()?.into())));
        }
        let node = self.operand()?;
        if !self.take("**") {
            return Some(node);
        }
        // A power of a small number is a product.
        let by = self.signed()?;
        match (&by, node.path()) {
            (Node::Plain(by), Some(_)) if by == "2" => Some(Node::binary("*", node.clone(), node)),
            _ => None,
        }
    }

    fn operand(&mut self) -> Option<Node> {
        let mut node = self.first()?;
        loop {
            self.budget.take()?;
            let rest = self.rest();
            node = match rest.chars().next() {
                // `x!`
                Some('!') if !rest.starts_with("!=") && self.take("!") => {
                    Node::Call(Node::plain("required").into(), vec![(String::new(), node)])
                }
                Some('?') if rest.starts_with("?.") && self.take("?.") => {
                    Node::Field(node.into(), "?.", self.name()?)
                }
                Some('.') if rest.starts_with(".?") && self.take(".?") => {
                    Node::Field(node.into(), ".?", self.name()?)
                }
                Some('.') if self.take(".") => Node::Field(node.into(), ".", self.name()?),
                Some('(') if self.take("(") => {
                    let args = self.inside(Self::arguments)?;
                    match (&node, args.first()) {
                        (Node::Field(of, ".", get), Some((_, key))) if get == "get" => {
                            field_of_state(of, key)
                        }
                        _ => None,
                    }
                    .unwrap_or(Node::Call(node.into(), args))
                }
                Some('[') if rest.starts_with("[?") && self.take("[?") => {
                    let index = self.inside(Self::choice)?;
                    self.take("]").then_some(())?;
                    Node::Index(node.into(), "[?", index.into())
                }
                Some('[') if self.take("[") => self.inside(|own| own.index(node))?,
                _ => {
                    let next = rest.trim_ascii_start();
                    if self.template && next.starts_with('|') && !next.starts_with("||") {
                        self.take("|");
                        node = Node::Field(node.into(), " | ", self.name()?);
                        continue;
                    }
                    // A chain may go on on the next line.
                    match next.starts_with('.') && rest.contains('\n') {
                        true => self.blanks(),
                        false => return Some(node),
                    }
                    continue;
                }
            };
        }
    }

    /// What stands in brackets behind a value.
    fn index(&mut self, of: Node) -> Option<Node> {
        let colon = |own: &Self| own.rest().trim_ascii_start().starts_with(':');
        let first = match colon(self) {
            true => None,
            false => Some(Box::new(self.choice()?)),
        };
        if self.take(":") {
            if self.take(":") {
                // `xs[::-1]`
                let back = first.is_none() && self.take("-1") && self.take("]");
                return back.then(|| Node::method(of, "reverse", Vec::new()));
            }
            let last = match self.rest().trim_ascii_start().starts_with(']') {
                true => None,
                false => Some(Box::new(self.choice()?)),
            };
            return self.take("]").then_some(Node::Part(of.into(), first, last));
        }
        let index = first?;
        self.take("]").then_some(())?;
        let field = field_of_state(&of, &index);
        Some(field.unwrap_or(Node::Index(of.into(), "[", index)))
    }

    /// What stands between commas, up to a sign.
    fn entries<T>(
        &mut self,
        close: &str,
        mut read: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut entries = Vec::new();
        while !self.take(close) {
            entries.push(read(self)?);
            if !self.take(",") {
                return self.take(close).then_some(entries);
            }
        }
        Some(entries)
    }

    fn arguments(&mut self) -> Option<Vec<(String, Node)>> {
        self.entries(")", |own| {
            // `max(...xs)`
            if own.take("...") || own.take("*") {
                return Some(("*".to_owned(), own.choice()?));
            }
            let start = own.at;
            let name = own.name().filter(|_| {
                let rest = own.rest().trim_ascii_start();
                let compares = rest.starts_with("==") || rest.starts_with("=>");
                rest.starts_with([':', '=']) && !compares
            });
            if let Some(name) = name {
                own.at += own.rest().len() - own.rest().trim_ascii_start().len() + 1;
                return Some((name, own.choice()?));
            }
            own.at = start;
            let value = own.choice()?;
            Some((String::new(), own.each('(', None, value)?))
        })
    }

    /// `value for x in xs if c`, where that is what it is.
    fn each(&mut self, bracket: char, key: Option<Node>, value: Node) -> Option<Node> {
        if !self.take_word("for") {
            return match key {
                Some(_) => None,
                None => Some(value),
            };
        }
        let mut names = vec![self.name()?];
        while self.take(",") {
            names.push(self.name()?);
        }
        self.take_word("in").then_some(())?;
        let of = self.either()?;
        let mut when = None;
        while self.take_word("if") {
            let condition = self.either()?;
            when = Some(match when {
                Some(before) => Node::binary("&&", before, condition),
                None => condition,
            });
        }
        let each = Each {
            key,
            value,
            names,
            of,
            when,
        };
        Some(Node::Each(bracket, Box::new(each)))
    }

    fn first(&mut self) -> Option<Node> {
        self.blanks();
        let rest = self.rest();
        if let Some(text) = text::literal(rest) {
            let whole = rest.get(..text.length)?;
            self.at += text.length;
            let plain = text.is_plain() && whole.starts_with(['"', '\'']);
            return Some(match plain {
                true => Node::plain(whole),
                false => Node::Text(text),
            });
        }
        match rest.chars().next()? {
            '(' if self.take("(") => self.inside(Self::group),
            '[' if self.take("[") => self.inside(Self::list),
            '{' if self.take("{") => self.inside(Self::map),
            c if c.is_ascii_digit() => {
                let inside = |c: char| !(c.is_ascii_alphanumeric() || "._".contains(c));
                let number = rest.get(..rest.find(inside).unwrap_or(rest.len()))?;
                self.at += number.len();
                Some(Node::plain(number))
            }
            _ => {
                self.take_word("new");
                let name = self.name()?;
                if matches!(
                    name.as_str(),
                    "for" | "if" | "else" | "in" | "is" | "and" | "or" | "not" | "lambda"
                ) {
                    return None;
                }
                let record = name.starts_with(|c: char| c.is_ascii_uppercase());
                if record && self.rest().starts_with(" {") && self.take("{") {
                    return self.inside(|own| own.record(name));
                }
                Some(Node::plain(constant(&name).unwrap_or(&name)))
            }
        }
    }

    /// `(a)`, `(a, b)`, `(a for x in xs)`
    fn group(&mut self) -> Option<Node> {
        let value = self.choice()?;
        let value = self.each('(', None, value)?;
        if self.take(")") {
            return Some(value);
        }
        let mut values = vec![value];
        while self.take(",") && !self.rest().trim_ascii_start().starts_with(')') {
            values.push(self.choice()?);
        }
        self.take(")").then_some(Node::List(values))
    }

    /// A value, or `*xs`.
    fn spread(&mut self, signs: &[&str]) -> Option<Node> {
        let spread = signs.iter().any(|sign| self.take(sign));
        let value = self.choice()?;
        Some(if spread {
            Node::Spread(value.into())
        } else {
            value
        })
    }

    /// `[a, b]`, `[a for x in xs]`
    fn list(&mut self) -> Option<Node> {
        let mut each = None;
        let values = self.entries("]", |own| {
            let value = own.spread(&["...", "*"])?;
            if own.next_word() == "for" {
                each = Some(own.each('[', None, value.clone())?);
            }
            Some(value)
        })?;
        Some(each.unwrap_or(Node::List(values)))
    }

    /// `{k: a}`, `{k: a for x in xs}`, `{a for x in xs}`
    fn map(&mut self) -> Option<Node> {
        let mut each = None;
        let entries = self.entries("}", |own| {
            let key = own.spread(&["...", "**"])?;
            let value = match &key {
                Node::Spread(_) => Node::plain(""),
                _ if own.take(":") => own.choice()?,
                _ if own.next_word() == "for" => {
                    each = Some(own.each('{', None, key.clone())?);
                    Node::plain("")
                }
                _ => return None,
            };
            if own.next_word() == "for" {
                each = Some(own.each('{', Some(key.clone()), value.clone())?);
            }
            Some((key, value))
        })?;
        Some(each.unwrap_or(Node::Map(entries)))
    }

    fn record(&mut self, name: String) -> Option<Node> {
        let mut fields = Vec::new();
        if self.take("...") || self.take("**") {
            fields.push(("*".to_owned(), self.choice()?));
            self.take(",");
        }
        while !self.take("}") {
            let field = self.name()?;
            self.take(":").then_some(())?;
            fields.push((field, self.choice()?));
            self.take(",");
        }
        Some(Node::Record(name, fields))
    }
}
