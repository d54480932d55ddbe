//! `prompt` items: their texts, whose names are their parameters alone, and parameters of no use.

use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::template;
use crate::resolve::program::{Program, Prompt};

use super::types::cx::Cx;

/// What the text of a prompt sees.
fn inside<'p>(program: &'p Program, prompt: &Prompt) -> Cx<'p> {
    let mut cx = Cx::outside(program, prompt.name.span.file);
    for param in &prompt.params {
        cx.declare(&param.name.node, param.ty.node.clone());
    }
    cx
}

/// Checks the text of every prompt, wherever it is used.
pub fn texts(program: &Program, diags: &mut Diagnostics) {
    for prompt in &program.prompts {
        let Some(text) = &prompt.text else { continue };
        let mut cx = inside(program, prompt);
        cx.template(text);
        for found in cx.diags {
            let outside = found.code == &codes::UNKNOWN_NAME && found.help.is_none();
            diags.push(match outside {
                true => found.help(format!(
                    "a prompt sees its parameters alone: add one to `{}`, and pass the value where it is used",
                    prompt.name.node
                )),
                false => found,
            });
        }
    }
}

/// Warns of parameters that the text does not use.
pub fn unused(program: &Program, diags: &mut Diagnostics) {
    for prompt in &program.prompts {
        let Some(text) = &prompt.text else { continue };
        let used = template::reads(text, &inside(program, prompt).scope).slots;
        for (index, param) in prompt.params.iter().enumerate() {
            if used.iter().any(|slot| slot.0 as usize == index) {
                continue;
            }
            let own = &param.name.node;
            let message = format!(
                "the text of prompt `{}` does not use its parameter `{own}`",
                prompt.name.node
            );
            diags.push(
                Diagnostic::new(&codes::UNUSED_PARAMETER, message, param.name.span).help(format!(
                    "write `{{{{ {own} }}}}` where it belongs, or take it out"
                )),
            );
        }
    }
}
