//! `comment-requirements`, `comment-tensorflow`: packages that come with the target's software must not be replaced by pip.

use super::{Input, Wish};
use python::edit::Change;

/// The packages with vendor builds, each with its comment.
pub(crate) const PACKAGES: &str = "packages_of_the_vendor";
pub(super) const TENSORFLOW: &str = "tensorflow_of_the_vendor";

/// A compute mode for the target loads the vendor's TensorFlow in every release.
pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let of_mode = input.project.modes.as_ref().map(|_| TENSORFLOW);
    std::iter::once(PACKAGES).chain(of_mode).flat_map(|list| commented(input, list)).collect()
}

pub(super) fn tensorflow(input: &Input<'_, '_>) -> Vec<Wish> {
    if input.project.modes.is_some() { Vec::new() } else { commented(input, TENSORFLOW) }
}

fn commented(input: &Input<'_, '_>, list: &str) -> Vec<Wish> {
    // A PyTorch program has TensorFlow for other reasons: to write logs, to read a format.
    let beside = list == TENSORFLOW && input.project.imports("torch") && !input.project.trains_in_tensorflow;
    let text = if beside || !input.is_list() { "" } else { input.text };
    // The vendor's own build, where there is one to install.
    let build = format!("+{}", input.settings.target_id);
    let mut start = 0;
    let wish = |line: &str| {
        let (at, requirement) = (start, line.trim_end());
        start += line.len();
        let name = requirement.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c))).next()?;
        let name = name.to_ascii_lowercase().replace('_', "-");
        let package = input.settings.definitions.listed(list, &name)?;
        if requirement.contains(&build) {
            return None;
        }
        let insert = |at, text| Change::Raw { range: at..at, text };
        let end = insert(at + requirement.len(), format!("  # {}", package.remark));
        Some(Wish { at, changes: vec![insert(at, "# ".to_owned()), end], imports: Vec::new() })
    };
    text.split_inclusive('\n').filter_map(wish).collect()
}
