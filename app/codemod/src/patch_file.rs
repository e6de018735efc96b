//! One patch for several files, in the form that `git diff` writes and `git apply` takes.

use crate::diff::{Hunk, changed_runs};
use std::fmt::Write;

/// Unchanged lines around a change.
const CONTEXT: u32 = 3;

/// The patch of one file; empty if nothing changed. Line endings are those of the file, so a patch of a file with
/// `\r\n` has them too.
pub fn git_patch_of(path: &str, old: &str, new: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let hunks = changed_runs(&old, &new);
    let mut out = String::new();
    if hunks.is_empty() {
        return out;
    }
    let (a, b) = (quoted(&format!("a/{path}")), quoted(&format!("b/{path}")));
    // A tab marks the end of a name with a space, since a time stamp could follow otherwise.
    let tab = if path.contains(' ') { "\t" } else { "" };
    let _ = write!(out, "diff --git {a} {b}\n--- {a}{tab}\n+++ {b}{tab}\n");
    let mut rest = &hunks[..];
    while let Some(first) = rest.first() {
        let mut count = 1;
        while rest.get(count).is_some_and(|next| next.old_start - rest[count - 1].old_end <= 2 * CONTEXT) {
            count += 1;
        }
        let (group, after) = rest.split_at(count);
        let last = &group[count - 1];
        let from = first.old_start.min(CONTEXT);
        let to = (old.len() as u32 - last.old_end).min(CONTEXT);
        let (old_range, new_range) =
            (range(first.old_start - from, last.old_end + to), range(first.new_start - from, last.new_end + to));
        let _ = writeln!(out, "@@ -{old_range} +{new_range} @@");
        write_lines(&mut out, group, &old, &new, first.old_start - from, last.old_end + to);
        rest = after;
    }
    out
}

/// The patch that adds a file, or is reversed to remove it.
pub fn git_patch_of_new(path: &str, text: &str) -> String {
    let of_change = git_patch_of(path, "", text);
    let Some((head, rest)) = of_change.split_once("\n--- ") else { return of_change };
    let rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    format!("{head}\nnew file mode 100644\n--- /dev/null\n{rest}")
}

/// A patch of one file whose reverse does not ask what is in the file: `git apply -R` moves the file as it is then to
/// `aside`, and makes it again with its old text, executable if it was.
pub fn git_patch_from_any(path: &str, aside: &str, old: &str, executable: bool) -> String {
    let (a, b) = (quoted(&format!("a/{path}")), quoted(&format!("b/{path}")));
    let tab = if path.contains(' ') { "\t" } else { "" };
    // Of a file that it makes, git takes the mode from a change of modes alone.
    let mode = if executable {
        "old mode 100755\nnew mode 100644\ndeleted file mode 100755"
    } else {
        "deleted file mode 100644"
    };
    let mut out = format!("diff --git {a} {b}\n{mode}\n");
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let count = old.len() as u32;
    if count > 0 {
        let _ = write!(out, "--- {a}{tab}\n+++ /dev/null\n@@ -{} +0,0 @@\n", range(0, count));
        let all = Hunk { old_end: count, ..Hunk::default() };
        write_lines(&mut out, &[all], &old, &[], 0, count);
    }
    out + &git_patch_from_aside(path, aside)
}

/// A patch of one file whose reverse moves the file, whatever is in it, to `aside`.
pub fn git_patch_from_aside(path: &str, aside: &str) -> String {
    let (from, b) = (quoted(&format!("a/{aside}")), quoted(&format!("b/{path}")));
    let (plain_from, plain_to) = (quoted(aside), quoted(path));
    format!("diff --git {from} {b}\nsimilarity index 100%\nrename from {plain_from}\nrename to {plain_to}\n")
}

/// Start and length of a hunk's lines as git counts them: from 1, an empty range names the line before it.
fn range(start: u32, end: u32) -> String {
    match end - start {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        length => format!("{},{length}", start + 1),
    }
}

fn write_lines(out: &mut String, group: &[Hunk], old: &[&str], new: &[&str], from: u32, to: u32) {
    let mut at = from;
    let mut lines = |sign: char, lines: &[&str]| {
        for line in lines {
            out.push(sign);
            out.push_str(line);
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    };
    for hunk in group {
        lines(' ', &old[at as usize..hunk.old_start as usize]);
        lines('-', &old[hunk.old_start as usize..hunk.old_end as usize]);
        lines('+', &new[hunk.new_start as usize..hunk.new_end as usize]);
        at = hunk.old_end;
    }
    lines(' ', &old[at as usize..to as usize]);
}

/// A path as git writes it: in quotes, with bytes escaped, if it contains anything ambiguous.
fn quoted(path: &str) -> String {
    let plain = |byte: u8| (b' '..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
    if path.bytes().all(plain) {
        return path.to_string();
    }
    let mut out = String::from("\"");
    for byte in path.bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', byte as char]),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            byte if plain(byte) => out.push(byte as char),
            byte => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, old: &str, new: &str, expected: &str) {
        assert_eq!(git_patch_of(path, old, new), expected);
    }

    #[test]
    fn nothing_changed_is_no_patch() {
        check("a.py", "a\n", "a\n", "");
    }

    #[test]
    fn close_changes_share_a_hunk_and_far_ones_do_not() {
        let old: String = (1..=30).map(|i| format!("{i}\n")).collect();
        let new = old.replacen("5\n", "five\n", 1).replacen("\n12\n", "\ntwelve\n", 1).replace("\n25\n", "\n");
        check(
            "a.py",
            &old,
            &new,
            "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -2,14 +2,14 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n 10\n 11\n\
             -12\n+twelve\n 13\n 14\n 15\n@@ -22,7 +22,6 @@\n 22\n 23\n 24\n-25\n 26\n 27\n 28\n",
        );
    }

    #[test]
    fn ends_of_files() {
        let head = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n";
        check("a.py", "", "a", &format!("{head}@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n"));
        check("a.py", "a\n", "", &format!("{head}@@ -1 +0,0 @@\n-a\n"));
        check(
            "a.py",
            "a\r\nb",
            "a\r\nb\n",
            &format!("{head}@@ -1,2 +1,2 @@\n a\r\n-b\n\\ No newline at end of file\n+b\n"),
        );
    }

    #[test]
    fn a_new_file_has_no_old_one() {
        assert_eq!(
            git_patch_of_new("my a.py", "x = 1\n"),
            "diff --git a/my a.py b/my a.py\nnew file mode 100644\n--- /dev/null\n+++ b/my a.py\t\n@@ -0,0 +1 @@\n+x = 1\n"
        );
    }

    #[test]
    fn a_file_with_any_contents_gets_its_old_text_back() {
        assert_eq!(
            git_patch_from_any("my a.py", "kept/my a.py", "a\r\nb", true),
            "diff --git a/my a.py b/my a.py\nold mode 100755\nnew mode 100644\ndeleted file mode 100755\n--- a/my a.py\t\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\r\n-b\n\
             \\ No newline at end of file\ndiff --git a/kept/my a.py b/my a.py\nsimilarity index 100%\n\
             rename from kept/my a.py\nrename to my a.py\n"
        );
        assert!(!git_patch_from_any("a.py", "b.py", "", false).contains("@@"), "an empty file has no lines");
    }

    #[test]
    fn names_are_quoted_as_git_does() {
        check(
            "my dir/a.py",
            "",
            "a\n",
            "diff --git a/my dir/a.py b/my dir/a.py\n--- a/my dir/a.py\t\n+++ b/my dir/a.py\t\n@@ -0,0 +1 @@\n+a\n",
        );
        assert_eq!(quoted("a/größe \"x\".py"), r#""a/gr\303\266\303\237e \"x\".py""#);
    }
}
