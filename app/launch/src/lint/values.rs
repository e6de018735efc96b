//! Values that are lost: overwritten before anything reads them, in a name that the shell or programs read, or in a
//! substitution of the wrong kind.

use super::model::{Block, Set, SetKind, file_name};
use super::shell::{Quote, is_name};
use super::{Look, names};

pub(super) fn check(look: &mut Look<'_>) {
    overwritten(look);
    taken(look);
    commands_for_values(look);
    separators(look);
}

/// `PATH=$PATH=/x`.
fn separators(look: &mut Look<'_>) {
    let model = look.model.clone();
    for set in model.sets.iter().filter(|set| set.name.ends_with("PATH")) {
        let Some(piece) = set.value.as_ref().and_then(|pieces| pieces.first()) else { continue };
        let text = &look.script[piece.range.clone()];
        let own = [format!("${}=", set.name), format!("${{{}}}=", set.name)];
        if let Some(own) = own.iter().find(|own| text.starts_with(own.as_str())) {
            let at = piece.range.start + own.len() - 1;
            look.found(at, "path-separator", format!("folders in {} are separated by colons", set.name));
            look.mend(at..at + 1, ":");
        }
    }
}

/// `A="one; "` and then `A="two; "`: the first was meant to be kept, or the second to be added. Only directly one after
/// the other, and only texts of several words: of two numbers, one may be a choice.
fn overwritten(look: &mut Look<'_>) {
    let model = look.model.clone();
    let is_plain = |set: &Set| {
        let step = &model.steps[set.step];
        set.kind != SetKind::Prefix && step.block == Block::default() && !set.adds
    };
    let conditional = |set: &Set| {
        let before = look.script[..set.at].trim_end();
        let before = before.strip_suffix("export").unwrap_or(before).trim_end();
        before.ends_with("&&") || before.ends_with("||")
    };
    let mut found = Vec::new();
    for (index, set) in model.sets.iter().enumerate() {
        let Some(next) = model.sets[index + 1..].iter().find(|other| other.name == set.name) else { continue };
        let has_words = |set: &Set| {
            let words = set.value.iter().flatten().map(|piece| look.script[piece.range.clone()].trim());
            words.map(|text| text.split_whitespace().count()).sum::<usize>() > 1
        };
        let between = &model.steps[set.step + 1..next.step.max(set.step + 1)];
        let only_sets = between.iter().all(|step| step.command.words.iter().all(|word| word.sets().is_some()));
        let end = model.steps[next.step].command.words.last().map_or(next.at, |word| word.range.end);
        let is_read = model.uses_of(&set.name).any(|used| set.at < used.at && used.at < end);
        let lost = [set, next].into_iter().all(|set| is_plain(set) && has_words(set));
        if lost && only_sets && !is_read && !conditional(next) {
            found.push((
                set.at,
                format!("line {} overwrites this value of {}: nothing has read it", look.line(next.at), set.name),
            ));
        }
    }
    found.into_iter().for_each(|(at, message)| look.found(at, "lost-value", message));
}

/// A loop's variable, or a path, in a name that programs read.
fn taken(look: &mut Look<'_>) {
    let model = look.model.clone();
    for set in model.sets.iter().filter(|set| names::is_taken(&set.name)) {
        let name = &set.name;
        let value: String = set.value.iter().flatten().map(|piece| &look.script[piece.range.clone()]).collect();
        let hides = name == "PATH"
            && set.kind != SetKind::Prefix
            && set.value.is_some()
            && value.starts_with('/')
            && !value.contains("PATH")
            && !value.contains("bin");
        let words = &model.steps[set.step].command.words;
        let loops = set.value.is_none() && words.iter().any(|word| ["for", "read"].contains(&file_name(&word.text)));
        if hides || loops {
            look.found(set.at, "taken-name", format!("the shell or programs read {name}: use another name"));
        }
    }
}

/// `$(NAME:-1)` runs a command of that name.
fn commands_for_values(look: &mut Look<'_>) {
    let script = look.script;
    look.each_word(|look, word| {
        for piece in word.pieces.iter().filter(|piece| piece.quote != Quote::Single) {
            for (at, _) in script[piece.range.clone()].match_indices("$(") {
                let start = piece.range.start + at;
                let rest = &script[start + 2..word.range.end];
                let Some((name, value)) = rest.split_once(":-") else { continue };
                let Some(end) = value.find(')').filter(|_| is_name(name)) else { continue };
                look.found(
                    start,
                    "command-for-value",
                    format!("$(…) runs a command; the default is in ${{{name}:-…}}"),
                );
                let close = start + 2 + name.len() + 2 + end;
                look.mend(start + 1..start + 2, "{");
                look.mend(close..close + 1, "}");
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::lint::tests::{check, found};

    #[test]
    fn values_that_nothing_reads() {
        let lost = |script: &str| found("hpu", script, &["lost-value"]);
        lost("A=\"module load x; \"\nA=\"conda activate y; \"\neval $A\n");
        lost("A='-a 1'\nB=1\nA='-b 2'\npython t.py $A\n");
        for fine in [
            "A='-a 1'\nA+=' -b 2'\npython t.py $A\n",
            "A='-a 1'\nA=\"$A -b 2\"\npython t.py $A\n",
            "A='-a 1'\npython t.py $A\nA='-b 2'\npython t.py $A\n",
            "A='-a 1'\n[ -f x ] && A='-b 2'\npython t.py $A\n",
            "A='-a 1'\nif [ -f x ]; then\nA='-b 2'\nfi\npython t.py $A\n",
            "A=1\nA=2\npython t.py $A\n",
        ] {
            found("hpu", fine, &[]);
        }
    }

    #[test]
    fn names_that_others_read() {
        let taken = |script: &str| found("hpu", script, &["taken-name"]);
        taken("for LANG in en de; do python t.py $LANG; done\n");
        taken("PATH=/data/images\nls $PATH\n");
        found("hpu", "PATH=/opt/bin\nexport PATH=/x:$PATH\nLANG=C python t.py\nfor X in 1; do echo $X; done\n", &[]);
    }

    #[test]
    fn a_default_of_a_command() {
        check("hpu", "A=$(n:-\"1\")\necho $A\n", "A=${n:-\"1\"}\necho $A\n", &["command-for-value"]);
        found("hpu", "A=$(date +%s:-)\necho $A ${B:-1}\n", &[]);
    }
}
