//! `planwright-commit-trailers <spec>/<id>…`: the message on standard input with a trailer for each task
//! (`contract/core.md §14.4`). A hook can run it on the file of a message.

use orchestrate_core::trailer::{COMMENT, parse_reference, with_tasks};
use orchestrate_host::messages::comment_prefix;

use super::{FAIL_CLOSED, standard_input};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;

const VERB: &str = "planwright-commit-trailers";

pub(crate) fn run(references: &[String], environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let refuse = |why: String| Failure::failed(format!("{VERB}: {why}")).with_exit(FAIL_CLOSED);
    let tasks = references
        .iter()
        .map(|text| parse_reference(text))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|invalid| refuse(invalid.to_string()))?;
    let message = standard_input().map_err(refuse)?;
    let comment = match &environment.git {
        None => COMMENT.to_vec(),
        Some(git) => {
            comment_prefix(git, &environment.directory).map_err(|fault| Failure::from(fault).with_exit(FAIL_CLOSED))?
        }
    };
    printer.bytes(&with_tasks(&message, &comment, &tasks));
    Ok(0)
}
