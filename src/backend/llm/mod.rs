//! Chat models behind HTTP.
//!
//! All of them stand on [`wire`](super::wire); a provider is what its requests look like and how its
//! replies are read. [`openai`] serves OpenAI and every server that speaks its chat completions.

pub mod openai;
