//! `tool name(params) -> T @attributes { body }`

use thin_vec::ThinVec;

use crate::ast::Name;
use crate::ast::item::{self, ToolDecl};
use crate::ast::node::{Jumps, SetItem};
use crate::ast::target::{Jump as WrittenJump, Target as WrittenTarget, TargetKind as Written};
use crate::base::FileId;

use super::super::Resolver;
use super::super::preparation;
use super::super::program::{Tool, ToolBody};
use super::super::target::{
    Arm, Emit, Jump, NamedEach, Route, SetItem as Write, Target, TargetKind,
};

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
            requires: body
                .requires
                .iter()
                .map(|r| self.require(file, r))
                .collect(),
            set: self.tool_set(file, &body.set),
            emits: body.emits.iter().map(|e| self.emit(file, e)).collect(),
            goto: body.goto.as_ref().map(|jumps| self.tool_route(file, jumps)),
            returns: body.returns.as_ref().map(|e| self.expr(file, e)),
        };
        preparation::of_body(&mut made);
        made
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
            if name.node == "run" {
                self.check_local_name(name);
            }
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
        let set = self.tool_set(file, &jump.set).into_iter();
        let mut to = ThinVec::new();
        self.tool_targets(file, &jump.target, &mut to);
        self.no_update_behind_then(jump);
        if to.is_empty() {
            self.bad_value(
                "a jump to nowhere, expected a target".into(),
                jump.target.span,
            );
        }
        let emits: ThinVec<Emit> = jump.emits.iter().map(|e| self.emit(file, e)).collect();
        self.no_emit_on_start(&emits, "a jump");
        Jump {
            to,
            set: set
                .map(|item| Write {
                    near: None,
                    field: None,
                    name: item.field,
                    replace: item.replace,
                    value: item.value,
                })
                .collect(),
            emits,
            span: jump.span,
        }
    }

    fn tool_targets(&mut self, file: FileId, target: &WrittenTarget, to: &mut ThinVec<Target>) {
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
            Written::Computed(name) => TargetKind::Computed(Box::new(self.expr(file, name))),
            Written::Each(each) => {
                self.check_local_name(&each.var);
                TargetKind::NamedEach(Box::new(NamedEach {
                    var: each.var.clone(),
                    items: self.expr(file, &each.items),
                    worker: each.worker.clone(),
                    with: self.named(file, &each.with),
                    then: (each.then.as_ref())
                        .map(|then| self.then(then, |_, name| TargetKind::Named(name))),
                }))
            }
            Written::Parent(name) => TargetKind::Parent(name.clone()),
        };
        to.push(Target { kind, span });
    }
}
