//! The labels of templates.

use std::collections::HashMap;
use std::rc::Rc;

use crate::ast::expr::Expr;
use crate::ast::node::TemplateText;
use crate::base::Span;
use crate::expr::template::Printed;
use crate::resolve::program::Words;

use super::label::LabelSet;
use super::reader::{Operand, Reader};
use super::value::Value;

impl Reader<'_, '_> {
    /// The labels of a text.
    pub fn text(&mut self, words: &Words) -> LabelSet {
        match &words.from {
            None => self.all_shown(&words.text),
            Some(used) => {
                let args = used.args.iter();
                let args = args.map(|arg| (arg.name.node.clone(), self.value(&arg.value)));
                let args: HashMap<String, Value> = args.collect();
                Reader::new(self.places, None, Rc::new(args)).all_shown(&words.text)
            }
        }
    }

    fn all_shown(&mut self, text: &TemplateText) -> LabelSet {
        let mut found = LabelSet::default();
        self.shown(text, &mut |reader, expr| {
            found.add(&reader.value(expr).flat())
        });
        found
    }

    /// The operands of a text that bring in what `is_found` finds, each once. Those of a named prompt are what it is given.
    pub fn text_operands(
        &mut self,
        words: &Words,
        is_found: &mut dyn FnMut(&Value) -> bool,
    ) -> Vec<Operand> {
        let mut found: Vec<Operand> = Vec::new();
        match &words.from {
            None => self.shown(&words.text, &mut |reader, expr| {
                found.extend(reader.operands_of(expr, is_found));
            }),
            Some(used) => {
                for arg in &used.args {
                    let value = self.value(&arg.value);
                    let args = HashMap::from([(arg.name.node.clone(), value)]);
                    let mut prompt = Reader::new(self.places, None, Rc::new(args));
                    let shown = Value::of(prompt.all_shown(&words.text));
                    if is_found(&shown) {
                        found.extend(self.operands_of(&arg.value, is_found));
                    }
                }
            }
        }
        let mut seen: Vec<(Span, Option<String>)> = Vec::new();
        found.retain(|operand| {
            let new = seen.iter().all(|(span, name)| {
                *span != operand.span && (name.is_none() || *name != operand.name)
            });
            seen.push((operand.span, operand.name.clone()));
            new
        });
        found
    }

    /// Each value that a text shows, where its names are bound. What a round of a loop puts into a namespace is there in the
    /// next one: the text is read again until nothing is added.
    fn shown(&mut self, text: &TemplateText, show: &mut dyn FnMut(&mut Self, &Expr)) {
        let steps = self.places.text(text);
        let mut spaces: HashMap<String, Value> = HashMap::new();
        while self.steps(&steps, &mut spaces, &mut |_, _| {}) {}
        self.steps(&steps, &mut spaces, show);
    }

    /// One reading. Whether it puts more into namespaces than was known.
    fn steps(
        &mut self,
        steps: &[Printed],
        spaces: &mut HashMap<String, Value>,
        show: &mut dyn FnMut(&mut Self, &Expr),
    ) -> bool {
        let begin = self.locals.len();
        let mut blocks = vec![begin];
        let mut more = false;
        for step in steps {
            match step {
                Printed::Bind(name, value) => {
                    let space = spaces.get(name).cloned().unwrap_or_default();
                    let value = self.value(value).or(&space);
                    self.locals.push((name.clone(), value));
                }
                Printed::Adds(name, value) => {
                    let value = Value::of(self.value(value).flat());
                    more |= spaces.entry(name.clone()).or_default().absorb(&value);
                }
                Printed::Shows(value) => show(self, value),
                Printed::Open => blocks.push(self.locals.len()),
                Printed::Close { scoped } => {
                    let inner = blocks.pop().unwrap_or(begin);
                    match scoped {
                        true => self.locals.truncate(inner),
                        false => self.merge(inner),
                    }
                }
            }
        }
        self.locals.truncate(begin);
        more
    }

    /// Behind one of several ways, what it has bound may be what it was before.
    fn merge(&mut self, from: usize) {
        for (name, value) in self.locals.split_off(from) {
            let before = self.name(&name);
            self.locals.push((name, value.or(&before)));
        }
    }
}
