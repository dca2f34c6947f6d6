//! Counting for people.

use alloc::format;
use alloc::string::String;

/// Returns a count with its noun, which takes an `s` unless there is one: `1 commit`, `3 commits`.
#[must_use]
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 {
        format!("1 {noun}")
    } else {
        format!("{number} {noun}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!(
            [count(0, "commit"), count(1, "commit"), count(2, "own commit")],
            ["0 commits", "1 commit", "2 own commits"]
        );
    }
}
