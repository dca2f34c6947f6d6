//! The World port over the shared model, for one simulated tower.

use std::collections::{BTreeMap, BTreeSet};

use orchestrate_core::content::Content;
use orchestrate_core::evidence::{Base, History, Lease, Origin};
use orchestrate_core::fetch::{Fetch, FetchTerms};
use orchestrate_core::identifier::{BaseName, CommitId, Nonce, SpecId, TaskId, Unit, UnitName};
use orchestrate_core::observed::{Observed, Why};
use orchestrate_core::place::{BundleFile, Place};
use orchestrate_core::process::{Liveness, ProcessIdentity};
use orchestrate_core::pull_request::PullRequests;
use orchestrate_core::record::dispatch::DispatchRecord;
use orchestrate_core::record::fence::Fence;
use orchestrate_core::time::{CommitTime, Timestamp};
use orchestrate_core::world::{
    Branches, Checkout, Fault, Pushed, Race, Reading, Retirement, Spawned, WorktreeFacts, World,
};

use super::call::{Pause, SimulatedWorld};
use super::mind::Query;
use super::origin::clone_of;
use super::universe::Universe;

/// For effects that are one system call: they happen or they do not.
fn atomic(_: &mut Universe, _: usize) {}

impl World for SimulatedWorld<'_> {
    fn now(&self) -> Timestamp {
        self.pause(Pause::Call);
        let host = self.host();
        let mut universe = self.universe.borrow_mut();
        let now = universe.now(host);
        let mind = &mut universe.minds[self.tower];
        mind.latest = Some(mind.latest.map_or(now, |latest| latest.max(now)));
        Timestamp::from_seconds(now)
    }

    fn identity(&self) -> ProcessIdentity {
        self.universe.borrow().minds[self.tower].identity.clone()
    }

    fn nonce(&mut self) -> Result<Nonce, Fault> {
        if !self.pause(Pause::Call) {
            return Err(Fault::new("cannot make a nonce", "the process is dead"));
        }
        let mut universe = self.universe.borrow_mut();
        let rate = universe.faults.unknown;
        if universe.random.chance(rate) {
            return Err(Fault::new("cannot make a nonce", "the simulation says so"));
        }
        Ok(Nonce::from_bytes(universe.random.sixteen()))
    }

    fn liveness(&self, process: &ProcessIdentity) -> Observed<Liveness> {
        self.observe(Query::liveness(process), |universe, host| {
            universe.true_liveness(host, process)
        })
    }

    fn read(&self, place: &Place) -> Reading {
        let reading = match self.look(Query::Read(place.clone()), |universe, host| {
            universe.true_reading(host, place)
        }) {
            Ok(reading) => reading,
            Err(why) => return Reading::Unreadable(why.reason),
        };
        self.see_lock(place);
        if let (Place::BundleFile(_, BundleFile::Tasks), Reading::File { bytes, .. }) = (place, &reading) {
            self.universe.borrow_mut().minds[self.tower].tasks_read = Some(bytes.clone());
        }
        reading
    }

    fn command_aside(&self, place: &Place) -> String {
        format!("mv {place} {place}.aside")
    }

    fn list(&self, place: &Place) -> Observed<Vec<String>> {
        let names = self.observe(Query::List(place.clone()), |universe, host| {
            universe.true_list(host, place)
        });
        if !matches!(names, Observed::Unknown(_)) {
            let host = self.host();
            let mut universe = self.universe.borrow_mut();
            let universe = &mut *universe;
            let files = &universe.hosts[host].files;
            universe.minds[self.tower].forget_gone(place, files);
        }
        names
    }

    fn base(&self, configured: Option<&BaseName>) -> Result<Base, Fault> {
        self.look(Query::Base, |universe, host| universe.true_base(host, configured))
            .unwrap_or_else(|why| Err(Fault::new("cannot resolve the base", why.reason)))
    }

    fn history(&self, spec: &SpecId, base: &Base) -> Observed<History> {
        self.observe(Query::History, |universe, _| universe.true_history(spec, base))
    }

    fn branches(&self, spec: &SpecId, base: &Base, starts: &BTreeMap<Unit, CommitId>) -> Observed<Branches> {
        self.observe(Query::Branches, |universe, host| {
            universe.true_branches(host, spec, base, starts)
        })
    }

    fn pull_requests(&self, _spec: &SpecId, _units: &BTreeSet<Unit>) -> Observed<PullRequests> {
        self.observe(Query::PullRequests, |_, _| {
            Observed::Absent(Why::new("no forge is configured"))
        })
    }

    fn commit_times(&self, _commits: &BTreeSet<CommitId>) -> BTreeMap<CommitId, CommitTime> {
        // Times are shown and decide nothing: a schedule looks at none.
        BTreeMap::new()
    }

    fn content(&self, tip: &CommitId, _base: &Base) -> Observed<Content> {
        self.observe(Query::Content(tip.clone()), |_, _| Observed::Known(Content::Different))
    }

    fn contains(&self, descendant: &CommitId, ancestor: &CommitId) -> Observed<bool> {
        self.observe(
            Query::Contains(descendant.clone(), ancestor.clone()),
            |universe, host| universe.true_containment(host, descendant, ancestor),
        )
    }

    fn committed(&self, commit: &CommitId, spec: &SpecId, file: BundleFile) -> Observed<Vec<u8>> {
        let answer = self.observe(Query::Committed(commit.clone(), file), |universe, host| {
            universe.true_committed(host, commit, spec, file)
        });
        if matches!(answer, Observed::Known(_)) && file == BundleFile::KickoffBrief {
            let mut universe = self.universe.borrow_mut();
            let gate = universe.commits.find(commit);
            if let (Some(tenure), Some(gate)) = (&mut universe.minds[self.tower].tenure, gate) {
                tenure.gates.push(gate);
            }
        }
        answer
    }

    fn worktree(&self, name: &UnitName) -> Observed<WorktreeFacts> {
        self.observe(Query::Worktree(name.clone()), |universe, host| {
            universe.true_worktree(host, name)
        })
    }

    fn leases(&self, spec: &SpecId) -> Observed<BTreeMap<Unit, Observed<Lease>>> {
        let truth = self.look(Query::Leases, |universe, host| universe.true_leases(host, spec));
        let leases = match truth {
            Ok(leases) => leases,
            Err(why) => return Observed::Unknown(why),
        };
        let mut universe = self.universe.borrow_mut();
        let universe = &mut *universe;
        let rate = universe.faults.unknown;
        let answers = leases.into_iter().map(|(unit, lease)| {
            let query = Query::Lease(unit.clone());
            let answer = if universe.random.chance(rate) {
                universe.statistics.unknown += 1;
                universe.minds[self.tower].unread.insert(query);
                Observed::Unknown(Why::new("the simulation says so"))
            } else {
                universe.minds[self.tower].unread.remove(&query);
                Observed::Known(lease)
            };
            (unit, answer)
        });
        Observed::Known(answers.collect())
    }

    fn occupants(&self, name: &UnitName) -> Observed<Vec<String>> {
        self.observe(Query::Occupants(name.clone()), |universe, host| {
            Observed::Known(universe.true_occupants(host, name))
        })
    }

    fn retirement(&self, name: &UnitName, tip: &CommitId) -> Observed<Retirement> {
        let answer = self.observe(Query::Retirement(name.clone()), |universe, host| {
            universe.true_retirement(host, name, tip)
        });
        let mut universe = self.universe.borrow_mut();
        if let Some(tenure) = &mut universe.minds[self.tower].tenure {
            if answer == Observed::Known(Retirement::Free) {
                tenure.told_free.insert(name.clone());
            } else {
                tenure.told_free.remove(name);
            }
        }
        answer
    }

    fn fetch(&mut self, _terms: &FetchTerms) -> Fetch {
        // A decision begins with it: what an earlier one of the same step could not read of some unit is of no account.
        let mut universe = self.universe.borrow_mut();
        let unread = &mut universe.minds[self.tower].unread;
        unread.retain(|query| !matches!(query, Query::Worktree(_) | Query::Occupants(_) | Query::Retirement(_)));
        drop(universe);
        let fetched = self.act(
            || "fetch origin".to_owned(),
            |universe, tower| {
                universe.judge_outside_lock(tower, "fetches");
                universe.do_fetch(tower)
            },
            Universe::tear_fetch,
        );
        if !self.runs() {
            return Fetch::Failed {
                why: Why::new("the process is dead"),
                in_a_row: 1,
            };
        }
        let host = self.host();
        let mut universe = self.universe.borrow_mut();
        match fetched {
            Ok(fetch) => {
                universe.hosts[host].failed_fetches = 0;
                universe.minds[self.tower].unread.remove(&Query::Origin);
                fetch
            }
            Err(fault) => {
                universe.minds[self.tower].unread.insert(Query::Origin);
                universe.statistics.fetches_failed += 1;
                universe.hosts[host].failed_fetches += 1;
                Fetch::Failed {
                    why: Why::new(fault.to_string()),
                    in_a_row: universe.hosts[host].failed_fetches,
                }
            }
        }
    }

    fn clone_id(&self) -> Nonce {
        clone_of(self.host())
    }

    fn origin(&self, spec: &SpecId, _base: &Base) -> Observed<Origin> {
        let truth = self.observe(Query::Fences, |universe, host| {
            if !universe.scenario.fence || universe.origin.is_none() {
                Observed::Absent(Why::new("there is no origin"))
            } else if universe.reaches_origin(host) {
                Observed::Known(universe.true_origin(spec))
            } else {
                Observed::Unknown(Why::new("origin does not answer"))
            }
        });
        if !self.runs() {
            return truth;
        }
        truth.map(|truth| self.universe.borrow_mut().told_origin(spec, truth))
    }

    fn enter_window(&mut self, spec: &SpecId) -> Result<Race, Fault> {
        self.act(
            || "take the window lock".to_owned(),
            |universe, tower| Ok(universe.do_enter_window(tower, spec)),
            atomic,
        )
    }

    fn leave_window(&mut self, spec: &SpecId) {
        if self.pause(Pause::Call) {
            self.universe.borrow_mut().do_leave_window(self.tower, spec);
        }
    }

    fn create_directory(&mut self, place: &Place) -> Result<(), Fault> {
        self.act(
            || format!("create {place}"),
            |universe, tower| universe.do_create_directory(tower, place),
            atomic,
        )
    }

    fn write(&mut self, place: &Place, bytes: &[u8]) -> Result<(), Fault> {
        self.act(
            || format!("write {place}"),
            |universe, tower| {
                universe.judge_write(tower, place, bytes);
                universe.do_write(tower, place, bytes.to_vec())
            },
            |universe, tower| {
                universe.judge_write(tower, place, bytes);
                universe.tear_write(tower, place, bytes);
            },
        )
    }

    fn replace(&mut self, place: &Place, expected: &[u8], bytes: &[u8]) -> Result<Race, Fault> {
        self.act(
            || format!("replace {place}"),
            |universe, tower| {
                if !universe.holds(tower, place, expected) {
                    return Ok(Race::Lost);
                }
                universe.judge_write(tower, place, bytes);
                universe.do_write(tower, place, bytes.to_vec())?;
                Ok(Race::Won)
            },
            |universe, tower| {
                if universe.holds(tower, place, expected) {
                    universe.judge_write(tower, place, bytes);
                    universe.tear_write(tower, place, bytes);
                }
            },
        )
    }

    fn publish(&mut self, from: &Place, to: &Place) -> Result<Race, Fault> {
        let result = self.act(
            || format!("move {from} to {to}"),
            |universe, tower| {
                if matches!(from, Place::Lock(_)) {
                    universe.judge_taking_away(tower, "moves away");
                }
                universe.do_publish(tower, from, to)
            },
            atomic,
        );
        self.excuse(&result, to);
        result
    }

    fn remove(&mut self, place: &Place) -> Result<(), Fault> {
        let result = self.act(
            || format!("remove {place}"),
            |universe, tower| {
                universe.judge_removal(tower, place);
                universe.do_remove(tower, place)
            },
            |universe, tower| {
                universe.judge_removal(tower, place);
                universe.tear_remove(tower, place);
            },
        );
        self.excuse(&result, place);
        result
    }

    fn touch(&mut self, place: &Place) -> Result<(), Fault> {
        self.act(
            || format!("touch {place}"),
            |universe, tower| universe.do_touch(tower, place),
            atomic,
        )
    }

    fn create_fence(&mut self, fence: &Fence) -> Result<CommitId, Fault> {
        self.act(
            || "write the commit of a fence".to_owned(),
            |universe, tower| Ok(universe.do_create_fence(tower, fence)),
            atomic,
        )
    }

    fn push_fences(
        &mut self,
        spec: &SpecId,
        fences: &BTreeMap<TaskId, CommitId>,
    ) -> Result<BTreeMap<TaskId, Pushed>, Fault> {
        self.act(
            || {
                format!(
                    "push the fences of {:?} of {spec}",
                    fences.keys().map(TaskId::as_str).collect::<Vec<_>>()
                )
            },
            |universe, tower| universe.do_push_fences(tower, fences),
            |universe, tower| universe.delay_push(tower, fences),
        )
    }

    fn delete_fence(&mut self, spec: &SpecId, task: &TaskId, fence: &CommitId) -> Result<(), Fault> {
        self.act(
            || format!("delete the fence of {task} of {spec}"),
            |universe, tower| universe.do_delete_fence(tower, task, fence),
            atomic,
        )
    }

    fn create_branch(&mut self, name: &UnitName, at: &CommitId) -> Result<Race, Fault> {
        self.act(
            || format!("create {} at {}", name.branch(), at.short()),
            |universe, tower| universe.do_create_branch(tower, name, at),
            atomic,
        )
    }

    fn advance_branch(&mut self, name: &UnitName, from: &CommitId, to: &CommitId) -> Result<Race, Fault> {
        self.act(
            || format!("move {} from {} to {}", name.branch(), from.short(), to.short()),
            |universe, tower| universe.do_advance_branch(tower, name, from, to),
            atomic,
        )
    }

    fn register_worktree(&mut self, name: &UnitName) -> Result<Race, Fault> {
        self.act(
            || format!("register the worktree of {name}"),
            |universe, tower| universe.do_register(tower, name),
            atomic,
        )
    }

    fn retire_worktree(&mut self, name: &UnitName, tip: &CommitId) -> Result<Retirement, Fault> {
        self.act(
            || format!("retire the worktree of {name} at {}", tip.short()),
            |universe, tower| {
                universe.judge_retirement(tower, name, tip);
                universe.do_retire(tower, name, tip)
            },
            |universe, tower| {
                universe.judge_retirement(tower, name, tip);
                universe.tear_retire(tower, name, tip);
            },
        )
    }

    fn clear_retired(&mut self) -> Result<(), Fault> {
        self.act(
            || "throw away what was retired".to_owned(),
            |universe, tower| {
                universe.judge_outside_lock(tower, "throws away what was retired");
                universe.do_clear_retired(tower);
                Ok(())
            },
            // Some of it is thrown away: the rest is there as before.
            atomic,
        )
    }

    fn checkout(&mut self, name: &UnitName) -> Result<Checkout, Fault> {
        self.act(
            || format!("check out {name}"),
            |universe, tower| {
                universe.judge_outside_lock(tower, "checks out");
                universe.do_checkout(tower, name)
            },
            |universe, tower| universe.tear_checkout(tower, name),
        )
    }

    fn spawn(&mut self, record: &DispatchRecord) -> Result<Spawned, Fault> {
        let runner = self.act(
            || format!("start a worker for {}", record.name()),
            |universe, tower| {
                universe.judge_spawn(tower, record);
                let host = universe.minds[tower].host;
                Ok(universe.start_runner(host, record))
            },
            atomic,
        )?;
        self.wait_for(runner, record.launch.manner)
    }
}
