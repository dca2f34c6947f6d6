//! A unit's work on its branch, and the ways in which people and forges bring it to base.

use git2::Oid;

use super::depot::Depot;
use super::message::TrailerPlace;

/// How work comes to base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `git merge --no-ff`.
    MergeCommit,
    /// `git merge --ff-only`.
    FastForward,
    /// `git merge --squash`.
    Squash,
    /// The branch is rebased onto base, which then moves to it.
    Rebase,
    /// Its commits are picked one by one, as a forge's "rebase and merge" does: the branch stays.
    Picked,
    /// One merge commit of it and of another branch.
    Octopus,
    /// Base is merged into the branch, and then moves to it: what was base comes in as a second parent.
    Foxtrot,
    /// Base is merged into the branch, and the branch into base with a merge commit.
    MergedFirst,
    /// Base is merged into the branch, and the branch is squashed onto base.
    MergedFirstSquashed,
}

impl Style {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::MergeCommit,
        Self::FastForward,
        Self::Squash,
        Self::Rebase,
        Self::Picked,
        Self::Octopus,
        Self::Foxtrot,
        Self::MergedFirst,
        Self::MergedFirstSquashed,
    ];

    /// Returns whether the landing makes a commit of its own that can carry a message, rather than the branch's last.
    #[must_use]
    pub const fn has_message(self) -> bool {
        match self {
            Self::MergeCommit | Self::Squash | Self::Octopus | Self::MergedFirst | Self::MergedFirstSquashed => true,
            Self::FastForward | Self::Rebase | Self::Picked | Self::Foxtrot => false,
        }
    }
}

/// One unit's work and landing. Branches are named in full.
#[derive(Debug, Clone, Copy)]
pub struct Story<'a> {
    /// Where it lands.
    pub base: &'a str,
    /// The unit's branch.
    pub branch: &'a str,
    /// The task that a trailer names, `<spec>/<task>`.
    pub task: &'a str,
    /// How it lands.
    pub style: Style,
    /// With which trailer.
    pub trailer: TrailerPlace,
}

impl Story<'_> {
    /// Makes the branch and two commits on it; base moves on beside it, unless it is to move to the branch.
    pub fn work(&self, depot: &Depot) {
        depot.branch(self.branch, depot.tip(self.base));
        let _ = depot.commit(self.branch, &[("work/1.txt", "one\n")], "the first commit\n");
        let carrier = if self.style.has_message() {
            TrailerPlace::Nowhere
        } else {
            self.trailer
        };
        let message = carrier.message("the second commit", self.task);
        let _ = depot.commit(
            self.branch,
            &[("work/2.txt", "two\n"), ("shared.txt", "a\nb\nunit\nc\n")],
            &message,
        );
        if self.style != Style::FastForward {
            let _ = depot.commit(self.base, &[("other.txt", "other\n")], "somebody else's work\n");
        }
    }

    /// Brings the branch to base; returns base's new commit.
    ///
    /// # Panics
    /// When git would see a conflict, or nothing to do.
    #[must_use]
    pub fn land(&self, depot: &Depot) -> Oid {
        let message = self.trailer.message("land the work", self.task);
        self.try_land(depot, &message).expect("it lands")
    }

    /// Brings the branch to base with that message, where the landing makes a commit of its own; nothing where git would
    /// see a conflict, or nothing to do.
    pub fn try_land(&self, depot: &Depot, message: &str) -> Option<Oid> {
        let (base, branch) = (self.base, self.branch);
        match self.style {
            Style::MergeCommit => depot.merge(base, &[depot.tip(branch)], message),
            Style::FastForward => fast_forward(depot, base, branch),
            Style::Squash => depot.squash(base, depot.tip(branch), message),
            Style::Rebase => {
                rebase(depot, base, branch)?;
                fast_forward(depot, base, branch)
            }
            Style::Picked => pick_each(depot, base, branch),
            Style::Octopus => {
                let side = "refs/heads/side";
                depot.branch(side, depot.tip(base));
                let beside = depot.commit(side, &[("side.txt", "side\n")], "work beside it\n");
                depot.delete(side);
                depot.merge(base, &[depot.tip(branch), beside], message)
            }
            Style::Foxtrot => {
                let _ = depot.merge(branch, &[depot.tip(base)], "Merge branch into the work\n")?;
                fast_forward(depot, base, branch)
            }
            Style::MergedFirst => {
                let _ = depot.merge(branch, &[depot.tip(base)], "Merge branch into the work\n")?;
                depot.merge(base, &[depot.tip(branch)], message)
            }
            Style::MergedFirstSquashed => {
                let _ = depot.merge(branch, &[depot.tip(base)], "Merge branch into the work\n")?;
                depot.squash(base, depot.tip(branch), message)
            }
        }
    }

    /// Does both.
    #[must_use]
    pub fn tell(&self, depot: &Depot) -> Oid {
        self.work(depot);
        self.land(depot)
    }
}

/// Moves a branch to another that contains it; nothing where it does not, or is there already.
pub fn fast_forward(depot: &Depot, branch: &str, to: &str) -> Option<Oid> {
    let (from, to) = (depot.tip(branch), depot.tip(to));
    (from != to && depot.contains(to, from)).then(|| {
        depot.point(branch, to, "merge work: Fast-forward");
        to
    })
}

/// Puts the branch's own commits onto base as `git rebase` does.
pub fn rebase(depot: &Depot, base: &str, branch: &str) -> Option<Oid> {
    let (onto, tip) = (depot.tip(base), depot.tip(branch));
    if depot.contains(tip, onto) {
        return Some(tip);
    }
    let scratch = "refs/scratch/rebase";
    depot.point(scratch, onto, "rebase (start): checkout");
    for commit in depot.beyond(tip, onto) {
        // What is there already is left out.
        let _ = depot.pick(scratch, commit, None);
    }
    let rebased = depot.tip(scratch);
    depot.delete(scratch);
    depot.point(branch, rebased, &format!("rebase (finish): {branch} onto {onto}"));
    Some(rebased)
}

/// Picks what the branch has and base has not, commit by commit; nothing where it has nothing new.
pub fn pick_each(depot: &Depot, base: &str, branch: &str) -> Option<Oid> {
    let before = depot.tip(base);
    for commit in depot.beyond(depot.tip(branch), before) {
        let _ = depot.pick(base, commit, None);
    }
    let after = depot.tip(base);
    (after != before).then_some(after)
}
