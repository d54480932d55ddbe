//! Attributes of the members of an enum: `@desc("..") @alias("..", "..")`.

use crate::ast::Name;
use crate::ast::expr::{ExprKind, Literal};
use crate::ast::item::EnumDecl;
use crate::ast::ty::Attribute;

use super::super::Resolver;

impl Resolver<'_> {
    /// The doc comment of a member, or what `@desc` says; and its aliases.
    pub(super) fn member_attributes(
        &mut self,
        doc: &str,
        attributes: &[Attribute],
    ) -> (String, Vec<Name>) {
        let mut text = doc.to_owned();
        let mut aliases = Vec::new();
        for attribute in attributes {
            match attribute.name.node.as_str() {
                "desc" => text = self.text_argument(attribute).unwrap_or(text),
                "alias" => aliases.extend(self.alias_arguments(attribute)),
                _ => self.refuse_attribute(attribute, &["desc", "alias"]),
            }
        }
        (text, aliases)
    }

    fn alias_arguments(&mut self, attribute: &Attribute) -> Vec<Name> {
        let mut aliases = Vec::new();
        for argument in &attribute.args {
            if let ExprKind::Literal(Literal::String(text)) = &argument.kind
                && !text.trim().is_empty()
            {
                aliases.push(Name::new(text.to_string(), argument.span));
            }
        }
        if aliases.is_empty() || aliases.len() < attribute.args.len() {
            let message = "`@alias` needs texts, as in `@alias(\"in progress\", \"started\")`";
            self.bad_value(message.to_owned(), attribute.span);
        }
        aliases
    }

    /// Reports aliases that mean two members. `aliases` has those of each member.
    pub(super) fn shared_aliases(&mut self, decl: &EnumDecl, aliases: &[(usize, Name)]) {
        let members = decl.members.iter().enumerate();
        let names = members.map(|(index, member)| (index, member.name.clone()));
        let mut known: Vec<(usize, Name)> = names.collect();
        for (index, alias) in aliases {
            let same = |(_, other): &&(usize, Name)| {
                other.node.to_lowercase() == alias.node.to_lowercase()
            };
            match known.iter().find(same) {
                Some((other, first)) if other != index => {
                    let first = first.clone();
                    self.twice("member", &first, alias);
                }
                _ => known.push((*index, alias.clone())),
            }
        }
    }
}
