//! Conditions as formulas: what they ask, and how that is put together.

/// A formula over asks of one kind. What a condition denies is in the asks, so that there is no `not`.
#[derive(Debug, Clone)]
pub enum Formula<A> {
    /// It holds always, or never.
    Is(bool),
    /// One ask.
    Ask(A),
    /// All of these hold.
    All(Vec<Formula<A>>),
    /// One of these holds.
    Any(Vec<Formula<A>>),
}

impl<A> Formula<A> {
    /// The same with other asks.
    pub fn map<B>(self, to: &mut impl FnMut(A) -> B) -> Formula<B> {
        match self {
            Formula::Is(value) => Formula::Is(value),
            Formula::Ask(ask) => Formula::Ask(to(ask)),
            Formula::All(parts) => {
                Formula::All(parts.into_iter().map(|part| part.map(to)).collect())
            }
            Formula::Any(parts) => {
                Formula::Any(parts.into_iter().map(|part| part.map(to)).collect())
            }
        }
    }
}
