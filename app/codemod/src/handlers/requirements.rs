//! `comment-requirements`: packages that come with the target's software are not to be replaced by pip.

use super::{Input, Wish};
use crate::change::Change;

const VENDOR_BUILT: [&str; 8] =
    ["torch", "torchvision", "torchaudio", "pytorch", "tensorflow", "tensorflow-gpu", "tensorflow-cpu", "tf-nightly"];

pub(super) fn run(input: &Input<'_, '_>) -> Vec<Wish> {
    let name = input.path.rsplit('/').next().unwrap_or(input.path);
    if !(name.starts_with("requirements") && name.ends_with(".txt")) {
        return Vec::new();
    }
    let software = input.settings.target.software.as_deref().unwrap_or("the accelerator's software");
    let note = format!("  # comes with {software}");
    let mut wishes = Vec::new();
    let mut start = 0;
    for line in input.text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\n', '\r']);
        let package = content.split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c))).next().unwrap_or("");
        if VENDOR_BUILT.contains(&package.to_ascii_lowercase().replace('_', "-").as_str()) {
            let end = start + content.trim_end().len();
            wishes.push(Wish {
                at: start,
                changes: vec![
                    Change::Raw { range: start..start, text: "# ".to_owned() },
                    Change::Raw { range: end..end, text: note.clone() },
                ],
                imports: Vec::new(),
            });
        }
        start += line.len();
    }
    wishes
}
