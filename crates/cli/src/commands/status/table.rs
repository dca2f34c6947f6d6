//! The tasks as a table that fits the width: id, title, state, then what decided and what to do.

use orchestrate_core::time::Timestamp;
use orchestrate_spec::drawing::width::{columns, cut, padded, visible};

use crate::layout::Style;
use crate::task_view::{TaskView, aged};

/// So many tasks are shown, unless more of them want somebody's attention.
const ROWS: usize = 20;
/// Titles are cut to no less than this, and take no more than [`WIDEST_TITLE`].
const LEAST_TITLE: usize = 12;
const WIDEST_TITLE: usize = 40;

/// Returns the tasks to show, in their order, and what is not shown, counted by state.
///
/// What is under way, held, unknown or ready is always shown. What is left of a screen is for what is blocked or parked,
/// then for what has landed, the latest first.
pub(super) fn select(tasks: &[TaskView], all: bool) -> (Vec<&TaskView>, Option<String>) {
    if all || tasks.len() <= ROWS {
        return (tasks.iter().collect(), None);
    }
    let mut by_weight: Vec<(usize, &TaskView)> = tasks.iter().enumerate().collect();
    by_weight.sort_by_key(|(place, task)| {
        let landed = task.at.map_or(i64::MAX, |at| at.seconds().saturating_neg());
        match weight(task) {
            Weight::Landed => (Weight::Landed, landed, *place),
            other @ (Weight::Open | Weight::Waiting) => (other, 0, *place),
        }
    });
    let needed = by_weight
        .iter()
        .filter(|(_, task)| weight(task) == Weight::Open)
        .count();
    let hidden = by_weight.split_off(by_weight.len().min(needed.max(ROWS)));
    by_weight.sort_by_key(|(place, _)| *place);
    let count = |state: &str| hidden.iter().filter(|(_, task)| task.state == state).count();
    let counted: Vec<String> = ["blocked", "parked", "landed"]
        .into_iter()
        .filter(|state| count(state) > 0)
        .map(|state| format!("{} {state}", count(state)))
        .collect();
    let hidden = (!hidden.is_empty()).then(|| counted.join(", "));
    (by_weight.into_iter().map(|(_, task)| task).collect(), hidden)
}

/// How much a task wants to be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    Open,
    Waiting,
    Landed,
}

fn weight(task: &TaskView) -> Weight {
    match task.state {
        "landed" => Weight::Landed,
        "blocked" | "parked" => Weight::Waiting,
        _ => Weight::Open,
    }
}

/// Returns the lines of the table.
pub(super) fn lines(tasks: &[&TaskView], now: Timestamp, style: Style) -> Vec<String> {
    let widest = |width: &dyn Fn(&TaskView) -> usize| tasks.iter().map(|task| width(task)).max().unwrap_or(0);
    let ids = widest(&|task| columns(task.id.as_str()));
    let states = widest(&|task| columns(task.state));
    let room = style.width.saturating_sub(2 + ids + 2 + 2 + states + 2);
    let titles = widest(&|task| columns(&visible(&task.title))).min((room * 2 / 5).clamp(LEAST_TITLE, WIDEST_TITLE));
    let indent = 2 + ids + 2 + titles + 2 + states + 2;
    let mut lines = Vec::new();
    for task in tasks {
        let title = cut(&visible(&task.title), titles, style.ellipsis());
        let first = format!(
            "  {}  {}  {}  ",
            padded(task.id.as_str(), ids),
            padded(&title, titles),
            padded(task.state, states)
        );
        lines.extend(style.hanging(&first, &aged(&detail(task), task.at, now), indent));
        if let Some(hint) = &task.hint {
            add_hint(&mut lines, hint, ids, indent, style);
        }
    }
    lines
}

/// A task that is ready says why it is not taken, or that it is next; all others have said it already.
fn detail(task: &TaskView) -> String {
    match &task.not_dispatched {
        Some(why) if task.state == "ready" => why.clone(),
        None if task.state == "ready" => "next".to_owned(),
        Some(_) | None => task.detail.clone(),
    }
}

/// Puts what a person can do behind the last line where there is room, else below it: under the detail where it fits on
/// one line, else as wide as it can be.
fn add_hint(lines: &mut Vec<String>, hint: &str, ids: usize, indent: usize, style: Style) {
    let hint = style.shown(&format!("→ {hint}")).into_owned();
    if let Some(last) = lines.last_mut()
        && columns(last) + 2 + columns(&hint) <= style.width
    {
        last.push_str(&format!("  {hint}"));
        return;
    }
    let left = if indent + columns(&hint) <= style.width {
        indent
    } else {
        2 + ids + 2
    };
    lines.extend(style.hanging(&" ".repeat(left), &hint, left + 2));
}
