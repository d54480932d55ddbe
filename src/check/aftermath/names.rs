//! One message for one name that stands for nothing, at the place that is wrong.
//!
//! Uses of one name among the names of one home are one mistake: the first is reported, the others are pointed at. Where several
//! uses agree on a name, and the one declared that is close stands nowhere else, it is the declaration that is misspelt.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::{FileId, SourceMap, Span, name};
use crate::diag::{Diagnostic, Diagnostics, Fact, Home, codes};
use crate::resolve::naming::IN_SCOPE;

use super::again::{point_at, together};
use super::declared::{Declared, counts};
use super::ground::Ground;
use super::is;

/// A name that stands for nothing: where it was looked for, in which file (of top-level names), and the name.
type Key = (Home, Option<FileId>, String);

/// Puts the findings on each unknown name together.
pub fn once(ground: &Ground, sources: &SourceMap, diags: &mut Diagnostics) {
    if diags.iter().all(|found| found.unknown_name().is_none()) {
        return;
    }
    let declared = Declared::new(ground);
    let mut all = diags.take();
    explained(&declared, &mut all);
    let groups = groups(&declared, &all);
    let wrong = misspelt(&declared, sources, &groups, &all);
    let moved: BTreeSet<Span> = wrong.iter().map(|(_, (_, at))| *at).collect();
    for (key, at) in wrong {
        let group = groups.get(&key).map_or(&[][..], Vec::as_slice);
        let inner = declared.is_inner(key.0, &at.0);
        at_declaration(&mut all, (group, &key.2), at, inner, sources);
    }
    let groups = groups.into_values().collect();
    together(&mut all, groups, "here too");
    // What else is said of a declaration that is misspelt follows from that.
    let follows = |found: &Diagnostic| {
        let own = found.unknown_name().is_some().then_some(found.span());
        if is(found, &[&codes::NAMING]) && moved.contains(&found.span()) {
            return true;
        }
        let of = found.spoken_of();
        of.is_some_and(|of| own != Some(of) && moved.contains(&of))
    };
    all.retain(|found| !follows(found));
    all.into_iter().for_each(|found| diags.push(found));
}

/// Names of what a node's own work gives. Where such a value has none of the fields that are read from it, it is of another type
/// than was meant: one mistake, whatever the fields.
const GIVEN: [&str; 3] = ["answer", "output", "result"];

/// Names that all nodes of a graph have in scope, or none.
const OF_GRAPH: [&str; 2] = ["context", "params"];

fn key(declared: &Declared, found: &Diagnostic) -> Option<Key> {
    let unknown = found.unknown_name()?;
    let given = found.value().filter(|of| GIVEN.contains(of));
    if let Some(of) = given.filter(|_| unknown.near.is_none()) {
        let home = declared.whole(Home::Scope(None), found.span());
        return Some((home, None, format!("{of}.")));
    }
    let mut home = declared.whole(unknown.home, found.span());
    // A name that no node has is unknown in all of them alike; what a node's own work gives is not.
    let given = !OF_GRAPH.contains(&unknown.name.as_str());
    let own = unknown.near.is_some() || given && IN_SCOPE.contains(&unknown.name.as_str());
    if matches!(unknown.home, Home::Scope(None)) && !own && !unknown.name.contains('.') {
        home = declared.graph_scope(found.span()).unwrap_or(home);
    }
    Some((home, file_of(home, found), unknown.name.clone()))
}

/// Of a top-level name, the file whose names were looked through.
fn file_of(home: Home, found: &Diagnostic) -> Option<FileId> {
    let module = found.facts.iter().find_map(|fact| match fact {
        Fact::Module(file) => Some(*file),
        _ => None,
    });
    (home == Home::Items).then_some(module.unwrap_or(found.span().file))
}

/// Where names are looked for; of top-level names the file too.
type Place = (Home, Option<FileId>);

/// The homes in which an unknown name may have been meant to be declared: those of its node, and of all of the graph.
fn homes(declared: &Declared, found: &Diagnostic) -> Option<(Vec<Place>, String)> {
    let unknown = found.unknown_name()?;
    let (home, file, name) = key(declared, found)?;
    let own = declared.whole(unknown.home, found.span());
    let mut all = vec![(home, file)];
    if own != home {
        all.push((own, file_of(own, found)));
    }
    if let Home::Scope(_) = own {
        let graph = declared.graph_scope(found.span());
        let graph = graph.map(|graph| (graph, None));
        all.extend(graph.filter(|graph| !all.contains(graph)));
    }
    Some((all, name))
}

fn groups(declared: &Declared, all: &[Diagnostic]) -> BTreeMap<Key, Vec<usize>> {
    let mut groups: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    for (at, found) in all.iter().enumerate() {
        if let Some(key) = key(declared, found) {
            groups.entry(key).or_default().push(at);
        }
    }
    groups
}

/// Takes out unknown names that another finding explains: an import of another name, or a name that is declared twice where
/// one of the two should have been this one.
fn explained(declared: &Declared, all: &mut Vec<Diagnostic>) {
    let imports = all
        .iter()
        .filter(|found| is(found, &[&codes::UNKNOWN_IMPORT]));
    // The name that was meant, where one is close.
    let imported: BTreeSet<(FileId, Option<String>)> = imports
        .filter_map(|found| Some((found.span().file, found.unknown_name()?.near.clone())))
        .collect();
    let mut twice: BTreeMap<(Home, Option<FileId>), Vec<usize>> = BTreeMap::new();
    let mut items: BTreeSet<String> = BTreeSet::new();
    for (at, found) in all.iter().enumerate() {
        for fact in &found.facts {
            if let Fact::Twice(home, name) = fact {
                let home = declared.whole(*home, found.span());
                let file = (home == Home::Items).then_some(found.span().file);
                twice.entry((home, file)).or_default().push(at);
                if home == Home::Items {
                    items.insert(name.clone());
                }
            }
        }
    }
    let mut unknown: BTreeMap<(Home, Option<FileId>), BTreeSet<String>> = BTreeMap::new();
    for found in all.iter() {
        if let Some((homes, name)) = homes(declared, found) {
            for home in homes {
                unknown.entry(home).or_default().insert(name.clone());
            }
        }
    }
    // One name too often and one too few, of one home.
    let renamed = twice.into_iter().filter_map(|(home, places)| {
        let [at] = places.as_slice() else { return None };
        let one = unknown.get(&home).is_some_and(|names| names.len() == 1);
        one.then_some((home, *at))
    });
    let renamed: BTreeMap<(Home, Option<FileId>), usize> = renamed.collect();
    let mut uses: BTreeMap<usize, (String, Vec<Span>)> = BTreeMap::new();
    let mut keep = Vec::new();
    for found in all.iter() {
        let (Some((home, _, name)), Some((homes, _))) =
            (key(declared, found), homes(declared, found))
        else {
            keep.push(true);
            continue;
        };
        let by_import = !is(found, &[&codes::UNKNOWN_IMPORT])
            && (imported.contains(&(found.span().file, Some(name.clone())))
                || imported.contains(&(found.span().file, None)) && declared.is_item(&name));
        let of_doubled = declared
            .owner(home)
            .is_some_and(|owner| items.contains(&owner.node));
        let at = homes.iter().find_map(|home| renamed.get(home));
        if let Some(at) = at {
            let (_, places) = uses.entry(*at).or_insert_with(|| (name, Vec::new()));
            places.push(found.span());
        }
        keep.push(at.is_none() && !by_import && !of_doubled);
    }
    for (at, (name, mut places)) in uses {
        if let Some(found) = all.get_mut(at) {
            places.sort();
            point_at(found, &places, &format!("`{name}` is declared nowhere"));
            found.help = Some(match is(found, &[&codes::RESERVED_NAME]) {
                true => format!("did you mean `{name}`?"),
                false => format!("call one of the two `{name}`, or take it out"),
            });
        }
    }
    let mut keep = keep.into_iter();
    all.retain(|_| keep.next().unwrap_or(true));
}

/// Names that several uses agree on, where the declared one that is close stands nowhere else; with its place.
fn misspelt(
    declared: &Declared,
    sources: &SourceMap,
    groups: &BTreeMap<Key, Vec<usize>>,
    all: &[Diagnostic],
) -> Vec<(Key, (String, Span))> {
    let mut candidates: Vec<(&Key, &str, Span, usize)> = Vec::new();
    for (key, group) in groups {
        let found = || group.iter().filter_map(|at| all.get(*at));
        let places: BTreeSet<Span> = found().map(Diagnostic::span).collect();
        let near = found().find_map(|found| found.unknown_name()?.near.as_deref());
        let Some(near) = near else {
            continue;
        };
        let file = found().next().map_or(FileId(0), |found| found.span().file);
        let file = key.1.unwrap_or(file);
        if let Some(at) = declared.find(key.0, file, near) {
            candidates.push((key, near, at, places.len()));
        }
    }
    let names = candidates.iter().map(|(_, near, ..)| *near);
    let unknown = candidates.iter().map(|((_, _, name), ..)| name.as_str());
    let words = counts(sources, names.chain(unknown));
    let places = |word: &str| words.get(word).map_or(&[][..], Vec::as_slice);
    let alone = |near: &str, at: Span| places(near).iter().all(|place| *place == at);
    let wrong = candidates.iter().filter(|((_, _, name), near, at, uses)| {
        let agree = *uses > 1 || places(name).len() > 1;
        agree && alone(near, *at)
    });
    let wrong = wrong.map(|(key, near, at, _)| ((*key).clone(), ((*near).to_owned(), *at)));
    wrong.collect()
}

/// Moves the first finding of a group to the declaration, and makes the others follow it. Only a name that nothing outside can
/// know (`inner`) is mended there: that of a field of the input, of a tool, of what a model answers is a promise.
fn at_declaration(
    all: &mut [Diagnostic],
    (group, unknown): (&[usize], &str),
    (near, at): (String, Span),
    inner: bool,
    sources: &SourceMap,
) {
    let found = || group.iter().filter_map(|at| all.get(*at));
    let mut places: Vec<Span> = found().map(Diagnostic::span).collect();
    places.sort();
    places.dedup();
    places.retain(|place| *place != at);
    // What is found elsewhere (that a caller lacks what has the misspelt name) says less than that a name is unknown.
    let says = |found: &&Diagnostic| sources.text(found.span()).ends_with(unknown);
    let Some((code, message)) = found()
        .find(says)
        .or_else(|| found().next())
        .map(|found| (found.code, found.message.clone()))
    else {
        return;
    };
    let message = format!("{message}: `{near}` is declared, and named nowhere else");
    let count = places.len();
    let uses = match count {
        1 => "its use".to_owned(),
        _ => format!("its {count} uses"),
    };
    for number in group {
        let Some(found) = all.get_mut(*number) else {
            continue;
        };
        let mut moved = Diagnostic::new(code, message.clone(), at)
            .here(format!("declared as `{near}`"))
            .help(match inner {
                true => format!("did you mean `{unknown}`?"),
                false => format!(
                    "did you mean `{unknown}`? Where `{near}` is right, which others may know it by, write that in {uses}"
                ),
            });
        if inner && name::certain(&near, [unknown]).is_some() {
            moved = moved.fix(at, unknown);
        }
        moved.level = found.level;
        moved.facts = std::mem::take(&mut found.facts);
        point_at(&mut moved, &places, &format!("`{unknown}` is used here"));
        *found = moved;
    }
}
