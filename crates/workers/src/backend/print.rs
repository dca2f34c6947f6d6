//! The backend that starts nothing: a person pastes the printed command.

use orchestrate_core::observed::Why;
use orchestrate_core::record::dispatch::{LaunchManner, LaunchOrder};

use super::{Backend, CommandBackend, OrderRequest, claude, order};
use crate::programs::Programs;

/// A worker that a person starts and talks to.
///
/// It is Claude Code, asking for its permissions as usual, where that is installed; else the configured command; else
/// nothing, and the printed text says which file to give to an agent.
#[derive(Debug, Clone)]
pub struct Print {
    command: CommandBackend,
}

impl Print {
    /// The backend's name.
    pub const NAME: &'static str = "print";

    /// Returns the backend; `command` is the value of the key `command_backend`.
    #[must_use]
    pub fn new(command: Vec<String>) -> Self {
        Self {
            command: CommandBackend::new(command),
        }
    }
}

impl Backend for Print {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn manner(&self) -> LaunchManner {
        LaunchManner::Printed
    }

    fn order(&self, request: &OrderRequest<'_>, programs: &dyn Programs) -> Result<LaunchOrder, Why> {
        let argv = match claude::program(programs) {
            // An interactive session has the terminal as its input, so it is told where the prompt is.
            Ok(program) => vec![
                program.into_string(),
                "--permission-mode".to_owned(),
                "default".to_owned(),
                format!("Read the file {} and do what it says.", request.prompt_file),
            ],
            Err(_) if self.command.program(programs).is_ok() => self.command.argv(request, programs)?,
            Err(_) => Vec::new(),
        };
        order(self, argv, request)
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::{Installed, with_request};
    use super::*;

    #[test]
    fn it_offers_what_is_installed() {
        let print = Print::new(vec!["agent".to_owned(), "{prompt_file}".to_owned()]);
        with_request("/w", "do it", |request| {
            let argv = |installed: &[&str]| print.order(request, &Installed::only(installed)).expect("order").argv;
            assert_eq!(argv(&["agent", "claude"])[0], "/bin/claude");
            assert_eq!(argv(&["agent"]), ["/bin/agent", "/g/orchestrate.prompt.md"]);
            assert_eq!(argv(&[]), Vec::<String>::new());
        });
    }
}
