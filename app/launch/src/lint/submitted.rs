//! Scripts within a script: the here-documents that `sbatch` and `qsub` read.

use super::Edit;
use super::directives::{self, Directive};
use super::model::{Block, Model, file_name};
use super::shell::{Command, Document, closed};
use std::ops::Range;

/// A here-document that a scheduler reads as a script of its own.
pub(super) struct Submitted {
    /// What the scheduler reads.
    pub(super) text: String,
    /// The options of the command that submits it.
    pub(super) given: Vec<Directive>,
    /// Where its letters and values are in the script.
    places: Vec<(usize, usize)>,
    /// What the outer shell has put there.
    values: Vec<Range<usize>>,
    is_quoted: bool,
}

/// A value that only the outer shell knows: no shell's variable, but read as one.
const UNKNOWN: &str = "$@";

const SUBMITTERS: [&str; 2] = ["sbatch", "qsub"];

/// The scripts that a script submits, and its own text, with blanks in their place except for what its shell expands there.
pub(super) fn read(script: &str) -> (String, Vec<Submitted>) {
    let (mut own, mut found) = (script.to_string(), Vec::new());
    if !script.contains("<<") || !SUBMITTERS.iter().any(|name| script.contains(name)) {
        return (own, found);
    }
    let model = Model::read(script);
    for (number, step) in model.steps.iter().enumerate() {
        for document in &step.command.documents {
            let later = model.steps[number..].iter().map(|step| &step.command);
            let mut before = later.take_while(|command| command.words[0].range.start < document.range.start);
            let submits = |command: &&Command| SUBMITTERS.iter().any(|name| command.runs(name).is_some());
            let is_shown = step.command.words.iter().any(|word| file_name(&word.text) == "cat");
            let Some(command) = before.find(submits).filter(|own| is_shown || **own == step.command) else { continue };
            if let Some(given) = given(command, &model, script) {
                let (submitted, rest) = Submitted::of(script, document, &model, given);
                own.replace_range(document.range.clone(), &rest);
                found.push(submitted);
            }
        }
    }
    (own, found)
}

/// The options of a command that submits what it reads; none if it submits a file.
fn given(command: &Command, model: &Model, script: &str) -> Option<Vec<Directive>> {
    let at = SUBMITTERS.iter().find_map(|name| command.runs(name))?;
    let words = &command.words[at + 1..];
    let is_file = |text: &str| [".sh", ".slurm", ".sbatch", ".job", ".pbs"].iter().any(|end| text.ends_with(end));
    if words.iter().any(|word| is_file(&word.text)) {
        return None;
    }
    let mark = if command.words[at].text.ends_with("qsub") { "#PBS" } else { "#SBATCH" };
    let line = words.iter().fold(mark.to_string(), |line, word| {
        let text = only_value(model, script, &word.text, word.range.start);
        line + " " + text.as_deref().unwrap_or(&word.text)
    });
    Some(directives::read(&line, line.len()))
}

impl Submitted {
    /// The script in a document, and what the outer shell reads of it.
    fn of(script: &str, document: &Document, model: &Model, given: Vec<Directive>) -> (Submitted, String) {
        let Document { range, quoted } = document.clone();
        let (mut text, mut own) = (String::new(), String::new());
        let (mut places, mut values) = (Vec::new(), Vec::new());
        let mut at = range.start;
        while at < range.end {
            let rest = &script[at..range.end];
            let letter = rest.chars().next().map_or(1, char::len_utf8);
            let (length, is_value) = if quoted { (letter, false) } else { expanded(rest).unwrap_or((letter, false)) };
            let whole = &rest[..length];
            places.push((text.len(), at));
            if is_value {
                let value = only_value(model, script, whole, at);
                let start = text.len();
                // Alone in its line among the directives, it may be one.
                let mut lines = text.lines().chain(rest[length..].lines().next());
                let is_directive =
                    text.ends_with('\n') && lines.all(|line| line.trim().is_empty() || line.starts_with('#'));
                text += value.as_deref().unwrap_or(if is_directive { "#" } else { UNKNOWN });
                values.push(start..text.len());
                // In a comment it does no harm.
                let line = text[..start].rsplit('\n').next().unwrap_or_default();
                let is_comment = line.starts_with('#') && !line.starts_with("#SBATCH") && !line.starts_with("#PBS");
                own += &if is_comment { blank(whole) } else { whole.to_string() };
            } else {
                text += if length > letter { &whole[1..] } else { whole };
                own += &blank(whole);
            }
            at += length;
        }
        places.push((text.len(), range.end));
        (Submitted { text, given, places, values, is_quoted: quoted }, own)
    }

    /// The place in the script of a place in the text.
    pub(super) fn place(&self, at: usize) -> usize {
        let after = self.places.partition_point(|(start, _)| *start <= at);
        let (start, place) = self.places[after.saturating_sub(1)];
        let end = self.places.get(after).map_or(usize::MAX, |(_, place)| *place);
        (place + (at - start)).min(end)
    }

    /// The line in the script of a line of the text.
    pub(super) fn line(&self, script: &str, line: usize) -> usize {
        let start = self.text.split_inclusive('\n').take(line - 1).map(str::len).sum();
        1 + script[..self.place(start)].matches('\n').count()
    }

    /// A change of the text as one of the script, unless it concerns a value that the outer shell has put there.
    pub(super) fn edit(&self, (range, new): Edit) -> Option<Edit> {
        let is_value = |own: &Range<usize>| own.start < range.end && range.start < own.end;
        if self.values.iter().any(is_value) || new.contains(UNKNOWN) {
            return None;
        }
        let escape =
            |new: String| ['\\', '$', '`'].iter().fold(new, |new, sign| new.replace(*sign, &format!("\\{sign}")));
        let place: Range<usize> = self.place(range.start)..self.place(range.end);
        Some((place, if self.is_quoted { new } else { escape(new) }))
    }
}

/// The value of a variable that is set once, to one line; in a branch or a loop, it may be another one.
fn only_value(model: &Model, script: &str, text: &str, at: usize) -> Option<String> {
    let mut sets = model.sets_of(text.trim_matches(['$', '{', '}']));
    let is_plain = |block: Block| !block.branched && block.looped.is_none();
    let is_only = sets.next().is_none_or(|set| is_plain(model.steps[set.step].block)) && sets.next().is_none();
    model.constant(script, text, at).filter(|value| is_only && !value.contains('\n'))
}

/// As many blanks as a text has bytes, in as many lines.
fn blank(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { "\n".into() } else { " ".repeat(c.len_utf8()) }).collect()
}

/// The length of what an outer shell replaces at the start of a text, and whether by a value: otherwise a backslash is
/// removed.
fn expanded(text: &str) -> Option<(usize, bool)> {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match text.as_bytes() {
        [b'\\', b'\\' | b'$' | b'`', ..] => Some((2, false)),
        [b'`', ..] => Some((text[1..].find('`').map_or(text.len(), |end| end + 2), true)),
        [b'$', b'(', ..] => Some((closed(text, '(', ')'), true)),
        [b'$', b'{', ..] => Some((closed(text, '{', '}'), true)),
        [b'$', b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-', ..] => Some((2, true)),
        [b'$', c, ..] if is_letter(char::from(*c)) => {
            Some((text[1..].find(|c| !is_letter(c)).map_or(text.len(), |end| end + 1), true))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::tests::{check, found};

    #[test]
    fn a_script_that_a_script_submits() {
        let job = "#!/bin/bash\n#SBATCH -c 4\n#SBATCH -o logs/$N.out\nmodule load a\n#SBATCH -p x\nsrun python t.py \
                   $2 \\$SLURM_JOB_ID\nsrun python /home/jane/t.py $N &\n";
        let script = format!("for N in 1 2; do\nJ=$(sbatch --parsable -n 1 <<END\n{job}END\n)\ndone\n");
        let after = script
            .replace("module load a\n#SBATCH -p x\n", "module load a\n")
            .replace("module", "#SBATCH -p x\nexport SRUN_CPUS_PER_TASK=\\$SLURM_CPUS_PER_TASK\nmodule")
            .replace("/home/jane", "\\$HOME")
            .replace("$N &\n", "$N &\nwait\n");
        let rules = ["log-folder", "late-directive", "cores", "home-folder", "left-behind"];
        check("xpu", &script, &after, &rules);
        let quoted = "cat <<'E' | qsub -l select=1\nexport A=$B\npython t.py é\nE\n";
        check("xpu", quoted, &quoted.replace("python", "cd \"$PBS_O_WORKDIR\"\npython"), &["start-folder"]);
        let value = "D=/home/jane\nsbatch -p x <<E\n#SBATCH -t 1:30\nls $D/\\$A \\`b\\`\nE\n";
        check("xpu", value, &value.replacen("/home/jane", "$HOME", 1), &["home-folder", "wall-time", "home-folder"]);
    }

    #[test]
    fn what_the_outer_shell_does() {
        let branched = "if [ $1 ]; then\ng=1\nelse\ng=0\nfi\nsbatch <<E\n#SBATCH --gres=gpu:$g\nE\n";
        found("hpu", branched, &[]);
        found("hpu", &branched.replace("$g", "0"), &["asked-devices"]);
        for fine in [
            "export X=1\nmkdir logs\nsbatch <<E\n#SBATCH -o logs/x --mem=$M\npython t.py \\$X $SLURM_NAM\nE\n",
            "sbatch --array=0-3 <<E\n#SBATCH -N 1 -J $1\npython t.py \\$SLURM_ARRAY_TASK_ID $(ls\n)\nE\n",
            "cat > x <<E\n#SBATCH -t 1\nset a = b\nE\nsbatch x\n",
            "sbatch x.sh <<E\n#SBATCH -N 1\nset a = b\nE\n",
            "sbatch <<E\n#SBATCH -N 1\n# sbatch x.sh $name\nE\n",
            "sbatch <<E\n#SBATCH -N 1\n$D\n#SBATCH -p x\nsbatch <<F\n#SBATCH -N 1\nset a = b\nF\nE\n",
            "sbatch <<E",
            "sbatch <<E\n$",
        ] {
            let outer = if fine.contains("NAM\n") { &["unset-variable"][..] } else { &[] };
            found("xpu", fine, outer);
        }
    }
}
