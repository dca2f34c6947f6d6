//! Which commands a hook is told of (`contract/core.md §8.4`): a pull request was made, or merged.
//!
//! The message is data. Nothing of it is run; a number and a word are read out of it.

use serde_json::Value;

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// A pull request was made.
    Create,
    /// One was merged; its number, where the message tells it.
    Merge { number: Option<u64> },
}

/// A command after which the placement is to be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Trigger {
    pub(super) action: Action,
}

/// The words of the two commands that are looked for in what an agent ran; nothing is started with them.
const CREATED: &str = "create";
const MERGED: &str = "merge";

/// Returns what the message of a hook says was done; nothing for every other message.
pub(super) fn trigger(message: &[u8]) -> Option<Trigger> {
    let message: Value = serde_json::from_slice(message).ok()?;
    if message["tool_name"].as_str() != Some("Bash") {
        return None;
    }
    let command = message["tool_input"]["command"].as_str()?;
    let response = &message["tool_response"];
    let output = response["stdout"]
        .as_str()
        .or_else(|| response.as_str())
        .unwrap_or_default();
    let action = match act(command)? {
        (MERGED, rest) => Action::Merge {
            number: number_in_url(output)
                .or_else(|| number_behind(output, "#"))
                .or_else(|| leading_number(rest.trim_start())),
        },
        _ => Action::Create,
    };
    Some(Trigger { action })
}

/// Returns the last word of `gh pr create` or `gh pr merge` where a command of a line begins so, and what follows it.
fn act(command: &str) -> Option<(&str, &str)> {
    let starts = |character: char| matches!(character, ';' | '&' | '|' | '(' | '\n');
    command.split(starts).find_map(|part| {
        let rest = word(part.trim_start_matches([' ', '\t']), "gh")?;
        let rest = word(rest, "pr")?;
        [CREATED, MERGED]
            .into_iter()
            .find_map(|act| Some((act, word(rest, act)?)))
    })
}

/// Returns what follows a word at the start of the text, and the blanks behind it.
fn word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(word)?;
    let trimmed = rest.trim_start_matches([' ', '\t', '\r']);
    (rest.is_empty() || trimmed.len() < rest.len()).then_some(trimmed)
}

/// Returns the number of the first pull request of GitHub whose address stands in the text.
fn number_in_url(text: &str) -> Option<u64> {
    let (_, address) = text.split_once("github.com/")?;
    let (path, rest) = address.split_once("/pull/")?;
    let is_repository = path.split('/').count() == 2 && !path.contains(char::is_whitespace);
    leading_number(rest).filter(|_| is_repository)
}

fn number_behind(text: &str, mark: &str) -> Option<u64> {
    text.split(mark).skip(1).find_map(leading_number)
}

fn leading_number(text: &str) -> Option<u64> {
    let digits = text.len()
        - text
            .trim_start_matches(|character: char| character.is_ascii_digit())
            .len();
    text.get(..digits)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn seen(command: &str, output: &str) -> Option<Action> {
        let message = json!({
            "tool_name": "Bash", "tool_input": { "command": command }, "tool_response": { "stdout": output },
        });
        Some(trigger(message.to_string().as_bytes())?.action)
    }

    #[test]
    fn commands_that_make_or_merge() {
        let merged = |number| Some(Action::Merge { number });
        for (command, output, expected) in [
            ("gh pr create", "", Some(Action::Create)),
            ("gh pr create --draft --title x", "", Some(Action::Create)),
            ("git push && gh pr create", "", Some(Action::Create)),
            ("(cd x; gh pr merge 18)", "", merged(Some(18))),
            ("cd x && gh  pr\tmerge 18 --squash", "", merged(Some(18))),
            ("gh pr merge 18", "Merged pull request #17", merged(Some(17))),
            (
                "gh pr merge",
                "x #1 https://github.com/o/r/pull/16/files",
                merged(Some(16)),
            ),
            ("a\ngh pr merge\n", "", merged(None)),
            ("echo gh pr create", "", None),
            ("gh pr created", "", None),
            ("gh pr view 1", "", None),
            ("xgh pr create", "", None),
            ("", "", None),
        ] {
            assert_eq!(seen(command, output), expected, "{command:?} {output:?}");
        }
    }

    #[test]
    fn other_messages_are_nothing() {
        for message in [
            "",
            "{",
            "null",
            "[]",
            "{\"tool_name\":\"Edit\",\"tool_input\":{\"command\":\"gh pr create\"}}",
            "{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":7}}",
            "{\"tool_name\":\"Bash\"}",
        ] {
            assert_eq!(trigger(message.as_bytes()), None, "{message}");
        }
        let as_text = json!({
            "tool_name": "Bash", "tool_input": { "command": "gh pr merge" }, "tool_response": "merged #5",
        });
        let action = trigger(as_text.to_string().as_bytes()).map(|trigger| trigger.action);
        assert_eq!(action, Some(Action::Merge { number: Some(5) }));
    }
}
