//! The backend that starts whatever program the user configured, in the background.

use camino::Utf8PathBuf;
use orchestrate_core::identifier::printable;
use orchestrate_core::observed::Why;
use orchestrate_core::record::dispatch::{LaunchManner, LaunchOrder};

use super::{Backend, OrderRequest, order};
use crate::programs::Programs;

/// Where the program is configured. A repository must not name a program that its readers' machines then run.
const KEY: &str =
    "command_backend, a list of program and arguments that is read from the machine-local and adopter layers only";

/// The program of the key `command_backend`.
///
/// Inside an argument `{prompt_file}`, `{spec}`, `{unit}` and `{worktree}` are replaced, once and without splitting
/// it; other braces stay. The prompt also is its standard input.
#[derive(Debug, Clone)]
pub struct CommandBackend {
    command: Vec<String>,
}

impl CommandBackend {
    /// The backend's name.
    pub const NAME: &'static str = "command";

    /// Returns the backend of a configured command.
    #[must_use]
    pub fn new(command: Vec<String>) -> Self {
        Self { command }
    }

    /// Returns where the configured program is.
    pub(super) fn program(&self, programs: &dyn Programs) -> Result<Utf8PathBuf, Why> {
        let name = self
            .command
            .first()
            .filter(|name| !name.is_empty())
            .ok_or_else(|| Why::new("no command is configured").with_hint(format!("set {KEY}")))?;
        programs.resolve(name).ok_or_else(|| {
            Why::new(format!(
                "{} is not on the search path, nor an absolute path of a program",
                printable(name)
            ))
            .with_hint(format!("install it, or correct {KEY}"))
        })
    }

    /// Returns the program and its arguments for one unit.
    pub(super) fn argv(&self, request: &OrderRequest<'_>, programs: &dyn Programs) -> Result<Vec<String>, Why> {
        let mut argv = vec![self.program(programs)?.into_string()];
        argv.extend(self.command.iter().skip(1).map(|argument| fill(argument, request)));
        match argv.iter().find(|argument| argument.contains('\0')) {
            Some(_) => Err(Why::new("an argument holds a zero byte").with_hint(format!("correct {KEY}"))),
            None => Ok(argv),
        }
    }
}

impl Backend for CommandBackend {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn manner(&self) -> LaunchManner {
        LaunchManner::Background
    }

    fn order(&self, request: &OrderRequest<'_>, programs: &dyn Programs) -> Result<LaunchOrder, Why> {
        order(self, self.argv(request, programs)?, request)
    }
}

/// Returns the argument with its placeholders replaced. What was put in is not looked at again.
fn fill(argument: &str, request: &OrderRequest<'_>) -> String {
    let values = [
        ("{prompt_file}", request.prompt_file.to_string()),
        ("{spec}", request.name.spec.to_string()),
        ("{unit}", request.name.unit.to_string()),
        ("{worktree}", request.worktree.to_string()),
    ];
    let mut filled = String::new();
    let mut rest = argument;
    while let Some(brace) = rest.find('{') {
        let (before, from_brace) = rest.split_at(brace);
        filled.push_str(before);
        rest = match values
            .iter()
            .find(|(placeholder, _)| from_brace.starts_with(placeholder))
        {
            Some((placeholder, value)) => {
                filled.push_str(value);
                &from_brace[placeholder.len()..]
            }
            None => {
                filled.push('{');
                &from_brace[1..]
            }
        };
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::super::contract::{Installed, with_request};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn placeholders_are_replaced_inside_single_arguments() {
        let command = [
            "agent",
            "--file={prompt_file}",
            "{spec}/{unit}",
            "{worktree}",
            "{other} {",
            "a b",
        ];
        let backend = CommandBackend::new(command.map(str::to_owned).to_vec());
        with_request("/w x/{spec}", "do it", |request| {
            let order = backend.order(request, &Installed::only(&["agent"])).expect("order");
            let expected = [
                "/bin/agent",
                "--file=/g/orchestrate.prompt.md",
                "alpha/1-2",
                "/w x/{spec}",
                "{other} {",
                "a b",
            ];
            assert_eq!(order.argv, expected);
        });
    }

    proptest! {
        /// Text without placeholders is left as it is.
        #[test]
        fn other_text_stays(argument in "[^{]{0,20}", braces in "[{}a-z ]{0,6}") {
            with_request("/w", "", |request| {
                prop_assert_eq!(fill(&argument, request), argument.clone());
                let other = format!("{braces}{argument}");
                prop_assume!(!["{spec}", "{unit}"].iter().any(|known| other.contains(known)));
                prop_assert_eq!(fill(&other, request), other);
                Ok(())
            })?;
        }
    }
}
