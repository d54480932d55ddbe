//! What a span is, before it is written down for a receiver.

/// A finished span.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// Of which trace.
    pub trace_id: u128,
    /// Its id, not 0.
    pub id: u64,
    /// The span around it.
    pub parent: Option<u64>,
    /// Its name.
    pub name: String,
    /// Whether it is of a request to another system.
    pub client: bool,
    /// When it began, in nanoseconds since 1970.
    pub start: u64,
    /// When it ended, likewise.
    pub end: u64,
    /// What is known of it.
    pub attributes: Vec<Attribute>,
    /// What happened within it.
    pub events: Vec<SpanEvent>,
    /// Why it failed: a message, empty where messages are not told.
    pub error: Option<String>,
}

/// Something that happened within a span.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanEvent {
    /// Its name.
    pub name: &'static str,
    /// When, in nanoseconds since 1970.
    pub at: u64,
    /// What is known of it.
    pub attributes: Vec<Attribute>,
}

/// A name and its value.
pub type Attribute = (&'static str, Attr);

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Attr {
    /// A text.
    Text(String),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
    /// Yes or no.
    Flag(bool),
    /// Several texts.
    Texts(Vec<String>),
}

impl From<&str> for Attr {
    fn from(text: &str) -> Self {
        Attr::Text(text.to_owned())
    }
}

impl From<u64> for Attr {
    fn from(number: u64) -> Self {
        Attr::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl Span {
    /// The text of an attribute.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.attributes
            .iter()
            .find_map(|(known, value)| match value {
                Attr::Text(text) if *known == name => Some(text.as_str()),
                _ => None,
            })
    }

    /// The number of an attribute.
    pub fn int(&self, name: &str) -> Option<i64> {
        self.attributes
            .iter()
            .find_map(|(known, value)| match value {
                Attr::Int(number) if *known == name => Some(*number),
                _ => None,
            })
    }

    /// How long it took, in seconds.
    pub fn seconds(&self) -> f64 {
        self.end.saturating_sub(self.start) as f64 / 1e9
    }
}
