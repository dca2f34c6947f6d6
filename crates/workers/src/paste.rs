//! The text a person pastes to start a worker.
//!
//! It is always the runner's command, never the client's own: pasting it twice is refused, and the lease is held.

use camino::Utf8Path;
use orchestrate_core::observed::Why;
use orchestrate_core::record::dispatch::LaunchOrder;

/// Returns an argument vector as one line for a POSIX shell, each argument in single quotes (`contract/fleet.md §4.10`).
///
/// # Errors
/// When an argument holds a line break or another control character: a line that a person pastes must show all it does.
pub fn line(argv: &[String]) -> Result<String, Why> {
    if argv.iter().any(|argument| argument.chars().any(char::is_control)) {
        return Err(Why::new("an argument holds a control character"));
    }
    let quoted: Vec<String> = argv
        .iter()
        .map(|argument| format!("'{}'", argument.replace('\'', r#"'"'"'"#)))
        .collect();
    Ok(quoted.join(" "))
}

/// Returns what to do with a printed order: paste the runner's command, or give the prompt to an agent by hand.
///
/// # Errors
/// When the command cannot be shown on one line.
pub fn instructions(
    order: &LaunchOrder,
    runner: &[String],
    prompt_file: &Utf8Path,
    worktree: &Utf8Path,
) -> Result<String, Why> {
    if order.argv.is_empty() {
        return Ok(format!(
            "no agent is installed that this backend knows: start one in {worktree} and give it the text of {prompt_file}\n"
        ));
    }
    Ok(format!(
        "paste this, inside the repository, to start the worker:\n\n    {}\n",
        line(runner)?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orchestrate_host::process::{RunOptions, run_bounded};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// A shell reads the line as exactly the arguments.
        /// Verifies REQ-E1.6.
        #[test]
        fn a_shell_reads_it_back(arguments in proptest::collection::vec("[^\\pC]{0,12}", 0..4)) {
            let script = format!("for argument in {}; do printf '%s\\n' \"$argument\"; done", line(&arguments).expect("no control characters"));
            let output = run_bounded(Utf8Path::new("/bin/sh"), &["-c", &script], &RunOptions::default()).expect("sh");
            let expected: String = arguments.iter().map(|argument| format!("{argument}\n")).collect();
            prop_assert_eq!(String::from_utf8(output.stdout).expect("utf8"), expected);
        }
    }

    #[test]
    fn what_could_hide_is_refused() {
        for hidden in ["a\nb", "a\rb", "\u{1b}[2K", "a\0"] {
            assert!(line(&[hidden.to_owned()]).is_err(), "{hidden:?}");
        }
    }
}
