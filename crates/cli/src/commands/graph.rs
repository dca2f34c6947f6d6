//! `orchestrate graph [SPEC]`: the task graph of a bundle, drawn for a terminal or in another program's language.

use std::collections::BTreeMap;

use orchestrate_core::exit;
use orchestrate_core::identifier::TaskId;
use orchestrate_spec::drawing::{self, EdgeKind, Mark, Scene, TextStyle};
use orchestrate_spec::{Bundle, Examination, examine, with_excerpts};
use orchestrate_tower::step::survey;
use serde_json::{Value, json};

use crate::arguments::{ColorChoice, GraphArguments, GraphFormat};
use crate::bundle_directory::{self, Target};
use crate::environment::Environment;
use crate::failure::{Failure, Unreadable};
use crate::printer::Printer;
use crate::screen::Screen;

/// Draws the graph. A bundle that cannot be read without errors is drawn as far as it can be, and the errors are told.
pub(crate) fn run(arguments: &GraphArguments, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let target = bundle_directory::find(arguments.spec.as_deref(), environment, printer)?;
    let examination = examine(&target.spec, &target.files);
    let errors = examination.errors();
    let left_out = examination.headings_left_out();
    let Examination { bundle, findings } = examination;
    let unreadable = Unreadable {
        spec: target.spec.to_string(),
        findings: with_excerpts(&findings, &target.files)
            .into_iter()
            .filter(|finding| finding.is_error)
            .collect(),
    };
    let Some(bundle) = bundle.filter(|bundle| errors == 0 || !bundle.tasks.is_empty()) else {
        let failure = Failure {
            unreadable: Some(unreadable),
            ..Failure::failed(format!("{} cannot be read", target.spec))
        };
        return Err(failure.with_hint("mend the lines that are named"));
    };
    if errors > 0 {
        printer.talk(&format!("error: {} cannot be read", target.spec));
        printer.unreadable(&unreadable);
        printer.talk("hint: drawn as far as it can be read, without states; mend the lines that are named");
    }
    if left_out > 0 {
        let headings = if left_out == 1 { "heading" } else { "headings" };
        printer.talk(&format!(
            "note: left out: {left_out} task {headings} without a readable id"
        ));
        printer.talk(&format!(
            "hint: orchestrate validate specs/{} names the lines",
            target.spec
        ));
    }
    let states = if errors > 0 || arguments.no_state {
        None
    } else {
        states(&target, &bundle, printer)
    };
    let caption = format!("{} · {}", bundle.spec, bundle.status);
    let scene = Scene::new(&caption, &bundle.graph(), &states.clone().unwrap_or_default());
    draw(arguments, &bundle, &scene, states.is_some(), printer);
    Ok(if errors > 0 { exit::FAILED } else { exit::DONE })
}

/// Returns the marks that `status` would show, nothing where there is no evidence to look at.
fn states(target: &Target, bundle: &Bundle, printer: &mut Printer) -> Option<BTreeMap<TaskId, Mark>> {
    let session = target.session.as_ref()?;
    match survey(&session.world, &session.request(bundle.spec.clone(), true), bundle) {
        Ok(survey) => Some(drawing::marks(&survey.state)),
        Err(fault) => {
            printer.talk(&format!("note: drawn without states: {fault}"));
            None
        }
    }
}

fn draw(arguments: &GraphArguments, bundle: &Bundle, scene: &Scene, has_states: bool, printer: &mut Printer) {
    match arguments.format {
        GraphFormat::Text => {
            let screen = Screen::read();
            let style = TextStyle {
                width: screen.width,
                ascii: arguments.ascii || !screen.has_unicode,
                color: match arguments.color {
                    ColorChoice::Auto => screen.has_color,
                    ColorChoice::Always => true,
                    ColorChoice::Never => false,
                },
            };
            printer.screen(&drawing::text(scene, style));
        }
        GraphFormat::Dot => printer.screen(&drawing::dot(scene)),
        GraphFormat::Mermaid => printer.screen(&drawing::mermaid(scene)),
        GraphFormat::Svg => printer.screen(&drawing::svg(scene)),
        GraphFormat::Json => printer.json(&as_json(bundle, scene, has_states)),
    }
}

fn as_json(bundle: &Bundle, scene: &Scene, has_states: bool) -> Value {
    let id = |index: usize| scene.nodes.get(index).map(|node| &node.id);
    let tasks: Vec<Value> = scene
        .nodes
        .iter()
        .map(|node| {
            json!({
                "id": node.id, "title": node.title, "layer": node.layer, "critical": node.critical,
                "state": node.mark.map(Mark::word), "parked": node.parked.map(orchestrate_core::graph::ParkingPlace::section),
                "effort": node.effort.to_string(), "effort_milli_days": node.effort.milli_days(),
            })
        })
        .collect();
    let edges: Vec<Value> = scene
        .edges
        .iter()
        .map(|edge| {
            let kind = match edge.kind {
                EdgeKind::Direct => "direct",
                EdgeKind::Implied => "implied",
                EdgeKind::Circular => "circular",
            };
            json!({ "from": id(edge.from), "to": id(edge.to), "critical": edge.critical, "kind": kind })
        })
        .collect();
    let missing: Vec<Value> = scene
        .missing
        .iter()
        .map(|missing| json!({ "task": id(missing.task), "names": missing.names }))
        .collect();
    let circles: Vec<Vec<&TaskId>> = scene.circles.iter().map(|circle| scene.ids(circle)).collect();
    json!({
        "schema": 1, "spec": bundle.spec, "status": bundle.status.to_string(), "states": has_states,
        "effort_milli_days": scene.effort().milli_days(), "layers": scene.layers,
        "critical_path": scene.ids(&scene.critical_path),
        "critical_effort_milli_days": scene.critical_effort().milli_days(),
        "tasks": tasks, "edges": edges, "missing": missing, "circles": circles,
    })
}
