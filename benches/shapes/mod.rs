//! Large flows of many shapes, made from texts with repetitions: what `benches/check.rs`, `growth.rs` and
//! `process.rs` measure.
//!
//! The texts are the `.shapes` files of this folder. `=== NAME` begins a shape, `=== NAME 500` one that is made with at
//! most that many repetitions (a limit of the language). `--- PATH` begins another of its files; before the first one it is
//! [`FILE`].
//!
//! | written | means |
//! |---|---|
//! | `@repeat` .. `@end`, on lines of their own | the lines, for each `i` from 0 to `n` |
//! | `@repeat 8` .. `@end` | the lines, for each `j` from 0 to 8 |
//! | `«, ¦text»` | the text, for each `i` from 0 to `n`, with `, ` between |
//! | `«8;, ¦text»` | the text, for each `j` from 0 to 8, with `, ` between |
//! | `$i`, `$j`, `$n`, `$(i+1)`, `$(i*7%n)` | a number; operators are taken from left to right |

// Each of those who use it needs a part.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, dead_code)]

use std::collections::BTreeMap;
use std::fmt::{self, Display};

/// The file that is compiled.
pub const FILE: &str = "bench.graph";

/// Texts by path.
pub type Files = BTreeMap<String, String>;

const TEXTS: &[&str] = &[
    include_str!("plain.shapes"),
    include_str!("flow.shapes"),
    include_str!("items.shapes"),
    include_str!("data.shapes"),
    include_str!("nested.shapes"),
    include_str!("wrong.shapes"),
    include_str!("safety.shapes"),
    include_str!("models.shapes"),
    include_str!("viz.shapes"),
];

/// A kind of flow that can be made in any size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// What it is called.
    pub name: &'static str,
    /// The most repetitions that make sense.
    pub most: usize,
    text: &'static str,
}

impl Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// All shapes, in the order of their files.
pub fn all() -> Vec<Shape> {
    let sections = TEXTS.iter().flat_map(|text| text.split("=== ").skip(1));
    sections
        .map(|section| {
            let (head, text) = section.split_once('\n').unwrap();
            let (name, most) = head.split_once(' ').unwrap_or((head, ""));
            Shape {
                name,
                most: most.parse().unwrap_or(usize::MAX),
                text,
            }
        })
        .collect()
}

/// The shape of a name.
pub fn named(name: &str) -> Shape {
    let found = all().into_iter().find(|shape| shape.name == name);
    found.unwrap_or_else(|| panic!("there is no shape `{name}`"))
}

impl Shape {
    /// Its files, with `n` repetitions or as many as make sense.
    pub fn files(&self, n: usize) -> Files {
        let now = Now {
            n: n.min(self.most),
            i: 0,
            j: 0,
        };
        let mut files = Files::new();
        for (index, part) in format!("--- {FILE}\n{}", self.text)
            .split("--- ")
            .enumerate()
        {
            if index > 0 {
                let (path, text) = part.split_once('\n').unwrap();
                let path = now.line(path);
                let lines: Vec<&str> = text.lines().collect();
                let mut made = String::new();
                match path.contains("$*") {
                    // A file for each repetition.
                    true => (0..now.n).for_each(|i| {
                        let now = Now { i, ..now };
                        let mut made = String::new();
                        now.lines(&lines, &mut made);
                        files.insert(path.replace("$*", &i.to_string()), made);
                    }),
                    false => {
                        now.lines(&lines, &mut made);
                        files.insert(path, made);
                    }
                }
            }
        }
        files
    }
}

/// How far the repetitions are.
#[derive(Debug, Clone, Copy)]
struct Now {
    n: usize,
    i: usize,
    j: usize,
}

impl Now {
    fn lines(self, lines: &[&str], out: &mut String) {
        let mut rest = lines;
        while let Some((line, after)) = rest.split_first() {
            rest = after;
            let Some(times) = line.strip_prefix("@repeat") else {
                out.push_str(&self.line(line));
                out.push('\n');
                continue;
            };
            let mut open = 1;
            let end = after.iter().position(|line| {
                open += usize::from(line.starts_with("@repeat"));
                open -= usize::from(*line == "@end");
                open == 0
            });
            let (body, after) = after.split_at(end.unwrap());
            self.each(times, |now| now.lines(body, out));
            rest = &after[1..];
        }
    }

    /// Calls for each repetition: so many times, or `n` times where that is empty.
    fn each(self, times: &str, mut made: impl FnMut(Now)) {
        match times.trim() {
            "" => (0..self.n).for_each(|i| made(Now { i, ..self })),
            times => {
                let times = times.parse().unwrap();
                (0..times).for_each(|j| made(Now { j, ..self }));
            }
        }
    }

    /// A line with its inline repetitions and numbers filled in.
    fn line(self, line: &str) -> String {
        let mut out = String::new();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once('«') {
            let (inner, behind) = after.split_once('»').unwrap();
            let (head, text) = inner.split_once('¦').unwrap();
            let (times, between) = head.split_once(';').unwrap_or(("", head));
            self.numbers(before, &mut out);
            let mut parts = Vec::new();
            self.each(times, |now| {
                let mut part = String::new();
                now.numbers(text, &mut part);
                parts.push(part);
            });
            out.push_str(&parts.join(between));
            rest = behind;
        }
        self.numbers(rest, &mut out);
        out
    }

    fn numbers(self, text: &str, out: &mut String) {
        let mut parts = text.split('$');
        out.push_str(parts.next().unwrap_or(""));
        for part in parts {
            let (sum, after) = match part.strip_prefix('(') {
                Some(inner) => inner.split_once(')').unwrap(),
                None if part.starts_with(['i', 'j', 'n']) => part.split_at(1),
                None => {
                    out.push('$');
                    out.push_str(part);
                    continue;
                }
            };
            out.push_str(&self.sum(sum).to_string());
            out.push_str(after);
        }
    }

    fn sum(self, sum: &str) -> usize {
        let value = |word: &str| match word {
            "i" => self.i,
            "j" => self.j,
            "n" => self.n,
            number => number.parse().unwrap(),
        };
        let operators = sum.match_indices(['+', '-', '*', '/', '%']);
        let mut words = sum.split(['+', '-', '*', '/', '%']).map(value);
        let first = words.next().unwrap();
        operators
            .zip(words)
            .fold(first, |left, ((_, sign), right)| match sign {
                "+" => left + right,
                "-" => left.saturating_sub(right),
                "*" => left * right,
                "/" => left / right,
                _ => left % right,
            })
    }
}
