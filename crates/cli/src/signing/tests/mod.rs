//! The walk without a terminal: what is shown, what is asked, and what each answer writes.

use orchestrate_core::identifier::SpecId;
use orchestrate_core::place::BundleFile;
use orchestrate_spec::brief::RecordClass;
use orchestrate_spec::template::new_bundle;
use orchestrate_spec::{BundleTexts, ChangelogEntry, parse_bundle};

use super::record::{Choice, Matter, Signing};
use super::sections::{Section, graph};
use super::subject::{Baseline, Files, Purpose, Verdict, as_ready};

mod records;
mod shown;
mod walked;

fn spec() -> SpecId {
    SpecId::parse("alpha").expect("a name")
}

fn draft() -> BundleTexts {
    new_bundle("Alpha", "2026-11-30").expect("a bundle")
}

fn ready() -> BundleTexts {
    as_ready(&draft())
}

fn changed(texts: &BundleTexts, from: &str, to: &str) -> BundleTexts {
    let requirements = String::from_utf8(texts.requirements.clone()).expect("text");
    assert!(requirements.contains(from));
    BundleTexts {
        requirements: requirements.replace(from, to).into_bytes(),
        ..texts.clone()
    }
}

/// A brief whose last record holds that anchor.
fn brief(anchor: &str) -> Vec<u8> {
    format!("# Brief\n\n## Sign-off\n\nClass: meaning\nLens-pass: x\nAnchor: `{anchor}` — computed as\n`scripts/spec-anchor.sh specs/alpha`\n").into_bytes()
}

fn files(texts: BundleTexts, brief: Option<Vec<u8>>) -> Files {
    Files { texts, brief }
}

fn baseline(texts: BundleTexts) -> Result<Baseline, String> {
    Ok(Baseline {
        commit: "3f1c2ab".to_owned(),
        texts,
    })
}

fn none() -> Result<Baseline, String> {
    Err("nothing is committed yet".to_owned())
}

fn matter(files: Files, purpose: Purpose) -> Matter {
    Matter {
        spec: spec(),
        title: "Alpha".to_owned(),
        today: "2026-12-01".to_owned(),
        files,
        purpose,
        untouched: Vec::new(),
    }
}

fn first() -> Purpose {
    Purpose::Whole {
        why: "it was never signed".to_owned(),
        first: true,
    }
}

fn to_sign(verdict: Verdict) -> Purpose {
    match verdict {
        Verdict::ToSign(purpose) => purpose,
        Verdict::Signed(record) => panic!("signed: {record:?}"),
    }
}

/// The bundle that a signature leaves.
fn after(matter: &Matter, signing: &Signing) -> Files {
    let mut files = matter.files.clone();
    for (file, bytes) in &signing.changes {
        let target = match file {
            BundleFile::Requirements => &mut files.texts.requirements,
            BundleFile::Design => &mut files.texts.design,
            BundleFile::Tasks => &mut files.texts.tasks,
            BundleFile::TestSpec => &mut files.texts.test_spec,
            BundleFile::KickoffBrief => files.brief.get_or_insert_default(),
        };
        target.clone_from(bytes);
    }
    files
}

fn entries(texts: &BundleTexts) -> Vec<ChangelogEntry> {
    let text = String::from_utf8(texts.requirements.clone()).expect("text");
    let dated = |(index, line): (usize, &str)| {
        let (date, text) = line.strip_prefix("- 2026-")?.split_at_checked(5)?;
        Some(ChangelogEntry {
            date: format!("2026-{date}"),
            text: text.to_owned(),
            line: u32::try_from(index).ok()? + 1,
        })
    };
    text.lines().enumerate().filter_map(dated).collect()
}

fn drawn() -> Section {
    graph(&parse_bundle(&spec(), &draft()).expect("it reads"), 80, true)
}

fn meaning(words: &str) -> Choice {
    Choice {
        class: RecordClass::Meaning,
        words: words.to_owned(),
        cites: None,
    }
}
