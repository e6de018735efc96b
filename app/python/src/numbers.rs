//! Values of number literals.

/// Whether a literal is zero, in any of its spellings: `0`, `0.`, `.0`, `0e0`.
pub fn is_zero(literal: &str) -> bool {
    let digits = literal.split(['e', 'E']).next().unwrap_or_default();
    digits.contains('0') && digits.chars().all(|c| matches!(c, '0' | '.' | '_'))
}

#[cfg(test)]
mod tests {
    use super::is_zero;

    #[test]
    fn nought_has_many_spellings() {
        for literal in ["0", "0.", ".0", "0e0", "0_0", "0.0E-3"] {
            assert!(is_zero(literal), "{literal}");
        }
        for literal in ["1", "1e0", "0.1", "0x1", "", "e"] {
            assert!(!is_zero(literal), "{literal}");
        }
    }
}
