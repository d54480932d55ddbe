//! Toolsets and `tools [..]` lists: which tools they come to, and what each is narrowed by.

use std::collections::HashMap;

use crate::ast::Name;
use crate::ast::item::ToolRef;
use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, codes};

use super::super::names::{Definition, Wanted};
use super::super::order::behind_what_they_name;
use super::super::program::{Narrowing, ToolList, ToolUse};
use super::super::{Resolver, State};

impl Resolver<'_> {
    /// The tools of a list, toolsets replaced by their members.
    pub fn tool_list(&mut self, file: FileId, refs: &[ToolRef], span: Span) -> ToolList {
        let mut list = ToolList {
            tools: Vec::new(),
            span,
            broken: false,
        };
        let mut named: HashMap<&str, &Name> = HashMap::new();
        for entry in refs {
            if let Some(first) = named.get(entry.name.as_str()) {
                self.listed_twice(first, entry);
                continue;
            }
            named.insert(&entry.name, &entry.name);
            let (mut members, broken) = self.tool_members(file, &entry.name);
            list.broken |= broken;
            self.fix(file, entry, &mut members);
            if let Some(condition) = &entry.narrow {
                let narrowing = Narrowing {
                    condition: self.expr(file, condition),
                    name: entry.name.clone(),
                    tools: members.clone(),
                };
                let id = self.program.narrowings.push(narrowing);
                members.iter_mut().for_each(|used| used.narrowed.push(id));
            }
            for used in members {
                self.add_tool(&mut list, used);
            }
        }
        list
    }

    /// Adds the arguments that an entry fixes to each of its tools.
    fn fix(&mut self, file: FileId, entry: &ToolRef, members: &mut [ToolUse]) {
        let fixed = self.named(file, &entry.fixed);
        for used in members {
            for arg in &fixed {
                let mut known = used.fixed.iter();
                if let Some(first) = known.find(|known| known.name.node == arg.name.node) {
                    self.twice("value of", &first.name, &arg.name);
                }
            }
            used.fixed.extend(fixed.iter().cloned());
        }
    }

    /// Reports what the list of a graph itself fixes: it says what its nodes may use, and calls nothing.
    pub fn fixed_in_graph(&mut self, list: &ToolList) {
        let mut fixed = list.tools.iter().flat_map(|used| &used.fixed);
        if let Some(arg) = fixed.find(|arg| list.span.holds(arg.name.span)) {
            let message = "the `tools` of a graph fix no argument";
            let help = "fix it in a toolset, or in the `tools` of a node";
            self.report(&codes::BAD_VALUE, message, arg.name.span, help);
        }
    }

    /// The tool of that name, or all of the toolset's, and whether some of it is lost.
    fn tool_members(&mut self, file: FileId, name: &Name) -> (Vec<ToolUse>, bool) {
        match self.find(file, name, Wanted::Tools) {
            Some(Definition::Tool(tool)) => {
                let used = ToolUse {
                    tool,
                    span: name.span,
                    narrowed: Vec::new(),
                    fixed: Vec::new(),
                };
                (vec![used], false)
            }
            Some(Definition::Toolset(index)) => {
                let set = self.toolset(index);
                let tools = set.tools.into_iter();
                let here = |used| ToolUse {
                    span: name.span,
                    ..used
                };
                (tools.map(here).collect(), set.broken)
            }
            _ => (Vec::new(), true),
        }
    }

    /// Adds a tool that may be there already, through another toolset. Narrowed in two ways it could mean
    /// either of them or both, so that is refused.
    fn add_tool(&mut self, list: &mut ToolList, used: ToolUse) {
        let Some(first) = list.find(used.tool) else {
            list.tools.push(used);
            return;
        };
        let fixed =
            |used: &ToolUse| -> Vec<Span> { used.fixed.iter().map(|arg| arg.name.span).collect() };
        if first.narrowed == used.narrowed && fixed(first) == fixed(&used) {
            return;
        }
        let tools = &self.program.tools;
        let tool = tools.get(used.tool).map_or("?", |tool| &tool.name.node);
        let (tool, first) = (tool.to_owned(), first.span);
        let message = format!("tool `{tool}` is in this list twice, narrowed in different ways");
        self.narrowed_twice(message, &tool, (first, used.span));
    }

    fn listed_twice(&mut self, first: &Name, again: &ToolRef) {
        match again.narrow.is_none() && again.fixed.is_empty() {
            true => self.twice("tool", first, &again.name),
            false => {
                let name = &again.name;
                let message = format!("`{}` is in this list twice", name.node);
                self.narrowed_twice(message, &name.node, (first.span, name.span));
            }
        }
    }

    fn narrowed_twice(&mut self, message: String, name: &str, (first, again): (Span, Span)) {
        let found = Diagnostic::new(&codes::TOOL_NARROWED_TWICE, message, again)
            .here("again here")
            .label(first, "first here");
        self.diags.push(found.help(format!(
            "list it once: `{name} where A || B` for either, `{name} where A && B` for both"
        )));
    }

    /// A toolset's tools. A cycle of toolsets is reported once.
    pub fn toolset(&mut self, index: usize) -> ToolList {
        behind_what_they_name(index, self, Self::begin_toolset, Self::finish_toolset);
        let empty = |span| ToolList {
            tools: Vec::new(),
            span,
            broken: true,
        };
        let Some(set) = self.toolsets.get(index) else {
            return empty(Span::default());
        };
        if let State::Done(list) = &set.state {
            return list.clone();
        }
        let name = &set.decl.name;
        let message = format!("toolset `{}` holds itself", name.node);
        let help = format!("take `{}` out of its own tools", name.node);
        let (at, span) = (name.span, set.decl.span);
        self.report(&codes::BAD_VALUE, message, at, &help);
        empty(span)
    }

    /// Begins a toolset that is open yet; the toolsets that it names.
    fn begin_toolset(&mut self, index: usize) -> Option<Vec<usize>> {
        let set = self.toolsets.get_mut(index)?;
        if !set.state.begin() {
            return None;
        }
        let (file, decl) = (set.file, set.decl);
        let named = decl.tools.iter().map(|used| self.meaning(file, &used.name));
        let sets = named.filter_map(|thing| match thing {
            Some(Definition::Toolset(index)) => Some(index),
            _ => None,
        });
        Some(sets.collect())
    }

    fn finish_toolset(&mut self, index: usize) {
        let Some(set) = self.toolsets.get(index) else {
            return;
        };
        let (file, decl) = (set.file, set.decl);
        if decl.tools.is_empty() {
            self.no_tools(&format!("toolset `{}`", decl.name.node), decl.name.span);
        }
        let list = self.tool_list(file, &decl.tools, decl.span);
        if let Some(set) = self.toolsets.get_mut(index) {
            set.state = State::Done(list);
        }
    }

    /// Warns of a list without a tool where it says nothing. (On a graph it says that no tool may be used.)
    pub fn no_tools(&mut self, of: &str, span: Span) {
        let message = format!("{of} names no tool");
        let diagnostic =
            Diagnostic::new(&codes::EMPTY_TOOLS, message, span).help("name a tool, or take it out");
        self.diags.push(diagnostic);
    }
}
