//! Random programs without a plan: nodes in a row, with edges, arms, jumps and joins to any of the next ones. Few are
//! clean; those that are have shapes that nobody thought of.

use std::fmt::Write as _;

use crate::dice::Dice;

impl Dice {
    fn condition(&mut self) -> String {
        match self.below(3) {
            0 => format!("state.k{}", self.below(3)),
            1 => format!("!state.k{}", self.below(3)),
            _ => format!("state.n % {} == 0", 2 + self.below(2)),
        }
    }
}

/// What the programs call: tools and graphs that write always, sometimes, or leave.
pub const CALLED: &str = r#"
tool note(text: string) -> string { set { f0: text } return text }
tool note_and_go(text: string) -> string { set { f1: text } goto n1 return text }

graph Always {
  state { in k0: bool, out f0: string }
  start { when state.k0 -> a  else -> b }
  node a: update -> end { set { f0: "a" } }
  node b: update -> end { set { f0: "b" } }
}

graph Sometimes {
  state { in k0: bool, in k1: bool, out f1: string = "" }
  start { when state.k0 -> a  when state.k1 -> end  else -> fail("no") }
  node a: update -> end { set { f1: "a" } }
}

graph Leaves leaves [n1] {
  state { in k0: bool, in k1: bool, out f0: string, out log: list<string> via append }
  start { when state.k0 -> parent.n1 { set { f0: "left" } }  when state.k1 -> [a, b]  else -> a }
  node a: update -> end { set { f0: "a" } }
  node b: update -> end { set { log: ["b"] } }
}
"#;

pub struct Program<'a> {
    pub dice: &'a mut Dice,
    pub count: usize,
    /// Fields are written by jumps: of joins, branches, caps and the entry, hardly by nodes.
    pub jumpy: bool,
}

impl Program<'_> {
    pub fn text(&mut self) -> String {
        let first = |dice: &mut Dice| match dice.one_in(2) {
            true => " = \"\"",
            false => "",
        };
        let mut text = format!(
            "graph Main {{\n  state {{ in k0: bool, in k1: bool, in k2: bool, in xs: list<int>, n: int via add = 0, f0: string{}, f1: string{}, out o: string{}, out log: list<string> via append }}\n",
            first(self.dice),
            first(self.dice),
            if self.jumpy { " = \"\"" } else { "" },
        );
        if self.dice.one_in(6) {
            let rounds = 1 + self.dice.below(3);
            writeln!(text, "  exit when state.n > {rounds}").unwrap();
        }
        let start = match self.jumpy {
            true => self.jump(0),
            false => self.several(0),
        };
        writeln!(text, "  start -> {start}").unwrap();
        let mut joined = Vec::new();
        for _ in 0..self.dice.below(3) {
            let (a, b) = (self.dice.below(self.count), self.dice.below(self.count));
            if a != b && !joined.contains(&a) && !joined.contains(&b) {
                let to = match self.jumpy {
                    true => self.jump(a.max(b) + 1),
                    false => self.target(a.max(b) + 1),
                };
                writeln!(text, "  [n{a}, n{b}] -> {to}").unwrap();
                joined.extend([a, b]);
            }
        }
        for at in 0..self.count {
            let node = self.node(at, joined.contains(&at));
            text += &node;
        }
        text + "}\n"
    }

    /// A node behind that number, mostly one of the next, the end, or at times one before.
    fn target(&mut self, behind: usize) -> String {
        let at = match self.dice.below(10) {
            // Few of the others are clean: what goes round, or is not come to, is an error.
            0 | 1 | 3.. if self.jumpy => behind,
            0 => self.dice.below(self.count),
            1 => self.count,
            2 => behind + 1,
            _ => behind,
        };
        match at < self.count {
            true => format!("n{at}"),
            false => "end".to_owned(),
        }
    }

    fn several(&mut self, behind: usize) -> String {
        let (a, b) = (self.target(behind), self.target(behind + 1));
        match a == b || self.dice.one_in(2) {
            true => a,
            false => format!("[{a}, {b}]"),
        }
    }

    fn arms(&mut self, behind: usize) -> String {
        let first = self.jump(behind);
        let condition = self.dice.condition();
        let second = self.jump(behind + 1);
        format!("{{ when {condition} -> {first} else -> {second} }}")
    }

    fn jump(&mut self, behind: usize) -> String {
        let to = match self.dice.below(8) {
            0 if self.count > 2 && !self.jumpy => {
                let then = match self.dice.one_in(2) {
                    true => format!(" then {}", self.several(behind + 1)),
                    false => String::new(),
                };
                format!("each x in state.xs -> n2 with {{ x: x }}{then}")
            }
            1 => self.several(behind),
            _ if self.jumpy => self.several(behind),
            _ => self.target(behind),
        };
        // `then` takes no update; a list as a whole does.
        let to = match to.contains(" then ") {
            true => format!("[{to}]"),
            false => to,
        };
        let often = if self.jumpy { 3 } else { 6 };
        match self.dice.one_in(often) {
            true if self.jumpy => format!("{to} {{ set {{ f{}: \"x\" }} }}", self.dice.below(2)),
            true => format!("{to} {{ set {{ {} }} }}", self.write()),
            false => to,
        }
    }

    fn write(&mut self) -> String {
        let kind = match self.jumpy && !self.dice.one_in(8) {
            true => 8,
            false => self.dice.below(9),
        };
        match kind {
            0 => "f0: \"x\"".to_owned(),
            1 => "f1: \"x\"".to_owned(),
            2 => "o: \"x\"".to_owned(),
            3 | 4 => format!("log: [state.f{}]", self.dice.below(2)),
            _ => "n: 1".to_owned(),
        }
    }

    fn node(&mut self, at: usize, joined: bool) -> String {
        let behind = at + 1;
        let last = at + 1 == self.count;
        let kind = match self.dice.below(16) {
            _ if last => "update".to_owned(),
            0 if !joined => "branch".to_owned(),
            8..=9 if self.jumpy && !joined => "branch".to_owned(),
            1..=5 if self.jumpy => "update".to_owned(),
            1 => "call note(text: \"x\")".to_owned(),
            2 => "call note_and_go(text: \"x\")".to_owned(),
            3 => "subgraph Always".to_owned(),
            4 => "subgraph Sometimes".to_owned(),
            5 => "subgraph Leaves".to_owned(),
            6 | 7 if !joined => "interrupt".to_owned(),
            _ => "update".to_owned(),
        };
        let (branch, asks) = (kind == "branch", kind == "interrupt");
        let mut text = format!("  node n{at}: {kind}");
        let on = match () {
            () if joined => String::new(),
            () if branch => format!("goto {}", self.arms(behind)),
            () if asks && self.dice.one_in(2) => {
                let (yes, no) = (self.jump(behind), self.jump(behind + 1));
                format!("goto {{ when answer -> {yes} else -> {no} }}")
            }
            () if self.dice.one_in(3) => format!("goto {}", self.arms(behind)),
            () => {
                text += &format!(" -> {}", self.several(behind));
                String::new()
            }
        };
        let mut lines = vec![on];
        if asks {
            lines.push("ask \"go on?\" expect bool".to_owned());
            if self.dice.one_in(2) {
                lines.push(format!("timeout 7d -> {}", self.jump(behind)));
            }
        }
        if kind.contains("note_and_go") || kind.contains("Leaves") {
            let all: Vec<String> = (0..self.count).map(|at| format!("n{at}")).collect();
            lines.push(format!("ends [{}, end]", all.join(", ")));
        }
        if !branch {
            if at == 2 {
                lines.push("input { x: int = 0 }".to_owned());
            }
            if last {
                lines.push("set { o: \"x\", log: [\"x\"] }".to_owned());
            } else if self.dice.one_in(2) {
                lines.push(format!("set {{ {} }}", self.write()));
            }
            if self.dice.one_in(6) {
                let to = match self.dice.one_in(2) {
                    true => format!(" -> {}", self.jump(behind)),
                    false => String::new(),
                };
                lines.push(format!("skip when {}{to}", self.dice.condition()));
            }
            if self.dice.one_in(6) {
                lines.push(format!("require {}", self.dice.condition()));
                if self.dice.one_in(2) {
                    lines.push(format!("on_error -> {}", self.jump(behind)));
                }
            }
            if self.dice.one_in(if self.jumpy { 2 } else { 5 }) {
                let limit = 1 + self.dice.below(2);
                lines.push(format!("max_visits {limit} -> {}", self.jump(behind)));
            }
            if self.dice.one_in(8) {
                lines.push("defer".to_owned());
            }
        }
        let lines: Vec<String> = lines.into_iter().filter(|l| !l.is_empty()).collect();
        if !lines.is_empty() {
            text += &format!(" {{\n    {}\n  }}", lines.join("\n    "));
        }
        text + "\n"
    }
}
