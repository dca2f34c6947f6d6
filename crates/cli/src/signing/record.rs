//! What a signature writes: the files with their new bytes, and the record at the end of the brief.

use orchestrate_core::identifier::SpecId;
use orchestrate_core::place::BundleFile;
use orchestrate_core::words::one_line;
use orchestrate_spec::anchor::{AnchorError, AnchorErrorReason};
use orchestrate_spec::brief::{
    AppendError, Freshness, RecordClass, SignOffError, append_record, freshness, parse_sign_off,
    render_expression_only, render_sign_off,
};
use orchestrate_spec::edit::with_changelog_entry;
use orchestrate_spec::template::Untouched;
use orchestrate_spec::{BundleTexts, ChangelogEntry};
use orchestrate_tower::sweep::{Lifted, without_halt};

use super::changelog;
use super::subject::{Files, Purpose, as_ready};

/// What a person has chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// What the record signs.
    pub(crate) class: RecordClass,
    /// Where the review is recorded (meaning), or what changed in the wording (expression-only).
    pub(crate) words: String,
    /// The line of the changelog that tells of the change already (expression-only).
    pub(crate) cites: Option<ChangelogEntry>,
}

/// What a signature writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Signing {
    /// The files that change, in the order in which they are written: the brief last, `requirements.md` before it, so
    /// that whatever was written before a crash the gate is closed and signing again completes it.
    pub(crate) changes: Vec<(BundleFile, Vec<u8>)>,
    /// What is said of each change.
    pub(crate) told: Vec<String>,
    /// The heading and the record, as they are added to the brief.
    pub(crate) record: String,
}

/// What is signed: the bundle, when, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Matter {
    /// The bundle's name.
    pub(crate) spec: SpecId,
    /// Its title.
    pub(crate) title: String,
    /// The date, `YYYY-MM-DD`.
    pub(crate) today: String,
    /// Its files.
    pub(crate) files: Files,
    /// What the walk is for.
    pub(crate) purpose: Purpose,
    /// What in it is still as the template has it.
    pub(crate) untouched: Vec<Untouched>,
    /// What halts of every task wrote in it: the signature answers them.
    pub(crate) halts: Vec<Lifted>,
}

/// Returns why the bundle cannot be signed, whatever a person says: what in it was never written. Content that was signed
/// and only needs its record once more is not asked about again.
pub(crate) fn refusal(matter: &Matter) -> Option<String> {
    let essential = matter.untouched.iter().filter(|each| each.is_essential);
    let parts: Vec<&str> = essential.map(|each| each.part.as_str()).collect();
    let is_asked = match &matter.purpose {
        Purpose::Whole { .. } | Purpose::Delta(_) => true,
        Purpose::ReAnchor { .. } => false,
    };
    match parts.as_slice() {
        _ if !is_asked => None,
        [] => None,
        [part] => Some(format!("{part} is still as orchestrate new wrote it")),
        [others @ .., last] => {
            let others = others.join(", ");
            Some(format!("{others} and {last} are still as orchestrate new wrote them"))
        }
    }
}

/// What would make a signature fail after everything was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Obstacle {
    /// Why it would fail.
    pub(crate) why: String,
    /// What helps.
    pub(crate) remedy: String,
}

/// Returns what stands against a record, whatever its words are: it is looked for before a person reads anything.
pub(crate) fn obstacle(matter: &Matter) -> Option<Obstacle> {
    const WORDS: &str = "rehearsed";
    let spec = &matter.spec;
    let texts = as_ready(&matter.files.texts);
    let record = match render_sign_off(spec, &texts, WORDS) {
        Ok(record) => record,
        Err(SignOffError::Anchor(error)) => return Some(no_anchor(spec, &texts, &error)),
        Err(error @ (SignOffError::NoLensPass | SignOffError::NoChangelog | SignOffError::NoReason)) => {
            return Some(other(error.to_string()));
        }
    };
    let brief = matter.files.brief.as_deref().unwrap_or_default();
    let is_re_anchor = match matter.purpose {
        Purpose::ReAnchor { .. } => true,
        Purpose::Whole { .. } | Purpose::Delta(_) => false,
    };
    match append_record(spec, brief, &heading(matter, RecordClass::Meaning), &record) {
        Err(error) => Some(no_brief(spec, brief, &error)),
        Ok(_) if is_re_anchor => {
            let choice = Choice {
                class: RecordClass::ExpressionOnly,
                words: String::new(),
                cites: None,
            };
            compose(matter, &choice).err().map(other)
        }
        Ok(_) => None,
    }
}

fn other(why: String) -> Obstacle {
    Obstacle {
        why,
        remedy: "mend that, then sign".to_owned(),
    }
}

fn no_anchor(spec: &SpecId, texts: &BundleTexts, error: &AnchorError) -> Obstacle {
    let path = format!("specs/{spec}/{}", error.file.name());
    let has_mark = texts
        .files()
        .iter()
        .any(|(file, bytes)| *file == error.file && bytes.starts_with(b"\xef\xbb\xbf"));
    if has_mark {
        return Obstacle {
            why: format!(
                "{path} begins with a byte order mark (U+FEFF), which hides its header, so that it has no anchor"
            ),
            remedy: format!("save it as UTF-8 without a byte order mark: sed -i '1s/^\\xEF\\xBB\\xBF//' {path}"),
        };
    }
    let remedy = match error.reason {
        AnchorErrorReason::Nul => format!("remove the NUL byte from {path}"),
        AnchorErrorReason::DuplicateTask => format!("give each task of {path} a number of its own"),
        AnchorErrorReason::DuplicateStatus => format!("leave one **Status:** line in the header of {path}"),
        AnchorErrorReason::OpenFence => format!("close the fence in {path}"),
        AnchorErrorReason::Header => {
            format!("{path} begins with a title and its header lines, and a text follows them")
        }
    };
    Obstacle {
        why: error.to_string(),
        remedy,
    }
}

fn no_brief(spec: &SpecId, brief: &[u8], error: &AppendError) -> Obstacle {
    let path = format!("specs/{spec}/{}", BundleFile::KickoffBrief.name());
    let bad = match std::str::from_utf8(brief) {
        Err(error) => Some(error.valid_up_to()),
        Ok(_) => brief.iter().position(|byte| *byte == 0),
    };
    let above = brief.get(..bad.unwrap_or_default()).unwrap_or_default();
    let line = above.iter().filter(|byte| **byte == b'\n').count() + 1;
    let remedy = match error {
        AppendError::NotText(what) => format!("take {what} out of line {line} of {path}, and save it as UTF-8"),
        AppendError::OpenFence(line) => {
            format!("close the fence that line {line} of {path} opens, or remove that line")
        }
        AppendError::Heading | AppendError::Record(_) => format!("look at the end of {path}: a record is added there"),
    };
    Obstacle {
        why: format!("{path}: {error}"),
        remedy,
    }
}

/// Returns what the choice writes.
///
/// # Errors
/// Why nothing can be written, in words.
pub(crate) fn compose(matter: &Matter, choice: &Choice) -> Result<Signing, String> {
    if let Some(why) = refusal(matter) {
        return Err(why);
    }
    let spec = &matter.spec;
    let mut texts = as_ready(&matter.files.texts);
    let mut told = Vec::new();
    let flipped = matter.files.texts.files().into_iter().zip(texts.files());
    for ((file, before), (_, after)) in flipped {
        if before != after {
            told.push(format!("{file}: Status Draft becomes Ready"));
        }
    }
    for halt in &matter.halts {
        // More may have been written beneath it: then it stays, and a person takes it away.
        if let Ok(tasks) = without_halt(&texts.tasks, halt) {
            texts.tasks = tasks;
            told.push(format!(
                "{}: task {} is put back, which was parked for what halted every task",
                BundleFile::Tasks,
                halt.task
            ));
        }
    }
    let record = match choice.class {
        RecordClass::Meaning => render_sign_off(spec, &texts, &choice.words),
        RecordClass::ExpressionOnly => {
            let cited = cited(matter, choice, &mut texts, &mut told)?;
            render_expression_only(spec, &texts, &cited, &why(matter, choice))
        }
    };
    let record = record.map_err(|error| error.to_string())?;
    let heading = heading(matter, choice.class);
    let (brief, is_new) = match &matter.files.brief {
        Some(brief) => (brief.clone(), false),
        None => (new_brief(matter).into_bytes(), true),
    };
    let signed = append_record(spec, &brief, &heading, &record).map_err(|error| error.to_string())?;
    prove(spec, &signed, &texts)?;
    told.push(if is_new {
        "kickoff-brief.md: made, with this record".to_owned()
    } else {
        "kickoff-brief.md: this record at its end".to_owned()
    });
    let before = &matter.files.texts;
    let changes = [
        (BundleFile::Design, &before.design, texts.design),
        (BundleFile::Tasks, &before.tasks, texts.tasks),
        (BundleFile::TestSpec, &before.test_spec, texts.test_spec),
        (BundleFile::Requirements, &before.requirements, texts.requirements),
    ];
    let changes = changes.into_iter().filter(|(_, before, after)| *before != after);
    let changes = changes.map(|(file, _, after)| (file, after));
    Ok(Signing {
        changes: changes.chain([(BundleFile::KickoffBrief, signed)]).collect(),
        told,
        record: format!("{heading}\n\n{record}"),
    })
}

/// Nothing is written that the gate would not accept.
fn prove(spec: &SpecId, brief: &[u8], texts: &BundleTexts) -> Result<(), String> {
    let record = parse_sign_off(spec, brief).map_err(|error| error.to_string())?;
    match freshness(&record, texts) {
        Ok(Freshness::Matches) => Ok(()),
        Ok(Freshness::Changed { .. } | Freshness::PreChange { .. }) => {
            Err("the record does not sign the texts".to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}

fn heading(matter: &Matter, class: RecordClass) -> String {
    let what = match (&matter.purpose, class) {
        (Purpose::ReAnchor { .. }, _) => "Expression-only re-anchor",
        (_, RecordClass::ExpressionOnly) => "Expression-only sign-off",
        (Purpose::Whole { first: true, .. }, RecordClass::Meaning) => "Sign-off",
        (Purpose::Whole { first: false, .. } | Purpose::Delta(_), RecordClass::Meaning) => "Delta sign-off",
    };
    format!("### {} — {what}", matter.today)
}

/// Returns the words that name the changelog's entry, which is added to the texts if it is not there yet.
fn cited(matter: &Matter, choice: &Choice, texts: &mut BundleTexts, told: &mut Vec<String>) -> Result<String, String> {
    let (cites, text) = match &matter.purpose {
        Purpose::ReAnchor { cites, recorded, .. } => (cites.as_ref(), re_anchored(recorded)),
        Purpose::Whole { .. } | Purpose::Delta(_) => (choice.cites.as_ref(), one_line(&choice.words)),
    };
    let (date, text) = match cites {
        Some(entry) => (entry.date.clone(), changelog::words(entry)),
        None => (matter.today.clone(), text),
    };
    if text.is_empty() {
        return Err("the entry for the changelog is empty: say what changed".to_owned());
    }
    if cites.is_none() {
        texts.requirements =
            with_changelog_entry(&texts.requirements, &date, &text).map_err(|error| error.to_string())?;
        told.push(format!("requirements.md: a changelog entry of {date}: {text}"));
    }
    Ok(format!(
        "the {date} `## Changelog` entry in `requirements.md` (\"{text}\")"
    ))
}

fn re_anchored(recorded: &str) -> String {
    let short = recorded.get(..7).unwrap_or(recorded);
    format!(
        "Re-anchored (expression-only): the sign-off of this content recorded the older anchor {short}; nothing that was signed has changed."
    )
}

fn why(matter: &Matter, choice: &Choice) -> String {
    match &matter.purpose {
        Purpose::ReAnchor { why, recorded, .. } => format!("{why} ({recorded})"),
        Purpose::Whole { .. } | Purpose::Delta(_) => {
            format!(
                "a person read the change on {} and signed it as one of wording: {}",
                matter.today, choice.words
            )
        }
    }
}

fn new_brief(matter: &Matter) -> String {
    let Matter { spec, title, today, .. } = matter;
    format!(
        "# {title} — Kickoff brief\n\n- **Spec:** `specs/{spec}`\n- **First walk:** {today}, with `orchestrate sign specs/{spec}`\n\n\
         What was signed, and when. Each record below signs the four files as they\n\
         were when it was written; the last one counts. Nothing above it is changed.\n"
    )
}
