//! The three-way rule: private data, untrusted content and a way out, in the hands of one model and with no person in
//! between. The content may tell the model to send the data away.

use std::collections::BTreeMap;

use crate::base::{Span, Spanned};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::flow::{SinkKind, ToolEffect};
use crate::ir::{GraphId, NodeId, ToolId};
use crate::resolve::program::{Graph, Node, Param, Program, Tool, Work};

use super::in_scope;
use super::labels::{Label, Labels, Value, read_by_model, takes_free_text};

/// What is not for everybody.
const PRIVATE: [Label; 2] = [Label::Private, Label::Secret];

/// Reports models with all three, and calls whose arguments come from the first two.
pub fn trifectas(program: &Program, labels: &Labels<'_>, diags: &mut Diagnostics) {
    let mut rule = Rule {
        program,
        labels,
        diags,
    };
    for (id, graph) in program.graphs.entries() {
        for (at, node) in graph.nodes.entries() {
            if let Work::Llm(_) | Work::Agent { .. } = &node.work {
                rule.model((id, at), graph, node);
            }
            for used in node.called_tools() {
                rule.given((id, at), node, used);
            }
        }
    }
}

/// One of the three: where it is, and what.
type Part = (Span, String);

struct Rule<'r, 'a> {
    program: &'a Program,
    labels: &'r Labels<'a>,
    diags: &'r mut Diagnostics,
}

impl Rule<'_, '_> {
    /// A model with tools. What the tools of an `llm` give back is in the messages that it is given.
    fn model(&mut self, at: (GraphId, NodeId), graph: &Graph, node: &Node) {
        let tools: Vec<(ToolId, &Tool, Span)> = in_scope(graph, node)
            .into_iter()
            .filter_map(|used| Some((used.node, self.program.tools.get(used.node)?, used.span)))
            .collect();
        let Some(out) = tools.iter().find_map(|(id, tool, span)| {
            let fixed = node.given(*id);
            let chosen = |param: &Param| !fixed.iter().any(|arg| arg.name.node == param.name.node);
            outward((*id, tool), &self.labels.unseen, *span, &chosen)
        }) else {
            return;
        };
        let mut reader = self.labels.reader(at.0, Some(at.1));
        let read = Value::of(read_by_model(&mut reader, node));
        let called = !matches!(node.work, Work::Llm(_));
        let by_tool = |labels: &[Label], word: &str| {
            let mut called = tools.iter().filter(|_| called);
            called.find_map(|(id, tool, span)| {
                self.labels.trail(&self.labels.result(at, *id), labels)?;
                let name = &tool.name.node;
                Some((*span, format!("{word}: what `{name}` gives back")))
            })
        };
        let untrusted = by_tool(&[Label::Untrusted], "untrusted")
            .or_else(|| self.in_texts(node, &read, &[Label::Untrusted]));
        let Some(untrusted) = untrusted else { return };
        let marked = by_tool(&PRIVATE, "private").or_else(|| self.in_texts(node, &read, &PRIVATE));
        // A tool that is said to read something of ours, which may be private.
        let by_effect = || {
            tools.iter().find_map(|(id, tool, span)| {
                let result = self.labels.result(at, *id);
                let reads = tool.effect == ToolEffect::Read && tool.effect_span.is_some();
                let is_ours = self.labels.trail(&result, &[Label::Untrusted]).is_none();
                let name = &tool.name.node;
                (reads && is_ours && tool.body.is_none())
                    .then(|| (*span, format!("may be private: what `{name}` reads")))
            })
        };
        let (code, private) = match marked {
            Some(part) => (&codes::LETHAL_TRIFECTA, part),
            None => match by_effect() {
                Some(part) => (&codes::POSSIBLE_TRIFECTA, part),
                None => return,
            },
        };
        let message = format!(
            "the model of `{}` has private data, untrusted content and a way out, with no person in between",
            node.name.node
        );
        self.report(code, message, node.name.span, [private, untrusted, out]);
    }

    /// A tool that is given both, and sends it away.
    fn given(&mut self, (id, at): (GraphId, NodeId), node: &Node, used: Spanned<ToolId>) {
        let args = node.given(used.node);
        let tool = self.program.tools.get(used.node);
        let given = |param: &Param| args.iter().any(|arg| arg.name.node == param.name.node);
        let unseen = &self.labels.unseen;
        let out = tool.and_then(|tool| outward((used.node, tool), unseen, used.span, &given));
        let Some(out) = out else { return };
        let values = args.iter().map(|arg| &arg.value);
        let read = Value::of(self.labels.reader(id, Some(at)).flat(values));
        let both = self
            .in_texts(node, &read, &[Label::Untrusted])
            .zip(self.in_texts(node, &read, &PRIVATE));
        let Some((untrusted, private)) = both else {
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

    fn in_texts(&self, node: &Node, read: &Value, labels: &[Label]) -> Option<Part> {
        let (span, text) = self.labels.trail(read, labels)?.source();
        Some((span, format!("read by `{}`: {text}", node.name.node)))
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
        let found = parts.fold(found, |found, (span, text)| found.label(span, text));
        self.diags.push(found.help(
            "mark the tool that leads out `@approve`, or let another agent, without the private data, read the untrusted content",
        ));
    }
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
    let words = |param: &Param| of(param) && takes_free_text(param);
    let by_effect = tool.effect != ToolEffect::Read && tool.params.iter().any(words);
    (by_sink || by_effect).then(|| (span, format!("the way out: `{}`", tool.name.node)))
}
