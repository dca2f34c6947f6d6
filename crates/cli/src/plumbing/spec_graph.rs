//! `spec-graph <dir>` (`contract/core.md §9.3`): the task graph with the place of each box. Always laid out by
//! ourselves, so that the same bundle gives the same records everywhere.

use std::collections::BTreeMap;

use camino::Utf8Path;
use orchestrate_spec::drawing::{BOX_HEIGHT, BOX_WIDTH, EdgeKind, Scene, columns};
use orchestrate_spec::examine;

use super::FAIL_CLOSED;
use crate::bundle_directory;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;

pub(crate) fn run(directory: &Utf8Path, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let target = bundle_directory::at(directory, environment).map_err(|failure| failure.with_exit(FAIL_CLOSED))?;
    let bundle = examine(&target.spec, &target.files).bundle;
    let graph = bundle.map(|bundle| bundle.graph()).unwrap_or_default();
    print(&Scene::new(target.spec.as_str(), &graph, &BTreeMap::new()), printer);
    Ok(0)
}

fn print(scene: &Scene, printer: &mut Printer) {
    let layout = columns(scene);
    let number = |number: usize| number.to_string();
    printer.record(&[
        "GRAPHMETA",
        &number(layout.width),
        &number(layout.height),
        "builtin",
        &number(BOX_WIDTH),
        &number(BOX_HEIGHT),
    ]);
    for note in notes(scene) {
        printer.record(&["GRAPHNOTE", &note]);
    }
    printer.record(&["GRAPHCRIT", &path(scene, &scene.critical_path, " ")]);
    for (node, place) in scene.nodes.iter().zip(&layout.places) {
        printer.record(&[
            "GRAPHNODE",
            node.id.as_str(),
            &number(place.x),
            &number(place.y),
            flag(node.critical),
            &node.title,
        ]);
    }
    for edge in &scene.edges {
        let ends = (scene.nodes.get(edge.from), scene.nodes.get(edge.to));
        if let (Some(from), Some(to)) = ends {
            printer.record(&["GRAPHEDGE", from.id.as_str(), to.id.as_str(), flag(edge.critical)]);
        }
    }
}

fn notes(scene: &Scene) -> Vec<String> {
    let mut notes = Vec::new();
    if scene.nodes.is_empty() {
        notes.push("no tasks".to_owned());
    }
    for circle in &scene.circles {
        let mut tasks = circle.clone();
        tasks.extend(circle.first());
        notes.push(format!("dependency circle: {}", path(scene, &tasks, " > ")));
    }
    let closing = scene
        .edges
        .iter()
        .filter(|edge| edge.kind == EdgeKind::Circular)
        .count();
    if closing > scene.circles.len() {
        notes.push(format!("{} more dependency circles", closing - scene.circles.len()));
    }
    for missing in &scene.missing {
        if let Some(task) = scene.nodes.get(missing.task) {
            notes.push(format!(
                "task {} depends on {}, which does not exist",
                task.id, missing.names
            ));
        }
    }
    notes
}

fn path(scene: &Scene, tasks: &[usize], between: &str) -> String {
    let ids: Vec<&str> = scene
        .ids(tasks)
        .into_iter()
        .map(orchestrate_core::identifier::TaskId::as_str)
        .collect();
    ids.join(between)
}

const fn flag(value: bool) -> &'static str {
    if value { "1" } else { "0" }
}
