//! Runs two commands in turns and says what each cost.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};

use crate::failure::{Context, Failure, Result};

/// A program and its arguments.
pub(super) struct Invocation {
    program: OsString,
    arguments: Vec<OsString>,
}

impl Invocation {
    /// Returns the invocation of that program.
    pub(super) fn new(program: &Path, arguments: &[&str]) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.iter().map(Into::into).collect(),
        }
    }
}

/// Where both sides run.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// The working directory.
    pub(super) directory: &'a Path,
    /// The home folder they see; it holds no configuration.
    pub(super) home: &'a Path,
}

/// What the two sides cost: ours, then the yardstick.
pub(super) struct Comparison {
    /// User and system time, with that of the processes they started and waited for.
    pub(super) cpu: [Spread; 2],
    /// Time from start to end.
    pub(super) wall: [Spread; 2],
}

/// The least, middle and largest of many durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spread {
    /// The least.
    pub(super) minimum: Duration,
    /// The middle one; of an even count, the upper of the two.
    pub(super) median: Duration,
    /// The largest.
    pub(super) maximum: Duration,
}

impl Spread {
    fn of(mut durations: Vec<Duration>) -> Result<Self> {
        durations.sort();
        match (durations.first(), durations.get(durations.len() / 2), durations.last()) {
            (Some(&minimum), Some(&median), Some(&maximum)) => Ok(Self {
                minimum,
                median,
                maximum,
            }),
            _ => Err(Failure::new("no run was made")),
        }
    }

    /// Returns the three numbers in milliseconds.
    pub(super) fn render(&self) -> String {
        let [minimum, median, maximum] = [self.minimum, self.median, self.maximum].map(milliseconds);
        format!("{minimum:.2} / {median:.2} / {maximum:.2}")
    }
}

/// Returns how many times the yardstick's duration ours is.
pub(super) fn ratio(ours: Duration, yardstick: Duration) -> String {
    if yardstick.is_zero() {
        return "-".to_owned();
    }
    format!("{:.2}", ours.as_secs_f64() / yardstick.as_secs_f64())
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Runs both sides `runs` times in turns, after one run of each that is not counted; `prepare` goes before each run of
/// ours and is not counted either. A run that fails ends it: a command that refuses is fast, and its time says nothing.
pub(super) fn compare(
    ours: &Invocation,
    yardstick: &Invocation,
    place: Place,
    runs: usize,
    prepare: impl Fn() -> Result<()>,
) -> Result<Comparison> {
    for side in [ours, yardstick] {
        once(side, place)?;
    }
    let mut cpu = [Vec::new(), Vec::new()];
    let mut wall = [Vec::new(), Vec::new()];
    for _ in 0..runs {
        prepare()?;
        for (index, side) in [ours, yardstick].into_iter().enumerate() {
            let (processor, clock) = once(side, place)?;
            cpu[index].push(processor);
            wall[index].push(clock);
        }
    }
    let spreads = |[ours, yardstick]: [Vec<Duration>; 2]| Ok([Spread::of(ours)?, Spread::of(yardstick)?]);
    Ok(Comparison {
        cpu: spreads(cpu)?,
        wall: spreads(wall)?,
    })
}

/// Runs one side once; returns its processor time and its clock time.
fn once(side: &Invocation, place: Place) -> Result<(Duration, Duration)> {
    let before = children_time()?;
    let start = Instant::now();
    let output = start_and_wait(side, place)?;
    let clock = start.elapsed();
    let processor = children_time()?.saturating_sub(before);
    if output.status.success() {
        return Ok((processor, clock));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().next().unwrap_or("it said nothing");
    Err(Failure::new(format!("{} failed: {first}", side.program.display())))
}

fn start_and_wait(side: &Invocation, place: Place) -> Result<Output> {
    Command::new(&side.program)
        .args(&side.arguments)
        .current_dir(place.directory)
        .env("HOME", place.home)
        .env("XDG_CONFIG_HOME", place.home)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .context(|| format!("cannot start {}", side.program.display()))
}

/// Returns the processor time of all children that have ended.
fn children_time() -> Result<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).context(|| "cannot read the processor time".to_owned())?;
    let duration = |time: TimeVal| {
        let microseconds = u64::try_from(time.num_microseconds());
        microseconds
            .map(Duration::from_micros)
            .context(|| "cannot read the processor time".to_owned())
    };
    Ok(duration(usage.user_time())? + duration(usage.system_time())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_least_middle_and_largest() {
        let spread = Spread::of([5, 1, 3].map(Duration::from_millis).to_vec()).unwrap();
        assert_eq!(spread.render(), "1.00 / 3.00 / 5.00");
        assert!(Spread::of(Vec::new()).is_err());
    }

    #[test]
    fn a_ratio_to_nothing_is_no_number() {
        assert_eq!(ratio(Duration::from_millis(3), Duration::from_millis(2)), "1.50");
        assert_eq!(ratio(Duration::from_millis(3), Duration::ZERO), "-");
    }

    /// Verifies REQ-H1.6.
    #[test]
    fn both_sides_are_measured_and_a_failing_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place {
            directory: folder.path(),
            home: folder.path(),
        };
        let good = Invocation::new(Path::new("true"), &[]);
        let bad = Invocation::new(Path::new("false"), &[]);
        let comparison = compare(&good, &good, place, 3, || Ok(())).unwrap();
        assert!(comparison.wall[0].minimum <= comparison.wall[0].maximum);
        assert!(comparison.wall.iter().all(|spread| !spread.minimum.is_zero()));
        assert!(compare(&bad, &good, place, 3, || Ok(())).is_err());
        assert!(compare(&good, &good, place, 3, || Err(Failure::new("no"))).is_err());
    }
}
