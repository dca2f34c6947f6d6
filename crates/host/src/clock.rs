//! The only reader of the system clock.

use std::time::{SystemTime, UNIX_EPOCH};

use orchestrate_core::time::Timestamp;

/// Returns the current instant, in whole seconds.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
pub fn now() -> Timestamp {
    from_system(SystemTime::now())
}

/// Returns the instant of a file's time. One before 1970 is as good as 1970: infinitely old.
#[must_use]
pub fn from_system(time: SystemTime) -> Timestamp {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
    Timestamp::from_seconds(i64::try_from(seconds).unwrap_or(i64::MAX))
}
