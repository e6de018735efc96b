//! A script as a shell runs it: a sequence of commands with an environment. It says what each command is after its
//! variables are replaced by their values, which shell expands a variable, which names are set or exported where, and
//! which commands every process of a launcher runs.

use super::names;
use super::shell::{Command, Piece, Quote, Token, commands_in, expansions, is_name, substitutions};
use sorting::SortedMap;
use std::ops::Range;

/// A script, read once.
#[derive(Clone, Default)]
pub(super) struct Model {
    /// All commands in the order of the script, also those of substitutions and of texts for other shells.
    pub(super) steps: Vec<Step>,
    /// What the script sets, in the same order.
    pub(super) sets: Vec<Set>,
    /// What it expands, in the same order.
    pub(super) uses: Vec<Use>,
    /// The commands, with values in place of variables.
    pub(super) runs: Vec<Run>,
    /// The numbers of what sets a name, and of what expands it.
    sets_of: SortedMap<String, Vec<usize>>,
    uses_of: SortedMap<String, Vec<usize>>,
}

/// A command of the script.
#[derive(Clone)]
pub(super) struct Step {
    pub(super) command: Command,
    /// The position of its first word that is no keyword.
    pub(super) start: usize,
    /// Whether another shell runs it: the text of `bash -c '…'`.
    pub(super) inner: bool,
    /// Whether every process of a launcher runs it.
    pub(super) tasks: bool,
    pub(super) block: Block,
}

/// What surrounds a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    /// In a function, which runs later.
    pub(super) function: bool,
    /// The outermost loop, by its position.
    pub(super) looped: Option<usize>,
    /// In a branch of `if` or `case`.
    pub(super) branched: bool,
    /// In how many substitutions and texts for other shells.
    depth: usize,
}

/// A variable that gets a value or is exported.
#[derive(Clone)]
pub(super) struct Set {
    pub(super) name: String,
    pub(super) at: usize,
    pub(super) kind: SetKind,
    pub(super) adds: bool,
    /// The pieces of the value; none if only a run shows it.
    pub(super) value: Option<Vec<Piece>>,
    pub(super) step: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SetKind {
    /// Of the shell.
    Own,
    /// Of the shell and the programs that it starts.
    Exported,
    /// Of one program.
    Prefix,
}

/// An expansion of a variable.
#[derive(Clone)]
pub(super) struct Use {
    pub(super) name: String,
    pub(super) at: usize,
    /// Whether the script says what to do if it is not set.
    pub(super) has_default: bool,
    pub(super) step: usize,
}

/// A command after expansion.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) command: Command,
    pub(super) step: usize,
    /// Whether every process of a launcher runs it.
    pub(super) tasks: bool,
}

/// Deeper texts are not read, nor commands that become longer than this by the values of variables.
const DEEPEST: usize = 12;
const LONGEST: usize = 4000;

const KEYWORDS: [&str; 9] = ["if", "then", "else", "elif", "do", "while", "until", "!", "{"];
const SHELLS: [&str; 5] = ["bash", "sh", "zsh", "ksh", "dash"];

impl Model {
    pub(super) fn read(script: &str) -> Model {
        let mut model = Model::default();
        model.commands(script, 0..script.len(), (false, false), Block::default());
        model.sets_of = numbers(model.sets.iter().map(|set| &set.name));
        model.uses_of = numbers(model.uses.iter().map(|used| &used.name));
        for step in 0..model.steps.len() {
            model.run(script, step);
        }
        model
    }

    /// Reads a part of the script, which another shell runs, or every process, or neither.
    fn commands(&mut self, script: &str, part: Range<usize>, (inner, tasks): (bool, bool), outer: Block) {
        let mut open: Vec<Block> = Vec::new();
        let mut defines = false;
        for command in commands_in(script, part) {
            let at = command.words.first().map_or(0, |word| word.range.start);
            let mut start = 0;
            for word in &command.words {
                let block = open.last().copied().unwrap_or(outer);
                match &*word.text {
                    "if" | "case" => open.push(Block { branched: true, ..block }),
                    "for" | "while" | "until" | "select" => {
                        open.push(Block { looped: block.looped.or(Some(at)), ..block });
                    }
                    "{" => open.push(Block { function: block.function || defines, ..block }),
                    "fi" | "esac" | "done" | "}" => {
                        open.pop();
                    }
                    _ => {}
                }
                if !KEYWORDS.contains(&&*word.text) {
                    break;
                }
                start += 1;
            }
            defines = command.defines || command.words.first().is_some_and(|word| word.text == "function");
            let block = open.last().copied().unwrap_or(outer);
            self.step(script, Step { command, start, inner, tasks, block });
        }
    }

    fn step(&mut self, script: &str, step: Step) {
        let (inner, tasks, block) = (step.inner, step.tasks, step.block);
        let number = self.steps.len();
        let nested: Vec<Range<usize>> =
            step.command.words.iter().flat_map(|word| substitutions(script, &word.pieces)).collect();
        let feeds = step.words().iter().any(|word| is_shell(&word.text)) && step.text().is_none();
        let documents = if feeds { step.command.documents.clone() } else { Vec::new() };
        let starts = step.starts_processes();
        let text = step.text().filter(|token| token.variable().is_none()).and_then(|token| match &token.pieces[..] {
            [piece] => Some(piece.clone()),
            _ => None,
        });
        for word in &step.command.words {
            for piece in word.pieces.iter().filter(|piece| piece.quote != Quote::Single) {
                self.expand(script, piece.range.clone(), number);
            }
        }
        for document in step.command.documents.iter().filter(|document| !document.quoted) {
            self.expand(script, document.range.clone(), number);
        }
        self.assignments(&step, number);
        self.steps.push(step);
        if block.depth == DEEPEST {
            return;
        }
        let block = Block { depth: block.depth + 1, ..block };
        for part in nested {
            self.commands(script, part, (inner, tasks), block);
        }
        let text = text.map(|piece| (piece.range, piece.quote == Quote::Single));
        let documents = documents.into_iter().map(|document| (document.range, document.quoted));
        for (range, is_literal) in text.into_iter().chain(documents) {
            let used = self.uses.len();
            self.commands(script, range, (true, tasks || starts), block);
            if !is_literal {
                // The outer shell has expanded them.
                self.uses.truncate(used);
            }
        }
    }

    fn expand(&mut self, script: &str, range: Range<usize>, step: usize) {
        for (at, name, has_default) in expansions(&script[range.clone()]) {
            self.uses.push(Use { name: name.to_string(), at: range.start + at, has_default, step });
        }
    }

    fn assignments(&mut self, step: &Step, number: usize) {
        let words = &step.command.words[step.start..];
        let first = words.iter().position(|word| word.sets().is_none()).unwrap_or(words.len());
        let mut push = |name: &str, at: usize, kind, adds, value| {
            self.sets.push(Set { name: name.to_string(), at, kind, adds, value, step: number });
        };
        let of_shell = if first == words.len() { SetKind::Own } else { SetKind::Prefix };
        for word in &words[..first] {
            if let Some((name, adds, value)) = word.sets() {
                push(name, word.range.start, of_shell, adds, Some(value));
            }
        }
        let Some(program) = words.get(first) else { return };
        let rest = &words[first + 1..];
        let marked = rest.iter().any(|word| word.text.starts_with('-') && word.text.contains('x'));
        let kind = match &*program.text {
            "export" => SetKind::Exported,
            "declare" | "typeset" | "local" | "readonly" if marked => SetKind::Exported,
            "declare" | "typeset" | "local" | "readonly" => SetKind::Own,
            "set" if rest.iter().any(|word| word.text == "-a" || word.text == "allexport") => {
                // Whatever is set from here on is exported.
                return push("", program.range.start, SetKind::Exported, false, None);
            }
            "for" | "select" | "read" | "mapfile" | "readarray" | "getopts" | "printf" | "let" => {
                for word in rest.iter().take_while(|word| word.text != "in").filter(|word| is_name(&word.text)) {
                    push(&word.text, word.range.start, SetKind::Own, false, None);
                }
                return;
            }
            _ => return,
        };
        for word in rest {
            match word.sets() {
                Some((name, adds, value)) => push(name, word.range.start, kind, adds, Some(value)),
                None if is_name(&word.text) && kind == SetKind::Exported => {
                    push(&word.text, word.range.start, kind, true, Some(Vec::new()));
                }
                None => {}
            }
        }
    }

    /// The pieces of the value that a variable has at a place, if the script sets it before; each with the place where it
    /// is set.
    pub(super) fn value(&self, name: &str, before: usize) -> Option<Vec<(usize, Piece)>> {
        let mut pieces = None;
        let own = |set: &&Set| set.at < before && set.kind != SetKind::Prefix;
        for set in self.sets_of(name).filter(own) {
            let value = set.value.as_ref().map(|pieces| pieces.iter().map(|piece| (set.at, piece.clone())).collect());
            match (set.adds, &mut pieces) {
                (true, Some(known)) => *known = [std::mem::take(known), value?].concat(),
                _ => pieces = value,
            }
        }
        pieces
    }

    /// What sets or exports a name.
    pub(super) fn sets_of(&self, name: &str) -> impl Iterator<Item = &Set> {
        self.sets_of.get(name).into_iter().flatten().map(|number| &self.sets[*number])
    }

    /// What expands a name.
    pub(super) fn uses_of(&self, name: &str) -> impl Iterator<Item = &Use> {
        self.uses_of.get(name).into_iter().flatten().map(|number| &self.uses[*number])
    }

    /// A text in which variables with a constant value are replaced by it.
    pub(super) fn constant(&self, script: &str, text: &str, before: usize) -> Option<String> {
        let (mut text, mut before) = (text, before);
        while let Some(name) = text.strip_prefix('$') {
            let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
            // Each value is set before the one that uses it.
            let [(set, piece)] = &self.value(name, before)?[..] else { return None };
            (text, before) = (&script[piece.range.clone()], *set);
        }
        (!text.contains(['$', '`'])).then(|| text.to_string())
    }

    /// Whether the script shows the text of a word, or the value of the variable that it is.
    pub(super) fn is_known(&self, word: &Token) -> bool {
        match word.variable() {
            Some(name) => self.value(name, word.range.start).is_some(),
            None => !word.text.starts_with('$'),
        }
    }

    /// The number that one of a command's options has.
    pub(super) fn number(&self, script: &str, command: &Command, flags: &[&str]) -> Option<u64> {
        let (text, words) = command.value(flags)?;
        self.constant(script, text, command.words[words.start].range.start)?.parse().ok()
    }

    /// Whether a command starts a program that trains, or what starts one.
    pub(super) fn trains(&self, step: usize) -> bool {
        let is_one = |name: &str| names::starts(name) || names::machine(name).is_some() || name.starts_with("python");
        let first = self.runs.partition_point(|run| run.step < step);
        let runs = self.runs[first..].iter().take_while(|run| run.step == step).filter(|run| !run.is_quiet());
        runs.flat_map(|run| &run.command.words).any(|word| is_one(file_name(&word.text)))
    }

    /// The places where something else runs than the script shows: sourced files, other scripts, commands that only a run
    /// composes.
    pub(super) fn unseen(&self) -> impl Iterator<Item = usize> {
        self.runs.iter().filter_map(|run| {
            let words = &run.command.words;
            let start = words.iter().position(|word| !KEYWORDS.contains(&&*word.text) && word.sets().is_none())?;
            let first = &words[start];
            let name = file_name(&first.text);
            let next = words[start + 1..].iter().find(|word| !word.text.starts_with('-'));
            let is_script = |word: &Token| word.text.ends_with(".sh") || word.text.contains('$');
            let is_unseen = match name {
                "source" | "." => next.is_none_or(|word| !names::activates(file_name(&word.text))),
                "eval" => next.is_some_and(|word| word.text.contains('$') && !word.text.contains("$(")),
                _ if SHELLS.contains(&name) => next.is_some_and(is_script),
                _ => first.text.starts_with('$') || name.ends_with(".sh"),
            };
            is_unseen.then_some(first.range.start)
        })
    }

    fn run(&mut self, script: &str, number: usize) {
        let step = &self.steps[number];
        let before = step.command.words.first().map_or(0, |word| word.range.start);
        let (mut runs, mut left): (Vec<Run>, _) = (Vec::new(), LONGEST);
        let mut words = Vec::new();
        let (tasks, of_text) = (step.tasks, step.text().and_then(Token::variable));
        for word in &step.command.words {
            if of_text.is_some() && word.variable() == of_text {
                let starts = tasks || step.starts_processes();
                for words in self.spliced(script, word, before, (0, &mut left)) {
                    let command = Command { words, ..Command::default() };
                    runs.push(Run { command, step: number, tasks: starts });
                }
                words.push(word.clone());
                continue;
            }
            let mut parts = self.spliced(script, word, before, (0, &mut left)).into_iter();
            words.extend(parts.next().unwrap_or_default());
            for part in parts {
                let part = std::mem::replace(&mut words, part);
                runs.push(Run { command: Command { words: part, ..Command::default() }, step: number, tasks });
            }
        }
        let command = Command { words, ..step.command.clone() };
        runs.push(Run { command, step: number, tasks });
        self.runs.extend(runs);
    }

    /// The words that a word is after expansion, command by command.
    fn spliced(
        &self,
        script: &str,
        word: &Token,
        before: usize,
        (depth, left): (usize, &mut usize),
    ) -> Vec<Vec<Token>> {
        let unchanged = || vec![vec![word.clone()]];
        *left = left.saturating_sub(1);
        let Some(name) = word.variable().filter(|_| *left > 0 && depth < DEEPEST) else { return unchanged() };
        let Some(pieces) = self.value(name, before) else { return unchanged() };
        let mut all: Vec<Vec<Token>> = vec![Vec::new()];
        for (set, piece) in &pieces {
            for (index, command) in commands_in(script, piece.range.clone()).into_iter().enumerate() {
                if index > 0 && !script[piece.range.clone()].starts_with('(') {
                    all.push(Vec::new());
                }
                for word in &command.words {
                    let mut parts = self.spliced(script, word, *set, (depth + 1, &mut *left)).into_iter();
                    if let (Some(last), Some(part)) = (all.last_mut(), parts.next()) {
                        last.extend(part);
                    }
                    all.extend(parts);
                }
            }
        }
        // In quotes it is one word.
        let is_one = word.pieces[0].quote == Quote::Bare || word.text.contains('[');
        if is_one || (all.len() == 1 && all[0].len() == 1) || is_evaluated(self, word) { all } else { unchanged() }
    }
}

/// The positions of each name in a list.
fn numbers<'n>(names: impl Iterator<Item = &'n String>) -> SortedMap<String, Vec<usize>> {
    let mut found: SortedMap<String, Vec<usize>> = SortedMap::new();
    for (number, name) in names.enumerate() {
        match found.get_mut(name.as_str()) {
            Some(known) => known.push(number),
            None => drop(found.insert(name.clone(), vec![number])),
        }
    }
    found
}

impl Run {
    /// The name of what it runs.
    pub(super) fn program(&self) -> Option<&str> {
        let is_other = |word: &&Token| KEYWORDS.contains(&&*word.text) || word.text == "eval" || word.sets().is_some();
        self.command.words.iter().find(|word| !is_other(word)).map(|word| file_name(&word.text))
    }

    /// Whether it only shows or tests its words.
    pub(super) fn is_quiet(&self) -> bool {
        self.program().is_some_and(names::is_quiet)
    }
}

/// Whether the word is a text that a shell runs.
fn is_evaluated(model: &Model, word: &Token) -> bool {
    model.steps.iter().any(|step| step.text().is_some_and(|text| text.range == word.range))
}

impl Step {
    /// The words without keywords.
    pub(super) fn words(&self) -> &[Token] {
        &self.command.words[self.start..]
    }

    /// The text of `bash -c TEXT` or `eval TEXT`.
    fn text(&self) -> Option<&Token> {
        let words = self.words();
        if let Some(at) = words.iter().position(|word| word.text == "eval") {
            return words.get(at + 1).filter(|word| !word.pieces.iter().any(|piece| piece.quote == Quote::Bare));
        }
        let shell = words.iter().position(|word| is_shell(&word.text))?;
        let option = words[shell + 1..]
            .iter()
            .position(|word| word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with('c'))?;
        words.get(shell + option + 2)
    }

    /// Whether it only shows or tests its words.
    pub(super) fn is_quiet(&self) -> bool {
        self.words().first().is_some_and(|word| names::is_quiet(file_name(&word.text)))
    }

    /// Whether its output is a part of a word.
    pub(super) fn gives_value(&self) -> bool {
        self.block.depth > 0 && !self.inner
    }

    /// Whether it starts a command in several processes.
    pub(super) fn starts_processes(&self) -> bool {
        self.words().iter().any(|word| names::starts(file_name(&word.text)))
    }
}

/// Whether a word is the name of a shell.
pub(super) fn is_shell(word: &str) -> bool {
    SHELLS.contains(&file_name(word))
}

/// The last part of a path.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}
