//! A twin run: the original and its port, run on the CPU with the same data and initial weights, and compared step by
//! step. This is the command for one.

use crate::form::Fields;
use crate::target::Target;
use crate::word::{Word, split_words};

/// Arguments of a port in addition to the original's, read from the ported project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Twin {
    /// The target's name on the command line.
    pub target: String,
    /// The program, relative to the project's root.
    pub entry: String,
    /// Arguments of the port alone: its mode on the target.
    pub args: Vec<String>,
    /// The batch, if the target's programs receive it through an option of the target's own.
    pub batch: Option<u32>,
}

impl Twin {
    /// From the fields that a launch reads from the ported project; none if none of its files is a program.
    #[must_use]
    pub fn read(target: &str, fields: &Fields) -> Option<Twin> {
        let own_batch = Target::named(target).is_some_and(Target::has_own_batch);
        Some(Twin {
            target: target.to_string(),
            entry: fields.get("entry")?.clone(),
            args: fields.get("args").and_then(|line| split_words(line)).unwrap_or_default(),
            batch: fields.get("batch").filter(|_| own_batch).and_then(|batch| batch.parse().ok()),
        })
    }

    /// The kit's options for the port's arguments. An option and its value are one word: the value may begin with a
    /// dash.
    #[must_use]
    pub fn options(&self) -> Vec<String> {
        let args = self.args.iter().map(|word| Word::text(word).quoted()).collect::<Vec<_>>().join(" ");
        let args = (!args.is_empty()).then(|| format!("--port-args={args}"));
        args.into_iter().chain(self.batch.map(|batch| format!("--batch-size={batch}"))).collect()
    }

    /// The command `portolan rehearse`, to be run in the project's folder. `choices` are the options that reproduce the
    /// port.
    #[must_use]
    pub fn command(&self, choices: &[String], one_file: bool) -> String {
        let mut words = ["portolan", "rehearse", "--target", &self.target].map(str::to_string).to_vec();
        words.extend(choices.iter().cloned());
        match one_file {
            true => words.push(self.entry.clone()),
            false => words.extend(["--entry".to_string(), self.entry.clone(), ".".to_string()]),
        }
        typed(&words)
    }

    /// The kit's own command, to be run in the folder that contains the kit, the folders `original` and `port`, and the
    /// port's report.
    #[must_use]
    pub fn kit_command(&self, report: &str) -> String {
        let words =
            ["python3", "rehearsal/rehearse.py", "--target", &self.target, "--project", "port", "--twin", "original"];
        let mut words = words.map(str::to_string).to_vec();
        words.extend(["--report", report, "--json", "twin.json", "--html", "twin.html"].map(str::to_string));
        words.extend(self.options());
        words.extend(["--".to_string(), self.entry.clone()]);
        typed(&words)
    }
}

fn typed(words: &[String]) -> String {
    words.iter().map(|word| Word::text(word).quoted()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(fields: &[(&str, &str)], command: &str, kit: &str) {
        let fields = fields.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string())).collect();
        let twin = Twin::read("cpu", &fields).expect("there is a program");
        assert_eq!(twin.command(&[], false), command);
        let kit_command = twin.kit_command("report.json");
        let end = kit_command.split_once("--html twin.html ").expect("it writes a page").1;
        assert_eq!(end, kit);
    }

    #[test]
    fn the_program_and_what_it_is_told_are_in_the_command() {
        check(&[("entry", "train.py")], "portolan rehearse --target cpu --entry train.py .", "-- train.py");
        check(
            &[("entry", "my dir/train.py"), ("args", "run.mode=NEW --name='a b'")],
            "portolan rehearse --target cpu --entry 'my dir/train.py' .",
            "'--port-args=run.mode=NEW '\\''--name=a b'\\''' -- 'my dir/train.py'",
        );
        assert_eq!(Twin::read("cpu", &Fields::new()), None);
    }

    #[test]
    fn one_file_is_its_own_project() {
        let twin = Twin { target: "cpu".into(), entry: "a.py".into(), ..Twin::default() };
        let choices = ["--style".to_string(), "branch".to_string()];
        assert_eq!(twin.command(&choices, true), "portolan rehearse --target cpu --style branch a.py");
    }

    #[test]
    fn a_batch_is_told_where_the_target_asks_for_it() {
        let fields: Fields = [("entry", "a.py"), ("batch", "8")].map(|(n, v)| (n.to_string(), v.to_string())).into();
        for target in Target::all() {
            let told = Twin::read(target.name(), &fields).expect("there is a program").options();
            let expected: &[&str] = if target.table().own_batch { &["--batch-size=8"] } else { &[] };
            assert_eq!(told, expected, "{}", target.name());
        }
    }
}
