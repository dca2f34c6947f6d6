//! A command that was misspelt: the grammar takes it for the spec of a step, and what follows for one word too many.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};
use orchestrate_core::identifier::quoted;

use super::Arguments;
use crate::failure::Failure;
use crate::session::nearest;

/// Returns what is wrong with a command line that names a command which there is not, or too many specs. The grammar's
/// own answer speaks of a subcommand by the name of the second word.
pub(crate) fn of(answer: &clap::Error, words: impl IntoIterator<Item = OsString>) -> Option<Failure> {
    let (ErrorKind::ArgumentConflict, Some(ContextValue::String(second))) =
        (answer.kind(), answer.get(ContextKind::InvalidSubcommand))
    else {
        return None;
    };
    let grammar = Arguments::command();
    let matches = grammar.clone().ignore_errors(true).try_get_matches_from(words).ok()?;
    let first = matches.get_one::<String>("spec")?;
    let commands = || grammar.get_subcommands().map(Command::get_name);
    let hint = match (nearest(commands(), first), commands().find(|name| name == second)) {
        (Some(near), _) => format!("did you mean {near}?"),
        (None, Some(command)) => format!("a command stands first: orchestrate {command}"),
        (None, None) => "orchestrate --help lists the commands; a step takes one spec".to_owned(),
    };
    Some(Failure::usage(format!("there is no command {}", quoted(first))).with_hint(hint))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn told(words: &[&str]) -> Option<(String, String)> {
        let words = || {
            std::iter::once("orchestrate")
                .chain(words.iter().copied())
                .map(OsString::from)
        };
        let answer = Arguments::try_parse_from(words()).expect_err("a slip");
        of(&answer, words()).map(|failure| (failure.message, failure.hint.unwrap_or_default()))
    }

    #[test]
    fn a_misspelt_command_is_told() {
        let missing = |word: &str, hint: &str| Some((format!("there is no command \"{word}\""), hint.to_owned()));
        let near = missing("statsu", "did you mean status?");
        for words in [
            &["statsu", "greeter"][..],
            &["statsu", "greeter", "--all"],
            &["--backend", "print", "statsu", "greeter", "4"],
            &["statsu", "status"],
        ] {
            assert_eq!(told(words), near, "{words:?}");
        }
        let far = "orchestrate --help lists the commands; a step takes one spec";
        assert_eq!(told(&["alpha", "beta"]), missing("alpha", far));
        let first = "a command stands first: orchestrate status";
        assert_eq!(told(&["alpha", "status"]), missing("alpha", first));
        for other in [&["--nothing"][..], &["status", "alpha", "beta"], &["alpha", "--all"]] {
            assert_eq!(told(other), None, "{other:?}");
        }
    }
}
