//! The drawing for Graphviz.

use crate::drawing::{EdgeKind, Mark, Node, Scene, short_effort};

/// Returns the scene in the DOT language; `dot -Tsvg` draws it.
#[must_use]
pub fn dot(scene: &Scene) -> String {
    let mut out = format!(
        "digraph {} {{\n  graph [rankdir=LR, bgcolor=\"transparent\", fontname=\"sans-serif\", ranksep=0.6]\n  \
         node [shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\", color=\"#57606a\", fontcolor=\"#1f2328\", \
         fontname=\"sans-serif\", margin=\"0.18,0.09\"]\n  edge [color=\"#8c959f\", arrowsize=0.7]\n\n",
        quoted(&scene.caption)
    );
    for node in &scene.nodes {
        out.push_str(&format!("  {} [{}]\n", quoted(node.id.as_str()), attributes(node)));
    }
    let mut absent: Vec<&str> = scene.missing.iter().map(|missing| missing.names.as_str()).collect();
    absent.sort_unstable();
    absent.dedup();
    for name in &absent {
        out.push_str(&format!(
            "  {} [label={}, style=\"rounded,dashed\", color=\"#cf222e\", fontcolor=\"#cf222e\"]\n",
            quoted(name),
            quoted(&format!("{name}\nmissing"))
        ));
    }
    out.push('\n');
    for edge in &scene.edges {
        let (Some(from), Some(to)) = (scene.nodes.get(edge.from), scene.nodes.get(edge.to)) else {
            continue;
        };
        let style = match (edge.kind, edge.critical) {
            (EdgeKind::Circular, _) => " [style=dashed, color=\"#cf222e\", label=\"circle\", fontcolor=\"#cf222e\"]",
            (EdgeKind::Direct | EdgeKind::Implied, true) => " [penwidth=3, color=\"#8250df\"]",
            (EdgeKind::Implied, false) => " [style=dotted]",
            (EdgeKind::Direct, false) => "",
        };
        let line = format!("  {} -> {}{style}\n", quoted(from.id.as_str()), quoted(to.id.as_str()));
        out.push_str(&line);
    }
    for missing in &scene.missing {
        if let Some(node) = scene.nodes.get(missing.task) {
            let (from, to) = (quoted(missing.names.as_str()), quoted(node.id.as_str()));
            out.push_str(&format!("  {from} -> {to} [style=dashed, color=\"#cf222e\"]\n"));
        }
    }
    out.push_str("}\n");
    out
}

fn attributes(node: &Node) -> String {
    let critical = if node.critical { " · critical" } else { "" };
    let state = node.mark.map_or(String::new(), |mark| format!("{} · ", mark.word()));
    let label = format!(
        "{} — {}\n{state}{}{critical}",
        node.id,
        node.title,
        short_effort(node.effort)
    );
    let mut attributes = vec![format!("label={}", quoted(&label))];
    if let Some(mark) = node.mark {
        attributes.push(format!("fillcolor=\"{}\"", fill(mark)));
    }
    match node.mark {
        Some(Mark::Parked) => attributes.push("style=\"rounded,filled,dashed\"".to_owned()),
        Some(Mark::Blocked) => attributes.push("style=\"rounded,filled,dotted\"".to_owned()),
        Some(
            Mark::Landed
            | Mark::Running
            | Mark::Submitted
            | Mark::InProgress
            | Mark::Dispatched
            | Mark::Held
            | Mark::Unknown
            | Mark::Ready,
        )
        | None => {}
    }
    if node.critical {
        attributes.push("penwidth=3, color=\"#8250df\"".to_owned());
    }
    attributes.join(", ")
}

const fn fill(mark: Mark) -> &'static str {
    match mark {
        Mark::Landed => "#dafbe1",
        Mark::Running | Mark::Submitted | Mark::InProgress | Mark::Dispatched => "#ddf4ff",
        Mark::Held | Mark::Unknown => "#ffebe9",
        Mark::Ready => "#fff8c5",
        Mark::Blocked | Mark::Parked => "#f6f8fa",
    }
}

/// Returns a string of the language. In a label a backslash starts a sequence and an ampersand an entity, so both are
/// taken out of their meaning; a line break becomes the label's own.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '&' => out.push_str("&amp;"),
            '\n' => out.push_str("\\n"),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
