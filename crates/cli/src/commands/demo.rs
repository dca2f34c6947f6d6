//! `orchestrate demo`: five tasks from nothing to landed, in a throw-away repository.

use std::io::Read;

use camino::Utf8PathBuf;
use orchestrate_core::exit;
use orchestrate_demo::{Demo, Symbols, WorkerInput, worker as work};

use crate::environment::{self, Environment};
use crate::failure::Failure;
use crate::printer::Printer;

/// Runs the demo and draws what happened.
pub(crate) fn run(
    directory: Option<Utf8PathBuf>,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let directory = directory.map(|directory| environment.absolute(&directory));
    let mut demo = Demo::prepare(&environment.program, directory)?;
    let summary = demo.run(&mut |event| printer.screen(&format!("{event}\n")))?;
    let symbols = if speaks_utf8() {
        Symbols::Unicode
    } else {
        Symbols::Ascii
    };
    printer.screen(&format!("\n{}", summary.render(columns(), symbols)));
    Ok(exit::DONE)
}

/// Acts as the demo's scripted worker.
pub(crate) fn worker(environment: &Environment) -> Result<u8, Failure> {
    let variable = |name: &str| {
        environment::text(name).ok_or_else(|| {
            Failure::usage(format!("{name} is not set"))
                .with_hint("the demo's worker is started by a step, never by hand")
        })
    };
    let mut prompt = String::new();
    std::io::stdin()
        .read_to_string(&mut prompt)
        .map_err(|error| Failure::failed(format!("cannot read the prompt: {error}")))?;
    let input = WorkerInput {
        spec: variable("ORCHESTRATE_SPEC")?,
        unit: variable("ORCHESTRATE_UNIT")?,
        prompt,
        directory: environment.directory.clone(),
    };
    let mut printer = Printer::new(crate::arguments::Format::Human);
    work(&input, &mut |line| printer.line(line))?;
    Ok(exit::DONE)
}

fn speaks_utf8() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(environment::text)
        .unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// The terminal's width, 100 where there is none.
fn columns() -> usize {
    rustix::termios::tcgetwinsize(std::io::stdout())
        .ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|columns| *columns > 0)
        .unwrap_or(100)
}
