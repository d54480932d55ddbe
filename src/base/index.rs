//! Finding an element of a list by its name, without a search through all of them.

use std::cmp::Ordering;
use std::sync::OnceLock;

/// Where the names of a list are, for lists that are asked for many of them.
///
/// It holds positions only, in the order of the names, and is made when a list is first asked that is long
/// enough to be worth it. The list may grow afterwards; what came later is searched one by one.
/// Invariant: names that are in the list neither change nor move.
#[derive(Debug, Clone, Default)]
pub struct NameIndex(OnceLock<Vec<u32>>);

/// Shorter lists are searched one by one.
const SHORT: usize = 12;

impl NameIndex {
    /// The first of `len` elements that is called `wanted`; `name` gives the name at a position.
    pub fn find<'n>(
        &self,
        wanted: &str,
        len: usize,
        name: impl Fn(usize) -> &'n str,
    ) -> Option<usize> {
        if len <= SHORT {
            return (0..len).find(|at| name(*at) == wanted);
        }
        let order = self.0.get_or_init(|| {
            let mut order: Vec<u32> = (0..len as u32).collect();
            // A stable sort: the first of two equal names stays the first.
            order.sort_by(|a, b| name(*a as usize).cmp(name(*b as usize)));
            order
        });
        let place = order.partition_point(|at| name(*at as usize).cmp(wanted) == Ordering::Less);
        let found = order.get(place).map(|at| *at as usize);
        found
            .filter(|at| name(*at) == wanted)
            .or_else(|| (order.len()..len).find(|at| name(*at) == wanted))
    }
}

/// An index says nothing of its own: it does not make two lists differ.
impl PartialEq for NameIndex {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
