//! What a server's result is as JSON of the type that the flow declares.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value as Json, json};

use crate::backend::wire::Failure;
use crate::expr::Type;
use crate::expr::accept::accept;
use crate::expr::ty::TypeTable;
use crate::ir::ErrorKind;

/// Most parts of a result.
const MOST_PARTS: usize = 1000;

/// The result of a call, for the type that the tool gives. Its structured content goes before its text, and the value under a sole key
/// `result` (as servers wrap what is no object) is taken where the whole does not fit. Text is read as JSON unless the type is
/// `string`. What has parts of another kind is the list of its parts, which only `json` takes.
///
/// # Errors
/// Kind `tool_error` with the server's words where it says that the call failed; `invalid_output` where the result is more than
/// it may be or can't be of the type.
pub fn result(
    result: CallToolResult,
    (ty, types): (&Type, &TypeTable),
    limit: usize,
) -> Result<Json, Failure> {
    if result.content.len() > MOST_PARTS {
        return Err(unusable(format!(
            "the result has {} parts, more than {MOST_PARTS}",
            result.content.len()
        )));
    }
    bounded(&result, limit)?;
    if result.is_error == Some(true) {
        let said = text_of(&result.content).unwrap_or_default();
        let said = match said.trim() {
            "" => "the tool failed, and the server does not say why",
            said => said,
        };
        return Err(Failure::new(ErrorKind::ToolError, said));
    }
    let texts = text_of(&result.content);
    let fits = |json: &Json| accept(json, ty, types).is_ok();
    if is_text(ty) {
        if let Some(text) = texts {
            return Ok(text.into());
        }
        return Err(unusable(
            "the result has images, sound or files, which a `string` can't hold: declare the result as `json`",
        ));
    }
    if let Some(structured) = result.structured_content {
        return Ok(match sole_result(&structured) {
            Some(inner) if !fits(&structured) && fits(inner) => inner.clone(),
            _ => structured,
        });
    }
    Ok(match texts {
        Some(text) if text.trim().is_empty() => Json::Null,
        Some(text) => serde_json::from_str(&text).unwrap_or(Json::String(text)),
        None => result.content.iter().map(|part| json!(part)).collect(),
    })
}

/// Whether a result of the type is its text.
pub fn is_text(ty: &Type) -> bool {
    match ty {
        Type::Nullable(of) => is_text(of),
        other => matches!(other, Type::String),
    }
}

/// The value of an object that has `result` and nothing else.
fn sole_result(structured: &Json) -> Option<&Json> {
    let object = structured.as_object().filter(|object| object.len() == 1)?;
    object.get("result")
}

/// The texts of a result, one under the other; `None` where it has a part that is none.
fn text_of(content: &[ContentBlock]) -> Option<String> {
    let texts = content.iter().map(|part| match part {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        ContentBlock::ResourceLink(link) => Some(link.uri.as_str()),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => Some(text.as_str()),
            _ => None,
        },
        _ => None,
    });
    let texts: Option<Vec<&str>> = texts.collect();
    texts.map(|texts| texts.join("\n"))
}

/// Refuses what takes more bytes than it may.
fn bounded(result: &CallToolResult, limit: usize) -> Result<(), Failure> {
    let bytes = serde_json::to_vec(result).map_or(0, |bytes| bytes.len());
    match bytes > limit {
        true => Err(unusable(format!("the result has more than {limit} bytes"))),
        false => Ok(()),
    }
}

fn unusable(why: impl Into<String>) -> Failure {
    Failure::new(ErrorKind::InvalidOutput, why)
}
