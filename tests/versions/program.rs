//! Random programs that wait for a person, and random changes of them.

use std::fmt::Write as _;

use crate::dice::Dice;

#[derive(Clone, PartialEq)]
pub enum Work {
    Update,
    Call(usize),
    Ask,
}

#[derive(Clone)]
pub struct Node {
    name: String,
    work: Work,
    /// How many ids it makes up ahead of its work.
    ids: usize,
    /// Interrupts before it.
    gates: Vec<String>,
    writes: Option<usize>,
    reads: Option<usize>,
}

#[derive(Clone, Default)]
pub struct Field {
    default: bool,
    untracked: bool,
}

/// Stages one after the other; the nodes of one run side by side and are joined.
#[derive(Clone)]
pub struct Program {
    fields: Vec<Field>,
    nodes: Vec<Node>,
    /// In the order in which they run.
    pub stages: Vec<Vec<String>>,
    tools: Vec<[&'static str; 2]>,
}

const TOOLS: [&str; 3] = ["one", "two", "three"];

impl Program {
    /// One at random.
    pub fn random(dice: &mut Dice) -> Self {
        let fields = (0..3).map(|_| Field {
            default: !dice.one_in(3),
            untracked: dice.one_in(6),
        });
        let fields = fields.collect();
        let mut program = Self {
            fields,
            nodes: Vec::new(),
            stages: Vec::new(),
            tools: vec![["name", "more"]; TOOLS.len()],
        };
        let asks = dice.below(3);
        for stage in 0..3 + dice.below(2) {
            let mut names = Vec::new();
            for of in 0..1 + dice.below(5) / 3 {
                let name = format!("n{stage}{of}");
                let work = match dice.below(3) {
                    _ if stage == asks && of == 0 => Work::Ask,
                    0 => Work::Update,
                    _ => Work::Call(dice.below(TOOLS.len())),
                };
                program.nodes.push(Node {
                    name: name.clone(),
                    work,
                    ids: dice.below(2),
                    gates: (0..dice.below(6) / 3)
                        .map(|at| format!("g{at}{name}"))
                        .collect(),
                    writes: dice.one_in(3).then(|| dice.below(3)),
                    reads: dice.one_in(3).then(|| dice.below(3)),
                });
                names.push(name);
            }
            program.stages.push(names);
        }
        program
    }

    /// Changes one thing.
    pub fn change(&mut self, dice: &mut Dice) {
        let (field, stage) = (dice.below(3), dice.below(self.stages.len()));
        let node = dice.below(self.nodes.len());
        let other = dice.below(self.nodes.len());
        match dice.below(16) {
            0 => self.fields[field].default = !self.fields[field].default,
            1 => {
                self.fields[field].default = false;
                self.nodes[0].writes = Some(field);
            }
            2 => self.fields[field].untracked = !self.fields[field].untracked,
            3 => {
                if let Work::Call(tool) = &mut self.nodes[node].work {
                    *tool = dice.below(TOOLS.len());
                }
            }
            4 | 5 => self.nodes.swap(node, other),
            6 => self.stages[stage].reverse(),
            7 if self.stages[stage].len() > 1 => {
                let last = self.stages[stage].pop().unwrap();
                self.stages.insert(stage + 1, vec![last]);
            }
            7 | 8 => {
                if stage + 1 < self.stages.len() {
                    let next = self.stages.remove(stage + 1);
                    self.stages[stage].extend(next);
                }
            }
            9 => {
                let name = format!("new{}", self.nodes.len());
                self.stages.push(vec![name.clone()]);
                self.nodes.push(Node {
                    name,
                    work: Work::Update,
                    ids: 0,
                    gates: Vec::new(),
                    writes: None,
                    reads: Some(field),
                });
            }
            12 => self.nodes[node].ids += 1,
            13 | 14 => {
                let gates = &mut self.nodes[node].gates;
                let name = format!("new{}{}", gates.len(), self.nodes[node].name);
                self.nodes[node].gates.insert(0, name);
            }
            15 => self.nodes[node].gates.reverse(),
            10 => self.tools[field].reverse(),
            _ => {
                let gone = self.nodes.remove(node).name;
                for stage in &mut self.stages {
                    stage.retain(|name| *name != gone);
                }
                self.stages.retain(|stage| !stage.is_empty());
            }
        }
    }

    /// Its source.
    pub fn text(&self) -> String {
        let mut text = "type Ok { ok: bool }\n".to_owned();
        for (tool, [a, b]) in TOOLS.iter().zip(&self.tools) {
            writeln!(text, "/// Calls.\ntool {tool}({a}: string, {b}: string) -> string @effect(write) @timeout(9s)").unwrap();
        }
        text += "graph Main {\n  state {\n    out o: string = \"\"\n    out log: list<string> via append\n";
        for (at, field) in self.fields.iter().enumerate() {
            let untracked = if field.untracked { "untracked " } else { "" };
            let default = if field.default { " = \"\"" } else { "" };
            writeln!(text, "    {untracked}x{at}: string via any_last{default}").unwrap();
        }
        text += "  }\n";
        let list = |names: &[String]| match names {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let mut from = "start".to_owned();
        for stage in &self.stages {
            writeln!(text, "  {from} -> {}", list(stage)).unwrap();
            from = list(stage);
        }
        writeln!(text, "  {from} -> last").unwrap();
        for node in &self.nodes {
            let Node { name, work, .. } = node;
            for gate in &node.gates {
                writeln!(
                    text,
                    "  interrupt {gate} before {name} {{ ask \"?\" expect Ok }}"
                )
                .unwrap();
            }
            let ids = (0..node.ids).map(|at| format!("let id{at} = uuid() "));
            let ids: String = ids.collect();
            let read = node.reads.map(|at| format!(" + state.x{at}"));
            let read = read.unwrap_or_default();
            let write = node.writes.map(|at| format!(", x{at}: \"{name}\""));
            let write = write.unwrap_or_default();
            let (work, value) = match work {
                Work::Update => ("update {".to_owned(), format!("\"{name}\"")),
                Work::Call(tool) => (
                    format!("call {}(name: \"{name}\", more: \"\") {{", TOOLS[*tool]),
                    "result".to_owned(),
                ),
                Work::Ask => (
                    "interrupt { ask \"?\" expect Ok".to_owned(),
                    format!("(answer.ok ? \"{name}\" : \"no\")"),
                ),
            };
            writeln!(
                text,
                "  node {name}: {work} {ids}set {{ log: [{value}{read}]{write} }} }}"
            )
            .unwrap();
        }
        text + "  node last: update -> end { set { o: \"done\" } }\n}\n"
    }
}
