//! `comment-requirements`: packages that come with the target's software must not be replaced by pip.

use super::{Input, Wish};
use python::edit::Change;

/// The packages with vendor builds, each with its comment.
pub(super) const PACKAGES: &str = "packages_of_the_vendor";

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let file = input.path.rsplit('/').next().unwrap_or(input.path);
    if !(file.starts_with("requirements") && file.ends_with(".txt")) {
        return Vec::new();
    }
    // A PyTorch program has TensorFlow for other reasons: to write logs, to read a format.
    let beside = input.project.imports("torch") && !input.project.trains_in_tensorflow;
    let is_beside = |name: &str| beside && (name.starts_with("tensorflow") || name.starts_with("tf-"));
    let packages = input.settings.definitions.names(PACKAGES);
    let packages: Vec<_> = packages.iter().filter(|p| !is_beside(&p.name)).collect();
    let mut wishes = Vec::new();
    let mut start = 0;
    for line in input.text.split_inclusive('\n') {
        let requirement = line.trim_end();
        let name = requirement.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c))).next().unwrap_or("");
        if let Some(package) = packages.iter().find(|p| p.name == name.to_ascii_lowercase().replace('_', "-")) {
            let end = start + requirement.len();
            let insert = |at, text| Change::Raw { range: at..at, text };
            let changes = vec![insert(start, "# ".to_owned()), insert(end, format!("  # {}", package.remark))];
            wishes.push(Wish { at: start, changes, imports: Vec::new() });
        }
        start += line.len();
    }
    wishes
}
