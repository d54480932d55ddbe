//! Text that did not parse: what is said of things in it, and of names that it may declare, follows from that.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::graph::Member;
use crate::ast::item::Item;
use crate::base::{FileId, SourceMap, Span};
use crate::diag::{Diagnostic, Diagnostics, Home, Level, codes};
use crate::resolve::{Program, declared_words};

use super::{TEXT, is};

/// Pieces that did not parse.
pub struct Damaged {
    /// By file where they begin, in order.
    starts: BTreeMap<FileId, Vec<u32>>,
    /// By file, in order, those that lie in each other as one.
    pieces: BTreeMap<FileId, Vec<Span>>,
    /// The words in them.
    words: BTreeSet<String>,
    /// Words that declarations in them begin with and that may hold more than a name: `tool lookat: string)`.
    merged: Vec<String>,
    /// Files with an import that doesn't say what it imports.
    imports: BTreeSet<FileId>,
    /// Names that files with such pieces seem to declare.
    lost: BTreeMap<FileId, BTreeSet<String>>,
}

impl Damaged {
    /// The pieces of all files of a program.
    pub fn new(program: &Program, sources: &SourceMap, diags: &Diagnostics) -> Self {
        let mut pieces: BTreeMap<FileId, Vec<Span>> = BTreeMap::new();
        let mut words = BTreeSet::new();
        let mut merged = Vec::new();
        let mut imports = BTreeSet::new();
        let mut starts: BTreeMap<FileId, Vec<u32>> = BTreeMap::new();
        let damaged = || program.trees.iter().flat_map(|tree| &tree.damaged).copied();
        for span in damaged() {
            starts.entry(span.file).or_default().push(span.start);
        }
        starts
            .values_mut()
            .for_each(|starts| starts.sort_unstable());
        for span in Span::merged(damaged()) {
            pieces.entry(span.file).or_default().push(span);
            if imports_all(sources.text(span)) {
                imports.insert(span.file);
            }
            merged.extend(merged_name(sources.text(span)));
            let split = sources.text(span).split(|c| !is_word(c));
            words.extend(split.filter(|word| !word.is_empty()).map(str::to_owned));
        }
        words.extend(unasked(program, diags));
        let torn = diags.iter().filter(|found| is(found, TEXT));
        let torn: BTreeSet<FileId> = torn.map(|found| found.span().file).collect();
        let torn = sources.files().filter(|(id, _)| torn.contains(id));
        let lost = torn.map(|(id, file)| (id, declared_words(&file.text)));
        Self {
            starts,
            pieces,
            words,
            merged,
            imports,
            lost: lost.collect(),
        }
    }

    /// Whether a finding only says that something is damaged.
    pub fn explains(&self, found: &Diagnostic) -> bool {
        let name = found.unknown_name();
        let lost = name.is_some_and(|unknown| {
            let file = self.lost.get(&found.span().file);
            // Types, enums and graphs: words that are not capital stand behind such keywords in nodes too.
            let capital = unknown.name.starts_with(|c: char| c.is_ascii_uppercase());
            let item = file.filter(|_| unknown.home == Home::Items && capital);
            let imported = unknown.home == Home::Items && self.imports.contains(&found.span().file);
            let begins = |whole: &String| whole.starts_with(&unknown.name);
            let torn = unknown.home == Home::Items && self.merged.iter().any(begins);
            imported
                || torn
                || self.names(&unknown.name)
                || item.is_some_and(|names| names.contains(&unknown.name))
        });
        let arms = is(found, &[&codes::ROUTE_NOT_EXHAUSTIVE]) && self.part_of(found.span());
        lost || arms || self.holds(found.span())
    }

    /// Whether a place begins in one.
    fn holds(&self, at: Span) -> bool {
        let Some(spans) = self.pieces.get(&at.file) else {
            return false;
        };
        let before = spans.partition_point(|span| span.start <= at.start);
        let last = before.checked_sub(1).and_then(|last| spans.get(last));
        last.is_some_and(|span| at.start < span.end)
    }

    /// Whether one begins in the place.
    fn part_of(&self, at: Span) -> bool {
        let Some(starts) = self.starts.get(&at.file) else {
            return false;
        };
        let first = starts.partition_point(|start| *start < at.start);
        starts.get(first).is_some_and(|start| *start < at.end)
    }

    /// Whether the last word of a name stands in one.
    fn names(&self, name: &str) -> bool {
        let word = name.rsplit(|c| !is_word(c)).next();
        word.is_some_and(|word| self.words.contains(word))
    }
}

/// Names of questions around nodes that are not there, or can't be stopped at: what reads the answer is no mistake of its own.
fn unasked(program: &Program, diags: &Diagnostics) -> Vec<String> {
    let unknown = diags
        .iter()
        .filter(|found| found.level == Level::Error)
        .map(Diagnostic::span);
    let unknown: BTreeSet<Span> = unknown.collect();
    if unknown.is_empty() {
        return Vec::new();
    }
    let items = program.trees.iter().flat_map(|tree| &tree.items);
    let graphs = items.filter_map(|item| match item {
        Item::Graph(graph) => Some(graph),
        _ => None,
    });
    let interrupts = graphs.flat_map(|graph| &graph.members);
    let interrupts = interrupts.filter_map(|member| match member {
        Member::Interrupt(interrupt) if unknown.contains(&interrupt.node.span) => {
            Some(interrupt.name.node.clone())
        }
        _ => None,
    });
    interrupts.collect()
}

/// The word behind the keyword of a declaration whose `(` lacks, so that the first parameter may be part of it.
fn merged_name(text: &str) -> Option<String> {
    let (keyword, rest) = text.trim_ascii_start().split_once(' ')?;
    let rest = rest.trim_ascii_start();
    let (word, behind) = rest.split_at(rest.find(|c| !is_word(c))?);
    let declares = matches!(keyword, "tool" | "reducer" | "prompt" | "graph");
    let closed = behind.find([')', '(']).and_then(|at| behind.get(at..));
    let lacks = behind.starts_with(':') && closed.is_some_and(|rest| rest.starts_with(')'));
    (declares && lacks).then(|| word.to_owned())
}

/// `import * from ".."`, `import ".."`: it may bring any name.
fn imports_all(text: &str) -> bool {
    let text = text.trim_ascii_start();
    let rest = text.strip_prefix("import").map(str::trim_ascii_start);
    rest.is_some_and(|rest| rest.starts_with(['*', '"', '\'']))
        || text.starts_with("from ") && text.contains(" import ")
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
