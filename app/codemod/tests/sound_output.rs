//! What a port must never do to a program: change a value, write invalid Python, read a name without a value, lose a
//! comment, or leave code unreported.

use codemod::{Options, Ported, RecipeSet, Style, port};
use python::SourceFile;

fn run(target: &str, text: &str) -> Ported {
    let options = Options { target: target.to_owned(), style: Style::InPlace, ..Options::default() };
    let file = SourceFile { path: "a.py".to_owned(), text: text.to_owned() };
    port(&[file], RecipeSet::embedded(), &options)
}

/// Ports a file in place with LF and with CRLF, twice; the second time must change nothing.
#[track_caller]
fn check(target: &str, before: &str, after: &str) {
    for newline in ["\n", "\r\n"] {
        let ported = run(target, &before.replace('\n', newline));
        assert_eq!(ported.files[0].text, after.replace('\n', newline), "{:?}", ported.files[0].diagnostics);
        let c = &ported.certificate;
        assert!(c.parses && c.idempotent && c.untouched_bytes_equal, "{c:?}");
        assert_eq!(run(target, &ported.files[0].text).files[0].text, ported.files[0].text);
    }
}

/// A reported place, with some words of the message.
#[track_caller]
fn check_told(target: &str, text: &str, line: usize, words: &str) {
    let ported = run(target, text);
    let told = ported.files[0].diagnostics.iter().filter(|d| d.original.line == line);
    assert!(told.clone().any(|d| d.message.contains(words)), "{:?}", ported.files[0].diagnostics);
}

/// A change that is not made because of its result, and is reported.
#[track_caller]
fn check_refused(target: &str, text: &str, line: usize, words: &str) {
    assert_eq!(run(target, text).files[0].text, text);
    check_told(target, text, line, words);
}

#[test]
fn brackets_that_hold_lines_or_a_walrus_together_stay() {
    check("rdu", "mean = (total\n        / count).cuda()\n", "mean = (total\n        / count)\n");
    check(
        "rdu",
        "def f():\n\treturn (\n\t\ta.b()\n\t\t.c()\n\t).cuda()\n",
        "def f():\n\treturn (\n\t\ta.b()\n\t\t.c()\n\t)\n",
    );
    check("rdu", "last = (best := score()).cuda()\n", "last = (best := score())\n");
    check("rdu", "f((a, b).cuda(), c)\n", "f((a, b), c)\n");
    check("rdu", "f((i for i in r).cuda())\n", "f((i for i in r))\n");
    check("rdu", "y = (a + b).cuda() * 2\n", "y = (a + b) * 2\n");
    // Those of a call that is removed, too.
    let check_call = |before: &str, after: &str| {
        const HEAD: &str = "import poptorch\nimport torch\nfrom torch.nn import Linear\n\nmodel = Linear(1, 1)\n";
        check("ipu", &format!("{HEAD}{before}\nx = 1\n"), &format!("{HEAD}{after}\nx = 1\n"));
    };
    check_call("net = torch.compile(  # why\n    model)", "net = (  # why\n    model)");
    check_call("net = torch.compile(model,  # why\n    mode='x'\n).eval()", "net = (model  # why\n    ).eval()");
    check_call("net = torch.compile(model,  # why\n    mode='x')", "net = model  # why");
    check_call("f(torch.compile(  # why\n    model))", "f(  # why\n    model)");
    // On one line they have no meaning.
    check("rdu", "y = (a + b).cuda()\n", "y = a + b\n");
}

#[test]
fn arguments_get_names_behind_named_ones() {
    const HEAD: &str = "import torch\nfrom torch.cuda.amp import autocast\n";
    let check = |before: &str, after: &str| {
        check("hpu", &format!("{HEAD}{before}"), &format!("import torch\n{after}"));
    };
    check(
        "with autocast(on, **more):\n    pass\n",
        "with torch.autocast(device_type=\"hpu\", dtype=torch.bfloat16, enabled=on, **more):\n    pass\n",
    );
    check(
        "with autocast(  # half\n    on,\n    cache_enabled=False,\n):\n    pass\n",
        "with torch.autocast(device_type=\"hpu\", dtype=torch.bfloat16,  # half\n    enabled=on,\n    cache_enabled=False,\n):\n    pass\n",
    );
    check(
        "@autocast(on)\nasync def f():\n    pass\n",
        "@torch.autocast(device_type=\"hpu\", dtype=torch.bfloat16, enabled=on)\nasync def f():\n    pass\n",
    );
    check_refused("hpu", "import torch\nwith torch.cuda.amp.autocast(*args):\n    pass\n", 2, "Name them");
}

#[test]
fn comments_in_a_call_stay() {
    check(
        "hpu",
        "import torch\nnet = torch.nn.parallel.DistributedDataParallel(\n    net,\n    device_ids=[rank],\n    static_graph=True,  # same\n)\n",
        "import torch\nnet = torch.nn.parallel.DistributedDataParallel(\n    net,\n    static_graph=True,  # same\n)\n",
    );
    check(
        "hpu",
        "import torch\nnet = torch.nn.parallel.DistributedDataParallel(\n    net,  # all of it\n    device_ids=[rank],  # ours\n    static_graph=True,\n)\n",
        "import torch\nnet = torch.nn.parallel.DistributedDataParallel(\n    net,  # all of it\n    # ours\n    static_graph=True,\n)\n",
    );
    check(
        "hpu",
        "import torch\ntorch.backends.cudnn.benchmark = (\n    True  # see 12\n)\nx = 1\n",
        "import torch\n# see 12\nx = 1\n",
    );
}

#[test]
fn only_what_is_read_is_replaced() {
    check(
        "hpu",
        "class A:\n    def __init__(self, d):\n        self.is_cuda = d\n",
        "class A:\n    def __init__(self, d):\n        self.is_cuda = d\n",
    );
    check("hpu", "del x.is_cuda\nfor y.is_cuda in z:\n    pass\n", "del x.is_cuda\nfor y.is_cuda in z:\n    pass\n");
    check("hpu", "y = [*x.is_cuda, *z]\n", "y = [*(x.device.type == \"hpu\"), *z]\n");
    check("hpu", "ok = all(x.is_cuda for x in (y := z))\n", "ok = all((x.device.type == \"hpu\") for x in (y := z))\n");
}

#[test]
fn what_python_would_not_run_is_refused_at_its_place() {
    // The class of a step would be above the import of its base.
    let step = "from torch.utils.data import DataLoader\nloader = DataLoader(ds, batch_size=4)\nnet = f()\n\
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nfor x, y in loader:\n    optimizer.zero_grad()\n    \
        out = net(x)\n    loss = torch.nn.functional.mse_loss(out, y)\n    loss.backward()\n    optimizer.step()\n";
    let text = format!("import torch\n{step}print(out.mean())\n");
    let ported = run("ipu", &text);
    let told = &ported.files[0].diagnostics;
    assert!(told.iter().any(|d| d.message.contains("`out` would be undefined")), "{told:?}");
    assert!(ported.files[0].text.contains("loss.backward()"), "a step is ported as a whole or not at all");
}

#[test]
fn an_import_stands_above_what_uses_it() {
    check(
        "hpu",
        "try:\n    import wandb\nexcept ImportError:\n    wandb = None\n\nimport torch\nnet = torch.nn.Linear(1, 1).cuda()\n",
        "import os\nos.environ.setdefault(\"PT_HPU_LAZY_MODE\", \"0\")\ntry:\n    import wandb\nexcept ImportError:\n    wandb = None\n\nimport torch\nnet = torch.nn.Linear(1, 1).to(\"hpu\")\n",
    );
}

#[test]
fn blocks_that_become_empty_go_at_once() {
    let depth = 14;
    let nested: String = (1..=depth).map(|n| format!("{}if a:\n", " ".repeat(n))).collect();
    let text = format!("def f(y, a):\n{nested}{}y = y.cuda()\n return y\n", " ".repeat(depth + 1));
    check("rdu", &text, "def f(y, a):\n return y\n");
}

#[test]
fn of_two_blank_lines_that_meet_in_a_block_one_goes() {
    check(
        "rdu",
        "def f(x):\n    load()\n\n    x = x.cuda()\n    y = x.cuda()\n\n    return x\n",
        "def f(x):\n    load()\n\n    y = x\n\n    return x\n",
    );
    check(
        "rdu",
        "def f(x):\n    load()\n\n    x = x.cuda()\n\n    return x\n",
        "def f(x):\n    load()\n\n    return x\n",
    );
    // The program's own are kept, and so are those at the top of a file.
    check(
        "rdu",
        "def f(x):\n    load()\n\n\n    x = x.cuda()\n    return x\n",
        "def f(x):\n    load()\n\n\n    return x\n",
    );
    check("rdu", "x = load()\n\nx = x.cuda()\n\nuse(x)\n", "x = load()\n\n\nuse(x)\n");
}

#[test]
fn names_and_strings_in_any_spelling_are_found() {
    check("hpu", "x.to(u\"cuda\", r'cuda')\n", "x.to(\"hpu\", 'hpu')\n");
    check("hpu", "x.to(\"cu\" \"da\")\nx.to(\"\"\"cuda\"\"\")\n", "x.to(\"hpu\")\nx.to(\"hpu\")\n");
    check_told("ipu", "import torch\nok = (torch.cuda.\n      is_available())\n", 2, "NVIDIA");
    check_told("ipu", "from common import *\ntorch.cuda.set_device(0)\n", 2, "`torch.cuda.set_device`");
    // The condition that disables it is a name that does not mention CUDA.
    let head = "import torch\ncan = fast and torch.cuda.is_available()\n";
    check_told("ipu", &format!("{head}if can:\n    x = x.cuda()\n"), 4, "`can` is true only with an NVIDIA GPU");
    let lines = format!("{head}def f(x):\n    return x.cuda() if (can and\n  big) else x\n");
    check_told("ipu", &lines, 4, "`(can and big)` is true only");
    check_told("rdu", "backend = 'NCCL'\n", 1, "nccl");
    check_told("rdu", "backend = 'cpu:gloo,cuda:nccl'\n", 1, "nccl");
    check_told("ipu", "import tensorflow as tf\nwith tf.device('/gpu:0'):\n    pass\n", 2, "blocks that name a GPU");
    check_told("ipu", "import torch\nmatch x:\n    case torch.cuda.Stream():\n        pass\n", 3, "torch.cuda.Stream");
}

#[test]
fn a_branch_for_another_operating_system_is_not_reported() {
    let text = |system: &str| {
        format!(
            "import platform\nimport torch\n\n\
            if n > 0 and platform.system() == '{system}' and not torch.cuda.is_available():\n    n = 0\n"
        )
    };
    assert!(run("ipu", &text("Darwin")).files[0].diagnostics.is_empty());
    check_told("ipu", &text("Linux"), 4, "NVIDIA");
}

#[test]
fn many_lines_of_comments_stay() {
    let many = "    # a\n\n    #  b\n".repeat(40);
    let text = |call: &str| format!("def f():\n{many}    x = y{call}\n{many}{many}");
    check("rdu", &text(".cuda()"), &text(""));
    assert!(run("rdu", &text(".cuda()")).certificate.comments_kept);
}

#[test]
fn a_carriage_return_alone_ends_a_line_of_python() {
    let told = "this line ends in a bare carriage return";
    check_refused("rdu", "net = net.cuda()\r\r\nopt.step()  # a\r\r\n", 1, told);
    check_refused("rdu", "net = net.cuda()  # a\rb\n", 1, told);
    // In a string it is an ordinary character, and its bytes are kept.
    assert_eq!(run("rdu", "a = '''b\r\r\nc'''\nd = e.cuda()\n").files[0].text, "a = '''b\r\r\nc'''\nd = e\n");
    // With mixed line endings every line keeps its own.
    let tried = "import torch\n\ntry:\n    import fast\nexcept ImportError:\n    fast = None  # slow\n";
    let step = "net = torch.nn.Linear(3, 3)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor x, y in loader:\n    \
                loss = torch.nn.functional.mse_loss(net(x), y)\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n";
    let lines = format!("{tried}\n{step}").replace('\n', "\r\n");
    let text = run("ipu", &lines).files.remove(0).text;
    assert!(!text.replace("\r\n", "").contains(['\r', '\n']) && text != lines, "{text:?}");
    assert_eq!(run("rdu", "a = b.cuda()\r\nc = d.cuda()\n").files[0].text, "a = b\r\nc = d\n");
}

#[test]
fn indentation_begins_behind_a_form_feed() {
    check("rdu", "\u{c}a = b.cuda()\n\u{c}\nc = d.cuda()\u{c}\n", "\u{c}a = b\n\u{c}\nc = d\u{c}\n");
    check("rdu", "if a:\n    b()\n  \u{c}    c = d.cuda()\n", "if a:\n    b()\n  \u{c}    c = d\n");
}

#[test]
fn a_file_without_a_last_newline_gets_none() {
    for blank in ["\n", "\n\n"] {
        check("rdu", &format!("import torch\nx = 1{blank}torch.cuda.synchronize()"), "import torch\nx = 1");
    }
    let step = "import torch\nmodel=e()\nfor x in r:\n    loss=(model(x),)\n    loss.backward()\n    opt.step()";
    assert!(run("ipu", step).files[0].text.ends_with("\n    loss = loss.mean()"));
}

#[test]
fn a_program_that_asks_for_a_device_and_moves_nothing_is_not_moved_the_second_time() {
    let asks = |device: &str| {
        format!(
            "import torch\n\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nfor x in loader:\n    loss = model(x).loss\n    \
             if torch.{device}.is_available():\n        loss.backward()\n    optimizer.step()\n"
        )
    };
    check("xpu", &asks("cuda"), &asks("xpu"));
}

#[test]
fn a_program_that_only_empties_a_cache_names_no_device() {
    let step = |made: &str, moved: &str| {
        format!(
            "import torch\n\nmodel = torch.nn.Linear(2, 1)\n{made}optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nfor x in loader:\n    \
             {moved}loss = model(x).sum()\n    loss.backward()\n    optimizer.step()\n"
        )
    };
    let before = step("", "") + "    torch.cuda.empty_cache()\n";
    let after = step("model.to(\"xpu\")\n", "x = x.to(\"xpu\")\n    ") + "    torch.xpu.empty_cache()\n";
    check("xpu", &before, &after);
}

#[test]
fn a_model_that_follows_its_input_names_no_device() {
    let program = |moved: &str, model: &str| {
        format!(
            "import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        \
             return self.layer(x + torch.zeros(2, device=x.device)).to(x.device)\n\n\nnet = Net()\n{model}\
             optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nfor x in loader:\n    {moved}loss = net(x).sum()\n    \
             loss.backward()\n    optimizer.step()\n"
        )
    };
    check("xpu", &program("", ""), &program("x = x.to(\"xpu\")\n    ", "net.to(\"xpu\")\n"));
    // New lines end like most lines of the file.
    let mixed = run("xpu", &(program("", "").trim_end().to_owned() + "\r\n"));
    assert_eq!(mixed.files[0].text.matches('\r').count(), 1);
}

#[test]
fn what_is_no_tensor_is_not_moved() {
    let before = "import numpy as np\nimport torch\n\nmodel = make()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n\n\n\
                  def evaluate(batch: torch.Tensor, names: list, mask=None, scale=1.0):\n    return model(batch, names, mask, scale)\n\n\n\
                  for n in np.linspace(0, 1, 9):\n    loss = model(torch.ones(2), n)\n    loss.backward()\n    optimizer.step()\n";
    let ported = run("xpu", before);
    let text = &ported.files[0].text;
    assert!(text.contains("    batch = batch.to(\"xpu\")\n    return model(batch, names, mask, scale)\n"), "{text}");
    assert!(text.contains("np.linspace(0, 1, 9):\n    loss = model(torch.ones(2).to(\"xpu\"), n)\n"), "{text}");
    // Nothing calls the function, so its messages are combined into one.
    let told = |d: &codemod::Diagnostic| d.recipe == "engine#unused" && d.message.contains("line 9 (xpu#no-device)");
    assert!(
        ported.files[0].diagnostics.iter().any(told),
        "the list and the mask are told: {:?}",
        ported.files[0].diagnostics
    );
}

#[test]
fn a_coroutine_keeps_its_block() {
    let body = |head: &str| {
        format!(
            "import torch\n\nnet = torch.nn.Linear(2, 1).cuda()\n\n\n{head}def validate(net, batch):\n    net.eval()\n    return net(batch).item()\n"
        )
    };
    assert!(run("hpu", &body("")).files[0].text.contains("@torch.no_grad()\ndef validate"));
    assert!(run("hpu", &body("async ")).files[0].text.contains("    with torch.no_grad():\n        return net(batch)"));
}

#[test]
fn an_import_is_put_into_a_block_once() {
    let before = "import lightning as L\n\none = L.Trainer(gpus=2)\nother = L.Trainer()\n\n\ndef make():\n    return L.Trainer()\n";
    let text = &run("hpu", before).files[0].text;
    let line = "from lightning_habana.pytorch.accelerator import HPUAccelerator\n";
    let lines: Vec<&str> = text.split_inclusive('\n').filter(|l| l.trim_start() == line).collect();
    assert_eq!(lines, [line, &format!("    {line}")], "once a block, and no block reads another's: {text}");
    // Duplicates in the original program are kept.
    let own = "import torch\nimport torch\nnet = torch.nn.Linear(2, 1).cuda()\n";
    assert!(run("xpu", own).files[0].text.starts_with("import torch\nimport torch\n"));
}

/// For a program that names no device: a name that the port moves, and one that must not be moved.
#[track_caller]
fn check_moves(text: &str, moved: &str, kept: &str) {
    let ported = &run("xpu", text).files[0].text;
    assert!(ported.contains(&format!("{moved} = {moved}.to(\"xpu\")")), "{ported}");
    assert!(!ported.contains(&format!("{kept} = {kept}.to(")), "{ported}");
}

#[test]
fn what_is_no_tensor_stays() {
    let step = "loss = criterion(net(x), y)\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n";
    let head = "import torch\nfrom torch import nn\n";
    let made = "net = nn.Linear(4, 2)\ncriterion = nn.MSELoss()\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n";
    // A function of a package is not a model, whatever its modules are called.
    let split = "rows = read()\ntrain, rest = sklearn.model_selection.train_test_split(rows)\n";
    check_moves(
        &format!("import sklearn.model_selection\n{head}{made}{split}for x, y in data:\n    {step}"),
        "x",
        "rows",
    );
    // Something from a file of the project may be one.
    let own = format!("from . import zoo\n{head}{made}for x, y in data:\n    {step}").replace("net(x)", "zoo.model(x)");
    check_moves(&own, "x", "zoo");
    // Lists that are filled.
    let lists = "    states, targets = [], []\n    fill(states, targets)\n    x = torch.tensor(states)\n    y = torch.stack(targets)\n";
    check_moves(&format!("{head}{made}for turn in range(4):\n{lists}    {step}"), "x", "targets");
}

#[test]
fn an_import_that_has_to_stand_further_up_moves_there() {
    check(
        "hpu",
        "import numpy\nimport torch\nimport os\nnet = torch.nn.Linear(1, 1).cuda()\n",
        "import os\nimport numpy\nos.environ.setdefault(\"PT_HPU_LAZY_MODE\", \"0\")\nimport torch\nnet = torch.nn.Linear(1, 1).to(\"hpu\")\n",
    );
}

#[test]
fn a_choice_between_equal_values_is_none() {
    check(
        "hpu",
        "def f(x, two):\n    return x.to(\"cuda:1\" if two else \"cuda:0\"), \"cuda:0\" if ask() else \"cuda:1\"\n",
        "def f(x, two):\n    return x.to(\"hpu\"), \"hpu\" if ask() else \"hpu\"\n",
    );
}

#[test]
fn a_test_that_asks_and_does_nothing_goes() {
    check(
        "hpu",
        "import torch\n\n\ndef clean(cards):\n    if torch.cuda.is_available():\n        torch.cuda.empty_cache()\n    else:\n        pass\n    \
         if len(cards) > 0:\n        torch.cuda.set_device(cards[0])\n    return cards\n",
        "import torch\n\n\ndef clean(cards):\n    return cards\n",
    );
}

#[test]
fn functions_that_call_one_another_in_a_circle_end() {
    let text = "import torch.distributed as dist\n\n\nclass Group:\n    def join(self):\n        dist.init_process_group('gloo', rank=0)\n        \
                self.split()\n\n    def split(self):\n        self.join()\n";
    for target in ["hpu", "xpu", "ipu", "popdist", "rdu"] {
        run(target, text);
    }
    check_told("popdist", text, 6, "poprun connects the instances");
}
