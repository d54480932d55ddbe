//! What a provider says of its models: the list, and each by itself. Both requests cost nothing; no reply is asked for.

use std::sync::{Arc, OnceLock};

use reqwest::{Method, StatusCode};
use serde_json::Value as Json;

use crate::backend::wire::{self, Bounds, Failure, PROBE};
use crate::base::name;
use crate::run::probe::{Probed, Problem};

use super::provider::{LIMIT, Provider};
use crate::project::spec::provider::ApiKey;

/// A provider and its list of models, once it was asked for.
pub struct Listing {
    provider: Arc<Provider>,
    listed: OnceLock<Listed>,
}

/// What the provider has said of its list.
enum Listed {
    Names(Vec<String>),
    /// It has none.
    Nowhere,
}

/// What a request for something came to.
enum Answer {
    Json(Json),
    /// A page, or nothing that can be read.
    Other,
    /// There is no such thing: 404 or 405.
    NotThere(StatusCode),
}

impl Listing {
    /// A list that was not asked for yet.
    pub fn new(provider: Arc<Provider>) -> Self {
        Self {
            provider,
            listed: OnceLock::new(),
        }
    }

    /// Asks for the list: shows that the server answers and takes the key.
    pub async fn probe(&self) -> Probed {
        if let ApiKey::Missing(variable) = &self.provider.settings.api_key {
            let message = format!("the environment variable `{variable}` with its key is not set");
            return Problem::missing(message).help("set it").into();
        }
        let path = self.provider.protocol.models();
        let list = path.split('?').next().unwrap_or_default();
        let help =
            "whether the key and the models are right shows only a call; is `base_url` right?";
        match self.ask(path).await {
            Ok(Answer::Json(json)) => match names(&json) {
                Some(models) => {
                    let count = models.len();
                    let _ = self.listed.set(Listed::Names(models));
                    Probed::Ok(format!("answers, lists models: {count}"))
                }
                None => {
                    let _ = self.listed.set(Listed::Nowhere);
                    let message = format!("answers `{list}` with no list of models");
                    Problem::warning(message).help(help).into()
                }
            },
            Ok(Answer::NotThere(status)) => {
                let _ = self.listed.set(Listed::Nowhere);
                let message = format!("answers, and has no list of models (`{list}`: {status})");
                Problem::warning(message).help(help).into()
            }
            Ok(Answer::Other) => {
                let message = format!("answers `{list}` with a page or a text, not with JSON");
                Problem::missing(message)
                    .help("is `base_url` right?")
                    .into()
            }
            Err(failure) => failure.problem().into(),
        }
    }

    /// Whether the provider has a model: by the list, else by asking for it by name, since short names of models are often not listed.
    pub async fn has(&self, model: &str) -> Probed {
        let names = match self.listed.get() {
            Some(Listed::Names(names)) => Some(names),
            Some(Listed::Nowhere) => None,
            None => return Probed::Skipped("its provider gave no list".to_owned()),
        };
        // Ollama lists `NAME:latest` for what is asked as `NAME`.
        let latest = format!("{model}:latest");
        let mut listed = names.into_iter().flatten();
        if listed.any(|one| one == model || *one == latest) {
            return Probed::Ok(format!("`{model}` is listed"));
        }
        match (self.ask(&self.provider.protocol.model(model)).await, names) {
            (Ok(Answer::Json(_)), _) => Probed::Ok(format!("`{model}` is known by its name")),
            (Err(failure), _) => failure.problem().into(),
            (_, None) => Probed::Skipped("its provider has no list of models".to_owned()),
            (_, Some(names)) => self.unlisted(model, names),
        }
    }

    fn unlisted(&self, model: &str, all: &[String]) -> Probed {
        let provider = &self.provider.settings.name;
        let message = format!("provider `{provider}` lists no model `{model}`");
        let names = || all.iter().map(String::as_str);
        // A suffix behind `:` may say how a model is served, as at OpenRouter.
        let variant = model
            .rsplit_once(':')
            .filter(|(of, _)| names().any(|one| one == *of));
        let problem = match variant {
            Some((of, _)) => {
                let help =
                    format!("it lists `{of}`; only a call shows whether it knows this variant");
                return Problem::warning(message).help(help).into();
            }
            None => Problem::missing(message),
        };
        let near = name::did_you_mean(model, names());
        let help = near.unwrap_or_else(|| match all.len() {
            0 => "its list is empty: install a model there".to_owned(),
            1..=8 => format!("it lists {}", name::list(names())),
            count => format!("it lists {count} others"),
        });
        problem.help(help).into()
    }

    async fn ask(&self, path: &str) -> Result<Answer, Failure> {
        let (provider, bounds) = (&self.provider, Bounds::of(PROBE));
        let peer = provider.peer();
        let get = provider.request(Method::GET, path, "")?;
        let response = wire::answer(get, peer, &bounds).await?;
        match response.status() {
            status @ (StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED) => {
                Ok(Answer::NotThere(status))
            }
            status if !status.is_success() => Err(wire::refused(response, peer, &bounds).await),
            _ => {
                let bytes = wire::body(response, LIMIT, peer, &bounds).await?;
                let json = serde_json::from_slice(&bytes).ok();
                Ok(json.map_or(Answer::Other, Answer::Json))
            }
        }
    }
}

/// The names in a list: `{"data": [{"id": ..}]}`, Google's `{"models": [{"name": "models/.."}]}`, or the list by itself.
fn names(json: &Json) -> Option<Vec<String>> {
    let list = json.get("data").or_else(|| json.get("models"));
    let list = list.unwrap_or(json).as_array()?;
    let names = list.iter().filter_map(|model| {
        let name = model.get("id").or_else(|| model.get("name"))?.as_str()?;
        Some(name.strip_prefix("models/").unwrap_or(name).to_owned())
    });
    Some(names.collect())
}
