//! `orchestrate new SPEC`: the four files of a bundle that a person goes on from.

use orchestrate_core::exit;
use orchestrate_core::identifier::{SpecId, quoted};
use orchestrate_core::world::Race;
use orchestrate_host::authored::create_bundle;
use orchestrate_spec::template::{new_bundle, title_of};

use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::Session;

/// Makes the bundle.
pub(crate) fn run(
    spec: &str,
    title: Option<&str>,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let spec = name(spec)?;
    let session = Session::open(environment, &environment.directory, printer)?;
    let title = title.map_or_else(|| title_of(&spec), str::to_owned);
    let today = super::today(&session.world);
    let texts = new_bundle(&title, &today)
        .map_err(|error| Failure::usage(format!("{} is no title: {error}", quoted(&title))))?;
    let layout = &session.world.repository().layout;
    if create_bundle(layout, &spec, &texts.files())? == Race::Lost {
        return Err(
            Failure::failed(format!("specs/{spec} is there already")).with_hint(format!(
                "take another name, or go on with it: orchestrate status specs/{spec}"
            )),
        );
    }
    let place = if environment.directory == layout.primary {
        String::new()
    } else {
        format!(" in {}", layout.primary)
    };
    printer.line(&format!(
        "made specs/{spec}{place}: a Draft of two tasks, to be written over"
    ));
    for (file, what) in [
        ("requirements.md", "the goal, and what must be true"),
        ("design.md", "the decisions, each with its alternatives"),
        ("tasks.md", "the tasks, and what each depends on"),
        ("test-spec.md", "how each requirement is verified"),
    ] {
        printer.line(&format!("  {file:<15}  {what}"));
    }
    printer.line("");
    printer.line(&format!(
        "next: write what you mean into them; then orchestrate sign specs/{spec}"
    ));
    Ok(exit::DONE)
}

/// Returns the name of a spec that need not be there.
fn name(text: &str) -> Result<SpecId, Failure> {
    let short = text.strip_prefix("specs/").unwrap_or(text);
    let short = short.strip_suffix('/').unwrap_or(short);
    SpecId::parse(short).map_err(|error| {
        Failure::usage(format!("{} is {error}", quoted(text)))
            .with_hint("a spec's name has lower-case letters, digits and hyphens: specs/NAME or NAME")
    })
}
