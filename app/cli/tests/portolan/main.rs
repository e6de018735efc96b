//! The command as used in practice: the real binary, real folders.

// Its `assert_eq!` shows a difference of texts by lines.
#[macro_use]
extern crate pretty_assertions;

mod api;
mod automation;
mod bad_input;
mod check_port;
mod checkpoints;
mod explain;
mod forward;
mod git_apply;
#[cfg(unix)]
mod interrupted;
mod launch;
mod library;
mod limits;
mod matrix;
mod new_files;
mod notebooks;
mod own_guides;
mod places;
mod recipes;
mod rehearse;
mod report_page;
mod reports;
mod schema;
mod series;
mod site;

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A script in which every target has something to change.
const TRAINER: &str = "\
import torch

net = torch.nn.Linear(4, 2).cuda()
print(net(torch.rand(1, 4).cuda()))
";

/// The results of a run.
#[derive(Debug)]
struct Ran {
    code: i32,
    out: String,
    err: String,
}

/// Runs `portolan` in a folder.
fn portolan(folder: &Path, words: &[&str]) -> Ran {
    portolan_with(folder, words, b"", &[])
}

fn portolan_with(folder: &Path, words: &[&str], stdin: &[u8], environment: &[(&str, &str)]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_portolan"));
    command.current_dir(folder).args(words).env_remove("UPDATE").envs(environment.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that reads nothing may exit before everything is written.
    child.stdin.take().unwrap().write_all(stdin).ok();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).expect("the command speaks UTF-8");
    Ran { code: output.status.code().expect("no crash"), out: text(output.stdout), err: text(output.stderr) }
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, text) in files {
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    folder
}

fn read(folder: &Path, path: &str) -> String {
    fs::read_to_string(folder.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The trainer after the port, as written by the command.
fn ported_trainer() -> String {
    let ran = portolan_with(Path::new("."), &["port", "--target", "hpu", "--write", "-"], TRAINER.as_bytes(), &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains(".to(\"hpu\")") && !ran.out.contains(".cuda()"), "{ran:?}");
    ran.out
}
