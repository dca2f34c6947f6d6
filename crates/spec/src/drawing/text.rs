//! The drawing for a terminal: rails on the left, then each task's id, title, state, effort and what it waits for.

use std::collections::BTreeMap;

use orchestrate_core::words::count;

use crate::drawing::rails::{Rails, Row, rails};
use crate::drawing::symbols::{Paint, Symbols};
use crate::drawing::width::{columns, cut, padded};
use crate::drawing::{EdgeKind, Mark, Node, Scene, short_effort};

/// What the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextStyle {
    /// How many columns a line may take.
    pub width: usize,
    /// Only ASCII characters are drawn. Titles keep their own.
    pub ascii: bool,
    /// Colours are written, as ANSI sequences.
    pub color: bool,
}

/// A title is not cut shorter than this to make room for the list of what its task waits for.
const LEAST_TITLE: usize = 20;

/// The list is left out where there is no room for this much of it.
const LEAST_NEEDS: usize = 10;

/// The list is not cut shorter than this while titles can give way.
const ENOUGH_NEEDS: usize = 18;

/// No line is wider: eyes lose a longer one.
const WIDEST: usize = 160;

/// A terminal narrower than this gets lines that it has to wrap.
const NARROWEST: usize = 40;

/// Returns the drawing, each line ended.
#[must_use]
pub fn text(scene: &Scene, style: TextStyle) -> String {
    let width = style.width.clamp(NARROWEST, WIDEST);
    let symbols = Symbols::of(style);
    let mut out = String::new();
    line(&mut out, &headline(scene, width, symbols));
    if scene.nodes.is_empty() {
        return out;
    }
    line(&mut out, "");
    let rails = rails(scene, width / 10);
    let table = Table::new(scene, &rails, width, symbols);
    for row in &rails.rows {
        table.write(row, style, &mut out);
    }
    line(&mut out, "");
    for note in notes(scene, &rails, width, symbols) {
        line(&mut out, &cut(&note, width, symbols.ellipsis));
    }
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}

fn headline(scene: &Scene, width: usize, symbols: Symbols) -> String {
    let mut parts = vec![scene.caption.replace(" · ", symbols.dot)];
    if scene.nodes.is_empty() {
        parts.push("no tasks".to_owned());
    } else {
        parts.push(format!(
            "{} in {}",
            count(scene.nodes.len(), "task"),
            count(scene.layers, "layer")
        ));
        let critical = short_effort(scene.critical_effort());
        parts.push(format!(
            "{} of work, {} critical",
            scene.effort(),
            critical.trim_end_matches(" d")
        ));
    }
    cut(&parts.join(symbols.dot), width, symbols.ellipsis)
}

/// The columns to the right of the rails, with their widths.
struct Table<'a> {
    scene: &'a Scene,
    symbols: Symbols,
    rails: usize,
    ids: usize,
    titles: usize,
    states: usize,
    efforts: usize,
    needs: BTreeMap<usize, Vec<String>>,
    needs_width: usize,
}

impl<'a> Table<'a> {
    fn new(scene: &'a Scene, rails: &Rails, width: usize, symbols: Symbols) -> Self {
        let widest = |text: &dyn Fn(&Node) -> usize| scene.nodes.iter().map(text).max().unwrap_or(0);
        let needs = needs(scene, symbols);
        let mut table = Self {
            scene,
            symbols,
            rails: rails.columns,
            ids: widest(&|node| columns(node.id.as_str())).min(width / 4),
            titles: widest(&|node| columns(&node.title)),
            states: widest(&|node| node.mark.map_or(0, |mark| mark.word().len())),
            efforts: widest(&|node| columns(&short_effort(node.effort))).min(width / 4),
            needs_width: needs.values().map(|list| columns(&list_text(list))).max().unwrap_or(0),
            needs,
        };
        let (titles, needs) = (table.titles, table.needs_width);
        (table.titles, table.needs_width) = (0, 0);
        // What is left for both, the gap before the list included.
        let room = width.saturating_sub(table.width() + 2);
        if titles + needs <= room {
            (table.titles, table.needs_width) = (titles, needs);
        } else if room < LEAST_TITLE + LEAST_NEEDS {
            // The list repeats what the rails show: on a narrow terminal it gives way.
            table.titles = titles.min(room + 2);
        } else {
            let list = needs.min(ENOUGH_NEEDS.min(room - LEAST_TITLE));
            table.titles = titles.min(room - list);
            table.needs_width = needs.min(room - table.titles);
        }
        table
    }

    /// Returns how many columns a whole line takes.
    fn width(&self) -> usize {
        let optional = |width: usize| if width == 0 { 0 } else { width + 2 };
        2 + self.rails
            + 2
            + self.ids
            + 2
            + 1
            + self.titles
            + optional(self.states)
            + optional(self.efforts)
            + optional(self.needs_width)
    }

    fn write(&self, row: &Row, style: TextStyle, out: &mut String) {
        let Some(node) = self.scene.nodes.get(row.node) else {
            return;
        };
        let paint = Paint { on: style.color };
        let mut text = String::from("  ");
        for cell in row.cells.iter().take(self.rails) {
            if cell.node {
                paint.mark(node, &self.symbols.node(node.mark).to_string(), &mut text);
            } else {
                paint.rail(*cell, self.symbols.line(*cell), &mut text);
            }
        }
        let id = cut(node.id.as_str(), self.ids, self.symbols.ellipsis);
        let star = if node.critical { "*" } else { " " };
        let padding = " ".repeat(self.ids.saturating_sub(columns(&id)));
        text.push_str(&format!("  {padding}"));
        paint.critical(node, &format!("{id}{star}"), &mut text);
        text.push_str("  ");
        let title = cut(&node.title, self.titles, self.symbols.ellipsis);
        paint.critical(node, &title, &mut text);
        text.push_str(&" ".repeat(self.titles.saturating_sub(columns(&title))));
        if self.states > 0 {
            text.push_str("  ");
            let word = node.mark.map_or("", Mark::word);
            paint.mark(node, &padded(word, self.states), &mut text);
        }
        let effort = short_effort(node.effort);
        text.push_str(&format!("  {effort:>width$}", width = self.efforts));
        if let Some(list) = self.needs.get(&row.node).filter(|_| self.needs_width > 0) {
            text.push_str(&format!("  {}", fitted(list, self.needs_width, self.symbols)));
        }
        line(out, &text);
    }
}

/// Returns for each task what it waits for, in words where it is more than another task.
fn needs(scene: &Scene, symbols: Symbols) -> BTreeMap<usize, Vec<String>> {
    let mut needs: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for edge in &scene.edges {
        let Some(from) = scene.nodes.get(edge.from) else {
            continue;
        };
        let text = match (edge.kind, symbols.ascii) {
            (EdgeKind::Direct | EdgeKind::Implied, _) => from.id.to_string(),
            (EdgeKind::Circular, false) => format!("↻ {}", from.id),
            (EdgeKind::Circular, true) => format!("circle {}", from.id),
        };
        needs.entry(edge.to).or_default().push(text);
    }
    for missing in &scene.missing {
        needs
            .entry(missing.task)
            .or_default()
            .push(format!("{} (missing)", missing.names));
    }
    needs
}

const AFTER: &str = "after ";

fn list_text(list: &[String]) -> String {
    format!("{AFTER}{}", list.join(", "))
}

/// Returns the list as far as it fits, with the number of what it leaves out.
fn fitted(list: &[String], width: usize, symbols: Symbols) -> String {
    let whole = list_text(list);
    if columns(&whole) <= width {
        return whole;
    }
    // Each name takes a column at least, so no more than that many can fit.
    for shown in (0..list.len().min(width)).rev() {
        let rest = list.len() - shown;
        let start = list.get(..shown).unwrap_or_default().join(", ");
        let text = if shown == 0 {
            format!("{AFTER}{rest} tasks")
        } else {
            format!("{AFTER}{start} +{rest}")
        };
        if columns(&text) <= width {
            return text;
        }
    }
    cut(&whole, width, symbols.ellipsis)
}

/// What stands below the drawing: the critical path, and whatever could not be drawn as it is.
fn notes(scene: &Scene, rails: &Rails, width: usize, symbols: Symbols) -> Vec<String> {
    let mut notes = Vec::new();
    if scene.critical_path.len() > 1 {
        let names = names(scene, &scene.critical_path);
        let lead = "critical path (*): ";
        notes.push(format!(
            "{lead}{}",
            path_within(&names, width.saturating_sub(lead.len()), symbols)
        ));
    }
    let implied = scene.edges.iter().filter(|edge| edge.kind == EdgeKind::Implied).count();
    if implied > 0 {
        notes.push(format!("not drawn: {} that others imply", dependencies(implied)));
    }
    if rails.undrawn > 0 {
        notes.push(format!("not drawn for want of room: {}", dependencies(rails.undrawn)));
    }
    let closing = scene
        .edges
        .iter()
        .filter(|edge| edge.kind == EdgeKind::Circular)
        .count();
    for circle in &scene.circles {
        let mut tasks = circle.clone();
        tasks.extend(circle.first());
        let lead = "circle, none of which can ever be ready: ";
        notes.push(format!(
            "{lead}{}",
            path_within(&names(scene, &tasks), width.saturating_sub(lead.len()), symbols)
        ));
    }
    if closing > scene.circles.len() {
        notes.push(format!("and {} more", count(closing - scene.circles.len(), "circle")));
    }
    if !scene.missing.is_empty() {
        notes.push(format!(
            "missing: {} on tasks that do not exist",
            dependencies(scene.missing.len())
        ));
    }
    notes
}

fn dependencies(number: usize) -> String {
    if number == 1 {
        "1 dependency".to_owned()
    } else {
        format!("{number} dependencies")
    }
}

fn names(scene: &Scene, tasks: &[usize]) -> Vec<String> {
    scene.ids(tasks).iter().map(ToString::to_string).collect()
}

/// Returns a path, cut in its middle where it is wider than there is room, with the number of what is left out.
fn path_within(names: &[String], width: usize, symbols: Symbols) -> String {
    let whole = names.join(symbols.arrow);
    if columns(&whole) <= width {
        return whole;
    }
    // Each name takes a column at least, so no more than that many can fit.
    for kept in (2..names.len().min(width)).rev() {
        let head = kept.div_ceil(2);
        let tail = kept - head;
        let start = names.get(..head).unwrap_or_default().join(symbols.arrow);
        let end = names.get(names.len() - tail..).unwrap_or_default().join(symbols.arrow);
        let arrow = symbols.arrow;
        let text = format!("{start}{arrow}({} more){arrow}{end}", names.len() - kept);
        if columns(&text) <= width {
            return text;
        }
    }
    cut(&whole, width, symbols.ellipsis)
}
