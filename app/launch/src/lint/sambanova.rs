//! RDU: what is run must be what was compiled.

use super::Look;
use super::gaudi::system_packages;
use super::shell::Command;
use super::words::name;
use crate::word::Word;

pub(super) fn check(look: &mut Look<'_>) {
    look.each(|look, command| {
        for word in &command.words {
            name(look, word, "snstat", "sntilestat", "there is no such command; sntilestat shows the tiles");
            name(look, word, "snrun", "", "there is no such command; srun or MPICH's mpirun starts the processes");
        }
        system_packages(look, command);
    });
    // With several programs in one script nothing says which file belongs to which.
    let compiled: Vec<Compiled> = look.commands.iter().filter_map(Compiled::of).collect();
    let [compiled] = &compiled[..] else { return };
    look.each(|look, command| {
        if let Some((path, words)) = command.value(&["--pef"]).filter(|_| command.has("run")) {
            compiled.check(look, command, path, words.start);
        }
    });
}

/// What a command `compile` makes.
struct Compiled {
    path: String,
    batch: Option<String>,
    data_parallel: bool,
    /// The place behind the word `compile`.
    place: usize,
}

const BATCH: [&str; 2] = ["-b", "--batch-size"];

impl Compiled {
    fn of(command: &Command) -> Option<Compiled> {
        let verb = command.words.iter().find(|word| word.text == "compile")?;
        let (name, _) = command.value(&["--pef-name"])?;
        let folder = command.value(&["--output-folder"]).map_or("out", |(folder, _)| folder);
        Some(Compiled {
            path: format!("{}/{name}/{name}.pef", folder.trim_end_matches('/')),
            batch: command.value(&BATCH).map(|(batch, _)| batch.to_string()),
            data_parallel: command.has("--data-parallel"),
            place: verb.range.end,
        })
    }

    fn check(&self, look: &mut Look<'_>, run: &Command, path: &str, word: usize) {
        let at = run.words[word].range.start;
        let plain = |path: &str| {
            let path = path.trim_start_matches("$(pwd)/").trim_start_matches("${PWD}/").trim_start_matches("$PWD/");
            path.trim_start_matches("./").to_string()
        };
        if plain(path) != plain(&self.path) {
            look.found(at, "pef-path", format!("the compiled file is {}", self.path));
            self.mend_path(look, run, path, word);
        }
        if run.has("--data-parallel") && !self.data_parallel {
            let message = "what runs data-parallel is compiled so: --data-parallel -ws 2";
            look.found(self.place, "data-parallel", message);
            look.mend(self.place..self.place, " --data-parallel -ws 2");
        }
        let batch = run.value(&BATCH);
        if let (Some(compiled), Some((batch, words))) = (&self.batch, batch)
            && compiled != batch
        {
            let message = format!("compiled for {compiled} samples and run with {batch}: the shape is fixed");
            look.found(run.words[words.start].range.start, "batch", message);
        }
    }

    fn mend_path(&self, look: &mut Look<'_>, run: &Command, path: &str, word: usize) {
        let own = &run.words[word];
        let (token, before) = if own.text == "--pef" { (&run.words[word + 1], "") } else { (own, "--pef=") };
        let own = format!("{before}{}", self.path);
        // A variable in the path stays one.
        let new = if self.path.contains('$') { format!("\"{own}\"") } else { Word::text(own).quoted() };
        if !path.is_empty() && !self.path.contains(['"', '\\', '`']) {
            look.mend(token.range.clone(), new);
        }
    }
}
