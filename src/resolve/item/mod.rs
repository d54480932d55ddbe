//! Second pass: top-level items but graphs, in the order of files and items, so that each
//! vector of the program is filled in the order of its ids.

mod attribute;
mod contradiction;
mod default;
mod endless;
mod event;
mod member;
mod model;
mod prompt;
mod record;
mod reducer;
mod retry;
mod tool;
mod toolset;

use std::sync::Arc;

use crate::ast::item::{Item, TypeBody};

use super::alias::Alias;
use super::program::Module;
use super::{Policy, Resolver, State, Toolset};

impl Resolver<'_> {
    /// Resolves everything that stands outside of graphs. Types come first, since all else names them.
    pub fn items(&mut self) {
        self.collect();
        self.records();
        for file in self.files {
            for item in &file.ast.items {
                match item {
                    Item::Event(decl) => self.event(file.id, decl),
                    Item::Reducer(decl) => self.reducer(file.id, decl),
                    Item::Model(decl) => self.model(file.id, decl),
                    Item::Tool(decl) => self.tool(file.id, decl),
                    Item::Prompt(decl) => self.prompt_item(file.id, decl),
                    _ => {}
                }
            }
        }
        self.fallbacks();
        (0..self.policies.len()).for_each(|index| {
            self.policy(index);
        });
        (0..self.toolsets.len()).for_each(|index| {
            self.toolset(index);
        });
    }

    /// What is resolved when it is first used: aliases, policies, toolsets; and what a file's
    /// expressions may call.
    fn collect(&mut self) {
        for file in self.files {
            for item in &file.ast.items {
                match item {
                    Item::Type(decl) => {
                        if let TypeBody::Alias(body) = &decl.body {
                            self.aliases.push(Alias {
                                name: &decl.name,
                                file: file.id,
                                body,
                                state: State::Open,
                            });
                        }
                    }
                    Item::Retry(decl) => self.policies.push(Policy {
                        file: file.id,
                        name: &decl.name,
                        spec: &decl.policy,
                        state: State::Open,
                    }),
                    Item::Toolset(decl) => self.toolsets.push(Toolset {
                        file: file.id,
                        decl,
                        state: State::Open,
                    }),
                    _ => {}
                }
            }
            let names = self.names.get(file.id.0 as usize).into_iter().flatten();
            let functions = names
                .filter(|(_, entry)| entry.thing == super::names::Definition::Function)
                .map(|(name, _)| name.clone());
            self.program.modules.push(Module {
                file: file.id,
                functions: Arc::new(functions.collect()),
            });
        }
    }
}
