//! The source vendor in files that are not code: packages that a project installs, and the values of its configuration.

use crate::definitions::Definitions;
use crate::handlers::requirements::PACKAGES as PACKAGES_OF_TARGET;
use crate::messages;
use crate::ported::Severity;
use crate::residue::{CHOOSING, COMMANDS, Found, VARIABLES};
use guide::ListedName;
use std::mem::discriminant;
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

/// Whether a file of a project is neither code nor a list for pip, and may nevertheless name the source vendor's devices or
/// packages: configurations, scripts for a shell or a scheduler, the description of a package or of a container's image.
/// JSON is data unless its path says otherwise.
#[must_use]
pub fn is_configuration(path: &str) -> bool {
    Format::of(path).is_some_and(|format| !matches!(format, Format::Pip | Format::Setup))
        && (!path.ends_with(".json") || path.contains("conf"))
}

/// How a file that is no program states what is installed and which devices are used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    /// A list for pip.
    Pip,
    /// `setup.py`, in which only strings name packages.
    Setup,
    /// `setup.cfg`.
    SetupCfg,
    /// `pyproject.toml`.
    Project,
    /// Keys and values: YAML, TOML, JSON, and conda's environments.
    Values,
    /// A script for a shell or a scheduler.
    Script,
    /// The description of a container's image.
    Image,
}

impl Format {
    fn of(path: &str) -> Option<Format> {
        let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        let name = name.as_str();
        Some(match name.rsplit('.').next().unwrap_or(name) {
            _ if name == "setup.py" => Format::Setup,
            _ if name == "setup.cfg" => Format::SetupCfg,
            _ if name == "pyproject.toml" => Format::Project,
            _ if python::is_image(name) => Format::Image,
            "txt" => Format::Pip,
            "yaml" | "yml" | "toml" | "json" => Format::Values,
            "sh" | "bash" | "slurm" | "sbatch" | "pbs" => Format::Script,
            _ => return None,
        })
    }

    /// What separates the entries of a line.
    fn ends(self, is_environment: bool) -> &'static [char] {
        match self {
            Format::Setup | Format::Project => &['"', '\''],
            Format::Values if !is_environment => &['{', ',', '}'],
            Format::Script | Format::Image => &[' ', '\t'],
            _ => &['"', '\'', ','],
        }
    }
}

/// Something that is written for the source vendor.
pub(crate) struct Setting {
    pub(crate) range: Range<usize>,
    what: What,
}

/// What is written for it.
#[derive(Clone, PartialEq, Eq)]
enum What {
    /// A package that is installed.
    Package,
    /// One that the target's own software has.
    OfTarget,
    /// The value of a key by which a program reads it.
    Value(String),
    /// What a script passes to a program, sets for it or runs.
    InScript,
}

/// What a file has for the source vendor, in the order of the text. Nothing for a list for another device than the target.
/// What the target's own software brings counts if `replaces` it: where the port is for this target only.
pub(crate) fn settings(
    path: &str,
    text: &str,
    target: &str,
    replaces: bool,
    definitions: &Definitions,
) -> Vec<Setting> {
    let mut found = Vec::new();
    let Some(format) = Format::of(path) else { return found };
    let is_environment =
        format == Format::Values && (text.contains("\ndependencies:") || text.starts_with("dependencies:"));
    let is_list = is_environment || !matches!(format, Format::Values | Format::Script | Format::Image);
    if is_list && is_of_another_device(path, target, definitions) {
        return found;
    }
    // The port itself comments them out in a list for pip; an index of the target's builds is right.
    let replaces = replaces && format != Format::Pip && !text.contains(&format!("/whl/{target}"));
    let of_target = |word: &str| replaces && !word.contains(&format!("+{target}")) && is_of_target(word, definitions);
    if matches!(format, Format::Script | Format::Image) {
        return of_commands(text, format, definitions, &of_target);
    }
    // Of a list's entries; in a list for pip an option begins with them.
    let has_marks = format != Format::Pip;
    let (mut next_line, mut requirements) = (0, Requirements::default());
    for line in text.split_inclusive('\n') {
        let mut next = next_line;
        next_line += line.len();
        let line = without_comment(line);
        let place = requirements.of(line, format, is_environment);
        let has_limit = |text: &str| ["==", "~=", "<", "^"].iter().any(|sign| text.contains(sign));
        for (n, part) in line.split(format.ends(is_environment)).enumerate() {
            let from = next;
            next += part.len() + 1;
            let word = part.trim_matches(|c: char| c.is_whitespace() || (has_marks && "-[]".contains(c)));
            let at = from + part.find(word).unwrap_or(0);
            let in_list = match place {
                Place::Elsewhere => false,
                Place::Keys => n == 0,
                // In Python and TOML, strings name packages.
                Place::Entries => is_environment || matches!(format, Format::Pip | Format::SetupCfg) || n % 2 == 1,
            };
            // Others are met by what the target's software has; conda installs all.
            let is_pinned = is_environment || has_limit(if place == Place::Keys { line } else { word });
            let what = match is_list {
                true if is_build(word) || in_list && definitions.listed(PACKAGES, &package(word)).is_some() => {
                    Some(What::Package)
                }
                true => (in_list && is_pinned && of_target(word)).then_some(What::OfTarget),
                false => key_of(word, definitions).map(What::Value),
            };
            found.extend(what.map(|what| Setting { range: at..at + word.len(), what }));
        }
    }
    found
}

fn without_comment(line: &str) -> &str {
    let comment = line.match_indices('#').find(|(at, _)| *at == 0 || line[..*at].ends_with(char::is_whitespace));
    &line[..comment.map_or(line.len(), |(at, _)| at)]
}

/// Where on a line requirements stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Elsewhere,
    /// As keys: `torch = "^2.1"`.
    Keys,
    Entries,
}

/// Where in a file requirements stand, from line to line.
#[derive(Default)]
struct Requirements {
    /// A table or a block of them.
    block: bool,
    /// The table's keys are packages.
    keys: bool,
    /// An array.
    array: bool,
}

impl Requirements {
    fn of(&mut self, line: &str, format: Format, is_environment: bool) -> Place {
        let is_key = |key: &str| ["dependenc", "require"].iter().any(|word| key.contains(word));
        let is_indented = line.starts_with(char::is_whitespace);
        match format {
            Format::Pip => self.block = true,
            Format::Values if is_environment && !is_indented && !line.starts_with('-') => {
                self.block = line.starts_with("dependencies:");
            }
            Format::Project if line.starts_with('[') => {
                self.keys = line.contains("poetry") && is_key(line);
                self.block = is_key(line);
            }
            Format::SetupCfg if line.starts_with('[') => (self.block, self.keys) = (false, is_key(line)),
            // Under `[options.extras_require]` every key has some.
            Format::SetupCfg if !is_indented => self.block = self.keys || is_key(line),
            Format::Project | Format::Setup if !self.array => {
                let is_word = |c: char| c.is_alphanumeric() || "-_".contains(c);
                self.array = line.match_indices('=').any(|(at, _)| {
                    let key = line[..at].trim_end().rsplit(|c| !is_word(c)).next().unwrap_or_default();
                    let has_key = self.block && !self.keys || is_key(key);
                    has_key && line[at + 1..].trim_start().starts_with(['[', '{'])
                });
            }
            _ => {}
        }
        let place = match format {
            Format::Project if self.keys => Place::Keys,
            Format::Project | Format::Setup if self.array => Place::Entries,
            Format::Pip | Format::Values | Format::SetupCfg if self.block => Place::Entries,
            _ => Place::Elsewhere,
        };
        self.array &= !line.trim_end().trim_end_matches(',').ends_with([']', '}', ')']);
        place
    }
}

/// What the lines of a script, or of an image's description, have for the source vendor.
fn of_commands(
    text: &str,
    format: Format,
    definitions: &Definitions,
    of_target: &dyn Fn(&str) -> bool,
) -> Vec<Setting> {
    let mut found = Vec::new();
    let (mut next, mut goes_on, mut installs) = (0, false, false);
    for line in text.split_inclusive('\n') {
        let from = next;
        next += line.len();
        let code = without_comment(line);
        let bare = |c: char| c.is_whitespace() || "\"'`;$()\\[],".contains(c);
        let words = code.split(char::is_whitespace).map(|word| {
            let at = from + (word.as_ptr().addr() - line.as_ptr().addr());
            let plain = word.trim_matches(bare);
            let begin = at + word.find(plain).unwrap_or(0);
            (word, begin..begin + plain.len())
        });
        let words: Vec<(&str, Range<usize>)> = words.filter(|(word, _)| !word.is_empty()).collect();
        let is_base =
            format == Format::Image && words.first().is_some_and(|(word, _)| word.eq_ignore_ascii_case("FROM"));
        // A command, up to what ends it.
        let ends = |word: &str| ["&&", "||", "|"].contains(&word);
        for (n, command) in words.split_inclusive(|(word, _)| ends(word) || word.ends_with(';')).enumerate() {
            let plain = |(_, range): &(&str, Range<usize>)| &text[range.clone()];
            let is_run = |word: &(&str, Range<usize>)| plain(word) != "RUN" && !plain(word).is_empty();
            let first = command.iter().find(|word| is_run(word)).map_or("", plain);
            if ["echo", "printf"].contains(&first) {
                continue;
            }
            let at = command.iter().position(|word| plain(word) == "install");
            let is_installer = |word: &(&str, Range<usize>)| {
                let name = plain(word).rsplit('/').next().unwrap_or_default();
                name.starts_with("pip") || ["conda", "mamba", "micromamba"].contains(&name)
            };
            let at = at.filter(|at| command[..*at].iter().any(is_installer));
            installs = at.is_some() || n == 0 && goes_on && installs;
            let is_installed = |n: usize| installs && at.is_none_or(|at| n > at);
            for (n, word) in command.iter().enumerate() {
                let (range, name) = (word.1.clone(), plain(word));
                let before = n.checked_sub(1).map_or("", |before| plain(&command[before]));
                // A channel, a name or a file.
                let is_value = ["-c", "-n", "-p", "-r", "--channel", "--name"].contains(&before);
                let is_pinned = ["==", "~=", "<"].iter().any(|sign| name.contains(sign));
                let value = |setting: &str| key_of(setting, definitions).is_some();
                let is_variable = || {
                    let name = name.split_once('=').filter(|(_, value)| !value.is_empty()).map(|(name, _)| name);
                    name.is_some_and(|name| {
                        [CHOOSING, VARIABLES].iter().any(|list| definitions.listed(list, name).is_some())
                    })
                };
                let is_option = name.starts_with('-') && !name.contains('=');
                let pair = command.get(n + 1).filter(|_| is_option);
                let pair = pair.map(|after| {
                    let end = after.1.end + usize::from(text[after.1.end..].starts_with(['"', '\'']));
                    (range.start..end, format!("{name}={}", plain(after)))
                });
                let is_package = || is_build(name) || definitions.listed(PACKAGES, &package(name)).is_some();
                let (range, what) = match pair {
                    _ if is_installed(n) && !is_value && is_package() => (range, What::Package),
                    _ if is_installed(n) && !is_value && is_pinned && of_target(name) => (range, What::OfTarget),
                    _ if is_base && n == 1 && is_image_for_cuda(name) => (range, What::Package),
                    _ if is_installed(n) => continue,
                    _ if value(name)
                        || is_variable()
                        || name == first && definitions.listed(COMMANDS, name).is_some() =>
                    {
                        (range, What::InScript)
                    }
                    Some((both, pair)) if value(&pair) => (both, What::InScript),
                    _ => continue,
                };
                found.push(Setting { range, what });
            }
        }
        goes_on = code.trim_end().ends_with('\\');
    }
    found
}

/// Whether an image is one of the source vendor's, or built for its devices: `nvidia/cuda:12.1-base`, `pytorch/pytorch:2.1-cuda12.1`.
fn is_image_for_cuda(image: &str) -> bool {
    let (name, tag) = image.split_once(':').unwrap_or((image, ""));
    tag.contains("cuda") || name.split('/').any(|part| ["nvidia", "nvcr.io", "cuda"].contains(&part))
}

/// The settings of a file as messages, one for each thing that is to be done about them, at the first.
pub(crate) fn found(settings: &[Setting], text: &str) -> Vec<Found> {
    let kind = |setting: &Setting| discriminant(&setting.what);
    let firsts = settings.iter().enumerate().filter(|(n, first)| settings[..*n].iter().all(|s| kind(s) != kind(first)));
    let one = |(n, first): (usize, &Setting)| {
        let alike = settings[n..].iter().filter(|setting| kind(setting) == kind(first));
        let mut names: Vec<String> = Vec::new();
        for name in alike.map(|one| format!("`{}`", &text[one.range.clone()])) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if names.len() > 4 {
            let others = names.split_off(3).len();
            names.push(format!("{others} more"));
        }
        let names = names.join(", ");
        let message = match first.what {
            What::Package => messages::needs_cuda(names),
            What::OfTarget => messages::installed_over_the_targets(names),
            What::Value(_) => messages::configured_for_cuda(names),
            What::InScript => messages::starts_for_cuda(names),
        };
        Found { range: first.range.clone(), severity: Severity::Warning, message }
    };
    firsts.map(one).collect()
}

/// Where a configuration has the value that an expression reads, as `PATH:LINE`: for `cfg.dist.backend` the value of the
/// key `backend`.
pub(crate) fn places(expression: &str, files: &[&(&str, &str, Vec<Setting>)]) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let read = expression.trim_end_matches(|c: char| !is_word(c)).rsplit(|c| !is_word(c)).next().unwrap_or("");
    let has_name = |setting: &&Setting| matches!(&setting.what, What::Value(key) if key == read);
    let place = |(path, text, found): &&(&str, &str, Vec<Setting>)| {
        let setting = found.iter().find(has_name)?;
        Some(format!("{path}:{}", text[..setting.range.start].matches('\n').count() + 1))
    };
    files.iter().filter_map(place).collect()
}

/// The package of a requirement, as lists name it.
fn package(requirement: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    // Conda puts the channel first: `pytorch::pytorch-cuda=12.1`.
    let name = requirement.rsplit("::").next().and_then(|rest| rest.split(|c| !is_name(c)).next());
    name.unwrap_or_default().to_ascii_lowercase().replace('_', "-")
}

/// Whether the target's own software has the package of a requirement.
fn is_of_target(requirement: &str, definitions: &Definitions) -> bool {
    definitions.listed(PACKAGES_OF_TARGET, &package(requirement)).is_some()
}

/// Whether a requirement is another package's build for the source vendor, `torch==2.1+cu118`, or the address of such builds,
/// `…/whl/cu118`.
fn is_build(requirement: &str) -> bool {
    let is_release = |part: &str| {
        part.strip_prefix("cu").is_some_and(|rest| rest.len() > 1 && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let build = requirement.split_once('+').is_some_and(|(_, build)| {
        is_release(build.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default())
    });
    build || requirement.contains("/whl/") && requirement.split('/').any(is_release)
}

/// The key, if a line sets it to a device or library of the source vendor: `dist_backend: nccl`.
fn key_of(setting: &str, definitions: &Definitions) -> Option<String> {
    let (key, value) = setting.split_once([':', '='])?;
    let plain = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    let (key, value) = (plain(key), plain(value).to_ascii_lowercase());
    let (device, number) = value.split_once(':').unwrap_or((&value, ""));
    let listed = definitions.listed(VALUES, device)?;
    let low = key.to_ascii_lowercase();
    let is_certain = listed
        .remark
        .split(", ")
        .any(|known| low.strip_suffix(known).is_some_and(|left| !left.ends_with(char::is_alphanumeric)));
    (is_certain && number.bytes().all(|b| b.is_ascii_digit())).then_some(key)
}
