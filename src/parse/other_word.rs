//! Words that begin an entry of some list, but not of this one: what other languages call so, and what stands elsewhere.

use crate::base::foreign::expression::jump;

use super::grammar::Rule;
use super::keyword;

/// The keyword for what other languages call so.
pub fn other_word(word: &str, only: Rule) -> Option<&'static str> {
    let found = RENAMED
        .iter()
        .find(|(rules, words, _)| rules.contains(&only) && words.split(' ').any(|own| own == word));
    found.map(|(.., meant)| *meant)
}

/// What to do about a word that no single keyword stands for, and that a text begins with.
pub fn advice(word: &str, only: Rule, slice: &str) -> Option<String> {
    let found = ADVICE
        .iter()
        .find(|(rule, words, _)| *rule == only && words.split(' ').any(|own| own == word));
    let plain = found.map(|(.., help)| *help);
    let help = plain.or_else(|| moved(word, only))?;
    let line = slice.lines().next().unwrap_or("");
    let value = line
        .strip_prefix(word)
        .unwrap_or("")
        .trim_matches([' ', '=', ':']);
    let value = match value {
        "" => "..".to_owned(),
        // `temperature` and `top_p` are no whole numbers.
        number if word.starts_with('t') => jump::float(number),
        value => value.to_owned(),
    };
    let quoted = line
        .split(['"', '\''])
        .nth(1)
        .filter(|name| super::mistake::first_word(name) == *name);
    if word == "from"
        && let Some((module, names)) = imported(line)
    {
        return Some(format!("write `import {{ {names} }} from \"{module}\"`"));
    }
    let node = quoted.unwrap_or("NODE");
    // `match state.x:`
    let subject = line.strip_prefix("match ").or(line.strip_prefix("switch "));
    let subject = subject.map(|of| of.trim_matches([' ', ':', '{']));
    let arm = subject.map(|of| format!("when {of} == .. -> .."));
    Some(
        help.replace("when .. -> ..", arm.as_deref().unwrap_or("when .. -> .."))
            .replace("VALUE", &value)
            .replace("WORD", word)
            .replace("NODE", node),
    )
}

/// `from std.messages import x`, `from .other import Doc`: a file or a module of the language, and the names.
fn imported(line: &str) -> Option<(String, &str)> {
    let (module, names) = line.strip_prefix("from ")?.split_once(" import ")?;
    let module = module.trim_ascii().trim_matches(['"', '\'']);
    let module = match module.strip_prefix('.') {
        Some(file) if !file.starts_with(['.', '/']) => {
            format!("./{}.graph", file.replace('.', "/"))
        }
        None if module.starts_with("std") => module.replace('.', "/"),
        _ => return None,
    };
    Some((module, names.trim_ascii()))
}

/// Where an entry goes that stands in the wrong list.
fn moved(word: &str, only: Rule) -> Option<&'static str> {
    Some(match only {
        Rule::only_member if keyword::PROPERTIES.contains(&word) => {
            "it stands in the braces of a node: `node NAME: KIND { WORD .. }`"
        }
        Rule::only_member if keyword::ITEMS.contains(&word) => "move it out of the graph",
        Rule::only_property if keyword::MEMBERS.contains(&word) => {
            "move it out of the node, into the graph"
        }
        Rule::only_property if keyword::ITEMS.contains(&word) => "move it out of the graph",
        Rule::only_item if keyword::MEMBERS.contains(&word) => {
            "it stands in a graph: `graph NAME { WORD .. }`"
        }
        Rule::only_item if keyword::PROPERTIES.contains(&word) => {
            "it stands in a node of a graph: `graph NAME { node x: KIND { WORD .. } }`"
        }
        Rule::only_interrupt if keyword::PROPERTIES.contains(&word) => {
            "only a node has it: `node NAME: interrupt { ask ..  WORD .. }`"
        }
        Rule::only_tool_line if keyword::PROPERTIES.contains(&word) => {
            "it stands in the node that calls the tool"
        }
        _ => return None,
    })
}

/// Lists, words, the keyword that was meant.
static RENAMED: &[(&[Rule], &str, &str)] = &[
    (&[Rule::only_arm], "if case elif", "when"),
    (&[Rule::only_arm], "otherwise default _", "else"),
    (
        &[Rule::only_property],
        "needs requires assert guard",
        "require",
    ),
    (
        &[Rule::only_property],
        "loop_limit max_visit max_loops",
        "max_visits",
    ),
    (
        &[Rule::only_property],
        "max_iterations max_steps max_rounds max_calls",
        "max_turns",
    ),
    (
        &[Rule::only_property],
        "catch onerror error_handler",
        "on_error",
    ),
    (
        &[Rule::only_property],
        "next route then routes jump",
        "goto",
    ),
    (
        &[Rule::only_property],
        "schema response response_format structured_output result_type output_type",
        "output",
    ),
    (
        &[Rule::only_property, Rule::only_update],
        "write assign update store",
        "set",
    ),
    (&[Rule::only_tool_line], "write assign writes", "set"),
    (
        &[Rule::only_property],
        "user human question user_prompt user_message",
        "prompt",
    ),
    (
        &[Rule::only_property],
        "instructions instruction system_prompt system_message",
        "system",
    ),
    (
        &[Rule::only_property],
        "tool functions toolset toolkit",
        "tools",
    ),
    (
        &[Rule::only_property, Rule::only_member],
        "retries attempts max_retries max_attempts",
        "retry",
    ),
    (
        &[Rule::only_property],
        "history chat_history conversation",
        "messages",
    ),
    (
        &[Rule::only_member],
        "max_steps max_iterations step_limit max_supersteps",
        "recursion_limit",
    ),
    (
        &[Rule::only_member],
        "var vars fields variables channels schema data",
        "state",
    ),
    (
        &[Rule::only_member],
        "config constants configurable",
        "context",
    ),
    (
        &[Rule::only_item],
        "struct record interface class typedef alias dataclass schema message",
        "type",
    ),
    (
        &[Rule::only_item],
        "union enumeration choice choices variant variants oneof",
        "enum",
    ),
    (
        &[Rule::only_item],
        "workflow flow pipeline subgraph",
        "graph",
    ),
    (&[Rule::only_item], "use include using load", "import"),
    (&[Rule::only_item], "llm", "model"),
    (&[Rule::only_item], "tools toolkit", "toolset"),
    (
        &[Rule::only_interrupt],
        "message question text prompt show title",
        "ask",
    ),
    (
        &[Rule::only_interrupt],
        "answer type schema output response returns expects",
        "expect",
    ),
    (
        &[Rule::only_tool_line],
        "result output returns give yield",
        "return",
    ),
    (
        &[Rule::only_tool_line],
        "assert check guard ensure requires",
        "require",
    ),
    (&[Rule::only_migration], "remove delete", "drop"),
    (&[Rule::only_migration], "move", "rename"),
    (
        &[Rule::only_cache],
        "expires expiry timeout duration max_age for",
        "ttl",
    ),
    (&[Rule::only_cache], "by on keys", "key"),
];

/// List, words, what to do; `WORD` stands for the word.
static ADVICE: &[(Rule, &str, &str)] = &[
    (
        Rule::only_member,
        "input inputs in parameters params args",
        "what a caller gives are `in` fields of the state: `state { in q: string }`",
    ),
    (
        Rule::only_member,
        "output outputs out returns return result",
        "what a caller reads are `out` fields of the state: `state { out a: string }`",
    ),
    (
        Rule::only_member,
        "entry entry_point entrypoint begin set_entry_point",
        "write `start -> NODE`",
    ),
    (
        Rule::only_member,
        "llm agent update branch call subgraph extern",
        "write `node NAME: WORD { .. }`",
    ),
    (
        Rule::only_member,
        "nodes steps step task tasks state_node add_node",
        "each node is written by itself: `node NAME: KIND { .. }`",
    ),
    (
        Rule::only_member,
        "edges add_edge connect link",
        "each edge is written by itself: `a -> b`",
    ),
    (
        Rule::only_member,
        "if switch match when else conditional route router add_conditional_edges",
        "conditions stand in the `goto` of a node: `goto { when .. -> ..  else -> .. }`",
    ),
    (
        Rule::only_member,
        "for foreach each loop while",
        "a node for each element is a target: `goto each x in xs -> NODE with { .. }`; a loop is an edge back",
    ),
    (
        Rule::only_member,
        "interrupt_before",
        "write `interrupt gate before NODE { ask \"Go on?\"  expect bool }`, and `skip when !gate -> end` in the braces of node `NODE`",
    ),
    (
        Rule::only_member,
        "interrupt_after",
        "write `interrupt seen after NODE { ask \"Go on?\"  expect bool }`, and let the `goto` of `NODE` read `seen`",
    ),
    (
        Rule::only_member,
        "memory checkpointer checkpoint store",
        "state is kept by itself; where to is set in graphc.yaml",
    ),
    (
        Rule::only_property,
        "temperature top_p max_tokens seed stop reasoning effort thinking thinking_budget base_url provider api_key",
        "it belongs to the model: `model NAME = \"..\" { WORD VALUE }`",
    ),
    (
        Rule::only_property,
        "fallback fallbacks with_fallbacks",
        "another model is named by the model, `model NAME = \"..\" { fallback [OTHER] }`, another node by `on_error -> OTHER`",
    ),
    (
        Rule::only_property,
        "try except finally",
        "what fails leads to a node: `on_error -> OTHER`",
    ),
    (
        Rule::only_property,
        "description desc doc comment title",
        "what a node is for stands before it, behind `///`",
    ),
    (
        Rule::only_property,
        "return returns result",
        "write `set { field: value }`",
    ),
    (
        Rule::only_property,
        "if switch match case while",
        "write `goto { when .. -> ..  else -> .. }`; a value that depends on a condition is `condition ? value : other`",
    ),
    (
        Rule::only_property,
        "for",
        "a list is made by `xs.map(x, value)` and `xs.filter(x, condition)`; a node runs for each element by `goto each x in xs -> NODE with { x: x }`",
    ),
    (
        Rule::only_property,
        "print logging logger",
        "take it out: `graphc run --stream debug` shows all that a node does, and `emit EVENT { .. }` tells who reads the run",
    ),
    (
        Rule::only_item,
        "tools",
        "write `tools VALUE` in the node that has them",
    ),
    (
        Rule::only_property,
        "args arguments params parameters",
        "values stand behind the name of the tool or graph, `call TOOL(name: value)`, or in `with { .. }` of a `subgraph`",
    ),
    (
        Rule::only_property,
        "type kind",
        "the kind stands in the head: `node NAME: llm { .. }`",
    ),
    (
        Rule::only_property,
        "call run execute invoke function",
        "one node calls one tool: `node NAME: call TOOL(..)`",
    ),
    (
        Rule::only_property,
        "approve human_input confirm interrupt_before interrupt_after",
        "write `interrupt NAME before NODE { ask \"..\"  expect bool }` in the graph, or a node of the kind `interrupt`",
    ),
    (
        Rule::only_item,
        "from",
        "take it out, the language needs no modules; from another file it is `import { NAME } from \"./file.graph\"`",
    ),
    (
        Rule::only_member,
        "def func fn async function",
        "write `node NAME: update { set { field: value } }`; what a program does is a tool, which a node calls: `node NAME: call TOOL(..)`",
    ),
    (
        Rule::only_property,
        "interrupt",
        "a person is asked by a node, `node NAME: interrupt -> NEXT { ask \"..\"  expect string  set { field: answer } }`, or by `interrupt NAME before NODE { .. }` in the graph",
    ),
    (
        Rule::only_item,
        "def func fn async proc",
        "what a node does stands in a graph, `node NAME: update { set { field: value } }`, which node is next in its `goto { when .. -> ..  else -> .. }`; what a program does is a `tool NAME(x: T) -> T`, bound in graphc.yaml; what puts writes together a `reducer`",
    ),
    (
        Rule::only_item,
        "const let var",
        "a constant is a parameter of a graph: `graph NAME(n: int = 3)`",
    ),
    (
        Rule::only_item,
        "agent step task",
        "an agent is a node of a graph: `graph NAME { node x: agent { .. } }`",
    ),
    (
        Rule::only_item,
        "export public pub",
        "every item can be imported: take it out",
    ),
    (
        Rule::only_item,
        "provider config secret env profile",
        "that is set in graphc.yaml",
    ),
    (
        Rule::only_tool_line,
        "description desc doc",
        "what a tool does stands before it, behind `///`",
    ),
    (
        Rule::only_tool_line,
        "command url http run call exec script",
        "how a tool is reached is set in graphc.yaml, under `tools`",
    ),
    (
        Rule::only_tool_line,
        "if when switch",
        "write `goto { when .. -> ..  else -> .. }`, or `require CONDITION else \"why\"`",
    ),
];
