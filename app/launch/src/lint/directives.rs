//! The lines that a scheduler reads: options that don't have the effect that they seem to have.

use super::shell::{Piece, Quote, Token};
use super::{Look, names};
use crate::word::split_words;

/// An option in a directive.
#[derive(Clone)]
pub(super) struct Directive {
    /// The position of its line.
    pub(super) at: usize,
    pub(super) is_pbs: bool,
    /// Slurm's long name, PBS's letter; for a resource of PBS, `l` and its name.
    pub(super) option: String,
    pub(super) value: String,
}

/// The directives above the first command.
pub(super) fn read(script: &str, first: usize) -> Vec<Directive> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in script.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let slurm = line.strip_prefix("#SBATCH").map(|rest| (rest, false));
        let Some((rest, is_pbs)) = slurm.or_else(|| line.strip_prefix("#PBS").map(|rest| (rest, true))) else {
            continue;
        };
        if start > first || !rest.starts_with(char::is_whitespace) {
            continue;
        }
        let Some(mut words) = split_words(rest.trim_end()) else { continue };
        let comment = words.iter().position(|word| word.starts_with('#')).unwrap_or(words.len());
        words.truncate(comment);
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next() {
            let mut next = || words.next_if(|next| !next.starts_with('-')).unwrap_or_default();
            let mut add = |option: &str, value: String| {
                found.push(Directive { at: start, is_pbs, option: option.to_string(), value });
            };
            if let Some(long) = word.strip_prefix("--").filter(|_| !is_pbs) {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(value.to_string())),
                    None => (long, None),
                };
                match names::slurm_option(name) {
                    Some((long, takes)) => {
                        add(long, value.unwrap_or_else(|| if takes { next() } else { String::new() }));
                    }
                    None => add(name, value.unwrap_or_default()),
                }
            } else if word == "hetjob" && !is_pbs {
                add(&word, String::new());
            } else if let Some(short) = word.strip_prefix('-') {
                let Some((letter, value)) = short.split_at_checked(1) else { continue };
                let known = match is_pbs {
                    true => names::pbs_option(letter).map(|takes| (letter, takes)),
                    false => names::slurm_option(letter),
                };
                let Some((name, takes)) = known else { continue };
                let value = if takes && value.is_empty() { next() } else { value.to_string() };
                if is_pbs && name == "l" {
                    for part in value.split(',') {
                        let (resource, value) = part.split_once('=').unwrap_or((part, ""));
                        add(&format!("l {resource}"), value.to_string());
                    }
                } else {
                    add(name, value);
                }
            }
        }
    }
    found
}

impl Look<'_> {
    /// The value of an option that the script's directives have.
    pub(super) fn asked(&self, option: &str) -> Option<&str> {
        self.directives.iter().rev().find(|directive| directive.option == option).map(|directive| &*directive.value)
    }

    /// The same as a number.
    pub(super) fn asked_number(&self, option: &str) -> Option<u64> {
        self.asked(option)?.parse().ok()
    }
}

pub(super) fn check(look: &mut Look<'_>) {
    let directives = look.directives[look.given..].to_vec();
    let is_slurm = directives.iter().any(|directive| !directive.is_pbs);
    let shell = look.script.lines().take_while(|line| line.is_empty() || line.starts_with('#'));
    let late = shell.skip(1).any(|line| line.starts_with("#!/"));
    if is_slurm && late && !look.script.starts_with("#!") {
        look.found(0, "no-interpreter", "#! must be the first line: sbatch refuses the script");
    }
    bash_only(look);
    let mut from = 0;
    for (index, directive) in directives.iter().enumerate() {
        // The next part of a job with several has its own options.
        if directive.option == "hetjob" {
            from = index + 1;
            continue;
        }
        unknown(look, directive);
        empty(look, directive);
        joined(look, directive);
        if let Some(folder) = super::words::home_of(&directive.value) {
            look.found(directive.at, "home-folder", format!("{folder} is one person's folder; change it"));
        }
        twice(look, directive, &directives[from..index]);
        variables(look, directive);
        log_folder(look, directive);
    }
}

/// Words of bash in a script for `sh`, which is another shell on Debian and Ubuntu.
fn bash_only(look: &mut Look<'_>) {
    let first = look.script.lines().next().unwrap_or_default();
    if !first.starts_with("#!") || first.trim_end().rsplit(['/', ' ']).next() != Some("sh") {
        return;
    }
    let own = ["let", "[[", "declare", "typeset", "function", "source", "mapfile", "readarray", "pushd", "shopt"];
    let is_bare = |piece: &Piece| piece.quote == Quote::Bare && look.script[piece.range.clone()].starts_with('(');
    let is_list = |word: &Token| word.sets().is_some_and(|(_, _, value)| value.first().is_some_and(is_bare));
    let is_bash = |word: &Token| own.contains(&&*word.text) || is_list(word) || word.text.starts_with("<(");
    let steps = look.model.steps.iter().filter(|step| !step.inner);
    let words = steps.filter_map(|step| step.words().first()).find(|word| is_bash(word));
    let Some((at, text)) = words.map(|word| (word.range.start, word.text.clone())) else { return };
    let text = text.split('(').next().unwrap_or_default();
    let message = format!("{text} is bash's, and the first line asks for sh, which may be another shell: #!/bin/bash");
    look.found(at, "bash-only", message);
    let start = first.len() - first.trim_end().len();
    let end = first.len() - start;
    look.mend(end - 2..end, "bash");
}

/// Another option may be a plugin's, unless it is spelled nearly as one of Slurm's.
fn unknown(look: &mut Look<'_>, directive: &Directive) {
    let name = &directive.option;
    if directive.is_pbs || name == "hetjob" || names::slurm_option(name).is_some() {
        return;
    }
    if let Some(near) = names::near_option(name) {
        let message = format!("sbatch has no option --{name} and refuses the script; did you mean --{near}?");
        look.found(directive.at, "unknown-option", message);
    }
}

/// `#PBS -oe`, which is not `-j oe`.
fn joined(look: &mut Look<'_>, directive: &Directive) {
    let file = format!("{}{}", directive.option, directive.value);
    if directive.is_pbs && ["oe", "eo"].contains(&&*file) {
        let message = format!("-{file} writes the log to a file {}; -j {file} joins both logs", directive.value);
        look.found(directive.at, "unknown-option", message);
    }
}

/// `--account=` without a value.
fn empty(look: &mut Look<'_>, directive: &Directive) {
    let takes = !directive.is_pbs && names::slurm_option(&directive.option).is_some_and(|(_, takes)| takes);
    if takes && directive.value.is_empty() {
        look.found(directive.at, "placeholder", format!("{} has no value; fill it in", shown(directive)));
    }
}

/// How a directive spells its option.
fn shown(directive: &Directive) -> String {
    match directive.option.split_once(' ') {
        Some((letter, resource)) => format!("-{letter} {resource}"),
        None if directive.is_pbs => format!("-{}", directive.option),
        None => format!("--{}", directive.option),
    }
}

/// The later of two has an effect; PBS's `-W` and `-v` have parts.
fn twice(look: &mut Look<'_>, directive: &Directive, before: &[Directive]) {
    let is_list = directive.is_pbs && ["W", "v", "l"].contains(&&*directive.option);
    let is_same = |other: &&Directive| other.is_pbs == directive.is_pbs && other.option == directive.option;
    if let Some(other) = before.iter().rfind(is_same).filter(|_| !is_list) {
        let line = look.line(other.at);
        let values = match (other.value == directive.value, directive.is_pbs) {
            (true, _) => "",
            (false, true) => ", with another value: only one of them counts",
            (false, false) => ", with another value: only the last one counts",
        };
        look.found(directive.at, "directive-twice", format!("{} is already in line {line}{values}", shown(directive)));
    }
}

/// No shell reads directives.
fn variables(look: &mut Look<'_>, directive: &Directive) {
    let value = &directive.value;
    let name_of = |at: usize| {
        let rest = &value[at + 1..];
        let open = rest.starts_with('{');
        let name = rest.trim_start_matches('{');
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        let close = open && name[end..].starts_with('}');
        (end > 0).then(|| &value[at..at + 1 + usize::from(open) + end + usize::from(close)])
    };
    let variable = value.match_indices('$').find_map(|(at, _)| name_of(at));
    // Slurm replaces these in the names of logs.
    let pattern = value.find('%').filter(|_| directive.option == "job-name").and_then(|at| value.get(at..at + 2));
    let literal = variable
        .or(pattern)
        .or_else(|| value.starts_with("~/").then_some("~"))
        .or_else(|| (value.contains("$(") || value.contains('`')).then_some("the command"));
    let Some(literal) = literal else { return };
    let option = shown(directive);
    // Torque replaces this one; a job that requests `nodes=` may be for Torque.
    let is_id = literal.contains("PBS_JOBID");
    if is_id && look.asked("l nodes").is_some() {
        return;
    }
    let message = if directive.is_pbs {
        let torque = match is_id {
            true => "; Torque replaces it, PBS Professional and OpenPBS do not",
            false => "",
        };
        format!(
            "{literal} is literal in {option}: no shell reads directives{torque}; write the value, or pass it to qsub"
        )
    } else if literal.starts_with('%') {
        format!("{literal} is literal in {option}: Slurm replaces it in the names of logs only")
    } else {
        format!(
            "{literal} is literal in {option}: no shell reads directives; write the value, or pass it to sbatch: \
             sbatch {option}=…"
        )
    };
    look.found(directive.at, "variable-in-directive", message);
}

/// The folder of the log must exist when the job starts, or, under PBS, when it ends.
fn log_folder(look: &mut Look<'_>, directive: &Directive) {
    let is_log = match directive.is_pbs {
        true => ["o", "e"].contains(&&*directive.option),
        false => ["output", "error"].contains(&&*directive.option),
    };
    // A host may come before PBS's path.
    let path = directive.value.rsplit(':').next().unwrap_or_default();
    let Some((folder, _)) = path.rsplit_once('/').filter(|_| is_log) else { return };
    let folder = folder.trim_start_matches("./");
    // An absolute path usually leads to a folder that exists, unless the script itself creates it.
    let is_known = folder.starts_with(['/', '~', '$']) && !makes(look, folder);
    // The folder of a program that the script starts exists.
    let words = || look.model.steps.iter().flat_map(|step| &step.command.words);
    let in_folder =
        |path: &str| path.trim_start_matches("./").strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    let has_program = words().any(|word| word.text.ends_with(".py") && in_folder(&word.text));
    // PBS writes the log when the script has ended.
    let in_time = directive.is_pbs && makes(look, folder);
    // Another script submits this one, and makes folders.
    let is_made = folder.contains("$@") || look.outer.runs.iter().any(|run| run.command.runs("mkdir").is_some());
    if folder.split('/').all(|part| ["", ".", ".."].contains(&part)) || is_known || has_program || in_time || is_made {
        return;
    }
    let late = if makes(look, folder) { "; mkdir in the script is too late" } else { "" };
    let message = match directive.is_pbs {
        true => format!("PBS creates no folders, and without {folder} the log is lost: create it before qsub"),
        false => format!(
            "Slurm creates no folders, and without {folder} the job ends at once and without a log: create it before \
             sbatch{late}"
        ),
    };
    if !look.findings.iter().any(|finding| finding.message == message) {
        look.found(directive.at, "log-folder", message);
    }
}

/// Whether the script itself creates the folder.
fn makes(look: &Look<'_>, folder: &str) -> bool {
    let is_folder = |text: &str| text.trim_end_matches('/').trim_start_matches("./") == folder;
    look.model.runs.iter().any(|run| {
        run.command.runs("mkdir").is_some_and(|at| run.command.words[at..].iter().any(|word| is_folder(&word.text)))
    })
}

#[cfg(test)]
mod tests {
    use crate::lint::tests::found;

    #[test]
    fn options_that_are_given_twice() {
        let twice = |script: &str| found("hpu", script, &["directive-twice"]);
        twice("#SBATCH --nodes=2\n#SBATCH -N 4\n");
        twice("#SBATCH --mail-type=begin\n#SBATCH --mail-type=end\n");
        twice("#PBS -l walltime=01:00:00\n#PBS -l select=1,walltime=02:00:00\n");
        found("hpu", "#PBS -l select=1\n#PBS -l walltime=01:00:00\n#PBS -W a=1\n#PBS -W b=2\n", &[]);
        found("hpu", "#SBATCH -n 1 -A a\n#SBATCH hetjob\n#SBATCH -n 2 -A a\n##SBATCH -n 3\n", &[]);
    }

    #[test]
    fn options_of_sbatch() {
        found("hpu", "#SBATCH --ntask=2\n#SBATCH --times=01:00:00\n", &["unknown-option"]);
        found("hpu", "#SBATCH --out=logs/%j.out\n", &["log-folder"]);
        found("hpu", "#SBATCH --workdir=/x\n#SBATCH --tasks-per-node=2\n#PBS -oe\n", &["unknown-option"; 2]);
        found("hpu", "#SBATCH --wait\n#SBATCH -W\n", &["directive-twice"]);
        found("hpu", "#SBATCH --mail-user=your email\n", &["placeholder"]);
        found("hpu", "#SBATCH --account=\n#SBATCH --gres=gpu:0\n", &["placeholder", "asked-devices"]);
        found("hpu", "#SBATCH --container-image=x --constrain=a\n", &[]);
    }

    #[test]
    fn words_of_bash() {
        let check = |before: &str, rules: &[&str]| {
            let after = if rules.is_empty() { before.to_string() } else { before.replace("/sh", "/bash") };
            crate::lint::tests::check("hpu", before, &after, rules);
        };
        check("#!/bin/sh\nlet N=2*3\necho $N\n", &["bash-only"]);
        check("#! /bin/sh\nA=(a b)\necho ${A[0]}\n", &["bash-only"]);
        check("#!/bin/sh\nif [[ -f x ]]; then echo x; fi\n", &["bash-only"]);
        check("#!/bin/sh\nA=1\n. ./x\n[ $A = 1 ] && bash -c 'let A=2'\n", &[]);
        check("#!/bin/sh\nA=\"$(echo x=(1))\"\necho $A\n", &[]);
        check("#!/bin/bash\nlet N=2*3\necho $N\n", &[]);
    }

    #[test]
    fn what_no_shell_expands() {
        let literal = |script: &str| found("hpu", script, &["variable-in-directive"]);
        literal("#SBATCH --output=$SCRATCH/%j.out\n");
        literal("#SBATCH -J run_${NAME}\n");
        literal("#SBATCH --chdir=~/x\n");
        literal("#SBATCH -J run_%j\n");
        literal("#PBS -o x.$PBS_JOBID\n");
        found("hpu", "#PBS -l nodes=2:ppn=4 -o x.$PBS_JOBID\n", &[]);
        found("hpu", "#SBATCH --output=%x-%j.out --comment='1 $'\n#PBS -o ^array_index^.log\n", &[]);
    }

    #[test]
    fn folders_of_logs() {
        let lost = |script: &str| found("hpu", script, &["log-folder"]);
        lost("#SBATCH --output=logs/%j.out\n#SBATCH --error=logs/%j.err\n");
        lost("#SBATCH -o ./logs/%j.out\nmkdir -p logs\n");
        lost("#SBATCH -o /scratch/me/logs/%j.out\nmkdir -p /scratch/me/logs\n");
        lost("#PBS -o logs/\n");
        found("hpu", "#PBS -o logs/\ncd $PBS_O_WORKDIR\nmkdir -p logs\n", &[]);
        found("hpu", "#SBATCH -o a/b/%j.out\nsrun bash -c 'python a/b/t.py'\n", &[]);
        found("hpu", "#SBATCH -o %j.out -e ../%j.err\n#SBATCH -D a/b\n", &[]);
        found("hpu", "#SBATCH -o /scratch/me/logs/%j.out -e /dev/null\n", &[]);
    }

    #[test]
    fn the_first_line() {
        found("hpu", "\n#!/bin/bash\n#SBATCH -N 1\n", &["no-interpreter"]);
        found("hpu", "#!/bin/bash\n#SBATCH -N 1\n", &[]);
    }
}
