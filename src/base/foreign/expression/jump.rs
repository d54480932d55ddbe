//! What a node of LangGraph's gives back, `{"x": 1}`, `Command(goto="a", update={..})`, `[Send("a", {..}) for x in xs]`, and
//! targets that are chosen by an expression.

use super::show::Writer;
use super::{Budget, Node, Types, read};

/// What is written for a value that a node gives back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// Fields: `x: 1`.
    Fields(String),
    /// What stands behind `goto`.
    Target(String),
}

impl Given {
    /// The fields that are written.
    pub fn fields(&self) -> Option<&str> {
        match self {
            Given::Fields(fields) => Some(fields),
            Given::Target(_) => None,
        }
    }

    /// It as a property of a node.
    pub fn property(&self) -> String {
        match self {
            Given::Fields(fields) => format!("set {{ {fields} }}"),
            Given::Target(target) => format!("goto {target}"),
        }
    }
}

/// What is written for the value that a text begins with, and how much of the text that is.
pub fn given(text: &str, types: Types) -> Option<(Given, usize)> {
    let writer = Writer::new(types);
    let (node, length) = writer.read(text)?;
    Some((of(&writer, &node)?, length))
}

fn of(writer: &Writer, node: &Node) -> Option<Given> {
    match node {
        Node::Map(entries) => Some(Given::Fields(fields(writer, entries)?)),
        Node::Call(function, args) if function.path().as_deref() == Some("Command") => {
            let arg = |wanted: &str| {
                args.iter()
                    .find(|(name, _)| name == wanted)
                    .map(|(_, arg)| arg)
            };
            let update = match arg("update") {
                Some(Node::Map(entries)) => Some(fields(writer, entries)?),
                Some(_) => return None,
                None => None,
            };
            let Some(goto) = arg("goto") else {
                return update.map(Given::Fields);
            };
            let parent = match arg("graph").and_then(Node::path).as_deref() {
                Some("Command.PARENT") => "parent.",
                Some(_) => return None,
                None => "",
            };
            let set = update.map_or(String::new(), |fields| format!(" {{ set {{ {fields} }} }}"));
            Some(Given::Target(arms(writer, goto, parent, &set)?))
        }
        node => Some(Given::Target(arms(writer, node, "", "")?)),
    }
}

/// Classes that stand for a model, and the provider.
static MODELS: [(&str, &str); 9] = [
    ("ChatOpenAI", "openai/"),
    ("ChatAnthropic", "anthropic/"),
    ("ChatGoogleGenerativeAI", "gemini/"),
    ("ChatMistralAI", "mistral/"),
    ("ChatOllama", "ollama/"),
    ("ChatGroq", "groq/"),
    ("ChatDeepSeek", "deepseek/"),
    ("AzureChatOpenAI", "azure/"),
    ("init_chat_model", ""),
];

/// `ChatOpenAI(model="gpt-5-mini", temperature=0)`: what stands behind `model NAME =`.
pub fn model(text: &str) -> Option<(String, usize)> {
    let (Node::Call(function, args), length) = read::read(text, &Budget::default())? else {
        return None;
    };
    let name = function.path()?;
    let (_, provider) = MODELS.iter().find(|(known, _)| *known == name)?;
    let arg = |wanted: &[&str]| {
        let found = args
            .iter()
            .find(|(name, _)| wanted.contains(&name.as_str()));
        found.and_then(|(_, arg)| arg.path())
    };
    let named = arg(&["model", "model_name", ""])?;
    let named = named.trim_matches(['"', '\'']).replacen(':', "/", 1);
    let mut settings = Vec::new();
    // Models that reason take none.
    let reasons = ["gpt-5", "o1", "o3", "o4"].iter().any(|one| {
        named
            .rsplit('/')
            .next()
            .is_some_and(|name| name.starts_with(one))
    });
    if let Some(value) = arg(&["temperature"]).filter(|_| !reasons) {
        settings.push(format!("temperature {}", float(&value)));
    }
    if let Some(value) = arg(&["max_tokens", "max_completion_tokens"]) {
        settings.push(format!("max_tokens {value}"));
    }
    if let Some(value) = arg(&["timeout", "request_timeout"]) {
        settings.push(format!("timeout {value}s"));
    }
    let settings = match settings.as_slice() {
        [] => String::new(),
        settings => format!(" {{ {} }}", settings.join(", ")),
    };
    Some((format!("\"{provider}{named}\"{settings}"), length))
}

/// A number as a `float`.
pub fn float(number: &str) -> String {
    match number.chars().all(|c| c.is_ascii_digit()) {
        true => format!("{number}.0"),
        false => number.to_owned(),
    }
}

/// Targets, one of which is chosen by a condition, each with what stands before and behind it.
fn arms(writer: &Writer, node: &Node, before: &str, behind: &str) -> Option<String> {
    let to = |node| Some(format!("{before}{}{behind}", target(writer, node)?));
    let mut arms = String::new();
    let mut node = node;
    while let Node::Choice(condition, value, other) = node {
        arms.push_str(&format!(
            "when {} -> {}  ",
            writer.asks(condition)?,
            to(value)?
        ));
        node = other;
    }
    match arms.as_str() {
        "" => to(node),
        arms => Some(format!("{{ {arms}else -> {} }}", to(node)?)),
    }
}

/// What leads to a node.
fn target(writer: &Writer, node: &Node) -> Option<String> {
    match node {
        Node::Plain(name) => Some(match name.trim_matches(['"', '\'']) {
            "END" | "__end__" => "end".to_owned(),
            name if super::word(name) == name && !name.is_empty() => name.to_owned(),
            _ => return None,
        }),
        Node::List(targets) => match targets.as_slice() {
            [only] => target(writer, only),
            targets => {
                let targets = targets.iter().map(|node| match sent(node) {
                    Some(_) => None,
                    None => target(writer, node),
                });
                Some(format!(
                    "[{}]",
                    targets.collect::<Option<Vec<_>>>()?.join(", ")
                ))
            }
        },
        Node::Each(_, each) => {
            let (to, entries) = sent(&each.value)?;
            let [name] = each.names.as_slice() else {
                return None;
            };
            let of = writer.operand(&each.of)?;
            let of = match &each.when {
                Some(when) => format!("{of}.filter({name}, {})", writer.asks(when)?),
                None => of,
            };
            Some(format!(
                "each {name} in {of} -> {} with {{ {} }}",
                target(writer, to)?,
                fields(writer, entries)?
            ))
        }
        Node::Call(..) => {
            let (to, entries) = sent(node)?;
            let fields = fields(writer, entries)?;
            Some(format!(
                "each one in [1] -> {} with {{ {fields} }}",
                target(writer, to)?
            ))
        }
        _ => None,
    }
}

/// `Send("node", {..})`: the node, and what it is sent.
fn sent(node: &Node) -> Option<(&Node, &[(Node, Node)])> {
    let Node::Call(function, args) = node else {
        return None;
    };
    match args.as_slice() {
        [(_, to), (_, Node::Map(entries))] if function.path().as_deref() == Some("Send") => {
            Some((to, entries))
        }
        _ => None,
    }
}

/// Entries of a dictionary as fields: `x: 1`.
fn fields(writer: &Writer, entries: &[(Node, Node)]) -> Option<String> {
    let fields = entries.iter().map(|(key, value)| {
        let Node::Plain(key) = key else {
            return None;
        };
        let name = key.trim_matches(['"', '\'']);
        let inside = writer.clone().into_field(&format!("{name}:"));
        let quoted = name.len() + 2 == key.len() && super::word(name) == name;
        Some(format!(
            "{name}: {}",
            quoted.then(|| inside.alone(value)).flatten()?
        ))
    });
    Some(fields.collect::<Option<Vec<_>>>()?.join(", "))
}
