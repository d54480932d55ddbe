//! Nodes: head, kind and properties.

use crate::ast::item::Duration;
use crate::ast::node::{Kind, Node, Property, RetrySetting, RetrySpec, Template};
use crate::base::{Span, Spanned};
use crate::diag::{Diagnostic, codes};

use super::build::Builder;
use super::grammar::{Pair, Rule};
use super::literal;
use super::mistake::first_word;
use super::text::Quoted;

impl Builder<'_> {
    /// `node NAME: KIND -> TARGET { properties }`
    pub fn node(&mut self, pair: Pair) -> Option<Node> {
        let (doc, span) = (self.doc(&pair), self.span(&pair));
        let (name, parts) = self.parts(pair)?;
        let mut kind = None;
        let mut edge = None;
        let mut properties = Vec::new();
        for part in parts {
            match part.as_rule() {
                Rule::kind => kind = Some((self.span(&part), self.kind(part)?)),
                Rule::target => edge = self.target(part),
                _ => {
                    let lines = part.into_inner();
                    self.has_set = lines.clone().any(|line| first_word(line.as_str()) == "set");
                    properties = self.entries(lines, Rule::only_property, Self::property);
                }
            }
        }
        let (kind_span, kind) = kind?;
        Some(Node {
            doc,
            name,
            kind,
            kind_span,
            edge,
            properties,
            span,
        })
    }

    fn kind(&mut self, pair: Pair) -> Option<Kind> {
        let mut parts = pair.into_inner();
        let keyword = parts.next()?.as_rule();
        Some(match keyword {
            Rule::kw_llm => Kind::Llm,
            Rule::kw_agent => Kind::Agent,
            Rule::kw_tools => Kind::Tools,
            Rule::kw_update => Kind::Update,
            Rule::kw_branch => Kind::Branch,
            Rule::kw_interrupt => Kind::Interrupt,
            _ => {
                let name = self.name(&parts.next()?);
                let args = parts.next();
                let args = args.map(|a| self.named_args(a)).unwrap_or_default();
                match keyword {
                    Rule::kw_call => Kind::Call { tool: name, args },
                    Rule::kw_subgraph => Kind::Subgraph { graph: name, args },
                    _ => Kind::Extern(name),
                }
            }
        })
    }

    /// A property with its place. A property is one rule, and so is what a tool's body or a jump's
    /// update shares with it.
    pub fn property(&mut self, pair: Pair) -> Option<Property> {
        let span = self.span(&pair);
        let keyword = self.word_span(&pair.clone().into_inner().next()?);
        let kind = self.property_kind(pair)?;
        Some(Property {
            kind,
            keyword,
            span,
        })
    }

    /// A duration; a bad one is reported and counts as none at all.
    pub fn duration(&mut self, pair: &Pair) -> Duration {
        let span = self.word_span(pair);
        literal::duration(pair.as_str(), span).unwrap_or_else(|found| {
            self.diags.push(*found);
            Duration { millis: 0, span }
        })
    }

    /// `3`, `patient` or `{ attempts 3, .. }`
    pub fn retry_spec(&mut self, pair: Pair) -> Option<RetrySpec> {
        let span = self.span(&pair);
        let part = pair.into_inner().next()?;
        Some(match part.as_rule() {
            Rule::ident => RetrySpec::Named(self.name(&part)),
            Rule::number => RetrySpec::Attempts(self.attempts(&part, span)),
            _ => {
                let settings = self.settings(part).into_iter().map(|s| RetrySetting {
                    key: s.key,
                    value: s.value,
                });
                RetrySpec::Block(settings.collect(), span)
            }
        })
    }

    fn attempts(&mut self, pair: &Pair, span: Span) -> Spanned<i64> {
        let count = pair.as_str().parse::<i64>().unwrap_or_else(|_| {
            let message = format!("`{}` is no number of attempts", pair.as_str());
            self.diags.push(
                Diagnostic::new(&codes::BAD_LITERAL, message, span)
                    .help("write a whole number, as in `retry 3`"),
            );
            0
        });
        Spanned::new(count, span)
    }

    /// A text, a file or a prompt with its arguments.
    pub fn template(&mut self, pair: Pair) -> Option<Template> {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        let first = parts.next()?;
        Some(match first.as_rule() {
            Rule::kw_file => Template::File(self.quoted_name(&parts.next()?)),
            Rule::string => {
                let span = self.word_span(&first);
                let quoted = Quoted::new(first.as_str());
                if quoted.bytes {
                    let message = "a template is a text, not bytes";
                    self.diags.push(
                        Diagnostic::new(&codes::BAD_LITERAL, message, span)
                            .help("remove the `b` before the quotes"),
                    );
                }
                Template::Text(self.decoder(span).template(&quoted))
            }
            _ => {
                let mut parts = first.into_inner();
                Template::Prompt {
                    name: self.name(&parts.next()?),
                    args: self.named_args(parts.next()?),
                    span,
                }
            }
        })
    }
}
