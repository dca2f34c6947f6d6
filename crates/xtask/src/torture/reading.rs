//! What `status` and a step say, as a person reads it.

use serde_json::Value;

/// How a hint begins that names a command of ours.
const COMMAND: &str = "orchestrate plumbing ";
/// How a hint begins that removes a fence.
const REMOVE_FENCE: &str = "git push origin :";
/// What is said of the owner of a fence that is none of ours.
const NAMELESS: &str = "a tower that does not say which it is";

/// What `status` says of one task.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) id: String,
    pub(super) state: String,
    pub(super) detail: String,
    pub(super) hint: Option<String>,
}

impl Task {
    /// Returns the fence that the person is told to remove if its clone is gone for good, and it is none of ours.
    pub(super) fn strand(&self) -> Option<&str> {
        let (_, reference) = self.hint.as_deref()?.split_once(REMOVE_FENCE)?;
        let reference = reference.split_whitespace().next()?;
        self.detail.contains(NAMELESS).then_some(reference)
    }

    /// Returns whether a marker alone holds the task, which nobody but time or a person takes away.
    pub(super) fn is_held_by_a_bare_marker(&self) -> bool {
        self.detail.contains("dispatched by a tower that keeps no record here")
    }

    /// Returns whether the person is told that a branch is work that has landed, or nothing.
    pub(super) fn wants_branch_judged(&self) -> bool {
        let hint = self.hint.as_deref().unwrap_or_default();
        hint.contains("if its work never landed")
    }

    /// Returns what the person is told to run where a worktree of an earlier attempt is in the way: the words of each
    /// command.
    pub(super) fn removal(&self) -> Option<Vec<Vec<&str>>> {
        let (_, said) = self
            .detail
            .split_once("if nothing in it is needed, ignored files included: ")?;
        let commands = said.split(';').next()?.split(" && ");
        Some(commands.map(|command| command.split_whitespace().collect()).collect())
    }

    /// Returns the words of our plumbing command that the hint names.
    pub(super) fn command(&self) -> Option<Vec<&str>> {
        self.hint.as_deref().and_then(command_in)
    }
}

/// Returns the tasks of a status document.
pub(super) fn tasks(document: &Value) -> Vec<Task> {
    let text = |task: &Value, key: &str| task[key].as_str().map(str::to_owned);
    let task = |task: &Value| Task {
        id: text(task, "id").unwrap_or_default(),
        state: text(task, "state").unwrap_or_default(),
        detail: text(task, "detail").unwrap_or_default(),
        hint: text(task, "hint"),
    };
    let tasks = document["tasks"].as_array();
    tasks.map(|tasks| tasks.iter().map(task).collect()).unwrap_or_default()
}

/// Returns the words of the plumbing command that a hint names: the verb, what it does, the bundle and the task ids.
fn command_in(hint: &str) -> Option<Vec<&str>> {
    let (_, command) = hint.split_once(COMMAND)?;
    let words: Vec<&str> = command
        .split(' ')
        .map(|word| word.trim_end_matches([',', ';', '.']))
        .collect();
    // A sentence may go on after the command.
    let is_id = |word: &&&str| word.starts_with(|first: char| first.is_ascii_digit());
    let ids = words.iter().skip(3).take_while(is_id).count();
    words.get(..3 + ids).filter(|_| ids > 0).map(<[&str]>::to_vec)
}

/// Returns the unit and the attempt of a step's document, when it dispatched one.
pub(super) fn dispatched(document: &Value) -> Option<(String, String)> {
    let text = |key: &str| document[key].as_str().map(str::to_owned);
    (document["outcome"] == "dispatched")
        .then(|| Some((text("unit")?, text("attempt")?)))
        .flatten()
}

/// Returns a step's document in one line: its outcome and its reasons.
pub(super) fn describe(document: &Value) -> String {
    let mut parts = vec![document["outcome"].as_str().unwrap_or("no document").to_owned()];
    parts.extend(
        ["reason", "message"]
            .iter()
            .filter_map(|key| document[*key].as_str().map(str::to_owned)),
    );
    parts.extend(
        document["worker"]["why"]
            .as_str()
            .map(|why| format!("worker not started: {why}")),
    );
    for reason in document["reasons"].as_array().into_iter().flatten() {
        parts.extend(reason["reason"].as_str().map(str::to_owned));
    }
    parts.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_in_a_hint_is_found_wherever_it_stands() {
        let words = ["orchestrate-marker", "clear", "specs/a", "1", "2.5"];
        for hint in [
            "look at the log, then: orchestrate plumbing orchestrate-marker clear specs/a 1 2.5",
            "orchestrate plumbing orchestrate-marker clear specs/a 1 2.5, if nobody works on it",
            "look; orchestrate plumbing orchestrate-marker clear specs/a 1 2.5 lets it be dispatched again",
        ] {
            assert_eq!(command_in(hint).as_deref(), Some(&words[..]), "{hint}");
        }
        assert_eq!(
            command_in("orchestrate plumbing orchestrate-marker clear specs/a"),
            None
        );
        assert_eq!(command_in("let them end"), None);
    }

    #[test]
    fn only_the_fence_of_a_nameless_tower_is_a_strand() {
        let hint = "it ends when the unit lands; if that clone is gone for good: git push origin :refs/f/x/1";
        let task = |detail: &str| Task {
            id: "1".to_owned(),
            state: "unknown".to_owned(),
            detail: detail.to_owned(),
            hint: Some(hint.to_owned()),
        };
        let nameless = task("a tower that does not say which it is (its fence leads to abc) has fenced it");
        assert_eq!(nameless.strand(), Some("refs/f/x/1"));
        assert_eq!(task("a tower on h (pid 7, since then) has fenced it").strand(), None);
    }

    #[test]
    fn the_removal_of_a_worktree_is_run_as_it_is_said() {
        let task = |detail: &str| Task {
            id: "1".to_owned(),
            state: "parked".to_owned(),
            detail: detail.to_owned(),
            hint: None,
        };
        let said = "halted: it is at abc; if nothing in it is needed, ignored files included: git worktree unlock w && \
                    mv w w.aside && git worktree remove w; then orchestrate unpark a 1";
        let commands = [
            vec!["git", "worktree", "unlock", "w"],
            vec!["mv", "w", "w.aside"],
            vec!["git", "worktree", "remove", "w"],
        ];
        assert_eq!(task(said).removal().as_deref(), Some(&commands[..]));
        assert_eq!(task("halted: it holds uncommitted work").removal(), None);
    }

    #[test]
    fn a_marker_without_a_record_is_a_bare_one() {
        let task = |detail: &str| Task {
            id: "1".to_owned(),
            state: "dispatched".to_owned(),
            detail: detail.to_owned(),
            hint: None,
        };
        assert!(task("dispatched by a tower that keeps no record here").is_held_by_a_bare_marker());
        assert!(!task("dispatched, its worker has not started yet").is_held_by_a_bare_marker());
    }

    #[test]
    fn a_step_is_told_in_one_line() {
        let document = serde_json::json!({ "outcome": "halted", "reasons": [{ "reason": "a" }, { "reason": "b" }] });
        assert_eq!(describe(&document), "halted: a: b");
        assert_eq!(dispatched(&document), None);
        let document =
            serde_json::json!({ "outcome": "dispatched", "unit": "1", "attempt": "f", "worker": { "why": "w" } });
        assert_eq!(describe(&document), "dispatched: worker not started: w");
        assert_eq!(dispatched(&document), Some(("1".to_owned(), "f".to_owned())));
    }
}
