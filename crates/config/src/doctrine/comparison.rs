//! How an overlay of a rule document stands to the built-in text: what `doctor` reports.

use super::versions::{self, Version};
use super::{DocumentName, EMBEDDED, PROTECTED};

/// How an overlay stands to the built-in document of its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// It is the built-in text, so it does nothing.
    Same,
    /// It is the built-in text of an older release, unchanged.
    Older {
        /// The first release that had it.
        release: &'static str,
    },
    /// It is another text, and says that it was compared with the built-in one of today.
    Compared,
    /// It is another text, and says which built-in one it was compared with; that one has changed since.
    Outdated {
        /// The hash that it names.
        hash: String,
        /// The release of that text, where it is known.
        release: Option<&'static str>,
    },
    /// It is another text, and does not say which built-in one it was written against.
    Differs,
    /// The name is no document of ours or of planwright's that is known here.
    Orphan {
        /// The document that was likely meant.
        near: Option<&'static str>,
    },
    /// It is a document of planwright's, which is none of ours.
    Foreign,
}

/// What an overlay says to name the built-in text that it was compared with.
const NOTE_START: &str = "<!-- built-in: ";
const NOTE_END: &str = " -->";

/// Returns the line by which an overlay says that it was compared with the built-in text of today; none for a document
/// that is not built in.
#[must_use]
pub fn note(name: &DocumentName) -> Option<String> {
    let current = versions::current(name.as_str())?;
    Some(format!("{NOTE_START}{}{NOTE_END}", current.hash))
}

/// Returns how an overlay's bytes stand to the built-in document of that name. `installed` are the names of the
/// documents of an installed planwright.
#[must_use]
pub fn compare(name: &DocumentName, bytes: &[u8], installed: &[String]) -> Comparison {
    compare_among(versions::VERSIONS, name, bytes, installed)
}

fn compare_among(versions: &[Version], name: &DocumentName, bytes: &[u8], installed: &[String]) -> Comparison {
    let own = || versions.iter().filter(|version| version.document == name.as_str());
    let release_of = |hash: &str| {
        own()
            .find(|version| version.hash.starts_with(hash))
            .map(|version| version.release)
    };
    let Some(current) = own().next_back() else {
        let is_foreign = PROTECTED.contains(&name.as_str()) || installed.iter().any(|other| other == name.as_str());
        return if is_foreign {
            Comparison::Foreign
        } else {
            Comparison::Orphan {
                near: nearest(name.as_str()),
            }
        };
    };
    let hash = versions::hash_of(bytes);
    if hash == current.hash {
        return Comparison::Same;
    }
    if let Some(release) = release_of(&hash) {
        return Comparison::Older { release };
    }
    match named_hash(bytes) {
        Some(named) if current.hash.starts_with(&named) => Comparison::Compared,
        Some(named) => Comparison::Outdated {
            release: release_of(&named),
            hash: named,
        },
        None => Comparison::Differs,
    }
}

/// Returns the built-in document that a file's name without `.md` was likely meant to be.
#[must_use]
pub fn nearest(name: &str) -> Option<&'static str> {
    const LONGEST: usize = 80;
    if name.len() > LONGEST {
        return None;
    }
    let wanted = name.to_lowercase().replace(['_', ' ', '.'], "-");
    let scored = EMBEDDED
        .iter()
        .map(|(document, _)| (strsim::damerau_levenshtein(&wanted, document), *document));
    let (distance, best) = scored.min_by_key(|(distance, _)| *distance)?;
    (distance <= 2).then_some(best)
}

/// Returns the hash that `git hash-object` prints for a text.
#[must_use]
pub fn hash(text: &str) -> String {
    versions::hash_of(text.as_bytes())
}

/// Returns the hash that an overlay names, when it is one: at least seven hex digits.
fn named_hash(bytes: &[u8]) -> Option<String> {
    let text = core::str::from_utf8(bytes).ok()?;
    let noted = text
        .lines()
        .find_map(|line| line.trim().strip_prefix(NOTE_START)?.strip_suffix(NOTE_END))?;
    let is_hash = (7..=40).contains(&noted.len()) && noted.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| noted.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctrine::embedded;

    fn name(text: &str) -> DocumentName {
        DocumentName::parse(text).expect("a document's name")
    }

    #[test]
    fn each_state_of_an_overlay_has_its_word() {
        let document = name("execute-task");
        let built_in = embedded(&document).expect("embedded");
        let noted = format!("# Mine\n\n  {}\r\n", note(&document).expect("embedded"));
        let compare = |text: &str| compare(&document, text.as_bytes(), &[]);
        assert_eq!(compare(built_in), Comparison::Same);
        assert_eq!(compare("# Mine\n"), Comparison::Differs);
        assert_eq!(compare(&noted), Comparison::Compared);
        let outdated = |text: &str, hash: &str| {
            let expected = Comparison::Outdated {
                hash: hash.to_owned(),
                release: None,
            };
            assert_eq!(compare(text), expected);
        };
        outdated("<!-- built-in: ABCDEF0 -->", "abcdef0");
        // What is no hash names nothing.
        for not_a_hash in ["abcdef", "xyzxyzx", "", &"a".repeat(41)] {
            assert_eq!(
                compare(&format!("<!-- built-in: {not_a_hash} -->")),
                Comparison::Differs
            );
        }
    }

    #[test]
    fn a_text_of_an_older_release_is_known() {
        let document = name("execute-task");
        let old = "# Old\n";
        let old_hash = versions::hash_of(old.as_bytes());
        let row = |release, hash| Version {
            document: "execute-task",
            release,
            hash,
        };
        let old_hash: &'static str = Box::leak(old_hash.into_boxed_str());
        let rows = [
            row("0.1.0", old_hash),
            row("0.2.0", "ffffffffffffffffffffffffffffffffffffffff"),
        ];
        let compare = |text: &str| compare_among(&rows, &document, text.as_bytes(), &[]);
        assert_eq!(compare(old), Comparison::Older { release: "0.1.0" });
        assert_eq!(
            compare(&format!("# Mine\n<!-- built-in: {old_hash} -->\n")),
            Comparison::Outdated {
                hash: old_hash.to_owned(),
                release: Some("0.1.0")
            }
        );
        assert_eq!(compare("# Mine\n<!-- built-in: fffffff -->\n"), Comparison::Compared);
    }

    #[test]
    fn names_that_nobody_reads_are_orphans() {
        let compare = |text: &str, installed: &[String]| compare(&name(text), b"x", installed);
        assert_eq!(
            compare("execute-taks", &[]),
            Comparison::Orphan {
                near: Some("execute-task")
            }
        );
        assert_eq!(compare("house-rules", &[]), Comparison::Orphan { near: None });
        assert_eq!(compare("house-rules", &["house-rules".to_owned()]), Comparison::Foreign);
        assert_eq!(compare("gate-wiring", &[]), Comparison::Foreign);
        assert_eq!(nearest("Execute_Task"), Some("execute-task"));
        assert_eq!(nearest(&"x".repeat(100_000)), None);
    }
}
