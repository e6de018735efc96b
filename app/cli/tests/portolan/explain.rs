//! `portolan explain`.

use crate::schema::check_explain;
use crate::{Ran, folder, portolan, portolan_with};
use serde_json::Value;

const LOG: &str = "\
epoch 1
[rank0]: Traceback (most recent call last):
[rank0]:   File \"/scratch/me/run/src/train.py\", line 4, in <module>
[rank0]:     net = net.cuda()
[rank0]:   File \"/usr/lib/python3.11/site-packages/torch/cuda/__init__.py\", line 310, in _lazy_init
[rank0]:     raise AssertionError(\"Torch not compiled with CUDA enabled\")
[rank0]: AssertionError: Torch not compiled with CUDA enabled
";

const SCRIPT: &str = "import torch\n\nnet = torch.nn.Linear(4, 2)\nnet = net.cuda()\n";

fn explain(log: &str, words: &[&str]) -> Ran {
    let home = folder(&[("job.log", log), ("project/src/train.py", SCRIPT)]);
    portolan(home.path(), &[&["explain", "job.log"], words].concat())
}

fn json(log: &str, words: &[&str]) -> Value {
    let ran = explain(log, &[words, &["--format", "json"]].concat());
    let value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    check_explain(&value);
    value
}

#[test]
fn a_known_message_is_answered() {
    let ran = explain(LOG, &[]);
    assert_eq!((ran.code, &*ran.err), (0, ""), "{ran:?}");
    assert!(ran.out.starts_with("1. PyTorch finds no CUDA [errors#no-cuda]\n"), "{ran:?}");
    for part in
        ["line    7: AssertionError: Torch not compiled with CUDA enabled\n", "cause   ", "remedy  ", "source  "]
    {
        assert!(ran.out.contains(part), "{part}: {ran:?}");
    }
}

#[test]
fn stdin_is_a_log() {
    let ran = portolan_with(folder(&[]).path(), &["explain", "-"], LOG.as_bytes(), &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.out, explain(LOG, &[]).out);
}

#[test]
fn the_projects_lines_are_shown_with_those_of_the_port() {
    let answer = json(LOG, &["--target", "xpu", "--project", "project"]);
    assert_eq!((&answer["known"], &answer["candidates"][0]["line"]), (&true.into(), &7.into()), "{answer}");
    let frame = &answer["frames"][0];
    assert_eq!(answer["frames"].as_array().map(Vec::len), Some(1), "{answer}");
    assert_eq!((&frame["path"], &frame["side"]), (&"src/train.py".into(), &"original".into()), "{answer}");
    assert_eq!((&frame["original"], &frame["ported"]), (&4.into(), &4.into()), "{answer}");
    assert_eq!(frame["recipes"][0]["recipe"], "xpu#model-to-device", "{answer}");
    assert_eq!(frame["recipes"][0]["rejected"], false, "{answer}");
    let words = ["--target", "xpu", "--project", "project", "--reject", "xpu#model-to-device"];
    assert_eq!(json(LOG, &words)["frames"][0]["recipes"][0]["rejected"], true);
    let ran = explain(LOG, &words);
    assert!(ran.out.contains("src/train.py:4: net = net.cuda()\n"), "{ran:?}");
    assert!(ran.out.contains("rejected: Move models and tensors [xpu#model-to-device]\n"), "{ran:?}");
}

#[test]
fn a_batch_that_is_left_on_the_host_is_named() {
    let program = |inside: &str| {
        format!(
            "import torch\n\ndevice = \"cuda\"\nnet = torch.nn.Linear(4, 2).to(device)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n\
             for x, y in loader:\n    optimizer.zero_grad()\n{inside}    loss = torch.nn.functional.mse_loss(net(x), y)\n    \
             loss.backward()\n    optimizer.step()\n"
        )
    };
    let log = "  File \"train.py\", line 8, in <module>\n    loss = torch.nn.functional.mse_loss(net(x), y)\nRuntimeError: Expected all \
               tensors to be on the same device, but found at least two devices, cpu and xpu:0!\n";
    let answer = |program: &str, log: &str| {
        let home = folder(&[("job.log", log), ("train.py", program)]);
        let ran = portolan(home.path(), &["explain", "job.log", "--target", "xpu", "--project", "train.py"]);
        ran.out.split_once("Not moved to the device in the port:\n").map(|(_, left)| left.to_owned())
    };
    let expected = "   train.py:7: optimizer.zero_grad()\n      move x, y above this line\n";
    assert_eq!(answer(&program(""), log).as_deref(), Some(expected));
    assert_eq!(answer(&program("    x, y = x.to(device), y.to(device)\n"), log), None);
    assert_eq!(answer(&program(""), &log.replace("Expected all", "Not all")), None);
}

#[test]
fn an_operation_is_looked_up() {
    let log = "poptorch.poptorch_core.Error: In unknown:0: 'poptorch_cpp_error': Unsupported ops found in compiled model: [aten::linalg_svd]. Not all\n";
    let answer = json(log, &["--target", "ipu"]);
    let first = &answer["candidates"][0];
    assert_eq!(first["section"], "ipu#missing-operations", "{answer}");
    assert_eq!(first["operation"]["listed"], "torch.linalg.svd", "{answer}");
    assert!(explain(log, &[]).out.contains("aten::linalg_svd is torch.linalg.svd"));
}

#[test]
fn another_targets_answer_is_not_given() {
    let log = "RuntimeError: synStatus=26 [Generic failure] Device acquire failed.\n";
    assert_eq!(json(log, &["--target", "hpu"])["candidates"][0]["section"], "hpu#no-card");
    assert_eq!(explain(log, &["--target", "xpu"]).code, 1);
}

#[test]
fn what_is_not_known_is_told() {
    let ran = explain("KeyError: 'lr'\n", &[]);
    assert_eq!((ran.code, &*ran.out), (1, ""), "{ran:?}");
    assert!(ran.err.starts_with("portolan: not known here: "), "{ran:?}");
    let answer = json("", &[]);
    assert_eq!((&answer["known"], &answer["candidates"]), (&false.into(), &Value::Array(Vec::new())), "{answer}");
}

#[test]
fn a_zero_byte_does_not_hide_a_log() {
    let torn = LOG.replacen('\n', "\n\0", 1);
    assert_eq!(explain(&torn, &[]).out, explain(LOG, &[]).out);
    let home = folder(&[("binary.log", "")]);
    std::fs::write(home.path().join("binary.log"), b"\0\x01\0\0ab\0\0").unwrap();
    let ran = portolan(home.path(), &["explain", "binary.log"]);
    assert!(ran.code == 1 && ran.err.contains("this is a binary file"), "{ran:?}");
}

#[test]
fn a_log_of_another_project_is_told() {
    let said =
        |log: &str| explain(log, &["--target", "xpu", "--project", "project"]).err.contains("this log names no line");
    assert!(!said(LOG) && said(&LOG.replace("train.py", "elsewhere.py")));
}

#[test]
fn a_log_that_cant_be_read_is_named() {
    let home = folder(&[("utf16.log", ""), ("bytes.log", "")]);
    std::fs::write(home.path().join("utf16.log"), b"\xff\xfeE\0r\0").unwrap();
    std::fs::write(home.path().join("bytes.log"), b"fine\nnot \xe9 fine\n").unwrap();
    let check = |file: &str, expected: &str| {
        let ran = portolan(home.path(), &["explain", file]);
        assert_eq!((ran.code, &*ran.out), (1, ""), "{ran:?}");
        assert!(ran.err.starts_with(&format!("portolan: {file}")) && ran.err.contains(expected), "{ran:?}");
    };
    let ran = explain(LOG, &["--target", "xpu", "--project", "nowhere"]);
    assert!(ran.code == 1 && ran.err.starts_with("portolan: nowhere: "), "{ran:?}");
    check("missing.log", "can't be read");
    check(".", "is a folder");
    check("utf16.log", "save it as UTF-8");
    check("bytes.log", "bytes.log:2: byte 0xE9 is not UTF-8");
}

#[test]
fn wrong_usage_is_status_2() {
    let ran = explain(LOG, &["--target", "hpux"]);
    assert!(ran.code == 2 && ran.err.contains("no recipes for target `hpux`"), "{ran:?}");
    assert_eq!(explain(LOG, &["--project", "project"]).code, 2);
    assert_eq!(explain(LOG, &["--target", "xpu", "--reject", "a#b"]).code, 2);
}

#[test]
fn a_long_log_is_read_from_its_end() {
    let log = format!("{}{LOG}", "Device acquire failed\n".repeat(900_000));
    let answer = json(&log, &["--target", "xpu"]);
    assert_eq!(answer["candidates"][0]["line"], 900_007, "{answer}");
}
