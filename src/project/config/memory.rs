//! `memory`: how long-term memory works.

use std::time::Duration;

use crate::base::{Span, name};
use crate::diag::{Diagnostic, codes};
use crate::ir::memory::FieldPath;
use crate::project::spec::provider::Kind;
use crate::project::yaml::Cursor;

use super::Config;
use super::variables::{Form, Variables};

/// `memory: { embed: .., ttl: 30d, refresh_on_read: true }`
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemorySpec {
    /// What makes vectors of texts.
    pub embed: Option<EmbedSpec>,
    /// How long an item is kept that is put without a time of its own.
    pub ttl: Option<Duration>,
    /// Whether the time of an item begins anew when it is read.
    pub refresh_on_read: bool,
}

/// `embed: { provider: openai, model: text-embedding-3-small }`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedSpec {
    /// The provider, an entry of `providers`.
    pub provider: String,
    /// Where that is written.
    pub at: Span,
    /// The model there.
    pub model: String,
    /// How many numbers a vector is to have, where the model can choose.
    pub dimensions: Option<usize>,
    /// Where the texts stand in a value; none for all texts in it as one.
    pub fields: Vec<FieldPath>,
}

/// Reads the section.
pub fn read(cursor: &Cursor<'_>, variables: &Variables<'_>) -> Option<MemorySpec> {
    let table = cursor.table("`memory`", &["embed", "ttl", "refresh_on_read"])?;
    let embed = table.get("embed");
    let spec = embed.as_ref().map(|embed| read_embed(embed, variables));
    let ttl = table.get("ttl").map(|ttl| ttl.timeout());
    let refresh = table.get("refresh_on_read").map(|flag| flag.flag());
    Some(MemorySpec {
        embed: spec.map_or(Some(None), |spec| spec.map(Some))?,
        ttl: ttl.flatten(),
        refresh_on_read: refresh.flatten().unwrap_or(false),
    })
}

fn read_embed(cursor: &Cursor<'_>, variables: &Variables<'_>) -> Option<EmbedSpec> {
    let table = cursor.table("`embed`", &["provider", "model", "dimensions", "fields"])?;
    // What is wrong in one entry hides nothing in the next.
    let (provider, model) = (table.require("provider"), table.require("model"));
    let dimensions = table.get("dimensions");
    let count = dimensions.as_ref().and_then(|cursor| {
        let count = cursor.count().filter(|count| *count > 0);
        if count.is_none() && cursor.json().is_u64() {
            cursor.expected("at least 1");
        }
        usize::try_from(count?).ok()
    });
    let fields = table.get("fields").map_or(Vec::new(), |list| list.items());
    let fields = fields.iter().filter_map(|field| {
        let text = field.text()?;
        let path = FieldPath::parse(text);
        if path.is_none() {
            let message = format!("`{text}` is no place in a value");
            let help = "write one such as `title`, `author.name` or `parts[*].text`";
            field.report(field.finding(message).help(help));
        }
        path
    });
    let fields = fields.collect();
    let model = model.and_then(|model| variables.text(&model, Form::Plain));
    let at = provider.as_ref()?.span();
    Some(EmbedSpec {
        provider: provider?.text()?.to_owned(),
        at,
        model: model?,
        dimensions: count,
        fields,
    })
}

/// What is wrong with a provider that neither the file nor any of its profiles describes. One that only a profile has is left
/// to the runs with the others.
pub(super) fn unknown_providers(config: &Config, root: &Cursor<'_>) -> Vec<Diagnostic> {
    // By their names: what is wrong with one itself is reported there.
    let profiles = root.json().get("profiles").and_then(|all| all.as_object());
    let profiles = profiles.into_iter().flat_map(|all| all.values());
    let parts: Vec<_> = profiles.chain([root.json()]).collect();
    let described = |name: &str| {
        let mut written = parts.iter().filter_map(|part| part.get("providers"));
        config.providers.contains_key(name) || written.any(|all| all.get(name).is_some())
    };
    let embeds = config.parts.iter().filter_map(|part| {
        let memory = part.memory.as_ref()?;
        memory.value.embed.as_ref()
    });
    let unknown = embeds.filter(|embed| !described(&embed.provider));
    unknown
        .map(|embed| unknown_provider(embed, config))
        .collect()
}

/// That the provider speaks a protocol without vectors.
pub fn no_vectors(embed: &EmbedSpec, kind: Kind) -> Diagnostic {
    let (name, kind) = (embed.provider.as_str(), kind.word());
    let message = format!("provider `{name}` is of kind `{kind}`, which makes no vectors here");
    let help = "name a provider of kind `openai`";
    Diagnostic::new(&codes::INVALID_CONFIG, message, embed.at).help(help)
}

/// That nothing says how to reach the provider.
pub fn unknown_provider(embed: &EmbedSpec, config: &Config) -> Diagnostic {
    let name = embed.provider.as_str();
    let known = || config.providers.keys().map(String::as_str);
    let help = name::did_you_mean(name, known()).unwrap_or_else(|| {
        let known = name::list(known());
        format!("describe it under `providers` in graphc.yaml; there is {known}")
    });
    let message = format!("nothing says how to reach the provider `{name}` of memory's vectors");
    Diagnostic::new(&codes::INVALID_CONFIG, message, embed.at).help(help)
}
