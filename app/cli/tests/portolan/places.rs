//! Sources of files and destinations of the port.

use crate::{TRAINER, folder, ported_trainer, portolan, portolan_with, read};
use std::fs;
use std::path::Path;
use std::process::Command;

fn git_apply(root: &Path, patch: &str) {
    fs::write(root.join("port.patch"), patch).unwrap();
    let status = Command::new("git").current_dir(root).args(["apply", "--whitespace=nowarn", "port.patch"]).status();
    assert!(status.unwrap().success(), "git apply takes:\n{patch}");
}

#[test]
fn the_patch_of_a_folder_applies_from_that_folder() {
    let home = folder(&[
        ("my project/src/trainer.py", TRAINER),
        ("my project/größe.py", TRAINER),
        ("my project/no.py", "x = 1\n"),
    ]);
    let ran = portolan(home.path(), &["port", "--target", "hpu", "my project"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    git_apply(&home.path().join("my project"), &ran.out);
    assert_eq!(read(home.path(), "my project/src/trainer.py"), ported_trainer());
    assert_eq!(read(home.path(), "my project/größe.py"), ported_trainer());
    let again = portolan(home.path(), &["port", "--target", "hpu", "my project"]);
    assert_eq!((again.code, again.out.as_str()), (0, ""), "a second port changes nothing");
}

#[test]
fn files_go_by_their_paths_not_folder_by_folder() {
    let home = folder(&[("p/net/a.py", TRAINER), ("p/net.py", TRAINER), ("p/net-2/a.py", TRAINER)]);
    let ran = portolan(home.path(), &["port", "--target", "hpu", "p"]);
    let order: Vec<&str> = ran.out.lines().filter_map(|line| line.strip_prefix("+++ b/")).collect();
    assert_eq!(order, ["net-2/a.py", "net.py", "net/a.py"], "as the page sorts them");
}

#[test]
fn the_patch_of_files_applies_from_here() {
    let home = folder(&[("a/one.py", TRAINER), ("b/two.py", TRAINER)]);
    let whole = home.path().join("a/one.py");
    for words in [["a/one.py", "./b/../b/two.py"], [whole.to_str().unwrap(), "b"]] {
        let ran = portolan(home.path(), &[&["port", "--target", "hpu", "--diff"], &words[..]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.out.contains("+++ b/a/one.py\n") && ran.out.contains("+++ b/b/two.py\n"), "{ran:?}");
    }
    let elsewhere = folder(&[]);
    let ran = portolan(elsewhere.path(), &["port", "--target", "hpu", whole.to_str().unwrap()]);
    assert!(ran.out.starts_with("diff --git a/one.py b/one.py\n"), "{ran:?}");
}

#[test]
fn a_file_named_twice_is_ported_once() {
    let home = folder(&[("a/one.py", TRAINER)]);
    let ran = portolan(home.path(), &["port", "--target", "hpu", "a", "a/one.py", "./a/one.py"]);
    assert_eq!(ran.out.matches("diff --git").count(), 1, "{ran:?}");
}

#[test]
fn stdin_gives_a_patch_or_the_text() {
    let home = folder(&[]);
    let ran = portolan_with(home.path(), &["port", "--target", "hpu", "-"], TRAINER.as_bytes(), &[]);
    assert!(ran.out.starts_with("diff --git a/stdin.py b/stdin.py\n"), "{ran:?}");
    let ran = portolan_with(home.path(), &["port", "--target", "hpu", "--write", "-"], b"x = 1\r\n", &[]);
    assert_eq!(ran.out, "x = 1\r\n", "what has nothing to port is printed as it is");
}

#[test]
fn write_replaces_what_changed_and_nothing_else() {
    let home = folder(&[("p/trainer.py", TRAINER), ("p/other.py", "x = 1\n"), ("p/notes.txt", "cuda\n")]);
    let other = home.path().join("p/other.py");
    let before = fs::metadata(&other).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        fs::set_permissions(home.path().join("p/trainer.py"), fs::Permissions::from_mode(0o750)).unwrap();
        fs::rename(home.path().join("p/trainer.py"), home.path().join("p/real.py")).unwrap();
        symlink("real.py", home.path().join("p/trainer.py")).unwrap();
    }
    let ran = portolan(home.path(), &["port", "--target", "hpu", "--write", "p"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
    assert_eq!(read(home.path(), "p/trainer.py"), ported_trainer());
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        assert!(home.path().join("p/trainer.py").is_symlink(), "a link stays a link");
        assert_eq!(fs::metadata(home.path().join("p/real.py")).unwrap().permissions().mode() & 0o777, 0o750);
        let after = fs::metadata(&other).unwrap();
        assert_eq!(
            (before.ino(), before.mtime_nsec()),
            (after.ino(), after.mtime_nsec()),
            "unchanged files are not touched"
        );
    }
    let mut names: Vec<_> =
        fs::read_dir(home.path().join("p")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["notes.txt", "other.py", "real.py", "trainer.py"], "nothing is left beside the files");
}

#[test]
fn a_port_can_be_taken_back() {
    let home = folder(&[("p/trainer.py", TRAINER), ("p/pkg/other.py", TRAINER), ("p/crlf.py", "x = 1\r\n")]);
    let write = ["port", "--target", "hpu", "--write", "--patch", "port.patch", "p"];
    let ran = portolan(home.path(), &write);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
    assert_eq!(read(home.path(), "p/pkg/other.py"), ported_trainer());
    let again = portolan(home.path(), &write);
    assert_eq!(again.code, 2, "{again:?}");
    assert!(again.err.contains("port.patch: the file already exists"), "{again:?}");
    let nowhere = portolan(home.path(), &["port", "--target", "ipu", "--write", "--patch", "no/port.patch", "p"]);
    assert_eq!(nowhere.code, 1, "{nowhere:?}");
    let back = Command::new("git").current_dir(home.path().join("p")).args(["apply", "-R", "../port.patch"]).status();
    assert!(back.unwrap().success());
    for file in ["p/trainer.py", "p/pkg/other.py"] {
        assert_eq!(read(home.path(), file), TRAINER);
    }
}

#[cfg(unix)]
#[test]
fn the_command_that_reverts_a_port() {
    let check = |name: &str, is_repository: bool| {
        let home = folder(&[(&format!("{name}/deep/trainer.py"), TRAINER)]);
        if is_repository {
            assert!(Command::new("git").current_dir(home.path()).args(["init", "-q"]).status().unwrap().success());
        }
        let project = format!("{name}/deep");
        let ran = portolan(home.path(), &["port", "--target", "hpu", "--write", "--patch", "port.patch", &project]);
        assert_eq!(read(home.path(), &format!("{project}/trainer.py")), ported_trainer());
        let line = ran.err.lines().find_map(|line| line.strip_prefix("portolan: to revert the port: "));
        let line = line.unwrap_or_else(|| panic!("{ran:?}"));
        let back = Command::new("sh").current_dir(home.path().join(&project)).args(["-c", line]).status();
        assert!(back.unwrap().success(), "{line}");
        assert_eq!(read(home.path(), &format!("{project}/trainer.py")), TRAINER, "{line}");
    };
    check("p", false);
    check("p", true);
    check("it's a project", true);
}

#[cfg(unix)]
#[test]
fn a_patch_has_what_was_written() {
    use std::os::unix::fs::PermissionsExt;
    let home = folder(&[("p/a.py", TRAINER), ("p/b.py", TRAINER), ("none/c.py", "x = 1\n"), ("locked/d.py", TRAINER)]);
    for locked in ["p/b.py", "locked/d.py"] {
        fs::set_permissions(home.path().join(locked), fs::Permissions::from_mode(0o444)).unwrap();
    }
    let port = |patch: &str, folder: &str| {
        portolan(home.path(), &["port", "--target", "hpu", "--write", "--patch", patch, folder])
    };
    let ran = port("port.patch", "p");
    assert!(
        ran.code == 1
            && ran.err.contains("p/b.py:1:1: error[engine#not-written] the file can't be written: it is read-only"),
        "{ran:?}"
    );
    assert_eq!((read(home.path(), "p/a.py"), read(home.path(), "p/b.py")), (ported_trainer(), TRAINER.to_owned()));
    assert_eq!(read(home.path(), "port.patch"), codemod::git_patch_of("a.py", TRAINER, &ported_trainer()));
    let back = Command::new("git").current_dir(home.path().join("p")).args(["apply", "-R", "../port.patch"]).status();
    assert!(back.unwrap().success());
    assert_eq!(read(home.path(), "p/a.py"), TRAINER);
    // A patch of nothing is none: git would refuse it.
    assert_eq!((port("none.patch", "none").code, port("locked.patch", "locked").code), (0, 1));
    assert!(!home.path().join("none.patch").exists() && !home.path().join("locked.patch").exists());
}

#[test]
fn out_holds_the_whole_project() {
    let home = folder(&[
        ("p/trainer.py", TRAINER),
        ("p/pkg/__init__.py", ""),
        ("p/conf/run.yaml", "device: cuda\n"),
        ("p/.git/config", "x"),
        ("p/.gitignore", "*.pt\n"),
        ("p/venv/pyvenv.cfg", ""),
        ("p/venv/lib/torch.py", TRAINER),
        ("p/__pycache__/a.py", TRAINER),
    ]);
    for is_there in [false, true] {
        let ran = portolan(home.path(), &["port", "--target", "hpu", "--out", "p/ported", "p"]);
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
        assert_eq!(ran.err.contains("ported, the folder of the copy itself, whose files are not ported"), is_there);
        let out = home.path().join("p/ported");
        assert_eq!(read(&out, "trainer.py"), ported_trainer());
        assert_eq!(read(&out, "pkg/__init__.py"), "");
        assert_eq!(read(&out, "conf/run.yaml"), "device: cuda\n");
        assert_eq!(read(&out, ".gitignore"), "*.pt\n");
        for absent in [".git", "venv", "__pycache__", "ported"] {
            assert!(!out.join(absent).exists(), "{absent} is not copied");
        }
        assert_eq!(read(home.path(), "p/trainer.py"), TRAINER, "the project itself stays");
    }
}

#[cfg(unix)]
#[test]
fn out_says_what_is_not_in_it() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = folder(&[
        ("p/src/trainer.py", TRAINER),
        ("p/sub/lib/net.py", TRAINER),
        ("p/sub/.git", "gitdir: ../.git/modules/sub\n"),
        ("p/.git/config", "x"),
        ("p/venv/pyvenv.cfg", ""),
        ("data/events.h5", "x"),
        ("outside.py", TRAINER),
    ]);
    let p = home.path().join("p");
    fs::create_dir(p.join("logs")).unwrap();
    let only_mine = fs::Permissions::from_mode(0o700);
    for folder in [p.clone(), p.join("sub/lib")] {
        fs::set_permissions(folder, only_mine.clone()).unwrap();
    }
    fs::set_permissions(p.join("logs"), fs::Permissions::from_mode(0o500)).unwrap();
    for (to, from) in [
        ("src", "p/code"),
        ("../src/trainer.py", "p/sub/again.py"),
        ("../../p/sub", "p/src/round"),
        ("../data", "p/data"),
        ("../outside.py", "p/shared.py"),
        ("nowhere", "p/broken"),
        ("venv", "p/env"),
    ] {
        symlink(to, home.path().join(from)).unwrap();
    }
    symlink(p.join("src"), p.join("sub/whole")).unwrap();
    assert!(Command::new("mkfifo").arg(p.join("pipe")).status().unwrap().success());
    let ran = portolan(home.path(), &["port", "--target", "hpu", "--out", "out", "p"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let out = home.path().join("out");
    for (link, to) in
        [("code", "src"), ("sub/again.py", "../src/trainer.py"), ("src/round", "../sub"), ("sub/whole", "../src")]
    {
        assert_eq!(fs::read_link(out.join(link)).unwrap(), Path::new(to), "{link}");
        assert!(out.join(link).exists(), "{link}");
    }
    assert_eq!(read(&out, "sub/whole/trainer.py"), ported_trainer());
    assert_eq!(read(&out, "sub/lib/net.py"), ported_trainer());
    for (folder, mode) in [("", 0o700), ("sub/lib", 0o700), ("logs", 0o500)] {
        assert_eq!(fs::metadata(out.join(folder)).unwrap().permissions().mode() & 0o777, mode, "{folder}");
    }
    for (path, why) in [
        ("data", "a link to a path outside the project"),
        ("shared.py", "a link to a path outside the project"),
        ("broken", "a link to nothing"),
        ("env", "a link to a path that is not copied"),
        ("sub/.git", "a submodule's link to its repository"),
        ("pipe", "neither a file nor a folder"),
    ] {
        assert!(ran.err.contains(&format!("portolan: not copied to out: {path}, {why}\n")), "{path}: {ran:?}");
        assert!(out.join(path).symlink_metadata().is_err(), "{path} is said not to be there");
    }
    assert!(ran.err.contains("not copied to out, tools' and third-party files: .git, venv\n"), "{ran:?}");
    assert!(!ran.err.contains("skipped"), "nothing is reported twice: {ran:?}");
    let again = portolan(home.path(), &["port", "--target", "hpu", "--out", "out", "p"]);
    assert_eq!((again.code, &again.err), (0, &ran.err), "the same again");
}

#[cfg(target_os = "linux")]
#[test]
fn out_copies_the_rest_if_a_file_can_not_be_read() {
    let home = folder(&[("p/trainer.py", TRAINER), ("p/notes.txt", "mine"), ("p/closed/a.txt", "a")]);
    // Whoever runs the tests may be allowed to read everything, so they run as somebody who is not.
    let script = format!(
        "chmod 777 . && chmod -R a+rX p && chmod 0 p/notes.txt p/closed && \
         cp '{}' portolan && chmod 755 portolan && setpriv --reuid 65534 --regid 65534 --clear-groups ./portolan port --target hpu --out out p",
        env!("CARGO_BIN_EXE_portolan")
    );
    let ran = Command::new("sh").current_dir(home.path()).args(["-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    if said.contains("setpriv:") || said.contains("sh:") {
        eprintln!("another user can't be had here: {said}");
        return;
    }
    assert_eq!(ran.status.code(), Some(1), "{said}");
    for path in ["notes.txt", "closed"] {
        assert!(said.contains(&format!("not copied to out: {path}, which can't be read: Permission denied")), "{said}");
    }
    assert_eq!(read(home.path(), "out/trainer.py"), ported_trainer());
}

#[test]
fn out_replaces_no_other_file_unless_told_to() {
    let mine = "my own notes on the port\n";
    let home = folder(&[
        ("p/trainer.py", TRAINER),
        ("p/conf/run.yaml", "device: cuda\n"),
        ("p/same.txt", "same\n"),
        ("out/trainer.py", mine),
        ("out/conf/run.yaml", "device: mps \n"),
        ("out/same.txt", "same\n"),
        ("out/other.py", mine),
    ]);
    let port = |words: &[&str]| portolan(home.path(), &[&["port", "--target", "hpu"], words].concat());
    let ran = port(&["--out", "out", "p"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    for file in ["trainer.py", "conf/run.yaml"] {
        assert!(ran.err.contains(Path::new("out").join(file).to_str().unwrap()), "{ran:?}");
    }
    assert!(ran.err.contains("2 files in it differ") && ran.err.contains("--force"), "{ran:?}");
    assert!(!ran.err.contains("same.txt") && !ran.err.contains("other.py"), "{ran:?}");
    assert_eq!(read(home.path(), "out/trainer.py"), mine);
    assert_eq!(read(home.path(), "out/conf/run.yaml"), "device: mps \n");

    let ran = port(&["--out", "out", "--force", "p"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(read(home.path(), "out/trainer.py"), ported_trainer());
    assert_eq!(read(home.path(), "out/conf/run.yaml"), "device: cuda\n");
    assert_eq!(read(home.path(), "out/other.py"), mine, "what the port has no file for stays");

    // Running it again finds the same files; a user's changes since then are not lost.
    assert_eq!(port(&["--out", "out", "p"]).code, 0);
    fs::write(home.path().join("out/trainer.py"), mine).unwrap();
    let ran = port(&["--out", "out", "p/trainer.py"]);
    assert_eq!(ran.code, 0, "a file given alone goes to out/p: {ran:?}");
    let ran = port(&["--out", "out", "p"]);
    assert_eq!((ran.code, read(home.path(), "out/trainer.py").as_str()), (2, mine), "{ran:?}");
    assert!(ran.err.contains("1 file in it differs"), "{ran:?}");

    // Something that is not a file can't be replaced, and a partial tree is not acceptable.
    fs::create_dir_all(home.path().join("taken/trainer.py")).unwrap();
    fs::create_dir_all(home.path().join("blocked")).unwrap();
    fs::write(home.path().join("blocked/conf"), mine).unwrap();
    for (out, path) in [("taken", "trainer.py"), ("blocked", "conf")] {
        let ran = port(&["--out", out, "--force", "p"]);
        assert!(ran.code == 2 && ran.err.contains(Path::new(out).join(path).to_str().unwrap()), "{ran:?}");
        let files = fs::read_dir(home.path().join(out)).unwrap().count();
        assert_eq!(files, 1, "nothing is written to {out}");
    }

    // If nothing is to be written, nothing is replaced.
    assert_eq!(port(&["--force", "p"]).code, 2);
    assert_eq!(port(&["--write", "--force", "p"]).code, 2);
}

#[test]
fn out_never_writes_over_what_is_ported() {
    let home = folder(&[("p/trainer.py", TRAINER)]);
    for words in [["p", "p"], ["p/../p", "p"], ["p", "p/trainer.py"]] {
        let folder = if words[1] == "p" { home.path().to_path_buf() } else { home.path().join("p") };
        let words = if words[1] == "p" { words } else { [".", "trainer.py"] };
        let ran = portolan(&folder, &["port", "--target", "hpu", "--out", words[0], words[1]]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains("use --write"), "{ran:?}");
        assert_eq!(read(home.path(), "p/trainer.py"), TRAINER);
    }
}

#[test]
fn line_ends_marks_and_tabs_are_kept() {
    let home = folder(&[]);
    let old = "\u{feff}import torch\r\n\r\ndef f(x):\r\n\tif x:\r\n\t\treturn x.cuda()";
    let ran = portolan_with(home.path(), &["port", "--target", "hpu", "--write", "-"], old.as_bytes(), &[]);
    assert!(ran.out.starts_with('\u{feff}') && ran.out.ends_with("\t\treturn x.to(\"hpu\")"), "{ran:?}");
    assert_eq!(ran.out.matches('\n').count(), ran.out.matches("\r\n").count(), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_out_of_the_project() {
    use std::os::unix::fs::symlink;
    let home = folder(&[("p/src/trainer.py", TRAINER), ("outside.py", TRAINER)]);
    let p = home.path().join("p");
    symlink("src/trainer.py", p.join("again.py")).unwrap();
    symlink("../outside.py", p.join("shared.py")).unwrap();
    symlink("nowhere.py", p.join("broken.py")).unwrap();
    let ran = portolan(home.path(), &["port", "--target", "hpu", "p"]);
    assert_eq!(ran.out.matches("diff --git").count(), 1, "a file is ported under its own name alone: {ran:?}");
    assert!(ran.err.contains("skipped p/shared.py, a link to a path outside the project"), "{ran:?}");
    git_apply(&p, &ran.out);
    assert_eq!(read(&p, "src/trainer.py"), ported_trainer());
    fs::write(p.join("src/trainer.py"), TRAINER).unwrap();

    let ran = portolan(home.path(), &["port", "--target", "hpu", "--write", "p"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(read(&p, "again.py"), ported_trainer());
    assert!(p.join("again.py").is_symlink(), "a link stays a link");
    assert_eq!(read(home.path(), "outside.py"), TRAINER);
    // A link named directly is not followed either; the message names the file.
    let ran = portolan(&p, &["port", "--target", "hpu", "--write", "shared.py"]);
    assert!(ran.code == 1 && ran.err.contains("outside.py directly"), "{ran:?}");
    assert_eq!(read(home.path(), "outside.py"), TRAINER);
}

#[cfg(unix)]
#[test]
fn write_keeps_what_is_not_its_own() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let long = format!("{}.py", "n".repeat(248));
    let home = folder(&[("p/one.py", TRAINER), ("p/locked.py", TRAINER), (&format!("p/{long}"), TRAINER)]);
    let p = home.path().join("p");
    fs::hard_link(p.join("one.py"), home.path().join("two.py")).unwrap();
    fs::set_permissions(p.join("locked.py"), fs::Permissions::from_mode(0o444)).unwrap();
    let ran = portolan(home.path(), &["port", "--target", "hpu", "--write", "p"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.err.contains("p/locked.py:1:1: error[engine#not-written] the file can't be written: it is read-only"),
        "{ran:?}"
    );
    assert_eq!(read(&p, "locked.py"), TRAINER);
    assert_eq!(read(&p, &long), ported_trainer(), "a name as long as names can be");
    assert_eq!(read(home.path(), "two.py"), ported_trainer(), "both names are of one file");
    assert_eq!(fs::metadata(home.path().join("two.py")).unwrap().nlink(), 2);
    let names = fs::read_dir(&p).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.count(), 3, "nothing is left beside the files");
}

#[cfg(target_os = "linux")]
#[test]
fn write_keeps_attributes_and_access_control_lists() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    use std::os::unix::fs::MetadataExt;
    /// As the system stores it: version 2, then tag, rights and, for a named user, its number.
    fn rights(entries: &[(u16, u16, u32)]) -> Vec<u8> {
        let entries = entries
            .iter()
            .flat_map(|(tag, rights, id)| [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat());
        2_u32.to_le_bytes().into_iter().chain(entries).collect()
    }
    const ANYBODY: u32 = u32::MAX;
    let list = rights(&[(1, 6, ANYBODY), (2, 6, 65534), (4, 4, ANYBODY), (0x10, 6, ANYBODY), (0x20, 0, ANYBODY)]);
    let home = folder(&[("p/marked.py", TRAINER), ("p/shared.py", TRAINER), ("p/plain.py", TRAINER)]);
    let p = home.path().join("p");
    let set = |path: &Path, name: &str, value: &[u8]| setxattr(path, name, value, XattrFlags::empty());
    if let Err(error) = set(&p.join("marked.py"), "user.origin", b"a paper") {
        eprintln!("this file system has no attributes: {error}");
        return;
    }
    set(&p.join("shared.py"), "system.posix_acl_access", &list).unwrap();
    // What new files of the folder get, and the old ones don't have.
    set(&p, "system.posix_acl_default", &list).unwrap();
    let get = |path: &str, name: &str| {
        let mut value = [0; 256];
        getxattr(p.join(path), name, &mut value).map(|length| value[..length].to_vec()).ok()
    };
    let before = fs::metadata(p.join("shared.py")).unwrap().ino();
    let ran = portolan(home.path(), &["port", "--target", "hpu", "--write", "p"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(get("marked.py", "user.origin").as_deref(), Some(&b"a paper"[..]));
    assert_eq!(get("shared.py", "system.posix_acl_access"), Some(list));
    assert_eq!(get("plain.py", "system.posix_acl_access"), None);
    assert_ne!(fs::metadata(p.join("shared.py")).unwrap().ino(), before, "it was replaced, not overwritten");

    // Whoever may not give a file such an attribute, but has one with it, keeps the file itself.
    let home = folder(&[("p/a.py", TRAINER)]);
    let script = format!(
        "chmod 777 . p && chown 65534:65534 p/a.py && cp '{}' portolan && chmod 755 portolan && \
         setpriv --reuid 65534 --regid 65534 --clear-groups ./portolan port --target hpu --write p",
        env!("CARGO_BIN_EXE_portolan")
    );
    let file = home.path().join("p/a.py");
    let before = fs::metadata(&file).unwrap().ino();
    if set(&file, "security.origin", b"a paper").is_err() {
        eprintln!("such an attribute can't be set here");
        return;
    }
    let ran = Command::new("sh").current_dir(home.path()).args(["-c", &script]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    if said.contains("setpriv:") || said.contains("sh:") {
        eprintln!("another user can't be had here: {said}");
        return;
    }
    assert_eq!((ran.status.code(), read(home.path(), "p/a.py")), (Some(0), ported_trainer()), "{said}");
    let mut value = [0; 256];
    let length = getxattr(&file, "security.origin", &mut value).unwrap();
    assert_eq!((&value[..length], fs::metadata(&file).unwrap().ino()), (&b"a paper"[..], before));
    assert_eq!(fs::read_dir(home.path().join("p")).unwrap().count(), 1, "nothing is left beside the file");
}

#[cfg(unix)]
#[test]
fn two_names_of_one_file_are_ported_and_reverted() {
    let home = folder(&[("p/one.py", TRAINER)]);
    let p = home.path().join("p");
    fs::hard_link(p.join("one.py"), p.join("two.py")).unwrap();
    let ran = portolan(home.path(), &["port", "--target", "hpu", "--write", "--patch", "p.patch", "p"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!((read(&p, "one.py"), read(&p, "two.py")), (ported_trainer(), ported_trainer()));
    let reverted = Command::new("git").args(["apply", "-R", "../p.patch"]).current_dir(&p).status().unwrap();
    assert!(reverted.success());
    assert_eq!((read(&p, "one.py"), read(&p, "two.py")), (TRAINER.to_owned(), TRAINER.to_owned()));
}

#[cfg(unix)]
#[test]
fn a_file_that_may_be_half_written_is_left_alone() {
    use std::os::unix::fs::MetadataExt;
    let home = folder(&[("p/one.py", TRAINER), ("p/other.py", TRAINER)]);
    let p = home.path().join("p");
    fs::hard_link(p.join("one.py"), home.path().join("two.py")).unwrap();
    // The files left by a run that is killed while it overwrites a file with two names.
    let whole = format!(".portolan-{}.whole", fs::metadata(p.join("one.py")).unwrap().ino());
    fs::write(p.join(&whole), ported_trainer()).unwrap();
    let port = || portolan(home.path(), &["port", "--target", "hpu", "--write", "p"]);
    let ran = port();
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("p/one.py:1:1: error[engine#input] a run was stopped while") && ran.err.contains(&whole));
    assert_eq!((read(&p, "one.py"), read(&p, &whole)), (TRAINER.to_owned(), ported_trainer()));
    assert_eq!(read(&p, "other.py"), ported_trainer());
    // Once the file is complete and the other one is deleted, it is ported like any file.
    fs::remove_file(p.join(&whole)).unwrap();
    assert_eq!(port().code, 0);
    assert_eq!(read(home.path(), "two.py"), ported_trainer());
}

#[cfg(unix)]
#[test]
fn what_can_not_be_read_is_said() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let home = folder(&[("p/a.py", TRAINER)]);
    fs::write(home.path().join("p").join(OsStr::from_bytes(b"caf\xe9.py")), TRAINER).unwrap();
    let ran = portolan(home.path(), &["port", "--target", "hpu", "p"]);
    assert!(ran.code == 1 && ran.err.contains("the file's name is not UTF-8; rename it"), "{ran:?}");
    assert!(ran.out.contains("+++ b/a.py\n"), "{ran:?}");
    // A pipe, which would never end, and a file whose stated size exceeds memory.
    assert!(Command::new("mkfifo").arg(home.path().join("pipe.py")).status().unwrap().success());
    fs::File::create(home.path().join("huge.py")).unwrap().set_len(1 << 40).unwrap();
    let ran = portolan(home.path(), &["port", "--target", "hpu", "pipe.py", "huge.py"]);
    assert!(ran.err.contains("pipe.py:1:1: error[engine#input] not a regular file"), "{ran:?}");
    assert!(ran.err.contains("huge.py:1:1: error[engine#too-large] the file has 1048576.0 MiB"), "{ran:?}");
}

#[test]
fn messages_that_nobody_reads_end_nothing() {
    let home = folder(&[("p/a.py", &format!("{TRAINER}x = torch.cuda.init()\n"))]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_portolan"));
    command.current_dir(home.path()).args(["port", "--target", "hpu", "--write", "p"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = command.stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(1), "the exit status tells");
    assert!(read(home.path(), "p/a.py").starts_with(&ported_trainer()[..20]));
    assert!(read(home.path(), "p/a.py").contains(".to(\"hpu\")"), "and the work is done");
}

#[test]
fn a_name_moves_no_cursor_and_writes_no_message() {
    let name = "a\u{1b}[2J\u{202e}\nportolan: nothing is left\u{9b}.py";
    let home = folder(&[(&format!("p/{name}"), &format!("{TRAINER}x = torch.cuda.init()\n"))]);
    let ran = portolan(home.path(), &["port", "--target", "hpu", "p"]);
    assert!(ran.err.contains("a\\u{1b}[2J\\u{202e}\u{fffd}portolan: nothing is left\\u{9b}.py:"), "{ran:?}");
    assert!(!ran.err.contains(['\u{1b}', '\u{202e}', '\u{9b}']) && !ran.err.contains("\nportolan: nothing"), "{ran:?}");
    // Git reads the name unchanged.
    git_apply(&home.path().join("p"), &ran.out);
    assert!(read(home.path(), &format!("p/{name}")).contains(".to(\"hpu\")"));
}
