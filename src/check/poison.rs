//! Declarations that are wrong themselves: nobody knows of which type they were meant to be.
//!
//! Where the default of a field does not fit its type, or its reducer or an attribute does not go with it, either of the two is
//! wrong. That is said at the declaration. What else reads or writes it would say the same again, so for all that follows such a
//! declaration is of the type [`Type::Error`], which goes with everything.

use std::collections::BTreeSet;

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, Level, codes};
use crate::expr::Type;
use crate::expr::ty::{RecordId, TypeTable};
use crate::ir::{Channel, ReducerId};
use crate::resolve::Program;
use crate::resolve::program::{Param, Reducer};

/// The program with all declarations that have an error of their own made such; `None` where there is none.
pub fn poisoned(program: &Program, diags: &Diagnostics) -> Option<Program> {
    // What an attribute that is none was to say changes no type.
    let plain = |found: &&Diagnostic| !std::ptr::eq(found.code, &codes::UNKNOWN_ATTRIBUTE);
    let errors = diags.iter().filter(|found| found.level == Level::Error);
    let errors = errors.filter(plain);
    let mut errors: Vec<Span> = errors.map(Diagnostic::span).collect();
    errors.sort();
    let wrong = Wrong { errors };
    if wrong.errors.is_empty() {
        return None;
    }
    let reducers = wrong.reducers(program);
    if reducers.is_empty() && !declarations(program).any(|at| wrong.has(at)) {
        return None;
    }
    let mut program = program.clone();
    let mut types = std::mem::take(&mut program.types);
    for record in &mut program.records {
        wrong.params(&mut record.fields, Some(record.id), &mut types);
    }
    for event in program.events.iter_mut() {
        wrong.params(&mut event.fields, None, &mut types);
    }
    for tool in program.tools.iter_mut() {
        wrong.params(&mut tool.params, None, &mut types);
    }
    for prompt in program.prompts.iter_mut() {
        wrong.params(&mut prompt.params, None, &mut types);
    }
    for id in &reducers {
        if let Some(reducer) = program.reducers.get_mut(*id) {
            reducer.old.ty.node = Type::Error;
            reducer.new.ty.node = Type::Error;
        }
    }
    for graph in program.graphs.iter_mut() {
        wrong.params(&mut graph.params, graph.params_record, &mut types);
        if let Some(context) = &mut graph.context {
            wrong.params(&mut context.fields, Some(context.record), &mut types);
        }
        let mut names = BTreeSet::new();
        for field in graph.fields.iter_mut() {
            if wrong.has(field.span)
                || matches!(field.channel, Channel::Own { reducer } if reducers.contains(&reducer))
            {
                field.ty.node = Type::Error;
                names.insert(field.name.node.as_str());
            }
        }
        hide(&names, graph.result, &mut types);
        for node in graph.nodes.iter_mut() {
            wrong.params(&mut node.input, node.input_record, &mut types);
        }
    }
    program.types = types;
    Some(program)
}

/// The places of all fields and parameters.
fn declarations(program: &Program) -> impl Iterator<Item = Span> {
    let records = program.records.iter().flat_map(|record| &record.fields);
    let events = program.events.iter().flat_map(|event| &event.fields);
    let tools = program.tools.iter().flat_map(|tool| &tool.params);
    let prompts = program.prompts.iter().flat_map(|prompt| &prompt.params);
    let graphs = || program.graphs.iter();
    let params = graphs().flat_map(|graph| &graph.params);
    let contexts = graphs().flat_map(|graph| &graph.context);
    let contexts = contexts.flat_map(|context| &context.fields);
    let inputs = graphs().flat_map(|graph| graph.nodes.iter().flat_map(|node| &node.input));
    let all = records.chain(events).chain(tools).chain(prompts);
    let all = all.chain(params).chain(contexts).chain(inputs);
    let fields = graphs().flat_map(|graph| graph.fields.iter().map(|field| field.span));
    all.map(|param| param.span).chain(fields)
}

/// Places of errors, in order.
struct Wrong {
    errors: Vec<Span>,
}

impl Wrong {
    fn has(&self, declaration: Span) -> bool {
        let before = |at: &Span| (at.file, at.start) < (declaration.file, declaration.start);
        let first = self.errors.partition_point(before);
        let error = self.errors.get(first);
        // What stands right behind it, without a blank, was to be a part of it: `string[]`.
        let adjacent = |at: &Span| at.file == declaration.file && at.start == declaration.end;
        error.is_some_and(|at| declaration.holds(*at) || adjacent(at))
    }

    /// Reducers whose head is wrong: what they keep nobody knows.
    fn reducers(&self, program: &Program) -> BTreeSet<ReducerId> {
        let all = program.reducers.entries();
        let head = |reducer: &Reducer| Span {
            end: reducer.body.span.start.max(reducer.name.span.end),
            ..reducer.name.span
        };
        all.filter(|(_, reducer)| self.has(head(reducer)))
            .map(|(id, _)| id)
            .collect()
    }

    fn params(&self, params: &mut [Param], record: Option<RecordId>, types: &mut TypeTable) {
        let mut names = BTreeSet::new();
        for param in params {
            if self.has(param.span) {
                param.ty.node = Type::Error;
                names.insert(param.name.node.as_str());
            }
        }
        if let Some(record) = record {
            hide(&names, record, types);
        }
    }
}

fn hide(names: &BTreeSet<&str>, record: RecordId, types: &mut TypeTable) {
    if names.is_empty() {
        return;
    }
    let fields = types
        .records
        .get_mut(record)
        .map(|record| &mut record.fields);
    for field in fields.into_iter().flatten() {
        if names.contains(field.name.as_str()) {
            field.ty = Type::Error;
        }
    }
}
