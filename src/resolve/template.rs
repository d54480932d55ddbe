//! Templates: written in place, or in a file of the project.

use crate::ast::node::{Template, TemplateText};
use crate::ast::{Name, item::NamedArg};
use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, codes};

use super::Resolver;
use super::load::{outside, within};
use super::names::Wanted;

impl Resolver<'_> {
    /// The text of a template; `None` where it can't be had, which is reported.
    pub fn template(&mut self, file: FileId, template: &Template) -> Option<TemplateText> {
        match template {
            Template::Text(text) => Some(text.clone()),
            Template::File(path) => self.prompt_file(file, path),
            Template::Prompt { name, args, .. } => {
                self.prompt_call(file, name, args);
                None
            }
        }
    }

    fn prompt_file(&mut self, file: FileId, path: &Name) -> Option<TemplateText> {
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
                    Ok(text) => Some(self.sources.add(&inside, &text)),
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
        Some(TemplateText {
            span: Span::new(id, 0, text.len()),
            text,
            anchors: vec![(0, 0)],
        })
    }

    /// A `prompt` item is refused where it is declared; a use only has to name one.
    fn prompt_call(&mut self, file: FileId, name: &Name, args: &[NamedArg]) {
        self.find(file, name, Wanted::Prompt);
        self.named(file, args);
    }
}
