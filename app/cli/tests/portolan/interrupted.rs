//! A port that is killed, or runs out of disk space: each file is completely old or completely new, and the port can be
//! reverted.

use crate::{TRAINER, folder, ported_trainer, read};
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Instant;
use tempfile::TempDir;

/// A project large enough to interrupt a run in the middle.
const FILES: usize = 400;

fn project() -> TempDir {
    let home = TempDir::new().unwrap();
    fill(home.path(), FILES);
    home
}

fn fill(home: &Path, files: usize) {
    for number in 0..files {
        let file = home.join(path(number));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, TRAINER).unwrap();
    }
}

fn path(number: usize) -> String {
    format!("p/{:02}/{number:03}.py", number / 40)
}

fn start(home: &Path, more: &[&str]) -> Child {
    let words = [&["port", "--target", "hpu", "--write"], more, &["p"]].concat();
    let mut command = Command::new(env!("CARGO_BIN_EXE_portolan"));
    command.current_dir(home).args(words).stderr(Stdio::null()).stdout(Stdio::null());
    command.spawn().unwrap()
}

/// The files next to the project's own.
fn left_behind(home: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(home.join("p")).unwrap().map(|entry| entry.unwrap().path());
    let entries = folders.flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with('.')).collect()
}

/// The number of ported files; every one has to be unchanged or ported.
fn ported(home: &Path, new: &str) -> usize {
    ported_of(home, new, FILES)
}

fn ported_of(home: &Path, new: &str, files: usize) -> usize {
    let is_new = |number: usize| {
        let text = read(home, &path(number));
        assert!(text == TRAINER || text == new, "{} is neither the old file nor the new:\n{text}", path(number));
        text == new
    };
    (0..files).filter(|number| is_new(*number)).count()
}

/// Reverts with the patch that a run has left.
fn take_back(home: &Path) {
    let mut git = Command::new("git");
    let ran = git.current_dir(home.join("p")).args(["apply", "-R", "../port.patch"]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// A number of the environment, for a longer run than that of every day.
fn number_of(name: &str, usual: usize) -> usize {
    std::env::var(name).map_or(usual, |value| value.parse().unwrap())
}

const LIGHTNING: &str = "import lightning as L\n\nL.Trainer(accelerator=\"gpu\", devices=1).fit(net)\n";

#[test]
fn a_file_of_the_port_is_never_there_without_a_patch_that_names_it() {
    let home = folder(&[("p/zz.py", LIGHTNING)]);
    let home = home.path();
    let (patch, added) = (home.join("port.patch"), home.join("p/xpu_lightning.py"));
    let mut named_in_words = 0;
    for _ in 0..30 {
        let words = ["port", "--target", "xpu", "--write", "--patch", "port.patch", "p"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_portolan"));
        let mut run =
            command.current_dir(home).args(words).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        while !added.exists() && run.try_wait().unwrap().is_none() {}
        run.kill().unwrap();
        run.wait().unwrap();
        let text = read(home, "port.patch");
        if text.contains("\n  xpu_lightning.py\ndiff --git ") {
            named_in_words += 1;
            // It reverts what was or was not replaced; that file remains, and a run that finishes the port accepts it.
            take_back(home);
            assert!(added.exists());
            let ran = crate::portolan(home, &["port", "--target", "xpu", "--write", "p"]);
            assert!(ran.code == 0 && !ran.err.contains("is there already"), "{ran:?}");
            assert!(read(home, "p/zz.py").contains("from xpu_lightning import"));
            fs::remove_file(&added).unwrap();
        } else {
            assert!(text.contains("xpu_lightning.py\n"), "{text}");
            take_back(home);
            assert!(!added.exists());
        }
        fs::remove_file(&patch).unwrap();
        fs::write(home.join("p/zz.py"), LIGHTNING).unwrap();
        for entry in fs::read_dir(home.join("p")).unwrap().map(|entry| entry.unwrap()) {
            if entry.file_name().to_string_lossy().starts_with(".portolan-reverted-") {
                fs::remove_dir_all(entry.path()).unwrap();
            }
        }
    }
    eprintln!("30 runs killed after they added a file, {named_in_words} of them before the patch moved it");
}

#[test]
fn a_file_that_a_killed_run_added_is_taken_back() {
    let home = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
    let home = home.path();
    let trainer = LIGHTNING;
    fill(home, 100);
    fs::write(home.join("p/zz.py"), trainer).unwrap();
    let (patch, added) = (home.join("port.patch"), home.join("p/xpu_lightning.py"));
    let mut stopped = 0;
    for _ in 0..40 {
        let words = ["port", "--target", "xpu", "--write", "--patch", "port.patch", "p"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_portolan"));
        let mut run =
            command.current_dir(home).args(words).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        while !patch.exists() && run.try_wait().unwrap().is_none() {}
        run.kill().unwrap();
        run.wait().unwrap();
        if patch.exists() {
            let text = fs::read_to_string(&patch).unwrap();
            stopped += usize::from(text.starts_with("This port was stopped"));
            take_back(home);
            fs::remove_file(&patch).unwrap();
            if text.contains("\n  xpu_lightning.py\n") {
                fs::remove_file(&added).ok();
            }
            assert!(!added.exists());
            assert_eq!(fs::read_to_string(home.join("p/zz.py")).unwrap(), trainer);
        } else {
            assert!(!added.exists(), "nothing was done");
        }
        if stopped == 3 {
            return;
        }
    }
    panic!("no run was killed while it wrote");
}

#[test]
fn a_run_killed_at_any_moment_can_be_taken_back() {
    let (files, kills) = (number_of("KILLED_FILES", 200), number_of("KILLS", 16));
    // In memory, if possible: a kill loses nothing of what was written, and a disk would take most of the time.
    let (home, new) = (TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap(), ported_trainer());
    let home = home.path();
    let patch = home.join("port.patch");
    let whole = {
        fill(home, files);
        let start_of_run = Instant::now();
        assert!(start(home, &["--patch", "port.patch"]).wait().unwrap().success());
        start_of_run.elapsed()
    };
    assert_eq!(ported_of(home, &new, files), files);
    take_back(home);
    fs::remove_file(&patch).unwrap();

    let (mut seed, mut partial) = (7_u64, 0);
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    // On a busy machine most of them come too early or too late.
    let mut kill = 0;
    while kill < kills || (partial < 2 && kill < 10 * kills) {
        kill += 1;
        let mut run = start(home, &["--patch", "port.patch"]);
        if kill % 2 == 0 {
            std::thread::sleep(whole.mul_f64(random(1000) as f64 / 1000.0));
        } else {
            // The moments that matter most are short: when files are being replaced, in their order.
            let last = home.join(path(random(files as u64 / 2) as usize));
            while fs::read_to_string(&last).unwrap() == TRAINER && run.try_wait().unwrap().is_none() {}
        }
        run.kill().unwrap();
        run.wait().unwrap();
        let some = ported_of(home, &new, files);
        partial += usize::from((1..files).contains(&some));
        if patch.exists() {
            take_back(home);
            fs::remove_file(&patch).unwrap();
        }
        assert_eq!(ported_of(home, &new, files), 0, "{some} files were replaced");
        for entry in fs::read_dir(home.join("p")).unwrap().map(|entry| entry.unwrap()) {
            if entry.file_name().to_string_lossy().starts_with(".portolan-reverted-") {
                fs::remove_dir_all(entry.path()).unwrap();
            }
        }
    }
    eprintln!("{kill} runs killed, {partial} of them with some of {files} files replaced");
    assert!(partial > 0, "no run was killed while it replaced files");
    // No killed run has left a lock, or anything that a complete one does not remove.
    assert!(start(home, &["--patch", "port.patch"]).wait().unwrap().success());
    if Path::new("/proc/self").exists() {
        assert_eq!(left_behind(home), [] as [PathBuf; 0]);
    }
    take_back(home);
    assert_eq!(ported_of(home, &new, files), 0);
}

/// Waits until a run has read all files and is writing the new ones beside them.
fn wait_until_it_writes(home: &Path, run: &mut Child) {
    while left_behind(home).is_empty() {
        assert!(run.try_wait().unwrap().is_none(), "the run was over before it was seen to write");
    }
}

fn signal(run: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &run.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

#[test]
fn what_somebody_else_writes_meanwhile_is_kept() {
    let (home, new) = (project(), ported_trainer());
    let home = home.path();
    let mut command = Command::new(env!("CARGO_BIN_EXE_portolan"));
    command.current_dir(home).args(["port", "--target", "hpu", "--write", "--patch", "port.patch", "p"]);
    let mut run = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    wait_until_it_writes(home, &mut run);
    let edited = format!("{TRAINER}# mine\n");
    fs::write(home.join(path(FILES - 1)), &edited).unwrap();
    fs::remove_file(home.join(path(FILES - 2))).unwrap();
    // One port at a time, also of a folder around it or in it. The first one waits for the others.
    signal(&run, "STOP");
    for folder in [".", "p/inner"] {
        fs::create_dir_all(home.join("p/inner")).unwrap();
        let other = crate::portolan(home, &["port", "--target", "xpu", "--write", folder]);
        assert!(other.code == 1 && other.err.contains("another port is writing in"), "{other:?}");
    }
    let other = crate::portolan(home, &["port", "--target", "xpu", "--write", "--patch", "other.patch", "p"]);
    assert!(other.code == 1 && other.err.contains("another port is writing in"), "{other:?}");
    assert!(!home.join("other.patch").exists());

    signal(&run, "CONT");
    let ran = run.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(said.contains("; 2 files not written, as said above"), "{said}");
    let left = |number: usize, why: &str| {
        let line = format!("{}:1:1: error[engine#not-written] the file can't be written: {why}", path(number));
        assert!(said.contains(&line), "{said}");
    };
    left(FILES - 1, "it was changed while the port was made");
    left(FILES - 2, "No such file");
    assert_eq!(read(home, &path(FILES - 1)), edited);
    assert_eq!(ported_of(home, &new, FILES - 2), FILES - 2);
    take_back(home);
    assert_eq!(ported_of(home, &new, FILES - 2), 0);
    assert_eq!(read(home, &path(FILES - 1)), edited);
    assert_eq!(crate::portolan(home, &["port", "--target", "xpu", "--write", "p"]).code, 0, "the folder is free again");
}

#[test]
fn only_ports_of_the_same_files_wait_for_each_other() {
    let home = folder(&[("mine/extra.py", TRAINER), ("yours/a.py", TRAINER)]);
    let home = home.path();
    fill(&home.join("mine"), FILES);
    let port = |path: &str| crate::portolan(home, &["port", "--target", "hpu", "--write", path]);
    let is_refused = |path: &str, folder: &str| {
        let ran = port(path);
        let folder = fs::canonicalize(home.join(folder)).unwrap();
        let said =
            format!("portolan: another port is writing in {}, or another program has locked it", folder.display());
        assert!(ran.code == 1 && ran.err.contains(&said), "{path}: {ran:?}");
    };
    // The paths of both ports are relative to one folder, in which neither writes.
    let mut run = start_to_listen(home, &["--write", "mine/p", "mine/extra.py"]);
    wait_until_it_writes(&home.join("mine"), &mut run);
    signal(&run, "STOP");
    assert_eq!(port("yours/a.py").code, 0);
    is_refused(".", ".");
    is_refused("mine/p/00", "mine");
    is_refused("mine/extra.py", "mine");
    signal(&run, "CONT");
    let (status, said) = end(run);
    assert!(status.success(), "{said}");

    // A folder around that belongs to the user is locked, one of somebody else, who may have any reason, is not.
    let lock = fs::File::open(home).unwrap();
    lock.try_lock().unwrap();
    is_refused("yours/a.py", ".");
    if std::os::unix::fs::chown(home, Some(65534), None).is_ok() {
        assert_eq!(port("yours/a.py").code, 0);
    }
}

#[test]
fn what_an_open_editor_writes_after_a_file_was_replaced_is_kept() {
    let (home, new) = (project(), ported_trainer());
    let home = home.path();
    // Programs that write into the file that they have opened, whatever has its name by then.
    let run_that_was_stopped = || {
        fill(home, FILES);
        let mut editor = fs::OpenOptions::new().append(true).open(home.join(path(0))).unwrap();
        let mut run = start(home, &["--patch", "port.patch"]);
        while read(home, &path(0)) == TRAINER {
            assert!(run.try_wait().unwrap().is_none(), "the run was over before it was seen to write");
        }
        signal(&run, "STOP");
        let is_early = read(home, &path(FILES - 1)) == TRAINER;
        if is_early {
            editor.write_all(b"# mine\n").unwrap();
        }
        signal(&run, "CONT");
        let status = run.wait().unwrap();
        is_early.then_some(status)
    };
    let status = (0..20).find_map(|_| {
        fs::remove_file(home.join("port.patch")).ok();
        run_that_was_stopped()
    });
    assert_eq!(status.expect("a run was stopped while it replaced files").code(), Some(1));
    let mine = format!("{TRAINER}# mine\n");
    assert_eq!(read(home, &path(0)), mine);
    fs::write(home.join(path(0)), TRAINER).unwrap();
    assert_eq!(ported(home, &new), FILES - 1);
    assert_eq!(left_behind(home), [] as [PathBuf; 0]);
    fs::write(home.join(path(0)), &mine).unwrap();
    take_back(home);
    assert_eq!(read(home, &path(0)), mine, "the patch has what was written, and no more");
}

#[test]
fn a_run_that_is_killed_leaves_every_file_whole() {
    let (home, new) = (project(), ported_trainer());
    // While the new files are being written, none replaces its original.
    let mut run = start(home.path(), &[]);
    while left_behind(home.path()).len() < 20 {
        assert!(run.try_wait().unwrap().is_none(), "the run was over before it could be killed");
    }
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(ported(home.path(), &new), 0);
    assert!(left_behind(home.path()).len() >= 20);

    // While they replace the originals.
    let mut run = start(home.path(), &["--patch", "port.patch"]);
    while read(home.path(), &path(0)) == TRAINER {
        assert!(run.try_wait().unwrap().is_none(), "the run was over before it could be killed");
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let some = ported(home.path(), &new);
    assert!((1..=FILES).contains(&some), "{some}");

    // Running it again completes the port, and removes the files that both have left behind.
    assert!(start(home.path(), &[]).wait().unwrap().success());
    assert_eq!(ported(home.path(), &new), FILES);
    if Path::new("/proc/self").exists() {
        assert_eq!(left_behind(home.path()), [] as [PathBuf; 0]);
        let names: Vec<_> = fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "the project and the patch: {names:?}");
    }
    let back = Command::new("git").current_dir(home.path().join("p")).args(["apply", "-R", "../port.patch"]).status();
    assert!(back.unwrap().success());
    assert_eq!(ported(home.path(), &new), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn what_somebody_wrote_when_a_run_was_killed_is_kept() {
    let home = project();
    let home = home.path();
    let mut run = start_and_hold(home, &[]);
    run.kill().unwrap();
    run.wait().unwrap();
    // Beside a file that is exchanged with another, it leaves that with what is in it by then.
    let name = left_behind(home)[0].file_name().unwrap().to_str().unwrap().to_owned();
    let run: Vec<&str> = name.split('-').take(3).collect();
    let left = format!("p/00/{}-{FILES}0-0123456789abcdef-fedcba9876543210", run.join("-"));
    fs::write(home.join(&left), "mine").unwrap();
    let ran = crate::portolan(home, &["port", "--target", "hpu", "--write", "p"]);
    assert_eq!((ran.code, read(home, &left).as_str()), (0, "mine"), "{ran:?}");
    assert_eq!(ran.err.matches("has what somebody wrote into a file of this folder").count(), 1, "{ran:?}");
    assert_eq!(left_behind(home), [home.join(&left)]);
}

/// Makes a copy again until a signal came in time: on a busy machine it may come when all is done.
fn in_time(home: &Path, mut attempt: impl FnMut() -> bool) {
    for _ in 0..20 {
        if attempt() {
            return;
        }
        fs::remove_dir_all(home.join("out")).unwrap();
    }
    panic!("every signal came too late");
}

/// A run whose messages are kept.
fn start_to_listen(home: &Path, words: &[&str]) -> Child {
    let mut command = with_signals();
    command.current_dir(home).args([&["port", "--target", "hpu"], words].concat());
    command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
}

/// The command with all signals, of which a shell has those of a program in the background ignored, and so would the command.
fn with_signals() -> Command {
    let all = ["--default-signal=INT,TERM,HUP"];
    let mut command = Command::new("env");
    if command.args(all).arg("true").status().is_ok_and(|status| status.success()) {
        let mut command = Command::new("env");
        command.args(all).arg(env!("CARGO_BIN_EXE_portolan"));
        command
    } else {
        Command::new(env!("CARGO_BIN_EXE_portolan"))
    }
}

/// A run that has prepared what it writes, and waits until somebody reads its output: the port of a long text from stdin.
fn start_and_hold(home: &Path, words: &[&str]) -> Child {
    let text = format!("import torch\n{}", "x = torch.zeros(1).cuda()\n".repeat(5_000));
    let file = TempDir::new().unwrap();
    fs::write(file.path().join("long.py"), text).unwrap();
    let mut command = with_signals();
    command.current_dir(home).args([&["port", "--target", "hpu", "--write"], words, &["p", "-"]].concat());
    command.stdin(fs::File::open(file.path().join("long.py")).unwrap());
    let mut run = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    wait_until_it_writes(home, &mut run);
    run
}

fn end(run: Child) -> (ExitStatus, String) {
    let ran = run.wait_with_output().unwrap();
    (ran.status, String::from_utf8_lossy(&ran.stderr).into_owned())
}

#[test]
fn a_signal_before_files_are_replaced_changes_nothing() {
    let (home, new) = (project(), ported_trainer());
    let home = home.path();
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let run = start_and_hold(home, &["--patch", "port.patch"]);
        signal(&run, name);
        let (status, said) = end(run);
        let expected = (Some(code), "portolan: interrupted; no file was changed\n");
        assert_eq!((status.code(), said.as_str()), expected, "{name}");
        assert_eq!(ported(home, &new), 0);
        assert_eq!(left_behind(home), [] as [PathBuf; 0]);
        assert_eq!(fs::read_dir(home).unwrap().count(), 1, "there is no patch of nothing");
    }
    // The second one ends it as usual. Which of the two is handled first is not said.
    let run = start_and_hold(home, &[]);
    for name in ["STOP", "INT", "TERM", "CONT"] {
        signal(&run, name);
    }
    assert!(end(run).0.signal().is_some_and(|signal| [2, 15].contains(&signal)));
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_is_ignored_still_is() {
    let (home, new) = (project(), ported_trainer());
    let home = home.path();
    // As nohup does it.
    let ignoring = format!("trap '' HUP; exec '{}' port --target hpu --write p", env!("CARGO_BIN_EXE_portolan"));
    let mut command = Command::new("sh");
    let mut run = command.current_dir(home).args(["-c", &ignoring]).stderr(Stdio::piped()).spawn().unwrap();
    wait_until_it_writes(home, &mut run);
    signal(&run, "HUP");
    let (status, said) = end(run);
    assert!(status.success(), "{said}");
    assert_eq!(ported(home, &new), FILES);
}

#[test]
fn a_signal_while_files_are_replaced_leaves_the_others() {
    let (home, new) = (project(), ported_trainer());
    let home = home.path();
    for _ in 0..20 {
        let mut run = start_to_listen(home, &["--write", "--patch", "port.patch", "p"]);
        while read(home, &path(0)) == TRAINER {
            assert!(run.try_wait().unwrap().is_none(), "the run was over before it was seen to write");
        }
        signal(&run, "STOP");
        let is_early = read(home, &path(FILES - 1)) == TRAINER;
        signal(&run, "TERM");
        signal(&run, "CONT");
        let (status, said) = end(run);
        let some = ported(home, &new);
        assert_eq!(left_behind(home), [] as [PathBuf; 0]);
        let patch = fs::read_to_string(home.join("port.patch")).unwrap();
        assert_eq!(patch.matches("diff --git ").count(), some, "the patch has what was written, and no more");
        take_back(home);
        assert_eq!(ported(home, &new), 0);
        fs::remove_file(home.join("port.patch")).unwrap();
        if some == FILES {
            assert_ne!(status.code(), Some(143), "nothing was left to do: {said}");
        }
        if is_early && some < FILES {
            assert_eq!(status.code(), Some(143), "{said}");
            let left = match FILES - some {
                1 => "1 file was".to_owned(),
                left => format!("{left} files were"),
            };
            let is_said = format!(
                "portolan: interrupted; {left} not replaced: run it again to finish the port, with another --patch or none\n"
            );
            assert!(said.ends_with(&is_said), "{said}");
            assert!(!said.contains("error") && said.contains(&format!(" in {some} of {FILES} files")), "{said}");
            assert!(said.contains("portolan: to revert the port: git "), "{said}");
            return;
        }
    }
    panic!("no run was interrupted while it replaced files");
}

#[test]
fn a_signal_leaves_complete_files_in_a_copy() {
    let (home, new) = (project(), ported_trainer());
    let home = home.path();
    let words = ["--out", "out", "p"];
    in_time(home, || {
        let mut run = start_to_listen(home, &words);
        while !home.join("out/01").exists() {
            assert!(run.try_wait().unwrap().is_none(), "the run was over before it was seen to write");
        }
        signal(&run, "TERM");
        let (status, said) = end(run);
        let is_said = "portolan: interrupted; out has only a part of the port, which the same command completes\n";
        assert!(status.success() || (status.code(), said.as_str()) == (Some(143), is_said), "{status} {said}");
        !status.success()
    });
    let folders = fs::read_dir(home.join("out")).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> =
        folders.flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path()).collect();
    assert!((1..FILES).contains(&files.len()), "{}", files.len());
    for file in files {
        assert_eq!(fs::read_to_string(&file).unwrap(), new, "{}", file.display());
    }
    let (status, said) = end(start_to_listen(home, &words));
    assert!(status.success() && home.join("out").join(path(FILES - 1).trim_start_matches("p/")).exists(), "{said}");
}

/// A folder on a disk of this many KiB, and a prefix for commands that see it. Mounting one requires the right to do
/// so, or a user namespace.
fn small_disk(kib: usize, script: &str) -> Option<std::process::Output> {
    let home = TempDir::new().unwrap();
    let mount = format!("mount -t tmpfs -o size={kib}k portolan '{}' && cd '{0}' && ", home.path().display());
    let script = format!("{mount} echo mounted && {script}").replace("PORTOLAN", env!("CARGO_BIN_EXE_portolan"));
    let output = Command::new("unshare").args(["--user", "--map-root-user", "--mount", "sh", "-c", &script]).output();
    let mounted = |output: &std::process::Output| output.stdout.starts_with(b"mounted\n");
    let output = output.ok().filter(mounted);
    let as_root = || Command::new("unshare").args(["--mount", "sh", "-c", &script]).output().ok().filter(mounted);
    output.or_else(as_root)
}

#[test]
fn a_full_disk_changes_nothing() {
    // If no disk can be mounted, a limit on the file size interrupts writing in the same way.
    let long = format!("{TRAINER}{}", "x = 1\n".repeat(2000));
    let home = folder(&[("p/a.py", TRAINER), ("p/b.py", &long), ("p/c.py", TRAINER)]);
    let limited = format!("ulimit -f 8; exec '{}' port --target hpu --write p", env!("CARGO_BIN_EXE_portolan"));
    let ran = Command::new("sh").current_dir(home.path()).args(["-c", &limited]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!(ran.status.code(), Some(1), "{said}");
    assert!(said.contains("a file of the port is larger than the limit on the size of files (ulimit -f)"), "{said}");
    for (file, text) in [("p/a.py", TRAINER), ("p/b.py", &long), ("p/c.py", TRAINER)] {
        assert_eq!(read(home.path(), file), text, "{file}");
    }
    assert_eq!(fs::read_dir(home.path().join("p")).unwrap().count(), 3, "nothing is left beside the files");

    // 64 KiB: a file of 20 KiB, one with two names of 20, and no space for a second copy of either.
    let script = "
        mkdir p && { echo 'import torch'; yes 'x = torch.rand(4).cuda()' | head -c 20000; } > p/a.py && cp p/a.py p/b.py
        ln p/b.py two.py && sha256sum p/a.py p/b.py two.py > sums
        PORTOLAN port --target hpu --write p; echo status $?
        PORTOLAN port --target hpu --write --patch port.patch p; echo status $?
        PORTOLAN port --target hpu --out out p; echo status $?
        sha256sum -c sums && ls -A . p
        for file in $(find out -type f); do echo out $(sha256sum < $file); done
        echo whole $(PORTOLAN port --target hpu --write - < p/a.py | sha256sum)";
    let Some(ran) = small_disk(64, script) else {
        eprintln!("no disk can be mounted here: a full one was tried by a limit on the size of files alone");
        return;
    };
    let (out, said) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert_eq!(out.matches("status 1").count(), 3, "{out}\n{said}");
    assert_eq!(out.matches(": OK").count(), 3, "{out}\n{said}");
    assert!(!out.contains(".portolan-"), "{out}\n{said}");
    assert!(!out.contains("port.patch"), "half a way back is none: {out}\n{said}");
    let hashes = |word: &str| out.lines().filter_map(|line| line.strip_prefix(word)).collect::<Vec<_>>();
    let whole = hashes("whole ");
    assert_eq!(whole.len(), 1, "{out}\n{said}");
    assert!(hashes("out ").iter().all(|hash| *hash == whole[0]), "{out}\n{said}");
}

#[test]
fn a_file_with_two_names_stays_whole_on_a_full_disk() {
    // There is space for the new file, but not a second time for the part by which it is longer.
    let script = "
        mkdir p && { echo 'import torch'; yes 'x = torch.rand(4).cuda()' | head -c 20000; } > p/a.py && ln p/a.py two.py
        sha256sum p/a.py two.py > sums && head -c 4096 /dev/zero > fill
        PORTOLAN port --target hpu --write p; echo status $?
        sha256sum -c sums; ls -A . p; df -k . | tail -1";
    let mut outcomes = Vec::new();
    for kib in (40..=72).step_by(4) {
        let Some(ran) = small_disk(kib, script) else { return };
        let (out, said) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        let written = out.contains("status 0");
        assert!(written || out.matches(": OK").count() == 2, "{kib} KiB: {out}\n{said}");
        assert!(!out.contains(".portolan-"), "{kib} KiB: {out}\n{said}");
        outcomes.push((written, said.contains("not enough disk space")));
    }
    // No space for the new file, space for it but not for the end of the old one, space for both.
    for outcome in [(false, true), (false, false), (true, false)] {
        assert!(outcomes.contains(&outcome), "{outcomes:?}");
    }
}
