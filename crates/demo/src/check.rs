//! The test that workers run and that the person runs again: are a task's files, byte for byte, what was agreed?

use orchestrate_core::world::Fault;

use crate::project::Script;

/// Returns what the task's files differ in from what is expected, nothing when they do not.
///
/// `read` returns the bytes of a file, nothing where there is none.
///
/// # Errors
/// When a file cannot be read.
pub(crate) fn finding(
    script: &Script,
    expected: &[u8],
    mut read: impl FnMut(&str) -> Result<Option<Vec<u8>>, Fault>,
) -> Result<Option<String>, Fault> {
    let mut found = Vec::new();
    for file in script.files {
        let Some(bytes) = read(file.path)? else {
            return Ok(Some(format!("{} is missing", file.path)));
        };
        found.extend_from_slice(format!("== {}\n", file.path).as_bytes());
        found.extend_from_slice(&bytes);
    }
    Ok(first_difference(expected, &found).map(|line| format!("{} differs from line {line} on", script.check_path())))
}

/// Returns the number of the first line, from 1, in which two texts differ.
fn first_difference(expected: &[u8], found: &[u8]) -> Option<usize> {
    if expected == found {
        return None;
    }
    let lines = |bytes: &[u8]| {
        bytes
            .split_inclusive(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect::<Vec<_>>()
    };
    let (expected, found) = (lines(expected), lines(found));
    let same = expected
        .iter()
        .zip(&found)
        .take_while(|(left, right)| left == right)
        .count();
    Some(same + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_differing_line_is_found() {
        for (expected, found, line) in [
            ("", "", None),
            ("a\nb\n", "a\nb\n", None),
            ("a\nb\n", "a\nb", Some(2)),
            ("a\nb\n", "a\n", Some(2)),
            ("a\n", "a\nb\n", Some(2)),
            ("a\n", "a\r\n", Some(1)),
            ("", "a", Some(1)),
        ] {
            assert_eq!(
                first_difference(expected.as_bytes(), found.as_bytes()),
                line,
                "{expected:?} {found:?}"
            );
        }
    }
}
