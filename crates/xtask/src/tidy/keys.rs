//! The key table of the configuration is the only one: no key beside it, and none in it that nobody reads.

use orchestrate_config::KEYS;

use super::Finding;
use super::tree::Tree;
use crate::rust_text::Token;

/// Where the table stands.
const TABLE: &str = "crates/config/src/keys.rs";

/// Functions of the settings that read several of them for their caller.
const READERS: &[(&str, &[&str])] = &[(
    "dispatch_backend_for",
    &["dispatch_backend", "dispatch_backend_per_spec"],
)];

/// Finds keys outside the table, and keys of the table whose setting no code outside the configuration reads.
pub(super) fn one_table(tree: &Tree) -> Vec<Finding> {
    let names: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
    look(tree, &names)
}

fn look(tree: &Tree, names: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut unread: Vec<&str> = names.to_vec();
    for (path, tokens) in tree.product() {
        if path == TABLE {
            findings.extend(undocumented(&tokens, names));
            continue;
        }
        let sees_keys =
            path.starts_with("crates/config/") || tokens.iter().any(|token| token.is_word("orchestrate_config"));
        for window in tokens.windows(3).filter(|_| sees_keys) {
            let [before, first, second] = window else { continue };
            let is_literal = first.is_word("Key") && second.is_mark('{');
            let is_type = ["struct", "for", "impl"].iter().any(|word| before.is_word(word)) || before.is_mark('>');
            if is_literal && !is_type {
                findings.push(Finding::new(
                    path,
                    first.line,
                    "a key of the configuration outside the key table",
                ));
            }
        }
        if !path.starts_with("crates/config/") {
            let is_read = |field: &str| {
                let mut pairs = tokens.windows(2);
                pairs.any(|pair| matches!(pair, [dot, word] if dot.is_mark('.') && word.is_word(field)))
            };
            let through = |name: &str| {
                let mut readers = READERS.iter();
                readers.any(|(reader, read)| read.contains(&name) && is_read(reader))
            };
            let reads = |name: &&str| is_read(field_of(name)) || through(name);
            unread.retain(|name| !reads(name));
        }
    }
    for name in unread {
        let line = line_of(tree, name);
        findings.push(Finding::new(TABLE, line, format!("nobody reads the setting of {name}")));
    }
    findings
}

/// Returns the name of a key's field among the settings: a unit that the type has is left off.
fn field_of(name: &str) -> &str {
    name.strip_suffix("_seconds").unwrap_or(name)
}

/// Finds keys that are written down beside the table, and so in no document.
fn undocumented(tokens: &[&Token], names: &[&str]) -> Vec<Finding> {
    let named = tokens.windows(3).filter_map(|window| {
        let [name, colon, value] = window else { return None };
        let text = value.text()?;
        (name.is_word("name") && colon.is_mark(':')).then_some((value.line, text))
    });
    named
        .filter(|(_, text)| !names.contains(text))
        .map(|(line, text)| Finding::new(TABLE, line, format!("{text} is not in KEYS, so no document names it")))
        .collect()
}

fn line_of(tree: &Tree, name: &str) -> usize {
    let wanted = format!("name: \"{name}\"");
    let text = tree.files.get(TABLE).map(|file| file.text.as_str()).unwrap_or_default();
    let index = text.lines().position(|line| line.contains(&wanted));
    index.map_or(0, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let findings = look(&Tree::sample(files), &["base_branch", "watch_interval_seconds"]);
        findings.iter().map(Finding::render).collect()
    }

    const KEYS_FILE: &str = "//! x\npub const A: Key = Key {\n    name: \"base_branch\",\n};\npub const B: Key = Key {\n    name: \"watch_interval_seconds\",\n};\n";
    const READER: &str = "//! x\nfn f() { g(settings.base_branch.value, settings.watch_interval.value); }\n";

    #[test]
    fn a_table_that_is_read_is_good() {
        assert_eq!(found(&[(TABLE, KEYS_FILE), ("crates/cli/src/a.rs", READER)]), [""; 0]);
    }

    #[test]
    fn a_key_may_be_read_through_a_function_of_the_settings() {
        let reader = "//! x\nfn f() { settings.dispatch_backend_for(spec) }\n";
        let tree = Tree::sample(&[("crates/tower/src/a.rs", reader)]);
        assert_eq!(look(&tree, &["dispatch_backend", "dispatch_backend_per_spec"]), []);
    }

    #[test]
    fn a_key_that_nobody_reads_is_named_with_its_line() {
        let in_config = [(TABLE, KEYS_FILE), ("crates/config/src/settings.rs", READER)];
        assert_eq!(
            found(&in_config),
            [
                "crates/config/src/keys.rs:3: nobody reads the setting of base_branch",
                "crates/config/src/keys.rs:6: nobody reads the setting of watch_interval_seconds",
            ]
        );
    }

    #[test]
    fn a_key_beside_the_table_is_found() {
        let more = KEYS_FILE.replace("\"base_branch\"", "\"base_brunch\"");
        let elsewhere =
            "//! x\nuse orchestrate_config::Key;\nimpl Key {}\nfn f() -> Key { read(&Key { name: \"other\" }) }\n";
        // Another crate may have keys of its own.
        let unrelated = "//! x\nfn f() -> Key { Key { name: 1 } }\n";
        let files = [
            ("crates/spec/src/c.rs", unrelated),
            (TABLE, more.as_str()),
            ("crates/cli/src/a.rs", READER),
            ("crates/tower/src/b.rs", elsewhere),
        ];
        assert_eq!(
            found(&files),
            [
                "crates/config/src/keys.rs:3: base_brunch is not in KEYS, so no document names it",
                "crates/tower/src/b.rs:4: a key of the configuration outside the key table",
            ]
        );
    }
}
