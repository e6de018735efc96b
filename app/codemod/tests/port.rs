//! The engine on inputs that guides don't show: unusual layout, rejected edits, several files, text that is not Python.

use codemod::{Options, Ported, RecipeSet, Severity, Style, port};
use python::SourceFile;

fn hpu() -> Options {
    Options { target: "hpu".to_owned(), style: Style::InPlace, ..Options::default() }
}

fn run(files: &[(&str, &str)], options: &Options) -> Ported {
    let files: Vec<SourceFile> =
        files.iter().map(|(p, t)| SourceFile { path: (*p).to_owned(), text: (*t).to_owned() }).collect();
    port(&files, RecipeSet::embedded(), options)
}

/// Ports one file in place, twice; the second time must change nothing.
fn check(before: &str, after: &str) {
    let ported = run(&[("a.py", before)], &hpu());
    assert_eq!(ported.files[0].text, after);
    let c = &ported.certificate;
    assert!(c.parses && c.idempotent && c.untouched_bytes_equal && c.comments_kept, "{c:?}");
    assert_eq!(run(&[("a.py", after)], &hpu()).files[0].text, after);
}

/// A file that can't be ported is unchanged, with one error that says where and why.
fn check_refused(text: &str, line: usize, column: usize, words: &str) {
    let ported = run(&[("a.py", text)], &hpu());
    let file = &ported.files[0];
    assert_eq!(file.text, text);
    let error = file.diagnostics.iter().find(|d| d.severity == Severity::Error).expect("an error");
    assert!(error.message.contains(words), "{}", error.message);
    assert_eq!((error.original.line, error.original.column), (line, column), "{}", error.message);
}

#[test]
fn line_endings_tabs_and_byte_order_mark_stay() {
    check(
        "\u{feff}if True:\r\n\tx = x.cuda()\r\n\ttorch.cuda.empty_cache()\r\n",
        "\u{feff}if True:\r\n\tx = x.to(\"hpu\")\r\n",
    );
    check("x = x.cuda()", "x = x.to(\"hpu\")");
}

#[test]
fn statements_on_one_line() {
    check("x = 1; torch.cuda.empty_cache(); y = 2\n", "x = 1; y = 2\n");
    check("torch.cuda.empty_cache(); z = 3\n", "z = 3\n");
    check("z = 3; torch.cuda.empty_cache()\n", "z = 3\n");
    check("if a(): torch.cuda.empty_cache()\n", "if a(): pass\n");
}

#[test]
fn a_block_keeps_a_statement_when_several_fixes_empty_it() {
    check("if fast():\n    torch.cuda.empty_cache()\n    torch.cuda.set_device(0)\n", "if fast():\n    pass\n");
}

#[test]
fn what_a_port_empties_goes_when_it_does_nothing() {
    const CALL: &str = "torch.cuda.empty_cache()\n";
    let check = |before: &str, after: &str| check(&before.replace("CALL", CALL.trim()), after);
    check("x = 1\nif a and b.c[0] > 1:\n    CALL\ny = 2\n", "x = 1\ny = 2\n");
    check("for i in names:\n    if a:\n        CALL\ny = 2\n", "y = 2\n");
    check("def free():\n    if a:\n        CALL\n", "def free():\n    pass\n");
    check("def free():\n    if a:\n        CALL\n    if b:\n        CALL\n", "def free():\n    pass\n");
    check("if a:\n    x = 1\nelse:\n    CALL\ny = 2\n", "if a:\n    x = 1\ny = 2\n");
    // Headers that call or bind something, `while` and `with` are kept, and so are comments, other branches and blocks
    // that were empty before.
    check("for i in names:\n    CALL\nprint(i)\n", "for i in names:\n    pass\nprint(i)\n");
    check("for i in read():\n    CALL\n", "for i in read():\n    pass\n");
    check("while a:\n    CALL\n", "while a:\n    pass\n");
    check("if (n := a):\n    CALL\n", "if (n := a):\n    pass\n");
    check("with a:\n    CALL\n", "with a:\n    pass\n");
    check("if a:\n    # room\n    CALL\n", "if a:\n    # room\n    pass\n");
    check("if a:\n    CALL\nelse:\n    x = 1\n", "if a:\n    pass\nelse:\n    x = 1\n");
    check("CALL\nif a:\n    pass\n", "if a:\n    pass\n");
}

#[test]
fn a_function_that_a_port_empties_goes_with_its_calls() {
    let check = |before: &str, after: &str| check(&before.replace("CALL", "torch.cuda.empty_cache()"), after);
    let free = "def free(n):\n    \"\"\"Room.\"\"\"\n    CALL\n\n\n";
    check(&format!("{free}run()\nif a:\n    free(2)\n    free(x.y)\ngo()\n"), "run()\ngo()\n");
    for use_of_it in ["held = free(2)\n", "free(read())\n", "each(free)\n", "free(2)\nlog('free')\n", ""] {
        let kept = free.replace("    CALL\n", "");
        check(&format!("{free}run()\n{use_of_it}"), &format!("{kept}run()\n{use_of_it}"));
    }
    let other = ("b.py", "from a import free\n\nfree(2)\n");
    let ported = run(&[("a.py", &(free.replace("CALL", "torch.cuda.empty_cache()") + "free(2)\n")), other], &hpu());
    assert_eq!(ported.files[1].text, other.1);
    assert!(ported.files[0].text.ends_with("free(2)\n"), "{}", ported.files[0].text);
}

#[test]
fn equal_branches_are_one_however_their_lines_are_broken() {
    let check = |then: &str, after: &str| {
        let text = format!("if on_gpu:\n{then}else:\n    y = move(x, a)\n    z = 1\n");
        check(&text, after);
    };
    check(
        "    y = move(x.cuda(),\n             a)\n    z = 1\n",
        "if on_gpu:\n    y = move(x.to(\"hpu\"),\n             a)\n    z = 1\nelse:\n    y = move(x, a)\n    z = 1\n",
    );
    check("    torch.cuda.empty_cache()\n    y = move(x,\n             a)\n    z = 1\n", "y = move(x, a)\nz = 1\n");
    // The last statement is in the block of another one.
    let nested = "if on_gpu:\n    torch.cuda.empty_cache()\n    if a:\n        y = 1\n        z = 1\nelse:\n    if a:\n        y = 1\n    z = 1\n";
    self::check(nested, &nested.replace("    torch.cuda.empty_cache()\n", ""));
}

#[test]
fn a_list_keeps_different_values() {
    check("choices = ['cpu', 'cuda', 'hpu']\n", "choices = ['cpu', 'cuda', 'hpu']\n");
    check("places = ('cuda:0', 'cuda:1')\n", "places = ('cuda:0', 'cuda:1')\n");
    check("places = ['cuda', 'cpu']\n", "places = ['hpu', 'cpu']\n");
    check("places = ['cuda', 'cuda']\n", "places = ['hpu', 'hpu']\n");
}

#[test]
fn comments_go_with_all_that_they_speak_of() {
    check("run()\ntorch.cuda.empty_cache()  # room for the next\n", "run()\n");
    check("run()\n# room for the next\ntorch.cuda.empty_cache()\n\ngo()\n", "run()\n\ngo()\n");
    check("run()\n\n# room for\n# the next\ntorch.cuda.empty_cache()\n\ngo()\n", "run()\n\ngo()\n");
    // They refer to remaining code, too, or to nothing that was removed.
    check("run()\n# the next\ntorch.cuda.empty_cache()\ngo()\n", "run()\n# the next\ngo()\n");
    check("run()\n# the next\n\ntorch.cuda.empty_cache()\ngo()\n", "run()\n# the next\n\ngo()\n");
    check("run()\n# %% the next\ntorch.cuda.empty_cache()\n\ngo()\n", "run()\n# %% the next\n\ngo()\n");
    check("# A program.\ntorch.cuda.empty_cache()\n\ngo()\n", "# A program.\n\ngo()\n");
    check("run()\n# Empty the cache\ntorch.cuda.empty_cache()\ngo()\n", "run()\ngo()\n");
    check(
        "run()\n# Empty the cache and go\ntorch.cuda.empty_cache()\ngo(cache)\n",
        "run()\n# Empty the cache and go\ngo(cache)\n",
    );
    // A comment about GPUs is above the first line.
    check("run()\n# free the GPU\ntorch.cuda.empty_cache()\ngo()\n", "run()\ngo()\n");
    check("run()\n# free GPU\ntorch.cuda.empty_cache()\nfree()\n", "run()\n# free GPU\nfree()\n");
    let ported = run(&[("a.py", "run()\n# room\ntorch.cuda.empty_cache()  # now\n")], &hpu());
    assert_eq!(ported.certificate.comments_removed, ["a.py:2 # room", "a.py:3 # now"]);
}

#[test]
fn quotes_follow_the_place() {
    check("x = x.to('cuda:0')\n", "x = x.to('hpu')\n");
    check("print(f\"{x.cuda()}\")\n", "print(f\"{x.to('hpu')}\")\n");
    check("a = 'b'\nx = x.cuda()\n", "a = 'b'\nx = x.to('hpu')\n");
}

#[test]
fn text_beyond_ascii() {
    check("größe = 'µ→λ'  # 輸入\nx = bild.cuda()  # 出力\n", "größe = 'µ→λ'  # 輸入\nx = bild.to('hpu')  # 出力\n");
}

#[test]
fn nested_matches_settle_over_rounds() {
    check("x = f(a.cuda(b.cuda())).cuda()\n", "x = f(a.to(\"hpu\")).to(\"hpu\")\n");
}

#[test]
fn a_name_of_ones_own_is_no_vendors() {
    check(
        "def autocast():\n    return None\n\n\nwith autocast():\n    pass\n",
        "def autocast():\n    return None\n\n\nwith autocast():\n    pass\n",
    );
}

#[test]
fn text_that_is_no_python_is_left_alone() {
    check_refused("def f(:\n    pass\n", 1, 7, "not Python");
    check_refused(
        "import torch\nnet = Net().cuda(\nfor x in loader:\n    f(x)\n",
        2,
        17,
        "`(` on line 2 is never closed",
    );
    check_refused("net = Net([1, 2)\nx = 1\nfor\n", 1, 16, "not Python");
    check_refused("x = 1\nprint \"loss\", x\n", 2, 1, "Python 2");
    check_refused("x = 1\n\0\n", 2, 1, "NUL");
    check("", "");
}

#[test]
fn five_thousand_brackets() {
    let deep = format!("x = {}1{}\nx.cuda()\n", "(".repeat(5000), ")".repeat(5000));
    let ported = run(&[("a.py", &deep)], &hpu());
    assert!(ported.files[0].text.ends_with("x.to(\"hpu\")\n"));
}

#[test]
fn a_rejected_recipe_takes_its_import_along() {
    let text = "import torch\n\nwith torch.cuda.device(1):\n    run()\n";
    let with = run(&[("a.py", text)], &hpu());
    assert!(with.files[0].text.contains("import contextlib"));
    let options = Options { rejected_recipes: vec!["hpu#device-context".to_owned()], ..hpu() };
    let without = run(&[("a.py", text)], &options);
    assert_eq!(without.files[0].text, text);
    assert!(!without.certificate.residue.is_empty(), "what was refused is still CUDA's");
}

#[test]
fn a_rejected_edit_leaves_the_others() {
    let text = "a = a.cuda()\nb = b.cuda()\n";
    let first = run(&[("a.py", text)], &hpu()).files[0].edits[0].id.clone();
    let options = Options { rejected_edits: vec![first], ..hpu() };
    assert_eq!(run(&[("a.py", text)], &options).files[0].text, "a = a.cuda()\nb = b.to(\"hpu\")\n");
}

#[test]
fn facts_cross_files() {
    let modes = "from enum import Enum\n\n\nclass Mode(Enum):\n    CPU = 0\n    GPU = 1\n";
    let trainer = "from modes import Mode\n\n\nclass T:\n    def place(self, x):\n        if self.mode == Mode.GPU:\n            return x.cuda()\n        return x\n";
    let ported = run(&[("modes.py", modes), ("trainer.py", trainer)], &Options { style: Style::Auto, ..hpu() });
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
    let check = |chain: &str, expected: &str| {
        let text = format!("import torch\n\n\ndef main(parser):\n    args = parser.parse_args()\n{chain}");
        let ported = run(&[("a.py", &text)], &Options { style: Style::Auto, ..hpu() });
        assert_eq!(ported.style, Style::InPlace);
        assert!(ported.files[0].text.ends_with(expected), "{}", ported.files[0].text);
    };
    // PyTorch's own names of devices: the chain works again with the new name.
    check(
        "    if args.device == \"cpu\":\n        return 1\n    elif args.device == \"cuda\":\n        return torch.device(\"cuda\")\n    assert args.device in [\"cpu\", \"cuda\", \"mps\"]\n",
        "    elif args.device == \"hpu\":\n        return torch.device(\"hpu\")\n    assert args.device in [\"cpu\", \"hpu\", \"mps\"]\n",
    );
    // A test that is true for both distinguishes nothing.
    check("    fast = args.reader in (\"cpu\", \"gpu\")\n    net.cuda()\n", "    net.to(\"hpu\")\n");
}

#[test]
fn a_mode_is_tested_where_it_can_be_read() {
    let text = "import torch\n\n\ndef main(parser):\n    torch.cuda.synchronize()\n    args = parser.parse_args()\n    if args.run == \"gpu\":\n        torch.cuda.synchronize()\n    elif args.run == \"cpu\":\n        pass\n";
    let ported = run(&[("a.py", text)], &Options { style: Style::Auto, ..hpu() });
    assert_eq!(ported.style, Style::Branch);
    let (before, after) = ported.files[0].text.split_once("args = parser").expect("still there");
    assert!(!before.contains("args.run"), "{before}");
    assert!(after.contains("    elif args.run == \"hpu\":\n        torch.hpu.synchronize()\n"), "{after}");
}

#[test]
fn an_enum_that_was_not_given_is_asked_for() {
    let trainer = "from modes import Mode\n\n\nclass T:\n    def place(self, x):\n        if self.mode == Mode.GPU:\n            return x.cuda()\n        return x\n";
    let ported = run(&[("trainer.py", trainer)], &Options { style: Style::Auto, ..hpu() });
    let asked = ported.files[0]
        .diagnostics
        .iter()
        .any(|d| d.recipe == "engine#compute-mode" && d.severity == Severity::Warning);
    assert!(asked, "{:?}", ported.files[0].diagnostics);
}

#[test]
fn a_chain_of_local_names_does_not_leak_into_other_functions() {
    let text = "import torch\n\n\ndef a():\n    from torch.nn.parallel import DistributedDataParallel as DDP\n    return DDP(net, device_ids=[0])\n\n\ndef b():\n    return torch.nn.parallel.DistributedDataParallel(net, device_ids=[0])\n";
    let ported = run(&[("a.py", text)], &hpu()).files[0].text.clone();
    assert!(ported.contains("    return DDP(net)\n"), "{ported}");
    assert!(ported.contains("    return torch.nn.parallel.DistributedDataParallel(net)\n"), "{ported}");
}

#[test]
fn an_import_means_something_in_its_own_function_only() {
    let text = "import torch\n\n\ndef f():\n    from helpers import GradScaler\n    s = GradScaler()\n    s.update()\n    return s\n\n\ndef g(amp):\n    with amp.autocast():\n        pass\n";
    check(text, text);
}

#[test]
fn a_name_alone_deletes_nothing() {
    let text = "def observe(scaler, batch):\n    scaler.update(batch)\n    return scaler.mean\n";
    check(text, text);
}

#[test]
fn evaluate_is_no_validation_when_its_result_is_trained_on() {
    let text =
        "class Policy(nn.Module):\n    def evaluate_actions(self, state):\n        return self.net(state).log_prob\n";
    check(text, text);
}

#[test]
fn a_name_of_an_option_names_no_device() {
    let text = "p.add_argument('--fast', dest='cuda')\nfast = getattr(args, 'cuda', False)\n";
    check(text, text);
}

#[test]
fn an_indentation_that_python_refuses_is_told() {
    check_refused("x = 1\n    y = x.cuda()\n", 2, 5, "not Python");
    check_refused("def f(x):\n    x = x.cuda()\n\treturn x\n", 3, 2, "not Python");
    let text = "x = 1; \\\n    y = 2\n\u{c}\nif x:\n        # Two.\n    y = 3\n\u{c}z = y\n";
    check(text, text);
}

/// Ports one file in branch style; returns the text and the messages about manual work.
fn branched(body: &str) -> (String, Vec<String>) {
    let text = format!(
        "from modes import Mode\n\n\nclass T:\n    def g(self):\n        return self.mode == Mode.GPU\n\n    def f(self, x):\n{body}"
    );
    let ported = run(&[("a.py", &text)], &Options { style: Style::Branch, ..hpu() });
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
fn what_is_decided_in_a_way_that_is_not_followed_is_told() {
    for body in [
        "        return x.cuda() if self.mode == Mode.GPU else x\n",
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
    let ported = run(&[("a.py", text)], &Options { style: Style::Branch, ..hpu() });
    assert_eq!(ported.files[0].text, text);
    assert!(ported.files[0].diagnostics.iter().any(|d| d.recipe == "engine#no-compute-modes"));
}

#[test]
fn circles_of_names_end() {
    let circle = "a = b\nb = c\nc = d\nd = e\ne = f\nf = a\n".repeat(40);
    let text = format!("{circle}a.step()\nloss.backward()\n");
    let options = Options { sdk: Some("1.19".to_owned()), ..hpu() };
    assert!(run(&[("a.py", &text)], &options).certificate.idempotent);
}

#[test]
fn the_bridge_is_loaded_where_torch_is_tried() {
    let text = "try:\n    import torch\nexcept ImportError:\n    torch = None\n\nx = x.cuda()\n";
    let lazy = Options { sdk: Some("1.19".to_owned()), ..hpu() };
    let ported = run(&[("a.py", text)], &lazy).files[0].text.clone();
    assert!(
        ported.starts_with("import os\n\nos.environ.setdefault(\"PT_HPU_LAZY_MODE\", \"1\")\ntry:\n    import torch\n"),
        "{ported}"
    );
    assert!(
        ported.contains("    torch = None\n\ntry:\n    import habana_frameworks.torch.core as htcore\n"),
        "{ported}"
    );
}

#[test]
fn the_mode_is_set_where_a_function_alone_imports_torch() {
    check(
        "def main():\n    import torch\n\n    x = x.cuda()\n    x.sum().backward()\n",
        "import os\n\ndef main():\n    os.environ.setdefault(\"PT_HPU_LAZY_MODE\", \"0\")\n    import torch\n\n    \
         x = x.to(\"hpu\")\n    x.sum().backward()\n",
    );
}

#[test]
fn a_scaler_by_its_newest_name_goes_with_its_calls() {
    let step =
        "scaler = torch.GradScaler('cuda')\nscaler.scale(loss).backward()\nscaler.step(optimizer)\nscaler.update()\n";
    let ported = run(&[("a.py", &format!("import torch\n\n{step}"))], &hpu()).files[0].text.clone();
    assert!(ported.ends_with("\nloss.backward()\noptimizer.step()\n") && !ported.contains("caler"), "{ported}");
}

/// A project of two or three files, in which `main.py` starts the training in `train.py`.
#[test]
fn the_file_that_starts_a_program_sets_the_mode_before_torch_is_imported() {
    const SET: &str = "os.environ.setdefault(\"PT_HPU_LAZY_MODE\", \"0\")\n";
    const TRAIN: &str = "import torch\n\n\ndef train(net, loader, opt):\n    for x, y in loader:\n        loss = net(x.cuda(), y)\n        \
        loss.backward()\n        opt.step()\n";
    let check = |main: &str, expected: &str| {
        let files = [("run/main.py", main), ("run/net.py", "import torch\n\nWIDTH = 3\n"), ("run/train.py", TRAIN)];
        let ported = run(&files, &hpu());
        assert_eq!(ported.files[0].text, expected);
        assert_eq!(ported.files[1].text, files[1].1);
        assert!(ported.files[2].text.contains(SET) && ported.certificate.idempotent);
        let again: Vec<(&str, &str)> = ported.files.iter().map(|f| (f.path.as_str(), f.text.as_str())).collect();
        assert_eq!(run(&again, &hpu()).files[0].text, expected);
    };
    let start = "\n\nif __name__ == \"__main__\":\n    train(make(), read(), None)\n";
    check(
        &format!("import json\nimport torch\nfrom train import train\n{start}"),
        &format!("import os\nimport json\n{SET}import torch\nfrom train import train\n{start}"),
    );
    check(
        &format!("import os\nfrom net import WIDTH\nfrom train import train\n{start}"),
        &format!("import os\n{SET}from net import WIDTH\nfrom train import train\n{start}"),
    );
    check(
        "from .train import train\n\ntrain(make(), read(), None)\n",
        &format!("import os\n{SET}from .train import train\n\ntrain(make(), read(), None)\n"),
    );
    check("import json\nimport seaborn\n\nseaborn.plot(1)\n", "import json\nimport seaborn\n\nseaborn.plot(1)\n");
}

/// A file that a program loads gets the mode from the file that starts it, if that selects a device, and no file
/// imports the bridge; before 1.18 and in lazy mode each file has both.
#[test]
fn a_program_sets_the_mode_once() {
    let main = "import torch\nfrom train import train\n\nif __name__ == \"__main__\":\n    train(make(), torch.device(\"cuda\"))\n";
    let train = "import torch\n\n\ndef train(net, device):\n    for x, y in loader:\n        loss = net(x.cuda(), y)\n        \
        loss.backward()\n        opt.step()\n";
    let headed = |files: &[(&str, &str)], options: &Options| {
        let ported = run(files, options);
        assert!(ported.certificate.idempotent);
        let words = ["PT_HPU_LAZY_MODE", "habana_frameworks"];
        ported.files.iter().map(|file| words.map(|word| file.text.contains(word))).collect::<Vec<_>>()
    };
    let both = [("main.py", main), ("train.py", train)];
    assert_eq!(headed(&both, &hpu()), [[true, false], [false, false]]);
    assert_eq!(headed(&[("train.py", train)], &hpu()), [[true, false]]);
    let old = Options { sdk: Some("1.17".to_owned()), ..hpu() };
    assert_eq!(headed(&both, &old), [[true; 2]; 2]);
    let lazy = Options { options: [("lazy".to_owned(), "on".to_owned())].into(), ..hpu() };
    assert_eq!(headed(&both, &lazy), [[true; 2]; 2]);
}

#[test]
fn one_line_end_of_the_other_kind() {
    let before = "x = x.cuda()\nwith torch.cuda.amp.autocast():\n    x = net(x)\ny = 1\r\n";
    let text = &run(&[("a.py", before)], &hpu()).files[0].text;
    assert_eq!(text.matches("\r\n").count(), 1, "{text:?}");
}
