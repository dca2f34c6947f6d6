//! Tests that documents cite: code spans such as `tests/e2e/step.rs::a_test`.

use super::tree::Tree;

/// Returns the tests that a text cites, each as path and function.
pub(super) fn cited_tests(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let spans = text.split('`').skip(1).step_by(2);
    spans.filter_map(|span| span.split_once("::").filter(|(path, _)| path.ends_with(".rs")))
}

/// Returns what is wrong with a citation: the file is not there, or has no test of that name.
pub(super) fn missing(tree: &Tree, path: &str, function: &str) -> Option<String> {
    let Some(file) = tree.files.get(path) else {
        return Some(format!("there is no {path}"));
    };
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let start = format!("fn {function}(");
    let is_test = |index: usize| {
        let above = lines.iter().take(index).rev();
        let mut attributes = above.take_while(|line| !line.is_empty() && !line.ends_with(['{', '}']));
        attributes.any(|line| *line == "#[test]")
    };
    let mut found = (0..lines.len()).filter(|index| lines[*index].starts_with(&start));
    (!found.any(is_test)).then(|| format!("{path} has no test {function}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_code_spans_of_rust_files() {
        let text = "See `a/b.rs::one`, `World::read`, a/c.rs::two and\n`d.rs::three`.";
        let cited: Vec<(&str, &str)> = cited_tests(text).collect();
        assert_eq!(cited, [("a/b.rs", "one"), ("d.rs", "three")]);
    }

    #[test]
    fn only_a_test_counts() {
        let text = "#[test]\n#[expect(x, reason = \"y\")]\nfn one() {}\n\nfn two() {}\n\nmod tests {\n    /// Holds.\n    \
                    #[test]\n    fn three(n in 0..3) {\n    }\n    fn four() {}\n}\n";
        let tree = Tree::sample(&[("a.rs", text)]);
        let is_there = |function| missing(&tree, "a.rs", function).is_none();
        assert_eq!(
            ["one", "two", "three", "four"].map(is_there),
            [true, false, true, false]
        );
        assert_eq!(missing(&tree, "b.rs", "one"), Some("there is no b.rs".to_owned()));
    }
}
