//! A program that is compiled before it runs: what is run must be what was compiled.

use super::Look;
use super::shell::Command;
use crate::word::Word;
use tables::CompiledWords;

pub(super) fn check(look: &mut Look<'_>, words: &CompiledWords) {
    // With several programs in one script it is unknown which file belongs to which.
    let runs = look.model.runs.iter();
    let compiled: Vec<Compiled> = runs.filter_map(|run| Compiled::of(&run.command, words)).collect();
    let [compiled] = &compiled[..] else { return };
    look.each(|look, command| {
        if let Some((path, place)) = command.value(&[&words.file]).filter(|_| command.has(&words.run)) {
            compiled.check(look, command, path, place.start, words);
        }
    });
}

/// The output of a command `compile`.
struct Compiled {
    path: String,
    batch: Option<String>,
    data_parallel: bool,
    /// The position after the word `compile`.
    place: usize,
}

impl Compiled {
    fn of(command: &Command, words: &CompiledWords) -> Option<Compiled> {
        let verb = command.words.iter().find(|word| word.text == words.compile)?;
        let (name, _) = command.value(&[&words.name])?;
        let folder = command.value(&[&words.folder]).map_or(&*words.usual_folder, |(folder, _)| folder);
        // A name that already has the file's extension keeps it.
        let ending = words.path.rsplit('}').next().unwrap_or_default();
        let name = name.strip_suffix(ending).unwrap_or(name);
        let path = words.path.replace("{folder}", folder.trim_end_matches('/')).replace("{name}", name);
        Some(Compiled {
            path,
            batch: batch_of(command, words),
            data_parallel: command.has(&words.parallel),
            place: verb.range.end,
        })
    }

    fn check(&self, look: &mut Look<'_>, run: &Command, path: &str, word: usize, words: &CompiledWords) {
        let at = run.words[word].range.start;
        let plain = |path: &str| {
            let path = path.trim_start_matches("$(pwd)/").trim_start_matches("${PWD}/").trim_start_matches("$PWD/");
            path.trim_start_matches("./").to_string()
        };
        if plain(path) != plain(&self.path) {
            look.found(at, "pef-path", format!("the compiled file is {}", self.path));
            self.mend_path(look, run, path, word, &words.file);
        }
        if run.has(&words.parallel) && !self.data_parallel {
            let message = format!("to run data-parallel, compile with {}", words.parallel_compile);
            look.found(self.place, "data-parallel", message);
            look.mend(self.place..self.place, format!(" {}", words.parallel_compile));
        }
        let flags: Vec<&str> = words.batch.iter().map(String::as_str).collect();
        if let (Some(compiled), Some((batch, place))) = (&self.batch, run.value(&flags))
            && compiled != batch
        {
            let message = format!("compiled for {compiled} samples but run with {batch}: the shape is fixed");
            look.found(run.words[place.start].range.start, "batch", message);
        }
    }

    fn mend_path(&self, look: &mut Look<'_>, run: &Command, path: &str, word: usize, option: &str) {
        let own = &run.words[word];
        let (token, before) =
            if own.text == option { (&run.words[word + 1], String::new()) } else { (own, format!("{option}=")) };
        let own = format!("{before}{}", self.path);
        // A variable in the path is kept.
        let new = if self.path.contains('$') { format!("\"{own}\"") } else { Word::text(own).quoted() };
        if !path.is_empty() && !self.path.contains(['"', '\\', '`']) {
            look.mend(token.range.clone(), new);
        }
    }
}

fn batch_of(command: &Command, words: &CompiledWords) -> Option<String> {
    let flags: Vec<&str> = words.batch.iter().map(String::as_str).collect();
    command.value(&flags).map(|(batch, _)| batch.to_string())
}
