//! Writes the computed text into an `after` fence.

/// Rewrites the body of the fence whose first body line is `line` (from 1) and returns the new page.
///
/// Line endings and the fence's indentation are kept; the fence gets longer if the new body contains its marks. Lines
/// below move, so several fences of a page are filled from the last to the first. If there is no fence, the page is
/// returned unchanged.
pub fn fill_after(text: &str, line: usize, new: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let Some(open) = line.checked_sub(2).and_then(|index| lines.get(index).copied()) else { return text.to_string() };
    let indent = &open[..open.len() - open.trim_start_matches([' ', '\t', '>']).len()];
    let info = &open[indent.len()..];
    let Some(mark) = info.chars().next().filter(|mark| matches!(mark, '`' | '~')) else { return text.to_string() };
    let width = info.chars().take_while(|c| *c == mark).count();
    let closes = |line: &&str| {
        let rest = line.trim_start_matches([' ', '\t', '>']).trim_end();
        rest.len() >= width && rest.chars().all(|c| c == mark)
    };
    let Some(close) = lines[line - 1..].iter().position(closes).map(|at| line - 1 + at) else {
        return text.to_string();
    };
    if width < 3 {
        return text.to_string();
    }

    let end = if open.ends_with("\r\n") { "\r\n" } else { "\n" };
    let inside =
        new.lines().map(|line| line.trim_start().chars().take_while(|c| *c == mark).count()).max().unwrap_or(0);
    let fence: String = std::iter::repeat_n(mark, width.max(if inside >= 3 { inside + 1 } else { 0 })).collect();
    let mut filled: String = lines[..line - 2].concat();
    filled += &format!("{indent}{fence}{}", &info[width..]);
    for new_line in new.lines() {
        let new_line = new_line.strip_suffix('\r').unwrap_or(new_line);
        let blank = if new_line.is_empty() { "" } else { indent };
        filled += &format!("{blank}{new_line}{end}");
    }
    let tail = if lines[close].ends_with('\n') { end } else { "" };
    filled += &format!("{indent}{fence}{tail}");
    filled += &lines[close + 1..].concat();
    filled
}

#[cfg(test)]
mod tests {
    use super::fill_after;

    fn check(text: &str, line: usize, new: &str, expected: &str) {
        assert_eq!(fill_after(text, line, new), expected);
    }

    #[test]
    fn body_is_replaced_and_the_rest_stays() {
        check("a\n```python after\nold\nold\n```\nb\n", 3, "new\n", "a\n```python after\nnew\n```\nb\n");
        check("a\n```python after\n```\nb", 3, "x\n\ny", "a\n```python after\nx\n\ny\n```\nb");
    }

    #[test]
    fn line_ends_are_kept() {
        check("```python after\r\nold\r\n```\r\nb\r\n", 2, "x\ny\n", "```python after\r\nx\r\ny\r\n```\r\nb\r\n");
    }

    #[test]
    fn a_fence_in_a_list_keeps_its_indentation() {
        check(
            "- a\n  ```python after\n  ```\n",
            3,
            "if x:\n    y\n",
            "- a\n  ```python after\n  if x:\n      y\n  ```\n",
        );
    }

    #[test]
    fn a_fence_grows_around_fences() {
        check("```text after\n```\n", 2, "```\nx\n```\n", "````text after\n```\nx\n```\n````\n");
    }

    #[test]
    fn no_fence_no_change() {
        check("a\nb\n", 2, "x", "a\nb\n");
        check("```python\nx\n", 2, "y", "```python\nx\n");
        check("", 7, "y", "");
    }
}
