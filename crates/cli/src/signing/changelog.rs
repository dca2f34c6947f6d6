//! The lines that a person added to the changelog before signing: which one the record can cite, and which are odd.

use orchestrate_core::words::one_line;
use orchestrate_spec::ChangelogEntry;
use orchestrate_spec::edit::new_changelog_entries;

use super::record::Matter;
use super::subject::Purpose;

/// Returns the words of an entry on one line, without the dash behind its date.
pub(crate) fn words(entry: &ChangelogEntry) -> String {
    one_line(entry.text.trim_start_matches([' ', '—', ':', '-']))
}

/// Returns the newest line that came since the last record and says something.
pub(crate) fn offered(matter: &Matter) -> Option<ChangelogEntry> {
    added(matter).into_iter().find(|entry| !words(entry).is_empty())
}

/// Returns what is odd about the lines that came since the last record: a date that is still to come.
pub(crate) fn remarks(matter: &Matter) -> Vec<String> {
    let is_later = |entry: &ChangelogEntry| entry.date > matter.today;
    let later = added(matter).into_iter().filter(is_later);
    let told = |entry: ChangelogEntry| {
        let (date, today) = (entry.date, &matter.today);
        format!("the changelog line of {date} is dated in the future: today is {today}.")
    };
    later.map(told).collect()
}

fn added(matter: &Matter) -> Vec<ChangelogEntry> {
    match &matter.purpose {
        Purpose::Delta(baseline) => {
            new_changelog_entries(&baseline.texts.requirements, &matter.files.texts.requirements)
        }
        Purpose::ReAnchor { cites, .. } => cites.iter().cloned().collect(),
        Purpose::Whole { .. } => Vec::new(),
    }
}
