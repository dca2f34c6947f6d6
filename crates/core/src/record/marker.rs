//! The dispatch marker: one file per task id, holding epoch seconds (`contract/core.md §6.2`).

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::RecordFault;
use crate::time::Timestamp;

/// Returns the instant a marker records.
///
/// # Errors
/// When the content, less its final newline, is not all digits: empty, torn, CRLF and binary files are faults.
pub fn parse(bytes: &[u8]) -> Result<Timestamp, RecordFault> {
    let fault = |cause: &str| RecordFault {
        record: "dispatch marker",
        cause: cause.to_string(),
    };
    let content = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if content.is_empty() {
        return Err(fault("it is empty"));
    }
    if !content.iter().all(u8::is_ascii_digit) {
        return Err(fault("it is not a number of seconds"));
    }
    core::str::from_utf8(content)
        .ok()
        .and_then(|digits| digits.parse().ok())
        .map(Timestamp::from_seconds)
        .ok_or_else(|| fault("its number of seconds is too large"))
}

/// Returns the bytes of a marker of that instant.
#[must_use]
pub fn render(at: Timestamp) -> Vec<u8> {
    format!("{}\n", at.seconds()).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_marker() {
        for bad in [
            &b""[..],
            b"\n",
            b"12\r\n",
            b"12x\n",
            b"-5\n",
            b" 12\n",
            b"12\n\n",
            b"99999999999999999999\n",
            b"\0",
        ] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(parse(b"12"), Ok(Timestamp::from_seconds(12)));
    }

    proptest! {
        #[test]
        fn round_trip(seconds in 0i64..i64::MAX) {
            prop_assert_eq!(parse(&render(Timestamp::from_seconds(seconds))), Ok(Timestamp::from_seconds(seconds)));
        }

        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = parse(&bytes);
        }
    }
}
