//! Toolsets and `tools [..]` lists: which tools they come to.

use crate::ast::item::ToolRef;
use crate::base::{FileId, Span};

use super::super::names::{Thing, Wanted};
use super::super::program::{ToolList, ToolUse};
use super::super::{Resolver, ToolsetState};

impl Resolver<'_> {
    /// The tools of a list, toolsets replaced by their members.
    pub fn tool_list(&mut self, file: FileId, refs: &[ToolRef], span: Span) -> ToolList {
        let mut list = ToolList {
            tools: Vec::new(),
            span,
        };
        for tool in refs {
            if let Some(narrow) = &tool.narrow {
                let diagnostic = super::super::unsupported("`where` on a tool", narrow.span);
                self.diags.push(diagnostic);
            }
            let members = match self.find(file, &tool.name, Wanted::Tools) {
                Some(Thing::Tool(id)) => vec![id],
                Some(Thing::Toolset(index)) => {
                    let set = self.toolset(index);
                    set.tools.iter().map(|used| used.tool).collect()
                }
                _ => Vec::new(),
            };
            for id in members {
                if !list.has(id) {
                    list.tools.push(ToolUse {
                        tool: id,
                        span: tool.name.span,
                    });
                }
            }
        }
        list
    }

    /// A toolset's tools. A circle of toolsets is reported once.
    pub fn toolset(&mut self, index: usize) -> ToolList {
        let empty = |span| ToolList {
            tools: Vec::new(),
            span,
        };
        let Some(set) = self.toolsets.get_mut(index) else {
            return empty(Span::default());
        };
        let (file, decl) = (set.file, set.decl);
        match &set.state {
            ToolsetState::Done(list) => return list.clone(),
            ToolsetState::Busy => {
                let message = format!("toolset `{}` holds itself", decl.name.node);
                self.bad_value(message, decl.name.span);
                return empty(decl.span);
            }
            ToolsetState::Open => set.state = ToolsetState::Busy,
        }
        let list = self.tool_list(file, &decl.tools, decl.span);
        if let Some(set) = self.toolsets.get_mut(index) {
            set.state = ToolsetState::Done(list.clone());
        }
        list
    }
}
