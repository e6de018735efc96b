//! Versions that a project pins: in its requirements, in `pyproject.toml` and the like, or in a script's own header.

use guide::sdk::compare;

/// An upper bound for a package: `hydra-core==1.1`, `hydra-core~=1.1.0`, `hydra-core<1.2`, Poetry's `hydra-core = "^1.1"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The name as PEP 503 normalises it.
    package: String,
    excludes: bool,
    version: String,
}

impl Pin {
    /// Whether only versions of a package below `version` are allowed.
    pub fn keeps_below(&self, package: &str, version: &str) -> bool {
        let order = compare(&self.version, version);
        self.package == normalised(package) && (order.is_lt() || (self.excludes && order.is_eq()))
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
    let mut found = Vec::new();
    for (at, _) in line.match_indices(['=', '~', '<', '^']) {
        // A single `=` is conda's.
        let sign = ["==", "~=", "<=", "<", "^", "~", "="].into_iter().find(|sign| line[at..].starts_with(sign));
        let Some(sign) = sign else { continue };
        let rest = &line[at + sign.len()..];
        let rest = if sign == "=" { rest } else { rest.trim_start() };
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let version = rest[..end].trim_end_matches('.');
        let package = package_before(&line[..at]);
        if version.is_empty() || package.is_empty() {
            continue;
        }
        let version = if sign == "^" { next_breaking(version) } else { version.to_owned() };
        found.push(Pin { package: normalised(package), excludes: matches!(sign, "<" | "^"), version });
    }
    found
}

/// The package of a line of requirements and the lowest version that it admits: `numpy>=1.26`, `numpy==1.26.0`. None for a line
/// with a marker for some versions of Python.
pub fn lower_bound(line: &str) -> Option<(String, String)> {
    let line = line.split(" #").next().unwrap_or("").trim();
    if line.starts_with('#') || line.contains("python_version") {
        return None;
    }
    let versions = line.match_indices(['=', '>', '~']).filter_map(|(at, _)| {
        let sign = ["==", "~=", ">=", ">"].into_iter().find(|sign| line[at..].starts_with(sign))?;
        let behind = !line[..at].ends_with(['=', '>', '<', '~', '!']);
        let rest = line[at + sign.len()..].trim_start();
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let version = rest[..end].trim_end_matches('.');
        (behind && !version.is_empty()).then(|| (package_before(&line[..at]), version))
    });
    let (package, version) = versions.max_by(|a, b| compare(a.1, b.1))?;
    (!package.is_empty()).then(|| (normalised(package), version.to_owned()))
}

/// The package that a comparison is about: the word before it, behind other comparisons and Poetry's `= "` or `= { version = "`.
fn package_before(text: &str) -> &str {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let mut text = text.trim_end();
    // Nobody writes more comparisons of one package; a long line of them must not take long.
    for _ in 0..8 {
        let Some(shorter) = text.strip_suffix(',') else { break };
        let comparison = shorter.trim_end().trim_end_matches(|c: char| c.is_ascii_digit() || ".*".contains(c));
        text = comparison.trim_end().trim_end_matches(['<', '>', '=', '!', '~', '^']).trim_end();
    }
    if let Some(quoted) = text.strip_suffix(['"', '\'']) {
        let key = quoted.trim_end().strip_suffix('=').map_or("", str::trim_end);
        text = match key.strip_suffix("version") {
            Some(table) => table.trim_end().trim_end_matches('{').trim_end().trim_end_matches('=').trim_end(),
            None => key,
        };
    }
    if let Some((name, _)) = text.strip_suffix(']').and_then(|extras| extras.rsplit_once('[')) {
        text = name;
    }
    text.rsplit(|c| !is_word(c)).next().unwrap_or("")
}

/// The first version that `^version` excludes: the next of its first number that is not 0.
fn next_breaking(version: &str) -> String {
    let mut numbers = Vec::new();
    for number in version.split('.').filter_map(|number| number.parse::<u64>().ok()) {
        if number > 0 {
            numbers.push(number.saturating_add(1).to_string());
            return numbers.join(".");
        }
        numbers.push(number.to_string());
    }
    version.to_owned()
}

fn normalised(package: &str) -> String {
    package.to_ascii_lowercase().replace(['_', '.'], "-")
}

#[cfg(test)]
mod tests {
    use super::{lower_bound, pins};

    #[test]
    fn lowest_versions() {
        let check = |line: &str, expected: Option<&str>| {
            let found = lower_bound(line).filter(|(package, _)| package == "scikit-learn").map(|(_, version)| version);
            assert_eq!(found.as_deref(), expected, "{line}");
        };
        check("scikit-learn>=1.4", Some("1.4"));
        check("Scikit_Learn == 1.4.2  # newer ones warn", Some("1.4.2"));
        check("scikit-learn[tests]>=1.0,!=1.5,<2", Some("1.0"));
        check("scikit-learn<2,>=1.4", Some("1.4"));
        check("scikit-learn~=1.4.0", Some("1.4.0"));
        check("scikit-learn<=1.5", None);
        check("scikit-learn!=1.5", None);
        check("scikit-learn", None);
        check("# scikit-learn>=1.4", None);
        check("scikit-learn>=1.4; python_version >= \"3.9\"", None);
    }

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
        check("requirements.txt", "Hydra_Core>=1.0, <1.2  # newer ones warn", true);
        check("requirements.txt", "hydra-core[extra]>=1.0,!=1.0.3,<1.2", true);
        check("requirements.txt", "hydra-core>=1.0,<2", false);
        check("environment.yml", "  - hydra-core=1.1", true);
        check("environment.yml", "  - hydra-core=1.1=py38_0", true);
        check("pyproject.toml", "hydra-core = \"^0.11\"", true);
        check("pyproject.toml", "hydra-core = \"^1.1\"", false);
        check("pyproject.toml", "hydra-core = \"~1.1\"", true);
        check("pyproject.toml", "hydra-core = \"^18446744073709551615\"", false);
        check("pyproject.toml", "hydra-core = { version = \"<1.2\", optional = true }", true);
        check("pyproject.toml", "hydra-core = \">=1.0,<1.2\"", true);
        check("setup.py", "version=\"1.0\", install_requires=[\"hydra-core<1.2\"]", true);
        check("train.py", "# dependencies = [\"hydra-core==1.1\"]\nimport hydra", true);
        check("train.py", "import hydra\n# hydra-core==1.1", false);
    }
}
