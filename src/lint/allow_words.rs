//! What a comment to the compiler says: `// graphc: allow(code) reason`, and what is nearly that.
//!
//! A comment that is meant for the compiler and misspelt would be passed over like any other, and its findings reported as
//! if nobody had seen them. So what begins nearly so is read as what it is meant to be, and reported.

use std::ops::Range;

use crate::base::name;
use crate::diag::codes;

/// One of them stands in every text with such a comment.
pub const HINTS: [&str; 2] = ["graphc", "allow"];

/// What a comment begins with that speaks to the compiler.
const NAME: &str = "graphc";

/// The one thing that it can be told.
const VERB: &str = "allow";

/// What a comment tells the compiler.
pub struct AllowComment {
    /// Where in the comment the codes stand, separated by commas.
    pub codes: Option<Range<usize>>,
    /// Whether a reason follows.
    pub reasoned: bool,
    /// What is wrong with its form.
    pub wrong: Option<String>,
}

/// Reads a comment with its slashes; `None` where it speaks to people.
pub fn parse(comment: &str) -> Option<AllowComment> {
    let said = comment.strip_prefix("//")?;
    let mut rest = Rest { text: said, at: 2 };
    rest.blank();
    let first = rest.word();
    rest.blank();
    let colon = rest.take(':');
    rest.blank();
    if first == NAME && colon {
        return Some(spoken(rest, None));
    }
    // Without the mark, only what has the whole form is meant: people write about `graphc`, too.
    let (wrong, rest) = if near(first, NAME) {
        let mut verb = Rest { ..rest };
        let word = verb.word();
        if !near(word, VERB) || !verb.opens() {
            return None;
        }
        let wrong = match first == NAME {
            true => "`graphc` stands without its colon, so nothing is allowed".to_owned(),
            false => format!("`{first}` is not `graphc`, so nothing is allowed"),
        };
        (wrong, rest)
    } else if first == VERB && !colon && rest.opens() {
        let back = Rest { text: said, at: 2 };
        let wrong = "a comment to graphc begins with `graphc:`, so nothing is allowed";
        (wrong.to_owned(), back.skipped())
    } else {
        return None;
    };
    let told = spoken(rest, Some(wrong));
    let list = told.codes.clone().and_then(|range| comment.get(range));
    let code = |list: &str| {
        list.split(',')
            .any(|code| codes::find(code.trim()).is_some())
    };
    list.is_some_and(code).then_some(told)
}

/// What follows the mark.
fn spoken(mut rest: Rest<'_>, wrong: Option<String>) -> AllowComment {
    let verb = rest.word();
    if !near(verb, VERB) {
        let message = match verb {
            "" => "a comment to graphc that says nothing".to_owned(),
            word => format!("`{word}` is nothing that graphc can be told, expected `allow`"),
        };
        return AllowComment {
            codes: None,
            reasoned: false,
            wrong: Some(message),
        };
    }
    let wrong = wrong.or_else(|| {
        let message = format!("`{verb}` is nothing that graphc can be told, expected `allow`");
        (verb != VERB).then_some(message)
    });
    rest.blank();
    let close = match rest.text.chars().next() {
        Some('(') => ')',
        Some('[') => ']',
        Some('{') => '}',
        _ => {
            // `allow naming the pager`
            let codes = rest.codes(false);
            return AllowComment {
                wrong: wrong.or(Some("`allow` names no code in parentheses".to_owned())),
                reasoned: true,
                codes,
            };
        }
    };
    let round = rest.take('(');
    if !round {
        rest.skip(1);
    }
    match rest.text.find(close) {
        Some(end) => {
            let reason = rest.text.get(end + 1..).unwrap_or("");
            AllowComment {
                codes: Some(rest.at..rest.at + end),
                reasoned: reason.contains(char::is_alphanumeric),
                wrong: wrong.or((!round).then(|| {
                    "the codes of `allow` stand in other brackets than `(` and `)`".to_owned()
                })),
            }
        }
        None => AllowComment {
            codes: rest.codes(true),
            reasoned: true,
            wrong: wrong.or(Some("the `(` of `allow` is never closed".to_owned())),
        },
    }
}

/// Whether a word is the wanted one, or nearly.
fn near(word: &str, wanted: &'static str) -> bool {
    word == wanted || word.len() > 2 && name::closest(word, [wanted]).is_some()
}

/// What is left of a comment.
struct Rest<'t> {
    text: &'t str,
    /// Bytes before it.
    at: usize,
}

impl<'t> Rest<'t> {
    fn skip(&mut self, bytes: usize) {
        self.text = self.text.get(bytes..).unwrap_or("");
        self.at += bytes;
    }

    fn blank(&mut self) {
        self.skip(self.text.len() - self.text.trim_start().len());
    }

    fn skipped(mut self) -> Self {
        self.blank();
        self
    }

    fn take(&mut self, sign: char) -> bool {
        let there = self.text.starts_with(sign);
        if there {
            self.skip(sign.len_utf8());
        }
        there
    }

    fn word(&mut self) -> &'t str {
        let part = |c: char| c.is_alphanumeric() || c == '_';
        let end = self.text.find(|c| !part(c)).unwrap_or(self.text.len());
        let word = self.text.get(..end).unwrap_or("");
        self.skip(end);
        word
    }

    fn opens(&self) -> bool {
        self.text.trim_start().starts_with(['(', '['])
    }

    /// The codes that stand at the beginning without their brackets; with `first` its first word, whatever it is.
    fn codes(&self, first: bool) -> Option<Range<usize>> {
        let mut end = 0;
        let mut open = self.text;
        loop {
            let blank = open.len() - open.trim_start().len();
            let word = open.trim_start();
            let stop = word.find(|c: char| !(c.is_alphanumeric() || c == '-'));
            let stop = stop.unwrap_or(word.len());
            let slug = word.get(..stop).unwrap_or("");
            let taken = codes::find(slug).is_some() || first && end == 0 && !slug.is_empty();
            if !taken {
                break;
            }
            end += blank + stop;
            open = word.get(stop..).unwrap_or("");
            let Some(after) = open.trim_start().strip_prefix(',') else {
                break;
            };
            end += open.len() - after.len();
            open = after;
        }
        let end = self.text.get(..end)?.trim_end_matches([',', ' ']).len();
        (end > 0).then(|| self.at..self.at + end)
    }
}
