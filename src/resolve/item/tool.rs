//! `tool name(params) -> T @attributes { body }`

use crate::ast::Name;
use crate::ast::item::{self, ToolDecl};
use crate::ast::node::{Jumps, SetItem};
use crate::ast::target::{Jump as WrittenJump, Target as WrittenTarget, TargetKind as Written};
use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, codes};

use super::super::Resolver;
use super::super::program::{Tool, ToolBody};
use super::super::target::{Arm, Jump, Route, Target, TargetKind};

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
            body: None,
            span: decl.span,
        };
        self.tool_attributes(file, &mut tool, &decl.attributes);
        tool.body = decl.body.as_ref().map(|body| self.tool_body(file, body));
        if let Some(body) = &tool.body {
            self.tool_names(&tool, body);
        }
        self.program.tools.push(tool);
    }

    fn tool_body(&mut self, file: FileId, body: &item::ToolBody) -> ToolBody {
        ToolBody {
            reads: self.params(file, &body.reads, "field", false),
            lets: body.lets.iter().map(|l| self.bound(file, l)).collect(),
            requires: body
                .requires
                .iter()
                .map(|r| self.require(file, r))
                .collect(),
            set: self.tool_set(file, &body.set),
            emits: body.emits.iter().map(|e| self.emit(file, e)).collect(),
            goto: body.goto.as_ref().map(|jumps| self.tool_route(file, jumps)),
            returns: body.returns.as_ref().map(|e| self.expr(file, e)),
        }
    }

    /// Parameters, `reads` and `let` names share one scope.
    fn tool_names(&mut self, tool: &Tool, body: &ToolBody) {
        let names = tool
            .params
            .iter()
            .chain(&body.reads)
            .map(|param| &param.name);
        let mut seen: Vec<&Name> = Vec::new();
        for name in names.chain(body.lets.iter().map(|bound| &bound.name)) {
            match seen.iter().find(|known| known.node == name.node) {
                // Twice in one list is reported by the list.
                Some(first) if first.span != name.span => self.twice("name", first, name),
                _ => seen.push(name),
            }
        }
    }

    fn tool_set(&mut self, file: FileId, set: &[SetItem]) -> Vec<SetItem> {
        let mut items: Vec<SetItem> = Vec::new();
        for item in set {
            if let Some(first) = items
                .iter()
                .find(|known| known.field.node == item.field.node)
            {
                let first = first.field.clone();
                self.twice("field", &first, &item.field);
                continue;
            }
            items.push(SetItem {
                value: self.expr(file, &item.value),
                ..item.clone()
            });
        }
        items
    }

    fn tool_route(&mut self, file: FileId, jumps: &Jumps) -> Route {
        match jumps {
            Jumps::Always(jump) => Route::Always(self.tool_jump(file, jump)),
            Jumps::Arms(arms, span) => {
                let arms = arms.iter().map(|arm| Arm {
                    when: arm.when.as_ref().map(|e| self.expr(file, e)),
                    jump: self.tool_jump(file, &arm.jump),
                    span: arm.span,
                });
                Route::Arms(arms.collect(), *span)
            }
        }
    }

    fn tool_jump(&mut self, file: FileId, jump: &WrittenJump) -> Jump {
        if !jump.set.is_empty() {
            let message = "a tool's jump has no `set` of its own";
            let diagnostic = Diagnostic::new(&codes::UNSUPPORTED, message, jump.span)
                .help("write the fields into the tool's `set`");
            self.diags.push(diagnostic);
        }
        let mut to = Vec::new();
        self.tool_targets(file, &jump.target, &mut to);
        Jump {
            to,
            set: Vec::new(),
            emits: jump.emits.iter().map(|e| self.emit(file, e)).collect(),
            span: jump.span,
        }
    }

    fn tool_targets(&mut self, file: FileId, target: &WrittenTarget, to: &mut Vec<Target>) {
        let span = target.span;
        let kind = match &target.kind {
            Written::Node(name) => TargetKind::Named(Name::new(name.clone(), span)),
            Written::End => TargetKind::End,
            Written::Fail(message) => {
                let message = message.as_ref().map(|e| self.expr(file, e));
                TargetKind::Fail(message.map(Box::new))
            }
            Written::All(targets) => {
                targets.iter().for_each(|t| self.tool_targets(file, t, to));
                return;
            }
            Written::Computed(_) => self.no_tool_target("a computed target", span),
            Written::Each { .. } => self.no_tool_target("`each`", span),
            Written::Parent(_) => self.no_tool_target("`parent`", span),
        };
        to.push(Target { kind, span });
    }

    fn no_tool_target(&mut self, what: &str, span: Span) -> TargetKind {
        let message = format!("a tool can't jump by {what}");
        let diagnostic = Diagnostic::new(&codes::UNSUPPORTED, message, span)
            .help("name a node that the calling node's `ends` lists");
        self.diags.push(diagnostic);
        TargetKind::Unknown
    }
}
