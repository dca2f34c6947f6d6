//! Commit messages, and where in one a task's trailer stands.

/// Where the trailer of a landing stands, or what is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrailerPlace {
    /// There is none.
    Nowhere,
    /// In the last paragraph.
    Last,
    /// In a paragraph of its own, with text behind it, as squash merges leave it.
    Body,
    /// Likewise, in a code fence.
    Fenced,
    /// In the last paragraph, for another bundle.
    OtherBundle,
    /// In the last paragraph, with a value that names no task.
    Refused,
}

impl TrailerPlace {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Nowhere,
        Self::Last,
        Self::Body,
        Self::Fenced,
        Self::OtherBundle,
        Self::Refused,
    ];

    /// Returns a message with the trailer of a task, written `<spec>/<task>`.
    #[must_use]
    pub fn message(self, subject: &str, task: &str) -> String {
        let body = match self {
            Self::Nowhere => "What was done, and why.".to_owned(),
            Self::Last => format!("What was done, and why.\n\nPlanwright-Task: {task}\nSigned-off-by: A <a@b.invalid>"),
            Self::Body => format!("* the first commit\n\nPlanwright-Task: {task}\n\n* the second commit, of tests"),
            Self::Fenced => {
                format!("A message should end so:\n\n```\n\nPlanwright-Task: {task}\n\n```\n\nThis one does not.")
            }
            Self::OtherBundle => "What was done, and why.\n\nPlanwright-Task: another-bundle/1".to_owned(),
            Self::Refused => "What was done, and why.\n\nPlanwright-Task: the first one".to_owned(),
        };
        format!("{subject}\n\n{body}\n")
    }
}
