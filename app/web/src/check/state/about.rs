//! The description of a run: the head of a printed report.

use crate::check::state::choice::Choice;
use crate::shared::text::thousands;

/// A name and its value.
pub type Row = (&'static str, String);

/// What was run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    /// Its properties.
    pub rows: Vec<Row>,
    /// What the predicted classes mean, if it is not what they say; otherwise empty.
    pub caution: &'static str,
}

impl About {
    /// `weights` and `input` are the names of the files that the form names, and `when` is a time.
    pub fn new(choice: &Choice, weights: Option<&str>, input: Option<&str>, when: &str) -> About {
        About { rows: rows(choice, weights, input, when), caution: choice.caution() }
    }
}

fn rows(choice: &Choice, weights: Option<&str>, input: Option<&str>, when: &str) -> Vec<Row> {
    let get = |key| choice.get(key).unwrap_or_default();
    let parameters =
        choice.parameters().map_or(String::new(), |count| format!(", {} parameters", thousands(count as u64)));
    let network = format!("{}{parameters}", choice.preset().unwrap_or("custom"));
    let weights = match weights {
        _ if choice.has_sample_weights() => "sample".to_owned(),
        Some(name) if choice.has_weight_file() => name.to_owned(),
        _ => format!("from seed {}", get("seed")),
    };
    let event = match input {
        Some(name) if choice.has_input_file() => format!("{name}, event {}", get("event")),
        _ => format!("synthetic {}, {} × {}", get("event"), get("height"), get("width")),
    };
    let smaller = match choice.downsample {
        1 => String::new(),
        factor => format!(", downsampled by {factor}"),
    };
    vec![("Configuration", network), ("Weights", weights), ("Event", event + &smaller), ("When", when.to_owned())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ran_is_told() {
        let check = |fragment: &str, files: [Option<&str>; 2], expected: [&str; 3]| {
            let About { rows, .. } = About::new(&Choice::from_fragment(fragment).0, files[0], files[1], "today");
            assert_eq!(rows[3], ("When", "today".to_owned()));
            for ((name, value), expected) in rows.iter().zip(expected) {
                assert!(value.contains(expected), "{name}: {value}");
            }
        };
        check("", [None, None], ["small, 245,443 parameters", "sample", "synthetic 0, 320 × 512"]);
        check("preset=a21&seed=3&downsample=2", [None, None], ["a21, 8,510,547", "from seed 3", "downsampled by 2"]);
        let files = [Some("<w>.pt"), Some("e.npz")];
        check("depth=3&weights=file&input=file&event=4", files, ["custom", "<w>.pt", "e.npz, event 4"]);
        // Chosen files that the form does not use.
        check("", files, ["small", "sample", "synthetic 0"]);
    }

    #[test]
    fn classes_that_mean_nothing_are_said_to() {
        let check = |fragment: &str, expected: &str| {
            let caution = Choice::from_fragment(fragment).0.caution();
            assert!(caution.contains(expected) && caution.is_empty() == expected.is_empty(), "{fragment}: {caution}");
        };
        check("", "");
        check("input=file", "trained on synthetic events only");
        check("preset=uresnet", "are random");
        check("input=file&weights=seeded", "are random");
        check("input=file&weights=file", "");
    }
}
