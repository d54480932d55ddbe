//! Routes, jumps and targets.

use std::collections::BTreeSet;

use crate::ir::NodeId;
use crate::resolve::target as from;

use super::Lowering;
use super::ends::Names;
use crate::ir::jump::{Arm, Emit, Jump, Route, SetItem, Target};

impl Lowering<'_> {
    /// A route. `names` is where a computed target looks up what it gives.
    pub fn route(&self, route: &from::Route, names: Names<'_>) -> Route {
        match route {
            from::Route::Always(jump) => Route::Always(self.jump(jump, names)),
            from::Route::Arms(arms, _) => {
                let arms = arms.iter().map(|arm| Arm {
                    when: self.maybe(&arm.when),
                    jump: self.jump(&arm.jump, names),
                });
                Route::Arms(arms.collect())
            }
        }
    }

    /// A jump.
    pub fn jump(&self, jump: &from::Jump, names: Names<'_>) -> Jump {
        let to = jump
            .to
            .iter()
            .filter_map(|target| self.target(target, names));
        Jump {
            to: to.collect(),
            set: self.set(&jump.set),
            emits: self.emits(&jump.emits),
        }
    }

    /// Several static edges as one jump; a target that two of them have is one target.
    pub fn edges(&self, edges: &[from::Jump], names: Names<'_>) -> Jump {
        let mut all = Jump {
            to: Vec::with_capacity(edges.len()),
            set: Vec::new(),
            emits: Vec::new(),
        };
        let mut nodes: BTreeSet<NodeId> = BTreeSet::new();
        for edge in edges {
            let jump = self.jump(edge, names);
            for target in jump.to {
                let fresh = match &target {
                    Target::Node(node) => nodes.insert(*node),
                    other => !all.to.contains(other),
                };
                if fresh {
                    all.to.push(target);
                }
            }
            all.set.extend(jump.set);
            all.emits.extend(jump.emits);
        }
        all
    }

    /// A target; `None` for what was reported.
    pub fn target(&self, target: &from::Target, names: Names<'_>) -> Option<Target> {
        Some(match &target.kind {
            from::TargetKind::Node(node) => Target::Node(*node),
            from::TargetKind::End => Target::End,
            from::TargetKind::Fail(message) => Target::Fail {
                message: message.as_ref().map(|message| self.expr(message)),
                at: self.place(target.span),
            },
            from::TargetKind::Computed(name) => Target::Computed {
                name: self.expr(name),
                table: self.table(names),
            },
            from::TargetKind::Each(each) => Target::Each {
                var: each.var.node.clone(),
                items: self.expr(&each.items),
                worker: each.worker?,
                with: self.named(&each.with),
                then: self.then(each.then.as_ref(), names),
            },
            from::TargetKind::Parent(name) => Target::Parent(name.node.clone()),
            from::TargetKind::Named(name) => Target::Named(name.node.clone()),
            from::TargetKind::NamedEach(each) => Target::NamedEach {
                var: each.var.node.clone(),
                items: self.expr(&each.items),
                worker: each.name.node.clone(),
                with: self.named(&each.with),
                then: self.then(each.then.as_ref(), names),
            },
            from::TargetKind::Unknown => return None,
        })
    }

    /// What comes behind all tasks of a fan-out, each once.
    fn then(&self, then: Option<&from::Then>, names: Names<'_>) -> Vec<Target> {
        let mut all = Vec::new();
        for target in then.iter().flat_map(|then| &then.to) {
            all.extend(self.target(target, names).filter(|to| !all.contains(to)));
        }
        all
    }

    /// Writes.
    pub fn set(&self, set: &[from::SetItem]) -> Vec<SetItem> {
        let item = |item: &from::SetItem| {
            item.field.map(|field| SetItem {
                field,
                replace: item.replace,
                value: self.expr(&item.value),
            })
        };
        set.iter().filter_map(item).collect()
    }

    /// Events.
    pub fn emits(&self, emits: &[from::Emit]) -> Vec<Emit> {
        emits.iter().filter_map(|emit| self.emit(emit)).collect()
    }

    /// An event; `None` where it is unknown, which is reported.
    pub fn emit(&self, emit: &from::Emit) -> Option<Emit> {
        emit.event.map(|event| Emit {
            event,
            fields: self.named(&emit.fields),
            on_start: emit.on_start,
            when: self.maybe(&emit.when),
        })
    }
}
