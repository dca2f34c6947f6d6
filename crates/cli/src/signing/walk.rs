//! The walk as a machine: what a person types in, what is shown and done out. It touches nothing (architecture §3).
//!
//! Nothing is written before the last answer, and only the word `sign` gives it. Every prompt can be left.

use std::collections::BTreeSet;

use orchestrate_core::words::count;
use orchestrate_spec::ChangelogEntry;
use orchestrate_spec::brief::RecordClass;

use super::changelog;
use super::pages::{self, Size};
use super::questions::Question;
use super::record::{Matter, Signing, refusal};
use super::sections::Section;
use super::subject::Purpose;

mod closing;

/// What a person does at a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// A line, without its end.
    Line(String),
    /// Ctrl-C, Ctrl-D, a terminal that hung up, a request to end.
    Gone,
}

/// What is done next.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "an effect that is not performed leaves the person waiting"]
pub(crate) enum Effect {
    /// Show a line.
    Show(String),
    /// Show this without a line end and wait for an input.
    Ask(String),
    /// Keep which sections were read.
    Keep(BTreeSet<String>),
    /// Throw away what was typed ahead: the next answer has to be to the next question.
    DropTyped,
    /// Write what was signed. The walk is over.
    Sign(Box<Signing>),
    /// Nothing was signed. The walk is over.
    Leave,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Start,
    Reading { section: usize, page: usize },
    Class,
    LensPass,
    Wording,
    Line(ChangelogEntry),
    Confirm(Box<Signing>, RecordClass),
    Over,
}

/// What is said of the place where it is signed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Surroundings {
    /// What a person should know before reading.
    pub(crate) remarks: Vec<String>,
    /// What happens after signing, in one line.
    pub(crate) afterwards: String,
}

/// One person's walk through one bundle.
#[derive(Debug)]
pub(crate) struct Walk {
    matter: Matter,
    sections: Vec<Section>,
    read: BTreeSet<String>,
    size: Size,
    surroundings: Surroundings,
    state: State,
}

impl Walk {
    /// Returns a walk through the sections; those with a key in `read` were read before.
    pub(crate) fn new(
        matter: Matter,
        sections: Vec<Section>,
        read: &BTreeSet<String>,
        size: Size,
        surroundings: Surroundings,
    ) -> Self {
        let keys: BTreeSet<String> = sections.iter().map(|section| section.key.clone()).collect();
        Self {
            read: keys.intersection(read).cloned().collect(),
            matter,
            sections,
            size,
            surroundings,
            state: State::Start,
        }
    }

    /// Begins: says what this is about.
    pub(crate) fn begin(&mut self) -> Vec<Effect> {
        let Matter {
            spec, title, purpose, ..
        } = &self.matter;
        let mut effects = vec![show(&format!("sign specs/{spec} · {title}")), show("")];
        let about = match purpose {
            Purpose::Whole { why, .. } => format!("You read the whole bundle: {why}."),
            Purpose::Delta(baseline) => {
                format!("You read what changed since it was signed last ({}).", baseline.commit)
            }
            Purpose::ReAnchor { why, .. } => format!(
                "Nothing that was signed has changed: {why}. What is missing is one record that says so, of the class expression-only, which cites a line of the changelog."
            ),
        };
        effects.extend(self.shown(&about));
        let nothing = "Nothing is written before the last question, and every question can be left: with q, Ctrl-C or Ctrl-D. What you have read is remembered.";
        effects.extend(self.shown(nothing));
        for remark in self.remarks() {
            effects.extend(self.shown(&format!("Remark: {remark}")));
        }
        effects.push(show(""));
        let all = count(self.sections.len(), "part");
        effects.extend(self.shown(&match self.read.len() {
            0 => format!("{all} to read."),
            1 => format!("1 of {all} was read before and is the same."),
            read => format!("{read} of {all} were read before and are the same."),
        }));
        effects.push(ask(self.start_question()));
        effects
    }

    fn remarks(&self) -> Vec<String> {
        let refusal = refusal(&self.matter);
        let refusal = refusal.map(|why| format!("it can be read, but not signed yet: {why}."));
        let lines = changelog::remarks(&self.matter);
        let surroundings = self.surroundings.remarks.iter().cloned();
        surroundings.chain(refusal).chain(lines).collect()
    }

    fn start_question(&self) -> Question {
        Question::Start {
            has_read: !self.read.is_empty(),
        }
    }

    fn page_question(&self, section: usize, page: usize) -> Question {
        Question::Page {
            has_more: page + 1 < self.pages(section).len(),
        }
    }

    fn class_question(&self) -> Question {
        Question::Class {
            is_first: self.is_first(),
        }
    }

    fn question(&self) -> Option<Question> {
        match &self.state {
            State::Start => Some(self.start_question()),
            State::Reading { section, page } => Some(self.page_question(*section, *page)),
            State::Class => Some(self.class_question()),
            State::LensPass => Some(Question::LensPass),
            State::Wording => Some(Question::Wording),
            State::Line(_) => Some(Question::Line),
            State::Confirm(..) => Some(Question::Confirm),
            State::Over => None,
        }
    }

    /// Takes what the person did, and returns what is done next.
    pub(crate) fn handle(&mut self, input: Input) -> Vec<Effect> {
        let line = match input {
            Input::Line(line) => line.trim().to_owned(),
            Input::Gone => return self.leave(),
        };
        match line.as_str() {
            "q" => return self.leave(),
            "?" => return self.help(),
            _ => {}
        }
        match self.state.clone() {
            State::Start => self.start(&line),
            State::Reading { section, page } => self.reading(&line, section, page),
            State::Class => self.class(&line),
            State::LensPass => self.words(RecordClass::Meaning, &line),
            State::Wording => self.words(RecordClass::ExpressionOnly, &line),
            State::Line(entry) => self.line(&line, entry),
            State::Confirm(signing, class) => self.confirm(&line, signing, class),
            State::Over => Vec::new(),
        }
    }

    fn leave(&mut self) -> Vec<Effect> {
        self.state = State::Over;
        vec![Effect::Leave]
    }

    /// Says what each answer to the question does, and asks it again.
    fn help(&self) -> Vec<Effect> {
        let Some(question) = self.question() else {
            return Vec::new();
        };
        let lines = question.help(self.size.width());
        lines.iter().map(|line| show(line)).chain([ask(question)]).collect()
    }

    /// Says which answers there are, and asks again.
    fn again(&self) -> Vec<Effect> {
        let Some(question) = self.question() else {
            return Vec::new();
        };
        let mut effects = self.shown(&question.expected());
        effects.push(ask(question));
        effects
    }

    fn start(&mut self, line: &str) -> Vec<Effect> {
        match line {
            "" => self.next_unread(0),
            "a" if !self.read.is_empty() => {
                self.read.clear();
                self.next_unread(0)
            }
            _ => self.again(),
        }
    }

    /// Shows the first section from `from` on that was not read; asks the questions when there is none.
    fn next_unread(&mut self, from: usize) -> Vec<Effect> {
        let unread = |section: &Section| !self.read.contains(&section.key);
        let later = self
            .sections
            .iter()
            .skip(from)
            .position(unread)
            .map(|index| from + index);
        let next = later.or_else(|| self.sections.iter().position(unread));
        match next {
            Some(section) => self.show_page(section, 0),
            None => self.ask_class(),
        }
    }

    fn pages(&self, section: usize) -> Vec<Vec<String>> {
        let text = self.sections.get(section).map(|section| section.text.as_str());
        let lines = pages::lines(text.unwrap_or_default(), self.size.width());
        let pages: Vec<Vec<String>> = lines.chunks(self.size.page()).map(<[String]>::to_vec).collect();
        if pages.is_empty() { vec![Vec::new()] } else { pages }
    }

    fn show_page(&mut self, section: usize, page: usize) -> Vec<Effect> {
        self.state = State::Reading { section, page };
        let pages = self.pages(section);
        let title = self.sections.get(section).map(|section| section.title.as_str());
        let part = format!(
            "[{}/{}] {}",
            section + 1,
            self.sections.len(),
            title.unwrap_or_default()
        );
        let heading = if pages.len() > 1 {
            format!("{part} — page {} of {}", page + 1, pages.len())
        } else {
            part
        };
        let mut effects = vec![show("")];
        effects.extend(self.shown(&heading));
        effects.push(show(""));
        effects.extend(pages.get(page).into_iter().flatten().map(|line| show(line)));
        effects.push(show(""));
        effects.push(ask(self.page_question(section, page)));
        effects
    }

    fn reading(&mut self, line: &str, section: usize, page: usize) -> Vec<Effect> {
        let pages = self.pages(section).len();
        match line {
            "" if page + 1 < pages => self.show_page(section, page + 1),
            "" => {
                let key = self.sections.get(section).map(|section| section.key.clone());
                self.read.extend(key);
                let mut effects = vec![Effect::Keep(self.read.clone())];
                effects.extend(self.next_unread(section + 1));
                effects
            }
            "b" if page > 0 => self.show_page(section, page - 1),
            "b" => self.show_page(section.saturating_sub(1), 0),
            _ => self.again(),
        }
    }

    fn shown(&self, text: &str) -> Vec<Effect> {
        pages::lines(text, self.size.width())
            .iter()
            .map(|line| show(line))
            .collect()
    }
}

fn show(line: &str) -> Effect {
    Effect::Show(line.to_owned())
}

fn ask(question: Question) -> Effect {
    Effect::Ask(question.prompt().to_owned())
}
