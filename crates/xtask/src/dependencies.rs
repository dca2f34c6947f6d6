//! The dependency rule (architecture §4): which crate may see which, and that every manifest takes part.

use crate::report::{Outcome, judged};
use crate::workspace::Member;

/// What each product crate may depend on. A crate that is not listed may not exist.
const ALLOWED: &[(&str, &[&str])] = &[
    ("orchestrate-core", &[]),
    ("orchestrate-spec", &["core"]),
    ("orchestrate-config", &["core"]),
    ("orchestrate-host", &["core"]),
    ("orchestrate-workers", &["core", "host"]),
    ("orchestrate-tower", &["core", "spec", "config", "host", "workers"]),
    ("orchestrate-directive", &["core", "config", "host", "workers"]),
    ("orchestrate-monitor", &["core", "config", "host", "workers"]),
    ("orchestrate-dashboard", &["core"]),
    ("orchestrate-demo", &["core", "spec", "host"]),
    (
        "orchestrate-cli",
        &[
            "core",
            "spec",
            "config",
            "host",
            "workers",
            "tower",
            "directive",
            "monitor",
            "dashboard",
            "demo",
        ],
    ),
];

/// Members that may depend on anything.
const FREE: &[&str] = &["orchestrate-testkit", "orchestrate-e2e", "xtask"];

/// Looks at every edge and every manifest.
pub(crate) fn check(members: &[Member]) -> Outcome {
    let mut findings = Vec::new();
    let mut edges = 0;
    for member in members {
        edges += member.dependencies.len();
        findings.extend(forbidden_edges(member, members));
        findings.extend(manifest_faults(member));
    }
    if members.is_empty() {
        findings.push("cargo metadata names no member".to_owned());
    }
    judged(findings, format!("{} members, {edges} dependencies", members.len()))
}

fn forbidden_edges(member: &Member, members: &[Member]) -> Vec<String> {
    if FREE.contains(&member.name.as_str()) {
        return Vec::new();
    }
    let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == member.name) else {
        return vec![format!("{}: is in no row of the dependency rule", member.name)];
    };
    let inner = member
        .dependencies
        .iter()
        .filter(|dependency| !dependency.development && members.iter().any(|other| other.name == dependency.name));
    let is_allowed = |name: &str| {
        name.strip_prefix("orchestrate-")
            .is_some_and(|short| allowed.contains(&short))
    };
    inner
        .filter(|dependency| !is_allowed(&dependency.name))
        .map(|dependency| format!("{} → {}: not an allowed edge", member.name, dependency.name))
        .collect()
}

/// Finds a manifest without the workspace's lints, and dependencies that bypass the workspace table.
///
/// Only the two short forms are accepted, so that a line is enough to judge by: `name.workspace = true` and
/// `name = { workspace = true, … }`.
fn manifest_faults(member: &Member) -> Vec<String> {
    let mut faults = Vec::new();
    let mut section = "";
    let mut has_lints = false;
    for (index, line) in member.manifest.lines().enumerate() {
        let line = line.split(" #").next().unwrap_or_default().trim();
        let at = |what: &str| format!("{}:{}: {what}: {line}", member.manifest_path, index + 1);
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
            if section.contains("dependencies.") {
                faults.push(at("a table of its own for one dependency"));
            }
        } else if section == "lints" {
            has_lints |= line.replace(' ', "") == "workspace=true";
        } else if section.ends_with("dependencies") && !line.is_empty() && !line.starts_with('#') {
            let compact = line.replace(' ', "");
            let inherits = compact.ends_with(".workspace=true")
                || compact.contains("={workspace=true,")
                || compact.ends_with("={workspace=true}");
            if !inherits {
                faults.push(at("a dependency not taken from the workspace table"));
            }
        }
    }
    if !has_lints {
        faults.push(format!("{}: has no [lints] workspace = true", member.manifest_path));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    const MANIFEST: &str = "[package]\nname = \"x\"\n\n[lints]\nworkspace = true\n\n[dependencies]\n\
                            serde.workspace = true # why\nclap = { workspace = true, features = [\"x\"] }\n";

    fn member(name: &str, dependencies: &[(&str, bool)], manifest: &str) -> Member {
        let dependencies = dependencies
            .iter()
            .map(|(name, development)| Dependency {
                name: (*name).to_owned(),
                development: *development,
            })
            .collect();
        Member {
            name: name.to_owned(),
            dependencies,
            manifest: manifest.to_owned(),
            manifest_path: "crates/x/Cargo.toml".to_owned(),
        }
    }

    fn faults(members: &[Member]) -> Vec<String> {
        match check(members) {
            Outcome::Failed(findings) => findings,
            Outcome::Passed(_) | Outcome::NotRun(_) => Vec::new(),
        }
    }

    #[test]
    fn allowed_edges_pass() {
        let members = [
            member(
                "orchestrate-core",
                &[("serde", false), ("orchestrate-testkit", true)],
                MANIFEST,
            ),
            member(
                "orchestrate-host",
                &[("orchestrate-core", false), ("git2", false)],
                MANIFEST,
            ),
            member("orchestrate-testkit", &[("orchestrate-host", false)], MANIFEST),
        ];
        assert_eq!(faults(&members), Vec::<String>::new());
    }

    /// Verifies REQ-H1.4.
    #[test]
    fn any_other_edge_is_named() {
        let members = [
            member("orchestrate-core", &[("orchestrate-host", false)], MANIFEST),
            member("orchestrate-host", &[("orchestrate-testkit", false)], MANIFEST),
            member("orchestrate-testkit", &[], MANIFEST),
        ];
        let expected = [
            "orchestrate-core → orchestrate-host: not an allowed edge",
            "orchestrate-host → orchestrate-testkit: not an allowed edge",
        ];
        assert_eq!(faults(&members), expected);
    }

    #[test]
    fn a_crate_in_no_row_fails() {
        assert_eq!(faults(&[member("orchestrate-new", &[], MANIFEST)]).len(), 1);
        assert_eq!(faults(&[]).len(), 1);
    }

    #[test]
    fn manifests_take_lints_and_dependencies_from_the_workspace() {
        let fault = |manifest: &str| faults(&[member("orchestrate-core", &[], manifest)]).len();
        assert_eq!(fault("[dependencies]\nserde.workspace = true\n"), 1);
        for line in [
            "serde = \"1\"",
            "serde = { version = \"1\" }",
            "[dependencies.serde]",
            "[dev-dependencies]\nx = \"1\"",
        ] {
            assert_eq!(fault(&format!("{MANIFEST}{line}\n")), 1, "{line}");
        }
    }
}
