//! JSON in the forms that models write it in: one value of a text, from a bracket on.
//!
//! Strict JSON is read as it is. What is read beyond it is a [`Slip`], which is recorded. What breaks off is refused, for half an
//! answer is no answer; only brackets that are missing behind a whole value at the end of the text are closed.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

/// Deeper values are refused, as those of all that comes from outside.
pub const MAX_DEPTH: usize = crate::value::MAX_DEPTH as usize;

/// A deviation from JSON's syntax that is read all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slip {
    /// Text stands before or behind the value.
    TextAround,
    /// The value stands in a block between lines of backticks.
    Fence,
    /// A comma before a closing bracket.
    TrailingComma,
    /// No comma between two members.
    MissingComma,
    /// `//`, `/* */` or `#`.
    Comment,
    /// A key that its object has already.
    RepeatedKey,
    /// A key without quotes.
    BareKey,
    /// A text without quotes.
    BareText,
    /// Quotes that are not `"`.
    Quotes,
    /// A quote inside a text without a backslash.
    InnerQuote,
    /// A line end or another control character inside a text.
    ControlCharacter,
    /// A backslash before a character that needs none.
    Backslash,
    /// `True`, `False`, `None`.
    Word,
    /// Brackets that are missing at the end.
    MissingBracket,
}

impl Slip {
    /// What a reader of the repairs is shown.
    pub fn text(self) -> &'static str {
        match self {
            Slip::TextAround => "text around the JSON",
            Slip::Fence => "JSON in a fenced block",
            Slip::TrailingComma => "comma before a closing bracket",
            Slip::MissingComma => "missing comma",
            Slip::Comment => "comment",
            Slip::RepeatedKey => "key that is there already: the last one counts",
            Slip::BareKey => "key without quotes",
            Slip::BareText => "text without quotes",
            Slip::Quotes => "quotes that are not `\"`",
            Slip::InnerQuote => "quote inside a text",
            Slip::ControlCharacter => "control character inside a text",
            Slip::Backslash => "backslash before a character that needs none",
            Slip::Word => "word of another language for true, false or null",
            Slip::MissingBracket => "brackets missing at the end",
        }
    }
}

/// The kinds of slips in a value, each with the byte at which it occurs first.
pub type Slips = BTreeMap<Slip, usize>;

/// A value that begins at a bracket of a text.
pub struct Parser<'a> {
    text: &'a str,
    /// The byte that is read next.
    pub at: usize,
    /// Whether the outermost object has had a key with its colon, or the outermost list a first element with its comma: prose has
    /// brackets too.
    pub begun: bool,
    /// What was read beyond JSON.
    pub slips: Slips,
}

impl<'a> Parser<'a> {
    /// A parser at a byte of a text.
    pub fn new(text: &'a str, at: usize) -> Self {
        Self {
            text,
            at,
            begun: false,
            slips: Slips::new(),
        }
    }

    /// The value that begins here.
    ///
    /// # Errors
    /// What was expected, where the text is no value.
    pub fn read(&mut self) -> Result<Json, String> {
        self.value(0)
    }

    /// Whether the text ends here.
    pub fn is_at_end(&self) -> bool {
        self.rest().is_empty()
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn slip(&mut self, slip: Slip) {
        self.slips.entry(slip).or_insert(self.at);
    }

    fn expected(&self, what: &str) -> String {
        match self.peek() {
            Some(c) => format!("expected {what}, found `{c}`"),
            None => format!("expected {what}, found the end of the text"),
        }
    }

    /// Blanks and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start().len();
            self.at += blank;
            let comment = match self.rest() {
                r if r.starts_with("//") || r.starts_with('#') => r.find('\n').unwrap_or(r.len()),
                r if r.starts_with("/*") => r.find("*/").map_or(r.len(), |end| end + 2),
                _ => return,
            };
            self.slip(Slip::Comment);
            self.at += comment;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > MAX_DEPTH {
            return Err(format!("nested deeper than {MAX_DEPTH} levels"));
        }
        self.skip();
        match self.peek() {
            Some('{') => self.object(depth),
            Some('[') => self.array(depth),
            Some(c) if closing_quote(c).is_some() => self.string().map(Json::String),
            _ => self.scalar(),
        }
    }

    /// Whether a bracket closes here, also behind a comma. One that is missing at the end of the text is closed behind a whole value.
    fn closes(&mut self, bracket: char, behind: Behind) -> bool {
        let there = self.peek() == Some(bracket);
        let missing = self.rest().is_empty() && self.begun && behind == Behind::Value;
        match (there, behind) {
            (true, Behind::Comma) => self.slip(Slip::TrailingComma),
            (false, _) if missing => self.slip(Slip::MissingBracket),
            _ => {}
        }
        self.at += if there { bracket.len_utf8() } else { 0 };
        there || missing
    }

    /// What stands between two members: whether another one follows.
    fn follows(&mut self, bracket: char, what: &str) -> Result<bool, String> {
        self.skip();
        if self.eat(",") {
            self.skip();
            return Ok(!self.closes(bracket, Behind::Comma));
        }
        if self.closes(bracket, Behind::Value) {
            return Ok(false);
        }
        // Only what can begin a member is one.
        let begins =
            |c: char| closing_quote(c).is_some() || c.is_alphanumeric() || "{[_$".contains(c);
        match self.peek().is_some_and(begins) && self.begun {
            true => {
                self.slip(Slip::MissingComma);
                Ok(true)
            }
            false => Err(self.expected(what)),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, String> {
        self.eat("{");
        let mut entries = Map::new();
        self.skip();
        let mut more = !self.closes('}', Behind::Opening);
        while more {
            self.skip();
            let key = self.key()?;
            self.skip();
            if !self.eat(":") {
                return Err(self.expected("`:` after a key"));
            }
            self.begun |= depth == 0;
            let at = self.at;
            if entries.insert(key, self.value(depth + 1)?).is_some() {
                self.slips.entry(Slip::RepeatedKey).or_insert(at);
            }
            more = self.follows('}', "`,` or `}`")?;
        }
        Ok(Json::Object(entries))
    }

    fn key(&mut self) -> Result<String, String> {
        if self.peek().and_then(closing_quote).is_some() {
            return self.string();
        }
        let rest = self.rest();
        let len = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '-')))
            .unwrap_or(rest.len());
        if len == 0 {
            return Err(self.expected("a key or `}`"));
        }
        self.slip(Slip::BareKey);
        self.at += len;
        Ok(rest.get(..len).unwrap_or("").to_owned())
    }

    fn array(&mut self, depth: usize) -> Result<Json, String> {
        self.eat("[");
        let mut items = Vec::new();
        self.skip();
        let mut more = !self.closes(']', Behind::Opening);
        while more {
            items.push(self.value(depth + 1)?);
            self.skip();
            self.begun |= depth == 0 && self.peek() == Some(',');
            more = self.follows(']', "`,` or `]`")?;
        }
        Ok(Json::Array(items))
    }

    fn string(&mut self) -> Result<String, String> {
        let start = self.at;
        if self.eat("\"\"\"") {
            let Some((text, _)) = self.rest().split_once("\"\"\"") else {
                return Err(self.unended());
            };
            self.slips.entry(Slip::Quotes).or_insert(start);
            self.at += text.len() + 3;
            return Ok(text.to_owned());
        }
        let close = self.next().and_then(closing_quote);
        if close != Some('"') || self.text.get(start..self.at) != Some("\"") {
            self.slips.entry(Slip::Quotes).or_insert(start);
        }
        let mut text = String::new();
        // A quote that might have been meant to close.
        let mut inner = None;
        loop {
            match self.next() {
                None => {
                    let Some(at) = inner else {
                        return Err(self.unended());
                    };
                    self.at = at;
                    return Err(self.expected("`,`, `:` or a closing bracket behind the text"));
                }
                Some('\\') => self.escape(&mut text)?,
                c if c == close && self.is_behind_text() => return Ok(text),
                Some(c) => {
                    if Some(c) == close {
                        inner.get_or_insert(self.at);
                        self.slip(Slip::InnerQuote);
                    } else if c.is_control() {
                        self.slip(Slip::ControlCharacter);
                    }
                    text.push(c);
                }
            }
        }
    }

    fn unended(&mut self) -> String {
        self.at = self.text.len();
        "the text ends inside a string".to_owned()
    }

    /// Whether what follows can stand behind a text. A quote before anything else is one of the text's own.
    fn is_behind_text(&self) -> bool {
        let rest = self.rest();
        let next = rest.trim_start();
        let blanks = rest.get(..rest.len() - next.len()).unwrap_or("");
        next.chars().next().is_none_or(|c| {
            let quote = closing_quote(c).is_some() && !blanks.is_empty();
            ",:}]".contains(c)
                || quote
                || blanks.contains('\n')
                || next.starts_with("//")
                || next.starts_with("/*")
        })
    }

    fn escape(&mut self, text: &mut String) -> Result<(), String> {
        let c = match self.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('u') => self.unicode()?,
            Some(c @ ('"' | '\\' | '/')) => c,
            // A line end behind a backslash goes on with the line.
            Some('\n') => {
                self.slip(Slip::Backslash);
                return Ok(());
            }
            Some(c @ ('\'' | '`')) => {
                self.slip(Slip::Backslash);
                c
            }
            // A pattern, a formula or a path: the backslash is its own.
            Some(other) => {
                self.slip(Slip::Backslash);
                text.push('\\');
                other
            }
            None => return Err(self.unended()),
        };
        text.push(c);
        Ok(())
    }

    fn unicode(&mut self) -> Result<char, String> {
        let first = self.hex()?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first).ok_or_else(|| "half a character".to_owned());
        }
        let second = match self.eat("\\u") {
            true => self.hex()?,
            false => 0,
        };
        let low = second.wrapping_sub(0xDC00);
        match low < 0x400 {
            true => char::from_u32(0x10000 + ((first - 0xD800) << 10) + low)
                .ok_or_else(|| "half a character".to_owned()),
            false => Err("half a character".to_owned()),
        }
    }

    fn hex(&mut self) -> Result<u32, String> {
        let digits = self.rest().get(..4).unwrap_or("");
        let code = u32::from_str_radix(digits, 16).map_err(|_| self.expected("four hex digits"))?;
        self.at += 4;
        Ok(code)
    }

    /// A number, a word, or a text without quotes: all to the comma, the closing bracket or the line's end.
    fn scalar(&mut self) -> Result<Json, String> {
        let rest = self.rest();
        let end = rest
            .find([',', '}', ']', '\n', '{', '[', '"', ':'])
            .unwrap_or(rest.len());
        let written = rest.get(..end).unwrap_or("");
        let written = written.split(" //").next().unwrap_or("").trim_end();
        if written.is_empty() {
            return Err(self.expected("a value"));
        }
        let (json, slip) = match written {
            "true" => (Json::Bool(true), None),
            "false" => (Json::Bool(false), None),
            "null" => (Json::Null, None),
            "True" | "TRUE" => (Json::Bool(true), Some(Slip::Word)),
            "False" | "FALSE" => (Json::Bool(false), Some(Slip::Word)),
            "None" | "NULL" => (Json::Null, Some(Slip::Word)),
            // `+1`, `.5` and `007` are texts: the type says whether a number is meant.
            text => match serde_json::from_str(text) {
                Ok(number @ Json::Number(_)) => (number, None),
                _ if self.begun && is_bare(text) => (Json::from(text), Some(Slip::BareText)),
                _ => return Err(self.expected("a value")),
            },
        };
        let ends_text = written.len() == rest.len();
        if ends_text && !matches!(json, Json::Bool(_) | Json::Null) {
            return Err("the text ends inside a value".to_owned());
        }
        if let Some(slip) = slip {
            self.slip(slip);
        }
        self.at += written.len();
        Ok(json)
    }
}

/// What stands ahead of a closing bracket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    Opening,
    Comma,
    Value,
}

/// The quote that closes what a quote opens.
fn closing_quote(c: char) -> Option<char> {
    match c {
        '"' | '\'' | '`' => Some(c),
        '\u{201c}' => Some('\u{201d}'),
        '\u{2018}' => Some('\u{2019}'),
        _ => None,
    }
}

/// Whether a text may stand without quotes: words or digits, but no beginning of anything else, and no list that goes on.
fn is_bare(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_alphanumeric() || "_+-.".contains(c));
    let other = ["undefined", "NaN", "Infinity"].contains(&text);
    begins && !other && !text.contains("...") && !text.contains('(')
}

/// Line and column of a byte, from 1.
pub fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    (line, column)
}
