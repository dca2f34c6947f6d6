//! Reference bullets: how a person, or a halt, takes a task out of selection (`contract/core.md §1.8`).

use orchestrate_core::graph::ParkingPlace;
use orchestrate_core::identifier::TaskId;

use crate::commonmark::Markdown;
use crate::lookalike::without_list_marker;
use crate::text::Line;

/// A bullet that parks a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceBullet {
    /// The task.
    pub task: TaskId,
    /// The section that holds the bullet.
    pub place: ParkingPlace,
    /// The text of the bullet's first line after the bold id, tabs as blanks; usually it starts with an em dash.
    pub note: String,
    /// The line of the bullet in `tasks.md`.
    pub line: u32,
}

/// What a bullet is to the parked tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Bullet<'a> {
    Prose,
    Reference {
        task: TaskId,
        note: String,
    },
    /// It names a task, but not by an id.
    Rejected(&'a str),
}

/// Returns what a line in column 0 is to the parked tasks.
pub(crate) fn bullet(line: &str) -> Bullet<'_> {
    let Some((token, rest)) = line.strip_prefix("- **Task ").and_then(|rest| rest.split_once("**")) else {
        return Bullet::Prose;
    };
    let is_blank = |character: char| character == ' ' || character == '\t';
    if token.contains(is_blank) {
        let is_near_miss = TaskId::parse(token.trim_matches(is_blank)).is_ok()
            || token
                .chars()
                .all(|character| character.is_ascii_digit() || character == '.' || is_blank(character));
        return if is_near_miss {
            Bullet::Rejected(token)
        } else {
            Bullet::Prose
        };
    }
    match TaskId::parse(token) {
        Ok(task) => Bullet::Reference {
            task,
            note: rest.trim_start_matches(is_blank).replace('\t', " "),
        },
        Err(_) => Bullet::Rejected(token),
    }
}

/// Returns whether a line, rendered, is a bullet that parks a task, while the format passes it over: indented by up to
/// three blanks, or with another marker.
pub(crate) fn resembles_reference(line: &Line<'_>, markdown: &Markdown) -> bool {
    let body = line.text.trim_start_matches([' ', '\t']);
    let Some(text) = without_list_marker(body) else {
        return false;
    };
    let token = text.strip_prefix("**Task ").and_then(|rest| rest.split_once("**"));
    token.is_some_and(|(token, _)| TaskId::parse(token).is_ok()) && markdown.is_outer_item(line.first_visible())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bullets_of_the_contract() {
        let id = |text: &str| TaskId::parse(text).expect("id");
        let cases = [
            (
                "- **Task 1** — q\tr",
                Bullet::Reference {
                    task: id("1"),
                    note: "— q r".to_owned(),
                },
            ),
            (
                "- **Task 2.5**",
                Bullet::Reference {
                    task: id("2.5"),
                    note: String::new(),
                },
            ),
            ("- **Task 5. ** x", Bullet::Rejected("5. ")),
            ("- **Task 1 2** x", Bullet::Rejected("1 2")),
            ("- **Task six** x", Bullet::Rejected("six")),
            ("- **Task ** x", Bullet::Rejected("")),
            ("- **Task 4.** x", Bullet::Rejected("4.")),
            ("- **Task force red.** x", Bullet::Prose),
            ("- **Task 7 unterminated", Bullet::Prose),
            (" - **Task 7** x", Bullet::Prose),
        ];
        for (line, expected) in cases {
            assert_eq!(bullet(line), expected, "{line}");
        }
    }
}
