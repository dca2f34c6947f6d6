//! Exit codes as a public type (architecture §5); `docs/reference/exit-codes.md` is generated from here.

/// One exit code and what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitMeaning {
    /// The process's exit code.
    pub code: u8,
    /// What it tells a caller.
    pub meaning: &'static str,
}

/// Did its job, or cleanly had nothing to do.
pub const DONE: u8 = 0;
/// Failed: input or output, a broken installation, or a fault of the program.
pub const FAILED: u8 = 1;
/// The command line was wrong.
pub const USAGE: u8 = 2;
/// A person is needed; the reason and the remedy were printed.
pub const HALTED: u8 = 4;
/// Only with `--detailed-exitcode`: nothing was ready.
pub const IDLE: u8 = 10;
/// Only with `--detailed-exitcode`: the cap was reached.
pub const CAPPED: u8 = 11;
/// Only with `--detailed-exitcode`: held by evidence or by another tower.
pub const HELD: u8 = 12;

/// Only with `--detailed-exitcode`, from `doctor`: warnings, and no fault.
pub const WARNED: u8 = 14;

/// The table of every command that is not plumbing.
pub const PORCELAIN: &[ExitMeaning] = &[
    ExitMeaning {
        code: DONE,
        meaning: "did its job, or cleanly had nothing to do (idle, capped, held, busy)",
    },
    ExitMeaning {
        code: FAILED,
        meaning: "failed: input or output, a broken installation, or a fault of the program",
    },
    ExitMeaning {
        code: USAGE,
        meaning: "the command line was wrong",
    },
    ExitMeaning {
        code: HALTED,
        meaning: "halted: a person is needed; the reason and the remedy were printed",
    },
    ExitMeaning {
        code: IDLE,
        meaning: "only with --detailed-exitcode: nothing was ready",
    },
    ExitMeaning {
        code: CAPPED,
        meaning: "only with --detailed-exitcode: the cap was reached, or dispatch is paused",
    },
    ExitMeaning {
        code: HELD,
        meaning: "only with --detailed-exitcode: held by evidence, or another tower was busy",
    },
    ExitMeaning {
        code: WARNED,
        meaning: "only with --detailed-exitcode: doctor has warnings and found no fault",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Verifies REQ-F1.1.
    #[test]
    fn codes_are_unique() {
        for (index, entry) in PORCELAIN.iter().enumerate() {
            assert!(
                PORCELAIN[index + 1..].iter().all(|other| other.code != entry.code),
                "{}",
                entry.code
            );
        }
    }
}
