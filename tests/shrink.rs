//! A text with a fault, reduced line by line as long as the fault remains.

/// The number of attempts at a smaller text.
const TRIES: usize = 1500;

/// The smallest text found for which `has_fault` is still true. Chunks of lines are removed first, then blocks with
/// everything indented below their first line, then single lines.
pub fn shrink(text: &str, mut has_fault: impl FnMut(&str) -> bool) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut tries = 0;
    let mut still = |lines: &[&str], tries: &mut usize| {
        *tries += 1;
        *tries <= TRIES && has_fault(&lines.concat())
    };
    loop {
        let before = lines.len();
        let mut size = lines.len() / 2;
        while size > 0 {
            let mut at = 0;
            while at < lines.len() {
                let end = (at + size).min(lines.len());
                let without = [&lines[..at], &lines[end..]].concat();
                if still(&without, &mut tries) {
                    lines = without;
                } else {
                    at = end;
                }
            }
            size /= 2;
        }
        let mut at = 0;
        while at < lines.len() {
            let end = at + block(&lines[at..]);
            let without = [&lines[..at], &lines[end..]].concat();
            if end - at > 1 && still(&without, &mut tries) {
                lines = without;
                continue;
            }
            // The header is removed, and the contents of the block are dedented.
            let indent = |line: &str| line.len() - line.trim_start().len();
            let deeper = lines.get(at + 1).map_or(0, |next| indent(next).saturating_sub(indent(lines[at])));
            let inner = lines[at + 1..end].iter();
            let moved: Vec<&str> = inner.map(|line| line.get(deeper.min(indent(line))..).unwrap_or(line)).collect();
            let without = [&lines[..at], &moved, &lines[end..]].concat();
            if end - at > 1 && deeper > 0 && still(&without, &mut tries) {
                lines = without;
                continue;
            }
            at += 1;
        }
        if lines.len() == before || tries > TRIES {
            return lines.concat();
        }
    }
}

/// The lines of the block that begins here: the first, and all following ones that are empty or indented further.
fn block(lines: &[&str]) -> usize {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let Some(first) = lines.first() else { return 0 };
    1 + lines[1..].iter().take_while(|line| line.trim().is_empty() || indent(line) > indent(first)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_fault_needs_stays() {
        let text = "a\nif x:\n    b\n    if y:\n        c\n        d\ne\n";
        // As Python would have it, nothing begins indented.
        let is_flat = |text: &str| !text.starts_with(' ');
        assert_eq!(shrink(text, |text| is_flat(text) && text.contains("c\n")), "c\n");
        assert_eq!(
            shrink(text, |text| is_flat(text) && text.contains("if y:\n        c\n")),
            "if x:\n    if y:\n        c\n"
        );
        assert_eq!(shrink(text, |_| false), text);
    }
}
