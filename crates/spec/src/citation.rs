//! Requirement and decision ids, and where a text names them (`contract/core.md §0.3, §1.4`).

/// Returns whether the word is a decision's or a requirement's id (`contract/core.md §0.3`).
pub(crate) fn is_citation(word: &str) -> bool {
    is_decision_id(word) || is_requirement_id(word)
}

pub(crate) fn is_decision_id(word: &str) -> bool {
    word.strip_prefix("D-").is_some_and(is_number)
}

pub(crate) fn is_requirement_id(word: &str) -> bool {
    let Some(rest) = word.strip_prefix("REQ-") else {
        return false;
    };
    let Some(numbers) = rest.strip_prefix(|letter: char| letter.is_ascii_uppercase()) else {
        return false;
    };
    numbers
        .split_once('.')
        .is_some_and(|(group, member)| is_number(group) && is_number(member))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the decision and requirement ids that a text names, in the order written; repetitions stay.
pub(crate) fn citations(text: &str) -> Vec<String> {
    text.split(|character: char| !(character.is_ascii_alphanumeric() || matches!(character, '.' | '-')))
        .map(|word| word.strip_suffix('.').unwrap_or(word))
        .filter(|word| is_citation(word))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_whole_words() {
        assert_eq!(
            citations("D-1, D-, D-1a, XD-1, REQ-A1.2. REQ-a1.2 REQ-A1 REQ-AB1.2 (D-07)"),
            ["D-1", "REQ-A1.2", "D-07"]
        );
    }
}
