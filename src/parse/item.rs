//! Top-level items.

use crate::ast::item::{
    EnumDecl, EnumMember, EventDecl, FunctionDecl, Import, ImportName, InstanceDecl, Item,
    ModelDecl, ModelSetting, NamedArg, PromptDecl, ReducerDecl, RetryDecl, SettingValue, ToolBody,
    ToolDecl, ToolRef, ToolsetDecl, TypeBody, TypeDecl,
};
use crate::ast::node::PropertyKind;

use super::build::Builder;
use super::grammar::{Pair, Rule};

impl Builder<'_> {
    /// An item, but for a graph with members.
    pub(super) fn item(&mut self, pair: Pair) -> Option<Item> {
        match pair.as_rule() {
            Rule::import_item => self.import(pair).map(Item::Import),
            Rule::type_item => self.type_decl(pair).map(Item::Type),
            Rule::enum_item => self.enum_decl(pair).map(Item::Enum),
            Rule::reducer_item => self.reducer(pair).map(Item::Reducer),
            Rule::event_item => self.event(pair).map(Item::Event),
            Rule::model_item => self.model(pair).map(Item::Model),
            Rule::tool_item => self.tool(pair).map(Item::Tool),
            Rule::toolset_item => self.toolset(pair).map(Item::Toolset),
            Rule::retry_item => self.retry_decl(pair).map(Item::Retry),
            Rule::prompt_item => self.prompt(pair).map(Item::Prompt),
            Rule::instance_item => self.instance(pair).map(Item::Instance),
            Rule::function_item => self.function(pair).map(Item::Function),
            _ => None,
        }
    }

    fn import(&mut self, pair: Pair) -> Option<Import> {
        let span = self.span(&pair);
        let from = pair
            .clone()
            .into_inner()
            .find(|p| p.as_rule() == Rule::string)
            .map(|p| self.quoted_name(&p))?;
        let names = self.entries(pair.into_inner(), Rule::only_item, |b, pair| {
            // The last part is the module's name, which holds no words.
            let mut words = pair.into_inner().filter(|p| p.as_rule() == Rule::dotted);
            Some(ImportName {
                name: b.name(&words.next()?),
                alias: words.next().map(|p| b.name(&p)),
            })
        });
        Some(Import { names, from, span })
    }

    /// The name of a declaration and what follows it.
    pub(super) fn parts<'i>(&self, pair: Pair<'i>) -> Option<(crate::ast::Name, Vec<Pair<'i>>)> {
        let mut parts = pair
            .into_inner()
            .filter(|p| !super::message::is_word_or_sign(p.as_rule()));
        let name = self.name(&parts.next()?);
        Some((name, parts.collect()))
    }

    fn type_decl(&mut self, pair: Pair) -> Option<TypeDecl> {
        let (doc, span) = (self.doc(&pair), self.span(&pair));
        let (name, parts) = self.parts(pair)?;
        let body = parts.into_iter().next()?;
        let body = match body.as_rule() {
            Rule::field_block => TypeBody::Record(self.field_block(body)),
            _ => TypeBody::Alias(self.type_expr(body)),
        };
        Some(TypeDecl {
            doc,
            name,
            body,
            span,
        })
    }

    fn enum_decl(&mut self, pair: Pair) -> Option<EnumDecl> {
        let (doc, span) = (self.doc(&pair), self.span(&pair));
        let (name, parts) = self.parts(pair)?;
        let members = self.entries(parts, Rule::only_enum_member, |b, pair| {
            let doc = b.doc(&pair);
            let mut parts = pair.into_inner();
            let name = b.name(&parts.next()?);
            Some(EnumMember {
                doc,
                name,
                attributes: parts.filter_map(|a| b.attribute(a)).collect(),
            })
        });
        Some(EnumDecl {
            doc,
            name,
            members,
            span,
        })
    }

    fn reducer(&mut self, pair: Pair) -> Option<ReducerDecl> {
        let (doc, span) = (self.doc(&pair), self.span(&pair));
        let (name, parts) = self.parts(pair)?;
        let mut parts = parts.into_iter();
        Some(ReducerDecl {
            doc,
            name,
            params: self.params(parts.next()?),
            returns: self.type_expr(parts.next()?),
            body: self.expr(parts.next()?),
            span,
        })
    }

    fn function(&mut self, pair: Pair) -> Option<FunctionDecl> {
        let (doc, span) = (self.doc(&pair), self.span(&pair));
        let (name, parts) = self.parts(pair)?;
        let mut parts = parts.into_iter();
        Some(FunctionDecl {
            doc,
            name,
            params: self.params(parts.next()?),
            returns: self.type_expr(parts.next()?),
            span,
        })
    }

    fn event(&mut self, pair: Pair) -> Option<EventDecl> {
        let (doc, span) = (self.doc(&pair), self.span(&pair));
        let (name, parts) = self.parts(pair)?;
        let fields = parts.into_iter().next();
        Some(EventDecl {
            doc,
            name,
            fields: fields.map(|f| self.field_block(f)).unwrap_or_default(),
            span,
        })
    }

    fn model(&mut self, pair: Pair) -> Option<ModelDecl> {
        let (doc, span) = (self.doc(&pair), self.span(&pair));
        let (name, parts) = self.parts(pair)?;
        let mut parts = parts.into_iter();
        let reference = self.quoted_name(&parts.next()?);
        let settings = parts.next();
        Some(ModelDecl {
            doc,
            name,
            reference,
            settings: settings.map(|s| self.settings(s)).unwrap_or_default(),
            span,
        })
    }

    /// Settings between braces, of a model or a retry policy.
    pub fn settings(&mut self, pair: Pair) -> Vec<ModelSetting> {
        self.entries(pair.into_inner(), Rule::only_setting, Self::setting)
    }

    fn setting(&mut self, pair: Pair) -> Option<ModelSetting> {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        let key = self.name(&parts.next()?);
        let value = parts.next()?;
        let value = match value.as_rule() {
            Rule::retry_spec => SettingValue::Retry(self.retry_spec(value)?),
            Rule::names => SettingValue::Names(self.names(value)),
            Rule::sure_duration => SettingValue::Duration(self.duration(&value)),
            _ => SettingValue::Expr(self.expr(value)),
        };
        Some(ModelSetting { key, value, span })
    }

    fn retry_decl(&mut self, pair: Pair) -> Option<RetryDecl> {
        let (doc, span) = (self.doc(&pair), self.span(&pair));
        let (name, parts) = self.parts(pair)?;
        let policy = self.retry_spec(parts.into_iter().next()?)?;
        Some(RetryDecl {
            doc,
            name,
            policy,
            span,
        })
    }

    fn prompt(&mut self, pair: Pair) -> Option<PromptDecl> {
        let (doc, span) = (self.doc(&pair), self.span(&pair));
        let (name, parts) = self.parts(pair)?;
        let mut params = Vec::new();
        let mut template = None;
        for part in parts {
            match part.as_rule() {
                Rule::params => params = self.params(part),
                _ => template = self.template(part),
            }
        }
        Some(PromptDecl {
            doc,
            name,
            params,
            template: template?,
            span,
        })
    }

    fn instance(&mut self, pair: Pair) -> Option<InstanceDecl> {
        let (doc, span) = (self.doc(&pair), self.span(&pair));
        let (name, parts) = self.parts(pair)?;
        let mut parts = parts.into_iter();
        let base = self.name(&parts.next()?);
        let args = parts.next();
        Some(InstanceDecl {
            doc,
            name,
            base,
            args: args.map(|a| self.named_args(a)).unwrap_or_default(),
            span,
        })
    }

    fn toolset(&mut self, pair: Pair) -> Option<ToolsetDecl> {
        let (doc, span) = (self.doc(&pair), self.span(&pair));
        let (name, parts) = self.parts(pair)?;
        let tools = self.tool_refs(parts.into_iter().next()?);
        Some(ToolsetDecl {
            doc,
            name,
            tools,
            span,
        })
    }

    /// `[a, b with { .. } where ..]`
    pub fn tool_refs(&mut self, pair: Pair) -> Vec<ToolRef> {
        let refs = pair.into_inner().filter_map(|tool| {
            let mut parts = tool.into_inner();
            let mut used = ToolRef {
                name: self.name(&parts.next()?),
                fixed: Vec::new(),
                narrow: None,
            };
            for part in parts {
                match part.as_rule() {
                    Rule::named_block => used.fixed = self.named_block(part),
                    Rule::expr => used.narrow = Some(self.expr(part)),
                    _ => {}
                }
            }
            Some(used)
        });
        refs.collect()
    }

    /// `name: expr` between parentheses.
    pub fn named_args(&mut self, pair: Pair) -> Vec<NamedArg> {
        pair.into_inner().filter_map(|p| self.named(p)).collect()
    }

    /// `name: expr` between braces.
    pub fn named_block(&mut self, pair: Pair) -> Vec<NamedArg> {
        self.entries(pair.into_inner(), Rule::only_named, Self::named)
    }

    fn named(&mut self, pair: Pair) -> Option<NamedArg> {
        let mut parts = pair.into_inner();
        let name = self.name(&parts.next()?);
        let value = parts.find(|p| p.as_rule() == Rule::expr)?;
        Some(NamedArg {
            name,
            value: self.expr(value),
        })
    }

    fn tool(&mut self, pair: Pair) -> Option<ToolDecl> {
        let (doc, span) = (self.doc(&pair), self.span(&pair));
        let (name, parts) = self.parts(pair)?;
        let mut tool = ToolDecl {
            doc,
            name,
            params: Vec::new(),
            returns: None,
            attributes: Vec::new(),
            body: None,
            span,
        };
        for part in parts {
            match part.as_rule() {
                Rule::params => tool.params = self.params(part),
                Rule::type_expr => tool.returns = Some(self.type_expr(part)),
                Rule::attribute => tool.attributes.extend(self.attribute(part)),
                _ => tool.body = Some(self.tool_body(part)),
            }
        }
        Some(tool)
    }

    fn tool_body(&mut self, pair: Pair) -> ToolBody {
        let mut body = ToolBody::default();
        self.entries(pair.into_inner(), Rule::only_tool_line, |b, line| {
            b.tool_line(&mut body, line);
            Some(())
        });
        body
    }

    fn tool_line(&mut self, body: &mut ToolBody, line: Pair) -> Option<()> {
        match line.as_rule() {
            Rule::tool_reads => {
                let block = line.into_inner().nth(1)?;
                body.reads.extend(self.field_block(block));
            }
            Rule::return_line => {
                let value = line.into_inner().nth(1)?;
                self.once(&mut body.returns, "`return`", value, Self::expr);
            }
            Rule::goto_p => {
                let mut goto = body.goto.take().map(Some);
                self.once(&mut goto, "`goto`", line, Self::jumps);
                body.goto = goto.flatten();
            }
            _ => match self.property(line)?.kind {
                PropertyKind::Let(item) => body.lets.push(*item),
                PropertyKind::Require(item) => body.requires.push(*item),
                PropertyKind::Set(items) => body.set.extend(items),
                PropertyKind::Emit(item) => body.emits.push(*item),
                _ => {}
            },
        }
        Some(())
    }
}
