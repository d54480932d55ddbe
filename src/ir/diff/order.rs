//! Lists whose order says something: of nodes, of what a model or a caller is shown.

use super::Versions;
use super::finding::Group::Compatible;
use super::finding::Side::People;
use super::rest::Spot;
use super::tree::Part;

/// What the order of things means; nothing where it means nothing, as that of declarations in a file.
fn meaning(kind: &str, key: &str) -> Option<(&'static str, &'static str)> {
    Some(match (kind, key) {
        ("Node", _) => (
            "nodes",
            "what they write in one super-step is put together in it",
        ),
        ("Stop", _) => ("interrupts", "they are asked in it"),
        ("EnumMember", _) => ("members", "models are shown them in it"),
        ("RecordField", "params") => ("parameters", "models are shown them in it"),
        ("RecordField", "input") => ("inputs", ""),
        ("RecordField", "context") => ("constants", ""),
        ("RecordField", _) => ("fields", "models are shown them in it"),
        ("Field", _) => ("fields", ""),
        _ => return None,
    })
}

impl Versions<'_> {
    /// Says that things which both versions have stand in another order.
    pub(super) fn order(
        &mut self,
        spot: &Spot,
        key: &str,
        old: &[((String, usize), &Part)],
        new: &[((String, usize), &Part)],
    ) {
        let kind = new.first().map_or("", |(_, part)| part.kind);
        let Some((noun, means)) = meaning(kind, key) else {
            return;
        };
        let both = |these: &[((String, usize), &Part)], others: &[((String, usize), &Part)]| {
            let known: std::collections::BTreeSet<&(String, usize)> =
                others.iter().map(|(name, _)| name).collect();
            let names = these.iter().map(|(name, _)| name.clone());
            names
                .filter(|name| known.contains(name))
                .collect::<Vec<_>>()
        };
        let (was, is) = (both(old, new), both(new, old));
        let Some(at) = was.iter().zip(&is).position(|(was, is)| was != is) else {
            return;
        };
        let name = |names: &[(String, usize)]| {
            let name = names.get(at).map(|(name, _)| name.clone());
            name.unwrap_or_default()
        };
        let (before, first) = (name(&was), name(&is));
        let means = match means {
            "" => String::new(),
            means => format!("; {means}"),
        };
        let message = format!(
            "{noun} of {} stand in another order, `{first}` ahead of `{before}`{means}",
            spot.of
        );
        let place = |part: Option<&((String, usize), &Part)>| part.and_then(|(_, part)| part.at.0);
        let find = |of: &[((String, usize), &Part)], name: &str| {
            place(of.iter().find(|((known, _), _)| known == name))
        };
        let at = (
            find(old, &first).or(spot.at.0),
            find(new, &first).or(spot.at.1),
        );
        let code = match kind {
            "Node" => "node-order",
            _ => "order-changed",
        };
        self.say(Compatible, People, code, at, message);
    }
}
