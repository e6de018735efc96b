//! Folders for logs into which a script redirects output without making them.

use super::Look;
use super::model::file_name;
use super::program::is_start;
use super::shell::{Command, Token};

/// A shell does not start a command whose output it can't write. Only folders with a name for logs: others may belong to the
/// project.
pub(super) fn check(look: &mut Look<'_>) {
    let model = look.model.clone();
    let mut said: Vec<String> = Vec::new();
    for (number, step) in model.steps.iter().enumerate().filter(|(_, step)| !step.inner) {
        let word = step.command.outputs.first().and_then(|at| step.command.words.get(*at));
        let Some((folder, word)) = word.and_then(|word| Some((folder(look, word)?, word))) else { continue };
        let last = file_name(&folder);
        let names_it = |word: &Token| word.text.contains(last) || word.text.contains('$');
        // An archive, a repository or another folder may have it; a program before may have made it.
        let brings = |own: &Command| {
            let goes = own.runs("cd").and_then(|cd| own.words.get(cd + 1));
            ["mkdir", "install"].iter().any(|name| own.runs(name).is_some()) && own.words.iter().any(names_it)
                || ["clone", "tar", "unzip", "rsync"].iter().any(|name| own.runs(name).is_some())
                || goes.is_some_and(|to| to.text.starts_with(['/', '~', '$']) && !to.variable().is_some_and(is_start))
        };
        let of_script = |own: &Command| {
            let mut others = (0..own.words.len()).filter(|at| !own.outputs.contains(at)).map(|at| &own.words[at]);
            others.any(|word| word.sets().is_none() && word.text.contains(folder.as_str()))
        };
        let is_made = model.steps[..number].iter().any(|step| brings(&step.command))
            || model.steps.iter().any(|step| of_script(&step.command))
            || look.directives.iter().any(|own| own.value.contains(&*folder));
        if !is_made && !said.contains(&folder) {
            let message = format!(
                "the shell does not start this command unless the folder {folder} exists, and the script does not make \
                 it: mkdir -p {folder} first"
            );
            look.found(word.range.start, "log-folder", message);
            said.push(folder);
        }
    }
}

/// The relative folder of a file, if its name is one for logs. A folder in which the script has a program is its project's.
fn folder(look: &Look<'_>, word: &Token) -> Option<String> {
    let (first, rest) = word.text.split_once('/')?;
    let is_program = |other: &Token| other.text.ends_with(".py") && other.text.starts_with(&format!("{first}/"));
    let has_program = || look.model.steps.iter().flat_map(|step| &step.command.words).any(is_program);
    let first = match first.starts_with('$') && !has_program() {
        true => look.model.constant(look.script, first, word.range.start)?,
        false => first.to_string(),
    };
    let path = format!("{first}/{rest}");
    let (folder, _) = path.rsplit_once('/')?;
    let is_log = |part: &str| ["log", "out", "err"].iter().any(|name| part.to_ascii_lowercase().starts_with(name));
    let named = file_name(folder).split(|c: char| !c.is_ascii_alphabetic()).any(is_log);
    let folder = folder.trim_start_matches("./");
    (named && !folder.starts_with(['/', '~', '`'])).then(|| folder.to_string())
}

#[cfg(test)]
mod tests {
    use crate::lint::tests::found;

    #[test]
    fn folders_that_nothing_makes() {
        let lost = |script: &str| found("hpu", script, &["log-folder"]);
        lost("python t.py > ./logs/a.log 2>&1\npython t.py > logs/b.log\n");
        lost("L=out_1\npython t.py &> $L/a.txt\n");
        lost("P=$HOME/p\npython $P/t.py >> $P/x/logs/$1.log\n");
        lost("cd $SLURM_SUBMIT_DIR\ncd ./src\nmkdir data\npython t.py > logs/a\n");
        for fine in [
            "mkdir -p logs\npython t.py > logs/a\n",
            "mkdir -p $1\npython t.py > logs/a\n",
            "[ -d logs ] || exit\npython t.py > logs/a\n",
            "#SBATCH -o logs/%j.out\npython t.py > logs/a\n",
            "git clone x\npython t.py > logs/a\n",
            "cd /x/y\npython t.py > logs/a\n",
            "python prepare.py --out logs\npython t.py > logs/a\n",
            "python t.py > data/a.txt\npython t.py > a.log\npython t.py > /x/logs/a > ~/logs/a\n",
            "python t.py > $1/logs/a\necho 'a > logs/b'\n",
        ] {
            let rules = if fine.starts_with('#') { &["log-folder"][..] } else { &[] };
            found("hpu", fine, rules);
        }
    }
}
