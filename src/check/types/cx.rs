//! The expressions of one graph or tool, typed in the scope and with the knowledge of their place.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ast::Name;
use crate::ast::expr::Expr;
use crate::ast::node::TemplateText;
use crate::base::{AccessPath, FileId, Span};
use crate::diag::{Diagnostic, Diagnostics, Home, codes};
use crate::expr::fold::inline::{LetValue, inlined};
use crate::expr::infer::{Checker, Narrowing, Taker, doomed, never_finite, reads};
use crate::expr::scope::StateFields;
use crate::expr::ty::RUN;
use crate::expr::{Scope, Type, template};
use crate::ir::FieldId;
use crate::resolve::node::names;
use crate::resolve::program::{Graph, Program};

use super::condition::domain::Domains;
use super::flow_state::FlowState;
use super::written::Constant;

/// The types of `state`'s fields, shared by all scopes of a graph.
pub type StateTypes = Arc<StateFields>;

/// Types expressions at one place after another.
pub struct Cx<'a> {
    /// The program.
    pub program: &'a Program,
    /// The graph whose state is in scope; `None` in a tool or a reducer.
    pub graph: Option<&'a Graph>,
    /// Names in scope here.
    pub scope: Scope,
    /// What is known here.
    pub facts: FlowState,
    /// Fields of the state that some expression has read.
    pub read: BTreeSet<(FieldId, Span)>,
    /// Fields that the called graph may give back, in a subgraph node, and whether it always does.
    pub given_back: Vec<(FieldId, bool)>,
    /// In a capped node: which fields have values where it is entered again.
    pub again: Option<FlowState>,
    /// Slots of names that some expression has read.
    pub used: BTreeSet<u32>,
    /// Reads of fields that some way to here does not surely write, with their places.
    pub unassigned: Vec<Unassigned>,
    /// Conditions that are wrong: nobody knows what they were to show.
    pub wrong: Vec<Span>,
    /// Computed targets met so far.
    pub computed: Vec<Computed>,
    /// In a tool's body: types of what its jumps write, in order.
    pub jump_sets: Vec<Type>,
    /// In a tool's body: what its `each` targets send, in order.
    pub sends: Vec<Sent>,
    /// What the `let`s of the node stand for.
    pub lets: Vec<LetValue>,
    /// Places that the node has written a constant to.
    pub constants: BTreeMap<AccessPath, Constant>,
    /// The tool whose body this is.
    pub tool: Option<String>,
    /// What was found.
    pub diags: Diagnostics,
    /// Values of enums, shared by the places of a graph.
    pub domains: Domains,
}

/// A read of a field that some way to it does not surely write.
#[derive(Debug, Clone, Copy)]
pub struct Unassigned {
    /// The field.
    pub field: FieldId,
    /// The expression or the text that reads it.
    pub read: Span,
    /// No way to it may write the field.
    pub never: bool,
}

/// A computed target and the names that it may give.
#[derive(Debug, Clone)]
pub struct Computed {
    /// The expression.
    pub span: Span,
    /// Names; `None` where its type does not say, which is reported.
    pub names: Option<Vec<String>>,
    /// Where the names are declared, where its type is an enum.
    pub home: Option<Home>,
}

/// What an `each` of a tool's body sends to a node of whichever graph calls the tool.
#[derive(Debug, Clone)]
pub struct Sent {
    /// Name of the node.
    pub worker: Name,
    /// Values of its `input`, by name.
    pub with: Vec<(Name, Type)>,
}

impl<'a> Cx<'a> {
    /// A place in a graph: `state` and `run` are in scope.
    pub fn in_graph(
        program: &'a Program,
        graph: &'a Graph,
        state: &StateTypes,
        facts: FlowState,
    ) -> Self {
        let mut scope = Scope {
            state: Some(state.clone()),
            functions: program.functions(graph.file),
            ..Scope::default()
        };
        scope.declare("run", Type::Record(RUN));
        if let Some(context) = &graph.context {
            scope.declare("context", Type::Record(context.record));
        }
        if let Some(params) = graph.params_record {
            scope.declare("params", Type::Record(params));
        }
        Self::new(program, (Some(graph), scope), facts)
    }

    /// A place outside graphs: nothing is in scope but what is declared.
    pub fn outside(program: &'a Program, file: FileId) -> Self {
        let scope = Scope {
            functions: program.functions(file),
            ..Scope::default()
        };
        Self::new(program, (None, scope), FlowState::default())
    }

    fn new(
        program: &'a Program,
        (graph, scope): (Option<&'a Graph>, Scope),
        facts: FlowState,
    ) -> Self {
        Self {
            program,
            graph,
            scope,
            facts,
            read: BTreeSet::new(),
            given_back: Vec::new(),
            again: None,
            used: BTreeSet::new(),
            unassigned: Vec::new(),
            wrong: Vec::new(),
            computed: Vec::new(),
            jump_sets: Vec::new(),
            sends: Vec::new(),
            lets: Vec::new(),
            constants: BTreeMap::new(),
            tool: None,
            diags: Diagnostics::new(),
            domains: Domains::default(),
        }
    }

    /// The type of an expression; see [`crate::expr::infer::infer`].
    pub fn infer(&mut self, expr: &Expr, expected: Option<&Type>) -> Type {
        self.infer_into(expr, expected, None)
    }

    /// The same, where messages can name what the value goes into.
    pub fn infer_into(
        &mut self,
        expr: &Expr,
        expected: Option<&Type>,
        taker: Option<Taker>,
    ) -> Type {
        self.note_reads(expr);
        let mut found = Diagnostics::new();
        let goes_on = expected.is_some() || taker.is_some();
        let ty = Checker::new(&self.scope, &self.program.types, &mut found)
            .knowing(self.facts.known.clone())
            .naming(&self.lets)
            .into(taker)
            .infer(expr, expected);
        if ty != Type::Error && !found.has_errors() {
            doomed(expr, &self.scope, &self.program.types, &mut found);
            if goes_on {
                never_finite(expr, &self.scope, &self.program.types, &mut found);
            }
            self.choices(expr);
            self.keys_of_lets(expr);
        }
        // One guard mends all that an expression does with a place that may be null.
        let mut reported = BTreeSet::new();
        let null = |found: &Diagnostic| found.code == &codes::NULL_NOT_HANDLED;
        found.retain(|found| {
            let value = found.value().filter(|_| null(found));
            value.is_none_or(|of| reported.insert(of.clone()))
        });
        self.hear(found);
        ty
    }

    /// Takes in what was found. Where a part of the graph is lost, it may be what guards a field that may be null.
    fn hear(&mut self, mut found: Diagnostics) {
        let unreadable = self.graph.is_some_and(|graph| graph.broken);
        let guarded = |of: &AccessPath| unreadable && of.field_of("state").is_some();
        found.retain(|found| {
            let null = found.code == &codes::NULL_NOT_HANDLED;
            !(null && found.value().is_some_and(guarded))
        });
        self.diags.append(found);
    }

    /// Types a value that may call `now()` and the like.
    pub fn infer_with_effects(&mut self, expr: &Expr, expected: Option<&Type>) -> Type {
        self.written(expr, expected, None)
    }

    /// Types a value that may call `now()` and the like, and goes into something that messages name.
    pub fn written(&mut self, expr: &Expr, expected: Option<&Type>, taker: Option<Taker>) -> Type {
        let before = std::mem::replace(&mut self.scope.effects, true);
        let ty = self.infer_into(expr, expected, taker);
        self.scope.effects = before;
        ty
    }

    /// Types a condition.
    pub fn condition(&mut self, expr: &Expr) {
        let reported = self.diags.len();
        self.infer(expr, Some(&Type::Bool));
        if self.diags.len() > reported {
            self.wrong.push(expr.span);
        }
    }

    /// The type, with nothing reported.
    pub fn quiet(&self, expr: &Expr) -> Type {
        let mut ignored = Diagnostics::new();
        Checker::new(&self.scope, &self.program.types, &mut ignored)
            .knowing(self.facts.known.clone())
            .naming(&self.lets)
            .infer(expr, None)
    }

    /// The type of a place, whatever is known of it.
    pub fn declared(&self, expr: &Expr, place: &AccessPath) -> Type {
        let mut known = self.facts.known.clone();
        known.forget(place);
        known.anything = false;
        let mut ignored = Diagnostics::new();
        Checker::new(&self.scope, &self.program.types, &mut ignored)
            .knowing(known)
            .infer(expr, None)
    }

    /// Goes on where a condition has been found to hold (or not to).
    pub fn assume(&mut self, condition: &Expr, truth: bool) {
        let mut ignored = Diagnostics::new();
        let shown: Narrowing = Checker::new(&self.scope, &self.program.types, &mut ignored)
            .knowing(self.facts.known.clone())
            .naming(&self.lets)
            .facts(condition, truth);
        let shown = shown.of_wrong(self.wrong.contains(&condition.span));
        self.facts.known = std::mem::take(&mut self.facts.known).and(shown);
    }

    /// Adds a name; what was known of one that it hides is forgotten.
    pub fn declare(&mut self, name: &str, ty: Type) {
        self.facts.known.forget(&AccessPath::name(name));
        if self.scope.slot(name).is_some() {
            self.lets
                .retain(|known| known.name != name && !names(&known.value, name));
        }
        self.scope.declare(name, ty);
    }

    /// An expression with what the `let`s of the node stand for in place of their names.
    pub fn inlined<'e>(&self, expr: &'e Expr) -> Cow<'e, Expr> {
        inlined(expr, &self.lets)
    }

    /// Checks a template.
    pub fn template(&mut self, text: &TemplateText) {
        let read = template::reads(text, &self.scope);
        self.used.extend(read.slots.iter().map(|slot| slot.0));
        for field in read.fields {
            self.note_field(FieldId(field), text.span);
        }
        let mut found = Diagnostics::new();
        template::check_knowing(
            text,
            &self.scope,
            &self.program.types,
            (self.facts.known.clone(), &self.lets),
            &mut found,
        );
        self.hear(found);
    }

    /// Reports a finding.
    pub fn report(&mut self, found: Diagnostic) {
        self.diags.push(found);
    }

    /// A type in backticks.
    pub fn show(&self, ty: &Type) -> String {
        format!("`{}`", self.program.types.show(ty))
    }

    fn note_reads(&mut self, expr: &Expr) {
        if self.scope.state.is_some() {
            let read = reads(expr, &self.scope);
            self.used.extend(read.slots.iter().map(|slot| slot.0));
            for field in read.fields {
                self.note_field(FieldId(field), expr.span);
            }
        }
    }

    /// Notes that a field is read at a place, and whether some way to it does not write the field. That is reported once:
    /// what follows takes it to have a value.
    pub(super) fn note_field(&mut self, field: FieldId, read: Span) {
        self.read.insert((field, read));
        if self.graph.is_none_or(|graph| graph.broken) {
            return;
        }
        let never = self.facts.unset.contains(&field);
        if never || self.facts.unassigned.contains(&field) {
            self.facts.has_value(field);
            self.unassigned.push(Unassigned { field, read, never });
        }
    }
}
