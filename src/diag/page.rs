//! The page of a code: why it is reported, a wrong example, a right one.
//!
//! A page is Markdown of one fixed form, so that it can be shown in a terminal, listed in an
//! index, and have both of its examples compiled by a test:
//!
//! ````text
//! # unknown-target
//!
//! Why it is reported, in one or more paragraphs.
//!
//! ## Wrong
//!
//! ```graph
//! ...
//! ```
//!
//! ## Right
//!
//! ```graph
//! ...
//! ```
//! ````

use super::codes::{ALL, Code, GROUPS};
use super::render::Style;

/// A page, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page<'a> {
    /// The code, as the page names it.
    pub title: &'a str,
    /// Why it is reported: paragraphs, as written.
    pub why: &'a str,
    /// A file that is reported with this code, ending in a line end.
    pub wrong: &'a str,
    /// The same file as it should be, ending in a line end; it is reported with nothing.
    pub right: &'a str,
}

impl<'a> Page<'a> {
    /// Takes a page apart; `None` where a part is missing or empty.
    pub fn parse(markdown: &'a str) -> Option<Page<'a>> {
        let (title, rest) = markdown.strip_prefix("# ")?.split_once('\n')?;
        let (why, rest) = rest.split_once("\n## Wrong\n")?;
        let (wrong, right) = rest.split_once("\n## Right\n")?;
        let page = Page {
            title: title.trim(),
            why: why.trim(),
            wrong: example(wrong)?,
            right: example(right)?,
        };
        let complete = !page.title.is_empty() && !page.why.is_empty();
        complete.then_some(page)
    }

    /// The first sentence of the reason, which may go on over a line end. A full stop in backticks ends none.
    pub fn summary(&self) -> &'a str {
        let paragraph = self.why.split("\n\n").next().unwrap_or(self.why);
        let mut in_code = false;
        let mut chars = paragraph.char_indices().peekable();
        let mut end = None;
        while let (None, Some((at, c))) = (end, chars.next()) {
            in_code ^= c == '`';
            let last = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
            end = (c == '.' && last && !in_code).then_some(at);
        }
        end.and_then(|end| paragraph.get(..end))
            .unwrap_or(paragraph)
    }
}

/// The text of the one fenced block of a section: `graph`, or `yaml` for what is reported about
/// `graphc.yaml` and scenarios.
fn example(section: &str) -> Option<&str> {
    let fence = |language: &str| section.split_once(&format!("```{language}\n"));
    let (_, rest) = fence("graph").or_else(|| fence("yaml"))?;
    let (text, _) = rest.split_once("```")?;
    (!text.trim().is_empty()).then_some(text)
}

/// The page of a code as text for a terminal.
pub fn explain(code: &Code, style: Style) -> String {
    let heading = |text: String| match style.color {
        true => format!("\u{1b}[1m{text}\u{1b}[0m"),
        false => text,
    };
    let title = heading(format!("{}[{}]", code.level.word(), code.slug));
    let Some(page) = Page::parse(code.page) else {
        return format!("{title}\n\n{}", code.page);
    };
    let paragraphs = page.why.split("\n\n");
    let why: Vec<String> = paragraphs.map(|text| wrapped(text, style.width)).collect();
    format!(
        "{title}\n\n{}\n\n{}\n\n{}\n{}\n\n{}",
        why.join("\n\n"),
        heading("wrong".to_owned()),
        indented(page.wrong),
        heading("right".to_owned()),
        indented(page.right)
    )
}

/// A paragraph broken anew at blanks; a list stays as it is written.
fn wrapped(paragraph: &str, width: usize) -> String {
    if paragraph.starts_with("- ") {
        return paragraph.to_owned();
    }
    let mut out = String::with_capacity(paragraph.len());
    let mut column = 0;
    for word in paragraph.split_whitespace() {
        let length = word.chars().count();
        let blank = match column {
            0 => "",
            _ if column + 1 + length > width => "\n",
            _ => " ",
        };
        out.push_str(blank);
        out.push_str(word);
        column = match blank {
            "\n" => length,
            blank => column + blank.len() + length,
        };
    }
    out
}

fn indented(example: &str) -> String {
    example
        .lines()
        .map(|line| match line.is_empty() {
            true => "\n".to_owned(),
            false => format!("    {line}\n"),
        })
        .collect()
}

/// What a code is about, in one sentence.
pub fn about(code: &Code) -> String {
    one_line(summary(code))
}

/// All codes, one a line below the name of their group: slug, level, the first sentence of the page.
pub fn list() -> String {
    let width = ALL.iter().map(|code| code.slug.len()).max().unwrap_or(0);
    let mut out = String::new();
    for code in ALL {
        if let Some((group, _)) = GROUPS.iter().find(|(_, first)| *first == code.slug) {
            let blank = if out.is_empty() { "" } else { "\n" };
            out.push_str(&format!("{blank}{group}\n"));
        }
        let summary = one_line(summary(code));
        let (slug, level) = (code.slug, code.level.word());
        out.push_str(&format!("  {slug:width$}  {level:7}  {summary}\n"));
    }
    out
}

/// The table of all codes, as Markdown that stands beside the pages.
pub fn index() -> String {
    let mut out = String::from(
        "# Diagnostics\n\nEvery finding of `graphc check` has a code, and every code a page, which `graphc explain CODE` prints. Both \
         examples\nof each page are compiled by the tests.\n\n| code | level | reported when |\n|---|---|---|\n",
    );
    for code in ALL {
        let summary = one_line(summary(code)).replace('|', "\\|");
        let (slug, level) = (code.slug, code.level.word());
        out.push_str(&format!(
            "| [`{slug}`]({slug}.md) | {level} | {summary} |\n"
        ));
    }
    out
}

fn summary(code: &Code) -> &'static str {
    Page::parse(code.page).map_or(code.slug, |page| page.summary())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
