//! A small, valid bundle of format version 2 with any task graph, for every test that needs one.
//!
//! The texts are built here; the anchor and the sign-off record come from the product's own spec crate, so a bundle
//! that this makes is one that the product accepts. Owns no state; [`BundleFixture::write_into`] is the only thing
//! here that touches a disk.

use std::fmt::Write as _;
use std::io;

use camino::Utf8Path;
use orchestrate_core::identifier::{SpecId, TaskId};
use orchestrate_core::place::BundleFile;
use orchestrate_spec::BundleTexts;
use orchestrate_spec::brief::render_sign_off;

/// The lens reference that every signed fixture carries.
const LENS_PASS: &str = "fixture review of 2026-11-30";

#[derive(Debug, Clone)]
struct FixtureTask {
    id: TaskId,
    title: String,
    dependencies: Vec<TaskId>,
    effort: String,
}

#[derive(Debug, Clone)]
struct Parked {
    section: &'static str,
    id: TaskId,
    note: String,
}

/// A bundle in the making.
#[derive(Debug, Clone)]
pub struct BundleFixture {
    spec: SpecId,
    status: String,
    version: u8,
    tasks: Vec<FixtureTask>,
    parked: Vec<Parked>,
}

impl BundleFixture {
    /// Returns a bundle of that name, status `Ready`, without tasks.
    ///
    /// # Panics
    /// When the text is no spec name: a test has a slip.
    #[must_use]
    pub fn new(spec: &str) -> Self {
        match SpecId::parse(spec) {
            Ok(spec) => Self {
                spec,
                status: "Ready".to_owned(),
                version: 2,
                tasks: Vec::new(),
                parked: Vec::new(),
            },
            Err(fault) => panic!("{spec}: {fault}"),
        }
    }

    /// Returns the bundle with one more task; `effort` is the text of its `Estimated effort`.
    ///
    /// # Panics
    /// When an id is no task id: a test has a slip.
    #[must_use]
    pub fn task(mut self, id: &str, title: &str, dependencies: &[&str], effort: &str) -> Self {
        self.tasks.push(FixtureTask {
            id: task_id(id),
            title: title.to_owned(),
            dependencies: dependencies.iter().map(|text| task_id(text)).collect(),
            effort: effort.to_owned(),
        });
        self
    }

    /// Returns the bundle with that stored status in all four files.
    #[must_use]
    pub fn status(mut self, status: &str) -> Self {
        status.clone_into(&mut self.status);
        self
    }

    /// Returns the bundle in format version 1, every task under `## Forward plan`.
    #[must_use]
    pub fn of_version_1(mut self) -> Self {
        self.version = 1;
        self
    }

    /// Returns the bundle with a bullet under `## Awaiting input` that parks the task.
    ///
    /// # Panics
    /// When the id is no task id: a test has a slip.
    #[must_use]
    pub fn awaiting(self, id: &str, note: &str) -> Self {
        self.park("Awaiting input", id, note)
    }

    /// Returns the bundle with a bullet under `## Deferred` that parks the task.
    ///
    /// # Panics
    /// When the id is no task id: a test has a slip.
    #[must_use]
    pub fn deferred(self, id: &str, note: &str) -> Self {
        self.park("Deferred", id, note)
    }

    /// Returns the bundle with a bullet under `## Out of scope` that parks the task.
    ///
    /// # Panics
    /// When the id is no task id: a test has a slip.
    #[must_use]
    pub fn out_of_scope(self, id: &str, note: &str) -> Self {
        self.park("Out of scope", id, note)
    }

    fn park(mut self, section: &'static str, id: &str, note: &str) -> Self {
        let id = task_id(id);
        let note = note.to_owned();
        self.parked.push(Parked { section, id, note });
        self
    }

    /// Returns the bundle's name.
    #[must_use]
    pub fn spec(&self) -> &SpecId {
        &self.spec
    }

    /// Returns the tasks in file order, each with what it depends on.
    #[must_use]
    pub fn graph(&self) -> Vec<(TaskId, Vec<TaskId>)> {
        self.tasks
            .iter()
            .map(|task| (task.id.clone(), task.dependencies.clone()))
            .collect()
    }

    /// Returns the four authored files, in canonical order, without a brief: an unsigned bundle.
    #[must_use]
    pub fn texts(&self) -> Vec<(BundleFile, String)> {
        BundleFile::AUTHORED
            .into_iter()
            .map(|file| (file, self.text(file)))
            .collect()
    }

    /// Returns the four authored files and a brief whose last sign-off record is valid for them.
    ///
    /// # Panics
    /// When the texts cannot be anchored: two tasks of the fixture share a number.
    #[must_use]
    pub fn signed_texts(&self) -> Vec<(BundleFile, String)> {
        let mut texts = self.texts();
        let brief = self.brief();
        texts.push((BundleFile::KickoffBrief, brief));
        texts
    }

    /// Returns the signed bundle with one requirement changed after it was signed.
    ///
    /// # Panics
    /// As [`Self::signed_texts`].
    #[must_use]
    pub fn texts_changed_after_sign_off(&self) -> Vec<(BundleFile, String)> {
        let mut texts = self.signed_texts();
        for (file, text) in &mut texts {
            if *file == BundleFile::Requirements {
                *text = text.replace("Each part is delivered.", "Each part is delivered twice.");
            }
        }
        texts
    }

    /// Returns the authored files as the spec crate takes them.
    #[must_use]
    pub fn bundle_texts(&self) -> BundleTexts {
        BundleTexts {
            requirements: self.text(BundleFile::Requirements).into_bytes(),
            design: self.text(BundleFile::Design).into_bytes(),
            tasks: self.text(BundleFile::Tasks).into_bytes(),
            test_spec: self.text(BundleFile::TestSpec).into_bytes(),
        }
    }

    /// Writes the signed bundle to `specs/<spec>/` in a repository's directory.
    ///
    /// # Errors
    /// When a file or directory cannot be written.
    pub fn write_into(&self, repository: &Utf8Path) -> io::Result<()> {
        write_texts(&self.spec, &self.signed_texts(), repository)
    }

    fn text(&self, file: BundleFile) -> String {
        match file {
            BundleFile::Requirements => self.requirements(),
            BundleFile::Design => self.design(),
            BundleFile::Tasks => self.tasks(),
            BundleFile::TestSpec => self.test_spec(),
            BundleFile::KickoffBrief => self.brief(),
        }
    }

    fn header(&self, title: &str) -> String {
        let execution = if self.version == 1 {
            ""
        } else {
            "**Execution:** derived — see the status render\n"
        };
        format!(
            "# {} — {title}\n\n**Status:** {}\n**Last reviewed:** 2026-11-30\n**Format-version:** {}\n{execution}\n",
            self.spec, self.status, self.version
        )
    }

    fn requirements(&self) -> String {
        format!(
            "{}## Goal\n\nA bundle that tests can work on.\n\n## Scope\n\n### In scope\n\n- Its parts.\n\n\
             ### Out of scope\n\n- Everything else.\n\n## REQ-A — Parts\n\n\
             - **REQ-A1.1** Each part is delivered. *(Cites: D-1.)*\n\n\
             ## Changelog\n\n- 2026-11-30 — first version.\n\n## Sources\n\n- none\n",
            self.header("Requirements")
        )
    }

    fn design(&self) -> String {
        format!(
            "{}## Decision log\n\n### D-1: Parts are small (founding)\n\n**Decision:** Each task is one part.\n\n\
             **Alternatives considered:** One large part.\n\n**Chosen because:** Small parts land on their own.\n",
            self.header("Design")
        )
    }

    fn tasks(&self) -> String {
        let mut text = self.header("Tasks");
        let is_first = self.version == 1;
        text.push_str(if is_first { "## Forward plan\n" } else { "## Tasks\n" });
        for task in &self.tasks {
            let dependencies: Vec<&str> = task.dependencies.iter().map(TaskId::as_str).collect();
            let dependencies = if dependencies.is_empty() {
                "none".to_owned()
            } else {
                dependencies.join(", ")
            };
            let written = write!(
                text,
                "\n### Task {} — {}\n\n- **Deliverables:** part {0}\n- **Done when:** part {0} is there\n\
                 - **Dependencies:** {dependencies}\n- **Citations:** D-1, REQ-A1.1\n- **Estimated effort:** {}\n",
                task.id, task.title, task.effort
            );
            debug_assert!(written.is_ok(), "a string takes every text");
        }
        if self.tasks.is_empty() {
            text.push_str("\n(none yet)\n");
        }
        let sections: &[&str] = if is_first {
            &["In progress", "Awaiting input", "Completed", "Deferred", "Out of scope"]
        } else {
            &["Awaiting input", "Deferred", "Out of scope"]
        };
        for section in sections {
            text.push_str(&self.parked_section(section));
        }
        text
    }

    fn parked_section(&self, section: &str) -> String {
        let bullets: Vec<String> = self
            .parked
            .iter()
            .filter(|parked| parked.section == section)
            .map(|parked| format!("- **Task {}** — {}\n", parked.id, parked.note))
            .collect();
        let body = if bullets.is_empty() {
            "(none yet)\n".to_owned()
        } else {
            bullets.concat()
        };
        format!("\n## {section}\n\n{body}")
    }

    fn test_spec(&self) -> String {
        format!(
            "{}How each requirement is verified.\n\n## REQ-A — Parts\n\n### REQ-A1.1 — parts are there [test]\n\n\
             A test looks for each part.\n",
            self.header("Test spec")
        )
    }

    fn brief(&self) -> String {
        let record = match render_sign_off(&self.spec, &self.bundle_texts(), LENS_PASS) {
            Ok(record) => record,
            Err(fault) => panic!("cannot sign the fixture {}: {fault}", self.spec),
        };
        format!(
            "{}## 1. Goal and glossary\n\nAs in the requirements.\n\n## 8. Sign-off\n\n{record}",
            self.header("Kickoff brief")
        )
    }
}

/// Writes a bundle's files to `specs/<spec>/` in a repository's directory.
///
/// # Errors
/// When a file or directory cannot be written.
pub fn write_texts(spec: &SpecId, texts: &[(BundleFile, String)], repository: &Utf8Path) -> io::Result<()> {
    let directory = repository.join("specs").join(spec.as_str());
    std::fs::create_dir_all(&directory)?;
    for (file, text) in texts {
        std::fs::write(directory.join(file.name()), text)?;
    }
    Ok(())
}

fn task_id(text: &str) -> TaskId {
    match TaskId::parse(text) {
        Ok(id) => id,
        Err(fault) => panic!("{text}: {fault}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orchestrate_spec::brief::{Freshness, freshness, parse_sign_off};
    use orchestrate_spec::parse_bundle;

    fn fixture() -> BundleFixture {
        BundleFixture::new("demo")
            .task("1", "first", &[], "1 day")
            .task("2", "second", &["1"], "half a day")
            .task("2.5", "third", &["1", "2"], "2 days")
            .deferred("2.5", "later")
    }

    fn text(texts: &[(BundleFile, String)], wanted: BundleFile) -> Vec<u8> {
        let entry = texts.iter().find(|(file, _)| *file == wanted);
        entry.expect("the file is there").1.clone().into_bytes()
    }

    #[test]
    fn the_product_accepts_it() {
        let fixture = fixture();
        let bundle = parse_bundle(fixture.spec(), &fixture.bundle_texts()).expect("valid");
        let graph = bundle.graph();
        let read: Vec<_> = graph
            .tasks
            .iter()
            .map(|task| (task.id.clone(), task.dependencies.clone()))
            .collect();
        assert_eq!(read, fixture.graph());
        assert_eq!(graph.parked.len(), 1);
        let brief = text(&fixture.signed_texts(), BundleFile::KickoffBrief);
        let record = parse_sign_off(fixture.spec(), &brief).expect("signed");
        let fresh = freshness(&record, &fixture.bundle_texts()).expect("anchored");
        assert_eq!(fresh, Freshness::Matches);
    }

    #[test]
    fn a_later_change_is_seen() {
        let fixture = fixture();
        let texts = fixture.texts_changed_after_sign_off();
        let changed = BundleTexts {
            requirements: text(&texts, BundleFile::Requirements),
            ..fixture.bundle_texts()
        };
        assert_ne!(changed, fixture.bundle_texts());
        let brief = text(&texts, BundleFile::KickoffBrief);
        let record = parse_sign_off(fixture.spec(), &brief).expect("signed");
        let fresh = freshness(&record, &changed).expect("anchored");
        assert!(matches!(fresh, Freshness::Changed { .. }), "{fresh:?}");
    }

    #[test]
    fn it_writes_five_files() {
        let directory = tempfile::tempdir().expect("directory");
        let root = Utf8Path::from_path(directory.path()).expect("utf-8");
        fixture().write_into(root).expect("written");
        let mut names: Vec<String> = std::fs::read_dir(root.join("specs/demo"))
            .expect("listed")
            .map(|entry| entry.expect("entry").file_name().into_string().expect("utf-8"))
            .collect();
        names.sort();
        assert_eq!(
            names,
            [
                "design.md",
                "kickoff-brief.md",
                "requirements.md",
                "tasks.md",
                "test-spec.md"
            ]
        );
    }
}
