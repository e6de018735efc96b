//! `cargo xtask as-tested`: which variables of a shell it passes on, and which it sets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variables of a program that is started like a check, from a shell with these in addition to its own.
fn seen(set: &[(&str, &str)]) -> BTreeMap<String, String> {
    let output =
        Command::new(env!("CARGO_BIN_EXE_xtask")).args(["as-tested", "env", "-0"]).envs(set.iter().copied()).output();
    let output = output.expect("xtask starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("the variables are UTF-8");
    let split = |line: &str| line.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
    text.split('\0').filter_map(split).collect()
}

#[test]
#[cfg(unix)]
fn what_a_shell_has_by_chance_reaches_no_check() {
    let chance = [
        ("LC_NUMERIC", "de_DE.UTF-8"),
        ("LANGUAGE", "de"),
        ("PYTHONPATH", "/somewhere"),
        ("NODE_OPTIONS", "--no-warnings"),
        ("GIT_AUTHOR_NAME", "somebody"),
        ("UPDATE", "1"),
        ("RANK", "3"),
        ("XDG_CONFIG_HOME", "/somewhere"),
    ];
    let seen = seen(&chance);
    for (name, _) in chance {
        assert_eq!(seen.get(name), None, "{name}");
    }
}

#[test]
fn language_and_time_zone_are_stated() {
    let seen = seen(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "tr_TR.UTF-8"), ("TZ", "Pacific/Kiritimati")]);
    assert_eq!(["LANG", "LC_ALL", "TZ"].map(|name| seen[name].as_str()), ["C.UTF-8", "C.UTF-8", "UTC"]);
}

#[test]
fn home_is_the_tests_own_and_what_lies_in_the_users_is_found_without_it() {
    let users = env!("CARGO_TARGET_TMPDIR");
    let real = |name: &str, below: &str| {
        let set = std::env::var_os(name).map(PathBuf::from);
        set.unwrap_or_else(|| std::env::home_dir().expect("a home folder").join(below)).display().to_string()
    };
    // Without them cargo would search the new HOME for everything that it has downloaded.
    let (cargo, rustup) = (real("CARGO_HOME", ".cargo"), real("RUSTUP_HOME", ".rustup"));
    let set = [
        ("HOME", users),
        ("CARGO_HOME", &cargo),
        ("RUSTUP_HOME", &rustup),
        ("PORTOLAN_PYTHON", ""),
        ("XDG_CACHE_HOME", ""),
    ];
    let seen = seen(&set);
    assert!(seen["HOME"] != users && seen["HOME"].ends_with("home"), "{}", seen["HOME"]);
    assert_eq!((&seen["CARGO_HOME"], &seen["RUSTUP_HOME"]), (&cargo, &rustup));
    assert!(Path::new(&seen["PORTOLAN_PYTHON"]).starts_with(users), "{}", seen["PORTOLAN_PYTHON"]);
}

#[test]
#[cfg(unix)]
fn a_folder_of_the_users_own_programs_is_not_on_path() {
    let users = std::env::var("PATH").expect("PATH is set");
    let folder = env!("CARGO_TARGET_TMPDIR");
    let seen = seen(&[("PATH", &format!("{folder}:{users}"))]);
    let path: Vec<_> = std::env::split_paths(&seen["PATH"]).collect();
    assert!(!path.contains(&PathBuf::from(folder)), "{path:?}");
    for program in ["cargo", "git", "node", "python3", "sh"] {
        assert!(path.iter().any(|folder| folder.join(program).is_file()), "{program}: {path:?}");
    }
}

#[test]
#[cfg(unix)]
fn it_ends_as_the_command_ends() {
    let xtask = |arguments: &[&str]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_xtask")).arg("as-tested").args(arguments).output().expect("xtask starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(xtask(&["sh", "-c", "exit 7"]).0, Some(7));
    let (code, said) = xtask(&["portolan-no-such-program"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("cannot start `portolan-no-such-program`"), "{said}");
}
