//! The last screen of a demo whose events are fixed.

use super::*;

fn task(id: &str) -> TaskId {
    TaskId::parse(id).expect("task")
}

fn commit(start: &str) -> CommitId {
    CommitId::parse(&format!("{start:0<40}")).expect("commit")
}

fn stepped(dispatched: &[&str], in_review: &[&str]) -> Happening {
    let tasks = |ids: &[&str]| ids.iter().map(|id| task(id)).collect();
    Happening::Stepped {
        lines: vec![],
        dispatched: tasks(dispatched),
        in_review: tasks(in_review),
    }
}

fn merged(id: &str, landing: Landing, start: &str) -> Happening {
    Happening::Merged {
        task: task(id),
        landing,
        commit: commit(start),
    }
}

fn acknowledged(id: &str, evidence: &str) -> Happening {
    Happening::Acknowledged {
        task: task(id),
        evidence: evidence.to_owned(),
    }
}

fn ended(id: &str) -> Happening {
    Happening::WorkerEnded { task: task(id) }
}

fn summary() -> DemoSummary {
    let refusal = "halted: specs/hello-tower is a draft: a person signs it before anything is dispatched";
    let events = [
        (
            100,
            Happening::Made {
                directory: "/tmp/orchestrate-demo-x".into(),
            },
        ),
        (
            200,
            Happening::Refused {
                exit: 4,
                lines: vec![refusal.to_owned(), "hint: …".to_owned()],
            },
        ),
        (
            300,
            Happening::Signed {
                anchor: "11e5881".repeat(6)[..40].to_owned(),
                commit: commit("aaaaaaa"),
            },
        ),
        (500, stepped(&["1"], &[])),
        (900, ended("1")),
        (1000, stepped(&[], &["1"])),
        (1100, merged("1", Landing::FastForward, "1111111")),
        (1200, acknowledged("1", "trailer in 1111111 on main")),
        (1400, stepped(&["4"], &[])),
        (1700, stepped(&["2"], &[])),
        (2100, ended("2")),
        (2400, ended("4")),
        (2500, stepped(&[], &["2", "4"])),
        (2600, merged("4", Landing::MergeCommit, "4444444")),
        (2700, merged("2", Landing::Squash, "2222222")),
        (2800, acknowledged("4", "trailer in 4040404 on main")),
        (2800, acknowledged("2", "trailer in 2222222 on main")),
        (3000, stepped(&["3"], &[])),
        (3300, ended("3")),
        (3400, stepped(&[], &["3"])),
        (3500, merged("3", Landing::MergeCommit, "3333333")),
        (3600, acknowledged("3", "trailer in 3030303 on main")),
        (3800, stepped(&["5"], &[])),
        (4100, ended("5")),
        (4200, stepped(&[], &["5"])),
        (4300, merged("5", Landing::FastForward, "5555555")),
        (4400, acknowledged("5", "trailer in 5555555 on main")),
    ];
    let events = events.into_iter().map(|(at, what)| DemoEvent {
        at: Duration::from_millis(at),
        what,
    });
    DemoSummary {
        directory: "/tmp/orchestrate-demo-x".into(),
        program: "/opt/my tools/orchestrate".into(),
        events: events.collect(),
    }
}

#[test]
fn the_last_screen() {
    let expected = "\
5 of 5 tasks of hello-tower landed in 4.3 s, in this order:

                          0 s                        4.3 s
     a person               s    m          mm     m     m
  1  parse the greeting   ···━━━╌●                          fast-forward 1111111
  4  translations         ··········━━━━━━━╌●               merge commit 4444444
  2  render the greeting  ············━━━╌╌╌╌●              squash 2222222
  3  command line         ·····················━━╌╌●        merge commit 3333333
  5  release notes        ···························━━╌╌●  fast-forward 5555555

  · waits  ━ worker runs  ╌ waits for review  ● landed    s signs  m merges

what the tower refused to do
  sign    the spec was a draft, so it stopped with exit 4: \"halted:
          specs/hello-tower is a draft: a person signs it before anything is
          dispatched\"
  merge   it saw 5 finished branches and left them to a person; main stood still
          in all 10 of its steps

what a person did (played by the demo)
  signed  specs/hello-tower after 0.3 s, anchor 11e5881…, commit aaaaaaa
  merged  5 branches after a review, 2 by fast-forward, 2 by merge commit, 1 by
          squash

the repository lies in /tmp/orchestrate-demo-x and is yours; what to try next:
  cd /tmp/orchestrate-demo-x
  '/opt/my tools/orchestrate' status specs/hello-tower
  '/opt/my tools/orchestrate' specs/hello-tower
  git log --graph --oneline
";
    assert_eq!(summary().render(80, Symbols::Unicode), expected);
}

#[test]
fn every_width_fits_and_plain_terminals_get_ascii() {
    for width in [0, 76, 77, 80, 99, 100, 120, 500] {
        let screen = summary().render(width, Symbols::Ascii);
        assert!(screen.is_ascii(), "{screen}");
        let longest = screen
            .lines()
            .filter(|line| !line.contains("/tmp/"))
            .map(str::len)
            .max();
        assert!(
            longest.is_some_and(|longest| longest <= width.clamp(76, 120)),
            "{width}: {longest:?}"
        );
    }
    let plain = summary().render(80, Symbols::Ascii);
    assert!(plain.contains("  1  parse the greeting   ...===-*      "), "{plain}");
    assert!(plain.contains("anchor 11e5881..., commit"));
}

#[test]
fn an_unfinished_demo_has_a_screen_too() {
    let screen = DemoSummary {
        events: vec![],
        ..summary()
    }
    .render(80, Symbols::Unicode);
    assert!(
        screen.starts_with("0 of 5 tasks of hello-tower landed in 0.0 s"),
        "{screen}"
    );
}

#[test]
fn words_are_quoted_for_a_shell() {
    for (word, expected) in [
        ("/a/b-c.d", "/a/b-c.d"),
        ("", "''"),
        ("a b", "'a b'"),
        ("it's", "'it'\\''s'"),
        ("$x", "'$x'"),
    ] {
        assert_eq!(quoted(word), expected);
    }
}
