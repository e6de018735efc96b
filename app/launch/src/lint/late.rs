//! What a script does too late: a module that hides the environment, a variable after the last program.

use super::model::{Block, Run, SetKind, Step};
use super::unset::of_vendors;
use super::{Look, names};

pub(super) fn check(look: &mut Look<'_>) {
    if !look.directives.is_empty() {
        hidden_environment(look);
        after_all(look);
    }
}

/// Whether a step activates an environment of Python's.
fn activates(step: &Step) -> bool {
    let texts: Vec<&str> = step.words().iter().map(|word| &*word.text).collect();
    match texts[..] {
        ["source" | ".", "activate", ..] => true,
        ["source" | ".", file, ..] => file.ends_with("/bin/activate"),
        [tool, "activate", _, ..] => names::activates(tool),
        _ => false,
    }
}

/// `module load python` after an environment was activated: the module's programs come first in PATH.
fn hidden_environment(look: &mut Look<'_>) {
    let steps = || look.model.steps.iter().filter(|step| step.block == Block::default());
    let Some(last) = steps().rfind(|step| activates(step)) else { return };
    let active = last.words()[0].range.start;
    let loads = |step: &&Step| {
        let words = step.words();
        words.first().is_some_and(|word| ["module", "ml"].contains(&&*word.text))
            && !words.iter().any(|word| ["unload", "rm", "purge", "list"].contains(&&*word.text))
    };
    let module = steps().filter(loads).flat_map(Step::words).find(|word| {
        word.range.start > active && names::brings_python(word.text.split('/').next().unwrap_or_default())
    });
    let leaves = |step: &Step| step.words().iter().any(|word| word.text == "deactivate");
    let Some((at, name)) = module.map(|word| (word.range.start, word.text.clone())) else { return };
    if !look.model.steps.iter().any(leaves) {
        let line = look.line(active);
        let message = format!("{name} comes before the environment of line {line} in PATH: load it before that line");
        look.found(at, "late-module", message);
    }
}

/// `export NAME=…` that no program and no command gets.
fn after_all(look: &mut Look<'_>) {
    let model = &look.model;
    let starts = |run: &&Run| model.trains(run.step) || run.command.words.iter().any(|word| word.text.ends_with(".sh"));
    let is_program = |name: &str| !names::is_quiet(name) && !names::is_short(name);
    let runs = |run: &&Run| run.program().is_some_and(is_program) && !model.steps[run.step].gives_value();
    let Some(first) = model.runs.iter().find(starts).map(|run| run.step) else { return };
    let last = model.runs.iter().rfind(runs).map_or(usize::MAX, |run| run.step);
    let is_read =
        |name: &str, at: usize| model.uses_of(name).any(|used| used.at > at && !model.steps[used.step].is_quiet());
    let (of_vendors, foreign) = (of_vendors(), &look.table.lint.foreign.variables);
    let is_for_programs = |name: &str| {
        let is_vendors = name.split_once('_').is_some_and(|(first, _)| of_vendors.contains(first));
        is_vendors || names::read_by_programs(name) || foreign.iter().any(|begins| name.starts_with(&**begins))
    };
    let late = model.sets.iter().filter(|set| {
        let is_plain = set.kind == SetKind::Exported && model.steps[set.step].block == Block::default();
        is_plain && is_for_programs(&set.name) && set.step > first && set.step > last && !is_read(&set.name, set.at)
    });
    let late: Vec<(usize, String)> = late.map(|set| (set.at, set.name.clone())).collect();
    for (at, name) in late {
        let message = format!("no program starts after this line, so none gets {name}: export it earlier");
        look.found(at, "late-variable", message);
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::tests::found;

    #[test]
    fn a_module_that_hides_the_environment() {
        let hidden = |script: &str| found("xpu", &format!("#SBATCH -N 1\n{script}"), &["late-module"]);
        hidden("source $W/env/bin/activate\nmodule load gcc\nmodule load python/3.10.8\npython t.py\n");
        hidden("source activate x\nml Anaconda3\npython t.py\n");
        for fine in [
            "module load python/3.10\nsource env/bin/activate\npython t.py\n",
            "source env/bin/activate\nmodule load python\nsource env/bin/activate\npython t.py\n",
            "source env/bin/activate\nmodule unload python\nmodule load gcc python-data-tools.x\npython t.py\n",
            "source env/bin/activate\npython a.py\ndeactivate\nmodule load python\npython t.py\n",
            "if [ -d x ]; then\nsource env/bin/activate\nfi\nmodule load python\npython t.py\n",
        ] {
            found("xpu", &format!("#SBATCH -N 1\n{fine}"), &[]);
        }
        found("xpu", "source env/bin/activate\nmodule load python\npython t.py\n", &[]);
    }

    #[test]
    fn variables_that_no_program_gets() {
        let late = |script: &str| found("xpu", &format!("#SBATCH -N 1\n{script}"), &["late-variable"]);
        late(
            "python t.py\nexport OMP_NUM_THREADS=4\nif [ -f x ]; then\necho $OMP_NUM_THREADS\nfi\ncat x | sort > `tool`\n",
        );
        late("C=\"\"\nbash x.sh\nexport HF_HOME=1\neval $C\n");
        for fine in [
            "export HF_HOME=1\npython t.py\n",
            "python t.py\nexport HF_HOME=1\nmy_program\n",
            "python t.py\nexport HF_HOME=1\ncp x $HF_HOME\n",
            "for i in 1 2; do python t.py; export HF_HOME=1; done\n",
            "C=x\npython t.py\nexport HF_HOME=1\neval $C\n",
            "export HF_HOME=1\n",
            "python t.py\nexport A=1\necho $A\n",
            "f() { export HF_HOME=1; }\nf\npython t.py\n",
        ] {
            found("xpu", &format!("#SBATCH -N 1\n{fine}"), &[]);
        }
    }
}
