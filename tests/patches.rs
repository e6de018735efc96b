//! `git apply` on the patches of ports, and in reverse.

use crate::faults::{Fault, Kind};
use codemod::SourceFile;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

static FOLDERS: AtomicUsize = AtomicUsize::new(0);

/// A port that differs from its original.
pub struct Changed {
    /// The target's id.
    pub target: String,
    /// The style's name.
    pub style: &'static str,
    /// The files that differ, by their number, and their texts.
    pub texts: Vec<(usize, String)>,
}

/// Of the ports of some files, those whose patches git rejects, and why. One call of git applies all patches; only if it fails,
/// each is tried.
pub fn check<'c>(files: &[SourceFile], changed: &'c [Changed]) -> Result<Vec<(&'c Changed, Fault)>, String> {
    if changed.is_empty() || applied(files, changed)?.is_none() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for one in changed {
        if let Some(why) = applied(files, std::slice::from_ref(one))? {
            found.push((one, Fault::new(Kind::Patch, "git apply", why)));
        }
    }
    Ok(found)
}

/// Why git rejects the patches; none if it accepts them and restores the originals in reverse.
fn applied(sources: &[SourceFile], ports: &[Changed]) -> Result<Option<String>, String> {
    let told = |error: std::io::Error| error.to_string();
    let n = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let root = std::env::temp_dir().join(format!("portolan-sweep-{}-{n}", std::process::id()));
    fs::create_dir_all(&root).map_err(told)?;
    let (mut patch, mut files): (String, Vec<(PathBuf, &str, &str)>) = (String::new(), Vec::new());
    for Changed { target, style, texts } in ports {
        for (n, ported) in texts {
            let SourceFile { path, text } = &sources[*n];
            let place = format!("{target}-{style}/{path}");
            let on_disk = root.join(&place);
            fs::create_dir_all(on_disk.parent().unwrap_or(&root)).map_err(told)?;
            fs::write(&on_disk, text).map_err(told)?;
            patch += &codemod::git_patch_of(&place, text, ported);
            files.push((on_disk, text, ported));
        }
    }
    fs::write(root.join(".patch"), patch).map_err(told)?;
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        // Inside a checkout git would skip files that the checkout ignores.
        git.args(["apply", "--whitespace=nowarn"]).args(words).arg(".patch").current_dir(&root);
        git.env("GIT_CEILING_DIRECTORIES", root.parent().unwrap_or(&root)).output().map_err(told)
    };
    let mut why = None;
    for (words, is_port) in [(&[][..], true), (&["--reverse"][..], false)] {
        let output = git(words)?;
        let wrong = |(file, text, ported): &(PathBuf, &str, &str)| {
            fs::read(file).is_ok_and(|found| found != if is_port { *ported } else { *text }.as_bytes())
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

    fn changed(path: &str, text: &str, ported: &str) -> (Vec<SourceFile>, Vec<Changed>) {
        let port = Changed { target: "t".into(), style: "in-place", texts: vec![(0, ported.to_owned())] };
        (vec![SourceFile { path: path.into(), text: text.into() }], vec![port])
    }

    #[test]
    fn git_takes_the_patch_of_any_line_ends() {
        for (text, ported) in [("a\r\nb", "a\r\nc\r\nb"), ("a\n", ""), ("\u{feff}a\nb\n", "\u{feff}c\nb")] {
            let (files, changed) = changed("my dir/a b.py", text, ported);
            assert!(check(&files, &changed).unwrap().is_empty());
        }
    }

    /// The text to which the patch is applied differs from the one that it was created from.
    #[test]
    fn what_git_makes_is_compared() {
        let (files, changed) = changed("a.py", "a\nb\n", "a\nb\n");
        assert_eq!(check(&files, &changed).unwrap().len(), 1, "an empty patch is refused");
    }
}
