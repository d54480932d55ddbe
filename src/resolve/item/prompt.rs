//! `prompt name(params) = TEMPLATE`

use crate::ast::item::PromptDecl;
use crate::ast::node::Template;
use crate::base::FileId;
use crate::diag::codes;

use super::super::Resolver;
use super::super::program::Prompt;

impl Resolver<'_> {
    /// A named text. One whose text can't be had is still there, so that its uses are checked.
    pub fn prompt_item(&mut self, file: FileId, decl: &PromptDecl) {
        let params = self.params(file, &decl.params, "parameter", false);
        let text = match &decl.template {
            Template::Text(text) => Some(text.clone()),
            Template::File(path) => self.prompt_file(file, path),
            Template::Prompt { name, span, .. } => {
                self.find(file, name, super::super::names::Wanted::Prompt);
                let message = format!(
                    "prompt `{}` is another prompt, expected a text or a file",
                    decl.name.node
                );
                let help = "write the text here, or name the other prompt where this one is used";
                self.report(&codes::BAD_VALUE, message, *span, help);
                None
            }
        };
        self.program.prompts.push(Prompt {
            name: decl.name.clone(),
            doc: decl.doc.clone(),
            params,
            text,
            span: decl.span,
        });
    }
}
