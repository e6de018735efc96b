//! The result of a twin run as written by the twin run kit: original and port, step by step. Anything that can't be
//! parsed as a result is rejected with a sentence.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sorting::SortedMap;

/// The file name that the kit uses for a result.
pub const FILE: &str = "twin.json";

/// A result. The schema is `schema/twin.schema.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TwinResult {
    /// Target id.
    pub target: String,
    /// The verdict's name.
    pub verdict: Verdict,
    /// An explanation of a difference.
    pub reasons: Vec<String>,
    /// The reason why nothing was compared.
    pub failed: Option<String>,
    /// The first difference.
    pub first: Option<Finding>,
    /// All differences, as sentences.
    pub findings: Vec<String>,
    /// The steps that both performed.
    pub steps: Vec<Step>,
    /// The numbers of steps of the original and of the port.
    pub trained: [usize; 2],
    /// Rules of the vendor's software that the port violated.
    pub contracts: Vec<Contract>,
    /// How the two were run.
    pub ran: Ran,
    /// SHA-256 of each file that was run, by path.
    pub files: SortedMap<String, Sums>,
}

/// Whether the two agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Everything that was compared is equal, except possibly for an explained difference.
    Equal,
    /// There is a difference.
    #[default]
    Differs,
}

/// A difference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// As a sentence, with step, tensor and both values.
    pub told: String,
    /// Path and line in the port.
    pub place: Option<(String, usize)>,
    /// The recipe that wrote the line.
    pub recipe: Option<String>,
}

/// A step of the optimizer, in the original and in the port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Counted from 1.
    pub step: usize,
    /// The losses.
    pub loss: [Number; 2],
    /// Norms of all gradients.
    pub norm: [Number; 2],
    /// Samples.
    pub samples: [usize; 2],
}

/// A number, or the name of one that is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Number(pub f64);

impl Default for Number {
    fn default() -> Number {
        Number(f64::NAN)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Number, D::Error> {
        // JSON uses strings for numbers that are not finite; between page and worker they are plain numbers.
        if !from.is_human_readable() {
            return f64::deserialize(from).map(Number);
        }
        match Value::deserialize(from)? {
            Value::Number(number) => Ok(Number(number.as_f64().unwrap_or(f64::NAN))),
            Value::String(text) => {
                text.parse().map(Number).map_err(|_| serde::de::Error::custom("a number is expected"))
            }
            _ => Err(serde::de::Error::custom("a number is expected")),
        }
    }
}

/// A violated rule.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Contract {
    /// Its name.
    pub rule: String,
    /// What violated it.
    pub why: String,
    /// Path in the port.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
}

/// How the two were run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    /// The program, from the project's root.
    pub program: String,
    /// The number type: `float32`, or `target` for the programs' own.
    pub precision: String,
    /// The number of samples in generated data sets.
    pub fake_data: usize,
    /// Folders of generated images.
    pub fake_images: Vec<String>,
    /// The number of processes of the port.
    pub instances: usize,
    /// The software that performed the computation, with its version.
    #[serde(alias = "pytorch")]
    pub framework: String,
    /// Packages that replaced the vendor's.
    pub stand_ins: Vec<String>,
}

/// The hashes of a file that was run; `None` if there was no such file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sums {
    /// SHA-256 of the original.
    pub original: Option<String>,
    /// SHA-256 of the port.
    pub port: Option<String>,
}

/// Parses a result; the error is a sentence about the file, without its name at the beginning.
pub fn read(text: &str) -> Result<TwinResult, String> {
    let text = text.trim_start_matches('\u{feff}');
    let value: Value = serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        format!("is not JSON (line {line}, column {column}). A twin run writes its result into {FILE}.")
    })?;
    let has = |names: &[&str]| names.iter().all(|name| value.get(name).is_some());
    if has(&["certificate", "ledgers"]) {
        return Err(format!("is the report of a port. The result of its twin run is {FILE}."));
    }
    if !has(&["verdict", "steps"]) {
        return Err(format!("is not the result of a twin run. A twin run writes {FILE}."));
    }
    if !has(&["ran", "files"]) {
        return Err("was written by an older kit and does not say which files were run. Run it again.".to_owned());
    }
    let result = serde_json::from_value::<TwinResult>(value);
    let result = result.map_err(|error| format!("is not the result of a twin run: {error}."))?;
    if result.steps.iter().enumerate().any(|(at, step)| step.step != at + 1) || result.files.is_empty() {
        return Err("is a damaged result of a twin run. Run it again.".to_owned());
    }
    Ok(result)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A result of two steps.
    pub(crate) const RESULT: &str = r#"{"target": "hpu", "verdict": "differs", "told": "differs", "reasons": [], "failed": null,
        "first": {"what": "the loss", "step": 2, "tensor": null, "original": 0.25, "port": 0.5, "far": 0.5, "place": ["a.py", 3],
            "told": "step 2: the loss: 0.25 in the original, 0.5 in the port", "recipe": "hpu#device"},
        "findings": ["step 2: the loss: 0.25 in the original, 0.5 in the port"],
        "steps": [{"step": 1, "loss": [1.0, 1], "norm": [2.5, 2.5], "rate": [[0.1], [0.1]], "samples": [8, 8]},
            {"step": 2, "loss": [0.25, "nan"], "norm": [2.0, "inf"], "rate": [[], []], "samples": [8, 8]}],
        "trained": [2, 2], "printed": 1, "notes": [], "contracts": [],
        "ran": {"program": "a.py", "arguments": [], "steps": 16, "seed": 20, "precision": "float32", "fake_data": 0, "fake_images": [],
            "instances": 1, "framework": "PyTorch 2.9", "python": "3.11.2", "stand_ins": ["made_up"]},
        "files": {"a.py": {"original": "00", "port": "11"}}}"#;

    #[test]
    fn a_result_is_read() {
        let result = read(RESULT).expect("it is one");
        assert_eq!((result.verdict, result.trained, result.steps.len()), (Verdict::Differs, [2, 2], 2));
        assert_eq!(result.first.and_then(|first| first.place), Some(("a.py".into(), 3)));
        assert!(result.steps[1].loss[1].0.is_nan() && result.steps[1].norm[1].0.is_infinite());
        assert_eq!(result.files["a.py"].port.as_deref(), Some("11"));
    }

    #[test]
    fn it_crosses_to_the_page_as_it_is() {
        let result = read(RESULT).expect("it is one");
        let bytes = postcard::to_allocvec(&result).expect("plain data");
        let back: TwinResult = postcard::from_bytes(&bytes).expect("the same");
        assert_eq!(format!("{back:?}"), format!("{result:?}"));
    }

    #[track_caller]
    fn refused(text: &str, why: &str) {
        let said = read(text).expect_err("it is none");
        assert!(said.contains(why), "{said}");
    }

    #[test]
    fn what_is_no_result_is_refused() {
        refused("", "is not JSON (line 1, column 0)");
        refused("{\"a\": 1,\n oh}", "is not JSON (line 2");
        refused("[1, 2]", "is not the result of a twin run");
        refused("{\"files\": []}", "is not the result of a twin run");
        refused("{\"certificate\": {}, \"ledgers\": []}", "is the report of a port");
        refused(&RESULT.replace("\"ran\"", "\"rang\""), "an older kit");
        refused(&RESULT.replace("\"differs\", \"told\"", "\"better\", \"told\""), "unknown variant `better`");
        refused(&RESULT.replace("[0.25, \"nan\"]", "[0.25, \"low\"]"), "a number is expected");
        refused(&RESULT.replace("{\"step\": 2", "{\"step\": 7"), "damaged");
        refused(&RESULT.replace("\"a.py\": {\"original\": \"00\", \"port\": \"11\"}", ""), "damaged");
    }
}
