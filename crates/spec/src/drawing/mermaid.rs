//! The drawing for Mermaid, as Markdown viewers show it.

use crate::drawing::{EdgeKind, Mark, Node, Scene, short_effort};

/// Mermaid draws no more edges than this unless it is configured to.
const MOST_EDGES: usize = 500;

/// Returns the scene as a Mermaid flowchart.
#[must_use]
pub fn mermaid(scene: &Scene) -> String {
    let mut out = format!("flowchart LR\n  accTitle: {}\n", escaped(&scene.caption));
    if scene.edges.len() > MOST_EDGES {
        out.push_str(&format!(
            "  %% {} edges; Mermaid needs maxEdges raised from {MOST_EDGES} to draw them\n",
            scene.edges.len()
        ));
    }
    for node in &scene.nodes {
        out.push_str(&format!("  {}[\"{}\"]", name(node.id.as_str()), label(node)));
        if let Some(mark) = node.mark {
            out.push_str(&format!(":::{}", mark.class()));
        }
        out.push('\n');
    }
    let mut absent: Vec<&str> = scene.missing.iter().map(|missing| missing.names.as_str()).collect();
    absent.sort_unstable();
    absent.dedup();
    for names in absent {
        out.push_str(&format!("  {}[\"{names}<br/>missing\"]:::missing\n", name(names)));
    }
    for edge in &scene.edges {
        let (Some(from), Some(to)) = (scene.nodes.get(edge.from), scene.nodes.get(edge.to)) else {
            continue;
        };
        let arrow = match (edge.kind, edge.critical) {
            (EdgeKind::Circular, _) => "-. circle .->",
            (EdgeKind::Direct | EdgeKind::Implied, true) => "==>",
            (EdgeKind::Direct | EdgeKind::Implied, false) => "-->",
        };
        out.push_str(&format!(
            "  {} {arrow} {}\n",
            name(from.id.as_str()),
            name(to.id.as_str())
        ));
    }
    for missing in &scene.missing {
        if let Some(node) = scene.nodes.get(missing.task) {
            let (from, to) = (name(missing.names.as_str()), name(node.id.as_str()));
            out.push_str(&format!("  {from} -.-> {to}\n"));
        }
    }
    out.push_str(&classes(scene));
    out
}

fn classes(scene: &Scene) -> String {
    let mut out = String::new();
    let mut written: Vec<&str> = Vec::new();
    for mark in Mark::ALL {
        let is_used = scene.nodes.iter().any(|node| node.mark == Some(mark));
        if is_used && !written.contains(&mark.class()) {
            out.push_str(&format!("  classDef {} {}\n", mark.class(), style(mark)));
            written.push(mark.class());
        }
    }
    if !scene.missing.is_empty() {
        out.push_str("  classDef missing fill:#ffffff,stroke:#cf222e,color:#cf222e,stroke-dasharray:6 4\n");
    }
    let critical: Vec<String> = scene
        .nodes
        .iter()
        .filter(|node| node.critical)
        .map(|node| name(node.id.as_str()))
        .collect();
    if !critical.is_empty() {
        out.push_str("  classDef critical stroke:#8250df,stroke-width:3px\n");
        out.push_str(&format!("  class {} critical\n", critical.join(",")));
    }
    out
}

const fn style(mark: Mark) -> &'static str {
    match mark {
        Mark::Landed => "fill:#dafbe1,stroke:#1a7f37,color:#1f2328",
        Mark::Running | Mark::Submitted | Mark::InProgress | Mark::Dispatched => {
            "fill:#ddf4ff,stroke:#0969da,color:#1f2328"
        }
        Mark::Held | Mark::Unknown => "fill:#ffebe9,stroke:#cf222e,color:#1f2328",
        Mark::Ready => "fill:#fff8c5,stroke:#9a6700,color:#1f2328",
        Mark::Blocked => "fill:#f6f8fa,stroke:#57606a,color:#1f2328,stroke-dasharray:2 3",
        Mark::Parked => "fill:#f6f8fa,stroke:#57606a,color:#57606a,stroke-dasharray:6 4",
    }
}

/// Returns the name of a task in the flowchart: its id, whose dot the language does not take.
fn name(id: &str) -> String {
    format!("t{}", id.replace('.', "_"))
}

fn label(node: &Node) -> String {
    let critical = if node.critical { " · critical" } else { "" };
    let state = node.mark.map_or(String::new(), |mark| format!("{} · ", mark.word()));
    format!(
        "{} — {}<br/>{state}{}{critical}",
        node.id,
        escaped(&node.title),
        short_effort(node.effort)
    )
}

/// Returns the text with everything that is ASCII and has a meaning anywhere in Mermaid, Markdown or HTML written as
/// Mermaid's own entity, `#35;` for `#`.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        if character.is_ascii_alphanumeric() || !character.is_ascii() || matches!(character, ' ' | ',' | '.' | '-') {
            out.push(character);
        } else {
            out.push_str(&format!("#{};", u32::from(character)));
        }
    }
    out
}
