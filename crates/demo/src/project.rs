//! What the demo works on, embedded: the bundle, the project, and what the worker does for each task.

use orchestrate_core::world::Fault;
use orchestrate_spec::{BundleFile, BundleTexts};

/// The bundle's name.
pub(crate) const SPEC: &str = "hello-tower";

/// A file of the repository and its text.
pub(crate) struct Embedded {
    /// Where it lies, below the repository's root.
    pub(crate) path: &'static str,
    /// What it holds.
    pub(crate) text: &'static str,
}

/// The bundle as it is delivered: Draft.
pub(crate) const BUNDLE: &[(BundleFile, &str)] = &[
    (
        BundleFile::Requirements,
        include_str!("../../../specs/hello-tower/requirements.md"),
    ),
    (BundleFile::Design, include_str!("../../../specs/hello-tower/design.md")),
    (BundleFile::Tasks, include_str!("../../../specs/hello-tower/tasks.md")),
    (
        BundleFile::TestSpec,
        include_str!("../../../specs/hello-tower/test-spec.md"),
    ),
];

/// What else the repository starts with.
pub(crate) const START: &[Embedded] = &[
    Embedded {
        path: "README.md",
        text: include_str!("../project/README.md"),
    },
    Embedded {
        path: "checks/1.expect",
        text: include_str!("../project/checks/1.expect"),
    },
    Embedded {
        path: "checks/2.expect",
        text: include_str!("../project/checks/2.expect"),
    },
    Embedded {
        path: "checks/3.expect",
        text: include_str!("../project/checks/3.expect"),
    },
    Embedded {
        path: "checks/4.expect",
        text: include_str!("../project/checks/4.expect"),
    },
    Embedded {
        path: "checks/5.expect",
        text: include_str!("../project/checks/5.expect"),
    },
];

/// One commit of the worker's script.
pub(crate) struct Stage {
    /// The commit's subject.
    pub(crate) subject: &'static str,
    /// Which files are written, and how many of their lines; all of them where no number is given.
    pub(crate) edits: &'static [(&'static str, Option<usize>)],
}

/// What the worker does for one task.
pub(crate) struct Script {
    /// The task.
    pub(crate) task: &'static str,
    /// Its title, as in the bundle.
    pub(crate) title: &'static str,
    /// The files it delivers, in the order in which its check names them. No other task touches them.
    pub(crate) files: &'static [Embedded],
    /// Its commits. The last one carries the trailer.
    pub(crate) stages: &'static [Stage],
}

impl Script {
    /// Returns where what the task's files have to be is written down.
    pub(crate) fn check_path(&self) -> String {
        format!("checks/{}.expect", self.task)
    }

    /// Returns what the file of an edit is to hold.
    pub(crate) fn text_of(&self, (path, lines): (&str, Option<usize>)) -> Result<String, Fault> {
        let file = self.files.iter().find(|file| file.path == path).ok_or_else(|| {
            Fault::new(
                format!("cannot write {path}"),
                format!("task {} does not deliver it", self.task),
            )
        })?;
        Ok(match lines {
            Some(count) => file.text.split_inclusive('\n').take(count).collect(),
            None => file.text.to_owned(),
        })
    }
}

/// Returns the script of a task.
///
/// # Errors
/// When the demo has no such task.
pub(crate) fn script(task: &str) -> Result<&'static Script, Fault> {
    SCRIPTS.iter().find(|script| script.task == task).ok_or_else(|| {
        Fault::new(
            format!("cannot work on task {task}"),
            format!("the demo's worker knows the {} tasks of {SPEC} only", SCRIPTS.len()),
        )
    })
}

/// Returns the bundle's texts out of pairs of file and text.
pub(crate) fn bundle_texts<'a>(files: impl IntoIterator<Item = (BundleFile, &'a str)>) -> BundleTexts {
    let mut texts = BundleTexts::default();
    for (file, text) in files {
        let bytes = text.as_bytes().to_vec();
        match file {
            BundleFile::Requirements => texts.requirements = bytes,
            BundleFile::Design => texts.design = bytes,
            BundleFile::Tasks => texts.tasks = bytes,
            BundleFile::TestSpec => texts.test_spec = bytes,
            // The brief is no part of what is signed.
            BundleFile::KickoffBrief => {}
        }
    }
    texts
}

/// Every task of the bundle.
pub(crate) const SCRIPTS: &[Script] = &[
    Script {
        task: "1",
        title: "parse the greeting",
        files: &[Embedded {
            path: "greeting/parse.rules",
            text: include_str!("../project/greeting/parse.rules"),
        }],
        stages: &[
            Stage {
                subject: "feat(parse): say what a request may leave out",
                edits: &[("greeting/parse.rules", Some(3))],
            },
            Stage {
                subject: "feat(parse): add the English word",
                edits: &[("greeting/parse.rules", None)],
            },
        ],
    },
    Script {
        task: "2",
        title: "render the greeting",
        files: &[Embedded {
            path: "greeting/render.template",
            text: include_str!("../project/greeting/render.template"),
        }],
        stages: &[
            Stage {
                subject: "docs(render): explain the two places",
                edits: &[("greeting/render.template", Some(1))],
            },
            Stage {
                subject: "feat(render): add the template",
                edits: &[("greeting/render.template", None)],
            },
        ],
    },
    Script {
        task: "3",
        title: "command line",
        files: &[Embedded {
            path: "bin/hello",
            text: include_str!("../project/bin/hello"),
        }],
        stages: &[
            Stage {
                subject: "feat(cli): read values and refuse aloud",
                edits: &[("bin/hello", Some(7))],
            },
            Stage {
                subject: "feat(cli): find the words of a language",
                edits: &[("bin/hello", Some(16))],
            },
            Stage {
                subject: "feat(cli): print one greeting",
                edits: &[("bin/hello", None)],
            },
        ],
    },
    Script {
        task: "4",
        title: "translations",
        files: &[
            Embedded {
                path: "translations/de.txt",
                text: include_str!("../project/translations/de.txt"),
            },
            Embedded {
                path: "translations/es.txt",
                text: include_str!("../project/translations/es.txt"),
            },
            Embedded {
                path: "translations/fr.txt",
                text: include_str!("../project/translations/fr.txt"),
            },
            Embedded {
                path: "translations/ja.txt",
                text: include_str!("../project/translations/ja.txt"),
            },
        ],
        stages: &[
            Stage {
                subject: "feat(translations): add German",
                edits: &[("translations/de.txt", None)],
            },
            Stage {
                subject: "feat(translations): add Spanish",
                edits: &[("translations/es.txt", None)],
            },
            Stage {
                subject: "feat(translations): add French",
                edits: &[("translations/fr.txt", None)],
            },
            Stage {
                subject: "feat(translations): add Japanese",
                edits: &[("translations/ja.txt", None)],
            },
        ],
    },
    Script {
        task: "5",
        title: "release notes",
        files: &[Embedded {
            path: "NOTES.md",
            text: include_str!("../project/NOTES.md"),
        }],
        stages: &[
            Stage {
                subject: "docs(notes): say what the program does",
                edits: &[("NOTES.md", Some(3))],
            },
            Stage {
                subject: "docs(notes): show how to try it",
                edits: &[("NOTES.md", None)],
            },
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check;
    use orchestrate_core::identifier::{SpecId, TaskId};
    use orchestrate_spec::{Bundle, Status, parse_bundle};
    use std::collections::BTreeSet;

    fn bundle() -> Bundle {
        let spec = SpecId::parse(SPEC).expect("spec");
        parse_bundle(&spec, &bundle_texts(BUNDLE.iter().copied())).expect("a well-formed bundle")
    }

    #[test]
    fn the_bundle_is_a_draft_with_the_graph_the_picture_needs() {
        let bundle = bundle();
        assert_eq!(bundle.status, Status::Draft);
        let tasks: Vec<(&str, &str, Vec<&str>)> = bundle
            .tasks
            .iter()
            .map(|task| {
                let dependencies = task.dependencies.iter().map(TaskId::as_str).collect();
                (task.id.as_str(), task.title.as_str(), dependencies)
            })
            .collect();
        assert_eq!(
            tasks,
            [
                ("1", "parse the greeting", vec![]),
                ("2", "render the greeting", vec!["1"]),
                ("3", "command line", vec!["2"]),
                ("4", "translations", vec!["1"]),
                ("5", "release notes", vec!["3", "4"]),
            ]
        );
        let path: Vec<String> = bundle.graph().critical_path().iter().map(ToString::to_string).collect();
        assert_eq!(path, ["1", "4", "5"]);
        let titles: Vec<(&str, &str)> = SCRIPTS.iter().map(|script| (script.task, script.title)).collect();
        let named: Vec<(&str, &str)> = tasks.iter().map(|(id, title, _)| (*id, *title)).collect();
        assert_eq!(titles, named);
    }

    #[test]
    fn every_requirement_is_cited_by_a_task() {
        let cited: BTreeSet<String> = bundle().tasks.iter().flat_map(|task| task.citations.clone()).collect();
        for requirement in &bundle().requirements {
            assert!(cited.contains(&requirement.id), "{}", requirement.id);
            let verified = format!("### {} — ", requirement.id);
            assert!(
                BUNDLE.iter().any(|(_, text)| text.contains(&verified)),
                "{}",
                requirement.id
            );
        }
    }

    #[test]
    fn each_script_ends_with_what_its_check_expects_and_not_before() {
        for script in SCRIPTS {
            let expected = START
                .iter()
                .find(|file| file.path == script.check_path())
                .expect("a check");
            let mut written: std::collections::BTreeMap<&str, String> = Default::default();
            for (index, stage) in script.stages.iter().enumerate() {
                for edit in stage.edits {
                    written.insert(edit.0, script.text_of(*edit).expect("its own file"));
                }
                let read = |path: &str| Ok(written.get(path).map(|text| text.clone().into_bytes()));
                let finding = check::finding(script, expected.text.as_bytes(), read).expect("reads");
                let is_last = index + 1 == script.stages.len();
                assert_eq!(
                    finding.is_none(),
                    is_last,
                    "task {} stage {index}: {finding:?}",
                    script.task
                );
            }
        }
    }

    #[test]
    fn no_two_tasks_touch_the_same_file() {
        let mut paths: Vec<&str> = SCRIPTS
            .iter()
            .flat_map(|script| script.files.iter().map(|file| file.path))
            .collect();
        paths.extend(START.iter().map(|file| file.path));
        let distinct: BTreeSet<&str> = paths.iter().copied().collect();
        assert_eq!(distinct.len(), paths.len());
        assert!(SCRIPTS.iter().all(|script| script.stages.len() >= 2));
        let foreign = SCRIPTS[0].text_of(("NOTES.md", None)).expect_err("not its file");
        assert_eq!(foreign.cause, "task 1 does not deliver it");
        assert!(script("6").is_err());
    }
}
