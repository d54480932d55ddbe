//! Calls by which other libraries build a graph or a node of it, `graph.add_edge("a", "b")`, and the line that is written for one.

use super::expression::{self, Types, jump};
use super::text::{balanced, split};

/// What is written for a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuilderCall {
    /// The line; empty where nothing is written for it.
    pub line: String,
    /// What to do.
    pub help: String,
    /// Whether the line says all that the call does.
    pub whole: bool,
    /// How long the call is.
    pub length: usize,
}

/// The call that a text begins with, what it is called on before it or not.
pub fn read(text: &str, types: Types) -> Option<BuilderCall> {
    let (head, inside) = text
        .split_once('(')
        .filter(|(head, _)| !head.contains('\n'))?;
    // `app = graph.compile()`
    let odd = |c: char| !(c.is_ascii_alphanumeric() || "_.= ".contains(c));
    let call = head
        .rsplit('=')
        .next()
        .filter(|_| !head.contains(odd))?
        .trim_ascii();
    let method = call.rsplit('.').next()?;
    let [form, place, whole] = super::rows(TABLE, method).next()?;
    let end = balanced(inside, ')')?;
    let args = split(inside.get(..end)?);
    let stops = args
        .iter()
        .find_map(|arg| arg.strip_prefix("interrupt_before="));
    let (form, place, whole) = match stops.filter(|_| method == "compile") {
        Some(_) => (STOP, STOPPED, false),
        None => (form, place, whole == "all"),
    };
    let stop = stops.and_then(|stops| {
        stops
            .trim_matches(['[', ']', '"', '\''])
            .split(['"', '\''])
            .next()
    });
    let mut line = form.replace("STOP", stop.unwrap_or("NODE"));
    if line.contains("FIELDS") {
        let (given, _) = jump::given(args.first()?, types)?;
        line = line.replace("FIELDS", given.fields()?);
    }
    if line.contains("VALUE") {
        let value =
            expression::expression(args.first().filter(|arg| !arg.starts_with('{'))?, types)?;
        line = line.replace("VALUE", &value);
    }
    if line.contains("TOOLS") {
        let tools = args.iter().find_map(|arg| {
            arg.strip_prefix("tools=")
                .or(arg.strip_prefix('[').map(|_| *arg))
        });
        line = line.replace("TOOLS", tools?.trim_ascii());
        let own = text
            .split(['=', '('])
            .next()
            .unwrap_or("agent")
            .trim_ascii();
        let own = if own == method { "agent" } else { own };
        line = line.replace("NAME", own);
    }
    if line.contains("ARMS") {
        line = line.replace("ARMS", &arms(args.get(2).copied().unwrap_or("")));
        if node(args.first()?) == "start" {
            line = line.replacen("goto", "start", 1);
        }
    }
    let first = args.first().map(|arg| node(arg));
    let place = place.replace("STOP", stop.unwrap_or("NODE"));
    let place = place.replace("FIRST", first.as_deref().unwrap_or("NAME"));
    for (place, arg) in ["FIRST", "SECOND"].into_iter().zip(&args) {
        line = line.replace(place, &node(arg));
    }
    if line.contains("FIRST") || line.contains("SECOND") {
        return None;
    }
    Some(BuilderCall {
        help: match line.as_str() {
            "" => "take it out: a graph is ready as it is written".to_owned(),
            line if line.starts_with("start {") => {
                format!("write `{line}` in the braces of the graph")
            }
            line => format!("write `{line}` {place}"),
        },
        line,
        whole,
        length: head.len() + 1 + end + 1,
    })
}

/// `class Triage(BaseModel):` with its fields: what is declared in its place.
pub fn class(text: &str, types: Types) -> Option<String> {
    let mut lines = text.lines();
    let head = lines
        .next()?
        .strip_prefix("class ")?
        .trim_ascii_end()
        .strip_suffix(':')?;
    let (name, bases) = head.split_once('(').unwrap_or((head, ""));
    let mut fields = Vec::new();
    let indented = lines.take_while(|line| line.starts_with([' ', '\t']) || line.is_empty());
    for line in indented
        .map(str::trim_ascii)
        .filter(|line| !line.is_empty())
    {
        let Some((field, rest)) = line.split_once(':') else {
            // `LOW = "low"`
            if let Some((_, value)) = line.split_once('=').filter(|_| bases.contains("Enum")) {
                fields.push(value.trim_ascii().trim_matches(['"', '\'']).to_owned());
            }
            continue;
        };
        let ty = super::ty::read(rest.trim_ascii_start())?;
        let default = rest.trim_ascii_start().get(ty.length..)?.trim_ascii_start();
        let default = default
            .strip_prefix('=')
            .filter(|value| !value.contains("Field("));
        let default = default.and_then(|value| expression::first(value, types));
        fields.push(match default {
            Some((value, _)) => format!("{field}: {} = {value}", ty.here),
            None => format!("{field}: {}", ty.here),
        });
    }
    let fields = fields.join(", ");
    Some(match bases {
        _ if fields.is_empty() => return None,
        bases if bases.contains("Enum") => format!("write `enum {name} {{ {fields} }}`"),
        bases if bases.contains("TypedDict") || name.contains("State") => {
            format!(
                "write `state {{ {fields} }}` in the graph, with `in` before what a caller gives and `out` before what it reads"
            )
        }
        _ => format!("write `type {name} {{ {fields} }}`"),
    })
}

/// `def search(query: str, k: int = 5) -> str:` with its docstring: the tool that is declared in its place.
pub fn tool(text: &str, types: Types) -> Option<String> {
    let head = text.strip_prefix("async ").unwrap_or(text);
    let (name, inside) = head.strip_prefix("def ")?.split_once('(')?;
    let end = balanced(inside, ')')?;
    let params = split(inside.get(..end)?).into_iter().map(|param| {
        let (name, written) = param.split_once(':')?;
        let ty = super::ty::read(written.trim_ascii())?.here;
        let default = written.split_once('=').map(|(_, value)| value);
        let default = default.and_then(|value| expression::expression(value, types));
        Some(format!(
            "{name}: {ty}{}",
            default.map_or(String::new(), |value| format!(" = {value}"))
        ))
    });
    let params = params.collect::<Option<Vec<_>>>()?.join(", ");
    let (result, body) = inside.get(end + 1..)?.split_once(":\n")?;
    let result = result.trim_ascii().strip_prefix("->").map(str::trim_ascii);
    let result = result.map_or(Some("string".to_owned()), |ty| {
        Some(super::ty::read(ty)?.here)
    })?;
    let quoted = body.trim_ascii_start().strip_prefix("\"\"\"");
    let doc = quoted.and_then(|text| {
        text.split(['\n', '"'])
            .find(|line| !line.trim_ascii().is_empty())
    });
    let doc = doc.map_or(String::new(), |doc| {
        format!(", on the line before it `/// {}`,", doc.trim_ascii())
    });
    Some(format!(
        "write `tool {name}({params}) -> {result}`{doc} and bind what it does in graphc.yaml"
    ))
}

/// The arms of a route to the nodes that a list or a dictionary names.
fn arms(to: &str) -> String {
    let inside = to.trim_matches(['[', ']', '{', '}']);
    let targets = split(inside)
        .into_iter()
        .filter(|part| !part.contains("=") && !part.is_empty());
    let targets = targets.map(|part| node(part.rsplit(':').next().unwrap_or(part).trim_ascii()));
    let mut targets: Vec<String> = targets.collect();
    let last = targets.pop().unwrap_or_else(|| "end".to_owned());
    if targets.is_empty() {
        targets.push("NODE".to_owned());
    }
    let arms = targets
        .iter()
        .map(|target| format!("when CONDITION -> {target}  "));
    format!("{}else -> {last}", arms.collect::<String>())
}

/// A node as an edge names it.
fn node(arg: &str) -> String {
    match arg.trim_matches(['"', '\'']) {
        "START" | "__start__" => "start".to_owned(),
        "END" | "__end__" => "end".to_owned(),
        // `["a", "b"]`
        list if list.starts_with('[') => list.replace(['"', '\''], ""),
        name => name.to_owned(),
    }
}

/// What asks before a node.
const STOP: &str = "interrupt gate before STOP { ask \"Go on?\"  expect bool }";

const STOPPED: &str =
    "in the braces of the graph, and `skip when !gate -> end` in those of node `STOP`";

/// Methods, what is written for them and where, whether that is all.
static TABLE: &str = "
add_edge/addEdge => FIRST -> SECOND => in the braces of the graph => all
set_entry_point/setEntryPoint => start -> FIRST => in the braces of the graph => all
set_finish_point/setFinishPoint => FIRST -> end => in the braces of the graph => all
add_node/addNode => node FIRST: update { set { field: value } } => in the braces of the graph
add_conditional_edges/addConditionalEdges => goto { ARMS } => in the braces of node `FIRST`
compile/StateGraph =>  => in the braces of the graph => all
with_structured_output/withStructuredOutput => output FIRST => in the braces of the node => all
bind_tools/bindTools => tools FIRST => in the braces of the node => all
invoke/ainvoke => messages VALUE => in the braces of the `llm` node that asks the model
create_react_agent/create_agent => node NAME: agent -> end { model FIRST  messages state.messages  tools TOOLS  set { messages: transcript } } => in the braces of the graph
writer/get_stream_writer/dispatch_custom_event => emit EVENT { FIELDS } => in the braces of the node, and declare `event EVENT { .. }` beside the graphs
";
