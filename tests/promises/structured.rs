//! Random programs that are right by construction: regions with one way in and one way out, put inside each other,
//! with what every way has written known at each place. A mutated program has one slip in it: most are refused, and those
//! that are not must run right.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::dice::Dice;

/// What the programs call.
const CALLED: &str = r#"
enum Color { red, green, blue }
type Page { url: string, note: string? }
type Mail { body: string, note: string? }

tool note(text: string) -> string { set { f0: text } return text }
tool leave(text: string, go: bool) -> string { require go else "no" set { f1: text } goto there return text }

graph Always {
  state { in k0: bool, out f2: string }
  start { when state.k0 -> a  else -> b }
  node a: update -> end { set { f2: "a" } }
  node b: update -> end { set { f2: "b" } }
}

graph Sometimes {
  state { in k0: bool, in k1: bool, out f3: string = "", out log: list<string> via append }
  start { when state.k0 -> a  when state.k1 -> fail("no")  else -> [a, b] }
  node a: update -> end { set { f3: "a" } }
  node b: update -> end { set { log: ["b"] } }
}

graph Leaves leaves [there] {
  state { in k0: bool, in k1: bool, out f2: string, out log: list<string> via append }
  start { when state.k0 -> parent.there { set { log: ["left"] } }  when state.k1 -> [a, b]  else -> a }
  node a: update -> end { set { f2: "a" } }
  node b: update -> end { set { log: ["b"] } }
}

/// So that some instance reaches all of its nodes.
graph Twice = Sum(twice: true)

graph Sum(twice: bool) {
  state { in x: int, out n: int via add = 0 }
  start -> a
  node a: update {
    set { n: state.x }
    goto { when params.twice -> b  else -> end }
  }
  node b: update -> end { set { n: 1 } }
}
"#;

/// The fields without a first value; the called tools and graphs write some of them.
const FIELDS: usize = 6;

/// A program, and which forms of the language it has.
pub struct Generated {
    pub text: String,
    pub features: BTreeSet<&'static str>,
    /// Whether a slip was made in it.
    pub mutated: bool,
}

/// A program with or without a slip.
pub fn program(dice: &mut Dice, mutated: bool) -> Generated {
    let mut generator = Generator {
        dice,
        nodes: Vec::new(),
        joins: Vec::new(),
        holes: Vec::new(),
        counters: 0,
        features: BTreeSet::new(),
        slip: None,
        places: 0,
    };
    if mutated {
        generator.slip = Some(generator.dice.below(24));
    }
    let text = generator.graph();
    Generated {
        text: text + CALLED,
        mutated: mutated && generator.slip.is_none(),
        features: generator.features,
    }
}

/// Fields that have a value on every way.
type Known = BTreeSet<usize>;

/// A place that a region leads on to, known when what stands there has been made.
#[derive(Clone, Copy)]
struct Hole(usize);

/// What a region may do where it stands.
#[derive(Clone)]
struct Context {
    known: Known,
    /// The fields that nothing beside it writes.
    own: BTreeSet<usize>,
    depth: usize,
    /// Beside others, where a jump away would leave a join waiting.
    beside: bool,
    /// The fields that arms around this place have asked of: asked again, an arm may never be taken.
    asked: BTreeSet<&'static str>,
}

struct Generator<'a> {
    dice: &'a mut Dice,
    nodes: Vec<String>,
    joins: Vec<String>,
    holes: Vec<String>,
    counters: usize,
    features: BTreeSet<&'static str>,
    /// The place, counted in the order of generation, at which the slip is made.
    slip: Option<usize>,
    places: usize,
}

impl Generator<'_> {
    fn graph(&mut self) -> String {
        let first: Known = (0..FIELDS).filter(|_| self.dice.one_in(4)).collect();
        let context = Context {
            known: first.clone(),
            own: (0..FIELDS).collect(),
            depth: 0,
            beside: false,
            asked: BTreeSet::new(),
        };
        let end = self.hole();
        let (entry, known) = self.sequence(context.clone(), end);
        let read = self.read(&Context { known, ..context });
        let lines = [format!("set {{ o: {read}, log: [\"end\"] }}")];
        let last = self.node("update -> end", &lines);
        self.fill(end, &last);
        let mut fields = String::new();
        for field in 0..FIELDS {
            let value = if first.contains(&field) {
                " = \"\""
            } else {
                ""
            };
            writeln!(fields, "    f{field}: string{value}").unwrap();
        }
        for counter in 0..self.counters {
            writeln!(fields, "    c{counter}: int via add = 0").unwrap();
        }
        let mut text = format!(
            "graph Main {{\n  state {{\n    in k0: bool, in k1: bool, in k2: bool, in xs: list<int>, in e: Color, in u: Page | Mail, in opt: string?\n    \
             n: int via add = 0, out o: string, out log: list<string> via append\n{fields}  }}\n  start -> {entry}\n"
        );
        for item in self.joins.iter().chain(&self.nodes) {
            text += &format!("  {item}\n");
        }
        text += "}\n";
        self.filled(&text)
    }

    fn hole(&mut self) -> Hole {
        self.holes.push(String::new());
        Hole(self.holes.len() - 1)
    }

    fn fill(&mut self, hole: Hole, target: &str) {
        target.clone_into(&mut self.holes[hole.0]);
    }

    /// The text with each hole's target in its place, also where that is another hole.
    fn filled(&self, text: &str) -> String {
        let mut text = text.to_owned();
        while let Some(at) = text.find("<#") {
            let end = at + text[at..].find('>').unwrap();
            let hole: usize = text[at + 2..end].parse().unwrap();
            text.replace_range(at..=end, &self.holes[hole]);
        }
        text
    }

    fn target(hole: Hole) -> String {
        format!("<#{}>", hole.0)
    }

    fn node(&mut self, head: &str, lines: &[String]) -> String {
        let name = format!("m{}", self.nodes.len());
        let body = match lines.is_empty() {
            true => String::new(),
            false => format!(" {{\n    {}\n  }}", lines.join("\n    ")),
        };
        self.nodes.push(format!("node {name}: {head}{body}"));
        name
    }

    fn feature(&mut self, name: &'static str) {
        self.features.insert(name);
    }

    /// Whether the slip is to be made here.
    fn slips(&mut self) -> bool {
        self.places += 1;
        let here = self.slip.is_some_and(|at| at < self.places);
        if here {
            self.slip = None;
        }
        here
    }

    /// An expression that has a value wherever these fields have one.
    fn read(&mut self, context: &Context) -> String {
        if self.slips() {
            return format!("state.f{}", self.dice.below(FIELDS));
        }
        let fields: Vec<usize> = context.known.iter().copied().collect();
        let field = match fields.is_empty() {
            true => "\"x\"".to_owned(),
            false => format!("state.f{}", fields[self.dice.below(fields.len())]),
        };
        match self.dice.below(7) {
            0 => {
                self.feature("guard of a null");
                format!("(state.opt == null ? {field} : state.opt)")
            }
            1 if !context.asked.contains("u") => {
                self.feature("guard of a union");
                format!("(has(state.u.url) ? state.u.url : {field})")
            }
            2 => format!("(state.k{} ? {field} : \"z\")", self.dice.below(3)),
            3 => "\"x\"".to_owned(),
            _ => field,
        }
    }

    /// Writes of a node, and the field that they surely give a value to.
    fn write(&mut self, context: &Context) -> (String, Option<usize>) {
        let read = self.read(context);
        if self.slips() {
            let field = self.dice.below(FIELDS);
            return (format!("set {{ f{field}: {read} }}"), Some(field));
        }
        let own: Vec<usize> = context.own.iter().copied().collect();
        match self.dice.below(4) {
            0 => (format!("set {{ log: [{read}] }}"), None),
            1 => ("set { n: 1 }".to_owned(), None),
            _ if own.is_empty() => (format!("set {{ log: [{read}] }}"), None),
            _ => {
                let field = own[self.dice.below(own.len())];
                (format!("set {{ f{field}: {read} }}"), Some(field))
            }
        }
    }

    /// A condition that nothing around this place has decided, and the field that it asks of.
    fn condition(&mut self, context: &Context) -> (String, &'static str) {
        let all = [
            ("state.e == Color.red", "e"),
            ("state.opt != null", "opt"),
            ("size(state.xs) > 1", "xs"),
            ("state.k0", "k0"),
            ("state.k1", "k1"),
            ("!state.k2", "k2"),
        ];
        let (text, field) = all[self.dice.below(all.len())];
        match context.asked.contains(field) {
            true => {
                let (by, rest) = (2 + self.dice.below(9), self.dice.below(2));
                (format!("state.n % {by} == {rest}"), "n")
            }
            false => (text.to_owned(), field),
        }
    }

    /// Regions one after the other: the first one's entry, and what is known behind the last.
    fn sequence(&mut self, mut context: Context, next: Hole) -> (String, Known) {
        let count = 1 + self.dice.below(if context.depth == 0 { 4 } else { 2 });
        let mut entry = None;
        let mut before: Option<Hole> = None;
        for at in 0..count {
            let on = if at + 1 == count { next } else { self.hole() };
            let (begin, known) = self.region(&context, on);
            if let Some(hole) = before {
                self.fill(hole, &begin);
            }
            entry.get_or_insert(begin);
            before = Some(on);
            context.known = known;
        }
        (entry.unwrap(), context.known)
    }

    fn region(&mut self, context: &Context, next: Hole) -> (String, Known) {
        if self.nodes.len() > 24 {
            return self.step(context, next);
        }
        match self.dice.below(if context.depth < 3 { 18 } else { 7 }) {
            0 | 1 => self.step(context, next),
            2 => self.call(context, next),
            3 => self.subgraph(context, next),
            4 => self.guarded(context, next),
            5 => self.skipped(context, next),
            6 => self.send(context, next),
            7..=9 => self.branch(context, next),
            10..=13 => self.fork(context, next),
            14 => self.circle(context, next),
            15 | 16 => self.ask(context, next),
            _ => self.leaves(context, next),
        }
    }

    fn step(&mut self, context: &Context, next: Hole) -> (String, Known) {
        let (set, field) = self.write(context);
        let head = format!("update -> {}", Self::target(next));
        let mut known = context.known.clone();
        known.extend(field);
        (self.node(&head, &[set]), known)
    }

    /// A tool with a body, which writes `f0`.
    fn call(&mut self, context: &Context, next: Hole) -> (String, Known) {
        if !context.own.contains(&0) {
            return self.step(context, next);
        }
        self.feature("tool that writes");
        let read = self.read(context);
        let head = format!("call note(text: {read}) -> {}", Self::target(next));
        let mut known = context.known.clone();
        known.insert(0);
        (self.node(&head, &[]), known)
    }

    fn subgraph(&mut self, context: &Context, next: Hole) -> (String, Known) {
        let on = Self::target(next);
        let mut known = context.known.clone();
        match self.dice.below(3) {
            0 if context.own.contains(&2) => {
                self.feature("called graph that always writes");
                known.insert(2);
                (self.node(&format!("subgraph Always -> {on}"), &[]), known)
            }
            1 if context.own.contains(&3) => {
                self.feature("called graph that may write or fail");
                // What it never wrote is not given back.
                let handler = format!("on_error -> {on}");
                (
                    self.node(&format!("subgraph Sometimes -> {on}"), &[handler]),
                    known,
                )
            }
            _ => {
                self.feature("called graph with a parameter");
                let twice = self.dice.one_in(2);
                let with = "with { x: size(state.xs) }".to_owned();
                let head = format!("subgraph Sum(twice: {twice}) -> {on}");
                (self.node(&head, &[with]), known)
            }
        }
    }

    /// A node that may fail, with a handler.
    fn guarded(&mut self, context: &Context, next: Hole) -> (String, Known) {
        self.feature("on_error");
        let (set, field) = self.write(context);
        let (condition, _) = self.condition(context);
        let on = Self::target(next);
        let mut known = context.known.clone();
        let handler = match field {
            Some(field) if self.dice.one_in(2) && !self.slips() => {
                known.insert(field);
                format!("on_error -> {on} {{ set {{ f{field}: \"failed\" }} }}")
            }
            _ => format!("on_error -> {on}"),
        };
        let require = format!("require {condition}");
        let head = format!("update -> {on}");
        (self.node(&head, &[require, set, handler]), known)
    }

    fn skipped(&mut self, context: &Context, next: Hole) -> (String, Known) {
        self.feature("skip");
        let (set, _) = self.write(context);
        let on = Self::target(next);
        let (condition, _) = self.condition(context);
        let to = match self.dice.one_in(2) {
            true => format!(" -> {on}"),
            false => String::new(),
        };
        let mut lines = vec![format!("skip when {condition}{to}"), set];
        if self.dice.one_in(4) {
            self.feature("max_visits");
            lines.push(format!("max_visits {} -> {on}", 1 + self.dice.below(2)));
        }
        (
            self.node(&format!("update -> {on}"), &lines),
            context.known.clone(),
        )
    }

    /// Tasks for each element, and the way on beside them or behind them all.
    fn send(&mut self, context: &Context, next: Hole) -> (String, Known) {
        let write = match self.slips() {
            true => format!("f{}: \"x\"", self.dice.below(FIELDS)),
            false => "n: input.x, log: [string(input.x)]".to_owned(),
        };
        let lines = ["input { x: int }".to_owned(), format!("set {{ {write} }}")];
        let then = self.dice.one_in(2);
        let kind = if then { "update" } else { "update -> end" };
        let worker = self.node(kind, &lines);
        let on = Self::target(next);
        let tasks = format!("each x in state.xs -> {worker} with {{ x: x }}");
        let to = match then {
            true => {
                self.feature("each with then");
                format!("{tasks} then {on}")
            }
            false => {
                self.feature("each");
                format!("[{tasks}, {on}]")
            }
        };
        let (set, field) = self.write(context);
        let mut known = context.known.clone();
        known.extend(field);
        (self.node(&format!("update -> {to}"), &[set]), known)
    }

    /// Arms that cover all there is, each with a region of its own or straight on.
    fn branch(&mut self, context: &Context, next: Hole) -> (String, Known) {
        let free = |field: &str| !context.asked.contains(field);
        let (mut conditions, field): (Vec<String>, _) = match self.dice.below(5) {
            0 if free("e") => {
                self.feature("arms over an enum");
                let member = |name| format!("when state.e == Color.{name}");
                (["red", "green", "blue"].map(member).into(), "e")
            }
            1 if free("u") => {
                self.feature("arms over a union");
                let kind = |name| format!("when has(state.u.{name})");
                (["url", "body"].map(kind).into(), "u")
            }
            2 if free("opt") => {
                self.feature("arms over a null");
                let null = |sign| format!("when state.opt {sign} null");
                (["==", "!="].map(null).into(), "opt")
            }
            _ => {
                let (condition, field) = self.condition(context);
                (vec![format!("when {condition}"), "else".to_owned()], field)
            }
        };
        let mut inner = context.clone();
        inner.depth += 1;
        inner.asked.insert(field);
        if self.slips() {
            let at = self.dice.below(conditions.len());
            conditions.remove(at);
        }
        let mut all: Option<Known> = None;
        let mut arms = Vec::new();
        for condition in conditions {
            let (to, known) = match self.dice.one_in(4) {
                true => (Self::target(next), context.known.clone()),
                false => self.sequence(inner.clone(), next),
            };
            arms.push(format!("{condition} -> {to}"));
            all = Some(match all {
                Some(all) => all.intersection(&known).copied().collect(),
                None => known,
            });
        }
        let goto = format!("goto {{ {} }}", arms.join("  "));
        let name = match self.dice.one_in(2) {
            true => self.node("branch", &[goto]),
            false => {
                let (set, field) = self.write(context);
                all.as_mut().unwrap().extend(field);
                self.node("update", &[set, goto])
            }
        };
        (name, all.unwrap())
    }

    /// Ways beside each other that meet at a join, each with fields of its own.
    fn fork(&mut self, context: &Context, next: Hole) -> (String, Known) {
        self.feature("join");
        let ways = 2 + self.dice.below(2);
        let mut shares = vec![BTreeSet::new(); ways];
        // One stays for the join: a member and its join write in one super-step.
        let mut own = context.own.clone();
        let of_join: BTreeSet<usize> = own.pop_last().into_iter().collect();
        for field in &own {
            shares[self.dice.below(ways)].insert(*field);
        }
        let mut known = context.known.clone();
        let (mut begins, mut members) = (Vec::new(), Vec::new());
        for own in shares {
            let inner = Context {
                known: context.known.clone(),
                own,
                depth: context.depth + 1,
                beside: true,
                asked: context.asked.clone(),
            };
            let (begin, behind, member) = self.way_to_join(inner);
            known.extend(behind);
            begins.push(begin);
            members.push(member);
        }
        let update = match self.dice.one_in(4) {
            true => {
                self.feature("join with an update");
                let (set, field) = self.write(&Context {
                    known: known.clone(),
                    own: of_join,
                    ..context.clone()
                });
                known.extend(field);
                format!(" {{ {set} }}")
            }
            false => String::new(),
        };
        self.joins.push(format!(
            "[{}] -> {}{update}",
            members.join(", "),
            Self::target(next)
        ));
        let (set, field) = self.write(context);
        known.extend(field);
        let head = format!("update -> [{}]", begins.join(", "));
        (self.node(&head, &[set]), known)
    }

    /// A way to a member of a join: its entry, what is known behind it, and the member.
    fn way_to_join(&mut self, context: Context) -> (String, Known, String) {
        let to_member = self.hole();
        let (begin, known) = match self.dice.one_in(3) {
            true => (Self::target(to_member), context.known.clone()),
            false => self.sequence(context.clone(), to_member),
        };
        let asked = Context {
            known: known.clone(),
            ..context
        };
        let (set, field) = self.write(&asked);
        let mut head = "update".to_owned();
        let mut lines = vec![set];
        let mut behind = known;
        behind.extend(field);
        if self.slips() {
            let (condition, _) = self.condition(&asked);
            let earlier = self.nodes.len().saturating_sub(1);
            lines.push(match self.dice.below(3) {
                0 => format!("skip when {condition} -> end"),
                1 => format!("require {condition}\n    on_error -> m{earlier}"),
                _ => format!("max_visits 1 -> m{earlier}"),
            });
        } else if self.dice.one_in(3) {
            match self.dice.below(6) {
                0 => {
                    self.feature("a member that fails or ends the run");
                    let (condition, _) = self.condition(&asked);
                    lines.push(format!("require {condition}"));
                    lines.push("on_error -> fail(\"gone\")".to_owned());
                }
                1 => {
                    self.feature("a member that is full or ends the run");
                    lines.push("max_visits 2 -> fail(\"full\")".to_owned());
                }
                2 => {
                    self.feature("a member that is skipped");
                    let (condition, _) = self.condition(&asked);
                    lines.push(format!("skip when {condition}"));
                    field.inspect(|field| _ = behind.remove(field));
                    behind.extend(&asked.known);
                }
                3 => {
                    self.feature("a member that leads elsewhere too");
                    let side = self.node("update -> end", &["set { n: 1 }".to_owned()]);
                    head = format!("update -> {side}");
                }
                4 => {
                    self.feature("a member that jumps on an error and comes back");
                    let counter = self.counters;
                    self.counters += 1;
                    let tried = format!("set {{ c{counter}: 1 }}");
                    let (condition, _) = self.condition(&asked);
                    let on = Self::target(to_member);
                    let again = self.node(&format!("update -> {on}"), &[tried]);
                    lines.push(format!("require state.c{counter} > 0 || {condition}"));
                    lines.push(format!(
                        "on_error {{ when state.c{counter} < 1 -> {again}  else -> fail(\"gone\") }}"
                    ));
                }
                _ => {
                    self.feature("a member that is asked again when time is up");
                    head = "interrupt".to_owned();
                    let on = Self::target(to_member);
                    let again = self.node(&format!("update -> {on}"), &["set { n: 1 }".to_owned()]);
                    lines.push("ask \"yes?\"\n    expect bool".to_owned());
                    lines.push(format!("timeout 7d -> {again}"));
                }
            }
        }
        let member = self.node(&head, &lines);
        self.fill(to_member, &member);
        (begin, behind, member)
    }

    /// Round and round until a counter says enough.
    fn circle(&mut self, context: &Context, next: Hole) -> (String, Known) {
        if context.beside {
            return self.step(context, next);
        }
        self.feature("circle");
        let counter = self.counters;
        self.counters += 1;
        let back = self.hole();
        let mut inner = context.clone();
        inner.depth += 1;
        let (begin, _) = self.sequence(inner, back);
        let rounds = 1 + self.dice.below(3);
        let head = self.node(
            "update",
            &[
                format!("set {{ c{counter}: 1 }}"),
                format!(
                    "goto {{ when state.c{counter} <= {rounds} -> {begin}  else -> {} }}",
                    Self::target(next)
                ),
            ],
        );
        self.fill(back, &head);
        (head, context.known.clone())
    }

    /// A question, answered or not in time.
    fn ask(&mut self, context: &Context, next: Hole) -> (String, Known) {
        self.feature("interrupt");
        let own: Vec<usize> = context.own.iter().copied().collect();
        let mut lines = vec!["ask \"go on?\"".to_owned(), "expect bool".to_owned()];
        let mut known = context.known.clone();
        let field = own.first().copied();
        if let Some(field) = field {
            lines.push(format!("set {{ f{field}: answer ? \"yes\" : \"no\" }}"));
        }
        let on = Self::target(next);
        match self.dice.below(3) {
            0 => {
                self.feature("timeout of an interrupt");
                match field {
                    Some(field) if !self.slips() => {
                        known.insert(field);
                        lines.push(format!(
                            "timeout 7d -> {on} {{ set {{ f{field}: \"late\" }} }}"
                        ));
                    }
                    _ => lines.push(format!("timeout 7d -> {on}")),
                }
            }
            _ => known.extend(field),
        }
        let mut inner = context.clone();
        inner.depth += 1;
        inner.known.extend(field);
        let (yes, behind) = self.sequence(inner, next);
        known = known.intersection(&behind).copied().collect();
        lines.push(format!("goto {{ when answer -> {yes}  else -> {on} }}"));
        (self.node("interrupt", &lines), known)
    }

    /// A tool that jumps, or a called graph that leaves: what it writes is not certain behind it.
    fn leaves(&mut self, context: &Context, next: Hole) -> (String, Known) {
        let on = Self::target(next);
        let ends = format!("ends [there as {on}]");
        let name = match self.dice.one_in(2) && context.own.contains(&1) {
            true => {
                self.feature("tool that jumps");
                let (condition, _) = self.condition(context);
                let lines = [ends, format!("on_error -> {on}")];
                self.node(
                    &format!("call leave(text: \"x\", go: {condition}) -> {on}"),
                    &lines,
                )
            }
            false if context.own.contains(&2) => {
                self.feature("called graph that leaves");
                self.node(&format!("subgraph Leaves -> {on}"), &[ends])
            }
            false => return self.step(context, next),
        };
        (name, context.known.clone())
    }
}

/// How many forms there are that a program may have.
pub const FEATURES: usize = 27;

/// How many of the programs have each form.
pub fn shares(counts: &BTreeMap<&'static str, usize>, programs: usize) -> String {
    let one =
        |(name, count): (&&str, &usize)| format!("{name} {} %", count * 100 / programs.max(1));
    counts.iter().map(one).collect::<Vec<_>>().join(", ")
}
