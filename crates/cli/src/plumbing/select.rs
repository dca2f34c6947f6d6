//! `orchestrate-select [--critical-path] <spec-dir>` (`contract/core.md §5.1, §5.2`): the selector alone.
//!
//! It knows no declared preferences and no pairs: what the scripts around the reference expect is its raw pick.

use camino::Utf8Path;
use orchestrate_core::identifier::printable;
use orchestrate_core::select::select;
use orchestrate_spec::FormatVersion;
use orchestrate_spec::selection::task_file;
use orchestrate_tower::step::survey_graph;

use super::{FAIL_CLOSED, open, state};
use crate::bundle_directory;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;

const NONE_READY: u8 = 1;
const EVIDENCE_HOLD: u8 = 3;

pub(crate) fn run(
    critical_path: bool,
    directory: &Utf8Path,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let refuse = |failure: Failure| failure.with_exit(FAIL_CLOSED);
    let target = bundle_directory::at(directory, environment).map_err(refuse)?;
    let file = task_file(&target.files.tasks).map_err(|why| {
        refuse(Failure::failed(format!(
            "orchestrate-select: nothing is selected: {why}"
        )))
    })?;
    if critical_path {
        for task in file.graph.critical_path() {
            printer.record(&[task.as_str()]);
        }
        return Ok(0);
    }
    for token in &file.rejected {
        printer.talk(&format!(
            "orchestrate-select: reference bullet rejected - task id '{}' violates the task-id grammar",
            printable(token)
        ));
    }
    let (session, spec) = open(directory, environment, printer)?;
    let request = session.request(spec, true);
    let survey = survey_graph(&session.world, &request, file.graph).map_err(|fault| refuse(fault.into()))?;
    if let Some(why) = state::degraded(&survey) {
        match file.version {
            FormatVersion::One => printer.talk_record(&["degraded", "evidence", &why]),
            FormatVersion::Two => {
                printer.talk(&format!(
                    "orchestrate-select: transient evidence failure - {why}; dispatching nothing (REQ-B1.5)"
                ));
                return Ok(EVIDENCE_HOLD);
            }
        }
    }
    for (task, report) in &survey.state.tasks {
        if state::contradicts(report, task, &survey) {
            printer.talk_record(&["contradiction", task.as_str(), state::CONTRADICTION]);
        }
    }
    match select(&survey.graph, &survey.state) {
        Some(choice) => {
            printer.record(&[choice.task.as_str()]);
            Ok(0)
        }
        None => Ok(NONE_READY),
    }
}
