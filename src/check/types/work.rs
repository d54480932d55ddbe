//! The work of each kind of node: what it reads, and the names it gives to what follows.

use crate::ast::expr::Expr;
use crate::base::name::list;
use crate::diag::{Diagnostic, codes};
use crate::expr::Type;
use crate::expr::infer::reads;
use crate::expr::ty::MESSAGE;
use crate::ir::FieldMode;
use crate::resolve::program::{Ask, ModelCall, Node, Work};

use super::super::flow::build::called_bodies;
use super::args::Callee;
use super::cx::Cx;
use super::node::Outcome;

fn messages() -> Type {
    Type::list(Type::Record(MESSAGE))
}

impl Cx<'_> {
    /// Types a node's own work and declares what it gives. Afterwards what its tools and subgraphs
    /// may have written is no longer known.
    pub fn work(&mut self, node: &Node, out: &mut Outcome) {
        match &node.work {
            Work::Llm(call) => {
                self.model_call(call);
                self.reply(call);
            }
            Work::Agent { call, until, .. } => {
                self.model_call(call);
                self.tools_write(node);
                self.reply(call);
                self.declare("transcript", messages());
                if let Some(until) = until {
                    self.condition(until);
                }
            }
            Work::Tools { messages: from, .. } => {
                if let Some(from) = from {
                    self.infer(from, Some(&messages()));
                }
                self.tools_write(node);
                self.declare("results", messages());
            }
            Work::Call { tool, name, args } => {
                let tool = tool.and_then(|id| self.program.tools.get(id));
                let params = tool.map_or(&[][..], |tool| &tool.params);
                if tool.is_some() {
                    let callee = Callee {
                        what: format!("tool `{}`", name.node),
                        params,
                        span: name.span,
                    };
                    self.args(&callee, args);
                }
                self.tools_write(node);
                let result = tool.map(|tool| tool.returns.as_ref().map(|ty| ty.node.clone()));
                self.declare("result", result.map_or(Type::Error, |ty| ty.unwrap_or(Type::Null)));
            }
            Work::Interrupt {
                ask,
                expect,
                timeout,
            } => {
                match ask {
                    Some(Ask::Fields(args)) => self.free_args(args),
                    Some(Ask::Text(text)) => self.template(text),
                    None => {}
                }
                if let Some(timeout) = timeout {
                    self.jump(&timeout.to, &mut out.behind);
                }
                let answer = expect.as_ref().map_or(Type::Json, |ty| ty.node.clone());
                self.declare("answer", answer);
            }
            Work::Subgraph { .. } => self.subgraph(node),
            Work::Update | Work::Branch | Work::Unknown => {}
        }
    }

    fn model_call(&mut self, call: &ModelCall) {
        for text in call.system.iter().chain(&call.prompt) {
            self.template(text);
        }
        if let Some(from) = &call.messages {
            self.infer(from, Some(&messages()));
        }
    }

    fn reply(&mut self, call: &ModelCall) {
        self.declare("reply", Type::Record(MESSAGE));
        if let Some(output) = &call.output {
            self.declare("output", output.node.clone());
        }
    }

    fn tools_write(&mut self, node: &Node) {
        let Some(graph) = self.graph else { return };
        for (_, body) in called_bodies(self.program, node) {
            for item in &body.set {
                if let Some(id) = graph.field(&item.field.node) {
                    self.facts.disturb(id, &graph.fields[id]);
                }
            }
        }
    }

    /// `with` values against the `in` fields, fields that pass by name, and what comes back.
    fn subgraph(&mut self, node: &Node) {
        let Work::Subgraph {
            graph: Some(child),
            name,
            with,
            into,
        } = &node.work
        else {
            self.declare("result", Type::Error);
            return;
        };
        let (Some(called), Some(caller)) = (self.program.graphs.get(*child), self.graph) else {
            return;
        };
        for pass in with {
            let field = pass.to.and_then(|id| called.fields.get(id));
            match field {
                Some(field) if !field.mode.is_in() => {
                    self.infer_with_effects(&pass.value, None);
                    self.not_of_mode(&pass.name, called, field, "in");
                }
                Some(field) => {
                    let ty = field.ty.node.clone();
                    self.infer_with_effects(&pass.value, Some(&ty));
                }
                None => {
                    self.infer_with_effects(&pass.value, None);
                }
            }
        }
        self.pass_by_name(name, called, with);
        for binding in into {
            self.binding(called, binding);
        }
        self.back_by_name(name, called, into);
        for id in self.given_back.clone() {
            if let Some(field) = caller.fields.get(id) {
                self.facts.disturb(id, field);
                // The subgraph gives back what it wrote; that it wrote it is checked there.
                self.facts.always.insert(id);
            }
        }
        self.declare("result", Type::Record(called.result));
    }

    fn not_of_mode(
        &mut self,
        name: &crate::ast::Name,
        called: &crate::resolve::program::Graph,
        field: &crate::resolve::program::Field,
        mode: &str,
    ) {
        let message = format!("`{}` is no `{mode}` field of `{}`", name.node, called.name.node);
        self.report(
            Diagnostic::new(&codes::WRONG_BINDING, message, name.span)
                .label(field.name.span, "declared here")
                .help(format!("declare it `{mode} {}` there, or take the entry out", name.node)),
        );
    }

    /// `in` fields that `with` doesn't name take the caller's field of the same name.
    fn pass_by_name(
        &mut self,
        name: &crate::ast::Name,
        called: &crate::resolve::program::Graph,
        with: &[crate::resolve::program::Pass],
    ) {
        let Some(caller) = self.graph else { return };
        let mut missing = Vec::new();
        let given = |field: &str| with.iter().any(|pass| pass.name.node == field);
        for field in called.fields.iter().filter(|f| f.mode.is_in() && !given(&f.name.node)) {
            match caller.field(&field.name.node) {
                Some(id) => {
                    let state = Expr {
                        kind: crate::ast::expr::ExprKind::Ident("state".to_owned()),
                        span: name.span,
                    };
                    let read = Expr {
                        kind: crate::ast::expr::ExprKind::Select {
                            operand: Box::new(state),
                            field: crate::ast::Name::new(field.name.node.clone(), name.span),
                            optional: false,
                        },
                        span: name.span,
                    };
                    // An `in` field with a value of its own to begin with may be passed before the caller has one.
                    if super::facts::begins_set(&caller.fields[id]) || field.default.is_none() {
                        self.passed(&read, id, field);
                    }
                }
                None if field.default.is_none() && !field.ty.node.admits_null() => {
                    missing.push(field);
                }
                None => {}
            }
        }
        if !missing.is_empty() {
            let names = list(missing.iter().map(|f| f.name.node.as_str()));
            let first = missing.first().map_or("", |f| f.name.node.as_str());
            let mut found = Diagnostic::new(
                &codes::WRONG_BINDING,
                format!("`{}` needs {names}, which nothing gives it", called.name.node),
                name.span,
            )
            .help(format!("give it in `with {{ {first}: .. }}`, or declare a field of that name in `{}`", caller.name.node));
            for field in missing {
                found = found.label(field.name.span, "an `in` field without a default");
            }
            self.report(found);
        }
    }

    fn passed(&mut self, read: &Expr, from: crate::ir::FieldId, to: &crate::resolve::program::Field) {
        let Some(caller) = self.graph else { return };
        let found = self.infer(read, None);
        if crate::expr::infer::assignable(&found, &to.ty.node, &self.program.types) {
            return;
        }
        let Some(field) = caller.fields.get(from) else { return };
        let message = format!(
            "`{}` passes by name, but is {} here and {} there",
            to.name.node,
            self.show(&found),
            self.show(&to.ty.node)
        );
        self.report(
            Diagnostic::new(&codes::WRONG_BINDING, message, read.span)
                .label(field.ty.span, "passed from here")
                .label(to.ty.span, "taken here")
                .help(format!("give it in `with {{ {}: .. }}`", to.name.node)),
        );
    }

    fn binding(
        &mut self,
        called: &crate::resolve::program::Graph,
        binding: &crate::resolve::program::Binding,
    ) {
        let Some(caller) = self.graph else { return };
        let from = binding.from.and_then(|id| called.fields.get(id));
        let to = binding.to.and_then(|id| caller.fields.get(id));
        if let Some(from) = from.filter(|from| !from.mode.is_out()) {
            self.not_of_mode(&binding.from_name, called, from, "out");
        }
        if let (Some(from), Some(to)) = (from, to) {
            self.comes_back(&binding.to_name, called, from, to);
        }
    }

    /// `out` fields that `into` doesn't name go to the caller's field of the same name, where there is one.
    fn back_by_name(
        &mut self,
        name: &crate::ast::Name,
        called: &crate::resolve::program::Graph,
        into: &[crate::resolve::program::Binding],
    ) {
        let Some(caller) = self.graph else { return };
        let bound = |field: &str| into.iter().any(|b| b.from_name.node == field);
        for field in called.fields.iter().filter(|f| f.mode.is_out() && !bound(&f.name.node)) {
            if let Some(to) = caller.field(&field.name.node).and_then(|id| caller.fields.get(id)) {
                self.comes_back(name, called, field, to);
            }
        }
    }

    fn comes_back(
        &mut self,
        at: &crate::ast::Name,
        called: &crate::resolve::program::Graph,
        from: &crate::resolve::program::Field,
        to: &crate::resolve::program::Field,
    ) {
        let takes = self.takes(to, false);
        if to.mode == FieldMode::In {
            let message = format!(
                "`{}` gives back `{}`, but `{}` is an `in` field and can only be read here",
                called.name.node, from.name.node, to.name.node
            );
            self.report(
                Diagnostic::new(&codes::READ_ONLY_FIELD, message, at.span)
                    .label(to.name.span, "declared `in`")
                    .label(from.name.span, "given back by the subgraph")
                    .help(format!("declare it `in out {}`, or bind it in `into` to another field", to.name.node)),
            );
        } else if !crate::expr::infer::assignable(&from.ty.node, &takes, &self.program.types) {
            let message = format!(
                "`{}` gives back `{}` as {}, but `{}` takes {}",
                called.name.node,
                from.name.node,
                self.show(&from.ty.node),
                to.name.node,
                self.show(&takes)
            );
            self.report(
                Diagnostic::new(&codes::WRONG_BINDING, message, at.span)
                    .label(from.ty.span, "given back from here")
                    .label(to.ty.span, "taken here")
                    .help("bind it in `into` to a field that takes it"),
            );
        }
    }

    /// A node that was skipped has no `output`, `result` and the like, so its `goto` may not need them.
    pub fn skipped_goto(&mut self, node: &Node, names: usize) {
        let Some(goto) = &node.goto else { return };
        let own = [
            "output", "reply", "transcript", "results", "result", "answer",
        ];
        let crate::resolve::program::Route::Arms(arms, _) = &goto.node else {
            return;
        };
        for condition in arms.iter().filter_map(|arm| arm.when.as_ref()) {
            let used = reads(condition, &self.scope).slots.into_iter().find_map(|slot| {
                let (name, _) = self.scope.names.get(slot.0 as usize)?;
                (slot.0 as usize >= names && own.contains(&name.as_str())).then(|| name.clone())
            });
            let Some(used) = used else { continue };
            let Some(skip) = node.skips.iter().find(|skip| skip.to.is_none()) else {
                return;
            };
            self.report(
                Diagnostic::new(
                    &codes::SKIP_NEEDS_TARGET,
                    format!("`skip` without a target leads to the `goto`, which reads `{used}`"),
                    skip.span,
                )
                .label(condition.span, format!("a skipped node has no `{used}`"))
                .help("say where to go: `skip when .. -> TARGET`"),
            );
            return;
        }
    }
}
