//! Input beyond the command's limits: the messages, and that they come before memory or time is exhausted.

use crate::{TRAINER, folder, portolan, portolan_with, read};
use std::fs;
use std::process::Command;

#[test]
fn deep_nesting_is_reported_or_ported() {
    let home = folder(&[]);
    let brackets = format!("import torch\nx = {}1{}\nnet.cuda()\n", "(".repeat(5_000), ")".repeat(5_000));
    let blocks: String = (0..400).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect();
    let blocks = format!("import torch\n{blocks}{}net.cuda()\n", " ".repeat(400));
    for text in [brackets, "[".repeat(5_000), format!("x = {}1\n", "-".repeat(20_000)), blocks] {
        let ran = portolan_with(home.path(), &["port", "--target", "hpu", "-"], text.as_bytes(), &[]);
        let message = ran.err.lines().find(|line| line.starts_with("stdin.py:"));
        match ran.code {
            0 => assert!(ran.out.contains(".to(\"hpu\")") || !text.contains(".cuda()"), "{ran:?}"),
            1 => assert!(message.is_some_and(|message| message.contains(": error[engine#")), "{ran:?}"),
            _ => panic!("{ran:?}"),
        }
    }
}

#[cfg(unix)]
#[test]
fn folders_deeper_than_paths_are_long() {
    let home = folder(&[("p/a.py", TRAINER)]);
    // 5,400 bytes, whereas a path may have 4,096; no shell can enter it.
    let dig =
        "import os\nfor n in range(600): os.mkdir('folder_9'); os.chdir('folder_9')\nopen('deep.py', 'w').close()";
    let dug = Command::new("python3").current_dir(home.path().join("p")).args(["-c", dig]).status();
    assert!(dug.unwrap().success());
    let ran = portolan(home.path(), &["port", "--target", "hpu", "p"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let said = ran.err.lines().find(|line| line.contains("the folder can't be read: File name too long"));
    assert!(said.is_some(), "{ran:?}");
    assert!(ran.out.contains("+++ b/a.py\n"), "the rest is ported all the same: {ran:?}");
}

#[test]
fn numbers_beyond_reason_are_refused_at_once() {
    let home = folder(&[]);
    let check = |words: &[&str], said: &str| {
        let start = std::time::Instant::now();
        let ran = portolan(home.path(), words);
        assert_eq!(ran.code, 2, "{words:?}: {ran:?}");
        assert!(ran.err.contains(said), "{words:?}: {ran:?}");
        assert!(start.elapsed().as_secs() < 20, "{words:?}");
    };
    let forward = ["forward", "--config", "small", "--weights", "sample", "--threads"];
    check(&[&forward[..], &["4000"]].concat(), "--threads 4000: at most");
    check(&[&forward[..], &["1000000"]].concat(), "1000000 is not in 1..=4096");
    check(&[&forward[..], &["1", "--size", "1x67108864"]].concat(), "each side must be from 1 to 16384");
    check(
        &["events", "--count", "4096", "--size", "8192x8192", "--out", "e.safetensors"],
        "--count 4096: at most 10 events of 8192x8192 in one file",
    );
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn a_notebook_or_an_archive_of_any_size_is_not_read() {
    let home = folder(&[("p/a.py", TRAINER)]);
    for name in ["huge.ipynb", "huge.zip", "p/huge.ipynb"] {
        fs::File::create(home.path().join(name)).unwrap().set_len(1 << 40).unwrap();
    }
    for (name, words) in
        [("huge.ipynb", "the limit is 64 MiB; clear the outputs"), ("huge.zip", "unpack it and port the folder")]
    {
        let ran = portolan(home.path(), &["port", "--target", "hpu", name]);
        assert!(ran.code == 1 && ran.err.contains(words), "{ran:?}");
    }
    let ran = portolan(home.path(), &["port", "--target", "hpu", "p"]);
    assert!(ran.code == 0 && ran.err.contains("huge.ipynb:1:1: warning[engine#too-large]"), "{ran:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn out_of_memory_writes_nothing() {
    let long = format!("{TRAINER}{}", "x = torch.rand(4).cuda()\n".repeat(40_000));
    let home = folder(&[("p/a.py", TRAINER), ("p/long.py", &long)]);
    let program = env!("CARGO_BIN_EXE_portolan");
    let limited = format!("ulimit -c 0; ulimit -v 120000; exec '{program}' port --target hpu --write p");
    let ran = Command::new("sh").current_dir(home.path()).args(["-c", &limited]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(!ran.status.success() && said.contains("alloc"), "{said}");
    assert_eq!(read(home.path(), "p/a.py"), TRAINER);
    assert_eq!(read(home.path(), "p/long.py"), long);
}
