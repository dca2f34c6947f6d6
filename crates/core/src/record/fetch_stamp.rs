//! The fetch stamp, shared with the reference: epoch seconds and a line end (`contract/core.md §7.1` item 5).

use alloc::format;
use alloc::vec::Vec;

use crate::fetch::FetchTerms;
use crate::time::Timestamp;

/// Returns the instant of the last fetch; nothing when the bytes are no number of seconds, or one with a leading zero:
/// a stamp that does not read is no stamp.
#[must_use]
pub fn parse(bytes: &[u8]) -> Option<Timestamp> {
    let digits = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    if !is_number || (digits.len() > 1 && digits.starts_with(b"0")) {
        return None;
    }
    let seconds = core::str::from_utf8(digits).ok()?.parse().ok()?;
    Some(Timestamp::from_seconds(seconds))
}

/// Returns the bytes of a stamp.
#[must_use]
pub fn render(at: Timestamp) -> Vec<u8> {
    format!("{}\n", at.seconds()).into_bytes()
}

/// Returns whether a fetch of that instant still stands for a new one.
#[must_use]
pub fn is_fresh(stamp: Timestamp, now: Timestamp, terms: &FetchTerms) -> bool {
    let age = now.seconds_since(stamp);
    age < terms.fresh_seconds && terms.fresh_seconds > 0 && (age >= 0 || terms.future_is_fresh)
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_stamp() {
        for bad in [
            &b""[..],
            b"\n",
            b"01\n",
            b"12\r\n",
            b"12 ",
            b"-1",
            b"12\n\n",
            b"99999999999999999999",
        ] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
        assert_eq!(parse(b"0"), Some(Timestamp::from_seconds(0)));
        assert_eq!(parse(b"12"), Some(Timestamp::from_seconds(12)));
    }

    /// Verifies REQ-D2.2.
    #[test]
    fn a_stamp_is_fresh_for_its_time() {
        let fresh = |age: i64, fresh_seconds: i64, future_is_fresh: bool| {
            let terms = FetchTerms {
                fresh_seconds,
                attempts: 1,
                attempt_limit: Duration::ZERO,
                pause: Duration::ZERO,
                future_is_fresh,
            };
            is_fresh(
                Timestamp::from_seconds(1000 - age),
                Timestamp::from_seconds(1000),
                &terms,
            )
        };
        assert!(fresh(0, 120, false) && fresh(119, 120, false));
        assert!(!fresh(120, 120, false) && !fresh(0, 0, false) && !fresh(-5, 0, true));
        assert!(fresh(-5, 120, true) && !fresh(-5, 120, false));
    }

    proptest! {
        #[test]
        fn round_trip(seconds in 0i64..i64::MAX) {
            let at = Timestamp::from_seconds(seconds);
            prop_assert_eq!(parse(&render(at)), Some(at));
        }
    }
}
