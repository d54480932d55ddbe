//! Templates: written in place, or in a file of the project.

use crate::ast::node::{Template, TemplateText};
use crate::ast::template::each_expr;
use crate::ast::{Name, item::NamedArg};
use crate::base::FileId;
use crate::diag::{Diagnostic, codes};
use crate::expr::template::tree;

use super::Resolver;
use super::load::{outside, within};
use super::names::{Definition, Wanted};
use super::node::{PromptUse, Words};

impl Resolver<'_> {
    /// The text of a template; `None` where it can't be had, which is reported.
    pub fn template(&mut self, file: FileId, template: &Template) -> Option<Words> {
        let (text, at) = match template {
            Template::Text(text) => (text.clone(), text.span),
            Template::File(path) => (self.prompt_file(file, path)?, path.span),
            Template::Prompt { name, args, .. } => {
                return Some(self.prompt_call(file, name, args));
            }
        };
        if !self.params.is_empty() {
            each_expr(&tree(&text).body, |expr| self.params_in(expr));
        }
        Some(Words {
            text,
            at,
            from: None,
        })
    }

    /// The text of a file of the project.
    pub fn prompt_file(&mut self, file: FileId, path: &Name) -> Option<TemplateText> {
        let base = self
            .files
            .get(file.0 as usize)
            .map(|file| file.path.as_str())?;
        let Some(inside) = within(base, &path.node) else {
            self.diags.push(outside(&path.node, path.span));
            return None;
        };
        let id = match self.prompts.get(&inside) {
            Some(id) => *id,
            None => {
                let id = match self.loader.read(&inside) {
                    Ok(text) => Some(self.sources.add_shared(&inside, text)),
                    Err(error) => {
                        let message = format!("`{inside}` can't be read: {error}");
                        self.diags.push(Diagnostic::new(
                            &codes::FILE_NOT_FOUND,
                            message,
                            path.span,
                        ));
                        None
                    }
                };
                self.prompts.insert(inside, id);
                id
            }
        }?;
        let text = self.sources.file(id)?.text.to_string();
        Some(TemplateText::of_file(text, id))
    }

    /// The text of a named prompt. Where that can't be had, the use is still checked.
    fn prompt_call(&mut self, file: FileId, name: &Name, args: &[NamedArg]) -> Words {
        let prompt = match self.find(file, name, Wanted::Prompt) {
            Some(Definition::Prompt(prompt)) => Some(prompt),
            _ => None,
        };
        let args = self.named(file, args);
        let args = self.taken(name, prompt, &args);
        let declared = prompt.and_then(|prompt| self.program.prompts.get(prompt));
        let text = declared.and_then(|declared| declared.text.clone());
        let name = name.clone();
        Words {
            text: text.unwrap_or_else(|| {
                let span = declared.map_or(name.span, |declared| declared.span);
                TemplateText::new(String::new(), span, Vec::new())
            }),
            at: name.span,
            from: Some(PromptUse { prompt, name, args }),
        }
    }
}
