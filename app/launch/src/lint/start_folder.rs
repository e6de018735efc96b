//! The folder in which a job starts.

use super::{Look, names};

/// PBS starts a job in the home folder (qsub(1)), where relative paths lead nowhere.
pub(super) fn check(look: &mut Look<'_>) {
    let own = |line: &str| line.starts_with("#PBS") && (line.contains(" -d ") || line.contains(" -w "));
    // A script for both schedulers is Slurm's, which starts a job where it was submitted.
    let is_pbs = !look.directives.is_empty() && look.directives.iter().all(|directive| directive.is_pbs);
    if !is_pbs || look.asked("l wd").is_some() || look.script.lines().any(own) {
        return;
    }
    let is_relative = |text: &str| !text.is_empty() && !text.starts_with(['/', '$', '~', '-', '`']);
    let mut found = None;
    for run in look.model.runs.iter().filter(|run| !look.model.steps[run.step].block.function) {
        let words = &run.command.words[look.model.steps[run.step].start.min(run.command.words.len())..];
        let Some(first) = words.first() else { continue };
        let second = words.get(1).map_or("", |word| &*word.text);
        let names_it = words.iter().any(|word| word.text.contains("PBS_O_WORKDIR"));
        match &*first.text {
            // Without a folder it leads home; with one, it was meant, also if it starts there.
            "cd" if second.is_empty() => {}
            "cd" | "pushd" if second.starts_with("./") || second.starts_with("..") => found = words.get(1),
            "cd" | "pushd" => return,
            "source" | "." if !is_relative(second) || names::activates(second) => {}
            "source" | "." => found = words.get(1),
            _ if names_it && first.assigned().is_none() => return,
            "export" | "echo" | "mkdir" | "module" | "conda" => {}
            _ => {
                let is_file =
                    |text: &str| text.starts_with("./") || [".py", ".sh"].iter().any(|end| text.ends_with(end));
                found =
                    words.iter().find(|word| word.sets().is_none() && is_file(&word.text) && is_relative(&word.text));
            }
        }
        if found.is_some() {
            break;
        }
    }
    let Some(word) = found else { return };
    let at = word.range.start;
    let message =
        format!("PBS starts a job in the home folder and looks for {} there: cd \"$PBS_O_WORKDIR\" first", word.text);
    let line = look.script[..at].rfind('\n').map_or(0, |end| end + 1);
    // The start of a command, not of a line that continues one.
    let is_start = !look.script[..line].ends_with("\\\n")
        && look.commands.iter().all(|command| {
            let start = command.words.first().map_or(0, |word| word.range.start);
            let end = command.words.last().map_or(0, |word| word.range.end);
            !(start < line && line < end)
        });
    look.found(at, "start-folder", message);
    if is_start {
        look.mend(line..line, "cd \"$PBS_O_WORKDIR\"\n");
    }
}

#[cfg(test)]
mod tests {
    use crate::lint::tests::{check, found};

    #[test]
    fn a_job_that_starts_at_home() {
        let script = "#PBS -l select=1\nmodule load x\npython t.py\n";
        check("hpu", script, &script.replace("python", "cd \"$PBS_O_WORKDIR\"\npython"), &["start-folder"]);
        let script = "#PBS -l select=1\ncd ./src\npython t.py\n";
        check("hpu", script, &script.replace("cd", "cd \"$PBS_O_WORKDIR\"\ncd"), &["start-folder"]);
        found("hpu", "#PBS -l select=1\nsource ~/x\ncd #y\n{ python \\\n  t.py\n}\n", &["start-folder"]);
        for fine in [
            "#PBS -l select=1\ncd $PBS_O_WORKDIR\npython t.py\n",
            "#PBS -l select=1\ncd /projects/x\npython t.py\n",
            "#PBS -l select=1\nW=$PBS_O_WORKDIR\ncd \"$W\"\npython t.py\n",
            "#PBS -l select=1\npython ~/t.py\n",
            "#PBS -l select=1\ncd src\npython t.py\n",
            "#PBS -l select=1\ncd $PBS_O_WORKDIR/..\ncd ./src\npython t.py\n",
            "#PBS -l select=1\nmpiexec -wdir $PBS_O_WORKDIR python t.py\n",
            "#PBS -l select=1\nT=t.py\ncd /x\npython $T\n",
            "#PBS -l wd\npython t.py\n",
            "#PBS -d .\n#PBS -l select=1\npython t.py\n",
            "#SBATCH -N 1\npython t.py\n",
        ] {
            found("hpu", fine, &[]);
        }
    }
}
