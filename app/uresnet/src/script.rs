//! The script that runs a ported network on a bundle.

use crate::config::Config;

/// The text of `check_port.py` for a configuration: plain Python that loads a bundle (`input` and the weights) next to
/// the ported project, runs the project's own network on a selected device, and writes `output.plane0` to `2`, and
/// stages if requested, in the form that [`crate::report`] accepts.
pub fn check_script(config: &Config) -> String {
    let config = serde_json::to_string_pretty(config).expect("a configuration has only strings, numbers and booleans");
    include_str!("check_port.py").replace("{{CONFIG}}", &config)
}
