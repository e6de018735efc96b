//! A command of a table as a step: each flag with its reason.

use super::{Draft, PYTHON};
use crate::plan::{Flag, Step};
use crate::word::{Word, split_words};
use tables::{CommandEntry, Field, Kind, Phrase, Reasoned, Texts};

/// A command under construction.
#[derive(Default)]
pub(super) struct Command {
    argv: Vec<Word>,
    flags: Vec<Flag>,
    source: String,
    /// Where the program that is started begins, after what starts it in turn.
    start: usize,
}

impl Command {
    /// A command that starts with these words; its flags are described at `source`.
    pub(super) fn new<const N: usize>(words: [impl Into<Word>; N], source: &str) -> Command {
        Command { argv: words.map(Into::into).to_vec(), flags: Vec::new(), source: source.into(), start: 0 }
    }

    pub(super) fn words<const N: usize>(mut self, words: [impl Into<Word>; N]) -> Command {
        self.argv.extend(words.map(Into::into));
        self
    }

    /// A flag, with its value if it has one, and its purpose.
    pub(super) fn flag<const N: usize>(mut self, words: [Word; N], why: &str) -> Command {
        let source = self.source.clone();
        self.reasoned(words.to_vec(), why.to_string(), source, "");
        self
    }

    fn reasoned(&mut self, words: Vec<Word>, why: String, source: String, shown: &str) {
        let shown = match shown {
            "" => words.iter().map(Word::quoted).collect::<Vec<_>>().join(" "),
            shown => shown.to_string(),
        };
        self.flags.push(Flag { words: shown, why, source });
        self.argv.extend(words);
    }

    /// The step that runs it.
    pub(super) fn step(self, why: impl Into<String>) -> Step {
        Step::Run { argv: self.argv, flags: self.flags, why: why.into(), source: self.source }
    }
}

impl Draft<'_> {
    /// A command of a table, as a step.
    pub(super) fn run(&mut self, entry: &CommandEntry) {
        let command = self.command(entry);
        let why = self.text(&entry.why);
        self.step(command, why);
    }

    pub(super) fn command(&mut self, entry: &CommandEntry) -> Command {
        let source = match &*entry.source {
            "{site}" => self.site.source.clone(),
            source => source.to_string(),
        };
        let mut command = Command { source, ..Command::default() };
        for phrase in &entry.words {
            match phrase {
                Phrase::Bare(words) => self.bare(&mut command, words.split_whitespace()),
                Phrase::Reasoned(phrase) if self.holds(&phrase.when) => self.phrase(&mut command, phrase),
                Phrase::Reasoned(_) => {}
            }
        }
        command
    }

    fn bare<'t>(&mut self, command: &mut Command, templates: impl Iterator<Item = &'t str>) {
        for template in templates {
            match template {
                "{python}" => {
                    command.argv.push("python3".into());
                    let why = "unbuffered output".to_string();
                    command.reasoned(vec!["-u".into()], why, PYTHON.into(), "");
                    self.program(command);
                }
                "{program}" => self.program(command),
                "{container}" => self.container(command),
                "{own_args}" => self.own_part(command),
                template if self.words_of_user(command, template) => {}
                template => {
                    command.argv.extend(self.expanded(template));
                    if template == "{prefix}" {
                        command.start = command.argv.len();
                    }
                }
            }
        }
    }

    fn phrase(&mut self, command: &mut Command, phrase: &Reasoned) {
        let templates: Vec<&str> = match &phrase.words {
            Texts::One(words) => words.split_whitespace().collect(),
            Texts::Several(words) => words.iter().map(String::as_str).collect(),
        };
        if phrase.why.is_empty() {
            return self.bare(command, templates.into_iter());
        }
        let words = templates.into_iter().flat_map(|template| self.expanded(template)).collect();
        let source = if phrase.source.is_empty() { command.source.clone() } else { phrase.source.clone() };
        let why = self.text(&phrase.why);
        command.reasoned(words, why, source, &phrase.shown);
    }

    /// A template that may produce several words.
    fn expanded(&mut self, template: &str) -> Vec<Word> {
        match template {
            "{prefix}" => self.prefix(),
            "{args}" => self.divided_args().0.iter().map(|arg| Word::argument(arg)).collect(),
            "{exports}" => self.exports("-x").iter().map(|word| Word::text(word.clone())).collect(),
            "{variables}" => self.exports("-e").iter().map(|word| Word::text(word.clone())).collect(),
            template => match template.strip_prefix("{site.").and_then(|rest| rest.strip_suffix('}')) {
                Some(name) => self.words_of_site(name),
                None => vec![self.word(template)],
            },
        }
    }

    /// The program and its arguments. The user's own are unchanged; those that follow from the numbers come after them,
    /// with their reasons.
    fn program(&mut self, command: &mut Command) {
        command.argv.push(Word::path(&self.request.entry));
        command.argv.extend(self.request.args.iter().map(|arg| Word::argument(arg)));
        for (arg, why) in &self.own_args {
            command.reasoned(vec![arg.clone()], why.clone(), String::new(), "");
        }
    }

    /// `--` and the program's own arguments, if its command line is split.
    fn own_part(&mut self, command: &mut Command) {
        let behind = self.divided_args().1;
        if !self.request.divided || (behind.is_empty() && self.own_args.is_empty()) {
            return;
        }
        let why = "arguments after this go to the program".to_string();
        command.reasoned(vec!["--".into()], why, String::new(), "");
        command.argv.extend(behind.iter().map(|arg| Word::argument(arg)));
        for (arg, why) in &self.own_args {
            command.reasoned(vec![arg.clone()], why.clone(), String::new(), "");
        }
    }

    /// The command that starts the container chosen by the user, with the reasons of its words.
    fn container(&mut self, command: &mut Command) {
        let chosen = self.value("container");
        let Some(entry) = self.table.container.iter().find(|entry| Some(&*entry.by) == chosen) else { return };
        let own = self.command(entry);
        let of_own = |mut flag: Flag| {
            if flag.source.is_empty() {
                flag.source.clone_from(&own.source);
            }
            flag
        };
        command.argv.extend(own.argv);
        command.flags.extend(own.flags.into_iter().map(of_own));
        command.start = command.argv.len();
    }

    /// Words that a user adds to a command by a field; false if the template is no such field. An option that the script
    /// sets is refused, unless the script itself repeats it.
    fn words_of_user(&mut self, command: &mut Command, template: &str) -> bool {
        let named = template.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        let is_it = |field: &&Field| field.kind == Kind::Words && named == Some(&*field.name);
        let Some(field) = self.table.field.iter().find(is_it) else { return false };
        self.taken.push(&field.name);
        let launcher = self.table.launcher.iter().find(|entry| entry.name == self.launcher);
        let counts = launcher.map_or(&[][..], |entry| &entry.counts);
        for word in self.value(&field.name).and_then(split_words).unwrap_or_default() {
            let set = command.argv[command.start..].iter().filter(|set| is_option(&set.quoted(), &word)).count();
            if set == 1 || counts.iter().any(|known| is_option(known, &word)) {
                let shown = word.split('=').next().unwrap_or_default();
                self.problem(&field.name, format!("must leave out {shown}: the script sets it itself"));
            }
            command.reasoned(vec![Word::argument(&word)], "set by you".to_string(), String::new(), "");
        }
        true
    }
}

/// Whether two words are the same option, which may have one dash or two, either separator, and a value.
fn is_option(set: &str, word: &str) -> bool {
    let set = set.trim_start_matches(['\'', '"']);
    let name = |word: &str| word.trim_start_matches('-').split('=').next().unwrap_or_default().to_string();
    let (a, b) = (name(set), name(word));
    let plain = |byte: u8| if byte == b'_' { b'-' } else { byte };
    set.starts_with('-') && word.starts_with('-') && a.bytes().map(plain).eq(b.bytes().map(plain))
}
