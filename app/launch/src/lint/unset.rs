//! The script's own variables that it never sets.

use super::model::file_name;
use super::names::given;
use super::shell::{Command, substitutions};
use super::spelling::distance;
use super::{Look, names};
use crate::target::Target;
use sorting::{SortedMap, SortedSet};

/// A name that nothing in the script sets is empty at run time, unless it is one of a shell's, a scheduler's or a
/// vendor's; one that is set later is empty until then. Nothing is reported for a script that sources another one, which
/// may set it, except for a scheduler's names.
pub(super) fn check(look: &mut Look<'_>) {
    let sources = look.commands.iter().any(|command| reads_another(look, command));
    let set = set(look);
    let asked = asked(look);
    // The directives say that the environment of the submission is passed on.
    let passed = look.directives.iter().any(|own| own.option == "export" && own.value == "ALL")
        || look.directives.iter().any(|own| own.is_pbs && own.option == "V");
    let of_vendors = of_vendors();
    let loads = ["module", "ml"].iter().any(|name| look.commands.iter().any(|command| command.runs(name).is_some()));
    let is_given = |name: &str| {
        given("is").any(|given| name == given)
            || given("begins").any(|beginning| name.starts_with(beginning))
            || given("ends").any(|ending| name.ends_with(ending))
            || (loads && given("module").any(|ending| name.ends_with(ending)))
            || name.split('_').next().is_some_and(|first| name.contains('_') && of_vendors.contains(first))
    };
    let is_job = !look.directives.is_empty();
    let is_early = |name: &str| OF_PROCESSES.contains(&name) && is_job;
    let model = look.model.clone();
    for used in &model.uses {
        let (name, step) = (&*used.name, &model.steps[used.step]);
        // `$NF` and the like belong to other languages.
        let is_other = ["awk", "gawk", "perl", "expect"].iter().any(|name| step.command.runs(name).is_some());
        let is_own = name.len() > 1 && !name.to_ascii_lowercase().ends_with("_proxy");
        // What programs read may come from the user's profile, and a job may show it.
        let is_shown = step.is_quiet() && names::read_by_programs(name);
        if is_other || !is_own || is_shown || used.has_default || asked.contains(name) {
            continue;
        }
        let is_passed = passed && !set.contains_key(name) && name.chars().all(|c| !c.is_ascii_lowercase());
        let is_passed = is_passed || look.outer.sets_of(name).next().is_some();
        if is_passed && !is_of_scheduler(name) {
            continue;
        }
        if is_of_scheduler(name) && !set.contains_key(name) {
            of_scheduler(look, name, used.at);
        } else if (sources && !is_commented(look, name)) || step.inner || (is_given(name) && !is_early(name)) {
            // Another shell may have its own, for example in a container.
        } else if let Some(first) = set.get(name) {
            if *first <= used.at {
                continue;
            }
            let is_same_word =
                step.command.words.iter().any(|word| word.range.contains(first) && word.range.contains(&used.at));
            let setter =
                model.steps.iter().rfind(|step| step.command.words.iter().any(|word| word.range.contains(first)));
            let same_loop =
                step.block.looped.is_some() && setter.is_some_and(|setter| setter.block.looped == step.block.looped);
            if !step.block.function && !same_loop && !is_same_word {
                let line = look.line(*first);
                let message = format!("${name} is set only in line {line}: here it is empty unless set at submission");
                look.found(used.at, "unset-variable", message);
            }
        } else if let Some(near) = misspelled(name, &set) {
            look.found(used.at, "unset-variable", format!("${name} is not set in this script; did you mean {near}?"));
        } else if !comes_from_outside(look, name) {
            let message = format!("${name} is not set in this script: it is empty unless set at submission");
            look.found(used.at, "unset-variable", message);
        }
    }
}

/// The name that the script sets and that differs in a letter, in case or in its end.
fn misspelled<'s>(name: &str, set: &'s SortedMap<String, usize>) -> Option<&'s str> {
    let is_near = |own: &&String| own.eq_ignore_ascii_case(name) || (name.len() > 5 && distance(name, own) == 1);
    set.keys().filter(|own| is_near(own)).map(String::as_str).next()
}

/// What a launcher tells its processes, and no scheduler a job's script.
const OF_PROCESSES: [&str; 6] = ["MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "LOCAL_RANK", "NODE_RANK"];

/// Whether a job may get the name at submission or from the site: it has capital letters, as the environment's names do, or
/// PBS is told it by `-v`. Where the script has it in a comment, it is the script's own.
fn comes_from_outside(look: &Look<'_>, name: &str) -> bool {
    let is_pbs = look.directives.iter().any(|own| own.is_pbs);
    let is_capital = name.chars().all(|c| !c.is_ascii_lowercase());
    !look.directives.is_empty() && !OF_PROCESSES.contains(&name) && (is_pbs || is_capital) && !is_commented(look, name)
}

/// Whether the script sets the name only in a comment, such as `# NAME=x`, so that no other file is meant to.
fn is_commented(look: &Look<'_>, name: &str) -> bool {
    let sets = |line: &str| {
        let text = line.trim_start().strip_prefix('#').map(|text| text.trim_start_matches(['#', ' ']));
        let text = text.map(|text| text.strip_prefix("export ").unwrap_or(text));
        text.and_then(|text| text.strip_prefix(name)).is_some_and(|rest| rest.starts_with('='))
    };
    look.script.lines().any(sets)
}

/// Whether a scheduler would set a variable of that name.
fn is_of_scheduler(name: &str) -> bool {
    ["SLURM_", "SLURMD_", "PBS_"].iter().any(|beginning| name.starts_with(beginning))
}

/// A name that no scheduler sets, or that it sets only with an option that the script's directives lack.
fn of_scheduler(look: &mut Look<'_>, name: &str, at: usize) {
    let known = names::of_jobs().find(|(known, _)| *known == name || (known.ends_with('_') && name.starts_with(known)));
    let Some((_, options)) = known else {
        // A name that lacks its last words, or another one that is spelled nearly so.
        let near = |known: &'static str| (!known.starts_with(name), apart(name, known), distance(name, known), known);
        let nearest = names::of_jobs().map(|(known, _)| near(known)).min();
        let nearest = nearest.filter(|(is_other, apart, distance, _)| !is_other || *distance <= 4 || *apart == 0);
        let nearest = nearest.map(|(.., known)| format!("; did you mean {known}?"));
        let message = format!("no scheduler sets ${name}{}", nearest.unwrap_or_default());
        return look.found(at, "unset-variable", message);
    };
    let mut options = options.split(' ').filter(|option| !option.is_empty());
    let Some(first) = options.next().filter(|_| look.directives.iter().any(|directive| !directive.is_pbs)) else {
        return;
    };
    // A comment, or the name of a log, may show that an array is requested at submission.
    let at_submission = first == "array" && (look.script.contains("%a") || look.script.contains("--array"));
    if !at_submission && look.asked(first).is_none() && options.all(|option| look.asked(option).is_none()) {
        let message = format!(
            "Slurm sets ${name} only for jobs with --{first}, which no directive has: it is empty unless given at submission"
        );
        look.found(at, "unset-variable", message);
    }
}

/// How many words of two names differ; a word and its beginning, such as `DIRECTORY` and `DIR`, do not.
fn apart(name: &str, known: &str) -> usize {
    let (own, other): (Vec<&str>, Vec<&str>) = (name.split('_').collect(), known.split('_').collect());
    let is_same = |(a, b): (&&str, &&str)| a.starts_with(*b) || b.starts_with(*a);
    own.len().abs_diff(other.len()) + own.iter().zip(&other).filter(|pair| !is_same(*pair)).count()
}

/// Whether a command sources a file of the user's or the site's own, or evaluates a text that only a run shows; a Python
/// environment sets its own names only.
fn reads_another(look: &Look<'_>, command: &Command) -> bool {
    command.words.iter().enumerate().any(|(at, word)| {
        let next = command.words.get(at + 1);
        match &*word.text {
            "source" | "." => !next.is_some_and(|word| names::activates(file_name(&word.text))),
            "eval" => !next.is_some_and(|word| {
                let inner = substitutions(look.script, &word.pieces);
                let program = inner.first().and_then(|inner| look.script[inner.clone()].split_whitespace().next());
                program.map_or(look.model.is_known(word), |program| names::activates(file_name(program)))
            }),
            _ => false,
        }
    })
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
pub(super) fn of_vendors() -> SortedSet<String> {
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

/// The names that the script may set, each with the first place: every name that occurs as a word of its own or before a
/// `=`.
fn set(look: &Look<'_>) -> SortedMap<String, usize> {
    let mut names: SortedMap<String, usize> = SortedMap::new();
    for word in look.model.steps.iter().flat_map(|step| &step.command.words) {
        let text = word.text.trim_start_matches('(');
        let end = text.find(|c: char| !is_letter(c)).unwrap_or(text.len());
        let follows = |signs: &[&str]| signs.iter().any(|sign| text[end..].starts_with(sign));
        let at = word.range.start;
        if (end == text.len() || follows(&["=", "+=", "-=", "*=", "[", "++", "--"]))
            && names.get(&text[..end]).is_none_or(|first| *first > at)
        {
            names.insert(text[..end].to_string(), at);
        }
    }
    names
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use crate::lint::tests::found;

    #[test]
    fn names_that_no_scheduler_sets() {
        let unset = |script: &str| found("hpu", script, &["unset-variable"]);
        unset("echo $SLURM_CPU_PER_TASK\n");
        unset("source x.sh\necho ${SLURM_NODE_NUM}\n");
        unset("#PBS -l select=1\necho $PBS_WORKDIR\n");
        unset("#SBATCH -N 1\nexport OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK\n");
        unset("#SBATCH -N 1\npython t.py $SLURM_ARRAY_TASK_ID\n");
        for fine in [
            "#SBATCH -c 4\necho $SLURM_CPUS_PER_TASK $SLURM_TMPDIR $SLURMD_NODENAME\n",
            "#SBATCH -N 1\necho ${SLURM_CPUS_PER_TASK:-4} $SLURM_JOB_ID $SLURM_SPANK_X\n",
            "# sbatch --array=1-9 x.sh\n#SBATCH -N 1\npython t.py $SLURM_ARRAY_TASK_ID\n",
            "#SBATCH -a 1-9\npython t.py $SLURM_ARRAY_TASK_ID\n",
            "echo $SLURM_CPUS_PER_TASK $PBS_NODEFILE $PBS_O_WORKDIR $PBS_ARRAY_INDEX $PBS_NUM_PPN\n",
            "SLURM_X=1\necho $SLURM_X\n",
            "srun apptainer exec i.sif bash -c '$WITH_CONDA && python t.py'\n",
        ] {
            found("hpu", fine, &[]);
        }
    }

    #[test]
    fn names_of_texts_that_only_a_run_shows() {
        found("hpu", "eval \"$(../conda/bin/conda shell.bash hook)\"\necho $part\n", &["unset-variable"]);
        found("hpu", "C=\"echo $part\"\neval $C\n", &["unset-variable"]);
        found("hpu", "eval \"$(tool)\"\neval $1\necho $part\n", &[]);
        found("hpu", "echo $HF_HOME\n", &[]);
        found("hpu", "#SBATCH --export=ALL\nls $BASE\n", &[]);
        found("hpu", "#SBATCH -N 1\ntorchrun --node_rank=${RANK} t.py\n", &["unset-variable"]);
        found("hpu", "#PBS -l select=1\nls $BASE $base\n", &[]);
        found("hpu", "#SBATCH -N 1\nls $BASE $base\n", &["unset-variable"]);
        found("hpu", "#SBATCH -N 1\nBATCH_SIZE=1\npython t.py $BATCH_SIZ\n", &["unset-variable"]);
        found("hpu", "# part=a\nsource x.sh\necho ${other:-$part}\n", &["unset-variable"]);
    }

    #[test]
    fn the_nearest_name() {
        let said = |script: &str| {
            let target = crate::Target::named("hpu").expect("a target");
            crate::lint(script, target).findings.remove(0).message
        };
        assert_eq!(said("echo $SLURM_CPUS"), "no scheduler sets $SLURM_CPUS; did you mean SLURM_CPUS_ON_NODE?");
        assert!(said("echo $SLURM_CPU_PER_TASK").ends_with("; did you mean SLURM_CPUS_PER_TASK?"));
        assert!(said("cd $SLURM_SUBMIT_DIRECTORY").ends_with("; did you mean SLURM_SUBMIT_DIR?"));
        assert_eq!(said("echo $SLURM_QWERTYUIOPASDF"), "no scheduler sets $SLURM_QWERTYUIOPASDF");
    }
}
