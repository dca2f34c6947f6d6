//! What CommonMark makes of a file: which lines are illustration, which are headings, where code spans lie.
//!
//! The line rules of the format decide what a task is; this only says where people would see something else rendered.

mod blocks;

use core::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

pub(crate) use blocks::{Blocks, outer_blocks};

use crate::text::Line;

/// How a reader of the rendered file sees a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Surrounding {
    Plain,
    /// In a code block or comment that begins and ends where one expects it.
    Illustration,
    /// In a block of which a person would not be sure.
    Unclear(&'static str),
}

/// What a line is, with both readings taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// It counts.
    Live,
    /// It is an illustration.
    Inert,
    /// The two readings differ; the text says how.
    Disputed(&'static str),
}

/// A heading outside a quote, in any of CommonMark's spellings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    pub(crate) start: usize,
    pub(crate) text: String,
}

/// The rendered text with which a bullet, or a text in bold, begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lead {
    /// Where the text begins, or the bold.
    pub(crate) start: usize,
    /// Cut where no label goes on, but whole as far as the bold reaches.
    pub(crate) text: String,
    pub(crate) begins_item: bool,
    pub(crate) is_bold: bool,
}

/// The marker of a bullet or numbered item outside a quote.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Marker {
    start: usize,
    /// Its item is in no other item.
    is_outer: bool,
}

/// CommonMark's view of one file. All offsets are into [`crate::text::Text::source`].
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    blocks: Vec<(Range<usize>, Surrounding)>,
    code_spans: Vec<Range<usize>>,
    pub(crate) headings: Vec<Heading>,
    quotes: Vec<Range<usize>>,
    markers: Vec<Marker>,
    leads: Vec<Lead>,
}

/// No label is longer, however it is spelled.
const LONGEST_LEAD: usize = 60;

/// Collects the leads.
#[derive(Default)]
struct LeadReader {
    open: Option<Lead>,
    /// An item began, and no text of it was seen.
    is_fresh: bool,
    leads: Vec<Lead>,
}

impl LeadReader {
    fn end(&mut self) {
        self.leads.extend(self.open.take());
    }

    fn item(&mut self) {
        self.end();
        self.is_fresh = true;
    }

    fn bold(&mut self, start: usize) {
        let begins_item = match self.open.take_if(|open| open.text.is_empty()) {
            Some(empty) => empty.begins_item,
            None => self.is_fresh,
        };
        self.end();
        self.is_fresh = false;
        self.open = Some(Lead {
            start,
            text: String::new(),
            begins_item,
            is_bold: true,
        });
    }

    fn text(&mut self, start: usize, text: &str) {
        if self.is_fresh {
            self.is_fresh = false;
            self.open = Some(Lead {
                start,
                text: String::new(),
                begins_item: true,
                is_bold: false,
            });
        }
        if let Some(open) = &mut self.open {
            open.text.extend(text.chars().take(LONGEST_LEAD));
            if open.text.len() >= LONGEST_LEAD {
                self.end();
            }
        }
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the events of a foreign crate; the others change no task, dependency or section"
)]
pub(crate) fn read(source: &str) -> Markdown {
    let mut markdown = Markdown::default();
    let mut quotes = 0_u32;
    let mut lists = 0_u32;
    let mut heading: Option<Heading> = None;
    let mut leads = LeadReader::default();
    for (event, range) in Parser::new_ext(source, Options::empty()).into_offset_iter() {
        match event {
            Event::Start(Tag::BlockQuote(_)) => {
                if quotes == 0 {
                    markdown.quotes.push(range);
                }
                quotes += 1;
            }
            Event::End(TagEnd::BlockQuote(_)) => quotes -= 1,
            Event::Start(Tag::List(_)) => lists += 1,
            Event::End(TagEnd::List(_)) => lists -= 1,
            Event::Start(Tag::Item) if quotes == 0 => {
                let indentation =
                    source[range.start..].len() - source[range.start..].trim_start_matches([' ', '\t']).len();
                markdown.markers.push(Marker {
                    start: range.start + indentation,
                    is_outer: lists == 1,
                });
                leads.item();
            }
            Event::Start(Tag::Strong) if quotes == 0 => leads.bold(range.start),
            Event::End(TagEnd::Item | TagEnd::Paragraph) => leads.end(),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                let surrounding = fenced_block(&source[range.clone()]);
                markdown.blocks.push((range, surrounding));
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => {
                markdown.blocks.push((range, Surrounding::Illustration));
            }
            Event::Start(Tag::HtmlBlock) => {
                let surrounding = html_block(&source[range.clone()]);
                markdown.blocks.push((range, surrounding));
            }
            Event::Start(Tag::Heading { .. }) if quotes == 0 => {
                heading = Some(Heading {
                    start: range.start,
                    text: String::new(),
                });
            }
            Event::End(TagEnd::Heading(_)) => markdown.headings.extend(heading.take()),
            Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.text.push_str(&text);
                }
                leads.text(range.start, &text);
                markdown.code_spans.push(range);
            }
            Event::Text(text) => {
                if let Some(heading) = &mut heading {
                    heading.text.push_str(&text);
                }
                if quotes == 0 {
                    leads.text(range.start, &text);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(heading) = &mut heading {
                    heading.text.push(' ');
                }
                leads.text(range.start, " ");
            }
            _ => {}
        }
    }
    leads.end();
    markdown.leads = leads.leads;
    markdown
}

impl Markdown {
    /// Returns what the line is by both readings.
    pub(crate) fn reading(&self, line: &Line<'_>) -> Reading {
        let start = line.first_visible();
        let is_quoted = line.text[start - line.start..].starts_with('>') && contains(&self.quotes, start);
        match (line.fenced, self.surrounding(start)) {
            (false, Surrounding::Plain) if is_quoted => Reading::Inert,
            (false, Surrounding::Plain) => Reading::Live,
            (_, Surrounding::Illustration) | (true, Surrounding::Unclear(_)) => Reading::Inert,
            (true, Surrounding::Plain) => {
                Reading::Disputed("by the format's rule it is in a code fence, rendered it is not")
            }
            (false, Surrounding::Unclear(why)) => Reading::Disputed(why),
        }
    }

    fn surrounding(&self, offset: usize) -> Surrounding {
        let next = self.blocks.partition_point(|(range, _)| range.end <= offset);
        match self.blocks.get(next) {
            Some((range, surrounding)) if range.start <= offset => *surrounding,
            Some(_) | None => Surrounding::Plain,
        }
    }

    /// Returns whether the offset lies in a code span.
    pub(crate) fn in_code_span(&self, offset: usize) -> bool {
        contains(&self.code_spans, offset)
    }

    /// Returns whether a bullet, or a numbered item, begins at the offset.
    pub(crate) fn is_item(&self, offset: usize) -> bool {
        self.marker(offset).is_some()
    }

    /// Returns whether a bullet of an outermost list begins at the offset.
    pub(crate) fn is_outer_item(&self, offset: usize) -> bool {
        self.marker(offset).is_some_and(|marker| marker.is_outer)
    }

    fn marker(&self, offset: usize) -> Option<&Marker> {
        let position = self.markers.binary_search_by_key(&offset, |marker| marker.start).ok()?;
        self.markers.get(position)
    }

    /// Returns what bullets and bold texts that begin in the line are rendered as.
    pub(crate) fn leads(&self, line: &Line<'_>) -> impl Iterator<Item = &Lead> {
        let end = line.start + line.text.len();
        let first = self.leads.partition_point(|lead| lead.start < line.start);
        self.leads.iter().skip(first).take_while(move |lead| lead.start < end)
    }
}

/// Returns whether one of the ranges, which are in order and apart, holds the offset.
fn contains(ranges: &[Range<usize>], offset: usize) -> bool {
    let next = ranges.partition_point(|range| range.end <= offset);
    ranges.get(next).is_some_and(|range| range.start <= offset)
}

/// Judges a fenced block: illustration only when it is closed, and no line inside could be the fence of a further
/// block, because then a lost closing fence has swallowed what lies between.
fn fenced_block(block: &str) -> Surrounding {
    let mut lines = block.lines().map(|line| line.trim_matches([' ', '\t', '>']));
    let opening = lines.next().unwrap_or_default();
    let mark = if opening.starts_with('~') { '~' } else { '`' };
    let run = |line: &str| line.len() - line.trim_start_matches(mark).len();
    let mut inside: Vec<&str> = lines.collect();
    match inside.pop() {
        Some(last) if run(last) >= run(opening) && run(last) == last.len() => {
            if inside.iter().any(|line| run(line) >= 3) {
                Surrounding::Unclear("it is in a code block that holds a further code fence")
            } else {
                Surrounding::Illustration
            }
        }
        Some(_) | None => Surrounding::Unclear("it is in a code block that is never closed"),
    }
}

/// Judges a block of HTML: illustration only when it is one closed comment that has swallowed no other and no section.
fn html_block(block: &str) -> Surrounding {
    let Some(comment) = block.trim_start().strip_prefix("<!--") else {
        return Surrounding::Unclear("it is in a block of HTML");
    };
    let Some((comment, _)) = comment.split_once("-->") else {
        return Surrounding::Unclear("it is in a comment that is never closed");
    };
    if comment.contains("<!--") || comment.lines().any(|line| line.starts_with("## ")) {
        Surrounding::Unclear("it is in a comment that holds a further comment or a section")
    } else {
        Surrounding::Illustration
    }
}

#[cfg(test)]
mod tests;
