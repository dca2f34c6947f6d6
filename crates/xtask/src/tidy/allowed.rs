//! The lines that a rule would refuse and that are right, each with its reason.

/// One line that is allowed.
#[derive(Debug)]
pub(super) struct Allowed {
    /// The rule's name.
    pub(super) rule: &'static str,
    /// The file, below the root.
    pub(super) path: &'static str,
    /// A part of the line, enough to know it by.
    pub(super) text: &'static str,
    /// Why the line does not break the law.
    pub(super) reason: &'static str,
}

impl Allowed {
    /// Returns whether this allowance is for that line.
    pub(super) fn covers(&self, path: &str, line: &str) -> bool {
        self.path == path && line.contains(self.text)
    }
}

/// Every allowance. One that matches nothing fails its rule, so the table never outlives its reasons.
pub(super) const ALLOWED: &[Allowed] = &[
    Allowed {
        rule: "L1",
        path: "crates/host/src/reflog.rs",
        text: "message.starts_with(\"cherry-pick\")",
        reason: "a word that git wrote into a reflog, which is read; nothing is started with it",
    },
    Allowed {
        rule: "L1",
        path: "crates/cli/src/plumbing/tasks_pr_sync/hook.rs",
        text: "const MERGED: &str = \"merge\";",
        reason: "a word that is looked for in what an agent ran; nothing is started with it",
    },
    Allowed {
        rule: "L5",
        path: "crates/cli/src/plumbing/fleet_fence.rs",
        text: "const COLLECTED",
        reason: "the contract's word in a record; git is not told to collect anything",
    },
    Allowed {
        rule: "L5",
        path: "crates/host/src/retire.rs",
        text: "match fs::remove_dir_all(path)",
        reason: "what is removed got its name after it was known to hold nothing of its own (decision 71)",
    },
    Allowed {
        rule: "L5",
        path: "crates/core/src/world.rs",
        text: "{unlock}{aside}git worktree remove {place}",
        reason: "a remedy that is shown to a person, who decides; the product never runs it",
    },
    Allowed {
        rule: "L5",
        path: "crates/cli/src/commands/doctor/worktrees.rs",
        text: "let command = format!(\"{unlock}git worktree remove",
        reason: "shown behind \"if it was removed on purpose\"; the product never runs it",
    },
];
