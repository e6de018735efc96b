//! The contract of patches: the real `git apply` accepts them, and the files are then the ported ones, byte for byte.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

struct Case {
    path: String,
    old: String,
    new: String,
}

fn case(path: &str, old: &str, new: &str) -> Case {
    Case { path: path.into(), old: old.into(), new: new.into() }
}

fn git(folder: &Path, words: &[&str], input: &str) -> String {
    use std::io::Write;
    let mut command = Command::new("git");
    command.current_dir(folder).args(words).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("git is installed");
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Applies one patch for all cases in a fresh repository.
fn check(cases: &[Case]) {
    let repository = TempDir::new().unwrap();
    let root = repository.path();
    git(root, &["init", "-q"], "");
    for case in cases {
        let file = root.join(&case.path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, &case.old).unwrap();
    }
    git(root, &["add", "-A"], "");
    let patch: String = cases.iter().map(|case| codemod::git_patch_of(&case.path, &case.old, &case.new)).collect();
    git(root, &["apply", "--whitespace=nowarn", "-"], &patch);
    for case in cases {
        assert_eq!(fs::read_to_string(root.join(&case.path)).unwrap(), case.new, "{:?}", case.path);
    }
    let names = |patch: &str| {
        let is_name = |line: &&str| ["diff --git ", "--- ", "+++ "].iter().any(|start| line.starts_with(start));
        let mut names: Vec<String> = patch.lines().filter(is_name).map(String::from).collect();
        names.sort();
        names
    };
    assert_eq!(names(&patch), names(&git(root, &["diff"], "")), "names are written as git writes them");
}

#[test]
fn line_ends_marks_and_empty_files() {
    check(&[
        case("lf.py", "a\nb\nc\n", "a\nB\nc\n"),
        case("crlf.py", "a\r\nb\r\nc\r\n", "a\r\nB\r\nx\r\nc\r\n"),
        case("mixed.py", "a\r\nb\nc\rd\r\n", "a\nb\nc\re\r\n"),
        case("no_end.py", "a\nb", "a\nB"),
        case("gains_end.py", "a\nb", "a\nb\n"),
        case("loses_end.py", "a\nb\n", "a\nb"),
        case("end_is_context.py", "a\nb\nc", "A\nb\nc"),
        case("mark.py", "\u{feff}import a\n", "\u{feff}import b\n"),
        case("was_empty.py", "", "import a\n"),
        case("becomes_empty.py", "import a\n", ""),
        case("same.py", "import a\n", "import a\n"),
        case("tabs.py", "\tif a:\n\t\tb()\n", "\tif a:\n\t\tc()\n"),
        case("form_feed.py", "a\n\u{c}\nb\u{2028}c\n", "a\n\u{c}\nb\u{2028}d\n"),
        case("looks_like_a_patch.py", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n", "--- a/x\n-+++ b/x\n@@ -1 +1 @@\n\\ No\n"),
    ]);
}

#[test]
fn names() {
    check(&[
        case("deep/down/a.py", "a\n", "b\n"),
        case("my scripts/train it.py", "a\n", "b\n"),
        case("größe/ネット.py", "a\n", "b\n"),
        case("quote\"s and \\ back.py", "a\n", "b\n"),
        case("it's $HOME `x`.py", "a\n", "b\n"),
        case("tab\there.py", "a\n", "b\n"),
        case(" lead.py", "a\n", "b\n"),
        case("b/a.py", "a\n", "b\n"),
    ]);
}

#[test]
fn far_and_near_changes() {
    let old: String = (0..400).map(|i| format!("line {}\n", i % 37)).collect();
    let mut lines: Vec<String> = old.split_inclusive('\n').map(String::from).collect();
    for at in [399, 398, 300, 294, 293, 286, 200, 100, 50, 7, 6, 0] {
        match at % 3 {
            0 => lines[at] = "changed\n".into(),
            1 => drop(lines.remove(at)),
            _ => lines.insert(at, "inserted\nand more\n".into()),
        }
    }
    check(&[case("a.py", &old, &lines.concat())]);
}

#[test]
fn random_texts() {
    let mut seed = 11u64;
    let mut random = |n: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % n) as usize
    };
    let words = ["if a:\n", "    b()\n", "else:\n", "\n", "    c()\r\n", "é\n", "-z\n", "+ y\n", "last"];
    let mut text = || (0..random(40)).map(|_| words[random(words.len() as u64)]).collect::<String>();
    let cases: Vec<Case> = (0..300).map(|index| case(&format!("{index}.py"), &text(), &text())).collect();
    check(&cases);
}

/// The patch of a port that was stopped, for a file that was replaced and one that was not.
#[cfg(unix)]
#[test]
fn a_file_with_any_contents_gets_its_text_and_mode_back() {
    use std::os::unix::fs::PermissionsExt;
    let (home, paths) = (TempDir::new().unwrap(), ["run.py", "my library.py", "größe.py", "left.py"]);
    let root = home.path();
    let put = |path: &str, text: &str, mode: u32| {
        fs::write(root.join(path), text).unwrap();
        fs::set_permissions(root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    let (old, new, mut patch) = ("import a\r\nb", "import c\r\nd", String::new());
    for (path, mode) in paths.iter().zip([0o755, 0o644, 0o755, 0o644]) {
        put(path, if *path == "left.py" { old } else { new }, mode);
        patch += &codemod::git_patch_from_any(path, &format!(".aside/{path}"), old, mode == 0o755);
    }
    let check = |text: &str, folder: &str, path: &str, is_executable: bool| {
        let file = root.join(folder).join(path);
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "{path}");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o111 != 0, is_executable, "{path}");
    };
    // Outside of a repository, and in one that has the files.
    for _ in 0..2 {
        git(root, &["apply", "-R", "--whitespace=nowarn", "-"], &patch);
        for (n, path) in paths.iter().enumerate() {
            check(old, "", path, n % 2 == 0);
            check(if *path == "left.py" { old } else { new }, ".aside", path, n % 2 == 0);
            put(path, if *path == "left.py" { old } else { new }, if n % 2 == 0 { 0o755 } else { 0o644 });
        }
        fs::remove_dir_all(root.join(".aside")).unwrap();
        git(root, &["init", "-q"], "");
        git(root, &["add", "-A"], "");
    }
}
