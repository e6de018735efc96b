//! Versions that a project pins: in its requirements, in `pyproject.toml` and the like, or in a script's own header.

use guide::sdk::compare;

/// An upper bound for a package: `hydra-core==1.1`, `hydra-core~=1.1.0`, `hydra-core<1.2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    package: String,
    excludes: bool,
    version: String,
}

impl Pin {
    /// Whether only versions of a package below `version` are allowed.
    pub fn keeps_below(&self, package: &str, version: &str) -> bool {
        let order = compare(&self.version, version);
        self.package == package && (order.is_lt() || (self.excludes && order.is_eq()))
    }
}

/// The pins of a project's files, given as path and text.
pub fn pins<'t>(files: impl IntoIterator<Item = (&'t str, &'t str)>) -> Vec<Pin> {
    files.into_iter().flat_map(|(path, text)| lines(path, text)).flat_map(pins_in).collect()
}

/// The lines of a file that may specify what is installed.
fn lines<'t>(path: &str, text: &'t str) -> impl Iterator<Item = &'t str> {
    let is_program = path.ends_with(".py") && !path.ends_with("setup.py");
    text.lines().take_while(move |line| !is_program || line.starts_with('#') || line.trim().is_empty())
}

fn pins_in(line: &str) -> Vec<Pin> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let mut found = Vec::new();
    for (at, _) in line.match_indices(['=', '~', '<']) {
        let package = line[..at].trim_end().rsplit(|c| !is_word(c)).next().unwrap_or("");
        let sign = ["==", "~=", "<=", "<"].into_iter().find(|sign| line[at..].starts_with(sign));
        let Some(sign) = sign.filter(|_| !package.is_empty()) else { continue };
        let rest = line[at + sign.len()..].trim_start();
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let version = rest[..end].trim_end_matches('.');
        if !version.is_empty() {
            found.push(Pin { package: package.to_owned(), excludes: sign == "<", version: version.to_owned() });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::pins;

    #[test]
    fn pins_of_a_project() {
        let check = |path: &str, text: &str, expected: bool| {
            let below = pins([(path, text)]).iter().any(|pin| pin.keeps_below("hydra-core", "1.2"));
            assert_eq!(below, expected, "{path}: {text}");
        };
        check("requirements.txt", "hydra-core==1.1", true);
        check("requirements.txt", "hydra-core ~= 1.1.0", true);
        check("requirements.txt", "hydra-core<1.2", true);
        check("requirements.txt", "hydra-core<=1.2", false);
        check("requirements.txt", "hydra-core>=1.1", false);
        check("pyproject.toml", "dependencies = [\"numpy\", \"hydra-core==1.1.*\"]", true);
        check("train.py", "# dependencies = [\"hydra-core==1.1\"]\nimport hydra", true);
        check("train.py", "import hydra\n# hydra-core==1.1", false);
    }
}
