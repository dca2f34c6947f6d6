//! The fences at the origin that all hosts share: refs that a push can only make, pushes that arrive late, answers that
//! are wrong; and the judge of who may make and remove them (law L3 over hosts).

use std::collections::BTreeMap;

use orchestrate_core::evidence::Origin;
use orchestrate_core::identifier::{CommitId, Nonce, SpecId, TaskId, Unit, UnitName};
use orchestrate_core::place::Place;
use orchestrate_core::record::fence::{Fence, FenceIntent, OriginFence};
use orchestrate_core::world::{Fault, Pushed};

use super::commits::CommitIndex;
use super::host::BASE;
use super::law::Law;
use super::network::Answer;
use super::universe::Universe;

/// The commit of one fence.
#[derive(Debug, Clone)]
struct FenceCommit {
    index: CommitIndex,
    message: String,
    host: usize,
}

/// The fences, their commits, and what is on its way.
#[derive(Debug, Clone, Default)]
pub(super) struct FencedOrigin {
    refs: BTreeMap<TaskId, CommitIndex>,
    commits: Vec<FenceCommit>,
    late: Vec<BTreeMap<TaskId, CommitId>>,
}

/// Whose a fence at origin is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fencer {
    /// A clone of ours, by its host.
    Host(usize),
    /// A reference tower, which leads the ref to the tip of a base.
    Peer,
}

/// Returns what tells one host's clone from the others.
pub(super) fn clone_of(host: usize) -> Nonce {
    Nonce::from_bytes([u8::try_from(host).unwrap_or(u8::MAX); 16])
}

impl Universe {
    pub(super) fn true_origin(&self, spec: &SpecId) -> Origin {
        let none = BTreeMap::new();
        self.origin_as(spec, self.origin.as_ref().unwrap_or(&none), &self.fences.refs)
    }

    /// Returns a state of origin in the words of the World port.
    pub(super) fn origin_as(
        &self,
        spec: &SpecId,
        branches: &BTreeMap<String, CommitIndex>,
        fences: &BTreeMap<TaskId, CommitIndex>,
    ) -> Origin {
        let id = |index: CommitIndex| self.commits.get(index).id.clone();
        let of_units = branches.iter().filter_map(|(reference, at)| {
            let name = UnitName::from_branch(reference).ok()?;
            (name.spec == *spec).then(|| (name.unit, id(*at)))
        });
        let fences = fences.iter().map(|(task, at)| {
            let made = self.fences.commits.iter().find(|commit| commit.index == *at);
            let fence = OriginFence {
                commit: id(*at),
                message: made.map(|made| made.message.clone().into_bytes()),
            };
            (task.clone(), fence)
        });
        Origin {
            base: branches.get(BASE).map(|at| id(*at)),
            branches: of_units.collect(),
            fences: fences.collect(),
        }
    }

    pub(super) fn fence_refs(&self) -> &BTreeMap<TaskId, CommitIndex> {
        &self.fences.refs
    }

    /// Writes the commit, which is the same for the same fence.
    pub(super) fn do_create_fence(&mut self, tower: usize, fence: &Fence) -> CommitId {
        let message = fence.message();
        if let Some(made) = self.fences.commits.iter().find(|made| made.message == message) {
            return self.commits.get(made.index).id.clone();
        }
        let spec = self.bundle().spec.clone();
        let index = self.commits.add(&[], message.as_bytes(), &spec);
        let host = self.minds[tower].host;
        self.fences.commits.push(FenceCommit { index, message, host });
        self.commits.get(index).id.clone()
    }

    /// Pushes: every ref is made, or none is. Origin may say something else than it does.
    pub(super) fn do_push_fences(
        &mut self,
        tower: usize,
        fences: &BTreeMap<TaskId, CommitId>,
    ) -> Result<BTreeMap<TaskId, Pushed>, Fault> {
        self.judge_push(tower, fences);
        self.unanswered(tower, "push the fence")?;
        let all = |pushed: &Pushed| -> BTreeMap<TaskId, Pushed> {
            fences.keys().map(|task| (task.clone(), pushed.clone())).collect()
        };
        let refused = |why: &str| Pushed::Refused { why: why.to_owned() };
        let is_free = fences.keys().all(|task| !self.fences.refs.contains_key(task));
        match self.draw_answer(fences.keys()) {
            Answer::Refuses => {
                self.statistics.refused_free += u64::from(is_free);
                return Ok(all(&refused("[remote rejected] (pre-receive hook declined)")));
            }
            Answer::SaysMade => {
                self.statistics.untrue_made += 1;
                return Ok(all(&Pushed::Made));
            }
            Answer::SaysRefused => {
                let answer = self.receive(fences)?;
                self.note_winner(tower, &answer);
                self.statistics.untrue_refused += u64::from(is_made(&answer));
                return Ok(all(&refused("the simulation says so")));
            }
            Answer::Honest => {}
        }
        let answer = self.receive(fences)?;
        self.note_winner(tower, &answer);
        Ok(answer)
    }

    fn receive(&mut self, fences: &BTreeMap<TaskId, CommitId>) -> Result<BTreeMap<TaskId, Pushed>, Fault> {
        let mut wanted = BTreeMap::new();
        for (task, id) in fences {
            let Some(index) = self.commits.find(id) else {
                return Err(Fault::new("cannot push the fence", "its commit is not there"));
            };
            wanted.insert(task.clone(), index);
        }
        let refs = &self.fences.refs;
        let is_taken = |(task, index): (&TaskId, &CommitIndex)| refs.get(task).is_some_and(|there| there != index);
        if wanted.iter().any(is_taken) {
            let refused = |task: &TaskId| {
                let why = "[rejected] (fetch first)".to_owned();
                (task.clone(), Pushed::Refused { why })
            };
            return Ok(wanted.keys().map(refused).collect());
        }
        self.keep_past();
        let mut answer = BTreeMap::new();
        for (task, index) in wanted {
            let pushed = match self.fences.refs.insert(task.clone(), index) {
                Some(_) => Pushed::Same,
                None => Pushed::Made,
            };
            answer.insert(task, pushed);
        }
        Ok(answer)
    }

    /// The tower is told that the push failed; it arrives later.
    pub(super) fn delay_push(&mut self, tower: usize, fences: &BTreeMap<TaskId, CommitId>) {
        self.judge_push(tower, fences);
        if self.reaches_origin(self.minds[tower].host) {
            self.statistics.late_pushes += 1;
            self.fences.late.push(fences.clone());
        }
    }

    /// Lets a late push arrive, now and then; when the faults have stopped, every one.
    pub(super) fn deliver_a_push(&mut self) {
        if self.fences.late.is_empty() || (!self.calm && !self.random.chance(50)) {
            return;
        }
        let number = self.random.below(self.fences.late.len());
        let late = self.fences.late.swap_remove(number);
        let answer = self.receive(&late);
        self.trace
            .note("origin", || format!("receives a late push: {answer:?}"));
    }

    /// Deletes a fence, if the ref leads to that commit; now and then origin only says so.
    pub(super) fn do_delete_fence(&mut self, tower: usize, task: &TaskId, fence: &CommitId) -> Result<(), Fault> {
        let there = self.fences.refs.get(task).map(|at| &self.commits.get(*at).id);
        let is_there = there == Some(fence);
        if is_there {
            self.judge_fence_removal(tower, task, fence);
        }
        self.unanswered(tower, "delete the fence")?;
        if !is_there {
            return Ok(());
        }
        if self.random.chance(self.faults.false_report) {
            self.statistics.untrue_deleted += 1;
            return Ok(());
        }
        self.keep_past();
        self.fences.refs.remove(task);
        Ok(())
    }

    /// Returns whether work on the task is on origin's base.
    pub(super) fn landed_at_origin(&self, task: &TaskId) -> bool {
        let base = self.origin.as_ref().and_then(|refs| refs.get(BASE));
        base.is_some_and(|base| {
            self.work
                .get(task)
                .is_some_and(|work| self.commits.get(*base).history.meets(work))
        })
    }

    /// Returns whose the fence is that stands at origin.
    pub(super) fn fencer(&self, task: &TaskId) -> Option<Fencer> {
        let at = self.fences.refs.get(task)?;
        let made = self.fences.commits.iter().find(|made| made.index == *at);
        Some(made.map_or(Fencer::Peer, |made| Fencer::Host(made.host)))
    }

    /// A reference tower pushes the tip of origin's base, which it must have, by a lease that expects nothing there.
    pub(super) fn fence_as_a_peer(&mut self, host: usize, task: &TaskId) -> bool {
        let tip = self.origin.as_ref().and_then(|refs| refs.get(BASE)).copied();
        let Some(tip) = tip.filter(|tip| self.hosts[host].objects.contains(*tip) && self.reaches_origin(host)) else {
            return false;
        };
        if self.fences.refs.contains_key(task) {
            return false;
        }
        self.keep_past();
        self.statistics.peer_fences += 1;
        self.fences.refs.insert(task.clone(), tip);
        true
    }

    /// A reference tower removes the fences of what has landed, whoever made them.
    pub(super) fn collect_as_a_peer(&mut self, host: usize) {
        if !self.reaches_origin(host) {
            return;
        }
        for task in self.task_ids() {
            if self.landed_at_origin(&task) {
                self.keep_past();
                self.fences.refs.remove(&task);
            }
        }
    }

    /// Lets people remove the fences that reference towers left behind without a worker, with the branches and the
    /// worktrees that nobody has worked on.
    pub(super) fn clear_strands(&mut self) {
        for task in self.task_ids() {
            let name = self.unit_name(Unit::single(task.clone()));
            let is_left = self.fencer(&task) == Some(Fencer::Peer)
                && !self.landed_at_origin(&task)
                && self.live_workers(0, &name.unit).is_empty()
                && (0..self.hosts.len()).all(|host| self.ahead(host, &name.unit) == 0);
            if !is_left {
                continue;
            }
            self.statistics.strands += 1;
            self.fences.refs.remove(&task);
            self.trace.note("people", || {
                format!("remove the fence of {task} that a reference tower has left")
            });
            for host in 0..self.hosts.len() {
                self.delete_branch(host, &name);
            }
        }
    }

    fn note_winner(&mut self, tower: usize, answer: &BTreeMap<TaskId, Pushed>) {
        let won = answer.iter().filter(|(_, pushed)| **pushed == Pushed::Made);
        let late: Vec<TaskId> = won
            .map(|(task, _)| task.clone())
            .filter(|task| self.landed_at_origin(task))
            .collect();
        self.statistics.fences += u64::from(is_made(answer));
        if let Some(tenure) = &mut self.minds[tower].tenure {
            tenure.fenced_too_late.extend(late);
        }
    }

    /// Judges that a push happens under the lock, after the gate, and that its intent was written before.
    fn judge_push(&mut self, tower: usize, fences: &BTreeMap<TaskId, CommitId>) {
        let mind = &self.minds[tower];
        let Some(tenure) = &mind.tenure else {
            self.convict(Law::Lock, || {
                format!("tower {tower} pushes a fence without holding the lock")
            });
            return;
        };
        if tenure.gates.is_empty() {
            self.convict(Law::Order, || format!("tower {tower} pushes a fence before the gate"));
            return;
        }
        let spec = self.bundle().spec.clone();
        let unintended = fences.iter().find(|(task, commit)| {
            let place = Place::Intent(spec.clone(), (*task).clone());
            let intent = self.hosts[mind.host].file(&place).map(FenceIntent::parse);
            !matches!(intent, Some(Ok(intent)) if intent.commit == **commit)
        });
        if let Some((task, _)) = unintended.map(|(task, commit)| (task.clone(), commit)) {
            self.convict(Law::Order, || {
                format!("tower {tower} pushes the fence of {task} before it has written down which")
            });
        }
    }

    /// Judges that a branch, a move of one or a record comes after this clone's own fence, and after a look that would
    /// have shown that the unit has landed.
    pub(super) fn judge_fence(&mut self, tower: usize, name: &UnitName, what: &str) {
        if !self.scenario.fence {
            return;
        }
        let host = self.minds[tower].host;
        for task in name.unit.tasks() {
            match self.fencer(task) {
                // Work of an earlier attempt may land, and its fence be collected, at any moment.
                Some(_) | None if self.landed_at_origin(task) => {}
                Some(Fencer::Host(other)) if other == host => {}
                Some(Fencer::Peer) => self.convict(Law::OneWorker, || {
                    format!("tower {tower} {what} of {name}, which a reference tower has fenced")
                }),
                Some(Fencer::Host(other)) => self.convict(Law::OneWorker, || {
                    format!("tower {tower} {what} of {name}, which host {} has fenced", other + 1)
                }),
                None => self.convict(Law::Order, || {
                    format!("tower {tower} {what} of {name} without its fence")
                }),
            }
            let tenure = self.minds[tower].tenure.as_ref();
            if tenure.is_some_and(|tenure| tenure.fenced_too_late.contains(task)) {
                self.convict(Law::OneWorker, || {
                    format!("tower {tower} {what} of {name}, which had landed at origin before its fence")
                });
            }
            self.judge_branches_elsewhere(tower, host, name, what);
        }
    }

    /// Judges that no other clone has a branch of the unit whose work has not landed there.
    fn judge_branches_elsewhere(&mut self, tower: usize, host: usize, name: &UnitName, what: &str) {
        let elsewhere = (0..self.hosts.len()).filter(|other| *other != host).find(|other| {
            self.hosts[*other].refs.contains_key(&name.reference())
                && !name.unit.tasks().any(|task| self.landed_on(*other, task))
        });
        if let Some(other) = elsewhere {
            self.convict(Law::OneWorker, || {
                format!(
                    "tower {tower} {what} of {name}, which has a branch on host {}",
                    other + 1
                )
            });
        }
    }

    /// Judges that a fence goes when its unit has landed at origin, or by its own clone under the lock: before anything of
    /// the dispatch is there, or as what was given back before.
    fn judge_fence_removal(&mut self, tower: usize, task: &TaskId, fence: &CommitId) {
        let Some(owner) = self.fencer(task) else { return };
        if self.landed_at_origin(task) {
            return;
        }
        let host = self.minds[tower].host;
        if owner != Fencer::Host(host) {
            self.convict(Law::OneWorker, || {
                format!("tower {tower} removes the fence of {task}, which is not its own: {owner:?}")
            });
            return;
        }
        let spec = self.bundle().spec.clone();
        let intent = self.hosts[host].file(&Place::GivenBack(spec.clone(), task.clone()));
        let is_spent = matches!(intent.map(FenceIntent::parse), Some(Ok(intent)) if intent.commit == *fence);
        let branches = self.hosts[host].task_branches(&spec);
        let has_branch = !is_spent && branches.iter().any(|(unit, _)| unit.contains(task));
        if has_branch || !self.minds[tower].holds_or_was_robbed() {
            self.convict(Law::OneWorker, || {
                format!("tower {tower} removes the fence of {task} while something of the unit may be there")
            });
        }
    }
}

fn is_made(answer: &BTreeMap<TaskId, Pushed>) -> bool {
    answer.values().any(|pushed| *pushed == Pushed::Made)
}
