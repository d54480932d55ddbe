//! Metrics, counted from finished spans: how long operations take, and how many tokens they use.

use super::span::{Attr, Attribute, Span};

/// Bounds that the conventions have for seconds.
const SECONDS: [f64; 14] = [
    0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
];
/// Bounds that they have for tokens.
const TOKENS: [f64; 14] = [
    1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0, 65536.0, 262144.0, 1048576.0, 4194304.0,
    16777216.0, 67108864.0,
];
/// Sets of attributes that a histogram tells apart; what comes behind them is left out.
const MOST_POINTS: usize = 2000;

/// One metric.
#[derive(Debug)]
pub struct Histogram {
    /// Its name.
    pub name: &'static str,
    /// Its unit, as UCUM has it.
    pub unit: &'static str,
    /// What it counts.
    pub description: &'static str,
    /// Upper bounds of its buckets but the last.
    pub bounds: &'static [f64],
    points: Vec<(Vec<Attribute>, Point)>,
}

/// What was counted under one set of attributes.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// How many.
    pub count: u64,
    /// All together.
    pub sum: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// How many in each bucket.
    pub buckets: Vec<u64>,
}

impl Histogram {
    fn new(
        name: &'static str,
        unit: &'static str,
        description: &'static str,
        bounds: &'static [f64],
    ) -> Self {
        Self {
            name,
            unit,
            description,
            bounds,
            points: Vec::new(),
        }
    }

    /// Its points with their attributes.
    pub fn points(&self) -> impl Iterator<Item = (&[Attribute], &Point)> {
        let points = self.points.iter();
        points.map(|(attributes, point)| (attributes.as_slice(), point))
    }

    fn add(&mut self, attributes: Vec<Attribute>, value: f64) {
        let known = self.points.iter();
        let known = known.map(|(known, _)| known).position(|a| *a == attributes);
        let index = known.unwrap_or(self.points.len());
        if index >= MOST_POINTS {
            return;
        }
        if known.is_none() {
            let point = Point {
                count: 0,
                sum: 0.0,
                min: f64::INFINITY,
                max: f64::NEG_INFINITY,
                buckets: vec![0; self.bounds.len() + 1],
            };
            self.points.push((attributes, point));
        }
        let bucket = self.bounds.partition_point(|bound| *bound < value);
        if let Some((_, point)) = self.points.get_mut(index) {
            point.count += 1;
            point.sum += value;
            point.min = point.min.min(value);
            point.max = point.max.max(value);
            if let Some(count) = point.buckets.get_mut(bucket) {
                *count += 1;
            }
        }
    }
}

/// All metrics.
#[derive(Debug)]
pub struct Metrics {
    model: Histogram,
    tokens: Histogram,
    agent: Histogram,
    tool: Histogram,
}

impl Default for Metrics {
    fn default() -> Self {
        let seconds = |name, description| Histogram::new(name, "s", description, &SECONDS);
        Self {
            model: seconds(
                "gen_ai.client.operation.duration",
                "How long calls of models take, with all attempts.",
            ),
            tokens: Histogram::new(
                "gen_ai.client.token.usage",
                "{token}",
                "How many tokens calls of models use.",
                &TOKENS,
            ),
            agent: seconds(
                "gen_ai.invoke_agent.duration",
                "How long agents and runs take.",
            ),
            tool: seconds(
                "gen_ai.execute_tool.duration",
                "How long calls of tools take, with all attempts.",
            ),
        }
    }
}

impl Metrics {
    /// Counts a finished span.
    pub fn count(&mut self, span: &Span) {
        let operation = span.text("gen_ai.operation.name").unwrap_or_default();
        let names: &[&'static str] = match operation {
            "chat" => &[
                "gen_ai.operation.name",
                "gen_ai.provider.name",
                "gen_ai.request.model",
            ],
            "execute_tool" => &["gen_ai.operation.name", "gen_ai.tool.name"],
            "invoke_agent" | "invoke_workflow" => &["gen_ai.operation.name", "gen_ai.agent.name"],
            _ => return,
        };
        let texts = |names: &[&'static str]| -> Vec<Attribute> {
            let known = names.iter();
            known
                .filter_map(|name| Some((*name, Attr::from(span.text(name)?))))
                .collect()
        };
        let mut attributes = texts(names);
        if operation == "chat" {
            let counts = [
                ("input", "gen_ai.usage.input_tokens"),
                ("output", "gen_ai.usage.output_tokens"),
            ];
            for (kind, name) in counts {
                if let Some(count) = span.int(name) {
                    let mut attributes = attributes.clone();
                    attributes.push(("gen_ai.token.type", Attr::from(kind)));
                    self.tokens.add(attributes, count as f64);
                }
            }
        }
        attributes.extend(texts(&["error.type"]));
        let histogram = match operation {
            "chat" => &mut self.model,
            "execute_tool" => &mut self.tool,
            _ => &mut self.agent,
        };
        histogram.add(attributes, span.seconds());
    }

    /// Those that have counted anything.
    pub fn counted(&self) -> impl Iterator<Item = &Histogram> {
        let all = [&self.model, &self.tokens, &self.agent, &self.tool];
        all.into_iter()
            .filter(|histogram| !histogram.points.is_empty())
    }
}
