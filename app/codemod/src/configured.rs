//! The source vendor in files that are not code: packages that a project installs, and the values of its configuration.

use crate::definitions::Definitions;
use crate::messages;
use crate::ported::Severity;
use crate::residue::Found;
use guide::ListedName;
use std::ops::Range;

/// Packages that need the source vendor's devices; a `*` at the end stands for any ending.
pub(crate) const PACKAGES: &str = "packages_for_cuda";
/// Values of a configuration, each with the keys by which it is certain to be a device or a communication library.
pub(crate) const VALUES: &str = "configured_for_cuda";

/// Devices by which lists of packages are named, each with the targets that are meant.
pub(crate) const NAMED: &str = "devices_of_lists";

/// Whether the device that a list of packages is named for, `requirements.rocm.txt`, is the target: a project has one for each.
/// None if its name has no device.
pub(crate) fn is_for_target(path: &str, target: &str, definitions: &Definitions) -> Option<bool> {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let of = |device: &&ListedName| name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == device.name);
    let devices: Vec<&ListedName> = definitions.names(NAMED).iter().filter(of).collect();
    let is_meant = |device: &&ListedName| device.remark.split(' ').any(|meant| meant == target);
    (!devices.is_empty()).then(|| devices.iter().any(is_meant))
}

/// Whether it is another device's.
pub(crate) fn is_of_another_device(path: &str, target: &str, definitions: &Definitions) -> bool {
    is_for_target(path, target, definitions) == Some(false)
}

/// Whether a file lists packages by its name: for pip, or an environment for conda.
pub(crate) fn is_list(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    is_requirements(path) || name.starts_with("environment") && (name.ends_with(".yml") || name.ends_with(".yaml"))
}

/// Whether a list of packages is that of the whole project.
pub(crate) fn is_plain_list(path: &str) -> bool {
    ["requirements.txt", "environment.yml", "environment.yaml"].contains(&path.rsplit('/').next().unwrap_or(path))
}

/// Whether a file lists requirements for pip.
pub(crate) fn is_requirements(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with("requirements") && name.ends_with(".txt")
}

/// Something that is written for the source vendor.
pub(crate) struct Setting {
    pub(crate) range: Range<usize>,
    /// Its name in a program; none for a package.
    key: Option<String>,
}

/// What a file has for the source vendor, in the order of the text. Nothing for a file that is neither a list of packages
/// nor a configuration, or is a list for another device than the target.
pub(crate) fn settings(path: &str, text: &str, target: &str, definitions: &Definitions) -> Vec<Setting> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_setup = name == "setup.py";
    let is_configuration = [".yaml", ".yml", ".toml", ".json"].iter().any(|ending| name.ends_with(ending));
    let is_environment = name == "pyproject.toml" || (is_configuration && text.contains("\ndependencies:"));
    let is_list = is_setup || is_environment || name.ends_with(".txt");
    let mut found = Vec::new();
    if !is_list && !is_configuration || is_list && is_of_another_device(path, target, definitions) {
        return found;
    }
    let ends: &[char] = match (is_setup, is_list) {
        // In Python, only strings name a package.
        (true, _) => &['"', '\''],
        (_, true) => &['"', '\'', ','],
        _ => &['{', ',', '}'],
    };
    let mut next_line = 0;
    for line in text.split_inclusive('\n') {
        let mut next = next_line;
        next_line += line.len();
        let comment = line.match_indices('#').find(|(at, _)| *at == 0 || line[..*at].ends_with(char::is_whitespace));
        let line = &line[..comment.map_or(line.len(), |(at, _)| at)];
        for (n, part) in line.split(ends).enumerate() {
            let from = next;
            next += part.len() + 1;
            let word = part.trim_matches(|c: char| c.is_whitespace() || "-[".contains(c));
            let at = from + part.find(word).unwrap_or(0);
            let key = match is_list {
                true => (!is_setup || n % 2 == 1).then(|| needs_cuda(word, definitions).then_some(None)).flatten(),
                false => key_of(word, definitions).map(Some),
            };
            found.extend(key.map(|key| Setting { range: at..at + word.len(), key }));
        }
    }
    found
}

/// The settings of a file as one message, at the first.
pub(crate) fn found(found: &[Setting], text: &str) -> Option<Found> {
    let first = found.first()?;
    let mut names: Vec<String> = found.iter().map(|one| format!("`{}`", &text[one.range.clone()])).collect();
    names.dedup();
    if names.len() > 4 {
        let others = names.split_off(3).len();
        names.push(format!("{others} more"));
    }
    let names = names.join(", ");
    let message = if first.key.is_some() { messages::configured_for_cuda(names) } else { messages::needs_cuda(names) };
    Some(Found { range: first.range.clone(), severity: Severity::Warning, message })
}

/// Where a configuration has the value that an expression reads, as `PATH:LINE`: for `cfg.dist.backend` the value of the
/// key `backend`.
pub(crate) fn places(expression: &str, files: &[&(&str, &str, Vec<Setting>)]) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let read = expression.trim_end_matches(|c: char| !is_word(c)).rsplit(|c| !is_word(c)).next().unwrap_or("");
    let has_name = |setting: &&Setting| setting.key.as_deref() == Some(read);
    let place = |(path, text, found): &&(&str, &str, Vec<Setting>)| {
        let setting = found.iter().find(has_name)?;
        Some(format!("{path}:{}", text[..setting.range.start].matches('\n').count() + 1))
    };
    files.iter().filter_map(place).collect()
}

/// Whether a requirement is a package for the source vendor, or another package's build for it: `torch==2.1+cu118`.
fn needs_cuda(requirement: &str, definitions: &Definitions) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    // Conda puts the channel first: `pytorch::pytorch-cuda=12.1`.
    let name = requirement
        .rsplit("::")
        .next()
        .unwrap_or("")
        .split(|c| !is_name(c))
        .next()
        .unwrap_or("")
        .to_ascii_lowercase()
        .replace('_', "-");
    let build = requirement.split_once("+cu").is_some_and(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()));
    build
        || definitions.names(PACKAGES).iter().any(|listed| match listed.name.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == listed.name,
        })
}

/// The key, if a line sets it to a device or library of the source vendor: `dist_backend: nccl`.
fn key_of(setting: &str, definitions: &Definitions) -> Option<String> {
    let (key, value) = setting.split_once([':', '='])?;
    let plain = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    let (key, value) = (plain(key), plain(value).to_ascii_lowercase());
    let (device, number) = value.split_once(':').unwrap_or((&value, ""));
    let listed = definitions.names(VALUES).iter().find(|listed| listed.name == device)?;
    let low = key.to_ascii_lowercase();
    let is_certain = listed
        .remark
        .split(", ")
        .any(|known| low.strip_suffix(known).is_some_and(|left| !left.ends_with(char::is_alphanumeric)));
    (is_certain && number.bytes().all(|b| b.is_ascii_digit())).then_some(key)
}
