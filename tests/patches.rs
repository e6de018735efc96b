//! `git apply` on the patches of a file's ports, and in reverse.

use crate::faults::{Fault, Kind};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

static FOLDERS: AtomicUsize = AtomicUsize::new(0);

/// Target, style.
type Port = (String, &'static str);

/// The ports whose patches git rejects. One call of git applies all patches of the file; only if it fails, each is
/// tried.
pub fn check(
    path: &Path,
    text: &str,
    changed: &[(String, &'static str, String)],
) -> Result<Vec<(Port, Fault)>, String> {
    if changed.is_empty() {
        return Ok(Vec::new());
    }
    let all: Vec<_> = changed.iter().collect();
    if applied(path, text, &all)?.is_none() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for one in changed {
        if let Some(why) = applied(path, text, &[one])? {
            found.push(((one.0.clone(), one.1), Fault::new(Kind::Patch, "git apply", why)));
        }
    }
    Ok(found)
}

/// Why git rejects the patches; none if it accepts them and restores the original in reverse.
fn applied(path: &Path, text: &str, ports: &[&(String, &'static str, String)]) -> Result<Option<String>, String> {
    let told = |error: std::io::Error| error.to_string();
    let n = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let root = std::env::temp_dir().join(format!("portolan-sweep-{}-{n}", std::process::id()));
    fs::create_dir_all(&root).map_err(told)?;
    let name = path.file_name().map_or("file.py".into(), |name| name.to_string_lossy());
    let (mut patch, mut files): (String, Vec<(PathBuf, &str)>) = (String::new(), Vec::new());
    for (target, style, ported) in ports {
        let place = format!("{target}-{style}-{name}");
        fs::write(root.join(&place), text).map_err(told)?;
        patch += &codemod::git_patch_of(&place, text, ported);
        files.push((root.join(place), ported));
    }
    fs::write(root.join(".patch"), patch).map_err(told)?;
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        // Inside a checkout git would skip files that the checkout ignores.
        git.args(["apply", "--whitespace=nowarn"]).args(words).arg(".patch").current_dir(&root);
        git.env("GIT_CEILING_DIRECTORIES", root.parent().unwrap_or(&root)).output().map_err(told)
    };
    let mut why = None;
    for (words, wanted) in [(&[][..], true), (&["--reverse"][..], false)] {
        let output = git(words)?;
        let wrong = |(file, ported): &(PathBuf, &str)| {
            fs::read(file).is_ok_and(|found| found != if wanted { *ported } else { text }.as_bytes())
        };
        if !output.status.success() {
            why = Some(String::from_utf8_lossy(&output.stderr).into_owned());
        } else if files.iter().any(wrong) {
            why = Some("what git makes of the patch is not the port".to_owned());
        }
        if why.is_some() {
            break;
        }
    }
    fs::remove_dir_all(&root).map_err(told)?;
    Ok(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_takes_the_patch_of_any_line_ends() {
        for (text, ported) in [("a\r\nb", "a\r\nc\r\nb"), ("a\n", ""), ("\u{feff}a\nb\n", "\u{feff}c\nb")] {
            let changed = [("t".to_owned(), "in-place", ported.to_owned())];
            assert_eq!(check(Path::new("my dir/a b.py"), text, &changed).unwrap(), []);
        }
    }

    /// The text to which the patch is applied differs from the one that it was created from.
    #[test]
    fn what_git_makes_is_compared() {
        let port = ("t".to_owned(), "in-place", "a\nb\n".to_owned());
        assert!(applied(Path::new("a.py"), "a\nb\n", &[&port]).unwrap().is_some(), "an empty patch is refused");
    }
}
