//! The three-way rule: private data, untrusted content and a way out, in the hands of one model and with no person in
//! between. The content may tell the model to send the data away.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::base::{Span, Spanned};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::flow::{SinkKind, ToolEffect};
use crate::ir::{GraphId, NodeId, ToolId};
use crate::resolve::program::{Graph, ModelCall, Node, Param, Program, Tool, Work};

use super::super::cfg::MhpCache;
use super::in_scope;
use super::origin::{Inside, Leaf, Search, Wanted, is_plain, leaves, prompt_leaves};
use super::permitted::unseen;

/// Reports agents with all three, and calls whose arguments come from the first two.
pub fn trifectas<'a>(program: &'a Program, mhp_cache: &Rc<MhpCache<'a>>, diags: &mut Diagnostics) {
    if !super::marked(program, |marks| marks.untrusted.is_some()) {
        return;
    }
    let private = Wanted {
        private: true,
        through_models: true,
        ..Wanted::default()
    };
    let untrusted = Wanted {
        untrusted: true,
        guarded: true,
        through_models: true,
        ..Wanted::default()
    };
    let mut rule = Rule {
        program,
        private: Search::new(program, mhp_cache, private),
        untrusted: Search::new(program, mhp_cache, untrusted),
        unseen: unseen(program),
        diags,
    };
    for (id, graph) in program.graphs.entries() {
        for (at, node) in graph.nodes.entries() {
            if let Work::Agent { call, .. } = &node.work {
                rule.agent((id, at), graph, (node, call));
            }
            for used in node.called_tools() {
                rule.given((id, at), node, used);
            }
        }
    }
}

/// One of the three, and how it is known.
struct Part {
    span: Span,
    text: String,
    /// It is marked, not taken from an effect.
    sure: bool,
}

struct Rule<'a, 'd> {
    program: &'a Program,
    private: Search<'a>,
    untrusted: Search<'a>,
    /// The tools that a permit lets through with any arguments.
    unseen: BTreeMap<ToolId, Span>,
    diags: &'d mut Diagnostics,
}

impl Rule<'_, '_> {
    fn agent(&mut self, at: (GraphId, NodeId), graph: &Graph, (node, call): (&Node, &ModelCall)) {
        let tools: Vec<(ToolId, &Tool, Span)> = in_scope(graph, node)
            .into_iter()
            .filter_map(|used| Some((used.node, self.program.tools.get(used.node)?, used.span)))
            .collect();
        let Some(out) = tools.iter().find_map(|(id, tool, span)| {
            let fixed = node.given(*id);
            let chosen = |param: &Param| !fixed.iter().any(|arg| arg.name.node == param.name.node);
            outward((*id, tool), &self.unseen, *span, &chosen)
        }) else {
            return;
        };
        let read = prompt_leaves(call, &self.untrusted.guarded(node));
        let untrusted_ones: Vec<ToolId> = (tools.iter())
            .filter(|(id, ..)| self.untrusted.result_source(at, *id).is_some())
            .map(|(id, ..)| *id)
            .collect();
        let by_tool = (tools.iter()).find(|(id, ..)| untrusted_ones.contains(id));
        let untrusted = match by_tool {
            Some((_, tool, span)) => Some(Part {
                span: *span,
                text: format!("untrusted: what `{}` gives back", tool.name.node),
                sure: true,
            }),
            None => in_texts(&mut self.untrusted, at, node, &read),
        };
        let Some(untrusted) = untrusted else { return };
        let private = tools
            .iter()
            .find_map(|used| private(&mut self.private, at, *used));
        let private = private
            .or_else(|| in_texts(&mut self.private, at, node, &read))
            .or_else(|| {
                tools
                    .iter()
                    .filter(|(id, ..)| !untrusted_ones.contains(id))
                    .find_map(|(_, tool, span)| private_by_effect(tool, *span))
            });
        let Some(private) = private else { return };
        let code = match private.sure {
            true => &codes::LETHAL_TRIFECTA,
            false => &codes::POSSIBLE_TRIFECTA,
        };
        let message = format!(
            "agent `{}` has private data, untrusted content and a way out, with no person in between",
            node.name.node
        );
        self.report(code, message, node.name.span, [private, untrusted, out]);
    }

    /// A tool that is given what a model made of both, and sends it away.
    fn given(&mut self, (id, at): (GraphId, NodeId), node: &Node, used: Spanned<ToolId>) {
        let args = node.given(used.node);
        let tool = self.program.tools.get(used.node);
        let given = |param: &Param| args.iter().any(|arg| arg.name.node == param.name.node);
        let out = tool.and_then(|tool| outward((used.node, tool), &self.unseen, used.span, &given));
        let Some(out) = out else { return };
        let lets = self.untrusted.guarded(node);
        let read: Vec<Leaf> = args
            .iter()
            .flat_map(|arg| leaves(&arg.value, &lets))
            .collect();
        let untrusted = in_texts(&mut self.untrusted, (id, at), node, &read);
        let private = untrusted.and_then(|untrusted| {
            Some((
                in_texts(&mut self.private, (id, at), node, &read)?,
                untrusted,
            ))
        });
        let Some((private, untrusted)) = private else {
            return;
        };
        let message = format!(
            "`{}` sends away private data together with untrusted content, with no person in between",
            node.name.node
        );
        self.report(
            &codes::LETHAL_TRIFECTA,
            message,
            used.span,
            [private, untrusted, out],
        );
    }

    fn report(
        &mut self,
        code: &'static crate::diag::Code,
        message: String,
        span: Span,
        parts: [Part; 3],
    ) {
        let found = Diagnostic::new(code, message, span);
        let parts = parts.into_iter();
        let found = parts.fold(found, |found, part| found.label(part.span, part.text));
        self.diags.push(found.help(
            "mark the tool that leads out `@approve`, or let another agent, without the private data, read the untrusted content",
        ));
    }
}

fn in_texts(
    search: &mut Search,
    (id, at): (GraphId, NodeId),
    node: &Node,
    read: &[Leaf],
) -> Option<Part> {
    let read = search.unguarded(node, read.to_vec());
    let trail = search.source(Inside::Before(id, at), &read)?;
    let (span, text) = trail.source;
    Some(Part {
        span,
        text: format!("read by `{}`: {text}", node.name.node),
        sure: true,
    })
}

fn private(
    search: &mut Search,
    at: (GraphId, NodeId),
    (id, tool, span): (ToolId, &Tool, Span),
) -> Option<Part> {
    if tool.marks.secret.is_none() && search.result_source(at, id).is_none() {
        return None;
    }
    Some(Part {
        span,
        text: format!("private: what `{}` gives back", tool.name.node),
        sure: true,
    })
}

/// A tool that is said to read something of ours, which may be private.
fn private_by_effect(tool: &Tool, span: Span) -> Option<Part> {
    let reads = tool.effect == ToolEffect::Read && tool.effect_span.is_some();
    let ours = reads && tool.body.is_none();
    ours.then(|| Part {
        span,
        text: format!("may be private: what `{}` reads", tool.name.node),
        sure: false,
    })
}

/// A tool that carries to the outside what it is given for those of its parameters.
fn outward(
    (id, tool): (ToolId, &Tool),
    unseen: &BTreeMap<ToolId, Span>,
    span: Span,
    of: &dyn Fn(&Param) -> bool,
) -> Option<Part> {
    // What long-term memory is given stays in the project's own store.
    if (tool.asks() && !unseen.contains_key(&id)) || tool.body.is_some() || tool.module.is_some() {
        return None;
    }
    let carries = |kind: Option<SinkKind>| {
        matches!(
            kind,
            None | Some(SinkKind::Url | SinkKind::Shell | SinkKind::Html)
        )
    };
    let by_sink = tool
        .params
        .iter()
        .any(|param| of(param) && param.sink.is_some_and(|sink| carries(sink.kind)));
    // Nothing is told by a choice of few words.
    let words = |param: &Param| {
        of(param) && param.constraints.pattern.is_none() && !is_plain(&param.ty.node)
    };
    let by_effect = tool.effect != ToolEffect::Read && tool.params.iter().any(words);
    (by_sink || by_effect).then(|| Part {
        span,
        text: format!("the way out: `{}`", tool.name.node),
        sure: true,
    })
}
