//! The list of repositories, and where their files are.

use crate::step::ask;
use anyhow::{Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A public repository at a commit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Repository {
    /// `owner/name`
    pub(super) name: String,
    commit: String,
}

/// The repositories of a list: each a line with name, commit and licence.
pub(super) fn read(list: &str) -> Result<Vec<Repository>> {
    let lines = list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
            [name, commit, _licence] if name.matches('/').count() == 1 && is_commit(commit) => {
                Ok(Repository { name: name.to_owned(), commit: commit.to_owned() })
            }
            _ => bail!("`{line}` is not OWNER/NAME COMMIT LICENCE, with all 40 digits of the commit"),
        })
        .collect()
}

fn is_commit(word: &str) -> bool {
    word.len() == 40 && word.chars().all(|c| c.is_ascii_hexdigit())
}

impl Repository {
    /// The folder with the files: one of `from` if that is given, otherwise one of `cache`, fetched if it is missing.
    pub(super) fn checkout(&self, from: Option<&Path>, cache: &Path) -> Result<PathBuf, String> {
        if let Some(from) = from {
            let (owner, name) = self.name.split_once('/').unwrap_or_default();
            let names = [self.name.clone(), format!("{owner}+{name}"), name.to_owned()];
            let found = names.iter().map(|name| from.join(name)).find(|folder| folder.join(".git").exists());
            let folder =
                found.ok_or_else(|| format!("{} has no checkout named {}", from.display(), names.join(", ")))?;
            return self.is_in(&folder).map(|()| folder);
        }
        let folder = cache.join(self.name.replace('/', "+"));
        if self.is_in(&folder).is_err() {
            self.fetch(&folder)?;
        }
        Ok(folder)
    }

    /// Whether the files of a folder are those of the commit.
    fn is_in(&self, folder: &Path) -> Result<(), String> {
        let at = folder.to_string_lossy();
        let head = ask("git", &["-C", &at, "rev-parse", "HEAD"]).unwrap_or_default();
        if head != self.commit {
            return Err(format!("{at} is at {head:.10}, not at {:.10}", self.commit));
        }
        match ask("git", &["-C", &at, "status", "--porcelain", "--", "*.py"]).as_deref() {
            Some("") => Ok(()),
            _ => Err(format!("{at} has changed Python files")),
        }
    }

    /// Fetches the one commit.
    fn fetch(&self, folder: &Path) -> Result<(), String> {
        fs::remove_dir_all(folder).ok();
        fs::create_dir_all(folder).map_err(|error| format!("{} can't be created: {error}", folder.display()))?;
        let address = format!("https://github.com/{}.git", self.name);
        println!("    {} is fetched into {}", self.name, folder.display());
        let git = |words: &[&str]| {
            let mut command = Command::new("git");
            command.current_dir(folder).args(words).stdin(Stdio::null()).env("GIT_TERMINAL_PROMPT", "0");
            let output = command.output().map_err(|error| format!("git can't be started: {error}"))?;
            let said = String::from_utf8_lossy(&output.stderr);
            let why = said.lines().last().unwrap_or("no reason given").to_owned();
            if output.status.success() { Ok(()) } else { Err(format!("it can't be fetched: {why}")) }
        };
        let done = git(&["init", "--quiet"])
            .and_then(|()| git(&["fetch", "--quiet", "--depth", "1", &address, &self.commit]))
            .and_then(|()| git(&["checkout", "--quiet", "--detach", &self.commit]));
        done.inspect_err(|_| _ = fs::remove_dir_all(folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_names_commits_and_licences() {
        let commit = "0123456789".repeat(4);
        let [only] = &read(&format!("# Words.\n\n a/b {commit} MIT\n")).unwrap()[..] else { panic!("one repository") };
        assert_eq!((only.name.as_str(), &only.commit), ("a/b", &commit));
        for line in ["a/b", "a/b 0123 MIT", &format!("a {commit} MIT"), &format!("a/b {commit}")] {
            assert!(read(line).is_err(), "{line}");
        }
    }

    #[test]
    fn every_repository_of_the_list_is_pinned() {
        let list = fs::read_to_string(crate::workspace::root().join("tests/ecosystem/repositories.txt")).unwrap();
        assert!(read(&list).unwrap().len() > 10);
    }

    #[test]
    fn a_checkout_of_something_else_is_not_compared() {
        let commit = "0".repeat(40);
        let repository = Repository { name: "owner/name".to_owned(), commit };
        let why = repository.checkout(Some(Path::new("/no/such/folder")), Path::new("")).unwrap_err();
        assert_eq!(why, "/no/such/folder has no checkout named owner/name, owner+name, name");
        // A folder of that name that is at another commit.
        let home = std::env::temp_dir().join(format!("portolan-ecosystem-{}", std::process::id()));
        fs::create_dir_all(home.join("name/.git")).unwrap();
        let why = repository.checkout(Some(&home), Path::new("")).unwrap_err();
        fs::remove_dir_all(&home).unwrap();
        assert!(why.ends_with("not at 0000000000"), "{why}");
    }
}
