//! A command in the making: each flag is put down together with its reason.

use super::{Draft, PYTHON};
use crate::plan::{Flag, Step};
use crate::word::Word;

/// Words of a command so far, and why they are there.
pub(super) struct Command {
    argv: Vec<Word>,
    flags: Vec<Flag>,
    source: String,
}

impl Command {
    /// A command that starts with these words; its flags are described at `source`.
    pub(super) fn new<const N: usize>(words: [&str; N], source: &str) -> Command {
        Command { argv: words.map(Word::from).to_vec(), flags: Vec::new(), source: source.into() }
    }

    /// The words in front of a command, such as the site's way to a device.
    pub(super) fn after(prefix: Vec<Word>, source: &str) -> Command {
        Command { argv: prefix, flags: Vec::new(), source: source.into() }
    }

    pub(super) fn words<const N: usize>(mut self, words: [&str; N]) -> Command {
        self.argv.extend(words.map(Word::from));
        self
    }

    pub(super) fn word(mut self, word: impl Into<Word>) -> Command {
        self.argv.push(word.into());
        self
    }

    /// A flag, with its value when it has one, and what it is for.
    pub(super) fn flag<const N: usize>(mut self, words: [Word; N], why: impl Into<String>) -> Command {
        let source = self.source.clone();
        self.explain(&words, why.into(), source);
        self.argv.extend(words);
        self
    }

    /// A flag that is described elsewhere than the command's others.
    pub(super) fn flag_of<const N: usize>(mut self, words: [Word; N], why: &str, source: &str) -> Command {
        self.explain(&words, why.into(), source.into());
        self.argv.extend(words);
        self
    }

    fn explain(&mut self, words: &[Word], why: String, source: String) {
        let words = words.iter().map(Word::quoted).collect::<Vec<_>>().join(" ");
        self.flags.push(Flag { words, why, source });
    }

    /// Several flags of one kind, under one name.
    pub(super) fn flags(mut self, words: Vec<Word>, shown: &str, why: &str) -> Command {
        self.flags.push(Flag { words: shown.into(), why: why.into(), source: self.source.clone() });
        self.argv.extend(words);
        self
    }

    /// `python3 -u`, the program and its arguments.
    pub(super) fn python(self, draft: &Draft<'_>) -> Command {
        let why = "its lines are printed at once, not when a buffer is full";
        self.words(["python3"]).flag_of(["-u".into()], why, PYTHON).program(draft)
    }

    /// The program and its arguments, for what starts Python itself. The user's own stand as they are; those that follow
    /// from the numbers come behind them, with their reasons.
    pub(super) fn program(mut self, draft: &Draft<'_>) -> Command {
        self.argv.push(draft.request.entry.as_str().into());
        self.argv.extend(draft.request.args.iter().map(|arg| Word::text(arg.clone())));
        for (arg, why) in &draft.own_args {
            let word = Word::text(arg.clone());
            self.explain(std::slice::from_ref(&word), why.clone(), String::new());
            self.argv.push(word);
        }
        self
    }

    /// The step that runs it.
    pub(super) fn step(self, why: impl Into<String>) -> Step {
        Step::Run { argv: self.argv, flags: self.flags, why: why.into(), source: self.source }
    }
}
