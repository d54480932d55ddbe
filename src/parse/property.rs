//! What stands behind the keyword of a property.

use crate::ast::expr::Expr;
use crate::ast::item::{Let, Require};
use crate::ast::node::{Ask, Binding, Emit, End, Permit, PermitEach, PropertyKind, SetItem};
use crate::ast::target::Jump;
use crate::base::Spanned;

use super::build::Builder;
use super::grammar::{Pair, Rule};
use super::message::is_word_or_sign;

impl Builder<'_> {
    /// Which property it is, and its value.
    pub fn property_kind(&mut self, pair: Pair) -> Option<PropertyKind> {
        match pair.as_rule() {
            Rule::set_p => Some(PropertyKind::Set(self.set_items(pair))),
            Rule::emit_p => self.emit(pair).map(Box::new).map(PropertyKind::Emit),
            Rule::stream_p => self.stream(pair),
            Rule::skip_p => {
                let (condition, to) = self.expr_and_jump(pair);
                Some(PropertyKind::Skip {
                    condition: condition?,
                    to: to.map(Box::new),
                })
            }
            Rule::max_visits_p => {
                let (limit, to) = self.expr_and_jump(pair);
                Some(PropertyKind::MaxVisits {
                    limit: limit?,
                    to: Box::new(to?),
                })
            }
            Rule::require_p => self.require(pair).map(Box::new).map(PropertyKind::Require),
            Rule::ensure_p => self.require(pair).map(Box::new).map(PropertyKind::Ensure),
            Rule::goto_p => self.jumps(pair).map(PropertyKind::Goto),
            Rule::on_error_p => self.jumps(pair).map(PropertyKind::OnError),
            Rule::ends_p => Some(PropertyKind::Ends(self.ends(pair))),
            Rule::into_p => {
                let bindings = self.entries(pair.into_inner(), Rule::only_binding, Self::binding);
                Some(PropertyKind::Into(bindings))
            }
            Rule::cache_p => Some(self.cache(pair)),
            Rule::permit_p => self.permit(pair).map(Box::new).map(PropertyKind::Permit),
            Rule::defer_p => Some(PropertyKind::Defer),
            _ => self.plain_property(pair),
        }
    }

    /// Properties whose value is one thing of its own form.
    fn plain_property(&mut self, pair: Pair) -> Option<PropertyKind> {
        let rule = pair.as_rule();
        let mut parts = pair.into_inner().filter(|p| !is_word_or_sign(p.as_rule()));
        if rule == Rule::tags_p {
            let tags = parts.next()?.into_inner();
            let tags = tags.filter(|p| !is_word_or_sign(p.as_rule()));
            let tags = tags.map(|tag| match tag.as_rule() {
                Rule::string => self.quoted_name(&tag),
                _ => self.name(&tag),
            });
            return Some(PropertyKind::Tags(tags.collect()));
        }
        let value = parts.next()?;
        Some(match rule {
            Rule::model_p => PropertyKind::Model(self.name(&value)),
            Rule::system_p => PropertyKind::System(self.template(value)?),
            Rule::prompt_p => PropertyKind::Prompt(self.template(value)?),
            Rule::messages_p => PropertyKind::Messages(self.expr(value)),
            Rule::output_p => PropertyKind::Output(self.type_expr(value)),
            Rule::tools_p => PropertyKind::Tools(self.tool_refs(value)),
            Rule::tool_choice_p => PropertyKind::ToolChoice(self.name(&value)),
            Rule::max_turns_p => PropertyKind::MaxTurns(self.expr(value)),
            Rule::until_p => PropertyKind::Until(self.expr(value)),
            Rule::parallel_p => PropertyKind::Parallel(self.switch(&value)),
            Rule::ask_p => PropertyKind::Ask(match value.as_rule() {
                Rule::named_block => Ask::Fields(self.named_block(value)),
                _ => Ask::Template(self.template(value)?),
            }),
            Rule::expect_p => PropertyKind::Expect(self.answer_type(value)),
            Rule::with_p => PropertyKind::With(self.named_block(value)),
            Rule::persist_p => PropertyKind::Persist(self.name(&value)),
            Rule::reads_p => PropertyKind::Reads(self.names(value)),
            Rule::writes_p => PropertyKind::Writes(self.names(value)),
            Rule::let_p => PropertyKind::Let(Box::new(Let {
                name: self.name(&value),
                value: self.expr(parts.next()?),
            })),
            Rule::retry_p => PropertyKind::Retry(self.retry_spec(value)?),
            Rule::timeout_p => PropertyKind::Timeout {
                after: self.duration(&value),
                to: parts.next().and_then(|jump| self.jump(jump)).map(Box::new),
            },
            Rule::input_p => PropertyKind::Input(self.field_block(value)),
            _ => return None,
        })
    }

    fn switch(&self, pair: &Pair) -> Spanned<bool> {
        Spanned::new(pair.as_str() == "true", self.word_span(pair))
    }

    fn expr_and_jump(&mut self, pair: Pair) -> (Option<Expr>, Option<Jump>) {
        let mut expr = None;
        let mut jump = None;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::expr => expr = Some(self.expr(part)),
                Rule::jump => jump = self.jump(part),
                _ => {}
            }
        }
        (expr, jump)
    }

    fn require(&mut self, pair: Pair) -> Option<Require> {
        let span = self.span(&pair);
        let mut exprs = pair.into_inner().filter(|p| p.as_rule() == Rule::expr);
        Some(Require {
            condition: self.expr(exprs.next()?),
            message: exprs.next().map(|e| self.expr(e)),
            span,
        })
    }

    fn set_items(&mut self, pair: Pair) -> Vec<SetItem> {
        self.entries(pair.into_inner(), Rule::only_set_item, |b, item| {
            let mut parts = item.into_inner();
            Some(SetItem {
                field: b.name(&parts.next()?),
                replace: parts.next()?.as_rule() == Rule::assign,
                value: b.expr(parts.next()?),
            })
        })
    }

    fn stream(&mut self, pair: Pair) -> Option<PropertyKind> {
        let switch = pair
            .clone()
            .into_inner()
            .find(|p| p.as_rule() == Rule::bool);
        match switch {
            Some(switch) => Some(PropertyKind::Stream(self.switch(&switch))),
            None => self.emit(pair).map(Box::new).map(PropertyKind::StreamAs),
        }
    }

    /// An event: of `emit`, or of `stream as`.
    fn emit(&mut self, pair: Pair) -> Option<Emit> {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        let mut emit = Emit {
            event: self.name(&parts.find(|part| part.as_rule() == Rule::dotted)?),
            fields: Vec::new(),
            on_start: false,
            when: None,
            span,
        };
        for part in parts {
            match part.as_rule() {
                Rule::named_block => emit.fields = self.named_block(part),
                Rule::kw_start => emit.on_start = true,
                Rule::expr => emit.when = Some(self.expr(part)),
                _ => {}
            }
        }
        Some(emit)
    }

    fn permit(&mut self, pair: Pair) -> Option<Permit> {
        let span = self.span(&pair);
        let (mut tool, mut args) = (None, None);
        let (mut once, mut each, mut when) = (None, None, None);
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::kw_once => once = Some(self.word_span(&part)),
                Rule::permit_each => each = self.permit_each(part),
                Rule::ident => tool = Some(self.name(&part)),
                Rule::named_args => args = Some(self.named_args(part)),
                Rule::expr => when = Some(self.expr(part)),
                _ => {}
            }
        }
        Some(Permit {
            once,
            each,
            tool: tool?,
            args,
            when,
            span,
        })
    }

    fn permit_each(&mut self, pair: Pair) -> Option<PermitEach> {
        let mut parts = pair.into_inner().filter(|p| !is_word_or_sign(p.as_rule()));
        Some(PermitEach {
            var: self.name(&parts.next()?),
            items: self.expr(parts.next()?),
        })
    }

    fn ends(&mut self, pair: Pair) -> Vec<End> {
        let list = pair.into_inner().flat_map(Pair::into_inner);
        let names = list.filter(|p| p.as_rule() == Rule::end_name);
        let ends = names.filter_map(|end| {
            let mut parts = end.into_inner().filter(|p| !is_word_or_sign(p.as_rule()));
            let first = parts.next()?;
            let parent = first.as_rule() == Rule::parent_target;
            let name = match parent {
                true => self.single_name(first)?,
                false => self.name(&first),
            };
            Some(End {
                name,
                parent,
                alias: parts.next().map(|p| self.name(&p)),
            })
        });
        ends.collect()
    }

    fn binding(&mut self, pair: Pair) -> Option<Binding> {
        let mut names = pair.into_inner().filter(|p| p.as_rule() == Rule::ident);
        Some(Binding {
            to: self.name(&names.next()?),
            from: self.name(&names.next()?),
        })
    }

    fn cache(&mut self, pair: Pair) -> PropertyKind {
        let (mut key, mut ttl) = (None, None);
        self.entries(pair.into_inner(), Rule::only_cache, |b, entry| {
            let rule = entry.as_rule();
            let value = entry.into_inner().nth(1)?;
            match rule {
                Rule::cache_key => b.once(&mut key, "`key`", value, Self::expr),
                _ => b.once(&mut ttl, "`ttl`", value, |b, value| b.duration(&value)),
            }
            Some(())
        });
        PropertyKind::Cache { key, ttl }
    }
}
