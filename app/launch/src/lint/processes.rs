//! Many processes: one training or many, and flags that have no effect.

use super::Look;
use super::shell::{Command, Token};
use tables::JoinedBy;

pub(super) fn check(look: &mut Look<'_>) {
    look.each(|look, command| {
        bare_mca(look, command);
        match look.table.joined_by {
            JoinedBy::Program => separate(look, command),
            JoinedBy::Launcher => joined_twice(look, command),
            JoinedBy::Options => {}
        }
    });
}

/// `--mca` has the next two words as its arguments, whatever they are.
fn bare_mca(look: &mut Look<'_>, command: &Command) {
    for pair in command.words.windows(2) {
        let [mca, next] = pair else { continue };
        if mca.text == "--mca" && next.text.starts_with('-') {
            let message = "--mca consumes the next two words as name and value: these flags are lost";
            look.found(mca.range.start, "bare-mca", message);
            let blank = look.script[mca.range.end..].chars().next().is_some_and(|c| c == ' ' || c == '\t');
            look.mend(mca.range.start..mca.range.end + usize::from(blank), "");
        }
    }
}

/// The argument that determines whether the program joins its processes, if it has the value.
fn distributed<'c>(command: &'c Command, value: &str) -> Option<&'c Token> {
    command.words.iter().find(|word| {
        word.text.split_once('=').is_some_and(|(key, said)| {
            let key = key.trim_start_matches(['-', '+']);
            key.rsplit('.').next() == Some("distributed") && said.eq_ignore_ascii_case(value)
        })
    })
}

fn say(look: &mut Look<'_>, word: &Token, value: &str) {
    let key = word.text.split('=').next().unwrap_or_default();
    if word.pieces.len() == 1 {
        look.mend(word.pieces[0].range.clone(), format!("{key}={value}"));
    }
}

fn separate(look: &mut Look<'_>, command: &Command) {
    let starters: [(&str, &[&str]); 5] = [
        ("mpirun", &["-n", "-np", "--n", "--np", "-c"]),
        ("mpiexec", &["-n", "-np", "--n", "--np", "-c"]),
        ("srun", &["-n", "--ntasks", "--ntasks-per-node"]),
        ("torchrun", &["--nproc_per_node", "--nproc-per-node"]),
        ("torch.distributed.run", &["--nproc_per_node", "--nproc-per-node"]),
    ];
    let starts = |name: &str, flags: &[&str]| {
        command.runs(name).is_some() && command.number(flags).is_some_and(|count| count > 1)
    };
    let of_target = |starter: &tables::Starter| {
        starts(&starter.program, &starter.flags.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let several =
        starters.iter().any(|(name, flags)| starts(name, flags)) || look.table.lint.starter.iter().any(of_target);
    if let Some(word) = distributed(command, "false").filter(|_| several) {
        let message = "each process trains a separate model; this must be True";
        look.found(word.range.start, "separate-trainings", message);
        say(look, word, "True");
    }
}

fn joined_twice(look: &mut Look<'_>, command: &Command) {
    let Some(shares) = &look.table.lint.shares else { return };
    if let Some(word) = distributed(command, "true").filter(|_| command.runs(&shares.program).is_some()) {
        let message = format!("{} joins the instances, not the program; this must be False", shares.program);
        look.found(word.range.start, "joined-twice", message);
        say(look, word, "False");
    }
}
