//! A port run next to its original: through the command, on the tests' PyTorch.

use crate::check_port::python;
use crate::{TRAINER, folder, portolan, portolan_with, read, schema};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Trains eight steps; the model is in another file.
const TRAIN: &str = "\
import sys
import torch
from parts.net import Net

rate = float(sys.argv[sys.argv.index('--lr') + 1]) if '--lr' in sys.argv else 0.1
net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=rate)
data = torch.utils.data.TensorDataset(torch.randn(64, 4), torch.randn(64, 2))
for x, y in torch.utils.data.DataLoader(data, batch_size=8, shuffle=True):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(net(x.cuda()), y.cuda())
    loss.backward()
    optimizer.step()
print('scale', open('scale.txt').read())
";
const NET: &str = "import torch\n\n\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        \
    self.inner = torch.nn.Linear(4, 2)\n\n    def forward(self, x):\n        return self.inner(x.cuda())\n";

fn rehearse(folder: &Path, words: &[&str]) -> crate::Ran {
    let python = python().get_program().to_str().unwrap().to_string();
    portolan(folder, &[&["rehearse", "--target", "hpu", "--python", &python], words].concat())
}

fn project() -> tempfile::TempDir {
    folder(&[
        ("project/main.py", TRAIN),
        ("project/parts/net.py", NET),
        ("project/parts/__init__.py", ""),
        ("project/scale.txt", "8"),
    ])
}

#[test]
fn a_project_is_run_beside_its_port() {
    let home = project();
    let ran = rehearse(home.path(), &["--format", "json", "--html", "twin.html", "--steps", "3", "project"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    schema::check_twin(&result);
    assert_eq!((&result["verdict"], &result["trained"]), (&"equal".into(), &vec![3, 3].into()), "{result:#}");
    let files: Vec<&String> = result["files"].as_object().unwrap().keys().collect();
    assert_eq!(files, ["main.py", "parts/__init__.py", "parts/net.py"]);

    // The run used the port that the command writes, and the page recognises it by these hashes.
    let ran = portolan(home.path(), &["port", "--target", "hpu", "--format", "json", "project"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let sums = &report["certificate"]["files"]["parts/net.py"];
    let run = &result["files"]["parts/net.py"];
    assert_eq!((&sums["input"], &sums["output"]), (&run["original"], &run["port"]));
    assert_ne!(sums["input"], sums["output"]);

    assert!(read(home.path(), "twin.html").contains("<svg"));
    assert_eq!(read(home.path(), "project/main.py"), TRAIN);
    let names = |folder: &str| fs::read_dir(home.path().join(folder)).unwrap().count();
    assert_eq!((names("."), names("project"), names("project/parts")), (2, 3, 2));
}

/// Its samples come from files that nobody has here.
const WITHOUT_DATA: &str = "\
import torch


class Spectra(torch.utils.data.Dataset):
    def __init__(self, file):
        self.rows = open(file).readlines()

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        *spectrum, kind = map(float, self.rows[index].split())
        return torch.tensor(spectrum), int(kind)


net = torch.nn.Linear(40, 3).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for spectrum, kind in torch.utils.data.DataLoader(Spectra('spectra.txt'), batch_size=8, shuffle=True):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(net(spectrum.cuda()), kind.cuda()).backward()
    optimizer.step()
";

#[test]
fn a_program_whose_data_is_not_there_is_run_on_made_up_samples() {
    let home = folder(&[("train.py", WITHOUT_DATA)]);
    let ran = rehearse(home.path(), &["--no-data", "--format", "json", "train.py"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    schema::check_twin(&result);
    assert_eq!((&result["verdict"], &result["trained"]), (&"equal".into(), &vec![4, 4].into()), "{result:#}");
    assert_eq!(result["ran"]["no_data"], true);
    let note = result["notes"][0]["text"].as_str().unwrap();
    let samples = "the samples of Spectra are made up, each (float32 40, whole number below ";
    assert!(note.starts_with(samples) && note.ends_with("No such file or directory: 'spectra.txt')"), "{note}");
}

#[test]
fn what_differs_fails_and_names_the_line() {
    let home = project();
    let ran = rehearse(home.path(), &["--port-args", "--lr 0.2", "--entry", "main.py", "--steps", "2", "project"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("twin: differs"), "{ran:?}");
    assert!(ran.out.contains("step 1: the learning rate: 0.1 in the original, 0.2 in the port"), "{ran:?}");
    assert!(ran.out.contains("(main.py:"), "{ran:?}");
}

#[test]
fn a_launch_scripts_command_is_taken_as_it_stands() {
    let home = project();
    let words = [
        "--steps", "2", "--format", "json", "project", "--", "mpirun", "-n", "2", "python3", "-u", "main.py", "--lr",
        "0.3",
    ];
    let ran = rehearse(home.path(), &words);
    assert_eq!(ran.code, 0, "{ran:?}");
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(result["steps"][0]["rate"], serde_json::json!([[0.3], [0.3]]));
    assert_eq!(result["ran"]["program"], "main.py");
}

#[test]
fn a_run_that_trains_nothing_fails() {
    let home = folder(&[("trainer.py", TRAINER)]);
    let ran = rehearse(home.path(), &["trainer.py"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("the port ran no training step"), "{ran:?}");
}

#[test]
fn what_can_not_be_run_is_refused() {
    let home =
        folder(&[("trainer.py", TRAINER), ("plain.py", "import torch\n"), ("two/a.py", "x = 1\n"), ("two/b.py", "")]);
    let check = |words: &[&str], code: i32, why: &str| {
        let ran = rehearse(home.path(), words);
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{words:?}: {ran:?}");
        assert!(ran.err.contains(why), "{words:?}: {ran:?}");
    };
    check(&["nowhere.py"], 2, "nowhere.py: file not found");
    check(&["-"], 2, "a rehearsal needs a file");
    check(&["--html", "nowhere/a.html", "trainer.py"], 2, "no such folder: nowhere");
    check(&["--html", "two", "trainer.py"], 2, "--html two: is a folder");
    check(&["--entry", "c.py", "two"], 2, "--entry c.py: not found in the project");
    check(&["--steps", "0", "trainer.py"], 2, "--steps");
    check(&["--port-args", "'open", "trainer.py"], 2, "--port-args: unclosed quote");
    check(&["--style", "branch", "--sdk", "7", "trainer.py"], 2, "don't cover SDK version");
    check(&["--fake-images", "/data", "trainer.py"], 2, "the folder must be below");
    check(&["plain.py"], 1, "the port changes nothing");
}

#[test]
fn the_python_has_to_be_one_that_can() {
    let home = folder(&[
        ("trainer.py", TRAINER),
        ("old", "#!/bin/sh\necho 3.6 True\n"),
        ("bare", "#!/bin/sh\necho 3.11 False\n"),
    ]);
    for name in ["old", "bare"] {
        fs::set_permissions(home.path().join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let check = |python: &str, why: &str| {
        let ran = portolan(home.path(), &["rehearse", "--target", "hpu", "--python", python, "trainer.py"]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
        assert!(ran.err.contains(why), "{ran:?}");
    };
    check("./nowhere", "--python ./nowhere: can't be started");
    check("/bin/true", "not a Python interpreter");
    check("./old", "is Python 3.6, but a rehearsal needs 3.8 or newer");
    check("./bare", "PyTorch is not installed for ./bare: install it with `./bare -m pip install torch`");
}

#[test]
fn the_python_that_setup_makes_is_used_if_python3_has_no_pytorch() {
    let home = folder(&[
        ("trainer.py", TRAINER),
        (
            "keras.py",
            "import tensorflow as tf\n\nmodel = tf.keras.Sequential([tf.keras.layers.Dense(1)])\nmodel.compile(loss='mse')\n\
             model.fit(x, y)\n",
        ),
        ("path/python3", "#!/bin/sh\necho 3.11 False\n"),
        ("cache/portolan/python/newest/bin/python", "#!/bin/sh\necho 3.11 True\n"),
        ("own", "#!/bin/sh\necho 3.11 True\n"),
    ]);
    for name in ["path/python3", "cache/portolan/python/newest/bin/python", "own"] {
        fs::set_permissions(home.path().join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let at = |name: &str| home.path().join(name).display().to_string();
    let check = |file: &str, own: &str, code: i32, why: &str| {
        let (path, cache) = (at("path"), at("cache"));
        let variables =
            [("PATH", &*path), ("XDG_CACHE_HOME", &cache), ("PORTOLAN_PYTHON", own), ("PORTOLAN_TENSORFLOW", "")];
        let ran = portolan_with(home.path(), &["rehearse", "--target", "hpu", file], b"", &variables);
        assert!(ran.code == code && ran.err.contains(why), "{ran:?}");
    };
    let newest = at("cache/portolan/python/newest/bin/python");
    check("trainer.py", "", 0, &format!("using {newest}, because python3 has no usable PyTorch"));
    check("trainer.py", &at("own"), 0, &format!("using {}, because", at("own")));
    check(
        "keras.py",
        "",
        2,
        "TensorFlow is not installed for python3: install it with `python3 -m pip install tensorflow`",
    );
}

#[test]
fn a_port_names_its_twin_run() {
    let home = project();
    let twin = |words: &[&str]| {
        let ran = portolan(home.path(), &[&["port", "--target", "hpu", "--format", "json"], words].concat());
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        schema::check(&report);
        (report["twin"]["portolan"].as_str().unwrap_or_default().to_string(), ran.err)
    };
    let (command, said) = twin(&["project"]);
    assert_eq!(command, "portolan rehearse --target hpu --entry main.py .");
    assert!(said.contains(&format!("  {command}\n")), "{said}");
    let (command, _) = twin(&["--sdk", "1.20", "--unsafe", "project/main.py"]);
    assert_eq!(command, "portolan rehearse --target hpu --sdk 1.20 --unsafe project/main.py");
    let (command, said) = twin(&["project/parts/net.py"]);
    assert_eq!((command.as_str(), said.contains("rehearse")), ("", false));
}

#[test]
fn a_notebook_is_run_beside_its_port() {
    let lines = TRAIN
        .replace("print('scale', open('scale.txt').read())\n", "%matplotlib inline\n!touch shell.txt\nprint('end', 1)");
    let lines = lines.replace("from parts.net import Net\n", "Net = lambda: torch.nn.Linear(4, 2)\n");
    let cell = |source: &str| {
        let source = Value::from(source);
        format!(
            "{{\"cell_type\": \"code\", \"execution_count\": null, \"metadata\": {{}}, \"outputs\": [], \"source\": {source}}}"
        )
    };
    let (first, second) = lines.split_once("\n\n").unwrap();
    let notebook = format!(
        "{{\"cells\": [{}, {}], \"metadata\": {{\"language_info\": {{\"name\": \"python\"}}}}, \"nbformat\": 4, \"nbformat_minor\": 5}}\n",
        cell(first),
        cell(&format!("%%time\n{second}"))
    );
    let home = folder(&[("train.ipynb", &notebook)]);
    let ran = rehearse(home.path(), &["--steps", "3", "train.ipynb"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.starts_with("twin: equal\n"), "{ran:?}");
    let files: Vec<_> = fs::read_dir(home.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(files, ["train.ipynb"]);

    // A difference is named by its cell: the loss that only the port multiplies.
    let twice =
        notebook.replace("loss.backward()", "(loss * (2 if net.weight.device.type == 'hpu' else 1)).backward()");
    fs::write(home.path().join("train.ipynb"), twice).unwrap();
    let ran = rehearse(home.path(), &["--steps", "3", "train.ipynb"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("train.ipynb cell 2:"), "{ran:?}");

    // A module that a cell writes is there, and not in the user's folder; a traceback names the cell.
    let cells = [
        cell("%%writefile parts.py\nSCALE = 2\n"),
        cell("import torch\nfrom parts import SCALE\nprint(torch.ones(SCALE).cuda(), missing)"),
    ];
    let fails =
        format!("{{\"cells\": [{}], \"metadata\": {{}}, \"nbformat\": 4, \"nbformat_minor\": 5}}\n", cells.join(", "));
    fs::write(home.path().join("train.ipynb"), fails).unwrap();
    let ran = rehearse(home.path(), &["--steps", "3", "train.ipynb"]);
    assert!(ran.out.contains("the original (train.ipynb) ended with NameError: name 'missing'"), "{ran:?}");
    assert!(ran.out.contains("File \"train.ipynb cell 2\", line 3, in <module>"), "{ran:?}");
    assert!(!home.path().join("parts.py").exists());
}
