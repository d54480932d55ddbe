//! The text as written, token by token: what the formatter reads.
//!
//! [`ast`](crate::ast) keeps what a text means. Here is what it looks like: every sign and comment once and in
//! order, with the rules of the grammar around them. A rule that this file doesn't name is a
//! [`Kind::Other`], so that a new property needs no word here to be formatted.

use pest::Parser;

use super::grammar::{Grammar, Pair, Rule};

/// A text that has no errors, as tokens and the rules around them.
#[derive(Debug, Default)]
pub struct Tree<'a> {
    /// Every token in order. The last one is the end of the text and has no letters.
    pub tokens: Vec<Token<'a>>,
    /// Every comment in order.
    pub comments: Vec<Comment<'a>>,
    /// The rules; a rule's own come after it.
    pub nodes: Vec<Node>,
    /// Parts of all rules, each rule's in one row.
    pub parts: Vec<Part>,
    /// Whether the first line end outside of tokens has a carriage return; `None` where there is none.
    pub returns: Option<bool>,
}

/// A word, literal or sign.
#[derive(Debug, Clone, Copy)]
pub struct Token<'a> {
    /// As written.
    pub text: &'a str,
    /// What it is.
    pub sign: Sign,
    /// Whether no blank stands before it on a line.
    pub close_before: bool,
    /// Whether no blank stands after it on a line.
    pub close_after: bool,
    /// The comments between the token before and this one: a range of [`Tree::comments`].
    pub comments: (usize, usize),
    /// Whether a declaration begins with it, whose doc comment stands before it.
    pub declares: bool,
    /// Whether an empty line stands before it, after its comments.
    pub after_blank: bool,
    /// Whether it stands on another line than the token before.
    pub on_new_line: bool,
}

/// A comment without the blanks at its end.
#[derive(Debug, Clone, Copy)]
pub struct Comment<'a> {
    /// From its slashes on.
    pub text: &'a str,
    /// Whether nothing stands before it on its line.
    pub own_line: bool,
    /// Whether an empty line stands before it.
    pub after_blank: bool,
}

/// What a token is to the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// A name, a keyword, a literal, or any sign that is none of the others.
    Word,
    /// `{ ( [` or the `<` of a type.
    Open,
    /// `} ) ]` or the `>` of a type.
    Close,
    /// `,`
    Comma,
    /// `->`
    Arrow,
    /// An operator between two operands, and the `?` and `:` of a choice.
    Operator,
    /// The `|` of a type.
    Bar,
    /// The end of the text.
    End,
}

/// A rule of the grammar and what it took.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    /// Which rule.
    pub kind: Kind,
    /// For a property of a node or a line of a tool, its place in the order of those.
    pub rank: Option<u8>,
    /// Its tokens and rules: a range of [`Tree::parts`].
    pub parts: (usize, usize),
    /// Its tokens, those of its rules included: a range of [`Tree::tokens`].
    pub tokens: (usize, usize),
}

/// A part of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A token of its own: an index of [`Tree::tokens`].
    Token(usize),
    /// A rule in it: an index of [`Tree::nodes`].
    Node(usize),
}

/// The rules that are formatted in a way of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The whole text.
    File,
    /// `import ..`
    Import,
    /// `reducer ..`
    Reducer,
    /// `event ..`
    Event,
    /// `model NAME = ..` at the top.
    Model,
    /// Declarations between braces.
    Fields,
    /// The fields of a state.
    State,
    /// One of them.
    StateField,
    /// `via ..` of one of them.
    Via,
    /// A field of a record, a parameter, a member of an enum.
    Field,
    /// `@name(..)`
    Attribute,
    /// Names with values between braces: `set`, `emit`, settings.
    Values,
    /// Members of a graph or lines of a migration between braces, each on a line.
    Members,
    /// The update of a jump.
    Update,
    /// Properties of a node, lines of a tool or a static interrupt between braces.
    Body,
    /// The arms of a route.
    Arms,
    /// `when .. -> ..`, `else -> ..`
    Arm,
    /// One thing between brackets that takes no comma: `(a)`, `x[i]`, `fail("..")`.
    Wrap,
    /// `{ .. }` of an expression's map.
    Map,
    /// `Doc { .. }`
    Record,
    /// `{ .. }` of it.
    RecordBody,
    /// `[ .. ]` of an expression.
    List,
    /// `< .. >` of a type.
    TypeArgs,
    /// A type.
    Type,
    /// An expression.
    Expr,
    /// `.name`, `.name(..)`
    Select,
    /// `a -> b -> c`
    Edge,
    /// `require .. else ..`, `ensure .. else ..`
    Require,
    /// Any other; brackets in it hold a list with commas.
    Other,
}

/// The tokens of a text and the rules around them; `None` for a text with syntax errors, which
/// [`parse`](super::parse) words.
pub fn tree(text: &str) -> Option<Tree<'_>> {
    read(text, Rule::whole)
}

/// The same of a text that is one expression. Its first node is that expression.
pub fn expression(text: &str) -> Option<Tree<'_>> {
    read(text, Rule::only_expr)
}

fn read(text: &str, rule: Rule) -> Option<Tree<'_>> {
    let mut nothing = crate::diag::Diagnostics::new();
    let file = crate::base::FileId(0);
    let scanned = match rule {
        Rule::only_expr => super::scan::expression(text, file, &mut nothing)?,
        _ => super::scan::file(text, file, &mut nothing),
    };
    if !nothing.is_empty() {
        return None;
    }
    let found = Grammar::parse(rule, &scanned.text).ok()?.next()?;
    let mut reader = Reader {
        text,
        at: 0,
        line_start: true,
        blank: false,
        new_line: false,
        first_comment: 0,
        tree: Tree::default(),
    };
    // A mark of byte order is no token.
    reader.at = text.len() - text.trim_start_matches('\u{feff}').len();
    reader.node(found);
    reader.token(text.len(), text.len(), (Sign::End, false, false));
    Some(reader.tree)
}

/// Goes through the text along the rules.
struct Reader<'a> {
    text: &'a str,
    /// How far the text was read.
    at: usize,
    /// Whether nothing was read on this line so far.
    line_start: bool,
    /// Whether an empty line stands before what comes next.
    blank: bool,
    /// Whether a line ended since the last token.
    new_line: bool,
    /// The first comment since the last token.
    first_comment: usize,
    tree: Tree<'a>,
}

impl<'a> Reader<'a> {
    /// A rule with all that is in it. It goes as deep as brackets nest.
    fn node(&mut self, pair: Pair) -> usize {
        let (rule, span) = (pair.as_rule(), pair.as_span());
        self.signs_of(span.start(), None);
        let index = self.tree.nodes.len();
        let first = self.tree.tokens.len();
        self.tree.nodes.push(Node {
            kind: kind(rule),
            rank: rank(rule),
            parts: (0, 0),
            tokens: (first, first),
        });
        let mut parts = Vec::new();
        for inner in pair.into_inner() {
            let start = inner.as_span().start();
            self.signs_of(start, Some((&mut parts, rule)));
            if inner.as_rule() == Rule::EOI {
                continue;
            }
            match shape(inner.as_rule(), rule) {
                Some(shape) => {
                    let token = inner.as_span();
                    parts.push(Part::Token(self.tree.tokens.len()));
                    self.token(token.start(), token.end(), shape);
                }
                None => parts.push(Part::Node(self.node(inner))),
            }
        }
        // Blanks that a rule may have taken at its end belong to what follows.
        let end = match rule {
            Rule::whole => self.text.len(),
            _ => span.end(),
        };
        self.signs_of(end, Some((&mut parts, rule)));
        if let Some(token) = self.tree.tokens.get_mut(first) {
            token.declares |= declares(rule);
        }
        let begin = self.tree.parts.len();
        self.tree.parts.extend(parts);
        let range = (begin, self.tree.parts.len());
        let last = self.tree.tokens.len();
        if let Some(node) = self.tree.nodes.get_mut(index) {
            node.parts = range;
            node.tokens = (first, last);
        }
        index
    }

    /// Reads to `end`, where no rule stands: blanks, comments, and signs of one character that the grammar
    /// has no rule for. They are parts of `own`.
    fn signs_of(&mut self, end: usize, mut own: Option<(&mut Vec<Part>, Rule)>) {
        while let Some(c) = self.text.get(self.at..end).and_then(|t| t.chars().next()) {
            match c {
                '\n' => {
                    self.blank |= self.line_start;
                    self.line_start = true;
                    self.new_line = true;
                    let before = self.text.get(..self.at).unwrap_or("");
                    self.tree.returns.get_or_insert(before.ends_with('\r'));
                    self.at += 1;
                }
                c if c.is_ascii_whitespace() || c == '\u{b}' => self.at += 1,
                '/' => self.comment(),
                _ => {
                    let rule = own.as_ref().map_or(Rule::whole, |(_, rule)| *rule);
                    if let Some((parts, _)) = &mut own {
                        parts.push(Part::Token(self.tree.tokens.len()));
                    }
                    self.token(self.at, self.at + c.len_utf8(), sign(c, rule));
                }
            }
        }
    }

    fn comment(&mut self) {
        let rest = self.text.get(self.at..).unwrap_or("");
        let length = rest.find('\n').unwrap_or(rest.len());
        let text = rest.get(..length).unwrap_or("").trim_ascii_end();
        let first = self.tree.tokens.is_empty() && self.tree.comments.is_empty();
        self.tree.comments.push(Comment {
            text,
            own_line: self.line_start || first,
            after_blank: std::mem::take(&mut self.blank),
        });
        self.line_start = false;
        self.at += length;
    }

    fn token(&mut self, start: usize, end: usize, (sign, before, after): Shape) {
        let comments = (self.first_comment, self.tree.comments.len());
        self.first_comment = comments.1;
        self.tree.tokens.push(Token {
            text: self.text.get(start..end).unwrap_or(""),
            sign,
            close_before: before,
            close_after: after,
            comments,
            declares: false,
            after_blank: std::mem::take(&mut self.blank),
            on_new_line: std::mem::take(&mut self.new_line),
        });
        self.line_start = false;
        self.at = end;
    }
}

/// What a token is, and whether it stands close to what is before and after it.
type Shape = (Sign, bool, bool);

/// The shape of a matched rule that is a token; `None` for one with parts.
fn shape(rule: Rule, around: Rule) -> Option<Shape> {
    if super::message::is_keyword(rule) {
        return Some((Sign::Word, false, false));
    }
    Some(match rule {
        Rule::ident
        | Rule::type_name
        | Rule::upper
        | Rule::dotted
        | Rule::name
        | Rule::lower
        | Rule::selector
        | Rule::modifier
        | Rule::bool
        | Rule::number
        | Rule::duration
        | Rule::sure_duration
        | Rule::string
        | Rule::assign
        | Rule::equals => (Sign::Word, false, false),
        Rule::arrow => (Sign::Arrow, false, false),
        Rule::bar => sign('|', around),
        Rule::colon if matches!(around, Rule::expr | Rule::state_expr) => {
            (Sign::Operator, false, false)
        }
        Rule::colon => (Sign::Word, true, false),
        Rule::question | Rule::op => (Sign::Operator, false, false),
        Rule::prefix | Rule::opt => (Sign::Word, false, true),
        Rule::type_null | Rule::no_types => (Sign::Word, true, false),
        Rule::lbrace => sign('{', around),
        Rule::rbracket => sign(']', around),
        Rule::rparen => sign(')', around),
        Rule::rangle => sign('>', around),
        _ => return None,
    })
}

/// The shape of a sign of one character by the rule that it stands in.
fn sign(c: char, around: Rule) -> Shape {
    let calls = matches!(
        around,
        Rule::args
            | Rule::params
            | Rule::graph_params
            | Rule::named_args
            | Rule::attribute
            | Rule::fail_target
            | Rule::via
            | Rule::index
    );
    match c {
        '(' | '[' => (Sign::Open, calls, true),
        ')' | ']' => (Sign::Close, true, false),
        '<' => (Sign::Open, true, true),
        '>' => (Sign::Close, true, false),
        '{' => (Sign::Open, false, around == Rule::map),
        '}' => (Sign::Close, around == Rule::map, false),
        ',' => (Sign::Comma, true, false),
        '|' => (Sign::Bar, false, false),
        '@' => (Sign::Word, false, true),
        '.' => {
            let leads = matches!(around, Rule::expr | Rule::state_expr | Rule::record);
            (Sign::Word, !leads, true)
        }
        _ => (Sign::Word, false, false),
    }
}

/// Whether a rule's doc comment is kept; as the builders have it.
fn declares(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::type_item
            | Rule::enum_item
            | Rule::enum_member
            | Rule::reducer_item
            | Rule::function_item
            | Rule::event_item
            | Rule::model_item
            | Rule::tool_item
            | Rule::toolset_item
            | Rule::retry_item
            | Rule::prompt_item
            | Rule::instance_item
            | Rule::graph_item
            | Rule::field
            | Rule::state_field
            | Rule::worker_param
            | Rule::brief_param
            | Rule::node_m
    )
}

fn kind(rule: Rule) -> Kind {
    match rule {
        Rule::whole => Kind::File,
        Rule::import_item => Kind::Import,
        Rule::reducer_item => Kind::Reducer,
        Rule::event_item => Kind::Event,
        Rule::model_item => Kind::Model,
        Rule::field_block | Rule::enum_item => Kind::Fields,
        Rule::state_m | Rule::contract => Kind::State,
        Rule::state_field => Kind::StateField,
        Rule::via => Kind::Via,
        Rule::field | Rule::enum_member => Kind::Field,
        Rule::attribute => Kind::Attribute,
        Rule::named_block | Rule::settings | Rule::set_p | Rule::into_p | Rule::cache_p => {
            Kind::Values
        }
        Rule::graph_body | Rule::migrate_m => Kind::Members,
        Rule::jump_update => Kind::Update,
        Rule::node_body | Rule::tool_body | Rule::interrupt_body => Kind::Body,
        Rule::arms => Kind::Arms,
        Rule::arm => Kind::Arm,
        Rule::paren
        | Rule::computed_target
        | Rule::index
        | Rule::fail_target
        | Rule::type_member => Kind::Wrap,
        Rule::map => Kind::Map,
        Rule::record => Kind::Record,
        Rule::record_body => Kind::RecordBody,
        Rule::list => Kind::List,
        Rule::type_args => Kind::TypeArgs,
        Rule::type_expr => Kind::Type,
        Rule::expr | Rule::state_expr => Kind::Expr,
        Rule::select | Rule::record_select => Kind::Select,
        Rule::edge_m | Rule::start_m => Kind::Edge,
        Rule::require_p | Rule::ensure_p => Kind::Require,
        _ => Kind::Other,
    }
}

/// The place of a property in the order that the formatter gives them: what comes in, what is known
/// before the work, the work, its policies, what is written, where it goes.
fn rank(rule: Rule) -> Option<u8> {
    let order = [
        [Rule::input_p, Rule::tool_reads].as_slice(),
        &[Rule::skip_p],
        &[Rule::let_p],
        &[Rule::require_p],
        &[Rule::model_p],
        &[Rule::system_p],
        &[Rule::prompt_p],
        &[Rule::messages_p],
        &[Rule::output_p],
        &[Rule::ensure_p],
        &[Rule::tools_p],
        &[Rule::tool_choice_p],
        &[Rule::stream_p],
        &[Rule::max_turns_p],
        &[Rule::until_p],
        &[Rule::parallel_p],
        &[Rule::ask_p],
        &[Rule::expect_p],
        &[Rule::permit_p],
        &[Rule::with_p],
        &[Rule::into_p],
        &[Rule::persist_p],
        &[Rule::reads_p],
        &[Rule::writes_p],
        &[Rule::retry_p],
        &[Rule::timeout_p],
        &[Rule::cache_p],
        &[Rule::on_error_p],
        &[Rule::max_visits_p],
        &[Rule::defer_p],
        &[Rule::set_p],
        &[Rule::emit_p],
        &[Rule::ends_p],
        &[Rule::goto_p, Rule::return_line],
        &[Rule::tags_p],
    ];
    let place = order.iter().position(|same| same.contains(&rule))?;
    u8::try_from(place).ok()
}
