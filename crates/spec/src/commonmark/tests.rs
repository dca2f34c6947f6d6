//! Lines, headings and blocks as CommonMark sees them.

use super::blocks::Item;
use super::*;

fn readings(source: &str) -> Vec<Reading> {
    let text = crate::text::Document::new(source);
    let markdown = read(text.source);
    text.lines()
        .filter(|line| line.text.contains('X'))
        .map(|line| markdown.reading(&line))
        .collect()
}

#[test]
fn illustrations_are_inert() {
    for source in [
        "```\nX\n```\n",
        "~~~\nX\n~~~\n",
        "~~~~ text\nX\n~~~~~\n",
        "para\n\n    X\n",
        "<!--\nX\n-->\n",
        "<!-- X -->\n",
        "  ```\nX\n  ```\n",
        "> X\n",
        "- a\n  > X\n",
        "- a\n\n  ```\n  X\n  ```\n",
        "```\r\nX\r\n```\r\n",
        "<!--\r\nX\r\n-->\r\n",
    ] {
        assert_eq!(readings(source), [Reading::Inert], "{source:?}");
    }
}

/// Verifies REQ-B1.2.
#[test]
fn what_two_readers_read_differently_is_disputed() {
    for source in [
        "````\n```\nX\n```\n````\n",
        "~~~\nX\n",
        "~~~\nX\n~~~ more\ny\n~~~\n",
        "<!--\nX\n",
        "<!--\nX\n<!-- -->\n",
        "<!--\n## a\nX\n-->\n",
        "<div>\nX\n",
        "<pre>\nX\n</pre>\n",
        "``` a`b\nX\n```\n",
    ] {
        assert!(
            matches!(readings(source)[..], [Reading::Disputed(_)]),
            "{source:?} {:?}",
            readings(source)
        );
    }
}

#[test]
fn the_rest_is_live() {
    for source in [
        "X\n",
        "- X\n",
        "a\n    X\n",
        "`a\nX`\n",
        "- a\n  ```\n  b\n### X\n",
        "<!-- a -->\nX\n",
        "> a\nX\n",
        "a\n    > X\n",
    ] {
        assert_eq!(readings(source), [Reading::Live], "{source:?}");
    }
}

#[test]
fn headings_are_found_in_every_spelling() {
    let markdown = read("# a\n\nb\n===\n\n- ## c `d`\n\n> # e\n");
    let texts: Vec<&str> = markdown.headings.iter().map(|heading| heading.text.as_str()).collect();
    assert_eq!(texts, ["a", "b", "c d"]);
}

#[test]
fn outermost_blocks_have_the_bounds_that_are_rendered() {
    let items = |source: &str| -> Vec<(String, bool)> {
        let blocks = outer_blocks(source);
        let item = |item: &Item| (source[item.start..item.end].to_owned(), item.is_one_paragraph);
        blocks.items.iter().map(item).collect()
    };
    let is_one = [
        "- a",
        "- a\n  b",
        "- a\nlazy",
        "- a\n    b",
        "- a\n\tb",
        "- a\n ===",
        "- a\r\n  b",
        "- a\n  <b>",
    ];
    for source in is_one {
        assert_eq!(
            items(&format!("{source}\n\n# x\n")),
            [(source.to_owned(), true)],
            "{source:?}"
        );
    }
    let is_more = [
        "- a\n\n  b",
        "- a\n  - b",
        "- a\n  1. b",
        "- a\n  > b",
        "- a\n  ***",
        "- a\n  ===",
        "- a\n  # b",
        "- a\n  ```\n  b\n  ```",
        "- a\n  <!-- b -->",
    ];
    for source in is_more {
        assert_eq!(
            items(&format!("{source}\n\n# x\n")),
            [(source.to_owned(), false)],
            "{source:?}"
        );
    }
    for other in [" # b", " ***", " > b", " ```\nb\n```", " <!-- b -->"] {
        let source = format!("- a\n{other}\n");
        assert_eq!(items(&source), [("- a".to_owned(), true)], "{source:?}");
        assert_eq!(outer_blocks(&source).others, [5], "{source:?}");
    }
    let blocks = outer_blocks("a\n\n- b\n- c\n\n> d\n>\n> e\n");
    assert_eq!(blocks.others, [0, 12]);
    assert_eq!(blocks.item_at(3).map(|item| item.end), Some(6));
    assert_eq!(blocks.item_at(7).map(|item| item.is_one_paragraph), Some(true));
    assert_eq!(blocks.item_at(8), None);
}

#[test]
fn outer_items_begin_at_their_marker() {
    let source = " - a\n   - b\n\n* c\n";
    let markdown = read(source);
    let found: Vec<bool> = ["- a", "- b", "* c"]
        .map(|bullet| markdown.is_outer_item(source.find(bullet).expect("bullet")))
        .to_vec();
    assert_eq!(found, [true, false, true]);
}
