//! `http` in `graphc.yaml`: a request made of templates over the arguments, and the part of the reply that is the result.
//!
//! [`template`] fills in the arguments, [`host`] says which servers they may lead to, [`select`] finds the part.

pub mod host;
pub mod select;
pub mod template;

use std::fmt;
use std::time::Duration;

use http::Method;
use serde_json::Value as Json;

use crate::base::secret::Secrets;

use host::HostRule;
use select::Selector;

/// The request of a tool: `http` in `graphc.yaml`. Texts are templates over `args`.
#[derive(Clone, PartialEq)]
pub struct HttpSpec {
    /// Method.
    pub method: Method,
    /// Address; arguments in it are percent-encoded.
    pub url: String,
    /// Headers.
    pub headers: Vec<(String, String)>,
    /// Query parameters; a list gives several of the same name, null none.
    pub query: Vec<(String, Json)>,
    /// JSON, or text that is sent as it is.
    pub body: Option<Json>,
    /// The part of the reply that is the result; all of it where there is none.
    pub result: Option<Selector>,
    /// Longest time of one call.
    pub timeout: Option<Duration>,
    /// Most calls at a time.
    pub max_concurrency: Option<usize>,
    /// What must not be told.
    pub secrets: Secrets,
    /// Hosts that arguments may lead to.
    pub hosts: Vec<HostRule>,
}

impl fmt::Debug for HttpSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, url, .. } = self;
        let parts = (&self.headers, &self.query, &self.body, &self.result);
        let text = format!("{method} {url} {parts:?} {:?}", self.timeout);
        f.write_str(&self.secrets.scrub(&text))
    }
}

/// Names of the arguments that a request uses, with the text that does.
///
/// # Errors
/// The text that is no template, and why.
pub fn arguments(spec: &HttpSpec) -> Result<Vec<(String, String)>, (String, String)> {
    let mut names = Vec::new();
    for text in texts(spec) {
        let used = template::arguments(text).map_err(|why| (text.to_owned(), why))?;
        names.extend(used.into_iter().map(|name| (name, text.to_owned())));
    }
    Ok(names)
}

/// Names of the run's secrets that a request uses.
pub fn secrets(spec: &HttpSpec) -> Vec<String> {
    let used = texts(spec).into_iter().flat_map(template::secrets);
    used.collect()
}

/// The templates of a request.
fn texts(spec: &HttpSpec) -> Vec<&str> {
    let mut texts: Vec<&str> = vec![&spec.url];
    texts.extend(spec.headers.iter().map(|(_, value)| value.as_str()));
    let trees = spec.query.iter().map(|(_, value)| value).chain(&spec.body);
    trees.for_each(|tree| gather(tree, &mut texts));
    texts
}

fn gather<'a>(tree: &'a Json, texts: &mut Vec<&'a str>) {
    match tree {
        Json::String(text) => texts.push(text),
        Json::Array(items) => items.iter().for_each(|item| gather(item, texts)),
        Json::Object(entries) => entries.values().for_each(|value| gather(value, texts)),
        _ => {}
    }
}
