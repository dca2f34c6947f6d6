//! The gate at origin's base: every reason of contract/core.md §3.5 to §3.8 for which nothing is dispatched, each with
//! what helps.

use orchestrate_e2e::output::Output;
use orchestrate_e2e::sandbox::Sandbox;

use crate::{sandbox, single};

const BRIEF: &str = "specs/alpha/kickoff-brief.md";
const SIGN: &str = "orchestrate sign specs/alpha";

/// A sandbox with an origin that has the brief as changed; what is signed is what is here and there.
fn with_brief(change: impl Fn(&str) -> String) -> Sandbox {
    let sandbox = sandbox(&single());
    let text = sandbox.read(BRIEF);
    let changed = change(&text);
    assert_ne!(changed, text, "the change changes something");
    sandbox.write(BRIEF, &changed);
    let _ = sandbox.commit_all("another brief");
    sandbox.add_origin();
    sandbox
}

/// The step must say why, and leave no trace of a dispatch.
fn halts(sandbox: &Sandbox, why: &str, remedy: &str) -> Output {
    let output = sandbox.orchestrate(&["alpha"]).exits(4).says(why);
    let text = output.text();
    let hint = text.lines().find(|line| line.starts_with("hint: "));
    assert!(hint.is_some_and(|hint| hint.contains(remedy)), "{why}: {output}");
    assert_eq!(sandbox.refs("refs/heads/planwright"), [""; 0], "{output}");
    assert!(!sandbox.path(".git/orchestrate/dispatch").exists(), "{output}");
    assert_eq!(sandbox.starts(), [""; 0], "{output}");
    if text.contains("parked task 1") {
        let _ = sandbox.orchestrate(&["unpark", "alpha", "1"]).exits(0);
    }
    output
}

/// Returns the brief with its line of that beginning replaced; an empty replacement leaves it out.
fn line(brief: &str, beginning: &str, replacement: &str) -> String {
    let lines = brief.lines().map(|line| {
        if line.starts_with(beginning) {
            replacement.to_owned()
        } else {
            line.to_owned()
        }
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// The command of the older form (contract/core.md §3.6).
const WHOLE_FILES: &str = "git hash-object requirements.md design.md tasks.md test-spec.md | git hash-object --stdin";

/// Returns the line that records the anchor of the older form.
fn whole_files_anchor(sandbox: &Sandbox) -> String {
    let hash = sandbox.shell(&format!("cd specs/alpha && {WHOLE_FILES}")).exits(0);
    format!("Anchor: `{}` — computed as", hash.stdout.trim_end())
}

/// Verifies REQ-D1.2.
#[test]
fn every_sign_off_that_is_none_halts_with_its_remedy() {
    type Change = fn(&str) -> String;
    let cases: [(&str, Change); 11] = [
        ("no sign-off record with an `Anchor:` line", |text| {
            line(text, "Anchor:", "Signed off: yesterday")
        }),
        ("a deliberate halt", |text| {
            line(text, "Anchor:", "Anchor: (none — fail closed)")
        }),
        ("no hash of 40", |text| text.replace("Anchor: `", "Anchor: `0")),
        ("no hash of 40", |text| text.to_owned() + "\nAnchor: soon\n"),
        ("names no command", |text| line(text, "`scripts/", "computed by hand")),
        ("not one that the format knows", |text| {
            text.replace(
                "`scripts/spec-anchor.sh specs/alpha`",
                "`scripts/spec-anchor.sh specs/alpha; true`",
            )
        }),
        ("anchors another bundle", |text| {
            text.replace("spec-anchor.sh specs/alpha", "spec-anchor.sh specs/beta")
        }),
        ("neither `meaning` nor `expression-only`", |text| {
            line(text, "Class:", "Class: something")
        }),
        ("names no lens pass", |text| line(text, "Lens-pass:", "")),
        ("does not cite its changelog line", |text| {
            line(text, "Class:", "Class: expression-only")
        }),
        ("never closed", |text| text.replace("Class:", "```\nClass:")),
    ];
    for (why, change) in cases {
        let _ = halts(&with_brief(change), why, SIGN);
    }
}

/// Verifies REQ-D1.2.
#[test]
fn content_that_is_not_the_signed_one_halts_with_its_remedy() {
    let sandbox = sandbox(&single());
    let signed = sandbox.read("specs/alpha/requirements.md");
    let changed = signed.replace("is delivered.", "is delivered twice.");
    assert_ne!(signed, changed);
    sandbox.write("specs/alpha/requirements.md", &changed);
    let _ = sandbox.commit_all("changed after the sign-off");
    sandbox.add_origin();
    let _ = halts(&sandbox, "the spec changed after it was signed", SIGN).says("origin's main at ");
    // Restored here and committed, and origin has the change still.
    sandbox.write("specs/alpha/requirements.md", &signed);
    let _ = sandbox.commit_all("restored");
    let _ = halts(&sandbox, "the spec changed after it was signed", SIGN);
    let _ = sandbox.git(&["push", "--quiet", "origin", "main"]);
    // An edit that is in no commit.
    sandbox.write("specs/alpha/requirements.md", &changed);
    let _ = halts(
        &sandbox,
        "in the working copy differs from origin's main",
        "git push origin main",
    );
    sandbox.write("specs/alpha/requirements.md", &signed);
    let _ = sandbox
        .orchestrate(&["alpha", "--dry-run"])
        .exits(0)
        .says("would dispatch");
}

/// Verifies REQ-D1.2.
#[test]
fn an_entry_of_the_older_rule_is_named_as_one() {
    let sandbox = sandbox(&single());
    sandbox.write(
        BRIEF,
        &line(&sandbox.read(BRIEF), "Anchor:", &whole_files_anchor(&sandbox)),
    );
    let _ = sandbox.commit_all("an older entry");
    sandbox.add_origin();
    let _ = halts(&sandbox, "pre-change entry", SIGN);
}

/// Verifies REQ-D1.2.
#[test]
fn what_origin_does_not_have_halts_with_the_push() {
    let sandbox = Sandbox::empty(crate::PROGRAM);
    sandbox.initialise(&[]);
    sandbox.add_origin();
    sandbox.add_bundle(&single());
    sandbox.configure("");
    let _ = halts(&sandbox, "differs from origin's main", "git push origin main");
    // An origin to which nothing was pushed yet.
    let empty = sandbox.root().join("empty.git");
    let _ = sandbox.git(&["init", "--quiet", "--bare", empty.as_str()]);
    let _ = sandbox.git(&["remote", "remove", "origin"]);
    let _ = sandbox.git(&["remote", "add", "origin", empty.as_str()]);
    let _ = halts(&sandbox, "origin has no branch main", "git push origin main");
}

/// Git refuses a push to an origin that has gone on.
#[test]
fn what_origin_has_besides_is_pulled_before_the_push() {
    let sandbox = sandbox(&single());
    sandbox.add_origin();
    let clone = sandbox.clone_origin("clone", &[]);
    let _ = sandbox.commit_all_in(&clone, "of somebody else");
    let _ = sandbox.git_in(&clone, &["push", "--quiet", "origin", "main"]);
    let _ = sandbox.commit_all("not pushed");
    let signed = sandbox.read("specs/alpha/requirements.md");
    sandbox.write(
        "specs/alpha/requirements.md",
        &signed.replace("is delivered.", "is delivered twice."),
    );
    let pull = "where main is checked out: git pull --no-rebase origin main && git push origin main";
    let _ = halts(&sandbox, "differs from origin's main", pull);
}

/// Verifies REQ-D1.2.
#[test]
fn a_form_of_whole_files_is_compared_in_its_own_form() {
    let sandbox = sandbox(&single());
    let brief = line(&sandbox.read(BRIEF), "Anchor:", &whole_files_anchor(&sandbox));
    sandbox.write(BRIEF, &line(&brief, "`scripts/", &format!("`{WHOLE_FILES}`")));
    let _ = sandbox.commit_all("an entry of whole files");
    sandbox.add_origin();
    let _ = sandbox
        .orchestrate(&["alpha", "--dry-run"])
        .exits(0)
        .says("would dispatch");
}
