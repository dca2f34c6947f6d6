//! What is asked when everything was read: the class of the record, its words, and the last word.

use orchestrate_core::words::one_line;
use orchestrate_spec::ChangelogEntry;
use orchestrate_spec::brief::RecordClass;

use super::{Effect, State, Walk, ask, show};
use crate::signing::questions::Question;
use crate::signing::record::{Choice, Signing, compose, refusal};
use crate::signing::subject::Purpose;
use crate::signing::{changelog, pages};

impl Walk {
    pub(super) fn ask_class(&mut self) -> Vec<Effect> {
        let mut effects = vec![show("")];
        if let Some(why) = refusal(&self.matter) {
            effects.extend(self.shown(&format!(
                "It cannot be signed yet: {why}. The part \"findings\" has their lines."
            )));
            effects.extend(self.leave());
            return effects;
        }
        match &self.matter.purpose {
            Purpose::ReAnchor { .. } => {
                let choice = Choice {
                    class: RecordClass::ExpressionOnly,
                    words: String::new(),
                    cites: None,
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
        effects.push(ask(self.class_question()));
        effects
    }

    pub(super) fn is_first(&self) -> bool {
        matches!(&self.matter.purpose, Purpose::Whole { first: true, .. })
    }

    pub(super) fn class(&mut self, line: &str) -> Vec<Effect> {
        match line {
            "b" => self.show_page(self.sections.len().saturating_sub(1), 0),
            "meaning" => self.ask_words(RecordClass::Meaning),
            "" if self.is_first() => self.ask_words(RecordClass::Meaning),
            "expression-only" if self.is_first() => {
                let mut effects = self.shown("There is no earlier record whose meaning could be the same.");
                effects.push(ask(self.class_question()));
                effects
            }
            "expression-only" => self.ask_words(RecordClass::ExpressionOnly),
            _ => self.again(),
        }
    }

    fn ask_words(&mut self, class: RecordClass) -> Vec<Effect> {
        let mut effects = vec![show("")];
        match (class, changelog::offered(&self.matter)) {
            (RecordClass::Meaning, _) => {
                effects.extend(self.shown(
                    "Lens pass: who looked at the bundle, from which sides, and where that is recorded. One line.",
                ));
                self.state = State::LensPass;
                effects.push(ask(Question::LensPass));
            }
            (RecordClass::ExpressionOnly, None) => {
                effects.extend(self.shown("What changed in the wording? One line, for the changelog."));
                self.state = State::Wording;
                effects.push(ask(Question::Wording));
            }
            (RecordClass::ExpressionOnly, Some(entry)) => {
                effects.extend(self.shown("The changelog has a line that came since the last record:"));
                effects.extend(self.shown(&format!("- {} — {}", entry.date, changelog::words(&entry))));
                for remark in changelog::remarks(&self.matter) {
                    effects.extend(self.shown(&format!("Remark: {remark}")));
                }
                self.state = State::Line(entry);
                effects.push(ask(Question::Line));
            }
        }
        effects
    }

    pub(super) fn words(&mut self, class: RecordClass, line: &str) -> Vec<Effect> {
        if line == "b" {
            return self.ask_class();
        }
        let words = one_line(line);
        if words.is_empty() {
            return self.again();
        }
        self.ask_to_confirm(&Choice {
            class,
            words,
            cites: None,
        })
    }

    pub(super) fn line(&mut self, line: &str, entry: ChangelogEntry) -> Vec<Effect> {
        match line {
            "" => self.ask_to_confirm(&Choice {
                class: RecordClass::ExpressionOnly,
                words: changelog::words(&entry),
                cites: Some(entry),
            }),
            "b" => self.ask_class(),
            _ => self.again(),
        }
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
        effects.extend(self.shown(&self.surroundings.afterwards));
        effects.push(Effect::DropTyped);
        effects.push(ask(Question::Confirm));
        self.state = State::Confirm(Box::new(signing), choice.class);
        effects
    }

    pub(super) fn confirm(&mut self, line: &str, signing: Box<Signing>, class: RecordClass) -> Vec<Effect> {
        if line == "sign" {
            self.state = State::Over;
            return vec![Effect::Sign(signing)];
        }
        if line == "b" {
            return match &self.matter.purpose {
                Purpose::ReAnchor { .. } => self.show_page(self.sections.len().saturating_sub(1), 0),
                Purpose::Whole { .. } | Purpose::Delta(_) => self.ask_words(class),
            };
        }
        self.again()
    }
}
