//! `fleet-fence sweep`: what has landed is collected, what nobody answers for is named, nothing else is touched.

use orchestrate_core::derive::{Answer, Row, SpecState, TaskReport, TaskState};
use orchestrate_core::evidence::Origin;
use orchestrate_core::identifier::{SpecId, TaskId, Unit, printable};
use orchestrate_core::observed::Observed;
use orchestrate_core::place::Place;
use orchestrate_core::process::Liveness;
use orchestrate_core::record::fence::{Fence, OriginFence, parts, task_of};
use orchestrate_core::record::sighting::Sightings;
use orchestrate_core::time::Timestamp;
use orchestrate_core::world::{Fault, Reading, World};
use orchestrate_host::world::RealWorld;
use orchestrate_tower::gather::own_fences;
use orchestrate_tower::preflight::read_bundle;
use orchestrate_tower::step::survey;

use super::super::FAIL_CLOSED;
use super::{COLLECTED, Fences, VERB, check_checkout, remove_one, spec_of, standing};
use crate::arguments::{FencePlace, FenceSweeper};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::Session;

/// Who owns a fence whose commit does not say it.
const UNKNOWN_OWNER: &str = "unknown-owner";

/// What is told of one fence.
enum Verdict {
    Landed,
    EvidenceDegraded,
    Honored(String),
    Strand(String, &'static str),
    /// Its commit names no owner.
    Unattributed,
}

/// How long what is told of a fence waits, in seconds.
pub(super) struct Terms {
    /// For so long a fence without an owner is only watched.
    grace: i64,
    /// For so long a strand is not told of again.
    min_interval: i64,
}

pub(super) fn terms(by: &FenceSweeper, grace: &str, min_interval: &str) -> Result<Terms, Failure> {
    let is_number = |text: &str, longest| {
        !text.is_empty() && text.len() <= longest && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    if let Some(pid) = &by.pid
        && (!is_number(pid, 10) || pid.starts_with('0'))
    {
        return Err(Failure::usage(format!("{VERB}: --pid is no process id")));
    }
    let is_session =
        |text: &String| text.len() == 36 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if by.session_id.as_ref().is_some_and(|session| !is_session(session)) {
        return Err(Failure::usage(format!("{VERB}: --session-id is no session's id")));
    }
    let seconds = |text: &str| text.parse().ok().filter(|_| is_number(text, 12));
    match (seconds(grace), seconds(min_interval)) {
        (Some(grace), Some(min_interval)) => Ok(Terms { grace, min_interval }),
        (_, _) => Err(Failure::usage(format!(
            "{VERB}: --grace and --min-interval are whole seconds"
        ))),
    }
}

pub(super) fn run(
    at: &FencePlace,
    terms: &Terms,
    environment: &Environment,
    printer: &mut Printer,
) -> Result<u8, Failure> {
    let spec = spec_of(&at.spec)?;
    check_checkout(&at.checkout)?;
    let mut session =
        Session::open(environment, &at.checkout, printer).map_err(|failure| failure.with_exit(FAIL_CLOSED))?;
    let fences = match standing(&session.world, Some(&spec), printer) {
        Ok(fences) => fences,
        Err(exit) => return Ok(exit),
    };
    let before = sightings(&session.world, &spec, printer);
    let mut seen = before.clone();
    seen.retain(|reference| fences.contains_key(reference));
    let mut strands = 0_usize;
    if !fences.is_empty() {
        let sweep = Sweep {
            evidence: Evidence::gather(&session, &spec),
            session: &session,
            spec: &spec,
            terms,
            now: session.world.now(),
        };
        strands = sweep.tell_all(&fences, &mut seen, printer);
    }
    if seen != before
        && let Err(fault) = keep(&mut session.world, &spec, &seen)
    {
        printer.talk(&format!("{VERB}: {fault}"));
    }
    printer.record(&[
        "summary",
        &format!("fences={}", fences.len()),
        &format!("strands={strands}"),
    ]);
    Ok(0)
}

/// Returns what earlier sweeps saw. Where that cannot be read everything is seen for the first time, which only
/// makes the sweep slower to call a fence a strand.
fn sightings(world: &RealWorld, spec: &SpecId, printer: &mut Printer) -> Sightings {
    let place = Place::FenceSightings(spec.clone());
    let cause = match world.read(&place) {
        Reading::Absent => return Sightings::default(),
        Reading::File { bytes, .. } => match Sightings::parse(&bytes) {
            Ok(seen) => return seen,
            Err(fault) => fault.to_string(),
        },
        Reading::Directory { .. } | Reading::Symlink | Reading::Special => "it is no file".to_owned(),
        Reading::Unreadable(cause) => cause,
    };
    printer.talk(&format!("{VERB}: note: {place} is not used: {cause}"));
    Sightings::default()
}

fn keep(world: &mut RealWorld, spec: &SpecId, seen: &Sightings) -> Result<(), Fault> {
    world.create_directory(&Place::IntentDirectory(spec.clone()))?;
    world.write(&Place::FenceSightings(spec.clone()), &seen.render())
}

struct Sweep<'a> {
    evidence: Evidence,
    session: &'a Session,
    spec: &'a SpecId,
    terms: &'a Terms,
    now: Timestamp,
}

impl Sweep<'_> {
    /// Tells of every fence, and returns how many are strands.
    fn tell_all(&self, fences: &Fences, seen: &mut Sightings, printer: &mut Printer) -> usize {
        let mut strands = 0;
        for (reference, commit) in fences {
            let Some(unit) = parts(reference).and_then(|(_, rest)| Unit::parse(rest).ok()) else {
                printer.record(&["anomaly", reference, "off-grammar-unit-id"]);
                continue;
            };
            if seen.is_recent_strand(reference, commit, self.now, self.terms.min_interval) {
                printer.record(&["suppressed", reference]);
                continue;
            }
            let (owner, liveness) = match self.evidence.judge(self.session, self.spec, (reference, &unit)) {
                Verdict::Landed => {
                    let removed = remove_one(&self.session.world, reference, commit);
                    if removed.is_ok() {
                        seen.forget(reference);
                    }
                    printer.record(&[if removed.is_ok() { COLLECTED } else { "gc-failed" }, reference]);
                    continue;
                }
                Verdict::EvidenceDegraded => {
                    printer.record(&["hold", reference, "evidence-degraded"]);
                    continue;
                }
                Verdict::Honored(owner) => {
                    seen.forget(reference);
                    printer.record(&["honored", reference, &owner]);
                    continue;
                }
                Verdict::Unattributed if !seen.watch(reference, commit, self.now, self.terms.grace) => {
                    printer.record(&["tentative", reference]);
                    continue;
                }
                Verdict::Unattributed => (UNKNOWN_OWNER.to_owned(), "orphan"),
                Verdict::Strand(owner, liveness) => (owner, liveness),
            };
            strands += 1;
            seen.tell(reference, commit, self.now);
            printer.record(&["strand", reference, &owner, liveness]);
        }
        strands
    }
}

/// What the verdicts are taken from; nothing where the bundle cannot be read.
struct Evidence {
    state: Option<SpecState>,
    origin: Option<Origin>,
}

impl Evidence {
    fn gather(session: &Session, spec: &SpecId) -> Self {
        let request = session.request(spec.clone(), true);
        let surveyed = read_bundle(&session.world, spec)
            .ok()
            .and_then(|(bundle, _)| survey(&session.world, &request, &bundle).ok());
        let origin = surveyed.as_ref().and_then(|surveyed| {
            session
                .world
                .origin(spec, &surveyed.evidence.base)
                .known()
                .ok()
                .flatten()
        });
        Self {
            state: surveyed.map(|surveyed| surveyed.state),
            origin,
        }
    }

    fn judge(&self, session: &Session, spec: &SpecId, (reference, unit): (&str, &Unit)) -> Verdict {
        let Some(state) = &self.state else {
            return Verdict::EvidenceDegraded;
        };
        let states: Vec<Option<&TaskState>> = unit
            .tasks()
            .map(|task| state.tasks.get(task).map(|report| &report.state))
            .collect();
        if states
            .iter()
            .all(|state| matches!(state, Some(TaskState::Landed { .. })))
        {
            return Verdict::Landed;
        }
        // What a fence itself leaves unknown is what is asked here.
        let is_unread = |(row, answer): &(Row, Answer)| *row != Row::Fence && matches!(answer, Answer::Unknown(_));
        let is_unknown =
            |report: &TaskReport| matches!(report.state, TaskState::Unknown(_)) && report.rows.iter().any(is_unread);
        if state.tasks.values().any(is_unknown) {
            return Verdict::EvidenceDegraded;
        }
        let task = task_of(spec, reference);
        let fence = task.as_ref().and_then(|task| self.origin.as_ref()?.fences.get(task));
        let tower = fence.and_then(|fence| Fence::of_message(fence.message.as_deref()?));
        let owner = tower.as_ref().map_or_else(
            || UNKNOWN_OWNER.to_owned(),
            |fence| format!("{}:{}", printable(&fence.tower.host), fence.tower.pid),
        );
        let works_here = states
            .iter()
            .any(|state| matches!(state, Some(TaskState::InProgress(_))));
        let is_own = task
            .zip(fence)
            .is_some_and(|(task, fence)| is_own(session, spec, &task, fence));
        if works_here || is_own {
            return Verdict::Honored(owner);
        }
        match tower.map(|fence| session.world.liveness(&fence.tower)) {
            Some(Observed::Known(Liveness::Alive)) => Verdict::Honored(owner),
            Some(Observed::Known(Liveness::Dead)) => Verdict::Strand(owner, "dead"),
            Some(Observed::Absent(_) | Observed::Unknown(_)) => Verdict::Strand(owner, "unknown"),
            None => Verdict::Unattributed,
        }
    }
}

/// Returns whether this clone made the fence: its next step goes on from it.
fn is_own(session: &Session, spec: &SpecId, task: &TaskId, fence: &OriginFence) -> bool {
    match own_fences(&session.world, spec) {
        Observed::Known(own) => match own.get(task) {
            Some(Observed::Known(own)) => own.owns(&fence.commit),
            Some(Observed::Absent(_) | Observed::Unknown(_)) | None => false,
        },
        Observed::Absent(_) | Observed::Unknown(_) => false,
    }
}
