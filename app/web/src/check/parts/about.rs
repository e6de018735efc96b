//! What a run was of: the head of a printed report.

use super::{escape, thousands};
use crate::check::choice::Choice;
use std::fmt::Write;

/// Rows of a list; `weights` and `input` are the names of the files that the form names, and `when` is a moment.
pub fn html(choice: &Choice, weights: Option<&str>, input: Option<&str>, when: &str) -> String {
    let get = |key| choice.get(key).unwrap_or_default();
    let parameters =
        choice.parameters().map_or(String::new(), |count| format!(", {} parameters", thousands(count as u64)));
    let network = format!("{}{parameters}", choice.preset().unwrap_or("your own"));
    let weights = match weights {
        _ if choice.has_sample_weights() => "the sample".to_string(),
        Some(name) if choice.has_weight_file() => name.to_string(),
        _ => format!("made from seed {}", get("seed")),
    };
    let event = match input {
        Some(name) if choice.has_input_file() => format!("{name}, event {}", get("event")),
        _ => format!("synthetic {}, {} × {}", get("event"), get("height"), get("width")),
    };
    let smaller = match choice.downsample {
        1 => String::new(),
        factor => format!(", downsampled by {factor}"),
    };
    let rows =
        [("Configuration", network), ("Weights", weights), ("Event", event + &smaller), ("When", when.to_string())];
    let mut out = String::new();
    rows.iter().for_each(|(name, value)| row(&mut out, name, value));
    out
}

/// The row for outputs that are held against the run.
pub fn candidate(name: &str, precision: &str) -> String {
    let mut out = String::new();
    row(&mut out, "Compared", &format!("{name}, which computes in {precision}"));
    out
}

fn row(out: &mut String, name: &str, value: &str) {
    let _ = write!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(value));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ran_is_told() {
        let check = |fragment: &str, files: [Option<&str>; 2], expected: &[&str]| {
            let html = html(&Choice::from_fragment(fragment).0, files[0], files[1], "today");
            for part in expected {
                assert!(html.contains(part), "{part} in {html}");
            }
        };
        check("", [None, None], &["small, 245,443 parameters", "the sample", "synthetic 0, 320 × 512", "today"]);
        check("preset=a21&seed=3&downsample=2", [None, None], &["a21, 8,510,547", "seed 3", "downsampled by 2"]);
        let files = [Some("<w>.pt"), Some("e.npz")];
        check("depth=3&weights=file&input=file&event=4", files, &["your own", "&lt;w&gt;.pt", "e.npz, event 4"]);
        // Chosen files that the form does not name.
        check("", files, &["the sample", "synthetic 0"]);
    }
}
