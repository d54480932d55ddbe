//! Arrows that are drawn as one: those of one kind between the same two boxes.
//!
//! An arrow for each would be a bundle of lines with the same ends; here each has a line of the label.

use std::collections::BTreeMap;

use super::super::picture::{Arrow, Kind, Panel};

/// The panel with one arrow of a kind between two boxes, its conditions one below the other.
pub fn parallel(panel: &Panel) -> Panel {
    let mut merged = panel.clone();
    merged.arrows.clear();
    let mut index: BTreeMap<Arrow, usize> = BTreeMap::new();
    for arrow in &panel.arrows {
        let key = Arrow {
            label: String::new(),
            taken: false,
            ..arrow.clone()
        };
        let at = *index.entry(key).or_insert(merged.arrows.len());
        match merged.arrows.get_mut(at) {
            None => merged.arrows.push(arrow.clone()),
            Some(one) => {
                one.taken |= arrow.taken;
                if !one.label.is_empty() && !arrow.label.is_empty() {
                    one.label.push('\n');
                }
                one.label.push_str(&arrow.label);
            }
        }
    }
    leave_below(&mut merged);
    merged
}

/// What leaves an opened subgraph by its border is laid out from its last box, so that it goes on below.
fn leave_below(panel: &mut Panel) {
    let mut last: BTreeMap<usize, &str> = BTreeMap::new();
    for shape in &panel.boxes {
        if let Some(cluster) = shape.cluster {
            last.entry(cluster).or_insert(&shape.id);
        }
    }
    for shape in &panel.boxes {
        if let Some(cluster) = shape.cluster.filter(|_| shape.kind == Kind::End) {
            last.insert(cluster, &shape.id);
        }
    }
    for arrow in &mut panel.arrows {
        // One that comes back to the subgraph itself has its place beside it.
        if let Some(from) = arrow.tail.and_then(|tail| last.get(&tail))
            && arrow.from != arrow.to
        {
            arrow.from = (*from).to_owned();
        }
    }
}
