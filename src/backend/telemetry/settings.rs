//! Where telemetry is sent, and what of: the standard variables of OpenTelemetry, and `telemetry` in `graphc.yaml`.

use std::time::Duration;

use percent_encoding::percent_decode_str;

use crate::backend::secret::{Secret, Secrets};
use crate::project::spec::address::web_address;
use crate::project::spec::telemetry::TelemetrySpec;

/// Longest wait for an answer of the receiver.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Where telemetry is sent, and what of.
#[derive(Debug, Clone, PartialEq)]
pub struct TelemetrySettings {
    /// Where spans are sent; nowhere where this is `None`.
    pub traces: Option<String>,
    /// Where metrics are sent; nowhere where this is `None`.
    pub metrics: Option<String>,
    /// Headers of each request.
    pub headers: Vec<(String, Secret)>,
    /// Which program it is of: `service.name` and others.
    pub resource: Vec<(String, String)>,
    /// Longest wait for an answer.
    pub timeout: Duration,
    /// Whether messages, arguments, results and the texts of errors are sent too.
    pub content: bool,
    /// What must not be told.
    pub secrets: Secrets,
    /// What the environment asks for and is not done, in words.
    pub warning: Option<String>,
}

impl TelemetrySettings {
    /// What the environment's variables say, over what `graphc.yaml` does; `None` where neither names a receiver.
    ///
    /// # Errors
    /// In words, where an address or a header can't be used.
    pub fn find(
        spec: Option<&TelemetrySpec>,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Self>, String> {
        let set = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        let is = |name: &str, word: &str| {
            set(name).is_some_and(|value| value.trim().eq_ignore_ascii_case(word))
        };
        if is("OTEL_SDK_DISABLED", "true") {
            return Ok(None);
        }
        let base = set("OTEL_EXPORTER_OTLP_ENDPOINT").or(spec.map(|spec| spec.otlp.clone()));
        let address = |signal: &str, path: &str| -> Result<Option<String>, String> {
            if is(&format!("OTEL_{signal}_EXPORTER"), "none") {
                return Ok(None);
            }
            let own = set(&format!("OTEL_EXPORTER_OTLP_{signal}_ENDPOINT"));
            let below = |base: &String| format!("{}/v1/{path}", base.trim_end_matches('/'));
            let address = own.or_else(|| base.as_ref().map(below));
            address.map(checked).transpose()
        };
        let traces = address("TRACES", "traces")?;
        let metrics = address("METRICS", "metrics")?;
        if traces.is_none() && metrics.is_none() {
            return Ok(None);
        }
        let mut headers = spec.map(|spec| spec.headers.clone()).unwrap_or_default();
        if let Some(list) = set("OTEL_EXPORTER_OTLP_HEADERS") {
            let given = pairs(&list, "OTEL_EXPORTER_OTLP_HEADERS")?;
            headers = given
                .into_iter()
                .map(|(name, value)| (name, Secret::new(value)))
                .collect();
        }
        let mut secrets = Secrets::default();
        secrets.extend(headers.iter().map(|(_, value)| value));
        let content = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
        let content = match set(content) {
            Some(_) => is(content, "true"),
            None => spec.is_some_and(|spec| spec.content),
        };
        let millis = set("OTEL_EXPORTER_OTLP_TIMEOUT").and_then(|text| text.parse().ok());
        Ok(Some(Self {
            traces,
            metrics,
            headers,
            resource: resource(spec, &set)?,
            timeout: millis.map_or(TIMEOUT, Duration::from_millis),
            content,
            secrets,
            warning: other_protocol(&set),
        }))
    }
}

/// Which program it is of. A variable goes before the file, `OTEL_SERVICE_NAME` before all.
fn resource(
    spec: Option<&TelemetrySpec>,
    set: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<(String, String)>, String> {
    let name = "OTEL_RESOURCE_ATTRIBUTES";
    let mut resource = match set(name) {
        Some(list) => pairs(&list, name)?,
        None => Vec::new(),
    };
    let is_name = |(key, _): &(String, String)| key == "service.name";
    if let Some(name) = set("OTEL_SERVICE_NAME") {
        resource.retain(|entry| !is_name(entry));
        resource.push(("service.name".to_owned(), name));
    }
    if !resource.iter().any(is_name) {
        let name = spec.and_then(|spec| spec.service_name.clone());
        let name = name.unwrap_or_else(|| "graphc".to_owned());
        resource.push(("service.name".to_owned(), name));
    }
    resource.extend([
        ("telemetry.sdk.name".to_owned(), "graphc".to_owned()),
        ("telemetry.sdk.language".to_owned(), "rust".to_owned()),
        (
            "telemetry.sdk.version".to_owned(),
            env!("CARGO_PKG_VERSION").to_owned(),
        ),
    ]);
    Ok(resource)
}

/// That another protocol is asked for than the one that is sent.
fn other_protocol(set: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let variables = [
        "OTEL_EXPORTER_OTLP_PROTOCOL",
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
        "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
    ];
    variables.into_iter().find_map(|variable| {
        let asked = set(variable)?;
        (asked.trim() != "http/json").then(|| {
            format!(
                "`{variable}` asks for `{}`; telemetry is sent as `http/json`, which collectors take at port 4318",
                asked.trim()
            )
        })
    })
}

fn checked(address: String) -> Result<String, String> {
    match web_address(&address).is_some() {
        true => Ok(address),
        // It may hold a password.
        false => Err(
            "the address of the OTLP receiver is none such as `http://localhost:4318`".to_owned(),
        ),
    }
}

/// `key=value,key=value`, percent-encoded.
fn pairs(list: &str, name: &str) -> Result<Vec<(String, String)>, String> {
    let entries = list.split(',').map(str::trim);
    let entries = entries.filter(|entry| !entry.is_empty());
    entries
        .map(|entry| {
            let decoded = |text: &str| {
                let text = percent_decode_str(text.trim()).decode_utf8();
                text.map(String::from).ok()
            };
            let pair = entry.split_once('=');
            pair.and_then(|(key, value)| Some((decoded(key)?, decoded(value)?)))
                .filter(|(key, _)| !key.is_empty())
                .ok_or_else(|| format!("`{name}` has an entry that is not `key=value`"))
        })
        .collect()
}
