//! The reference page of the configuration, written from the tables.

use core::fmt::Write as _;

use crate::foreign;
use crate::keys::KEYS;

/// Returns the text of the reference page, in Markdown.
#[must_use]
pub fn reference_page() -> String {
    let mut page = String::from(LAYERS_IN_WORDS);
    page.push_str("\n## Keys\n\n");
    page.push_str(&reference_table());
    page.push_str(FOREIGN_IN_WORDS);
    for key in foreign::FOREIGN {
        // Writing to a string cannot fail.
        let _ = match key.default {
            Some(default) => writeln!(page, "| `{}` | `{default}` |", key.name),
            None => writeln!(page, "| `{}` | |", key.name),
        };
    }
    let families: Vec<String> = foreign::FOREIGN_PREFIXES
        .iter()
        .map(|prefix| format!("`{prefix}…`"))
        .collect();
    let _ = writeln!(page, "\nThe families {} are known as well.", families.join(", "));
    page
}

const LAYERS_IN_WORDS: &str = "\
`orchestrate config get KEY --explain` shows a key's value, where it comes from and what each layer says; \
`orchestrate config list` shows all of them; `orchestrate doctor` shows what is wrong with the files.

A value comes from the first layer that sets its key, even with an empty value:

| layer | file | whose |
|---|---|---|
| machine-local | `.claude/planwright.local.yml`, or the file that `PLANWRIGHT_LOCAL_CONFIG` names | one person in one checkout; not committed |
| repo-tracked | `.claude/planwright.yml` | everybody who clones the repository |
| adopter | `planwright.yml` in the adopter overlay: `PLANWRIGHT_ADOPTER_OVERLAY`, else `CLAUDE_PLUGIN_DATA/overlay`, else planwright's own | every repository on this machine |
| core | the built-in defaults, or the file that `PLANWRIGHT_CONFIG_DEFAULTS` names, or `config/defaults.yml` of an installed planwright | everybody |

## Lines

- Each line is `key: value`, blank, a comment, or `---`. A key starts its line. Lists and maps are written inline: `[a, b]`, `{a: b}`.
- A value ends at the first `#`, with or without a blank before it, even inside quotes. One pair of quotes around it is taken off.
- Of two lines with the same key the first counts.
- A line that is none of these stops every command when the repository's file holds it. In the other files it costs the \
key it stands under, with a warning that names the line (planwright skips such a file as a whole, and so does the plumbing).
- A key that nobody knows is named with a warning, and with the key that was likely meant.
";

const FOREIGN_IN_WORDS: &str = "
## Keys of planwright's that are not read

A file may set these; nothing here reads them, and nobody is warned. `orchestrate plumbing config-get` answers with \
planwright's default.

| key | default |
|---|---|
";

/// Returns the reference of all keys as a Markdown table, for the generated documentation.
#[must_use]
pub fn reference_table() -> String {
    let mut page =
        String::from("| key | default | values | set in | an illegal value | meaning |\n|---|---|---|---|---|---|\n");
    for key in KEYS {
        let default = if key.default.is_empty() {
            "(empty)".to_owned()
        } else {
            format!("`{}`", key.default)
        };
        let row = format_args!(
            "| `{}` | {default} | {} | {} | {} | {} |",
            key.name,
            key.kind.in_words(),
            key.layers.in_words(),
            key.illegal_value.in_words(),
            key.documentation
        );
        // Writing to a string cannot fail.
        let _ = writeln!(page, "{row}");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_has_one_row_per_key() {
        let table = reference_table();
        assert_eq!(table.lines().count(), KEYS.len() + 2);
        assert!(table.lines().all(|line| line.matches('|').count() == 7), "{table}");
        assert!(table.contains(
            "| `command_backend` | `[]` | inline list `[\"program\", \"argument\"]` | machine-local and adopter only |"
        ));
        assert!(table.contains("| `base_branch` | (empty) |"));
    }

    #[test]
    fn the_page_names_every_key_of_both_tables() {
        let page = reference_page();
        let ours = KEYS.iter().map(|key| key.name);
        for name in ours.chain(foreign::FOREIGN.iter().map(|key| key.name)) {
            assert!(page.contains(&format!("| `{name}` |")), "{name}");
        }
    }
}
