//! In which order declarations are resolved that name each other.

/// Finishes `first` behind all that it names, those behind what they name, and so on. A chain of a hundred thousand takes
/// memory for it, but no stack.
///
/// `begin` gives what a declaration names, or nothing for one that was begun before; `finish` is called once for each that
/// was begun. In a cycle, one that it names may be begun and not finished.
pub(super) fn behind_what_they_name<C>(
    first: usize,
    all: &mut C,
    begin: impl Fn(&mut C, usize) -> Option<Vec<usize>>,
    finish: impl Fn(&mut C, usize),
) {
    let mut path: Vec<(usize, std::vec::IntoIter<usize>)> = Vec::new();
    let named = begin(all, first);
    path.extend(named.map(|named| (first, named.into_iter())));
    while let Some((index, named)) = path.last_mut() {
        let index = *index;
        match named.next() {
            Some(next) => {
                let named = begin(all, next);
                path.extend(named.map(|named| (next, named.into_iter())));
            }
            None => {
                path.pop();
                finish(all, index);
            }
        }
    }
}
