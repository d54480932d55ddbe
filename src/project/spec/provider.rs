//! How a provider is reached: an entry of `providers` in `graphc.yaml`.

use std::fmt;
use std::time::Duration;

use serde_json::{Map as JsonMap, Value as Json};

use crate::base::secret::{Secret, Secrets};

/// The protocol that a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// OpenAI's chat completions, and every server that speaks them.
    OpenAi,
    /// OpenAI's responses.
    OpenAiResponses,
    /// Anthropic's messages.
    Anthropic,
    /// Google's `generateContent`.
    Gemini,
}

impl Kind {
    /// All, by their words in `graphc.yaml`.
    pub const ALL: [(&'static str, Kind); 4] = [
        ("openai", Kind::OpenAi),
        ("openai-responses", Kind::OpenAiResponses),
        ("anthropic", Kind::Anthropic),
        ("gemini", Kind::Gemini),
    ];

    /// Its word, which parts of messages that only it reads have as well.
    pub fn word(self) -> &'static str {
        let all = Self::ALL.iter();
        let own = all.into_iter().find(|(_, kind)| *kind == self);
        own.map_or("", |(word, _)| word)
    }

    /// Where the provider itself is that speaks it.
    pub fn base_url(self) -> &'static str {
        match self {
            Kind::OpenAi | Kind::OpenAiResponses => "https://api.openai.com/v1",
            Kind::Anthropic => "https://api.anthropic.com/v1",
            Kind::Gemini => "https://generativelanguage.googleapis.com/v1beta",
        }
    }

    /// The variable with that provider's key.
    pub fn key_variable(self) -> &'static str {
        match self {
            Kind::OpenAi | Kind::OpenAiResponses => "OPENAI_API_KEY",
            Kind::Anthropic => "ANTHROPIC_API_KEY",
            Kind::Gemini => "GEMINI_API_KEY",
        }
    }

    /// Settings of a model that it has no way to say. They are left out of a request; a check says so.
    pub fn lacks(self) -> &'static [&'static str] {
        match self {
            Kind::OpenAi => &["thinking_budget"],
            Kind::OpenAiResponses => &["thinking_budget", "seed"],
            Kind::Anthropic => &["seed"],
            Kind::Gemini => &[],
        }
    }

    /// The ways in which it can be asked for structured output; the first is taken where none is named.
    pub fn ways(self) -> &'static [(&'static str, Structured)] {
        const SCHEMA: (&str, Structured) = ("json_schema", Structured::JsonSchema);
        const OBJECT: (&str, Structured) = ("json_object", Structured::JsonObject);
        const TOOL: (&str, Structured) = ("tool", Structured::Tool);
        const PROMPT: (&str, Structured) = ("prompt", Structured::Prompt);
        match self {
            Kind::OpenAi | Kind::OpenAiResponses | Kind::Gemini => &[SCHEMA, OBJECT, PROMPT],
            Kind::Anthropic => &[SCHEMA, TOOL, PROMPT],
        }
    }
}

/// Where the key comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApiKey {
    /// The server wants none.
    None,
    /// This one.
    Given(Secret),
    /// This environment variable should hold it and doesn't; a call fails and says so.
    Missing(String),
}

/// How the form of a structured reply is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Structured {
    /// The server keeps the reply to the schema.
    #[default]
    JsonSchema,
    /// The server keeps the reply to JSON; the schema is in the system message.
    JsonObject,
    /// The reply is the arguments of a tool that must be called.
    Tool,
    /// The schema in the system message only.
    Prompt,
}

/// How long Anthropic keeps the beginning of a request for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptCache {
    /// Five minutes.
    Short,
    /// An hour.
    Long,
}

/// How a provider is reached.
#[derive(Clone, PartialEq)]
pub struct Settings {
    /// Its name in `graphc.yaml`.
    pub name: String,
    /// What it speaks.
    pub kind: Kind,
    /// What the paths of the protocol are appended to, without a slash at the end.
    pub base_url: String,
    /// Key.
    pub api_key: ApiKey,
    /// Headers besides, such as `OpenAI-Organization`; they go before those of the protocol. Keys in them stand in `secrets` too.
    pub headers: Vec<(String, Secret)>,
    /// Parameters of every address, such as Azure's `api-version`.
    pub query: Vec<(String, String)>,
    /// Longest time of one call.
    pub timeout: Option<Duration>,
    /// Longest silence of a reply that comes in pieces, before its first piece too. Each piece begins it anew.
    pub idle_timeout: Option<Duration>,
    /// Most calls at the same time, each to the end of its reply.
    pub max_concurrency: Option<usize>,
    /// Chat completions' name of the field for the most tokens: `max_completion_tokens` at OpenAI, `max_tokens` elsewhere.
    pub max_tokens_field: String,
    /// How the form of a structured reply is asked for.
    pub structured: Structured,
    /// Whether Anthropic is asked to keep the beginning of each request.
    pub prompt_cache: Option<PromptCache>,
    /// Fields put into every request for a reply, over those that it has by itself: objects entry by entry, `null` takes a field out.
    pub extra_body: JsonMap<String, Json>,
    /// What must not be told besides the key, such as what the environment gives to headers.
    pub secrets: Secrets,
}

impl Settings {
    /// A provider of that name and kind at that address, without a key.
    pub fn new(name: impl Into<String>, kind: Kind, base_url: &str) -> Self {
        let base_url = base_url.trim_end_matches('/');
        let own = base_url == Kind::OpenAi.base_url();
        Self {
            name: name.into(),
            kind,
            base_url: base_url.to_owned(),
            api_key: ApiKey::None,
            headers: Vec::new(),
            query: Vec::new(),
            timeout: None,
            idle_timeout: None,
            max_concurrency: None,
            max_tokens_field: match own {
                true => "max_completion_tokens".to_owned(),
                false => "max_tokens".to_owned(),
            },
            structured: Structured::default(),
            prompt_cache: None,
            extra_body: JsonMap::new(),
            secrets: Secrets::default(),
        }
    }

    /// Adds what must not be told.
    pub fn add_secrets(&self, to: &mut Secrets) {
        to.add_all(&self.secrets);
        if let ApiKey::Given(key) = &self.api_key {
            to.add(key);
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            kind,
            base_url,
            api_key,
            headers,
            timeout,
            ..
        } = self;
        let mut text = format!("{name} at {base_url}, {api_key:?}, {headers:?}, {timeout:?}");
        if *kind != Kind::OpenAi {
            text = format!("{}: {text}", kind.word());
        }
        let (most, field, way) = (
            self.max_concurrency,
            &self.max_tokens_field,
            self.structured,
        );
        text = format!("{text}, {most:?}, {field}, {way:?}, {:?}", self.extra_body);
        if !self.query.is_empty() {
            text = format!("{text}, query {:?}", self.query);
        }
        if let Some(cache) = self.prompt_cache {
            text = format!("{text}, cache {cache:?}");
        }
        if let Some(idle) = self.idle_timeout {
            text = format!("{text}, idle {idle:?}");
        }
        f.write_str(&self.secrets.scrub(&text))
    }
}
