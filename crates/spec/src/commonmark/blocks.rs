//! The outermost blocks of a file, for whoever removes whole ones.

use pulldown_cmark::{Event, Options, Parser, Tag};

/// A bullet of an outermost list, as it is rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Item {
    /// Where its marker stands.
    pub(crate) start: usize,
    /// The offset behind its last character that is no blank.
    pub(crate) end: usize,
    /// It holds nothing but one paragraph.
    pub(crate) is_one_paragraph: bool,
}

/// The outermost blocks of a file, in order: the bullets of outermost lists, and what is no list. Offsets are into the
/// source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Blocks {
    pub(crate) items: Vec<Item>,
    /// Where the others begin.
    pub(crate) others: Vec<usize>,
}

impl Blocks {
    /// Returns the outermost bullet whose marker stands at the offset.
    pub(crate) fn item_at(&self, offset: usize) -> Option<Item> {
        let found = self.items.binary_search_by_key(&offset, |item| item.start);
        found.ok().and_then(|index| self.items.get(index)).copied()
    }
}

/// Returns the outermost blocks of a file.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the events of a foreign crate; what lies in a block and is no block changes no bounds"
)]
pub(crate) fn outer_blocks(source: &str) -> Blocks {
    let mut blocks = Blocks::default();
    let mut depth = 0_u32;
    let mut paragraphs = 0_u32;
    let visible = |start: usize| {
        let text = &source[start..];
        start + text.len() - text.trim_start_matches([' ', '\t']).len()
    };
    for (event, range) in Parser::new_ext(source, Options::empty()).into_offset_iter() {
        match &event {
            Event::Start(Tag::List(_)) if depth == 0 => {}
            Event::Start(Tag::Item) if depth == 1 => {
                paragraphs = 0;
                blocks.items.push(Item {
                    start: visible(range.start),
                    end: range.start + source[range].trim_end().len(),
                    is_one_paragraph: true,
                });
            }
            Event::Start(_) | Event::Rule if depth == 0 => blocks.others.push(visible(range.start)),
            Event::Start(Tag::Paragraph) if depth == 2 && paragraphs == 0 => paragraphs = 1,
            Event::Start(
                Tag::Paragraph
                | Tag::Heading { .. }
                | Tag::BlockQuote(_)
                | Tag::CodeBlock(_)
                | Tag::HtmlBlock
                | Tag::List(_),
            )
            | Event::Rule => {
                let holder = blocks.items.last_mut();
                if let Some(item) = holder.filter(|item| range.start < item.end) {
                    item.is_one_paragraph = false;
                }
            }
            _ => {}
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
    }
    blocks
}
