//! The lines of front matter that tell the engine about a target: its mode, its bridge, options and fields.

use crate::model::{Bridge, ConfigField, Mode, OptionField, OptionKind};

/// `IPU = 5` or `IPU`.
pub(crate) fn read_mode(value: &str) -> Result<Mode, String> {
    let (name, number) = match value.split_once('=') {
        Some((name, number)) => {
            let number = number.trim();
            (name.trim(), Some(number.parse().map_err(|_| format!("`{number}` in mode is not a whole number"))?))
        }
        None => (value, None),
    };
    if name.is_empty() || !name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_') {
        return Err(format!("mode `{name}` is not a name in capitals, such as `IPU = 5`"));
    }
    Ok(Mode { name: name.to_string(), number })
}

/// `habana_frameworks.torch.core as htcore`.
pub(crate) fn read_bridge(value: &str) -> Result<Bridge, String> {
    let (module, name) = value.split_once(" as ").ok_or_else(|| format!("bridge `{value}` is not `MODULE as NAME`"))?;
    Ok(Bridge { module: module.trim().to_string(), name: name.trim().to_string() })
}

/// `on, off | on <1.20, off | lazy mode`, behind `option lazy:`.
pub(crate) fn read_option(name: &str, value: &str, line: usize) -> Result<OptionField, String> {
    let name = name.trim();
    if name.is_empty() || !name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_') {
        return Err(format!("option `{name}` is not a name of lowercase letters, digits and `_`"));
    }
    let parts: Vec<&str> = value.split('|').map(str::trim).collect();
    let [kind, defaults, label] = parts[..] else {
        return Err(format!("option `{name}` is not `VALUES | DEFAULT | LABEL`"));
    };
    let kind = match kind {
        "number" => OptionKind::Number,
        "text" => OptionKind::Text,
        values => OptionKind::OneOf(values.split(',').map(|v| v.trim().to_string()).collect()),
    };
    // Requirements hold commas too, but no value begins with a comparison.
    let mut pairs: Vec<(String, String)> = Vec::new();
    for part in defaults.split(',').map(str::trim) {
        match pairs.last_mut() {
            Some((_, requirement)) if part.starts_with(['<', '>', '=']) => {
                requirement.push(',');
                requirement.push_str(part);
            }
            _ => {
                let (value, requirement) = part.split_once(' ').unwrap_or((part, ""));
                pairs.push((value.to_string(), requirement.trim().to_string()));
            }
        }
    }
    if let Some((value, _)) = pairs.iter().find(|(value, _)| !kind.admits(value)) {
        return Err(format!("the default `{value}` is not a value of option `{name}`"));
    }
    if pairs.last().is_none_or(|(_, requirement)| !requirement.is_empty()) {
        return Err(format!("the last default of option `{name}` holds for every SDK, without a requirement"));
    }
    if label.is_empty() {
        return Err(format!("option `{name}` has no label for the form"));
    }
    Ok(OptionField { line, name: name.to_string(), kind, defaults: pairs, label: label.to_string() })
}

/// `int = {{option.replicas}} | 1`, behind `field num_replicas:`.
pub(crate) fn read_field(name: &str, value: &str) -> Result<ConfigField, String> {
    let wrong = || format!("field `{}` is not `TYPE = DEFAULT | FALLBACK`", name.trim());
    let (typed, fallback) = value.split_once('|').ok_or_else(wrong)?;
    let (annotation, default) = typed.split_once('=').ok_or_else(wrong)?;
    let part = |text: &str| match text.trim() {
        "" => Err(wrong()),
        text => Ok(text.to_string()),
    };
    Ok(ConfigField {
        name: part(name)?,
        annotation: part(annotation)?,
        default: part(default)?,
        fallback: part(fallback)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options() {
        let check = |value: &str, kind: OptionKind, defaults: &[(&str, &str)]| {
            let option = read_option("lazy", value, 1).unwrap();
            let read: Vec<_> = option.defaults.iter().map(|(v, r)| (v.as_str(), r.as_str())).collect();
            assert_eq!((option.kind, &read[..]), (kind, defaults), "{value}");
        };
        let refused = |value: &str, part: &str| {
            let message = read_option("lazy", value, 1).unwrap_err();
            assert!(message.contains(part), "{message}");
        };
        let values = || OptionKind::OneOf(vec!["on".to_string(), "off".to_string()]);
        check("on, off | on <1.20, off | lazy mode", values(), &[("on", "<1.20"), ("off", "")]);
        check("on, off | on >=1.13,<1.20, off | lazy mode", values(), &[("on", ">=1.13,<1.20"), ("off", "")]);
        check("number | 4 | replicas", OptionKind::Number, &[("4", "")]);
        refused("number | 0 | replicas", "not a value");
        refused("on, off | auto | lazy mode", "not a value");
        refused("on, off | on <1.20 | lazy mode", "without a requirement");
        refused("on, off", "VALUES | DEFAULT | LABEL");
    }
}
