//! `portolan port --series`: patches that the real `git am` takes, one after another.

use crate::notebooks::NOTEBOOK;
use crate::{TRAINER, folder, portolan, read};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Carriage returns, a mark at the start, tabs, no newline at the end.
const OTHER: &str = "\u{feff}import torch\r\n\r\n\r\ndef run(net):\r\n\tprint(\"é =\", torch.cuda.device_count())\t\r\n\treturn net.cuda()";

const STEP: &str = "\
import torch
from torch.cuda.amp import GradScaler, autocast

net = torch.nn.Linear(2, 1).cuda()
opt = torch.optim.SGD(net.parameters(), 0.1)
scaler = GradScaler()
device = \"cuda\" if torch.cuda.is_available() else \"cpu\"


def train(loader):
    for x, y in loader:
        opt.zero_grad()
        with autocast():
            loss = torch.nn.functional.mse_loss(net(x.to(device)), y.to(device))
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
";

fn git(folder: &Path, words: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=A User", "-c", "user.email=user@example.org"]).args(words);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.output().expect("git is installed");
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A repository with these files in its only commit.
fn repository(files: &[(&str, &str)]) -> TempDir {
    let home = folder(files);
    git(home.path(), &["init", "-q"]);
    git(home.path(), &["config", "core.autocrlf", "false"]);
    git(home.path(), &["add", "-A"]);
    git(home.path(), &["commit", "-qm", "Begin"]);
    home
}

/// The patches in a folder, in their order.
fn patches(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Ports a repository to a target in commits; each leaves files that compile, and the last those of the port.
fn check(target: &str, files: &[(&str, &str)], commits: usize) {
    let home = repository(files);
    let (made, out) = (folder(&[]), folder(&[]));
    let [made, out] = [&made, &out].map(|folder| folder.path().join("x").display().to_string());
    let ran = portolan(home.path(), &["port", "--target", target, "--series", &made, "."]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
    let patches = patches(Path::new(&made));
    assert_eq!(patches.len(), commits, "{patches:?}");
    let whole = portolan(home.path(), &["port", "--target", target, "--out", &out, "."]);
    assert_eq!(whole.code, 0, "{whole:?}");
    for patch in patches {
        git(home.path(), &["am", "-q", patch.to_str().unwrap()]);
        for (path, _) in files.iter().filter(|(path, _)| path.ends_with(".py")) {
            let compile = "import sys; compile(open(sys.argv[1], 'rb').read(), sys.argv[1], 'exec')";
            let compiled =
                Command::new("python3").current_dir(home.path()).args(["-c", compile, path]).output().unwrap();
            assert!(compiled.status.success(), "{path} after {patch:?}: {compiled:?}");
        }
    }
    for (path, _) in files {
        assert_eq!(read(home.path(), path), read(Path::new(&out), path), "{target}: {path}");
    }
    assert_eq!(git(home.path(), &["status", "--porcelain"]), "");
    let log = git(home.path(), &["log", "--format=%an <%ae>%n%s%n%b", "-n", &commits.to_string()]);
    assert_eq!(log.matches("Portolan <portolan@localhost>\n").count(), commits, "{log}");
    assert_eq!(log.matches(&format!("\n{target}: ")).count(), commits, "{log}");
    for part in ["\nSource: ", "\nHolds for: ", "\nRecipe: "] {
        assert!(log.matches(part).count() >= commits, "{part}: {log}");
    }
}

#[test]
fn every_commit_is_a_recipe_that_compiles() {
    let files = [("a.py", TRAINER), ("b/größe x.py", OTHER), ("step.py", STEP), ("nb.ipynb", NOTEBOOK)];
    check("hpu", &files, 4);
    check("xpu", &files, 3);
    check("ipu", &[("step.py", STEP), ("b/größe x.py", OTHER)], 5);
    check("rdu", &[("step.py", STEP)], 5);
}

#[test]
fn the_bytes_are_the_same_each_time_and_everywhere() {
    let read_all = |folder: &Path| -> Vec<(PathBuf, String)> {
        let name = |path: &PathBuf| PathBuf::from(path.file_name().unwrap());
        patches(folder).iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
    };
    let [one, two] = [(); 2].map(|()| {
        let home = folder(&[("p/step.py", STEP)]);
        let ran = portolan(home.path(), &["port", "--target", "hpu", "--series", "q", "p"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        read_all(&home.path().join("q"))
    });
    assert!(!one.is_empty() && one == two, "{one:#?}");
    let (name, text) = &one[0];
    assert_eq!(name, Path::new("0001-hpu-Load-the-bridge-after-its-mode-is-set.patch"));
    let head = format!("From {} Mon Sep 17 00:00:00 2001\nFrom: Portolan <portolan@localhost>\n", "0".repeat(40));
    assert!(text.starts_with(&head) && text.contains("\n---\ndiff --git a/step.py b/step.py\n"), "{text}");
}

#[test]
fn a_folder_of_a_repository_and_an_author() {
    let home = repository(&[("sub/a.py", TRAINER)]);
    let made = folder(&[]);
    let made = made.path().display().to_string();
    let author = "Größe Ö <o@example.org>";
    let ran = portolan(home.path(), &["port", "--target", "hpu", "--series", &made, "--author", author, "sub"]);
    assert!(ran.code == 0 && ran.err.contains(&format!("git am --directory=sub {made}/*.patch")), "{ran:?}");
    for patch in patches(Path::new(&made)) {
        git(home.path(), &["am", "-q", "--directory=sub", patch.to_str().unwrap()]);
    }
    assert_eq!(git(home.path(), &["log", "-n1", "--format=%an <%ae>"]).trim(), author);
    let again = portolan(home.path(), &["port", "--target", "hpu", "--series", "more", "sub"]);
    assert!(again.code == 0 && !home.path().join("more").exists(), "nothing is left to change: {again:?}");
}

#[test]
fn an_unsafe_change_is_made_only_on_request_and_says_so() {
    let loader = "loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)\n";
    let home = folder(&[("p/a.py", STEP), ("p/b.py", &format!("{TRAINER}{loader}"))]);
    let said = |words: &[&str], to: &str| {
        let ran = portolan(home.path(), &[&["port", "--target", "hpu", "--series", to], words, &["p"]].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        let all = patches(&home.path().join(to));
        all.iter().map(|path| fs::read_to_string(path).unwrap()).collect::<String>()
    };
    let (usual, asked) = (said(&[], "usual"), said(&["--unsafe"], "asked"));
    let sentence = "applied by --unsafe.";
    assert!(!usual.contains(sentence) && asked.contains(sentence), "{asked}");
    let rejected = said(&["--reject", "hpu#agnostic"], "rejected");
    assert!(usual.contains("Recipe: hpu#agnostic\n") && !rejected.contains("Recipe: hpu#agnostic\n"));
}

#[test]
fn what_can_not_be_a_series_is_refused() {
    let check = |words: &[&str], said: &str| {
        let home = folder(&[("p/a.py", TRAINER), ("old/0001-x.patch", "")]);
        let ran = portolan(home.path(), &[&["port", "--target", "hpu"], words].concat());
        assert!(ran.code == 2 && ran.err.contains(said), "{ran:?}");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2, "nothing is written");
    };
    check(&["--series", "old", "p"], "--series old: it already has patches, such as 0001-x.patch");
    check(&["--series", "q", "-"], "no commit can change stdin");
    check(&["--series", "q", "--author", "somebody", "p"], "expected NAME <EMAIL>");
    check(&["--series", "q", "--write", "p"], "cannot be used with");
    check(&["--author", "A <b@c>", "p"], "--series");
}
