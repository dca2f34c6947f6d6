//! The walk as a machine: what a person types in, what is shown and done out. It touches nothing (architecture §3).
//!
//! Nothing is written before the last answer, and only the word `sign` gives it. Every prompt can be left.

use std::collections::BTreeSet;

use orchestrate_core::words::one_line;
use orchestrate_spec::brief::RecordClass;

use super::pages::{self, Size};
use super::record::{Choice, Matter, Signing, compose};
use super::sections::Section;
use super::subject::Purpose;

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
    Words(RecordClass),
    Confirm(Box<Signing>),
    Over,
}

/// One person's walk through one bundle.
#[derive(Debug)]
pub(crate) struct Walk {
    matter: Matter,
    sections: Vec<Section>,
    read: BTreeSet<String>,
    size: Size,
    /// What happens after signing, in one line.
    afterwards: String,
    state: State,
}

const LEAVE: &str = "q leaves";

impl Walk {
    /// Returns a walk through the sections; those with a key in `read` were read before.
    pub(crate) fn new(
        matter: Matter,
        sections: Vec<Section>,
        read: &BTreeSet<String>,
        size: Size,
        afterwards: String,
    ) -> Self {
        let keys: BTreeSet<String> = sections.iter().map(|section| section.key.clone()).collect();
        Self {
            read: keys.intersection(read).cloned().collect(),
            matter,
            sections,
            size,
            afterwards,
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
        effects.push(show(""));
        let count = |count: usize| {
            if count == 1 {
                "1 part".to_owned()
            } else {
                format!("{count} parts")
            }
        };
        let all = count(self.sections.len());
        effects.extend(self.shown(&match self.read.len() {
            0 => format!("{all} to read."),
            read => format!("{read} of {all} were read before and are the same."),
        }));
        effects.push(Effect::Ask(self.start_prompt()));
        effects
    }

    fn start_prompt(&self) -> String {
        if self.read.is_empty() {
            format!("[Enter] begins, {LEAVE}: ")
        } else {
            format!("[Enter] goes on, a shows all again, {LEAVE}: ")
        }
    }

    /// Takes what the person did, and returns what is done next.
    pub(crate) fn handle(&mut self, input: Input) -> Vec<Effect> {
        let line = match input {
            Input::Line(line) => line.trim().to_owned(),
            Input::Gone => return self.leave(),
        };
        if line == "q" {
            return self.leave();
        }
        match self.state.clone() {
            State::Start => self.start(&line),
            State::Reading { section, page } => self.reading(&line, section, page),
            State::Class => self.class(&line),
            State::Words(class) => self.words(class, &line),
            State::Confirm(signing) => self.confirm(&line, signing),
            State::Over => Vec::new(),
        }
    }

    fn leave(&mut self) -> Vec<Effect> {
        self.state = State::Over;
        vec![Effect::Leave]
    }

    fn start(&mut self, line: &str) -> Vec<Effect> {
        match line {
            "" => self.next_unread(0),
            "a" if !self.read.is_empty() => {
                self.read.clear();
                self.next_unread(0)
            }
            _ => vec![Effect::Ask(self.start_prompt())],
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
        effects.push(Effect::Ask(reading_prompt(page + 1 < pages.len())));
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
            _ => vec![Effect::Ask(reading_prompt(page + 1 < pages))],
        }
    }

    fn ask_class(&mut self) -> Vec<Effect> {
        let mut effects = vec![show("")];
        match &self.matter.purpose {
            Purpose::ReAnchor { .. } => {
                let choice = Choice {
                    class: RecordClass::ExpressionOnly,
                    words: String::new(),
                };
                effects.extend(self.ask_to_confirm(&choice));
                return effects;
            }
            Purpose::Whole { first: true, .. } => effects.extend(self.shown(
                "Class of this record: the first one is of class meaning, since it says what the bundle means.",
            )),
            Purpose::Whole { first: false, .. } | Purpose::Delta(_) => effects.extend(self.shown(
                "Class of this record: meaning, if anything now means something else than what was signed; expression-only, if only the wording did change.",
            )),
        }
        self.state = State::Class;
        effects.push(Effect::Ask(self.class_prompt()));
        effects
    }

    fn is_first(&self) -> bool {
        matches!(&self.matter.purpose, Purpose::Whole { first: true, .. })
    }

    fn class_prompt(&self) -> String {
        if self.is_first() {
            format!("class [Enter: meaning], b goes back, {LEAVE}: ")
        } else {
            format!("class (meaning or expression-only), b goes back, {LEAVE}: ")
        }
    }

    fn class(&mut self, line: &str) -> Vec<Effect> {
        match line {
            "b" => self.show_page(self.sections.len().saturating_sub(1), 0),
            "meaning" => self.ask_words(RecordClass::Meaning),
            "" if self.is_first() => self.ask_words(RecordClass::Meaning),
            "expression-only" if self.is_first() => {
                let mut effects = self.shown("There is no earlier record whose meaning could be the same.");
                effects.push(Effect::Ask(self.class_prompt()));
                effects
            }
            "expression-only" => self.ask_words(RecordClass::ExpressionOnly),
            _ => vec![Effect::Ask(self.class_prompt())],
        }
    }

    fn ask_words(&mut self, class: RecordClass) -> Vec<Effect> {
        self.state = State::Words(class);
        let mut effects = vec![show("")];
        effects.extend(self.shown(match class {
            RecordClass::Meaning => {
                "Lens pass: who looked at the bundle, from which sides, and where that is recorded. One line."
            }
            RecordClass::ExpressionOnly => "What changed in the wording? One line, for the changelog.",
        }));
        effects.push(Effect::Ask(words_prompt(class)));
        effects
    }

    fn words(&mut self, class: RecordClass, line: &str) -> Vec<Effect> {
        if line == "b" {
            return self.ask_class();
        }
        let words = one_line(line);
        if words.is_empty() {
            return vec![Effect::Ask(words_prompt(class))];
        }
        self.ask_to_confirm(&Choice { class, words })
    }

    fn ask_to_confirm(&mut self, choice: &Choice) -> Vec<Effect> {
        let signing = match compose(&self.matter, choice) {
            Ok(signing) => signing,
            Err(why) => {
                let mut effects = self.shown(&format!("This cannot be signed: {why}."));
                effects.extend(self.leave());
                return effects;
            }
        };
        let mut effects = vec![show(""), show("This is what will be written:"), show("")];
        for told in &signing.told {
            effects.extend(self.shown(&format!("- {told}")));
        }
        effects.push(show(""));
        let width = self.size.width().saturating_sub(2);
        effects.extend(
            pages::lines(&signing.record, width)
                .iter()
                .map(|line| show(format!("  {line}").trim_end())),
        );
        effects.push(show(""));
        effects.extend(self.shown(&self.afterwards));
        effects.push(Effect::DropTyped);
        effects.push(Effect::Ask(CONFIRM.to_owned()));
        self.state = State::Confirm(Box::new(signing));
        effects
    }

    fn confirm(&mut self, line: &str, signing: Box<Signing>) -> Vec<Effect> {
        if line == "sign" {
            self.state = State::Over;
            return vec![Effect::Sign(signing)];
        }
        if line == "b" {
            return match &self.matter.purpose {
                Purpose::ReAnchor { .. } => self.show_page(self.sections.len().saturating_sub(1), 0),
                Purpose::Whole { .. } | Purpose::Delta(_) => self.ask_class(),
            };
        }
        vec![Effect::Ask(CONFIRM.to_owned())]
    }

    fn shown(&self, text: &str) -> Vec<Effect> {
        pages::lines(text, self.size.width())
            .iter()
            .map(|line| show(line))
            .collect()
    }
}

const CONFIRM: &str = "type the word sign to sign it, b goes back, q leaves: ";

fn show(line: &str) -> Effect {
    Effect::Show(line.to_owned())
}

fn reading_prompt(has_more: bool) -> String {
    let enter = if has_more { "more" } else { "read, next" };
    format!("[Enter] {enter}, b goes back, {LEAVE}: ")
}

fn words_prompt(class: RecordClass) -> String {
    let what = match class {
        RecordClass::Meaning => "lens pass",
        RecordClass::ExpressionOnly => "what changed",
    };
    format!("{what} (b goes back, {LEAVE}): ")
}
