//! Instants as whole seconds since the epoch, and their text.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

/// An instant: whole seconds since 1970-01-01T00:00:00Z. The core never reads a clock; every instant is an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Returns the instant that many seconds after the epoch.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds)
    }

    /// Returns the seconds since the epoch.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0
    }

    /// Returns the seconds from `earlier` to this instant; negative when `earlier` lies in the future.
    #[must_use]
    pub const fn seconds_since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns the age for people: `40 s`, `4 min`, `3 h`, `2 days`; `in the future` for a negative one, as after a clock
    /// was set back.
    #[must_use]
    pub fn age_at(self, now: Self) -> String {
        match now.seconds_since(self) {
            ..0 => "in the future".to_string(),
            seconds @ 0..60 => format!("{seconds} s"),
            seconds @ 60..7200 => format!("{} min", seconds / 60),
            seconds @ 7200..172_800 => format!("{} h", seconds / 3600),
            seconds => format!("{} days", seconds / 86_400),
        }
    }
}

impl Timestamp {
    /// Returns how long ago it was, for people: `4 min ago`; `in the future` for what lies ahead.
    #[must_use]
    pub fn ago_at(self, now: Self) -> String {
        let age = self.age_at(now);
        if self > now { age } else { format!("{age} ago") }
    }
}

/// When a commit was committed, and by which clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitTime {
    /// The instant.
    pub at: Timestamp,
    /// How far the committer's zone is ahead of UTC.
    pub offset_minutes: i32,
}

impl CommitTime {
    /// Returns the day in the committer's zone, as `YYYY-MM-DD`.
    #[must_use]
    pub fn day(self) -> String {
        let offset = i64::from(self.offset_minutes).saturating_mul(60);
        let local = Timestamp(self.at.0.saturating_add(offset)).to_string();
        local.chars().take_while(|character| *character != 'T').collect()
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 in UTC, as in `2026-11-29T17:31:58Z`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match chrono::DateTime::from_timestamp(self.0, 0) {
            Some(instant) => write!(formatter, "{}", instant.format("%Y-%m-%dT%H:%M:%SZ")),
            None => write!(formatter, "@{}", self.0),
        }
    }
}

impl serde::Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        chrono::DateTime::parse_from_rfc3339(&text)
            .map(|instant| Self(instant.timestamp()))
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_the_committers() {
        let day = |seconds, offset_minutes| {
            let at = Timestamp::from_seconds(seconds);
            CommitTime { at, offset_minutes }.day()
        };
        // 2026-11-29T23:30:00Z
        assert_eq!(
            [day(1_795_995_000, 0), day(1_795_995_000, 60), day(1_795_995_000, -1440)],
            ["2026-11-29", "2026-11-30", "2026-11-28"]
        );
    }

    #[test]
    fn ages_are_for_people() {
        let now = Timestamp::from_seconds(1_000_000);
        let age = |seconds: i64| Timestamp::from_seconds(1_000_000 - seconds).age_at(now);
        assert_eq!(
            [age(-1), age(0), age(59), age(60), age(7199), age(7200), age(172_800)],
            ["in the future", "0 s", "59 s", "1 min", "119 min", "2 h", "2 days"]
        );
    }

    #[test]
    fn what_lies_ahead_was_never_ago() {
        let now = Timestamp::from_seconds(1_000_000);
        let said = |seconds: i64| Timestamp::from_seconds(seconds).ago_at(now);
        assert_eq!(
            [
                said(999_940),
                said(1_000_000),
                said(1_000_001),
                said(i64::MAX),
                said(i64::MIN)
            ],
            [
                "1 min ago",
                "0 s ago",
                "in the future",
                "in the future",
                "106751991167300 days ago"
            ]
        );
    }

    #[test]
    fn text_round_trips() {
        let instant = Timestamp::from_seconds(1_796_059_918);
        assert_eq!(instant.to_string(), "2026-11-30T17:31:58Z");
        let json = serde_json::to_string(&instant).expect("json");
        assert_eq!(serde_json::from_str::<Timestamp>(&json).expect("parses"), instant);
    }
}
