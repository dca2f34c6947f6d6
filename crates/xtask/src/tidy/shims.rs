//! The scripts beside the binary: a few lines each, one for every plumbing command, and no logic.

use super::Finding;
use super::tree::Tree;

/// A shim is at most this long.
const LINES: usize = 12;

/// Finds scripts that are more than a shim, and plumbing commands without one.
pub(super) fn look(tree: &Tree, plumbing: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, file) in &tree.files {
        let Some(name) = path.strip_prefix("scripts/").and_then(|file| file.strip_suffix(".sh")) else {
            continue;
        };
        let lines = file.text.lines().count();
        if lines > LINES {
            findings.push(Finding::new(
                path,
                lines,
                format!("{lines} lines; a shim has at most {LINES}"),
            ));
        }
        if !file.text.contains(&format!("orchestrate plumbing {name} ")) {
            findings.push(Finding::new(
                path,
                0,
                format!("does not start `orchestrate plumbing {name} …`"),
            ));
        }
        if !plumbing.iter().any(|command| command == name) {
            findings.push(Finding::new(
                path,
                0,
                format!("the binary has no plumbing command {name}"),
            ));
        }
    }
    for command in plumbing {
        let path = format!("scripts/{command}.sh");
        if !tree.files.contains_key(&path) {
            findings.push(Finding::new(
                &path,
                0,
                format!("is missing: `plumbing {command}` has no shim"),
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHIM: &str = "#!/usr/bin/env bash\nexec orchestrate plumbing spec-anchor \"$@\"\n";

    fn findings(files: &[(&str, &str)]) -> usize {
        look(&Tree::sample(files), &["spec-anchor".to_owned()]).len()
    }

    /// Verifies REQ-F1.5.
    #[test]
    fn one_short_shim_for_each_command() {
        assert_eq!(findings(&[("scripts/spec-anchor.sh", SHIM)]), 0);
        assert_eq!(findings(&[]), 1);
        assert_eq!(
            findings(&[(
                "scripts/spec-anchor.sh",
                "exec orchestrate plumbing spec-anchors \"$@\""
            )]),
            1
        );
        assert_eq!(findings(&[("scripts/spec-anchor.sh", &SHIM.repeat(LINES))]), 1);
        let other = SHIM.replace("spec-anchor", "other");
        assert_eq!(
            findings(&[("scripts/spec-anchor.sh", SHIM), ("scripts/other.sh", &other)]),
            1
        );
    }
}
