//! `tool name(params) -> T @attributes { body }`

use crate::ast::item::{self, ToolDecl};
use crate::base::FileId;

use super::super::Resolver;
use super::super::body::jump::At;
use super::super::names::Seen;
use super::super::preparation;
use super::super::program::{Tool, ToolBody};

impl Resolver<'_> {
    /// A tool with its attributes and body.
    pub fn tool(&mut self, file: FileId, decl: &ToolDecl) {
        let params = self.params(file, &decl.params, "parameter", true);
        let mut tool = Tool {
            name: decl.name.clone(),
            doc: decl.doc.clone(),
            params,
            returns: decl.returns.as_ref().map(|ty| self.spanned_type(file, ty)),
            effect: Default::default(),
            effect_span: None,
            approve: None,
            unattended: None,
            marks: Default::default(),
            on_error: None,
            idempotent: None,
            timeout_ms: None,
            progress: None,
            module: self.module_of(file),
            body: None,
            span: decl.span,
        };
        self.tool_attributes(file, &mut tool, &decl.attributes);
        tool.body = decl.body.as_ref().map(|body| self.tool_body(file, body));
        if let Some(body) = &tool.body {
            self.tool_names(&tool, body);
        }
        self.contradictions(&tool, &decl.attributes);
        self.program.tools.push(tool);
    }

    fn module_of(&self, file: FileId) -> Option<String> {
        let from = self.files.get(file.0 as usize).filter(|from| from.standard);
        from.map(|from| from.path.clone())
    }

    fn tool_body(&mut self, file: FileId, body: &item::ToolBody) -> ToolBody {
        let mut made = ToolBody {
            reads: self.params(file, &body.reads, "field", false),
            lets: body.lets.iter().map(|l| self.bound(file, l)).collect(),
            requires: (body.requires.iter())
                .map(|r| self.require(file, r))
                .collect(),
            set: self.set(At::Tool(file), &body.set),
            emits: body.emits.iter().map(|e| self.emit(file, e)).collect(),
            goto: (body.goto.as_ref()).map(|jumps| self.route(At::Tool(file), jumps)),
            returns: body.returns.as_ref().map(|e| self.expr(file, e)),
        };
        preparation::of_body(&mut made);
        made
    }

    /// Parameters, `reads` and `let` names share one scope.
    fn tool_names(&mut self, tool: &Tool, body: &ToolBody) {
        let params = tool.params.iter().chain(&body.reads);
        let names = params.map(|param| &param.name);
        let mut seen = Seen::default();
        for name in names.chain(body.lets.iter().map(|bound| &bound.name)) {
            if name.node == "run" {
                self.check_local_name(name);
            }
            // Twice in one list is reported by the list.
            if seen
                .get(name.as_str())
                .is_none_or(|first| first.span != name.span)
            {
                self.once(&mut seen, "name", name);
            }
        }
    }
}
