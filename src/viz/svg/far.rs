//! Arrows too long to be followed by the eye, or to be laid out in time, end in a small box that names
//! where they go.
//!
//! A layout gives an arrow a bend in each layer that it passes, and sorts all bends of a layer against
//! each other: what a picture costs is the sum of the layers that its arrows span.

use std::collections::BTreeMap;

use super::super::label::{middle, wrap};
use super::super::picture::{Arrow, Kind, Panel, Shape, Way};
use super::super::sketch::shape;

/// Boxes from which on an arrow may be too long to follow.
const MANY: usize = 60;

/// Layers that an arrow may span in a picture of many boxes.
const FAR: usize = 12;

/// Places that boxes, bends and conditions take together, where cutting arrows helps: at most, and of a
/// small panel, of which nobody could read more, so many and some more for each box.
const BUDGET: usize = 6_000;
const LEAST: usize = 400;
const A_BOX: usize = 20;

/// Arrows of one kind that leave a box for far ones and still have a small box each.
const EACH: usize = 3;

/// What arrows that share a small box leave: the box, their kind, the frame.
type Source<'a> = (&'a str, Way, Option<usize>);

/// The panel with its far arrows cut.
pub fn cut(panel: &Panel) -> Panel {
    let Some(ends) = ends(panel) else {
        return panel.clone();
    };
    let spans = spans(panel, &ends);
    let limit = limit(panel, &spans);
    let mut far: BTreeMap<Source<'_>, Vec<(usize, usize)>> = BTreeMap::new();
    for (at, ((arrow, span), (_, to))) in panel.arrows.iter().zip(&spans).zip(&ends).enumerate() {
        if *span > limit {
            let key = (&*arrow.from, arrow.kind, arrow.tail);
            far.entry(key).or_default().push((at, *to));
        }
    }
    let mut cut = panel.clone();
    let mut gone = vec![false; cut.arrows.len()];
    for group in far.values() {
        let signposts: Vec<&[(usize, usize)]> = match group.len() > EACH {
            true => vec![group],
            false => group.chunks(1).collect(),
        };
        for together in signposts {
            signpost(panel, together, &mut cut, &mut gone);
        }
    }
    let mut gone = gone.into_iter();
    cut.arrows.retain(|_| !gone.next().unwrap_or_default());
    cut
}

/// What a layout of a panel has to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Load {
    /// Places that boxes, bends and conditions take.
    pub places: usize,
    /// Pairs of places in one layer, of all layers: each is looked at with each.
    pub pairs: usize,
}

/// What a layout of a panel has to do.
pub fn load(panel: &Panel) -> Load {
    let ends = ends(panel).unwrap_or_default();
    let layers = layers(panel.boxes.len(), &ends);
    let last = layers.iter().copied().max().unwrap_or_default();
    // How many more there are in a layer than in the one above. Conditions stand between two of boxes.
    let mut steps: Vec<(usize, usize)> = vec![(0, 0); 2 * last + 2];
    let mut put = |first: usize, behind: usize| {
        if let Some(step) = steps.get_mut(first) {
            step.0 += 1;
        }
        if let Some(step) = steps.get_mut(behind) {
            step.1 += 1;
        }
    };
    layers
        .iter()
        .for_each(|layer| put(2 * layer, 2 * layer + 1));
    let layer = |at: usize| layers.get(at).copied().unwrap_or_default();
    for (from, to) in ends {
        let (from, to) = (layer(from), layer(to));
        put(
            2 * from.min(to) + 1,
            (2 * from.max(to)).max(2 * from.min(to) + 1),
        );
    }
    let (mut load, mut wide) = (Load::default(), 0_usize);
    for (more, fewer) in steps {
        wide = (wide + more).saturating_sub(fewer);
        load.places += wide;
        load.pairs = load.pairs.saturating_add(wide.saturating_mul(wide));
    }
    load
}

/// The boxes of arrows, by index; `None` where one has no box.
pub fn ends(panel: &Panel) -> Option<Vec<(usize, usize)>> {
    let boxes = panel.boxes.iter().enumerate();
    let index: BTreeMap<&str, usize> = boxes.map(|(at, shape)| (&*shape.id, at)).collect();
    let ends = panel
        .arrows
        .iter()
        .map(|arrow| Some((*index.get(&*arrow.from)?, *index.get(&*arrow.to)?)));
    ends.collect()
}

fn spans(panel: &Panel, ends: &[(usize, usize)]) -> Vec<usize> {
    let layers = layers(panel.boxes.len(), ends);
    let layer = |at: usize| layers.get(at).copied().unwrap_or_default();
    let span = |(from, to): &(usize, usize)| layer(*from).abs_diff(layer(*to));
    ends.iter().map(span).collect()
}

/// Each layer counts twice, since a condition stands between two.
fn bends(span: usize) -> usize {
    (2 * span).saturating_sub(1)
}

/// Lets arrows of one kind from one box end in a small box of their own.
fn signpost(panel: &Panel, group: &[(usize, usize)], cut: &mut Panel, gone: &mut [bool]) {
    let arrows = || group.iter().filter_map(|(at, _)| panel.arrows.get(*at));
    let name = |to: &usize| {
        let shape = panel.boxes.get(*to);
        shape
            .and_then(|shape| shape.label.first())
            .map_or("", |name| &**name)
    };
    let Some(first) = arrows().next() else {
        return;
    };
    let names: Vec<&str> = group.iter().map(|(_, to)| name(to)).collect();
    let from = panel.boxes.iter().find(|shape| shape.id == first.from);
    let id = format!("{}_0away{}", panel.id, cut.boxes.len());
    let cluster = from.and_then(|from| from.cluster);
    let mut made: Shape = shape(id.clone(), "", Kind::Away, cluster);
    made.label = match names.as_slice() {
        [one] => vec![format!("→ {one}")],
        several => {
            let shown = several.join(", ");
            let mut lines = wrap(&format!("→ {shown}"), 38, 3);
            lines.push(format!("{} in all", several.len()));
            lines
        }
    };
    let lines = arrows()
        .zip(&names)
        .map(|(arrow, name)| match &*arrow.label {
            "" => format!("→ {name}"),
            label => format!("{}: → {name}", label.replace('\n', ", ")),
        });
    made.doc = lines.collect::<Vec<_>>().join("\n");
    cut.boxes.push(made);
    let labels: Vec<&str> = arrows()
        .map(|arrow| &*arrow.label)
        .filter(|label| !label.is_empty())
        .collect();
    let label = match group.len() {
        1 => first.label.clone(),
        // The small box has them all beside the pointer.
        _ => labels
            .first()
            .map_or_else(String::new, |label| match labels.len() {
                1 => (*label).to_owned(),
                count => format!("{}\n… {} more", middle(label, 34), count - 1),
            }),
    };
    let taken = arrows().any(|arrow| arrow.taken);
    for (at, _) in group {
        if let Some(gone) = gone.get_mut(*at) {
            *gone = true;
        }
    }
    let kept = group.first().and_then(|(at, _)| {
        *gone.get_mut(*at)? = false;
        cut.arrows.get_mut(*at)
    });
    if let Some(arrow) = kept {
        *arrow = Arrow {
            to: id,
            label,
            taken,
            ..arrow.clone()
        };
    }
}

/// The longest span that stays.
fn limit(panel: &Panel, spans: &[usize]) -> usize {
    let far = match panel.boxes.len() > MANY {
        true => FAR,
        false => usize::MAX,
    };
    let mut sorted: Vec<usize> = spans.iter().copied().filter(|span| *span <= far).collect();
    sorted.sort_unstable();
    let budget = BUDGET.min(LEAST + A_BOX * panel.boxes.len());
    let mut sum = panel.boxes.len();
    for span in sorted {
        sum += bends(span);
        if sum > budget && span > 1 {
            return span - 1;
        }
    }
    far
}

/// A layer for each box, each below those that lead to it but for arrows that lead back.
pub fn layers(boxes: usize, ends: &[(usize, usize)]) -> Vec<usize> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); boxes];
    for (from, to) in ends {
        if let Some(next) = next.get_mut(*from) {
            next.push(*to);
        }
    }
    let order = finished(&next);
    let mut place = vec![0; boxes];
    for (rank, at) in order.iter().rev().enumerate() {
        if let Some(place) = place.get_mut(*at) {
            *place = rank;
        }
    }
    let rank = |at: usize| place.get(at).copied().unwrap_or_default();
    let mut layers = vec![0; boxes];
    for from in order.iter().rev() {
        let below = layers.get(*from).copied().unwrap_or_default() + 1;
        for to in next.get(*from).into_iter().flatten() {
            if let Some(layer) = layers.get_mut(*to).filter(|_| rank(*to) > rank(*from)) {
                *layer = below.max(*layer);
            }
        }
    }
    layers
}

/// All boxes in the order in which a walk from the first is done with them.
fn finished(next: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; next.len()];
    let mut done = Vec::new();
    let mut enter = |at: usize| {
        seen.get_mut(at)
            .is_some_and(|seen| !std::mem::replace(seen, true))
    };
    for root in 0..next.len() {
        if !enter(root) {
            continue;
        }
        let mut walk = vec![(root, 0)];
        while let Some((at, child)) = walk.last_mut() {
            match next.get(*at).and_then(|next| next.get(*child)) {
                Some(to) => {
                    *child += 1;
                    if enter(*to) {
                        walk.push((*to, 0));
                    }
                }
                None => {
                    done.push(*at);
                    walk.pop();
                }
            }
        }
    }
    done
}
