//! What a node of LangGraph's gives back, `{"x": 1}`, `Command(goto="a", update={..})`, `[Send("a", {..}) for x in xs]`, and
//! targets that are chosen by an expression.

use super::super::text::{balanced, split};
use super::show::Writer;
use super::{Budget, Node, Types, listed, read};

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

/// `ChatOpenAI(model="gpt-5-mini", temperature=0)`, `"openai/gpt-5".with_fallbacks([small])`: what stands behind `model NAME =`.
pub fn model(text: &str, types: Types) -> Option<(String, usize)> {
    let (node, length) = read::read(text, &Budget::default(), false)?;
    let (named, settings) = made(&node, types)?;
    let settings = match settings.as_slice() {
        [] => String::new(),
        settings => format!(" {{ {} }}", settings.join(", ")),
    };
    let is_call = matches!(node, Node::Call(..));
    is_call.then_some((format!("\"{named}\"{settings}"), length))
}

/// The name of a model with its provider, and the settings that are given for it.
fn made(node: &Node, types: Types) -> Option<(String, Vec<String>)> {
    let (function, args) = match node {
        Node::Plain(text) if text.starts_with(['"', '\'']) => {
            return Some((node.bare()?.to_owned(), Vec::new()));
        }
        Node::Plain(name) => return declared(name, types),
        Node::Call(function, args) => (&**function, args),
        _ => return None,
    };
    let arg = |wanted: &[&str]| {
        let found = args
            .iter()
            .find(|(name, _)| wanted.contains(&name.as_str()));
        found.map(|(_, arg)| arg)
    };
    if let Node::Field(of, ".", method) = function {
        let (named, mut settings) = made(of, types)?;
        settings.push(match (method.as_str(), args.first()) {
            ("with_fallbacks", Some((_, Node::List(models)))) => {
                let models = models.iter().map(Node::path).collect::<Option<Vec<_>>>()?;
                format!("fallback [{}]", models.join(", "))
            }
            ("with_retry", _) => {
                let count = arg(&["stop_after_attempt"]).and_then(Node::path);
                format!("retry {}", count.unwrap_or_else(|| "3".to_owned()))
            }
            _ => return None,
        });
        return Some((named, settings));
    }
    let name = function.path()?;
    let (_, provider) = MODELS.iter().find(|(known, _)| *known == name)?;
    let named = arg(&["model", "model_name", ""])?.bare()?;
    let named = named.replacen(':', "/", 1);
    let mut settings = Vec::new();
    // Models that reason take none.
    let own = named.rsplit('/').next().unwrap_or_default();
    let reasons = ["gpt-5", "o1", "o3", "o4"];
    let reasons = reasons.iter().any(|one| own.starts_with(one));
    if let Some(value) = arg(&["temperature"]).filter(|_| !reasons) {
        settings.push(format!("temperature {}", float(&value.path()?)));
    }
    if let Some(value) = arg(&["max_tokens", "max_completion_tokens"]) {
        settings.push(format!("max_tokens {}", value.path()?));
    }
    if let Some(value) = arg(&["timeout", "request_timeout"]) {
        settings.push(format!("timeout {}s", value.path()?));
    }
    Some((format!("{provider}{named}"), settings))
}

/// The same of a model that the text declares.
fn declared(name: &str, types: Types) -> Option<(String, Vec<String>)> {
    let (_, declared) = types.text.split_once(&format!("model {name} = \""))?;
    let (named, behind) = declared.split_once('"')?;
    let inside = behind.trim_ascii_start().strip_prefix('{');
    let settings = inside.and_then(|inside| inside.get(..balanced(inside, '}')?));
    let lines = settings.unwrap_or_default().lines().flat_map(split);
    Some((named.to_owned(), lines.map(str::to_owned).collect()))
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
        Node::Plain(_) => Some(match node.bare()? {
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
                Some(format!("[{}]", listed(targets)?))
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
    listed(entries.iter().map(|(key, value)| {
        let name = key.bare()?;
        let inside = writer.clone().into_field(&format!("{name}:"));
        let quoted = Node::plain(name) != *key && super::word(name) == name;
        let value = quoted.then(|| inside.alone(value))??;
        Some(format!("{name}: {value}"))
    }))
}
