//! What a template reads of its scope.

use crate::ast::node::TemplateText;
use crate::ast::template::{Block, Event, LOOP, Target, walk};

use super::super::infer::{Reads, ReadsCollector};
use super::super::scope::Scope;
use super::lower::tree;

/// What a template reads of its scope; all fields of the state where it looks one up by a computed name.
pub fn reads(template: &TemplateText, scope: &Scope) -> Reads {
    let mut collector = ReadsCollector::new(scope);
    let mut blocks = Vec::new();
    walk(&tree(template).body, &mut |event| match event {
        Event::Text(..) => {}
        Event::Output(expr) | Event::Expr(expr) => collector.expr(expr),
        Event::Set(target, _) => bind(&mut collector, target),
        Event::Open(block) => {
            blocks.push(collector.bound.len());
            if let Block::Loop(each) = block {
                collector.bound.push(LOOP.to_owned());
                bind(&mut collector, &each.target);
            }
        }
        // What one way of an `if` sets may not be set behind it.
        Event::Close(_) => collector.bound.truncate(blocks.pop().unwrap_or(0)),
    });
    collector.found
}

fn bind(collector: &mut ReadsCollector<'_>, target: &Target) {
    let names = target.names().into_iter();
    collector.bound.extend(names.map(|name| name.node.clone()));
}
