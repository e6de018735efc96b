//! Compute modes: which choices are some, ports in branch style, and projects that already have the target's mode.

use crate::ports::{in_place, port_files};
use codemod::{Options, Severity, Style};

/// A port in branch style, of one file next to another.
fn branched_beside(target: &str, text: &str, other: &str) -> String {
    let options = Options { style: Style::Branch, ..in_place(target) };
    let ported = port_files(&[("run.py", text), ("main.py", other)], &options);
    assert!(ported.certificate.parses && ported.certificate.idempotent);
    ported.files[0].text.clone()
}

const RUN: &str = "from dataclasses import dataclass
from enum import Enum


class Compute(Enum):
    CPU = 0
    GPU = 1


@dataclass
class Run:
    distributed: bool = False
    compute_mode: Compute = Compute.GPU
    iterations: int = 3

    def name(self): return \"run\"
";

#[test]
fn fields_keep_the_places_by_which_they_are_given() {
    let of_mode = "    compute_mode: Compute = Compute.GPU\n    lazy_mode: bool = False\n    iterations: int = 3\n";
    let last = "    compute_mode: Compute = Compute.GPU\n    iterations: int = 3\n    lazy_mode: bool = False\n";
    for (main, expected) in [
        ("Run(True, iterations=2)\n", of_mode),
        ("Run(True, Compute.CPU)\n", of_mode),
        ("from run import Compute, Run\nRun(True, Compute.CPU, 2)\n", last),
        ("from run import Run\nrun = Run(*read())\n", last),
    ] {
        let text = branched_beside("hpu", RUN, main);
        assert!(text.contains(expected), "{main}{text}");
    }
}

#[test]
fn lines_of_a_branch_end_as_the_file_has_them() {
    let step = "import torch

def step(run, model, x, y):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    if run.compute_mode == Compute.GPU:
        torch.cuda.synchronize()
";
    for target in ["hpu", "ipu", "popdist", "rdu", "xpu"] {
        let text = branched_beside(target, &format!("{RUN}{step}").replace('\n', "\r\n"), "");
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{target}\n{text}");
    }
}

const TRAINER: &str = r#"import enum
import intel_extension_for_pytorch as ipex
import torch


class Mode(enum.Enum):
    CPU = 0
    GPU = 1
    XPU = 2


class Trainer:
    def device(self):
        if self.mode == Mode.GPU:
            return torch.device("cuda")
        elif self.mode == Mode.XPU:
            return ipex.xpu.device("xpu:0")
        return torch.device("cpu")

    def move(self, batch):
        if self.mode == Mode.GPU:
            batch = batch.cuda()
        return batch
"#;

/// The port of a text, and the engine's messages with their lines.
fn port_trainer(text: &str, style: Style) -> (String, Vec<(String, usize)>) {
    let ported = port_files(&[("trainer.py", text)], &Options { style, ..in_place("xpu") });
    assert!(ported.certificate.parses && ported.certificate.idempotent);
    let told = ported.files[0].diagnostics.iter().filter(|d| d.recipe.starts_with("engine#own"));
    (ported.files[0].text.clone(), told.map(|d| (d.recipe.clone(), d.original.line)).collect())
}

#[test]
fn branches_for_the_target_are_brought_up_to_date_and_no_others_are_added() {
    let (text, told) = port_trainer(TRAINER, Style::Auto);
    assert!(text.contains("            return torch.xpu.device(\"xpu:0\")\n"), "{text}");
    assert!(text.ends_with(TRAINER.split_once("    def move").unwrap().1), "{text}");
    let own = "engine#own-mode".to_owned();
    assert_eq!(told, [(own.clone(), 16), (own, 21)]);
}

#[test]
fn branches_are_added_where_they_are_asked_for() {
    let (text, told) = port_trainer(TRAINER, Style::Branch);
    assert!(text.contains("        elif self.mode == Mode.XPU:\n            batch = batch.to(\"xpu\")\n"), "{text}");
    assert_eq!(told, []);
}

#[test]
fn a_mode_that_no_branch_asks_for_is_ported() {
    let (start, end) = TRAINER.split_once("        elif").unwrap();
    let rest = end.split_once("        return torch.device(\"cpu\")").unwrap().1;
    let (text, told) = port_trainer(&format!("{start}        return torch.device(\"cpu\"){rest}"), Style::Auto);
    assert!(text.contains("batch.to(\"xpu\")"), "{text}");
    assert_eq!(told, []);
}

#[test]
fn facts_cross_files() {
    let modes = "from enum import Enum\n\n\nclass Mode(Enum):\n    CPU = 0\n    GPU = 1\n";
    let trainer = "from modes import Mode\n\n\nclass T:\n    def place(self, x):\n        if self.mode == Mode.GPU:\n            return x.cuda()\n        return x\n";
    let ported =
        port_files(&[("modes.py", modes), ("trainer.py", trainer)], &Options { style: Style::Auto, ..in_place("hpu") });
    assert_eq!(ported.style, Style::Branch);
    assert!(ported.files[0].text.ends_with("    GPU = 1\n    HPU = 4\n"));
    assert!(
        ported.files[1]
            .text
            .contains("        elif self.mode == Mode.HPU:\n            return x.to(\"hpu\")\n        return x\n")
    );
}

#[test]
fn a_choice_of_devices_is_no_set_of_modes() {
    let check = |style: Style, chain: &str, expected: &str| {
        let text = format!("import torch\n\n\ndef main(parser):\n    args = parser.parse_args()\n{chain}");
        let ported = port_files(&[("a.py", &text)], &Options { style: Style::Auto, ..in_place("hpu") });
        assert_eq!(ported.style, style);
        assert!(ported.files[0].text.ends_with(expected), "{}", ported.files[0].text);
    };
    // PyTorch's own names of devices: the chain gets a branch for the new name.
    check(
        Style::Agnostic,
        "    if args.device == \"cpu\":\n        return 1\n    elif args.device == \"cuda\":\n        return torch.device(\"cuda\")\n    assert args.device in [\"cpu\", \"cuda\", \"mps\"]\n",
        "    elif args.device == \"cuda\":\n        return torch.device(\"cuda\")\n    elif args.device == \"hpu\":\n        return torch.device(\"hpu\")\n    \
         assert args.device in [\"cpu\", \"cuda\", \"hpu\", \"mps\"]\n",
    );
    // A test that is true for both distinguishes nothing.
    check(Style::InPlace, "    fast = args.reader in (\"cpu\", \"gpu\")\n    net.cuda()\n", "    net.to(\"hpu\")\n");
}

#[test]
fn a_mode_is_tested_where_it_can_be_read() {
    let text = "import torch\n\n\ndef main(parser):\n    torch.cuda.synchronize()\n    args = parser.parse_args()\n    if args.run == \"gpu\":\n        torch.cuda.synchronize()\n    elif args.run == \"cpu\":\n        pass\n";
    let ported = port_files(&[("a.py", text)], &Options { style: Style::Auto, ..in_place("hpu") });
    assert_eq!(ported.style, Style::Branch);
    let (before, after) = ported.files[0].text.split_once("args = parser").expect("still there");
    assert!(!before.contains("args.run"), "{before}");
    assert!(after.contains("    elif args.run == \"hpu\":\n        torch.hpu.synchronize()\n"), "{after}");
}

#[test]
fn an_enum_that_was_not_given_is_asked_for() {
    let trainer = "from modes import Mode\n\n\nclass T:\n    def place(self, x):\n        if self.mode == Mode.GPU:\n            return x.cuda()\n        return x\n";
    let ported = port_files(&[("trainer.py", trainer)], &Options { style: Style::Auto, ..in_place("hpu") });
    let asked = ported.files[0]
        .diagnostics
        .iter()
        .any(|d| d.recipe == "engine#compute-mode" && d.severity == Severity::Warning);
    assert!(asked, "{:?}", ported.files[0].diagnostics);
}

/// Ports one file in branch style; returns the text and the messages about manual work.
fn branched(body: &str) -> (String, Vec<String>) {
    let text = format!(
        "from modes import Mode\n\n\nclass T:\n    def g(self):\n        return self.mode == Mode.GPU\n\n    def f(self, x):\n{body}"
    );
    let ported = port_files(&[("a.py", &text)], &Options { style: Style::Branch, ..in_place("hpu") });
    let file = &ported.files[0];
    let told = file.diagnostics.iter().map(|d| d.message.clone()).collect();
    assert!(ported.certificate.idempotent);
    (file.text.clone(), told)
}

#[test]
fn strings_over_several_lines_say_the_same_in_every_mode() {
    let (text, _) = branched("        t = \"\"\"\n  {}\n\"\"\".format(x.cuda())\n        return t\n");
    assert_eq!(text.matches("\n  {}\n\"\"\"").count(), 2, "{text}");
}

#[test]
fn a_choice_by_mode_gets_an_arm_for_the_target() {
    let check = |before: &str, after: &str| {
        let (text, told) = branched(before);
        assert!(text.contains(after), "{text}");
        assert!(told.iter().all(|m| m.contains("defined in a file that was not provided")), "{text}{told:?}");
    };
    check(
        "        return x.cuda() if self.mode == Mode.GPU else x\n",
        "return x.cuda() if self.mode == Mode.GPU else x.to(\"hpu\") if self.mode == Mode.HPU else x\n",
    );
    check(
        "        return x.cuda() if self.mode == Mode.GPU else x.to('hpu') if self.mode == Mode.HPU else x\n",
        "return x.cuda() if self.mode == Mode.GPU else x.to('hpu') if self.mode == Mode.HPU else x\n",
    );
    check(
        "        if self.mode == Mode.GPU:\n            x = x.cuda() if self.mode == Mode.GPU else x\n        return x\n",
        "        elif self.mode == Mode.HPU:\n            x = x.to(\"hpu\") if self.mode == Mode.HPU else x\n        return x\n",
    );
    // The target already uses what the others do.
    check(
        "        return 'cuda' if self.mode == Mode.GPU else 'hpu'\n",
        "return 'cuda' if self.mode == Mode.GPU else 'hpu'\n",
    );
}

#[test]
fn what_is_decided_in_a_way_that_is_not_followed_is_told() {
    for body in [
        "        return {Mode.GPU: x.cuda(), Mode.CPU: x}[self.mode]\n",
        "        if self.mode != Mode.GPU:\n            return x\n        return x.cuda()\n",
        "        assert self.mode == Mode.GPU\n        return x.cuda()\n",
    ] {
        let (text, told) = branched(body);
        assert!(!text.contains("hpu\""), "{text}");
        assert!(told.iter().any(|m| m.contains("can't be determined")), "{body}: {told:?}");
    }
}

#[test]
fn branch_style_without_compute_modes_changes_nothing_and_says_so() {
    let text = "device = torch.device('cuda')\n";
    let ported = port_files(&[("a.py", text)], &Options { style: Style::Branch, ..in_place("hpu") });
    assert_eq!(ported.files[0].text, text);
    assert!(ported.files[0].diagnostics.iter().any(|d| d.recipe == "engine#no-compute-modes"));
}

#[test]
fn modes_of_a_library_are_not_those_of_a_program() {
    let library = "import torch\n\n\nclass Module(torch.nn.Module):\n    def place(self, d):\n        if d == 'cpu':\n            \
                   self.cpu()\n        elif d == 'gpu':\n            self.cuda()\n        else:\n            raise ValueError\n";
    let program = "import torch\nfrom library import Module\n\nnet = Module().cuda()\n\
                   opt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor x, y in loader:\n    opt.zero_grad()\n    \
                   loss = (net(x.cuda()) - y.cuda()).pow(2).mean()\n    loss.backward()\n    opt.step()\n";
    let files = [("library.py", library), ("train.py", program)];
    let ported = port_files(&files, &Options { style: Style::Auto, ..in_place("hpu") });
    assert_eq!(ported.style, Style::InPlace);
    assert!(ported.files[1].text.contains("Module().to(\"hpu\")"), "{}", ported.files[1].text);
    assert!(ported.files[0].text.contains("self.to('hpu')"), "{}", ported.files[0].text);
}

/// What auto makes of a chain of modes in one file beside another, without the changes of these recipes: the style, and what it says
/// at the chain.
fn chosen(other: &str, rejected: &[&str]) -> (Style, Vec<String>) {
    let modes = "import torch


def run(mode, x):
    if mode == \"gpu\":
        x = x.cuda()
    elif mode == \"cpu\":
        x = x.cpu()
    return x
";
    let rejected_recipes = rejected.iter().map(|recipe| (*recipe).to_owned()).collect();
    let options = Options { style: Style::Auto, rejected_recipes, ..in_place("hpu") };
    let ported = port_files(&[("bench.py", modes), ("train.py", other)], &options);
    let said = ported.files[0].diagnostics.iter().filter(|d| d.original.line == 5).map(|d| d.message.clone());
    (ported.style, said.collect())
}

#[test]
fn auto_takes_branches_where_modes_decide_about_the_changes() {
    let zeros = "import torch\n\nx = torch.zeros(3, device=\"cuda\")\n";
    assert_eq!(chosen("", &[]), (Style::Branch, vec![]));
    assert_eq!(chosen(zeros, &[]), (Style::Branch, vec![]));
    // What is rejected changes nothing else.
    assert_eq!(chosen(zeros, &["hpu#model-to-device"]).0, Style::Branch);
    let (style, said) = chosen(&format!("{zeros}y = torch.ones(3, device=\"cuda\")\n"), &[]);
    assert!(style == Style::InPlace && said.iter().any(|said| said.contains("2 of 3 changes")), "{said:?}");
}

#[test]
fn a_second_port_that_finds_nothing_takes_the_style_of_the_first() {
    let modes = "def name(mode):\n    if mode == \"gpu\":\n        return \"g\"\n    elif mode == \"cpu\":\n        return \"c\"\n";
    let options = Options { style: Style::Auto, ..in_place("hpu") };
    let ported = port_files(&[("a.py", modes), ("b.py", "import torch\n\nnet.to(\"hpu\")\n")], &options);
    assert!(ported.style == Style::InPlace && !ported.files[0].changed && ported.files[0].diagnostics.is_empty());
}
