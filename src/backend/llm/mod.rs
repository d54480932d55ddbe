//! Chat models behind HTTP.
//!
//! All of them stand on [`wire`](super::wire). A [`provider`] does what is the same for all: places among its calls, sending, errors,
//! streams ([`stream`]), and it asks its [`protocol`] how a request is made and a reply is read. [`Settings`] say what is known of a
//! provider, [`form`] and [`schema`] how structured output is asked for, [`message`] what a conversation is made of, [`reply_parts`] what
//! has come of a reply, [`listing`] which models there are.
//!
//! The protocols: [`openai`] (chat completions, and vectors), [`responses`] (OpenAI's responses), [`anthropic`], [`gemini`].

pub mod anthropic;
pub mod form;
pub mod gemini;
mod listing;
mod message;
pub mod openai;
pub mod protocol;
pub mod provider;
pub mod reply_parts;
pub mod responses;
pub mod schema;
mod shape;
mod stream;

pub use listing::Listing;
pub use provider::Provider;

#[doc(no_inline)]
pub use crate::project::spec::provider::{ApiKey, Kind, PromptCache, Settings, Structured};
