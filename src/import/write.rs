//! The text of a skeleton, and the gaps in it.
//!
//! Where several ways on depend on something, the node writes a field of an enum that has a member a way, and its `goto` reads
//! that: so the compiler knows all ways, and whoever fills the gap says how the member is found.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::Gap;
use super::graphs::{Graph, Node, Target, Way, snake, unique, upper_camel};

const HEAD: &str = "\
//! Imported from a drawing. It says which nodes there are and where they lead.
//! What it doesn't say is marked `GAP` below: an `extern` node stands for work that is not known yet.
//! Write in its place what it is: `llm`, `agent`, `tools`, `call`, `update`, `branch` or `interrupt`.
";

/// The text of these graphs, of which the first is the outermost, and what they lack.
pub fn text(graphs: &[Graph]) -> (String, Vec<Gap>) {
    let mut writer = Writer {
        graphs,
        out: HEAD.to_owned(),
        types: graphs.iter().map(|graph| graph.name.clone()).collect(),
        gaps: Vec::new(),
    };
    for graph in graphs {
        writer.graph(graph);
    }
    (writer.out, writer.gaps)
}

/// What decides where a node leads: a field of an enum.
struct Choice {
    field: String,
    enum_name: String,
    /// The members, and where each leads.
    arms: Vec<(String, Vec<String>)>,
}

struct Writer<'a> {
    graphs: &'a [Graph],
    out: String,
    /// Names of graphs and enums.
    types: BTreeSet<String>,
    gaps: Vec<Gap>,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    /// Names a gap, in the text and in the list.
    fn gap(&mut self, about: &str, missing: &str) {
        self.line(&format!("// GAP: {missing}"));
        self.gaps.push(Gap {
            about: about.to_owned(),
            missing: missing.to_owned(),
        });
    }

    fn graph(&mut self, graph: &Graph) {
        let mut names: BTreeSet<String> =
            graph.nodes.iter().map(|node| node.name.clone()).collect();
        let mut choice = |writer: &mut Self, name: &str, ways: &[Way]| {
            let name = unique(name, |name| !name.is_empty() && names.contains(name));
            let choice = writer.choice(graph, &name, ways)?;
            names.insert(name.clone());
            Some((name, choice))
        };
        // A start that depends on something, and a called graph's end, have a node of their own that decides.
        let entry = choice(self, "choose_first", &graph.start);
        let nodes = graph.nodes.iter().map(|node| {
            let found = match node.calls {
                Some(_) => choice(self, &format!("after_{}", node.name), &node.ways),
                None => {
                    let choice = self.choice(graph, &node.name, &node.ways);
                    choice.map(|choice| (node.name.clone(), choice))
                }
            };
            (node, found)
        });
        let nodes: Vec<_> = nodes.collect();
        let choices = entry
            .iter()
            .chain(nodes.iter().filter_map(|(_, found)| found.as_ref()));
        for (name, choice) in choices.clone() {
            let members: Vec<&str> = choice
                .arms
                .iter()
                .map(|(member, _)| member.as_str())
                .collect();
            let members = members.join(", ");
            self.line(&format!(
                "\n/// Where `{name}` leads.\nenum {} {{ {members} }}",
                choice.enum_name
            ));
        }
        let leaves: Vec<&str> = graph.leaves.iter().map(String::as_str).collect();
        let leaves = match leaves.as_slice() {
            [] => String::new(),
            leaves => format!("leaves [{}] ", leaves.join(", ")),
        };
        self.line(&format!("\ngraph {} {leaves}{{\nstate {{", graph.name));
        self.gap(&graph.name, "what the state holds");
        for (_, choice) in choices {
            self.line(&format!("{}: {}", choice.field, choice.enum_name));
        }
        self.line("}\n");
        self.start(graph, entry.as_ref());
        for (node, choice) in &nodes {
            self.node(graph, node, choice.as_ref());
        }
        self.line("}");
    }

    /// What decides between several ways of a node, if anything does.
    fn choice(&mut self, graph: &Graph, name: &str, ways: &[Way]) -> Option<Choice> {
        let (conditional, always): (Vec<&Way>, Vec<&Way>) =
            ways.iter().partition(|way| way.conditional);
        if conditional.is_empty() || conditional.len() + always.len() < 2 {
            return None;
        }
        let always = always.into_iter().filter(|way| way.target != Target::End);
        let always: Vec<String> = always.map(|way| target(graph, &way.target)).collect();
        let mut members = BTreeSet::new();
        let mut arms = Vec::new();
        for way in conditional {
            let place = target(graph, &way.target);
            let label = way.label.as_deref().unwrap_or(&place);
            let member = match snake(label.trim_start_matches("parent.")).as_str() {
                member @ ("true" | "false" | "null") => format!("is_{member}"),
                member => member.to_owned(),
            };
            let member = unique(&member, |name| members.contains(name));
            members.insert(member.clone());
            let mut places = match always.is_empty() || place != "end" {
                true => vec![place],
                false => Vec::new(),
            };
            places.extend(always.iter().cloned());
            arms.push((member, places));
        }
        if arms.len() < 2 {
            let member = unique("otherwise", |name| members.contains(name));
            let places = match always.is_empty() {
                true => vec!["end".to_owned()],
                false => always,
            };
            arms.push((member, places));
        }
        let enum_name = format!("{}Next", upper_camel(name));
        let enum_name = match self.types.contains(&enum_name) {
            true => unique(&format!("{}{enum_name}", graph.name), |name| {
                self.types.contains(name)
            }),
            false => enum_name,
        };
        self.types.insert(enum_name.clone());
        Some(Choice {
            field: format!("{name}_next"),
            enum_name,
            arms,
        })
    }

    fn start(&mut self, graph: &Graph, choice: Option<&(String, Choice)>) {
        for name in &graph.unreached {
            let about = format!("{}.{name}", graph.name);
            self.gap(
                &about,
                &format!("whether the graph begins with `{name}`: the drawing doesn't say it"),
            );
        }
        match choice {
            None => {
                let begins = places(graph, &graph.start);
                self.line(&format!("start -> {begins}\n"));
            }
            Some((name, choice)) => {
                self.line(&format!("start -> {name}\n"));
                let about = format!("{}.{name}", graph.name);
                self.gap(&about, "what decides where the graph begins");
                self.decides(name, choice, "");
            }
        }
    }

    /// A node that decides where to go.
    fn decides(&mut self, name: &str, choice: &Choice, properties: &str) {
        let (field, enum_name) = (&choice.field, &choice.enum_name);
        let mut text =
            format!("node {name}: extern {name} {{\n{properties}writes [{field}]\ngoto {{\n");
        for (member, places) in &choice.arms {
            let places = listed(places);
            // Writing to a string can't fail.
            let _ = writeln!(
                text,
                "when state.{field} == {enum_name}.{member} -> {places}"
            );
        }
        text.push_str("}\n}\n");
        self.line(&text);
    }

    fn node(&mut self, graph: &Graph, node: &Node, choice: Option<&(String, Choice)>) {
        let name = &node.name;
        let about = format!("{}.{name}", graph.name);
        let mut properties = String::new();
        if node.stops.0 {
            self.line(&format!("interrupt before_{name} before {name} {{ ask \"Go on with `{name}`?\", expect bool }}\n"));
            let _ = writeln!(properties, "skip when !before_{name} -> end");
        }
        if node.drawn != *name {
            self.line(&format!("/// Drawn as `{}`.", node.drawn.replace('`', "'")));
        }
        if node.stops.1 {
            self.gap(&about, "what a person is asked behind it: the drawing stops there (`interrupt NAME after NODE`)");
        }
        if graph.nodes.iter().any(forks) && arrows_to(graph, node) > 1 {
            self.gap(
                &about,
                "whether it waits for all that leads to it: then write a join, `[a, b] -> c`",
            );
        }
        if let [
            Way {
                conditional: true, ..
            },
        ] = node.ways.as_slice()
        {
            self.gap(&about, "what decides its way on, or over which list it fans out: one arrow, and that is dotted");
        }
        if node.deferred {
            properties.push_str("defer\n");
        }
        match (
            node.calls.and_then(|called| self.graphs.get(called)),
            choice,
        ) {
            (Some(called), choice) => {
                let way = match choice {
                    Some((decides, _)) => decides.clone(),
                    None => places(graph, &node.ways),
                };
                let upward = called
                    .leaves
                    .iter()
                    .map(|left| match node.passes_on.contains(left) {
                        true => format!("parent.{left}"),
                        false => left.clone(),
                    });
                let upward: Vec<String> = upward.collect();
                if !upward.is_empty() {
                    let _ = writeln!(properties, "ends [{}]", upward.join(", "));
                }
                let head = format!("node {name}: subgraph {} -> {way}", called.name);
                self.line(&format!("{head}{}\n", braced(&properties)));
                if let Some((decides, choice)) = choice {
                    let about = format!("{}.{decides}", graph.name);
                    self.gap(&about, &format!("what decides where to go behind `{name}`"));
                    self.decides(decides, choice, "");
                }
            }
            (None, Some((_, choice))) => {
                self.gap(
                    &about,
                    &format!("what it does, and how it finds `{}`", choice.field),
                );
                self.decides(name, choice, &properties);
            }
            (None, None) => {
                self.gap(&about, "what it does");
                let way = places(graph, &node.ways);
                let head = format!("node {name}: extern {name} -> {way}");
                self.line(&format!("{head}{}\n", braced(&properties)));
            }
        }
    }
}

/// The properties of a node in their braces; nothing where there are none.
fn braced(properties: &str) -> String {
    match properties.is_empty() {
        true => String::new(),
        false => format!(" {{\n{properties}}}"),
    }
}

/// Whether several ways of it are taken at once.
fn forks(node: &Node) -> bool {
    node.ways.iter().filter(|way| !way.conditional).count() > 1
}

/// How many ways lead to a node of the graph that nothing decides on.
fn arrows_to(graph: &Graph, node: &Node) -> usize {
    let leads = |way: &&Way| match way.target {
        Target::Node(to) => {
            !way.conditional && graph.nodes.get(to).is_some_and(|to| to.name == node.name)
        }
        _ => false,
    };
    graph
        .nodes
        .iter()
        .flat_map(|from| &from.ways)
        .filter(leads)
        .count()
}

fn target(graph: &Graph, target: &Target) -> String {
    match target {
        Target::Node(node) => graph
            .nodes
            .get(*node)
            .map(|node| node.name.clone())
            .unwrap_or_default(),
        Target::Parent(name) => format!("parent.{name}"),
        Target::End => "end".to_owned(),
    }
}

/// The targets of ways that are all taken. Beside others, an end says nothing.
fn places(graph: &Graph, ways: &[Way]) -> String {
    let ends = ways.len() > 1;
    let ways = ways.iter().filter(|way| !ends || way.target != Target::End);
    let places: Vec<String> = ways.map(|way| target(graph, &way.target)).collect();
    match places.is_empty() {
        true => "end".to_owned(),
        false => listed(&places),
    }
}

fn listed(places: &[String]) -> String {
    match places {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}
