//! Links between the documents: the file exists, and so does the heading.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::Finding;
use super::tree::Tree;

/// Finds relative links in `README.md` and `docs/` that lead nowhere.
pub(super) fn links(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, file) in tree.files.iter().filter(|(path, _)| is_document(path)) {
        for (target, line) in relative_links(&file.text) {
            if let Some(what) = broken(tree, path, &target) {
                findings.push(Finding::new(path, line, what));
            }
        }
    }
    findings
}

fn is_document(path: &str) -> bool {
    path.ends_with(".md") && (path == "README.md" || path.starts_with("docs/"))
}

/// Returns the targets of links and pictures that are neither absolute nor another protocol, each with its line.
fn relative_links(text: &str) -> Vec<(String, usize)> {
    let mut links = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event {
            let scheme = dest_url
                .split_once(':')
                .is_some_and(|(scheme, _)| !scheme.contains(['/', '#', '.']));
            if !scheme && !dest_url.is_empty() {
                links.push((dest_url.into_string(), text[..range.start].matches('\n').count() + 1));
            }
        }
    }
    links
}

fn broken(tree: &Tree, from: &str, target: &str) -> Option<String> {
    let (file, heading) = target.split_once('#').unwrap_or((target, ""));
    let Some(path) = resolve(from, file) else {
        return Some(format!("{target}: leaves the repository"));
    };
    let is_folder = || path.is_empty() || tree.files.keys().any(|other| other.starts_with(&format!("{path}/")));
    let Some(found) = tree.files.get(&path) else {
        return (!is_folder()).then(|| format!("{target}: there is no {path}"));
    };
    let has_heading = heading.is_empty() || !path.ends_with(".md") || slugs(&found.text).contains(heading);
    (!has_heading).then(|| format!("{target}: {path} has no heading #{heading}"))
}

/// Returns the path that a link in `from` leads to, below the root; nothing when it leaves the repository.
fn resolve(from: &str, target: &str) -> Option<String> {
    if target.is_empty() {
        return Some(from.to_owned());
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    if target.starts_with('/') {
        parts.clear();
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Returns the names under which forges link the headings: lower case, blanks as hyphens, other marks gone.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the events are another crate's, and only these matter"
)]
fn slugs(text: &str) -> BTreeSet<String> {
    let mut slugs = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&part);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let base = slug(&heading.take().unwrap_or_default());
                let repeats = (1..).map(|count| format!("{base}-{count}"));
                let free = std::iter::once(base.clone())
                    .chain(repeats)
                    .find(|name| !slugs.contains(name));
                slugs.extend(free);
            }
            _ => {}
        }
    }
    slugs
}

fn slug(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter })
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(link: &str) -> usize {
        let page = format!("# Page\n\n[x]({link})\n");
        links(&Tree::sample(&[
            ("docs/guide/page.md", &page),
            ("docs/other.md", "# Exit codes: `all`\n\n## Same\n\n## Same\n"),
            ("LICENSE", ""),
        ]))
        .len()
    }

    #[test]
    fn links_that_resolve() {
        for link in [
            "../other.md",
            "../other.md#exit-codes-all",
            "../other.md#same-1",
            "#page",
            "../../LICENSE",
            "/docs/other.md",
            "../",
            "https://example.com/x",
            "mailto:a@example.com",
        ] {
            assert_eq!(findings(link), 0, "{link}");
        }
    }

    /// Verifies REQ-F2.2.
    #[test]
    fn links_that_do_not() {
        for link in ["other.md", "../other.md#gone", "#gone", "../../../x.md", "../missing/"] {
            assert_eq!(findings(link), 1, "{link}");
        }
    }

    #[test]
    fn a_link_inside_code_is_no_link_and_lines_are_counted() {
        let page = "text\n\n```\n[x](gone.md)\n```\n\n[y](gone.md)\n";
        let found = links(&Tree::sample(&[("README.md", page)]));
        assert_eq!(found, [Finding::new("README.md", 7, "gone.md: there is no gone.md")]);
    }
}
