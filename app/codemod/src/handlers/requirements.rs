//! `comment-requirements`, `comment-tensorflow`: packages that come with the target's software must not be replaced by pip.

use super::{Input, Wish};
use python::edit::Change;

/// The packages with vendor builds, each with its comment.
pub(super) const PACKAGES: &str = "packages_of_the_vendor";
pub(super) const TENSORFLOW: &str = "tensorflow_of_the_vendor";

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    commented(input, PACKAGES)
}

/// A PyTorch program has TensorFlow for other reasons: to write logs, to read a format.
pub(super) fn run_tensorflow(input: &Input<'_, '_>) -> Vec<Wish> {
    let beside = input.project.imports("torch") && !input.project.trains_in_tensorflow;
    if beside { Vec::new() } else { commented(input, TENSORFLOW) }
}

fn commented(input: &Input<'_, '_>, list: &str) -> Vec<Wish> {
    let file = input.path.rsplit('/').next().unwrap_or(input.path);
    let (mut wishes, mut start) = (Vec::new(), 0);
    for line in input.text.split_inclusive('\n') {
        let requirement = line.trim_end();
        let name = requirement.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c))).next().unwrap_or("");
        let name = name.to_ascii_lowercase().replace('_', "-");
        let packages = input.settings.definitions.names(list);
        if let Some(package) = packages.iter().find(|p| p.name == name) {
            let insert = |at, text| Change::Raw { range: at..at, text };
            let end = insert(start + requirement.len(), format!("  # {}", package.remark));
            wishes.push(Wish { at: start, changes: vec![insert(start, "# ".to_owned()), end], imports: Vec::new() });
        }
        start += line.len();
    }
    if file.starts_with("requirements") && file.ends_with(".txt") { wishes } else { Vec::new() }
}
