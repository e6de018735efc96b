//! The GitHub Action and the pre-commit hook, by their own commands, and SARIF by its schema.

use crate::{TRAINER, folder, portolan, read};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const LEFT: &str = "import torch\n\nnet = torch.nn.Linear(4, 2).cuda()\nold = torch.jit.script(net)\n";

/// A file of the checkout.
fn of_checkout(name: &str) -> String {
    read(Path::new(env!("CARGO_MANIFEST_DIR")), &format!("../../{name}"))
}

/// A file of YAML as JSON, by the tests' Python; none if it has no reader of YAML.
fn yaml(text: &str) -> Option<Value> {
    let program = "import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.argv[1])))";
    let ran = Command::new("python3").args(["-c", program, text]).output().unwrap();
    if String::from_utf8_lossy(&ran.stderr).contains("ModuleNotFoundError") {
        return None;
    }
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    Some(serde_json::from_slice(&ran.stdout).unwrap())
}

/// Runs a shell command in a folder, with `portolan` on PATH.
fn bash(folder: &Path, script: &str, environment: &[(&str, &str)]) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_portolan")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    // As GitHub runs it.
    command.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]).current_dir(folder);
    command.env("PATH", path).envs(environment.iter().copied()).output().unwrap()
}

/// The script of a step of the action, below `- name: NAME` and `run: |`, without a reader of YAML.
fn script(name: &str) -> String {
    let action = of_checkout("action.yml");
    let (_, step) = action.split_once(&format!("    - name: {name}\n")).unwrap_or_else(|| panic!("no step {name}"));
    let step = step.split("\n    - name: ").next().unwrap();
    let (_, run) = step.split_once("      run: |\n").unwrap_or_else(|| panic!("{name} has no script"));
    run.lines().map(|line| format!("{}\n", line.strip_prefix("        ").unwrap_or(line))).collect()
}

#[test]
fn the_action_and_the_hook_are_what_their_programs_read() {
    let Some(action) = yaml(&of_checkout("action.yml")) else { return };
    assert_eq!(action["runs"]["using"], "composite");
    for step in action["runs"]["steps"].as_array().unwrap() {
        assert!(step["uses"].is_string() || step["shell"] == "bash", "{step}");
        // An input in a script would be run.
        assert!(!step["run"].as_str().unwrap_or_default().contains("${{"), "{step}");
        if let Some(script) = step["run"].as_str().filter(|script| script.contains('\n')) {
            assert_eq!(script, self::script(step["name"].as_str().unwrap()));
        }
        // Every input that is named exists.
        let text = step.to_string();
        for name in text.split("inputs.").skip(1).map(|rest| rest.split(|c: char| !c.is_alphanumeric()).next().unwrap())
        {
            assert!(action["inputs"][name].is_object(), "{name}: {step}");
        }
    }
    let hooks = yaml(&of_checkout(".pre-commit-hooks.yaml")).unwrap();
    for key in ["id", "name", "entry", "language"] {
        assert!(hooks[0][key].is_string(), "{key}: {hooks}");
    }
}

#[test]
fn the_steps_of_the_action_write_the_log_and_the_verdict() {
    let home = folder(&[("src/my dir/a.py", LEFT), ("done/b.py", TRAINER)]);
    let check = |path: &str, args: &str, ported: &str, code: i32| {
        let output = home.path().join("output");
        fs::write(&output, "").unwrap();
        let inputs = [
            ("TARGET", "hpu"),
            ("PATHS", path),
            ("ARGS", args),
            ("SARIF", "out.sarif"),
            ("GITHUB_OUTPUT", output.to_str().unwrap()),
        ];
        let ran = bash(home.path(), &script("Check"), &inputs);
        assert_eq!(ran.status.code(), Some(code), "{path}: {ran:?}");
        let outputs = read(home.path(), "output");
        if code != 0 {
            assert_eq!(outputs, "", "{path}");
            return;
        }
        assert_eq!(outputs, format!("sarif=out.sarif\nported={ported}\n"));
        let log: Value = serde_json::from_str(&read(home.path(), "out.sarif")).unwrap();
        for result in log["runs"][0]["results"].as_array().unwrap() {
            let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
            let of_shell = path.starts_with('$');
            assert!(of_shell || uri == "src/my%20dir/a.py", "paths begin at the root of the repository: {uri}");
        }
        let ran = bash(home.path(), &script("Result"), &[("PORTED", ported)]);
        assert_eq!(ran.status.success(), ported == "true", "{ran:?}");
    };
    check("src", "", "false", 0);
    check("src/my dir\ndone\n", "--reject\nhpu#torch-jit\n", "true", 0);
    check("done", "", "true", 0);
    // Wrong usage is no verdict.
    check("done", "--sdk=0.1", "", 2);
    check("$(touch hacked)", "", "false", 0);
    assert!(!home.path().join("hacked").exists());
}

#[test]
fn the_hook_says_where_work_is_left_and_prints_nothing_else() {
    let hooks = of_checkout(".pre-commit-hooks.yaml");
    let entry = hooks.lines().find_map(|line| line.trim().strip_prefix("entry: ")).unwrap();
    let home = folder(&[("a.py", LEFT), ("done/b.py", TRAINER)]);
    let ran = bash(home.path(), &format!("{entry} --target hpu ."), &[]);
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(
        ran.status.code() == Some(1) && ran.stdout.is_empty() && said.contains("a.py:4:7: warning[hpu#torch-jit]"),
        "{ran:?}"
    );
    let ran = bash(home.path(), &format!("{entry} --target hpu done"), &[]);
    assert!(ran.status.success(), "{ran:?}");
}

#[test]
fn sarif_is_valid() {
    let home = folder(&[("my dir/a.py", LEFT), ("bad.py", "def f(:\n"), ("b.py", TRAINER), ("latin.py", "")]);
    fs::write(home.path().join("latin.py"), b"# \xe9\n").unwrap();
    for (target, paths) in [("hpu", &["."][..]), ("ipu", &["my dir/a.py", "bad.py"]), ("xpu", &["b.py"])] {
        let ran = portolan(home.path(), &[&["port", "--target", target, "--format", "sarif"], paths].concat());
        let log: Value = serde_json::from_str(&ran.out).unwrap();
        crate::schema::check_sarif(&log);
    }
}
