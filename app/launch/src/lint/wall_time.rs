//! The wall time of a job, as a scheduler parses it.
//!
//! Slurm: "minutes:seconds" is among the forms of `--time`, "hours:minutes" is not
//! (<https://slurm.schedmd.com/sbatch.html#OPT_time>). PBS: a duration is `[[hours:]minutes:]seconds`
//! (<https://www.openpbs.org/>, pbs_resources(7B)).

use super::shell::Command;
use super::{Look, names};

const STARTERS: [&str; 3] = ["sbatch", "salloc", "srun"];

pub(super) fn check(look: &mut Look<'_>) {
    let script = look.script;
    let mut at = 0;
    for line in script.split_inclusive('\n') {
        directive(look, line, at);
        at += line.len();
    }
    look.each(|look, command| {
        for starter in STARTERS {
            if let Some(start) = command.runs(starter) {
                options(look, command, start);
            }
        }
    });
}

/// `#SBATCH --time=1:0` and `#PBS -l walltime=1:0`, which a shell does not parse.
fn directive(look: &mut Look<'_>, line: &str, at: usize) {
    let slurm = line.strip_prefix("#SBATCH").map(|rest| ("Slurm", rest));
    let Some((scheduler, rest)) = slurm.or_else(|| line.strip_prefix("#PBS").map(|rest| ("PBS", rest))) else { return };
    let words: Vec<&str> = rest.split_whitespace().take_while(|word| !word.starts_with('#')).collect();
    let said = match scheduler {
        "Slurm" => words.iter().enumerate().find_map(|(at, word)| time_of(word, words.get(at + 1).copied())),
        _ => words
            .iter()
            .flat_map(|word| word.trim_start_matches("-l").split(','))
            .find_map(|part| part.strip_prefix("walltime=")),
    };
    if let Some(said) = said {
        say(look, at, scheduler, said);
    }
}

/// Options of the scheduler's own command: they end where the program that it starts begins.
fn options(look: &mut Look<'_>, command: &Command, start: usize) {
    let words = &command.words[start + 1..];
    let mut takes_value = false;
    for (index, word) in words.iter().enumerate() {
        if !word.text.starts_with('-') && !takes_value {
            return;
        }
        let next = words.get(index + 1).map(|word| word.text.as_str());
        if let Some(said) = time_of(&word.text, next) {
            return say(look, word.range.start, "Slurm", said);
        }
        // A word after an option without `=` may be its value.
        takes_value = word.text.starts_with('-') && !word.text.contains('=') && !names::stands_alone(&word.text);
    }
}

/// The value of Slurm's option, in one word or in two.
fn time_of<'w>(word: &'w str, next: Option<&'w str>) -> Option<&'w str> {
    let short = || word.strip_prefix("-t").filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    match word {
        "--time" | "-t" => next,
        _ => word.strip_prefix("--time=").or_else(short),
    }
}

fn say(look: &mut Look<'_>, at: usize, scheduler: &str, said: &str) {
    let said = said.trim_matches(['"', '\'']);
    if let Some(time) = with_unit(said) {
        let message = format!("{scheduler} accepts no units: {time}");
        look.found(at, "wall-time", message);
        let line = look.script[at..].lines().next().unwrap_or_default();
        if let Some(place) = line.find(said) {
            look.mend(at + place..at + place + said.len(), time);
        }
        return;
    }
    let Some((minutes, seconds)) = said.split_once(':') else { return };
    let number = |text: &str| text.parse::<u32>().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
    let (Some(minutes), Some(seconds)) = (number(minutes), number(seconds)) else { return };
    let length = match (minutes, seconds) {
        (1, 0) => "1 minute".to_string(),
        (minutes, 0) => format!("{minutes} minutes"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    };
    let (hours, rest) = (minutes / 60, minutes % 60);
    let message = format!(
        "{scheduler} reads {said} as {length}, not hours: write {minutes:02}:{seconds:02}:00 or \
         {hours:02}:{rest:02}:{seconds:02}"
    );
    look.found(at, "wall-time", message);
}

/// `4h`, `30min`, `2d` as hours, minutes and seconds.
fn with_unit(said: &str) -> Option<String> {
    let digits = said.find(|c: char| !c.is_ascii_digit()).filter(|at| *at > 0)?;
    let number: u64 = said[..digits].parse().ok()?;
    let seconds = match &*said[digits..].to_ascii_lowercase() {
        "s" | "sec" | "secs" | "seconds" => 1,
        "m" | "min" | "mins" | "minutes" => 60,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600,
        "d" | "day" | "days" => 86400,
        _ => return None,
    };
    let all = number.checked_mul(seconds)?;
    Some(format!("{:02}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60))
}
