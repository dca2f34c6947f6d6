//! A halt before a person at a terminal: it was presented, and the step waits for an answer instead of writing
//! (`contract/core.md §14.1`).
//!
//! Nothing is held while it waits: the step is over, its lock is free, and whatever is answered is decided from everything
//! read again (laws L2, L7). Leaving, by word, Ctrl-C, Ctrl-D or a terminal that is gone, writes nothing.

use std::time::{Duration, Instant};

use orchestrate_core::identifier::SpecId;
use orchestrate_core::plan::{HaltReason, NoDispatch};
use orchestrate_core::words::count;
use orchestrate_spec::Status;
use orchestrate_tower::step::{StepOutcome, StepReport};

use crate::arguments::Format;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::signing::terminal::{Terminal, Typed};
use crate::signing::walk::Input;

/// What a person said to a halt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is mended, or may be: look again.
    LookAgain,
    /// Write it down, and let the others go on.
    Park,
    /// End here.
    Leave,
    /// Nothing yet, and it is time for a loop to look at the others.
    NotYet,
}

/// Where a person is asked.
#[derive(Default)]
pub(crate) struct Desk {
    terminal: Option<Terminal>,
    /// The question that is open.
    asked: Option<String>,
}

impl Desk {
    /// Makes room for what is told next, unless it is what the open question is about.
    pub(crate) fn make_room_for(&mut self, report: &StepReport) {
        let is_same = self.asked.as_ref() == Some(&question(report));
        if !is_same
            && self.asked.take().is_some()
            && let Some(terminal) = &mut self.terminal
        {
            terminal.show("");
        }
    }

    /// Asks a question with yes or no for an answer; whoever leaves has said no.
    pub(crate) fn confirm(&mut self, question: &str) -> bool {
        Printer::new(Format::Human).talk(&format!("{question} [y/N]"));
        let Ok(terminal) = open(&mut self.terminal) else {
            return false;
        };
        match terminal.typed(None) {
            Typed::Input(Input::Line(line)) => line.trim().eq_ignore_ascii_case("y"),
            Typed::Input(Input::Gone) | Typed::Nothing => false,
        }
    }

    /// Asks what is to become of a halt, and waits for the answer: without an end, or for as long as a loop can. The same
    /// question is asked once, however often it is waited for.
    ///
    /// # Errors
    /// When the terminal cannot be opened.
    pub(crate) fn ask(
        &mut self,
        spec: &SpecId,
        report: &StepReport,
        patience: Option<Duration>,
    ) -> Result<Answer, Failure> {
        let can_park = !report.waiting.is_empty();
        let question = question(report);
        let terminal = open(&mut self.terminal)?;
        if self.asked.as_ref() != Some(&question) {
            terminal.drop_typed();
            for line in menu(spec, report) {
                terminal.show(&line);
            }
            self.asked = Some(question);
            if !terminal.prompt(prompt(can_park)) {
                return Ok(Answer::Leave);
            }
        }
        let until = patience.map(|patience| Instant::now() + patience);
        loop {
            let line = match terminal.typed(until) {
                Typed::Input(Input::Line(line)) => line,
                Typed::Input(Input::Gone) => return Ok(Answer::Leave),
                Typed::Nothing => return Ok(Answer::NotYet),
            };
            match answer(&line, can_park) {
                Some(answer) => {
                    self.asked = None;
                    return Ok(answer);
                }
                None => {
                    if !terminal.prompt(prompt(can_park)) {
                        return Ok(Answer::Leave);
                    }
                }
            }
        }
    }

    /// Asks which of several bundles is meant; nothing where the person leaves.
    ///
    /// # Errors
    /// When the terminal cannot be opened.
    pub(crate) fn which(&mut self, open_ones: &[SpecId]) -> Result<Option<SpecId>, Failure> {
        let terminal = open(&mut self.terminal)?;
        terminal.drop_typed();
        terminal.show("several bundles are open:");
        for (index, spec) in open_ones.iter().enumerate() {
            terminal.show(&format!("  {:<3} specs/{spec}", index + 1));
        }
        loop {
            if !terminal.prompt("which one? its number or name, nothing to leave: ") {
                return Ok(None);
            }
            let line = match terminal.typed(None) {
                Typed::Input(Input::Line(line)) => line,
                Typed::Input(Input::Gone) | Typed::Nothing => return Ok(None),
            };
            let line = line.trim();
            if line.is_empty() {
                return Ok(None);
            }
            let name = line.strip_prefix("specs/").unwrap_or(line).trim_end_matches('/');
            let by_number = line
                .parse::<usize>()
                .ok()
                .and_then(|number| open_ones.get(number.checked_sub(1)?));
            let by_name = open_ones.iter().find(|spec| spec.as_str() == name);
            if let Some(chosen) = by_name.or(by_number) {
                return Ok(Some(chosen.clone()));
            }
        }
    }
}

fn question(report: &StepReport) -> String {
    format!("{:?} {:?}", report.outcome, report.waiting)
}

fn open(terminal: &mut Option<Terminal>) -> Result<&mut Terminal, Failure> {
    if terminal.is_none() {
        *terminal = Some(Terminal::open()?);
    }
    terminal
        .as_mut()
        .ok_or_else(|| Failure::failed("cannot open the terminal"))
}

/// Returns whether a report waits for an answer of a person who is there: one that can change something.
pub(crate) fn waits(report: &StepReport) -> bool {
    if !report.waiting.is_empty() {
        return true;
    }
    let is_over = |status: &str| {
        [Status::Done, Status::Retired, Status::Superseded]
            .iter()
            .any(|over| over.name() == status)
    };
    match &report.outcome {
        StepOutcome::Nothing(NoDispatch::Halt(reasons)) => reasons.iter().any(|reason| match reason {
            HaltReason::Machine(_) => false,
            HaltReason::Status { status, .. } => !is_over(status),
            HaltReason::BundleInvalid { .. }
            | HaltReason::SignOff { .. }
            | HaltReason::Changed { .. }
            | HaltReason::WorkingCopyDiffers { .. }
            | HaltReason::NotAtOrigin { .. }
            | HaltReason::OriginUnreached { .. }
            | HaltReason::Doctrine { .. }
            | HaltReason::Backend { .. }
            | HaltReason::LaunchRefused { .. }
            | HaltReason::WorktreeTaken { .. }
            | HaltReason::UncommittedWork { .. } => true,
        }),
        StepOutcome::Nothing(NoDispatch::Idle(_) | NoDispatch::Hold(_))
        | StepOutcome::Dispatched(_)
        | StepOutcome::WouldDispatch { .. }
        | StepOutcome::Swept(_) => false,
    }
}

fn menu(spec: &SpecId, report: &StepReport) -> Vec<String> {
    let mut lines = vec!["it waits for you; nothing was written, and nothing is locked".to_owned()];
    lines.push("  enter  look again, when it is mended".to_owned());
    if let [first, others @ ..] = report.waiting.as_slice() {
        let tasks: Vec<&str> = report.waiting.iter().map(|parked| parked.task.as_str()).collect();
        let which = if others.is_empty() {
            format!("task {}", first.task)
        } else {
            format!("{} ({})", count(tasks.len(), "task"), tasks.join(", "))
        };
        lines.push(format!("  park   put {which} under Awaiting input of specs/{spec}"));
    }
    lines.push("  leave  end here".to_owned());
    lines
}

const fn prompt(can_park: bool) -> &'static str {
    if can_park {
        "enter, park or leave? "
    } else {
        "enter or leave? "
    }
}

fn answer(line: &str, can_park: bool) -> Option<Answer> {
    match line.trim().to_ascii_lowercase().as_str() {
        "" | "enter" | "again" => Some(Answer::LookAgain),
        "p" | "park" if can_park => Some(Answer::Park),
        "l" | "leave" | "q" | "quit" => Some(Answer::Leave),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_offered_is_an_answer() {
        for (line, parking, looking) in [
            ("\n", Some(Answer::LookAgain), Some(Answer::LookAgain)),
            (" Park \n", Some(Answer::Park), None),
            ("p\n", Some(Answer::Park), None),
            ("LEAVE\n", Some(Answer::Leave), Some(Answer::Leave)),
            ("yes\n", None, None),
        ] {
            assert_eq!(
                (answer(line, true), answer(line, false)),
                (parking, looking),
                "{line:?}"
            );
        }
    }
}
