//! `fleet-fence sweep`: what has landed is collected, what nobody answers for is named, nothing else is touched.

use orchestrate_core::derive::{Answer, Row, SpecState, TaskReport, TaskState};
use orchestrate_core::evidence::Origin;
use orchestrate_core::identifier::{SpecId, TaskId, Unit, printable};
use orchestrate_core::observed::Observed;
use orchestrate_core::process::Liveness;
use orchestrate_core::record::fence::{Fence, OriginFence, parts, task_of};
use orchestrate_core::world::World;
use orchestrate_tower::gather::own_fences;
use orchestrate_tower::preflight::read_bundle;
use orchestrate_tower::step::survey;

use super::{COLLECTED, VERB, open, remove_one, spec_of, standing};
use crate::arguments::{FencePlace, FenceSweeper};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::session::Session;

/// What is told of one fence.
enum Verdict {
    Landed,
    EvidenceDegraded,
    Honored(String),
    Strand(String, &'static str),
}

pub(super) fn check_arguments(by: &FenceSweeper, grace: &str, min_interval: &str) -> Result<(), Failure> {
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
    if is_number(grace, 12) && is_number(min_interval, 12) {
        Ok(())
    } else {
        Err(Failure::usage(format!(
            "{VERB}: --grace and --min-interval are whole seconds"
        )))
    }
}

pub(super) fn run(at: &FencePlace, environment: &Environment, printer: &mut Printer) -> Result<u8, Failure> {
    let spec = spec_of(&at.spec)?;
    let world = open(&at.checkout, environment)?;
    let fences = match standing(&world, Some(&spec), printer) {
        Ok(fences) => fences,
        Err(exit) => return Ok(exit),
    };
    let (mut strands, count) = (0_usize, fences.len());
    if count > 0 {
        let session = Session::open(environment, &at.checkout, printer).map_err(|failure| failure.with_exit(2))?;
        let evidence = Evidence::gather(&session, &spec);
        for (reference, commit) in &fences {
            let unit = parts(reference).and_then(|(_, rest)| Unit::parse(rest).ok());
            let Some(unit) = unit else {
                printer.record(&["anomaly", reference, "off-grammar-unit-id"]);
                continue;
            };
            match evidence.judge(&session, &spec, (reference, &unit)) {
                Verdict::Landed => {
                    let removed = remove_one(&world, reference, commit);
                    printer.record(&[if removed.is_ok() { COLLECTED } else { "gc-failed" }, reference]);
                }
                Verdict::EvidenceDegraded => printer.record(&["hold", reference, "evidence-degraded"]),
                Verdict::Honored(owner) => printer.record(&["honored", reference, &owner]),
                Verdict::Strand(owner, liveness) => {
                    strands += 1;
                    printer.record(&["strand", reference, &owner, liveness]);
                }
            }
        }
    }
    printer.record(&["summary", &format!("fences={count}"), &format!("strands={strands}")]);
    Ok(0)
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
            || "unknown-owner".to_owned(),
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
            None => Verdict::Strand(owner, "orphan"),
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
