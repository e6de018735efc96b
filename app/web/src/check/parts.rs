//! What the page shows, as HTML: functions from what is known to a string, tested without a browser.

pub mod about;
pub mod comparison;
pub mod form;
pub mod layers;
pub mod statistics;

/// Names of the classes by their label.
pub const CLASS_NAMES: [&str; uresnet::CLASSES] = ["background", "cosmic", "neutrino"];

/// Text as HTML, also inside quotes.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A whole number with its thousands apart.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A share in percent.
fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_string(), |share| format!("{:.2} %", 100.0 * share))
}

/// Bytes in MiB.
pub(crate) fn mebibytes(bytes: usize) -> String {
    format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20))
}

/// The path of a module with its repetitions counted: `net_core.main_module.main_module` is `net_core.main_module×2`.
pub(crate) fn short_path(path: &str) -> String {
    let deep = path.matches(".main_module").count();
    match deep {
        0 | 1 => path.to_string(),
        _ => path.replacen(&".main_module".repeat(deep), &format!(".main_module×{deep}"), 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_paths() {
        assert_eq!(thousands(18_382_131), "18,382,131");
        assert_eq!(thousands(999), "999");
        assert_eq!(short_path("net_core.main_module.main_module.up_blocks"), "net_core.main_module×2.up_blocks");
        assert_eq!(short_path("net_core.main_module.up_blocks"), "net_core.main_module.up_blocks");
        assert_eq!(escape("<a \"&\">"), "&lt;a &quot;&amp;&quot;&gt;");
    }
}
