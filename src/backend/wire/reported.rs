//! What an error means that the other side reports: by its status, or by the words in its body.
//!
//! One table for all: the providers' words differ and none means two things. OpenAI: `error.code`, `error.type`;
//! Anthropic: `error.type`; Google: `error.status`, `error.details[].reason`.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::Value as Json;

use crate::ir::ErrorKind;

use super::retry_after::seconds;
use super::{Failure, Peer};

impl Failure {
    /// A status that is no success.
    pub fn status(
        peer: Peer<'_>,
        status: StatusCode,
        retry_after: Option<Duration>,
        body: &[u8],
    ) -> Self {
        let text = String::from_utf8_lossy(body);
        let json = serde_json::from_str::<Json>(&text).unwrap_or(Json::Null);
        let json = only(&json);
        let kind = beyond_status(json).unwrap_or(of_status(status));
        let message = message_of(json)
            .map(str::to_owned)
            .unwrap_or_else(|| peer.excerpt(&text));
        let message = peer.secrets.scrub(message.trim());
        let colon = if message.is_empty() { "" } else { ": " };
        Self {
            retry_after: retry_after.or_else(|| delay(json)),
            ..Self::new(
                kind,
                format!("`{}` answered {status}{colon}{message}", peer.name),
            )
        }
    }

    /// An error object in place of a result, such as a broken stream ends with.
    pub fn reported(peer: Peer<'_>, json: &Json) -> Self {
        let json = only(json);
        let error = json.get("error").unwrap_or(json);
        let status = ["code", "status"]
            .iter()
            .filter_map(|key| error.get(*key)?.as_u64())
            .filter_map(|code| StatusCode::from_u16(u16::try_from(code).ok()?).ok())
            .find(|status| !status.is_success());
        let kind = of_code(json)
            .or(status.map(of_status))
            .unwrap_or(ErrorKind::ServerError);
        let message = message_of(json)
            .map(str::to_owned)
            .unwrap_or_else(|| peer.excerpt(&error.to_string()));
        let message = peer.secrets.scrub(&message);
        let message = format!("`{}` reported an error: {message}", peer.name);
        Self {
            retry_after: delay(json),
            ..Self::new(kind, message)
        }
    }
}

/// The kind that a status means.
fn of_status(status: StatusCode) -> ErrorKind {
    match status.as_u16() {
        401 | 403 => ErrorKind::Auth,
        408 | 504 => ErrorKind::Timeout,
        429 => ErrorKind::RateLimit,
        500.. => ErrorKind::ServerError,
        _ => ErrorKind::InvalidRequest,
    }
}

/// Google sends errors of a stream as a list of one.
fn only(json: &Json) -> &Json {
    json.get(0).unwrap_or(json)
}

fn details(json: &Json) -> impl Iterator<Item = &Json> {
    let details = json.pointer("/error/details").and_then(Json::as_array);
    details.into_iter().flatten()
}

/// The words of an error that say what it is.
fn words(json: &Json) -> impl Iterator<Item = &str> {
    let error = json.get("error").unwrap_or(json);
    let keys = ["code", "type", "status"].iter();
    let words = keys.filter_map(move |key| error.get(*key)?.as_str());
    words.chain(details(json).filter_map(|detail| detail.get("reason")?.as_str()))
}

/// The kind that a word means, where it says more than the status: a spent quota is 429 like a busy
/// server, but asking again doesn't help.
fn beyond_status(json: &Json) -> Option<ErrorKind> {
    words(json).find_map(|word| match word {
        "insufficient_quota" | "billing_error" | "billing_hard_limit_reached" => {
            Some(ErrorKind::InvalidRequest)
        }
        "content_filter" | "content_policy_violation" => Some(ErrorKind::ContentFilter),
        "API_KEY_INVALID" | "invalid_api_key" => Some(ErrorKind::Auth),
        _ => None,
    })
}

/// The kind that a word means where there is no status.
fn of_code(json: &Json) -> Option<ErrorKind> {
    let plain = || {
        words(json).find_map(|word| match word {
            "authentication_error"
            | "permission_error"
            | "UNAUTHENTICATED"
            | "PERMISSION_DENIED" => Some(ErrorKind::Auth),
            "rate_limit_exceeded" | "rate_limit_error" | "RESOURCE_EXHAUSTED" => {
                Some(ErrorKind::RateLimit)
            }
            "invalid_request_error"
            | "not_found_error"
            | "request_too_large"
            | "context_length_exceeded"
            | "INVALID_ARGUMENT"
            | "FAILED_PRECONDITION"
            | "NOT_FOUND" => Some(ErrorKind::InvalidRequest),
            "timeout" | "timeout_error" | "DEADLINE_EXCEEDED" => Some(ErrorKind::Timeout),
            _ => None,
        })
    };
    beyond_status(json).or_else(plain)
}

/// When Google wants to be asked again: `retryDelay: "34.1s"` in a detail.
fn delay(json: &Json) -> Option<Duration> {
    let mut delays = details(json).filter_map(|detail| detail.get("retryDelay")?.as_str());
    seconds(delays.next()?.strip_suffix('s')?.parse().ok()?)
}

/// The message of an error body in any of the forms in use: `{"error": {"message": ..}}`,
/// `{"error": ".."}`, `{"message": ..}`, `{"detail": ..}`.
fn message_of(json: &Json) -> Option<&str> {
    let inner = json.get("error").unwrap_or(json);
    if let Some(text) = inner.as_str() {
        return Some(text);
    }
    let keys = ["message", "detail", "error"];
    keys.iter().find_map(|key| inner.get(*key)?.as_str())
}
