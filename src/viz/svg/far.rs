//! Arrows too long to be followed by the eye, or to be laid out in time, end in a small box that names
//! where they go.
//!
//! A layout gives an arrow a bend in each layer that it passes, and sorts all bends of a layer against
//! each other: what a picture costs is the sum of the layers that its arrows span.

use std::collections::BTreeMap;

use super::super::picture::{Kind, Panel, Shape};
use super::super::sketch::shape;

/// Boxes from which on an arrow may be too long to follow.
const MANY: usize = 60;

/// Layers that an arrow may span in a picture of many boxes.
const FAR: usize = 12;

/// Layers that all arrows may span together.
const BUDGET: usize = 6_000;

/// The panel with its far arrows cut.
pub fn cut(panel: &Panel) -> Panel {
    let index: BTreeMap<&str, usize> = panel
        .boxes
        .iter()
        .enumerate()
        .map(|(at, shape)| (&*shape.id, at))
        .collect();
    let ends: Vec<(usize, usize)> = panel
        .arrows
        .iter()
        .filter_map(|arrow| Some((*index.get(&*arrow.from)?, *index.get(&*arrow.to)?)))
        .collect();
    if panel.boxes.len() <= MANY || ends.len() != panel.arrows.len() {
        return panel.clone();
    }
    let layers = layers(panel.boxes.len(), &ends);
    let layer = |at: usize| layers.get(at).copied().unwrap_or_default();
    let spans: Vec<usize> = ends
        .iter()
        .map(|(from, to)| layer(*from).abs_diff(layer(*to)))
        .collect();
    let limit = limit(&spans);
    let mut cut = panel.clone();
    let mut away: BTreeMap<(String, String), String> = BTreeMap::new();
    for (at, span) in spans.iter().enumerate() {
        let Some(arrow) = cut.arrows.get_mut(at).filter(|_| *span > limit) else {
            continue;
        };
        let key = (arrow.from.clone(), arrow.to.clone());
        let fresh = format!("{}_0away{}", panel.id, away.len());
        let id = away.entry(key).or_insert_with(|| {
            let find = |id: &str| index.get(id).and_then(|at| panel.boxes.get(*at));
            let made = signpost(fresh, find(&arrow.from), find(&arrow.to));
            let id = made.id.clone();
            cut.boxes.push(made);
            id
        });
        arrow.to = id.clone();
    }
    cut
}

fn signpost(id: String, from: Option<&Shape>, to: Option<&Shape>) -> Shape {
    let name = to.and_then(|to| to.label.first());
    let name = name.map_or("", |name| name.as_str());
    let cluster = from.and_then(|from| from.cluster);
    shape(id, &format!("→ {name}"), Kind::Away, cluster)
}

/// The longest span that stays.
fn limit(spans: &[usize]) -> usize {
    let mut sorted: Vec<usize> = spans.iter().copied().filter(|span| *span <= FAR).collect();
    sorted.sort_unstable();
    let mut sum = 0;
    for span in sorted {
        sum += span;
        if sum > BUDGET && span > 1 {
            return span - 1;
        }
    }
    FAR
}

/// A layer for each box, each below those that lead to it but for arrows that lead back.
fn layers(boxes: usize, ends: &[(usize, usize)]) -> Vec<usize> {
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
