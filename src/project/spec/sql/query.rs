//! The text of a query: its named parameters, without a look at what it means.
//!
//! Texts, quoted names and comments are passed over as the database itself does. Invariant: a value never becomes part
//! of the text; each `:name` is bound (`tests/sql`).

use std::ops::Range;

/// Whose SQL it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// SQLite's.
    Sqlite,
    /// PostgreSQL's.
    Postgres,
}

/// One statement with named parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    text: String,
    dialect: Dialect,
    /// Where parameters stand, with their colons.
    places: Vec<Range<usize>>,
    /// The words of the statement, in capitals.
    words: Vec<String>,
}

/// What is no query, with the part of the text that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub message: String,
    /// The way out.
    pub help: String,
}

/// First words of statements that only read.
const READERS: [&str; 6] = ["SELECT", "VALUES", "WITH", "EXPLAIN", "TABLE", "SHOW"];
/// Words by which a `WITH` writes.
const WRITERS: [&str; 5] = ["INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE"];

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// No statement, more than one, or a parameter of another form than `:name`.
    pub fn parse(text: &str, dialect: Dialect) -> Result<Query, Fault> {
        let mut scan = Scan::new(text, dialect);
        scan.run()?;
        if scan.words.is_empty() {
            let help = "write one, such as `SELECT ..`";
            return Err(fault("this is no SQL statement", help));
        }
        if text.contains('\0') {
            let help = "take it out: the database would not read on behind it";
            return Err(fault("the query has U+0000 in it", help));
        }
        Ok(Query {
            text: text.to_owned(),
            dialect,
            places: scan.places,
            words: scan.words,
        })
    }

    /// The text as it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Names of its parameters, each once, in their order.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for place in &self.places {
            let name = self.name(place);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn name(&self, place: &Range<usize>) -> &str {
        self.text
            .get(place.start + 1..place.end)
            .unwrap_or_default()
    }

    /// The word that shows that it does more than read; none where nothing does, which is no proof.
    pub fn writes(&self) -> Option<&str> {
        let first = self.words.first()?.as_str();
        if !READERS.contains(&first) {
            return Some(first);
        }
        let written = |word: &&String| WRITERS.contains(&word.as_str());
        let found = self.words.iter().find(written).map(String::as_str);
        found.filter(|_| first == "WITH")
    }

    /// The text with `$1`, `$2`, .. in place of the names, in the order of [`Query::names`].
    pub fn numbered(&self) -> String {
        let names = self.names();
        let mut out = String::with_capacity(self.text.len());
        let mut from = 0;
        for place in &self.places {
            out += self.text.get(from..place.start).unwrap_or_default();
            let name = self.name(place);
            let number = names.iter().position(|known| *known == name);
            out += &format!("${}", number.map_or(0, |at| at + 1));
            from = place.end;
        }
        out + self.text.get(from..).unwrap_or_default()
    }
}

fn fault(message: impl Into<String>, help: impl Into<String>) -> Fault {
    Fault {
        message: message.into(),
        help: help.into(),
    }
}

struct Scan<'a> {
    text: &'a str,
    dialect: Dialect,
    at: usize,
    places: Vec<Range<usize>>,
    words: Vec<String>,
    /// Whether the statement is over.
    ended: bool,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str, dialect: Dialect) -> Self {
        Self {
            text,
            dialect,
            at: 0,
            places: Vec::new(),
            words: Vec::new(),
            ended: false,
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn run(&mut self) -> Result<(), Fault> {
        while let Some(c) = self.rest().chars().next() {
            let blank = match self.blank(c) {
                Some(length) => {
                    self.at += length;
                    continue;
                }
                None => c == ';',
            };
            if self.ended && !blank {
                let help = "make a tool of each: the call of a tool is one statement";
                return Err(fault("there is a second statement behind the `;`", help));
            }
            self.ended |= c == ';' && !self.words.is_empty();
            self.token(c)?;
        }
        Ok(())
    }

    /// Length of the blank or the comment that is next.
    fn blank(&self, c: char) -> Option<usize> {
        let rest = self.rest();
        if c.is_whitespace() {
            return Some(c.len_utf8());
        }
        if rest.starts_with("--") {
            return Some(rest.find('\n').unwrap_or(rest.len()));
        }
        if !rest.starts_with("/*") {
            return None;
        }
        // PostgreSQL's comments stand within each other.
        let (mut depth, mut at) = (1, 2);
        while depth > 0 {
            let inner = rest.get(at..).unwrap_or_default();
            let nested = self.dialect == Dialect::Postgres && inner.starts_with("/*");
            match inner.chars().next() {
                None => break,
                Some(_) if nested => (depth, at) = (depth + 1, at + 2),
                Some(_) if inner.starts_with("*/") => (depth, at) = (depth - 1, at + 2),
                Some(c) => at += c.len_utf8(),
            }
        }
        Some(at)
    }

    fn token(&mut self, c: char) -> Result<(), Fault> {
        let rest = self.rest();
        let sqlite = self.dialect == Dialect::Sqlite;
        let next = rest.chars().nth(1);
        let begins_name = |c: char| c.is_alphabetic() || c == '_';
        let length = match c {
            '\'' | '"' => quoted(rest, c, false),
            '`' if sqlite => quoted(rest, c, false),
            '[' if sqlite => rest.find(']').map_or(rest.len(), |end| end + 1),
            'e' | 'E' if !sqlite && next == Some('\'') => {
                1 + quoted(rest.get(1..).unwrap_or_default(), '\'', true)
            }
            ':' if rest.starts_with("::") => 2,
            ':' if next.is_some_and(begins_name) => {
                let end = 1 + word(rest.get(1..).unwrap_or_default());
                self.places.push(self.at..self.at + end);
                end
            }
            '$' if !sqlite && !next.is_some_and(|c| c.is_ascii_digit()) => dollars(rest),
            '?' | '@' | '$' if sqlite => return Err(self.other_form(c)),
            '$' => return Err(self.other_form(c)),
            c if begins_name(c) => {
                let end = word(rest);
                let word = rest.get(..end).unwrap_or_default();
                self.words.push(word.to_uppercase());
                end
            }
            c if c.is_ascii_digit() => word(rest),
            c => c.len_utf8(),
        };
        self.at += length.max(1);
        Ok(())
    }

    fn other_form(&self, c: char) -> Fault {
        let rest = self.rest().get(c.len_utf8()..).unwrap_or_default();
        let shown = format!("{c}{}", rest.get(..word(rest)).unwrap_or_default());
        fault(
            format!("`{shown}` is no form of a parameter here"),
            "write `:name`, which is the parameter of that name of the tool",
        )
    }
}

/// Length of a word or number.
fn word(text: &str) -> usize {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    text.find(|c| !part(c)).unwrap_or(text.len())
}

/// Length of what stands in quotes, which are doubled within; behind a `\` anything counts for itself, where that holds.
fn quoted(text: &str, quote: char, escapes: bool) -> usize {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' && escapes {
            chars.next();
        } else if c == quote && chars.next_if(|(_, c)| *c == quote).is_none() {
            return at + c.len_utf8();
        }
    }
    text.len()
}

/// Length of `$tag$ .. $tag$`; of the `$` where it opens nothing.
fn dollars(text: &str) -> usize {
    let inner = text.get(1..).unwrap_or_default();
    let tag = inner.find(|c: char| !(c.is_alphanumeric() || c == '_'));
    let Some(tag) = tag.filter(|end| inner.get(*end..).is_some_and(|rest| rest.starts_with('$')))
    else {
        return 1;
    };
    let (open, body) = text.split_at(tag + 2);
    body.find(open)
        .map_or(text.len(), |end| open.len() + end + open.len())
}
