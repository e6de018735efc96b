use super::{Modes, Region, free_value, initialised};
use crate::marked::{self, Marked};

const ENUM: &str = "from enum import Enum\nclass Mode(Enum):\n    CPU = 0\n    GPU = 1\n    HPU = 2\n";

fn modes<'a>(at: &Marked<'a, '_>) -> &'a Modes {
    at.project.modes.as_ref().expect("a project with compute modes")
}

#[test]
fn how_a_project_names_its_modes() {
    let check = |program: &str, expected: &str| {
        marked::check(program, expected, |at| match &at.project.modes {
            None => "none".to_owned(),
            Some(modes) => format!("{:?} {}", modes.kind, modes.target),
        });
    };
    check(&format!("{ENUM}if mode == Mode.GPU:\n    f()\n"), "Enum(\"Mode\") HPU");
    check(&ENUM.replace("CPU", "cpu").replace("GPU", "gpu"), "Enum(\"Mode\") hpu");
    check("from modes import Mode\nif mode == Mode.GPU:\n    f()\n", "Enum(\"Mode\") HPU");
    check("if mode == 'gpu':\n    f()\nelif mode == 'cpu':\n    g()\n", "Strings hpu");
    check("if mode == 'cuda':\n    f()\nelif mode == 'cpu':\n    g()\n", "none");
    check("if mode in ('gpu', 'cpu'):\n    f()\n", "none");
    // Another name of the device, not a mode: what is compared with "cuda" anywhere is a device everywhere.
    check("if asked in ('cuda', 'gpu'):\n    f()\nelif asked == 'mps':\n    g()\n", "none");
    check("if asked == 'gpu' and net.cuda():\n    f()\nelif asked in ('cuda', 'cpu'):\n    g()\n", "none");
    check(
        "if device == 'gpu':\n    f()\nelif device == 'cpu':\n    g()\n#- b.py\nif device == 'cuda':\n    f()\n",
        "none",
    );
    let place = "if place == 'gpu':\n    f()\nelif place == 'cpu':\n    g()\n";
    check(place, "Strings hpu");
    check(&format!("{place}net.to(place)\n"), "none");
    check(&format!("{place}#- b.py\nx = zeros(3, device=place)\n"), "none");
    let place = "class Place(str, Enum):\n    CPU = 'cpu'\n    CUDA = 'cuda'\nif place == Place.CUDA:\n    f()\n";
    let place = format!("from enum import Enum\n{place}");
    check(&place, "Enum(\"Place\") HPU");
    check(&format!("{place}place = torch.device(place.value)\n"), "none");
    // Where a buffer is kept; the device is chosen elsewhere.
    let place = "def f(d):\n    if keep == 'gpu':\n        return d\n    elif keep == 'cpu':\n        return None\n";
    check(&format!("{place}def train(x):\n    x.cuda()\n"), "none");
    check(&format!("{place}def train(x):\n    x.cuda()\n").replace("return d", "train(d)"), "Strings hpu");
    check(&format!("{place}def train(x):\n    x.cuda()\n").replace("return d", "return d.cuda()"), "Strings hpu");
    check("from enum import Enum\nclass Colour(Enum):\n    RED = 0\n", "none");
}

/// The mode that runs the marked place.
#[track_caller]
fn region(body: &str, expected: &str) {
    marked::check(&format!("{ENUM}{body}\n"), expected, |at| {
        match modes(at).region(&at.file().view.index, at.node()) {
            Region::Open => "open",
            Region::Vendor { .. } => "vendor",
            Region::Target => "target",
            Region::Unclear => "unclear",
            Region::Foreign => "foreign",
        }
    });
}

#[test]
fn code_under_a_test_for_a_mode() {
    region("if mode == Mode.GPU:\n    f(1)\n    ^^^^", "vendor");
    region("if mode == Mode.HPU:\n    f(1)\n    ^^^^", "target");
    region("if mode == Mode.CPU:\n    f(1)\n    ^^^^", "foreign");
    region("if mode in (Mode.GPU, Mode.HPU):\n    f(1)\n    ^^^^", "open");
    region("if mode in (Mode.GPU, Mode.CPU):\n    f(1)\n    ^^^^", "foreign");
    region("if mode != Mode.HPU:\n    f(1)\n    ^^^^\nif mode == Mode.GPU:\n    g()", "foreign");
    region("if mode == Mode.GPU:\n    pass\nf(1)\n^^^^", "open");
}

#[test]
fn code_beside_a_test_for_a_mode() {
    region("if mode == Mode.HPU:\n    g()\nelse:\n    f(1)\n    ^^^^", "foreign");
    region("if mode == Mode.GPU:\n    g()\nelse:\n    f(1)\n    ^^^^", "open");
    region("a = f(1) if mode == Mode.GPU else 2\n    ^^^^", "vendor");
    region("a = 2 if mode == Mode.HPU else f(1)\n                               ^^^^", "foreign");
    region("table = {Mode.GPU: f(1)}\n                   ^^^^", "unclear");
    region("if mode == Mode.GPU:\n    g()\ndef h():\n    assert mode == Mode.GPU\n    f(1)\n    ^^^^", "unclear");
    region(
        "if mode == Mode.GPU:\n    g()\ndef h():\n    if mode != Mode.GPU:\n        return\n    f(1)\n    ^^^^",
        "unclear",
    );
}

#[test]
fn the_test_for_the_target_at_a_place() {
    let check = |body: &str, expected: Option<&str>| {
        marked::check(&format!("{ENUM}{body}\n"), expected.map(str::to_owned), |at| {
            modes(at).guard_at(at.file().view, &at.project.classes, at.node())
        });
    };
    check("def run(mode):\n    if mode == Mode.GPU:\n        g()\n    f(1)\n    ^^^^", Some("mode == Mode.HPU"));
    check("def run(mode):\n    if mode == Mode.GPU:\n        g()\nf(1)\n^^^^", None);
    let class = "class A:\n    def run(self):\n        if self.mode == Mode.GPU:\n            g()\n";
    check(&format!("{class}    def end(self):\n        f(1)\n        ^^^^"), Some("self.mode == Mode.HPU"));
    check(&format!("{class}class B:\n    def end(self):\n        f(1)\n        ^^^^"), None);
    check(
        &format!("{class}class B(A):\n    def end(self):\n        f(1)\n        ^^^^"),
        Some("self.mode == Mode.HPU"),
    );
}

#[test]
fn a_test_for_the_target_in_place_of_the_vendor() {
    let check = |test: &str, expected: Option<&str>| {
        let mark = "^".repeat(test.len());
        let program = format!("{ENUM}if {test}:\n   {mark}\n    f()\nif mode == Mode.GPU:\n    g()\n");
        marked::check(&program, expected.map(str::to_owned), |at| modes(at).retarget(&at.file().view.index, at.node()));
    };
    check("mode == Mode.GPU", Some("mode == Mode.HPU"));
    check("mode is Mode.GPU and ready", Some("mode is Mode.HPU and ready"));
    check("mode == Mode.CPU", None);
    check("other == 3", None);
}

#[test]
fn options_that_lack_the_target() {
    let check = |choices: &str, expected: &str| {
        let program = format!("{ENUM}parser.add_argument('--mode', choices={choices})\n").replace("GPU", "gpu");
        marked::check(&program, expected, |at| at.lines(modes(at).choices(at.file().view)));
    };
    check("['cpu', 'gpu']", "'gpu'");
    check("['cpu', 'gpu', 'hpu']", "");
    check("['cpu', 'tiny']", "");
}

#[test]
fn a_value_that_no_member_has() {
    let check = |values: &[&str], usual: Option<i64>, expected: &str| {
        assert_eq!(free_value(values, "HPU", usual), expected, "{values:?}");
    };
    check(&["0", "1"], None, "2");
    check(&["0", "1"], Some(6), "6");
    check(&["0", "7"], Some(6), "8");
    check(&["'cpu'", "'gpu'"], None, "'hpu'");
    check(&["\"CPU\"", "\"GPU\""], None, "\"HPU\"");
    check(&["auto()"], None, "auto()");
}

#[test]
fn an_attribute_that_the_constructor_has_set() {
    let check = |above: &str, expected: bool| {
        let program = format!("class A:\n    def __init__(self):\n        {above}\n        f(1)\n        ^^^^\n");
        marked::check(&program, expected, |at| {
            let init = at.file().function_of(at.node()).expect("a method");
            initialised(at.file().view, init, at.node(), "mode")
        });
    };
    check("self.mode = 2", true);
    check("super().__init__()", true);
    check("self.other = 2", false);
}
