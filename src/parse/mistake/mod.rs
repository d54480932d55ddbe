//! Common mistakes, each with its own words; [`message`] words the rest. [`target`] has those of arrows and arms, [`declared`]
//! those of fields, types and lists, [`head`] those of how nodes and tools begin, [`value`] those of expressions, [`operator`] signs where others belong,
//! [`missing`] what is left out, [`letter`] what is wrong within a word, [`parameter`] what a graph is given, [`expression`] forms of expressions in Python and TypeScript,
//! [`spread`] what stands for `[...xs, x]`, [`foreign`] other forms of other languages.

mod declared;
mod expression;
mod foreign;
mod head;
mod letter;
mod missing;
mod operator;
mod parameter;
mod spread;
mod target;
mod value;

pub use crate::base::foreign::expression::word as first_word;
pub use expression::{in_whole, whole};

use std::cell::OnceCell;

use pest::error::Error;

use crate::base::foreign::expression::{Types, Written};
use crate::base::foreign::text::outside;
use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, codes};

use super::grammar::Rule;
use super::{keyword, message};

/// Where the grammar gave up, and what it tried there.
struct Place<'a> {
    /// The text that was read.
    text: &'a str,
    /// The file that it is part of.
    types: Types<'a>,
    /// What stands before the place, blanks left out.
    before: &'a str,
    /// What stands there.
    rest: &'a str,
    /// The rules tried.
    tried: Vec<Rule>,
    /// The first token there.
    span: Span,
    /// The expression around it as it is written here, once that is asked for.
    whole: OnceCell<Option<Written>>,
}

impl Place<'_> {
    fn tried(&self, rule: Rule) -> bool {
        self.tried.contains(&rule)
    }

    /// Whether an expression could have ended here.
    fn after_operand(&self) -> bool {
        self.tried(Rule::op)
    }

    /// Where the grammar gave up, from the beginning of the text.
    fn offset(&self) -> usize {
        self.text.len() - self.rest.len()
    }

    fn last_word(&self) -> &str {
        last_word(self.before)
    }

    fn first_word(&self) -> &str {
        first_word(self.rest)
    }

    fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(&codes::SYNTAX_ERROR, message, self.span)
    }

    fn error_at(&self, at: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(&codes::SYNTAX_ERROR, message, at)
    }

    /// A finding about what has another form here.
    fn instead(
        &self,
        at: Span,
        message: impl Into<String>,
        meant: impl Into<String>,
    ) -> Diagnostic {
        let meant = meant.into();
        let found = self.error_at(at, message);
        found.help(format!("write `{meant}`")).fix(at, meant)
    }

    /// The blanks that the line of the text begins with.
    fn indent(&self) -> &str {
        let start = (self.span.start as usize).saturating_sub(self.offset());
        let before = self.types.text.get(..start).unwrap_or("");
        let line = before
            .get(before.rfind('\n').map_or(0, |at| at + 1)..)
            .unwrap_or("");
        line.get(..line.len() - line.trim_start_matches(' ').len())
            .unwrap_or("")
    }

    /// A stretch of what stands here.
    fn at(&self, start: usize, length: usize) -> Span {
        let start = self.span.start as usize + start;
        Span::new(self.span.file, start, start + length)
    }

    /// A stretch of what stands before.
    fn before_at(&self, start: usize, end: usize) -> Span {
        let base = (self.span.start as usize).saturating_sub(self.text.len() - self.rest.len());
        Span::new(self.span.file, base + start, base + end)
    }
}

/// The word that a text ends with; empty where it ends with none.
pub fn last_word(text: &str) -> &str {
    let start = text.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    text.get(start.len()..).unwrap_or("")
}

/// The innermost bracket that is open at the end of a text. Strings and comments are passed over.
pub fn innermost_open(text: &str) -> Option<char> {
    innermost_bracket(text).map(|(_, bracket)| bracket)
}

/// The same, with where it stands.
fn innermost_bracket(text: &str) -> Option<(usize, char)> {
    let mut open = Vec::new();
    for (at, c) in outside(text) {
        match c {
            '(' | '[' | '{' => open.push((at, c)),
            ')' | ']' | '}' => drop(open.pop()),
            _ => {}
        }
    }
    open.pop()
}

/// Words an error of the grammar in a piece of the text of a file; `base` is where the piece begins there.
pub fn report(
    text: &str,
    types: Types,
    base: usize,
    file: FileId,
    error: Error<Rule>,
) -> Diagnostic {
    let at = message::offset(&error);
    let place = Place {
        text,
        types,
        before: text.get(..at).unwrap_or("").trim_ascii_end(),
        rest: text.get(at..).unwrap_or(""),
        tried: message::tried(error.clone()),
        span: message::token_span(text, at, base, file),
        whole: OnceCell::new(),
    };
    let known: [fn(&Place) -> Option<Diagnostic>; 98] = [
        parameter::item_with_arguments,
        parameter::written_type,
        parameter::types_in_angles,
        foreign::nameless_node,
        foreign::expression_for_name,
        foreign::attribute_without_parens,
        foreign::type_on_next_line,
        foreign::name_in_list,
        foreign::when_in_tools,
        letter::unseen_blank,
        letter::foreign_letter,
        foreign::comment,
        foreign::ty,
        foreign::list_of,
        foreign::inline_record,
        foreign::import,
        foreign::inner_quote,
        declared::field_call,
        foreign::retry_policy,
        foreign::visits_without_target,
        foreign::field_of_result,
        head::model_maker,
        head::emit_with_arguments,
        head::typed_let,
        head::kind_with_arguments,
        head::interrupt_with_question,
        head::value_without_name,
        expression::cast,
        expression::operator,
        spread::spread,
        value::message_literal,
        expression::tuple,
        foreign::reducer_path,
        foreign::negative_attempts,
        foreign::spaced_duration,
        target::parent_twice,
        letter::curly_quote,
        letter::odd_number,
        head::unnamed_argument,
        operator::question_dot,
        operator::optional_index,
        target::semicolon,
        target::exit_target,
        expression::function,
        expression::comprehension,
        expression::negation,
        declared::enum_sign,
        declared::assign_for_colon,
        operator::fat_arrow,
        target::odd_arrow,
        target::arrow_for_as,
        target::lost_target,
        head::state_prefix,
        value::assigning_sign,
        value::named_in_call,
        value::expression_for_template,
        expression::composed_text,
        expression::range,
        expression::elvis,
        value::foreign_operator,
        declared::unquoted_attribute,
        declared::attribute_before,
        declared::optional_name,
        declared::union_in_braces,
        declared::second_question,
        declared::colon_for_default,
        declared::missing_type,
        declared::open_union,
        declared::missing_bar,
        declared::bare_list,
        head::positional_argument,
        target::quoted_target,
        declared::quoted_name,
        head::model_text,
        head::wrong_kind,
        head::kind_without_colon,
        head::missing_kind,
        operator::equals_sign,
        operator::other_operator,
        target::arrow_before_arms,
        operator::goto_arrow,
        target::arms_without_braces,
        target::else_if,
        target::other_when,
        target::condition_on_edge,
        target::each_form,
        target::after_target,
        target::colon_behind_keyword,
        missing::missing_brace,
        head::missing_result_arrow,
        target::close_keyword,
        missing::missing_arrow,
        declared::modifier,
        missing::missing_colon,
        value::missing_operator,
        missing::missing_comma,
        missing::reserved_word,
        missing::unfinished,
    ];
    known
        .iter()
        .find_map(|mistake| mistake(&place))
        .unwrap_or_else(|| place.in_whole(message::expected(text, base, file, error)))
}
