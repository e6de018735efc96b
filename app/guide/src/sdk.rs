//! SDK versions: order, requirements, and what a version provides.

use std::cmp::Ordering;

/// Numbers of a version, compared one by one: `1.8` is before `1.19`.
fn numbers(version: &str) -> Vec<u32> {
    version
        .split('.')
        .map(|part| part.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(u32::MAX))
        .collect()
}

/// Order of two versions.
pub fn compare(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (numbers(a), numbers(b));
    let len = a.len().max(b.len());
    a.resize(len, 0);
    b.resize(len, 0);
    a.cmp(&b)
}

/// Whether a text is a version.
pub fn is_version(text: &str) -> bool {
    !text.is_empty() && text.split('.').all(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
}

/// `>=1.13,<1.20`: all comparisons must be true.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirement(Vec<(Operator, String)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    AtLeast,
    Above,
    AtMost,
    Below,
    Equal,
}

impl Requirement {
    /// Parses comparisons, separated by commas.
    ///
    /// # Errors
    /// A text that is not a comparison with a version.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut out = Vec::new();
        for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            let (operator, version) = [
                (">=", Operator::AtLeast),
                ("<=", Operator::AtMost),
                ("==", Operator::Equal),
                (">", Operator::Above),
                ("<", Operator::Below),
            ]
            .into_iter()
            .find_map(|(sign, operator)| part.strip_prefix(sign).map(|v| (operator, v.trim())))
            .unwrap_or((Operator::Equal, part));
            if !is_version(version) {
                return Err(format!("`{part}` is not an SDK version comparison such as `>=1.20`"));
            }
            out.push((operator, version.to_owned()));
        }
        Ok(Self(out))
    }

    /// Whether a version satisfies all of them.
    pub fn admits(&self, version: &str) -> bool {
        self.0.iter().all(|(operator, bound)| {
            let order = compare(version, bound);
            match operator {
                Operator::AtLeast => order.is_ge(),
                Operator::Above => order.is_gt(),
                Operator::AtMost => order.is_le(),
                Operator::Below => order.is_lt(),
                Operator::Equal => order.is_eq(),
            }
        })
    }
}

/// Whether a requirement, such as `>=1.13,<1.20`, accepts a version. An invalid one accepts nothing; an empty one
/// everything.
#[must_use]
pub fn sdk_admits(requirement: &str, version: &str) -> bool {
    Requirement::parse(requirement).is_ok_and(|requirement| requirement.admits(version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements() {
        let check = |requirement: &str, version: &str, expected: bool| {
            assert_eq!(
                Requirement::parse(requirement).map(|r| r.admits(version)),
                Ok(expected),
                "{requirement} {version}"
            );
        };
        check(">=1.13,<1.20", "1.19", true);
        check(">=1.13,<1.20", "1.20", false);
        check(">=1.13", "1.8", false);
        check("==1.8", "1.8.0", true);
        check("", "1.8", true);
        assert!(Requirement::parse(">=new").is_err());
    }
}
