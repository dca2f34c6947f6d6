//! The drawing for a browser: one file that needs nothing else, for light and for dark surroundings.

mod arrangement;

use crate::drawing::svg::arrangement::{Arrangement, Point, arrange};
use crate::drawing::width::cut;
use crate::drawing::{EdgeKind, Mark, Node, Scene, short_effort};

/// How many columns of a title one line of a box holds.
const TITLE_COLUMNS: usize = 27;

/// The room above the boxes, for the headline.
const HEAD: i64 = 74;

/// The room below them, for what could not be drawn as it is.
const FOOT: i64 = 58;

/// The room below them where nothing is to be said.
const MARGIN: i64 = 24;

const STYLE: &str = "\
text{font-family:ui-sans-serif,system-ui,-apple-system,'Segoe UI',sans-serif;font-size:12px;fill:#1f2328}\
.page{fill:#ffffff}.head{font-size:16px;font-weight:600}.quiet{fill:#57606a}.id{font-weight:700}\
.box{fill:#ffffff;stroke:#8c959f;stroke-width:1.25}.edge{fill:none;stroke:#8c959f;stroke-width:1.25}\
.tip{fill:#8c959f}.tip.critical{fill:#8250df}.tip.circle{fill:#cf222e}\
.edge.circle{stroke:#cf222e;stroke-dasharray:5 4}\
.landed{fill:#dafbe1;stroke:#1a7f37}.working{fill:#ddf4ff;stroke:#0969da}.held{fill:#ffebe9;stroke:#cf222e}\
.ready{fill:#fff8c5;stroke:#9a6700}.blocked{fill:#f6f8fa;stroke-dasharray:2 3}.parked{fill:#f6f8fa;stroke-dasharray:6 4}\
.missing{fill:#ffffff;stroke:#cf222e;stroke-dasharray:6 4}\
.box.critical{stroke:#8250df;stroke-width:3}.edge.critical{stroke:#8250df;stroke-width:3}\
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.page{fill:#0d1117}.quiet{fill:#9198a1}\
.box{fill:#161b22;stroke:#6e7681}.edge{stroke:#6e7681}.tip{fill:#6e7681}.tip.critical{fill:#a371f7}.tip.circle{fill:#f85149}\
.edge.circle{stroke:#f85149}.landed{fill:#0f2d1a;stroke:#3fb950}.working{fill:#0c2742;stroke:#58a6ff}\
.held{fill:#3a1316;stroke:#f85149}.ready{fill:#332701;stroke:#d29922}.blocked,.parked{fill:#161b22}\
.missing{fill:#0d1117;stroke:#f85149}.box.critical{stroke:#a371f7}.edge.critical{stroke:#a371f7}}";

/// Returns the scene as one SVG document.
#[must_use]
pub fn svg(scene: &Scene) -> String {
    let arrangement = arrange(scene);
    let width = arrangement.width.max(560);
    let notes = notes(scene);
    let height = arrangement.height + HEAD + if notes.is_empty() { MARGIN } else { FOOT };
    let caption = escaped(&scene.caption);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"graph-title graph-summary\">\n\
         <title id=\"graph-title\">{caption}</title>\n<desc id=\"graph-summary\">{summary}</desc>\n\
         <style>{STYLE}</style>\n<defs>{}{}{}</defs>\n\
         <rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n\
         <text class=\"head\" x=\"24\" y=\"34\">{caption}</text>\n\
         <text class=\"quiet\" x=\"24\" y=\"56\">{summary}</text>\n",
        tip(""),
        tip("critical"),
        tip("circle"),
        summary = escaped(&summary(scene)),
    );
    edges(scene, &arrangement, &mut out);
    for (node, corner) in scene.nodes.iter().zip(&arrangement.corners) {
        draw_box(node, *corner, &mut out);
    }
    if !notes.is_empty() {
        out.push_str(&format!(
            "<text class=\"quiet\" x=\"24\" y=\"{}\">{}</text>\n",
            height - 22,
            escaped(&notes)
        ));
    }
    out.push_str("</svg>\n");
    out
}

fn tip(kind: &str) -> String {
    format!(
        "<marker id=\"tip{kind}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerUnits=\"userSpaceOnUse\" \
         markerWidth=\"10\" markerHeight=\"10\" orient=\"auto\"><path class=\"tip {kind}\" d=\"M0 0L8 4L0 8z\"/></marker>"
    )
}

fn summary(scene: &Scene) -> String {
    let path: Vec<String> = scene
        .ids(&scene.critical_path)
        .into_iter()
        .map(ToString::to_string)
        .collect();
    let path = match path.len() {
        0 => return "no tasks".to_owned(),
        1..=12 => path.join(" → "),
        more => format!(
            "{} → ({} more) → {}",
            path.get(..6).unwrap_or_default().join(" → "),
            more - 12,
            path.get(more - 6..).unwrap_or_default().join(" → ")
        ),
    };
    format!(
        "{} of work · critical path {path}, {}",
        scene.effort(),
        scene.critical_effort()
    )
}

fn edges(scene: &Scene, arrangement: &Arrangement, out: &mut String) {
    // The critical path is drawn last, over the others.
    for critical in [false, true] {
        for route in arrangement.routes.iter() {
            let Some(edge) = scene.edges.get(route.edge).filter(|edge| edge.critical == critical) else {
                continue;
            };
            let class = match (edge.kind, critical) {
                (EdgeKind::Circular, _) => "circle",
                (EdgeKind::Direct | EdgeKind::Implied, true) => "critical",
                (EdgeKind::Direct | EdgeKind::Implied, false) => "",
            };
            out.push_str(&format!(
                "<path class=\"edge {class}\" marker-end=\"url(#tip{class})\" d=\"{}\"/>\n",
                curve(&route.points)
            ));
        }
    }
}

/// Returns a path that leaves and enters every point level.
fn curve(points: &[Point]) -> String {
    let mut path = String::new();
    let mut last: Option<Point> = None;
    for point in points {
        let (x, y) = (point.x, point.y + HEAD);
        match last {
            None => path.push_str(&format!("M{x} {y}")),
            Some(Point { y: before, .. }) if before == point.y => path.push_str(&format!("L{x} {y}")),
            Some(before) => {
                let middle = i64::midpoint(before.x, point.x);
                path.push_str(&format!("C{middle} {} {middle} {y} {x} {y}", before.y + HEAD));
            }
        }
        last = Some(*point);
    }
    path
}

fn draw_box(node: &Node, corner: Point, out: &mut String) {
    let (x, y) = (corner.x, corner.y + HEAD);
    let class = node.mark.map_or("", Mark::class);
    let critical = if node.critical { " critical" } else { "" };
    let state = node.mark.map_or(String::new(), |mark| format!("{} · ", mark.word()));
    let word = if node.critical { " · critical" } else { "" };
    let (first, second) = lines(&node.title, TITLE_COLUMNS.saturating_sub(node.id.as_str().len() + 1));
    let id = escaped(node.id.as_str());
    out.push_str(&format!(
        "<g><title>{id} — {}</title><rect class=\"box {class}{critical}\" x=\"{x}\" y=\"{y}\" width=\"{}\" \
         height=\"{}\" rx=\"8\"/><text x=\"{}\" y=\"{}\"><tspan class=\"id\">{id}</tspan> {}</text>",
        escaped(&node.title),
        arrangement::BOX_WIDTH,
        arrangement::BOX_HEIGHT,
        x + 12,
        if second.is_empty() { y + 29 } else { y + 21 },
        escaped(&first),
    ));
    if !second.is_empty() {
        out.push_str(&format!(
            "<text x=\"{}\" y=\"{}\">{}</text>",
            x + 12,
            y + 37,
            escaped(&second)
        ));
    }
    out.push_str(&format!(
        "<text class=\"quiet\" x=\"{}\" y=\"{}\">{state}{}{word}</text></g>\n",
        x + 12,
        if second.is_empty() { y + 48 } else { y + 55 },
        short_effort(node.effort)
    ));
}

/// Returns a title in two lines, broken between words where that fits, and cut in the middle where it has to be.
fn lines(title: &str, first_width: usize) -> (String, String) {
    let mut first = String::new();
    let mut rest = title;
    for word in title.split_inclusive(' ') {
        let longer = format!("{first}{word}");
        if crate::drawing::width::columns(longer.trim_end()) > first_width {
            break;
        }
        first = longer;
        rest = rest.get(word.len()..).unwrap_or_default();
    }
    if first.is_empty() {
        return (cut(title, first_width, "…"), String::new());
    }
    (first.trim_end().to_owned(), cut(rest, TITLE_COLUMNS, "…"))
}

fn notes(scene: &Scene) -> String {
    let mut notes = Vec::new();
    let implied = scene.edges.iter().filter(|edge| edge.kind == EdgeKind::Implied).count();
    if implied > 0 {
        notes.push(format!("not drawn: {implied} dependencies that others imply"));
    }
    for circle in &scene.circles {
        let mut tasks = circle.clone();
        tasks.extend(circle.first());
        let names: Vec<String> = scene
            .ids(&tasks)
            .into_iter()
            .take(12)
            .map(ToString::to_string)
            .collect();
        notes.push(format!("circle: {}", names.join(" → ")));
    }
    for missing in scene.missing.iter().take(4) {
        let waits = scene
            .nodes
            .get(missing.task)
            .map_or(String::new(), |node| node.id.to_string());
        notes.push(format!("{waits} depends on {}, which does not exist", missing.names));
    }
    if scene.missing.len() > 4 {
        notes.push(format!("{} more such dependencies", scene.missing.len() - 4));
    }
    notes.join(" · ")
}

/// Returns the text as XML holds it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}
