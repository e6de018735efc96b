//! The script's own variables that it never sets.

use super::Look;
use super::shell::{Command, Quote, Token};
use crate::target::Target;
use sorting::SortedSet;

/// Names that are set elsewhere: lines of a kind and a name.
const GIVEN: &str = include_str!("given.txt");

/// The names of a kind.
fn given(kind: &str) -> impl Iterator<Item = &'static str> {
    GIVEN.lines().filter_map(move |line| line.strip_prefix(kind)?.strip_prefix(' '))
}

/// A name that nothing in the script sets is empty at run time, unless it is one of a shell's, a scheduler's or a
/// vendor's. Nothing is reported for a script that sources another one, which may set it.
pub(super) fn check(look: &mut Look<'_>) {
    if look.commands.iter().any(reads_another) {
        return;
    }
    let mut known = set(look);
    known.extend(asked(look));
    let of_vendors = of_vendors();
    let loads = ["module", "ml"].iter().any(|name| look.commands.iter().any(|command| command.runs(name).is_some()));
    let is_given = |name: &str| {
        known.contains(name)
            || given("is").any(|given| name == given)
            || given("begins").any(|beginning| name.starts_with(beginning))
            || given("ends").any(|ending| name.ends_with(ending))
            || (loads && given("module").any(|ending| name.ends_with(ending)))
            || name.split('_').next().is_some_and(|first| name.contains('_') && of_vendors.contains(first))
    };
    look.each(|look, command| {
        // `$NF` and the like belong to other languages.
        if ["awk", "gawk", "perl", "expect"].iter().any(|name| command.runs(name).is_some()) {
            return;
        }
        for word in &command.words {
            for piece in word.pieces.iter().filter(|piece| piece.quote != Quote::Single) {
                let text = look.script[piece.range.clone()].to_string();
                for (at, name) in used(&text) {
                    if !is_given(name) {
                        let message =
                            format!("${name} is not set in this script: it is empty unless set at submission");
                        look.found(piece.range.start + at, "unset-variable", message);
                    }
                }
            }
        }
    });
}

/// Whether a command sources a file of the user's or the site's own; a Python environment sets its own names only.
fn reads_another(command: &Command) -> bool {
    let of_environments = |word: &Token| {
        let name = word.text.rsplit('/').next().unwrap_or_default();
        ["activate", "conda.sh", "mamba.sh"].contains(&name)
    };
    let reads = |name: &str| {
        let at = command.words.iter().position(|word| word.text == name);
        at.is_some_and(|at| !command.words.get(at + 1).is_some_and(of_environments))
    };
    ["source", ".", "eval"].into_iter().any(reads)
}

/// Names that the script tests for being set, sets if they are not, or documents as inputs.
fn asked(look: &Look<'_>) -> SortedSet<String> {
    let mut names = SortedSet::new();
    let name_of = |text: &str| {
        let text = text.trim_start_matches(['$', '{', '!']);
        text[..text.find(|c: char| !is_letter(c)).unwrap_or(text.len())].to_string()
    };
    for command in &look.commands {
        for pair in command.words.windows(2) {
            if ["-z", "-n", "-v"].contains(&&*pair[0].text) && command.words[0].text != "mpirun" {
                names.insert(name_of(&pair[1].text));
            }
        }
    }
    for (at, _) in look.script.match_indices("${") {
        let rest = &look.script[at + 2..];
        let name = &rest[..rest.find(|c: char| !is_letter(c)).unwrap_or(rest.len())];
        if [":=", "=", ":?", "?"].iter().any(|sign| rest[name.len()..].starts_with(sign)) {
            names.insert(name.to_string());
        }
    }
    for line in look.script.lines().filter(|line| line.starts_with("#SBATCH") || line.starts_with("#PBS")) {
        let listed = line.split_once("--export=").or_else(|| line.split_once(" -v "));
        let listed = listed.map(|(_, list)| list.split(',')).into_iter().flatten();
        names.extend(listed.map(|one| name_of(one.trim())));
    }
    names
}

/// Prefixes of the targets' own variables.
fn of_vendors() -> SortedSet<String> {
    let mut beginnings = SortedSet::new();
    let mut add = |name: &str| {
        let beginning = name.split('_').next().unwrap_or_default();
        if !beginning.is_empty() {
            beginnings.insert(beginning.to_string());
        }
    };
    for target in Target::all() {
        let lint = &target.table().lint;
        for wrong in &lint.variable {
            add(&wrong.name);
            add(&wrong.right);
        }
        target.variables().keys().for_each(|name| add(name));
        lint.environment.iter().for_each(|name| add(name));
    }
    beginnings
}

/// The names that the script may set: every name that occurs as a word of its own or before a `=`.
fn set(look: &Look<'_>) -> SortedSet<String> {
    let mut names = SortedSet::new();
    for word in look.commands.iter().flat_map(|command| &command.words) {
        let text = word.text.trim_start_matches('(');
        let end = text.find(|c: char| !is_letter(c)).unwrap_or(text.len());
        let follows = |signs: &[&str]| signs.iter().any(|sign| text[end..].starts_with(sign));
        if end == text.len() || follows(&["=", "+=", "-=", "*=", "[", "++", "--"]) {
            names.insert(text[..end].to_string());
        }
    }
    names
}

/// `$name` and `${name…}`, outside substitutions, each with its position, except those with a default.
fn used(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at + c.len_utf8()..];
        match c {
            '\\' => at += rest.chars().next().map_or(0, char::len_utf8),
            '`' => depth ^= 1,
            '$' if rest.starts_with('(') => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '$' if depth == 0 => {
                let (open, name) = rest.strip_prefix('{').map_or(("", rest), |name| ("{", name));
                let name = &name[..name.find(|c: char| !is_letter(c)).unwrap_or(name.len())];
                let after = &rest[open.len() + name.len()..];
                let has_default = open == "{" && after.trim_start_matches(':').starts_with(['-', '=', '?', '+']);
                let is_own = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                    && name.len() > 1
                    && !name.to_ascii_lowercase().ends_with("_proxy");
                if is_own && !has_default {
                    found.push((at, name));
                }
            }
            _ => {}
        }
        at += c.len_utf8();
    }
    found
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
