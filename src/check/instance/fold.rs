//! One graph with values for its parameters: conditions on them are decided, and what that rules out goes.
//!
//! Only what names a parameter is folded. A condition that is constant without them is written as
//! it is meant to be, or a mistake of its own, and reported elsewhere.

use std::collections::BTreeSet;

use thin_vec::ThinVec;

use crate::ast::expr::Expr;
use crate::ast::item::NamedArg;
use crate::base::{Span, Spanned};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::fold::inline::{LetValue, inlined, let_values};
use crate::expr::fold::lift::{literal, plain_json};
use crate::expr::fold::{Folder, names_params};
use crate::expr::infer::access_path;
use crate::resolve::node::Require;
use crate::resolve::program::{
    Arm, Ask, Emit, Graph, Jump, ModelCall, Node, Permit, Program, Route, TargetKind, ToolList,
    Work,
};
use crate::value::Value;

use super::args::Wrong;

/// Folds the expressions of an instance.
pub struct Folding<'a> {
    folder: Folder<'a>,
    /// Whether all values are known.
    pub is_whole: bool,
    wrong: &'a Wrong,
    /// What the `let`s of the node at hand stand for.
    lets: Vec<LetValue>,
    /// Numbers that the instance can't have.
    pub diags: Diagnostics,
    /// Each `require` and `ensure` that the parameters make false in every run.
    pub refusing: BTreeSet<Span>,
}

impl<'a> Folding<'a> {
    /// The folding of `graph`, which is an instance.
    pub fn new(program: &'a Program, graph: &Graph, wrong: &'a Wrong) -> Self {
        let instance = graph.instance.as_ref();
        let values = instance.map_or(&[][..], |instance| &instance.args);
        let known = graph.params.iter().zip(values).map(|(param, arg)| {
            let value = arg.as_ref().map(|arg| Value::from_json(&arg.value));
            (param.name.node.clone(), value)
        });
        Self {
            folder: Folder::new(
                &program.types,
                program.functions(graph.file),
                known.collect(),
            ),
            is_whole: instance.is_none_or(|instance| instance.is_whole()),
            wrong,
            lets: Vec::new(),
            diags: Diagnostics::new(),
            refusing: BTreeSet::new(),
        }
    }

    /// The value of an expression that is the same in every run of the instance.
    pub fn value(&self, expr: &Expr) -> Option<serde_json::Value> {
        if self.wrong.contains(&expr.span) {
            return None;
        }
        plain_json(&self.folder.fold(expr).value?)
    }

    /// Folds a whole graph.
    pub fn graph(&mut self, graph: &mut Graph) {
        for field in graph.fields.iter_mut() {
            if let Some(default) = field.default.as_mut().filter(|e| names_params(e)) {
                match self.value(default) {
                    Some(value) => *default = literal(&value, default.span),
                    None if !self.is_whole || self.wrong.contains(&default.span) => {}
                    None => self.diags.push(
                        Diagnostic::new(
                            &codes::DEFAULT_NOT_CONSTANT,
                            "a default must be a constant",
                            default.span,
                        )
                        .help("make it of literals and `params`; compute other values in a node"),
                    ),
                }
            }
        }
        if let Some(by) = &graph.recursion_by {
            let limit = self.count(graph, "recursion_limit", by);
            let limit = limit.map(|limit| Spanned::new(limit, by.span));
            graph.recursion_limit = limit.or(graph.recursion_limit);
        }
        graph
            .exits
            .retain_mut(|when| self.condition(when) != Some(false));
        graph.start.iter_mut().for_each(|route| self.route(route));
        graph
            .on_error
            .iter_mut()
            .for_each(|route| self.route(route));
        let joins = graph.joins.iter_mut();
        joins.for_each(|join| self.jump(&mut join.to));
        let mut nodes = std::mem::take(&mut graph.nodes);
        for node in nodes.iter_mut() {
            self.counts(graph, node);
            self.lets = let_values(&node.lets);
            self.node(node);
        }
        self.lets.clear();
        graph.nodes = nodes;
    }

    fn node(&mut self, node: &mut Node) {
        self.skips(node);
        node.lets.iter_mut().for_each(|l| self.expr(&mut l.value));
        node.requires.retain_mut(|require| self.may_fail(require));
        node.set.iter_mut().for_each(|s| self.expr(&mut s.value));
        self.emits(&mut node.emits);
        node.edges.iter_mut().for_each(|jump| self.jump(jump));
        let routes = node.goto.iter_mut().map(|goto| &mut goto.node);
        let routes = routes.chain(node.on_error.as_deref_mut());
        routes.for_each(|route| self.route(route));
        node.max_visits
            .iter_mut()
            .for_each(|max| self.jump(&mut max.to));
        for stop in &mut node.stops {
            if let Some(Ask::Fields(fields)) = &mut stop.ask {
                fields.iter_mut().for_each(|f| self.expr(&mut f.value));
            }
            self.permits(&mut stop.permits);
        }
        let key = node.cache.as_mut().and_then(|cache| cache.key.as_mut());
        key.into_iter().for_each(|key| self.expr(key));
        self.work(&mut node.work);
    }

    /// Whether a `require` or an `ensure` can still refuse something.
    fn may_fail(&mut self, require: &mut Require) -> bool {
        let holds = self.condition(&mut require.condition);
        require.message.iter_mut().for_each(|e| self.expr(e));
        if holds == Some(false) {
            self.refusing.insert(require.span);
        }
        holds != Some(true)
    }

    fn permits(&self, permits: &mut [Permit]) {
        let exprs = permits.iter_mut().flat_map(Permit::exprs_mut);
        exprs.for_each(|expr| self.expr(expr));
    }

    fn model_call(&mut self, call: &mut ModelCall) {
        call.messages.iter_mut().for_each(|e| self.expr(e));
        call.ensures.retain_mut(|ensure| self.may_fail(ensure));
        let sent = call.stream_as.take();
        call.stream_as = sent.and_then(|mut emit| self.emit(&mut emit).then_some(emit));
        self.fixed(&mut call.tools);
    }

    fn fixed(&self, list: &mut Option<ToolList>) {
        let tools = list.iter_mut().flat_map(|list| &mut list.tools);
        let fixed = tools.flat_map(|used| &mut used.fixed);
        fixed.for_each(|arg| self.expr(&mut arg.value));
    }

    fn work(&mut self, work: &mut Work) {
        match work {
            Work::Llm(call) => self.model_call(call),
            Work::Agent { call, until, .. } => {
                self.model_call(call);
                if let Some(condition) = until
                    && self.condition(condition) == Some(false)
                {
                    *until = None;
                }
            }
            Work::Tools {
                messages, tools, ..
            } => {
                messages.iter_mut().for_each(|e| self.expr(e));
                self.fixed(tools);
            }
            Work::Call { args, .. } => args.iter_mut().for_each(|a| self.expr(&mut a.value)),
            Work::Interrupt {
                ask,
                permits,
                timeout,
                ..
            } => {
                self.permits(permits);
                if let Some(Ask::Fields(fields)) = ask.as_deref_mut() {
                    fields.iter_mut().for_each(|f| self.expr(&mut f.value));
                }
                timeout
                    .iter_mut()
                    .for_each(|timeout| self.jump(&mut timeout.to));
            }
            Work::Subgraph { with, .. } => {
                with.iter_mut().for_each(|pass| self.expr(&mut pass.value));
            }
            Work::Update | Work::Branch | Work::Extern { .. } => {}
        }
    }

    /// A `skip` that never holds goes. One that always holds leaves nothing of the node but the way that it
    /// takes; before a `goto` it stays as it is, for that may need what is skipped, which is reported.
    fn skips(&mut self, node: &mut Node) {
        let mut always: Option<Option<Jump>> = None;
        node.skips.retain_mut(|skip| {
            skip.to.iter_mut().for_each(|jump| self.jump(jump));
            if always.is_some() {
                return false;
            }
            match self.condition(&mut skip.when) {
                Some(false) => return false,
                Some(true) => always = Some(skip.to.clone()),
                None => {}
            }
            true
        });
        let Some(to) =
            always.filter(|to| node.skips.len() == 1 && (to.is_some() || node.goto.is_none()))
        else {
            return;
        };
        node.work = Work::Update;
        node.cache = None;
        node.stops.clear();
        node.skips.clear();
        node.lets.clear();
        node.requires.clear();
        node.set.clear();
        node.emits.clear();
        node.goto = None;
        node.ends = None;
        if let Some(to) = to {
            node.joins.clear();
            node.edges = [to].into();
        }
    }

    fn route(&mut self, route: &mut Route) {
        match route {
            Route::Always(jump) => self.jump(jump),
            Route::Arms(arms, _) => {
                self.arms(arms);
                if let Some(arm) = arms.first().filter(|arm| arm.when.is_none()) {
                    *route = Route::Always(arm.jump.clone());
                }
            }
        }
    }

    /// Arms that are never taken go, and so does all behind one that always is.
    fn arms(&mut self, arms: &mut Vec<Arm>) {
        let mut taken = false;
        arms.retain_mut(|arm| {
            self.jump(&mut arm.jump);
            let holds = arm.when.as_mut().and_then(|when| self.condition(when));
            if taken || holds == Some(false) {
                return false;
            }
            if holds == Some(true) {
                arm.when = None;
            }
            taken |= holds == Some(true);
            true
        });
    }

    fn jump(&mut self, jump: &mut Jump) {
        jump.set
            .iter_mut()
            .for_each(|item| self.expr(&mut item.value));
        self.emits(&mut jump.emits);
        for target in &mut jump.to {
            match &mut target.kind {
                TargetKind::Fail(message) => message.iter_mut().for_each(|e| self.expr(e)),
                TargetKind::Computed(name) => self.expr(name),
                TargetKind::Each(each) | TargetKind::NamedEach(each) => {
                    self.send(&mut each.items, &mut each.with);
                }
                TargetKind::Node(_)
                | TargetKind::End
                | TargetKind::Parent(_)
                | TargetKind::Named(_)
                | TargetKind::Unknown => {}
            }
        }
    }

    fn send(&mut self, items: &mut Expr, with: &mut [NamedArg]) {
        self.expr(items);
        with.iter_mut().for_each(|arg| self.expr(&mut arg.value));
    }

    fn emits(&mut self, emits: &mut ThinVec<Emit>) {
        emits.retain_mut(|emit| self.emit(emit));
    }

    /// What is left of an event, and whether it may be sent.
    fn emit(&mut self, emit: &mut Emit) -> bool {
        emit.fields.iter_mut().for_each(|f| self.expr(&mut f.value));
        match emit.when.as_mut().and_then(|when| self.condition(when)) {
            Some(false) => return false,
            Some(true) => emit.when = None,
            None => {}
        }
        true
    }

    /// What is left of a condition that names a parameter, and its value where that is decided.
    fn condition(&mut self, condition: &mut Expr) -> Option<bool> {
        let holds = self.holds(condition);
        self.expr(condition);
        holds
    }

    fn holds(&self, condition: &Expr) -> Option<bool> {
        let read = inlined(condition, &self.lets);
        names_params(&read)
            .then(|| self.folder.fold(&read).bool())
            .flatten()
    }

    fn expr(&self, expr: &mut Expr) {
        if names_params(expr) {
            *expr = self.folder.fold(expr).expr;
        }
    }

    fn counts(&mut self, graph: &Graph, node: &mut Node) {
        if let Work::Agent {
            max_turns,
            turns_by: Some(by),
            ..
        } = &mut node.work
            && let Some(turns) = self.count(graph, "max_turns", by)
        {
            *max_turns = turns;
        }
        if let Some(max) = &mut node.max_visits
            && let Some(by) = &max.limit_by
            && let Some(limit) = self.count(graph, "max_visits", by)
        {
            max.limit = limit;
        }
    }

    /// The number of a property; reported where the instance's is none. The place to blame is where the value
    /// was given, if the property is no more than a parameter.
    fn count(&mut self, graph: &Graph, what: &str, by: &Expr) -> Option<u32> {
        let number = self.value(by)?.as_i64()?;
        if let Some(count) = u32::try_from(number).ok().filter(|count| *count > 0) {
            return Some(count);
        }
        let message = format!("`{what}` is {number}, expected at least 1");
        let given = access_path(by).and_then(|path| {
            let name = path.as_field_of("params")?;
            let at = graph.params.iter().position(|p| p.name.node == name)?;
            let arg = graph.instance.as_ref()?.args.get(at)?.clone()?;
            Some((graph.params.get(at)?, arg))
        });
        let found = match given {
            // A value that the parameter refuses is reported where it is given.
            Some((param, arg)) if !param.constraints.broken(&arg.value).is_empty() => return None,
            Some((_, arg)) => {
                Diagnostic::new(&codes::BAD_VALUE, message, arg.span).label(by.span, "needed here")
            }
            None => Diagnostic::new(&codes::BAD_VALUE, message, by.span),
        };
        self.diags.push(found);
        None
    }
}
