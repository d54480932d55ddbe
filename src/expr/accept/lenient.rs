//! JSON out of what a model wrote: fences and prose around it, trailing commas, bare keys, single
//! quotes, comments, Python's words. What is cut off is refused: half an answer is no answer.

use serde_json::{Map, Number, Value as Json};

use crate::value::is_deeper;

/// Deeper values are refused, as those of all that comes from outside.
const MAX_DEPTH: usize = crate::value::MAX_DEPTH as usize;

/// How many opening brackets of the surrounding prose are tried.
const MAX_TRIES: usize = 100;

/// The JSON in a text. Strict JSON is taken as it is; otherwise the longest object or list in a fenced block, then in the
/// text as a whole. The error says what was wrong where the JSON seemed to begin.
pub fn lenient_json(text: &str) -> Result<Json, String> {
    let json = somewhere_in(text)?;
    match is_deeper(&json, MAX_DEPTH) {
        true => Err(format!("nested deeper than {MAX_DEPTH} levels")),
        false => Ok(json),
    }
}

fn somewhere_in(text: &str) -> Result<Json, String> {
    if let Ok(json) = serde_json::from_str(text.trim()) {
        return Ok(json);
    }
    for block in fenced(text) {
        if let Ok(json) = serde_json::from_str(block.trim()) {
            return Ok(json);
        }
        if let Ok(json) = longest(block) {
            return Ok(json);
        }
    }
    longest(text)
}

/// The contents of blocks between lines of three backticks.
fn fenced(text: &str) -> Vec<&str> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("```") {
        let word = after
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(after.len());
        let body = after.get(word..).unwrap_or("");
        let Some((block, behind)) = body.split_once("```") else {
            break;
        };
        blocks.push(block);
        rest = behind;
    }
    blocks
}

/// The longest object or list in a text. One that has clearly begun and then breaks off or goes wrong ends the
/// search: a part of it would be taken for the whole. Brackets of prose don't begin one.
fn longest(text: &str) -> Result<Json, String> {
    let mut best: Option<(usize, Json)> = None;
    let mut first_error = None;
    let mut from = 0;
    for _ in 0..MAX_TRIES {
        let Some(start) = text.get(from..).and_then(|rest| rest.find(['{', '['])) else {
            break;
        };
        let start = from + start;
        let mut parser = Parser {
            text,
            at: start,
            begun: false,
        };
        match parser.value(0) {
            Ok(json) => {
                let len = parser.at - start;
                if best.as_ref().is_none_or(|(most, _)| len > *most) {
                    best = Some((len, json));
                }
                from = parser.at;
            }
            Err(message) if parser.begun || parser.rest().is_empty() => {
                return Err(parser.locate(&message));
            }
            Err(message) => {
                first_error.get_or_insert_with(|| parser.locate(&message));
                from = start + 1;
            }
        }
    }
    match (best, first_error) {
        (Some((_, json)), _) => Ok(json),
        (None, Some(error)) => Err(error),
        (None, None) => Err("no JSON in the text".to_owned()),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// Whether the outermost object has had a key with its colon, or the outermost list a first element with its comma.
    begun: bool,
}

impl<'a> Parser<'a> {
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

    fn locate(&self, message: &str) -> String {
        let before = self.text.get(..self.at).unwrap_or("");
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        format!("{message} at line {line}, column {column}")
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
                r if r.starts_with("//") => r.find('\n').unwrap_or(r.len()),
                r if r.starts_with("/*") => r.find("*/").map_or(r.len(), |end| end + 2),
                _ => return,
            };
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
            Some('"' | '\'') => self.string().map(Json::String),
            Some(c) if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => self.number(),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, String> {
        self.eat("{");
        let mut entries = Map::new();
        loop {
            self.skip();
            if self.eat("}") {
                return Ok(Json::Object(entries));
            }
            let key = self.key()?;
            self.skip();
            if !self.eat(":") {
                return Err(self.expected("`:` after a key"));
            }
            self.begun |= depth == 0;
            entries.insert(key, self.value(depth + 1)?);
            self.skip();
            if !self.eat(",") && self.peek() != Some('}') {
                return Err(self.expected("`,` or `}`"));
            }
        }
    }

    fn key(&mut self) -> Result<String, String> {
        if matches!(self.peek(), Some('"' | '\'')) {
            return self.string();
        }
        let rest = self.rest();
        let len = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '-')))
            .unwrap_or(rest.len());
        if len == 0 {
            return Err(self.expected("a key or `}`"));
        }
        self.at += len;
        Ok(rest.get(..len).unwrap_or("").to_owned())
    }

    fn array(&mut self, depth: usize) -> Result<Json, String> {
        self.eat("[");
        let mut items = Vec::new();
        loop {
            self.skip();
            if self.eat("]") {
                return Ok(Json::Array(items));
            }
            items.push(self.value(depth + 1)?);
            self.skip();
            match self.eat(",") {
                true => self.begun |= depth == 0,
                false if self.peek() == Some(']') => {}
                false => return Err(self.expected("`,` or `]`")),
            }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        let quote = self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                None => return Err("the text ends inside a string".to_owned()),
                Some('\\') => self.escape(&mut text)?,
                c if c == quote => return Ok(text),
                Some(c) => text.push(c),
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), String> {
        let c = match self.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('u') => self.unicode()?,
            // A line end behind a backslash goes on with the line.
            Some('\n') => return Ok(()),
            Some(other) => other,
            None => return Err("the text ends inside a string".to_owned()),
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

    fn number(&mut self) -> Result<Json, String> {
        let rest = self.rest();
        let len = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
            .unwrap_or(rest.len());
        let written = rest.get(..len).unwrap_or("");
        let plain = written.trim_start_matches('+');
        let number = match plain.parse::<i64>() {
            Ok(i) => Some(Number::from(i)),
            Err(_) => plain.parse::<f64>().ok().and_then(Number::from_f64),
        };
        match number {
            Some(number) => {
                self.at += len;
                Ok(Json::Number(number))
            }
            None => Err(format!("`{written}` is no number")),
        }
    }

    fn word(&mut self) -> Result<Json, String> {
        let rest = self.rest();
        let len = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        let json = match rest.get(..len).unwrap_or("") {
            "true" | "True" => Json::Bool(true),
            "false" | "False" => Json::Bool(false),
            "null" | "None" => Json::Null,
            _ => return Err(self.expected("a value")),
        };
        self.at += len;
        Ok(json)
    }
}
