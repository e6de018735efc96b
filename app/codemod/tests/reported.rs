//! Messages about unchanged places, and cases without message or change.

mod said;

use codemod::{Options, RecipeSet, Style, port};
use python::SourceFile;
use said::{STEP, check_said, ported};

fn check_silent(target: &str, text: &str) {
    assert_eq!(ported(target, &[("a.py", text)]).1, "", "{text}");
}

#[test]
fn what_cuda_alone_reaches_is_not_told() {
    for target in ["ipu", "rdu"] {
        check_silent(target, "import torch\n\nif torch.cuda.is_available():\n    move(net.cuda())\n");
        check_silent(
            target,
            "import torch\n\ncuda = True if torch.cuda.is_available() else False\nif cuda:\n    net.cuda()\n",
        );
        check_silent(
            target,
            "import torch\n\na.cuda = not a.off and torch.cuda.is_available()\nif a.cuda:\n    net.cuda()\n",
        );
        for test in ["device.type == 'cuda'", "'cuda' == str(device)", "'cuda' in name", "name.startswith('cuda')"] {
            let body = "    print(torch.cuda.get_device_name(0))\n    x = x.cuda()\n";
            check_silent(target, &format!("import torch\n\nif {test}:\n{body}"));
        }
        check_silent(target, "if x.is_cuda:\n    eye = eye.cuda()\n");
        check_silent(target, "import torch\n\nif torch.cuda.device_count() > 1:\n    torch.cuda.set_device(1)\n");
    }
    let first = "    if not torch.cuda.is_available() or not args.fast:\n        return";
    let width = format!("import torch\n\n\ndef width(net):\n{first} 0\n    return size(net.cuda())\n");
    let said = ported("ipu", &[("a.py", &width)]).1;
    assert!(!said.contains(".cuda()"), "{said}");
    let ends = format!("import torch\n\n\ndef main(net):\n{first}\n    net.cuda()\n");
    check_said("ipu", &ends, "7: `.cuda()` remains");
    check_said("ipu", "if args.cuda:\n    net.cuda()\n", "2: `.cuda()` remains");
    check_said(
        "ipu",
        "import torch\n\nif torch.cuda.is_available():\n    pass\nelse:\n    x.cuda()\n",
        "6: `.cuda()` remains",
    );
    check_said("ipu", "import torch\n\nif torch.cuda.is_available() or late:\n    x.cuda()\n", "4: `.cuda()` remains");
}

#[test]
fn a_question_that_ends_the_program_is_told() {
    for test in ["if device.type != 'cuda':", "if not device.type == 'cuda':", "if name == 'cuda':\n    go()\nelse:"] {
        check_said("ipu", &format!("{test}\n    raise SystemExit\n"), "this string names a CUDA device");
    }
    let asks = "finds no NVIDIA GPU on this target. Check";
    check_said("ipu", "import torch\n\nif not torch.cuda.is_available():\n    raise SystemExit\n", asks);
    check_said("ipu", "import torch\n\nhas = torch.cuda.is_available()\nif not has:\n    exit()\n", asks);
    check_said("ipu", "import torch\n\nif torch.cuda.is_available():\n    go()\nelse:\n    raise SystemExit\n", asks);
    check_said("rdu", "import torch\n\nassert torch.cuda.is_available()\n", asks);
    let chosen = "import torch\n\n\ndef choose(must):\n    if torch.cuda.is_available():\n        return 'gpu'\n";
    check_said(
        "ipu",
        &format!("{chosen}    if must:\n        raise RuntimeError('no GPU')\n    return 'host'\n"),
        asks,
    );
    check_silent("ipu", &format!("{chosen}    if must:\n        raise RuntimeError('no name')\n    return 'host'\n"));
}

#[test]
fn a_method_called_backward_is_not_always_a_backward_pass() {
    let layers =
        "import numpy as np\n\nfor x, y in batches:\n    loss.backward(net(x), y)\n    net.backward(loss.dinputs)\n";
    for target in ["ipu", "rdu"] {
        check_silent(target, layers);
    }
    let denoises = "    with torch.no_grad():\n        out = diffusion.backward(x, y)\n";
    let (after, said) = ported("ipu", &[("a.py", &format!("{STEP}{denoises}"))]);
    assert!(after[0].contains("ipu_training_step(") && said.is_empty(), "{said}{}", after[0]);
}

#[test]
fn a_unit_test_is_no_training_step() {
    let case = "import unittest\n\nimport torch\n\n\nclass Gradients(unittest.TestCase):\n    def test_sum(self):\n        \
                x = torch.ones(4, requires_grad=True)\n        x.sum().backward()\n";
    let function = "import torch\n\n\ndef test_sum(net):\n    net(torch.ones(4)).sum().backward()\n";
    for target in ["ipu", "rdu"] {
        check_silent(target, case);
        assert_eq!(ported(target, &[("tests/test_net.py", function)]).1, "");
        assert_ne!(ported(target, &[("net.py", function)]).1, "");
    }
    assert_eq!(ported("hpu", &[("a.py", case)]).0, [case]);
}

#[test]
fn a_layer_of_the_data_is_not_told() {
    let check = |program: &str, is_told: bool| {
        let text = format!("import tensorflow as tf\nfrom tensorflow.keras import layers\n\n{program}\n");
        assert_eq!(ported("ipu", &[("a.py", &text)]).1.contains("can't be compiled for the IPU"), is_told, "{text}");
    };
    check("turn = layers.RandomRotation(0.1)\ndata = data.map(lambda x, y: (turn(x, training=True), y))", false);
    let augment = "turn = tf.keras.Sequential([layers.RandomFlip(), layers.RandomRotation(0.1)])\n\n\n\
                   def augment(x, y):\n    return turn(x), y\n\n\ndata = data.map(augment)";
    check(augment, false);
    check("def augment(x):\n    return layers.RandomZoom(0.1)(x)\n\n\ndata = data.map(augment)", false);
    let words = "words = layers.TextVectorization()\nwords.adapt(text)\n";
    check(&format!("{words}data = data.map(lambda x, y: (words(x), y))"), false);
    for model in [
        "model = tf.keras.Sequential([layers.RandomRotation(0.1), layers.Dense(1)])\nmodel.fit(data)",
        "model = tf.keras.Sequential()\nmodel.add(layers.RandomWidth(0.1))",
        "x = layers.RandomZoom(0.1)(inputs)\nmodel = tf.keras.Model(inputs, layers.Dense(1)(x))",
    ] {
        check(&format!("data = data.map(scaled)\n{model}"), true);
    }
    check(&format!("data = data.map(scaled)\n{words}model = tf.keras.Sequential([words, layers.Dense(1)])"), true);
}

#[test]
fn what_does_nothing_without_cuda_is_no_warning() {
    for target in ["ipu", "rdu"] {
        check_silent(target, "import torch\n\ntorch.cuda.manual_seed(3)\nprint(torch.cuda.max_memory_allocated())\n");
    }
    check_said(
        "ipu",
        "import torch\n\ntorch.cuda.reset_peak_memory_stats()\n",
        "3: `torch.cuda.reset_peak_memory_stats` remains",
    );
}

#[test]
fn a_function_of_ones_own_called_cuda() {
    let text = "def cuda(tensor, uses):\n    return tensor\n\n\nx = cuda(x, False)\n";
    for target in ["hpu", "xpu", "ipu", "rdu"] {
        check_silent(target, text);
    }
}

#[test]
fn clipping_before_there_are_gradients() {
    let clip = "    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n";
    let early = STEP.replace("    loss.backward()\n", &format!("{clip}    loss.backward()\n"));
    for target in ["ipu", "popdist", "rdu"] {
        check_said(target, &early, "10: Not ported: gradients are clipped here before `backward()`");
    }
    let late = STEP.replace("    optimizer.step()\n", &format!("{clip}    optimizer.step()\n"));
    assert!(ported("ipu", &[("a.py", &late)]).0[0].contains("max_grad_norm=1.0"));
    // The branch with a scaler clips after its own backward pass.
    let (head, _) = STEP.split_once("    loss.backward()").expect("a backward pass");
    let scaled = "        scaler.scale(loss).backward()\n        scaler.unscale_(optimizer)\n";
    let both = format!(
        "{head}    if amp:\n{scaled}    {clip}        scaler.step(optimizer)\n        scaler.update()\n    else:\n        loss.backward()\n        optimizer.step()\n"
    );
    let both = both.replace("for x, y", "scaler = torch.cuda.amp.GradScaler()\nfor x, y");
    assert!(!ported("ipu", &[("a.py", &both)]).1.contains("before `backward()`"));
}

#[test]
fn a_part_of_a_compiled_model() {
    let program = format!("{STEP}images = model.decode(noise)\n");
    check_said("rdu", &program, "12: Not ported: `decode` runs part of the model");
    let own = "class Net(torch.nn.Module):\n    def paint(self, z):\n        return self.layer(z)\n\n\n";
    let program = STEP.replace("model = torch.nn.Linear(3, 3)\n", &format!("\n{own}model = Net()\n"));
    check_said("rdu", &format!("{program}images = model.paint(noise)\n"), "`paint` runs part of the model");
    assert!(ported("rdu", &[("a.py", &format!("{STEP}model.train(False)\n"))]).0[0].contains("rdu.update()"));
    let layers = own.replace("    def paint", "    def __init__(self):\n        super().__init__()\n        self.layer = torch.nn.Linear(3, 3)\n\n    def paint");
    let program = program.replace(own, &layers);
    for part in ["model.layer", "model.layer[0]", "model.layer.paint"] {
        check_said("rdu", &format!("{program}seen = {part}(noise)\n"), "runs part of the model on the host");
    }
    // While the model is built, and by methods that every module has.
    let built =
        "model.add_module('head', torch.nn.Linear(3, 3))\nmodel.layer(noise)\nmodel(noise)\nmodel.apply(init)\n";
    let other = "class Other:\n    def apply(self, call):\n        self.do(call)\n\n\n";
    let program = program.replace("optimizer =", &format!("{built}optimizer =")).replace(own, other)
        + "model.load_state_dict(best)\n";
    let (after, said) = ported("rdu", &[("a.py", &format!("{other}{program}"))]);
    assert!(after[0].contains("rdu.update()") && after[0].contains(built), "{said}{}", after[0]);
}

#[test]
fn a_demonstration_beside_the_program_needs_no_card() {
    let train = "import torch\nfrom net import Net\n\nnet = Net().cuda()\n";
    let net =
        "import torch\n\n\nclass Net(torch.nn.Module):\n    pass\n\n\nif __name__ == '__main__':\n    print(Net())\n";
    let (after, _) = ported("hpu", &[("train.py", train), ("net.py", net)]);
    assert!(after[0].contains("PT_HPU_LAZY_MODE"), "{}", after[0]);
    assert_eq!(after[1], net);
    // A program that leads to the one that moves the model is set up before torch is loaded.
    let start = "import torch\nimport train\n\nif __name__ == '__main__':\n    train.main()\n";
    let (after, _) = ported("hpu", &[("start.py", start), ("train.py", train), ("net.py", net)]);
    assert!(after[0].contains("PT_HPU_LAZY_MODE"), "{}", after[0]);
}

#[test]
fn batches_of_a_distributed_loader_are_shared_out() {
    let program = STEP.replace("for x, y in loader", "for x, y in torch.utils.data.DataLoader(events, batch_size=4)");
    let (after, said) = ported("popdist", &[("a.py", &program)]);
    assert!(after[0].contains("poptorch.DataLoader") && !said.contains("every instance reads all of these"), "{said}");
}

/// The messages about a file in a folder of several.
fn check_in_project(target: &str, files: &[(&str, &str)], words: &str, is_said: bool) {
    let (after, said) = ported(target, files);
    assert_eq!(said.contains(words), is_said, "{words}: {said}{}", after[0]);
}

#[test]
fn a_shape_that_depends_on_values_in_a_compiled_step() {
    let loss = |body: &str| {
        let own = format!("\n\ndef contrast(out, y):\n{body}\n\nmodel =");
        STEP.replace("\nmodel =", &own).replace("F.mse_loss(out, y)", "contrast(out, y)")
    };
    let words = "The shape of this result depends on values";
    for target in ["ipu", "popdist"] {
        for index in ["y == 1", "~near", "near", "near, 0", "near.bool()", "(y > 0) & near"] {
            let body = format!("    near = torch.eye(3, device=out.device) > 0\n    return out[{index}].mean()\n");
            check_said(target, &loss(&body), words);
        }
        check_said(target, &loss("    return out.masked_select(y > 0).mean()\n"), words);
        // An assignment target has the shape of the whole, and numbers select a fixed number of elements.
        let fixed = loss("    near = y > 0\n    out[near] = 0\n    return out[y.argmax(1)].mean()\n");
        check_in_project(target, &[("a.py", &fixed)], words, false);
    }
    // The mask comes from another file.
    let rows = "def near(out, y):\n    found = y > 0\n    return found, found.sum()\n";
    let text = loss("    found, count = near(out, y)\n    return out[found, :].sum() / count\n");
    let text = text.replace("import torch\n", "import torch\nfrom rows import near\n");
    check_in_project("ipu", &[("a.py", &text), ("rows.py", rows)], words, true);
    // The data's own code runs on the host.
    check_silent(
        "ipu",
        &STEP.replace("\nmodel =", "\nevents = events[events[:, 0] > 1]\nkinds = torch.unique(y)\nmodel ="),
    );
}

#[test]
fn a_tensor_of_the_host_in_a_forward_pass() {
    let net = |line: &str| {
        let class =
            format!("\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        {line}\n\n\nmodel = Net()\n");
        STEP.replace("\nmodel = torch.nn.Linear(3, 3)\n", &class)
    };
    for line in
        ["return x * torch.Tensor([2.0, 3.0])", "return x @ torch.eye(3)", "return x + torch.zeros(3, device=\"cpu\")"]
    {
        check_said("ipu", &net(line), ": Create tensors on the IPU");
    }
    let (after, _) = ported("ipu", &[("a.py", &net("return x + torch.zeros(3, device=self.device)"))]);
    assert!(after[0].contains("return x + torch.zeros(3)\n"), "{}", after[0]);
    for line in [
        "return x * torch.tensor([2.0, 3.0])",
        "return x @ torch.eye(3).float().to(x.device)",
        "return x + torch.zeros(3, device=x.device)",
        "near = torch.eye(3)\n        near = near.type_as(x)\n        return x @ near",
        "assert isinstance(x, torch.Tensor)",
    ] {
        check_silent("ipu", &net(line));
    }
}

#[test]
fn evaluation_over_all_samples_in_every_instance() {
    let head = "import torch\nfrom torch.utils.data import DataLoader\n\nloader = DataLoader(events, batch_size=4)\nheld = DataLoader(others, batch_size=4)\n";
    let tail =
        "with torch.no_grad():\n    for x, y in held:\n        hits += (model(x).argmax(1) == y).sum()\nprint(hits)\n";
    let (after, _) = ported("popdist", &[("a.py", &format!("{head}{STEP}{tail}"))]);
    let lines = |name: &str| after[0].lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
    assert!(lines("loader = poptorch").contains("auto_distributed_partitioning=True"), "{}", after[0]);
    assert!(lines("held = poptorch").contains("auto_distributed_partitioning=False"), "{}", after[0]);
}

#[test]
fn states_that_are_a_row_of_tensors() {
    let program = STEP
        .replace("    out = model(x)\n", "    state = keep(state)\n    out, state = model(x, state)\n")
        .replace("\nmodel =", "\n\ndef keep(state):\n    return [part.detach() for part in state]\n\n\nmodel =");
    check_said("rdu", &program, "Not ported: the model's arguments are not all positional tensors");
    let one = program.replace("[part.detach() for part in state]", "state.detach()");
    assert!(!ported("rdu", &[("a.py", &one)]).1.contains("not all positional tensors"));
    let none_yet = one.replace("\nmodel =", "\nstate = None\nmodel =");
    check_said("rdu", &none_yet, "Not ported: the model's arguments are not all positional tensors");
    // A list of that name elsewhere is a different value.
    let made = STEP
        .replace("    out =", "    x = torch.tensor([n for n in x])\n    if cuda:\n        x = x.cuda()\n    out =");
    assert!(ported("rdu", &[("a.py", &format!("x = [1, 2]\n{made}"))]).0[0].contains("rdu.forward(x)"));
    let listed = made.replace("x = x.cuda()", "x = [x.cuda()]");
    check_said("rdu", &listed, "Not ported: the model's arguments are not all positional tensors");
}

#[test]
fn a_choice_of_where_a_tensor_is() {
    let given = |input: &str| ported("rdu", &[("a.py", &STEP.replace("model(x)", &format!("model({input})")))]);
    for input in
        ["x.cuda() if args.cuda else x", "x if cpu else x.cuda(0)", "(x.cuda() if torch.cuda.is_available() else x)"]
    {
        let (after, said) = given(input);
        assert!(after[0].contains("rdu.forward("), "{said}{}", after[0]);
    }
    for input in ["x.cuda() if args.cuda else y", "x + noise if noisy else x", "x.half() if half else x"] {
        assert!(given(input).1.contains("not all positional tensors"), "{input}");
    }
}

#[test]
fn samples_that_are_made_once() {
    let whole = STEP.replace("for x, y in loader:", "x, y = torch.rand(8, 3), torch.rand(8, 3)\nfor t in range(9):");
    for (target, call) in
        [("rdu", "rdu.forward(x)"), ("ipu", "training_step(x, y)"), ("popdist", "training_step(x, y)")]
    {
        let (after, said) = ported(target, &[("a.py", &whole)]);
        assert!(after[0].contains(call), "{said}{}", after[0]);
    }
    let made = |loss: &str| ported("ipu", &[("a.py", &whole.replace("F.mse_loss(out, y)", loss))]);
    for loss in ["(out - y).pow(2).mean()", "F.mse_loss(out, target=y.view(8, 3))"] {
        assert!(made(loss).0[0].contains("training_step(x, y)"), "{loss}");
    }
    // A value without samples in its first dimension is not split: it is a buffer of the step.
    let weights = whole.replace("F.mse_loss(out, y)", "F.cross_entropy(out, y, w)");
    let (after, _) = ported("ipu", &[("a.py", &weights.replace("\nx, y", "\nw = torch.ones(3)\nx, y"))]);
    assert!(after[0].contains("training_step(x, y)") && after[0].contains("register_buffer(\"w\", w)"), "{}", after[0]);
    // Beside the samples a model may be given what the loss compares with its output, and on the RDU nothing else.
    let both = whole.replace("model(x)", "model(x, y)");
    check_said("rdu", &both, "Not ported: ");
    for both in [
        &both,
        &both.replace("x, y = torch.rand(8, 3), torch.rand(8, 3)", "x = torch.rand(8, 3)\ny = torch.rand(8, 3)"),
    ] {
        assert!(ported("ipu", &[("a.py", both)]).0[0].contains("training_step(x, y)"));
    }
}

#[test]
fn an_optimizer_for_each_epoch() {
    let (head, turns) = STEP.split_once("optimizer = ").expect("an optimizer");
    let indented = format!("optimizer = {turns}").lines().map(|line| format!("    {line}\n")).collect::<String>();
    let program = format!("{head}\n\ndef train(epoch):\n{indented}\n\n");
    check_said(
        "rdu",
        &format!("{program}for epoch in range(3):\n    train(epoch)\n"),
        "Not ported: the optimizer is created in a loop",
    );
    assert!(!ported("rdu", &[("a.py", &format!("{program}train(0)\n"))]).1.contains("created in a loop"));
}

#[test]
fn a_solver_that_asks_for_values() {
    let net = "from torchdiffeq import odeint_adjoint as odeint\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return odeint(self.field, x, self.times)\n\n\nmodel = Net()\n";
    let program = STEP.replace("\nmodel = torch.nn.Linear(3, 3)\n", &format!("\n{net}"));
    for target in ["ipu", "popdist", "rdu"] {
        check_said(target, &program, "a fixed number of steps");
    }
    check_said("hpu", &program, "uses float64 for times and step sizes");
    check_silent("hpu", &program.replace("self.times)", "self.times, method='rk4')"));
}

#[test]
fn a_spectrum_in_a_step_and_one_in_a_data_set() {
    let sound = "import torch\n\n\ndef mel(sound):\n    return torch.stft(sound, 512, return_complex=True).abs()\n\n\nclass Sounds(torch.utils.data.Dataset):\n    def __getitem__(self, n):\n        return mel(self.sounds[n])\n";
    let train = STEP.replace("import torch\n", "import torch\nfrom sound import mel, Sounds\n");
    let words = "no complex numbers";
    let spectral = train.replace("F.mse_loss(out, y)", "F.mse_loss(mel(out), y)");
    check_in_project("hpu", &[("train.py", &spectral), ("sound.py", sound)], words, true);
    check_in_project("hpu", &[("train.py", &train), ("sound.py", sound)], words, false);
}

#[test]
fn tensorflow_beside_pytorch_stays_installed() {
    // Gaudi's current software has no TensorFlow.
    for (target, brings_its_own) in [("hpu", false), ("ipu", true)] {
        let wanted = |train: &str| {
            let files = [("train.py", train), ("requirements.txt", "torch\ntensorflow==2.8\n")];
            ported(target, &files).0[1].contains("# tensorflow")
        };
        assert!(!wanted(&format!("import tensorflow as tf\n{STEP}tf.summary.scalar('loss', loss)\n")));
        let keras =
            "import tensorflow as tf\n\nmodel = tf.keras.Sequential([])\nmodel.compile('sgd')\nmodel.fit(x, y)\n";
        assert_eq!(wanted(keras), brings_its_own);
    }
}

#[test]
fn a_sampler_is_no_schedule() {
    let sampling = "class Noise:\n    def step(self, out, x):\n        return x - out\n\n\nnoise_scheduler = Noise()\n";
    let program = format!("{sampling}{STEP}x = noise_scheduler.step(model(x), x)\n");
    assert!(!ported("ipu", &[("a.py", &program)]).0[0].contains("setOptimizer"));
    let scheduled =
        format!("{STEP}    scheduler.step()\n").replace("for x, y", "scheduler = StepLR(optimizer)\nfor x, y");
    assert!(ported("ipu", &[("a.py", &scheduled)]).0[0].contains("setOptimizer"));
}

#[test]
fn branches_that_become_equal_are_one() {
    let (head, turns) = STEP.split_once("    optimizer.zero_grad()\n").expect("a step");
    let plain = turns.replace("    ", "        ").replace("\n        optimizer.zero_grad()", "");
    let scaled = "        scaler.scale(loss).backward()\n        scaler.step(optimizer)\n        scaler.update()\n";
    let head = head.replace("for x, y", "if amp:\n    scaler = torch.cuda.amp.GradScaler()\nfor x, y");
    let program = format!("{head}    optimizer.zero_grad()\n    if amp:\n{scaled}    else:\n{plain}");
    let (after, _) = ported("hpu", &[("a.py", &program)]);
    assert!(!after[0].contains("if amp:") && after[0].contains("\n    loss.backward()\n"), "{}", after[0]);
    // Branches of the program itself are kept, and so is a test with an effect.
    let own = "if late:\n    wait()\nelse:\n    wait()\n";
    assert!(ported("hpu", &[("a.py", &format!("{STEP}{own}"))]).0[0].contains(own));
    let asks = program.replace("    if amp:\n        scaler.sc", "    if amp():\n        scaler.sc");
    assert!(ported("hpu", &[("a.py", &asks)]).0[0].contains("if amp():"));
}

#[test]
fn a_test_that_has_asked_already() {
    let head = "import torch\n\nargs.cuda = not args.cpu and torch.cuda.is_available()\n";
    let (after, _) =
        ported("hpu", &[("a.py", &format!("{head}if args.cuda:\n    torch.cuda.manual_seed(1)\n    net.cuda()\n"))]);
    assert!(after[0].contains("if args.cuda:\n    torch.hpu.manual_seed(1)\n"), "{}", after[0]);
}

#[test]
fn a_backend_that_the_port_has_written() {
    let start =
        "import torch\n\ntorch.distributed.init_process_group(backend=settings.dist_backend, init_method='env://')\n";
    let words = "rejects nccl: set hccl there";
    let files = |settings: &'static str| [("start.py", start), ("settings.py", settings)];
    check_in_project("hpu", &files("settings = Settings(dist_backend='nccl')\n"), words, false);
    check_in_project("hpu", &files("parser.add_argument('--dist-backend', '-b', default='nccl')\n"), words, false);
    check_in_project("hpu", &files("if settings.kind == 'nccl':\n    other = 'nccl'\n"), words, true);
}

#[test]
fn software_of_another_accelerator_is_named_however_it_is_imported() {
    let said = |imports: &str| ported("xpu", &[("a.py", &format!("{imports}\nimport torch\n\nnet.cuda()\n"))]).1;
    for imports in [
        "import habana_frameworks.torch.core as htcore",
        "import os, habana_frameworks.torch.core",
        "from habana_frameworks.torch import core",
        "from habana_frameworks.torch.core import *",
    ] {
        assert!(said(imports).contains("1: `habana_frameworks` belongs to another accelerator (HPU)"), "{imports}");
    }
    // Two targets have it; it is reported under the name of the one that the other extends.
    assert!(said("import poptorch as pt").contains("`poptorch` belongs to another accelerator (IPU)"));
    for imports in [
        "from . import habana_frameworks",
        "from .poptorch import net",
        "try:\n    import poptorch\nexcept ImportError:\n    poptorch = None",
    ] {
        assert_eq!(said(imports), "", "{imports}");
    }
}

#[test]
fn gloo_where_another_file_wraps_the_model() {
    let group = "import torch.distributed as dist\n\n\ndef start():\n    dist.init_process_group(\"gloo\")\n";
    let train = "import torch\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n\nnet = DDP(torch.nn.Linear(2, 1).cuda())\n";
    for (target, backend) in [("hpu", "hccl"), ("xpu", "xccl")] {
        let (after, _) = ported(target, &[("group.py", group), ("train.py", train)]);
        assert!(after[0].contains(&format!("init_process_group(\"{backend}\")")), "{}", after[0]);
        let (alone, _) = ported(target, &[("group.py", group)]);
        assert!(alone[0].contains("init_process_group(\"gloo\")"), "between CPUs it serves: {}", alone[0]);
    }
}

#[test]
fn a_project_imports_what_it_imports_a_name_of() {
    let loader = "from torch_geometric.loader import DataLoader\nfrom torch_geometric.nn import GCNConv\n\nloader = DataLoader(graphs)\n";
    let (_, said) = ported("rdu", &[("a.py", loader)]);
    assert_eq!(said.matches("Graphs differ").count(), 1, "at the loader, not at the import as well: {said}");
    let alone = "from torch_geometric.nn import GCNConv\n\nnet = GCNConv(2, 2)\n";
    assert_eq!(ported("rdu", &[("a.py", alone)]).1.matches("Graphs differ").count(), 1);
}

#[test]
fn tensors_that_are_updated_by_hand() {
    let program = |update: &str| {
        format!(
            "import torch\n\nw = torch.randn(3, 3)\nall = {{}}\nall['w'] = torch.ones(3)\nfor x in batches:\n    {update}\n"
        )
    };
    for target in ["hpu", "xpu", "ipu", "popdist", "rdu"] {
        for update in ["w -= 0.1 * slope(w, x)", "all['w'] -= rate * x"] {
            check_said(target, &program(update), "7: Nothing is ported: tensors are updated by hand");
        }
        // A count, a shift, a value from the iteration itself, and a function without a loop.
        for other in
            ["count -= 2 * x", "w -= 1", "w[0] -= x / 2", "w -= x", "x = torch.ones(3); x -= w * 2", "w += x * 2"]
        {
            check_silent(target, &program(other));
        }
        check_silent(target, "import torch\n\nw = torch.ones(3)\n\n\ndef shift(x):\n    return w - 2 * x\n");
    }
    let trained = STEP.replace(
        "    optimizer.step()\n",
        "    with torch.no_grad():\n        model.weight -= 0.1 * model.weight.grad\n",
    );
    assert!(!ported("hpu", &[("a.py", &trained)]).1.contains("by hand here"));
    let on_the_card = program("w -= 0.1 * x").replace("3, 3)", "3, 3).cuda()");
    assert!(!ported("hpu", &[("a.py", &on_the_card)]).1.contains("by hand here"));
}

/// A wrapper of the model is removed in the program, and code that accesses its inside may be in another file.
#[test]
fn the_wrapped_model_in_another_file() {
    let train = format!(
        "from torch.nn.parallel import DistributedDataParallel as DDP\nfrom saves import save\n{}",
        STEP.replace("optimizer =", "model = DDP(model)\noptimizer =")
    ) + "save(model)\n";
    let saves = "import torch\n\n\ndef save(model):\n    torch.save(model.module.state_dict(), \"m.pt\")\n";
    let (after, said) = ported("popdist", &[("train.py", &train), ("saves.py", saves)]);
    assert!(
        after[0].contains("training_step(") && !after[0].contains("DDP(") && after[1].contains("(model.state_dict()"),
        "{said}{after:?}"
    );
    // Nothing was ported, so the wrapper still exists.
    let refused = train.replace("loss.backward()", "loss.backward(create_graph=True)");
    let after = ported("popdist", &[("train.py", &refused), ("saves.py", saves)]).0;
    assert!(after[1].contains("model.module.state_dict()"), "{after:?}");
}

/// A scaler that other code reads is disabled and kept, which is reported at its place.
#[test]
fn a_scaler_that_stays_switched_off_is_told() {
    let text = "import torch\nfrom torch.utils.data import DataLoader\n\nnet = torch.nn.Linear(4, 2)\n\
        opt = torch.optim.SGD(net.parameters(), lr=0.1)\nloader = DataLoader(data, batch_size=8)\n\
        scaler = torch.cuda.amp.GradScaler()\nfor x, y in loader:\n    opt.zero_grad()\n    \
        with torch.cuda.amp.autocast():\n        loss = torch.nn.functional.cross_entropy(net(x), y)\n    \
        scaler.scale(loss).backward()\n    scaler.step(opt)\n    scaler.update()\n\
        torch.save({\"scaler\": scaler.state_dict()}, \"a.pt\")\n";
    for target in ["hpu", "ipu", "popdist"] {
        check_said(target, text, "7: Other code uses this scaler, so it stays, disabled");
        let alone = text.replace("torch.save({\"scaler\": scaler.state_dict()}, \"a.pt\")\n", "");
        let said = ported(target, &[("a.py", &alone)]).1;
        assert!(!said.contains("scaler"), "{target}: {said}");
    }
}

#[test]
fn a_device_of_a_configuration_is_told_unless_the_port_has_changed_it_there() {
    let elsewhere = "The device name comes from a configuration";
    for target in ["hpu", "xpu"] {
        let reads = "net.to(torch.device(options[\"device\"]))\n";
        check_said(target, &format!("import torch\n\noptions = load()\n{reads}"), elsewhere);
        let here = "options = {\"device\": \"cuda\"}\n";
        check_silent(target, &format!("import torch\n\n{here}{reads}"));
        let default = "parser.add_argument(\"--device\", default=\"cuda\")\noptions = vars(parser.parse_args())\n";
        check_silent(
            target,
            &format!("import argparse\n\nimport torch\n\nparser = argparse.ArgumentParser()\n{default}{reads}"),
        );
    }
}

#[test]
fn files_that_a_data_set_opens_are_no_reader_of_its_own() {
    let reads = "h5py.File(\"events.h5\")[\"x\"]";
    check_said(
        "popdist",
        &format!("import h5py\nimport torch\n\nx = torch.tensor({reads})\n"),
        "Each instance reads its data on its own",
    );
    check_silent(
        "popdist",
        &format!(
            "import h5py\nimport torch\nfrom torch.utils.data import Dataset\n\n\nclass Events(Dataset):\n    \
             def __getitem__(self, i):\n        return torch.tensor({reads}[i])\n"
        ),
    );
}

#[test]
fn the_cpu_beside_a_test_for_cuda_is_no_device_to_replace() {
    let text = "import torch\n\nif torch.cuda.is_available():\n    device = torch.device(\"cuda\")\nelse:\n    \
        device = torch.device(\"cpu\")\nnet = torch.nn.Linear(2, 2).to(device)\nnet(x.to(device)).sum().backward()\n";
    for target in ["hpu", "xpu"] {
        let files = [SourceFile { path: "a.py".to_owned(), text: text.to_owned() }];
        let options = Options { target: target.to_owned(), style: Style::InPlace, ..Options::default() };
        let ported = port(&files, &RecipeSet::embedded(), &options);
        let offered = ported.files[0].diagnostics.iter().any(|d| d.recipe.ends_with("#cpu-device"));
        assert!(!offered, "{:#?}", ported.files[0].diagnostics);
    }
}

#[test]
fn a_program_without_a_device_beside_one_that_names_one() {
    let step = "net = torch.nn.Linear(2, 1)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\nfor x in loader:\n    \
        net(x).sum().backward()\n    optimizer.step()\n";
    let host = format!("import torch\n\n{step}");
    let moved = "import torch\n\nnet = torch.nn.Linear(2, 1).cuda()\nnet(torch.ones(2).cuda()).sum().backward()\n";
    for target in ["hpu", "xpu"] {
        let said = ported(target, &[("poisson/main.py", &host), ("burgers/main.py", moved)]).1;
        assert_eq!(said.matches("6: The program names no device").count(), 1, "{said}");
        check_in_project(
            target,
            &[("a.py", moved), ("b.py", "device = torch.device('cuda')\n")],
            "names no device",
            false,
        );
    }
}

#[test]
fn the_number_of_a_card_that_chooses_none_is_told_once() {
    let said = ported(
        "hpu",
        &[
            ("a.py", "import torch\n\ntorch.cuda.set_device(opts.gpu)\nnet.cuda(opts.gpu)\n"),
            ("b.py", "import torch\n\nx = x.to('cuda:{}'.format(opts.gpu))\n"),
        ],
    )
    .1;
    assert_eq!(said.matches("The number no longer chooses a card").count(), 1, "{said}");
    check_silent("hpu", "import torch\nimport torch.distributed as dist\n\ntorch.cuda.set_device(rank)\n");
    check_silent("hpu", "import torch\n\ntorch.cuda.set_device(0)\nx = x.cuda(non_blocking=True)\n");
}

#[test]
fn a_data_generator_with_a_configuration_is_no_program_for_the_card() {
    let files = [
        (
            "generate.py",
            "import hydra\nimport numpy\n\n\n@hydra.main()\ndef main(cfg):\n    numpy.save(cfg.to, cfg.data)\n",
        ),
        (
            "train.py",
            "import torch\n\nnet = torch.nn.Linear(2, 1).cuda()\nnet(torch.ones(2).cuda()).sum().backward()\n",
        ),
    ];
    assert_eq!(ported("hpu", &files).0[0], files[0].1);
}

#[test]
fn a_configuration_for_lightning_cli_needs_more_than_an_accelerator() {
    let cli = "from lightning.pytorch.cli import LightningCLI\n\nLightningCLI(Net)\n";
    check_said("hpu", cli, "strategy=lightning_habana.HPUDDPStrategy for a LightningCLI");
    check_said("xpu", cli, "`class_path: xpu_lightning.XPUAccelerator` as `accelerator`");
}

#[test]
fn apex_is_told_once() {
    let uses = "from apex import amp\n\nnet, opt = amp.initialize(net, opt)\nwith amp.scale_loss(loss, opt) as scaled:\n    \
        scaled.backward()\n";
    for target in ["hpu", "xpu"] {
        let said = ported(target, &[("a.py", uses), ("b.py", uses)]).1;
        assert_eq!(said.matches("Replace Apex").count(), 1, "{said}");
    }
}

#[test]
fn float64_that_stays_on_the_host_is_not_told() {
    let table = |end: &str| {
        format!(
            "import torch\n\n\ndef betas(n):\n    b = torch.linspace(0, 1, n, dtype=torch.float64)\n    return {end}\n"
        )
    };
    check_silent("hpu", &table("b.numpy()"));
    check_silent("hpu", &table("b.to(torch.float32)"));
    check_said("hpu", &table("b"), "5: Check the data types");
    check_said("hpu", &table("b.to(torch.float32)").replace("n, ", "n, device='cuda', "), "5: Check the data types");
    let step = "for x in loader:\n    loss = net(x.to(torch.float32)).to(torch.float64).sum()\n    loss.backward()\n    \
        optimizer.step()\n";
    check_said("hpu", &format!("import torch\n\n{step}"), "4: Check the data types");
}

#[test]
fn a_refused_step_stays_whole_beside_a_ported_one() {
    let step = |before: &str, optimizer: &str| {
        format!(
            "import torch\n\nnet = torch.nn.Linear(4, 2)\nloss_fn = torch.nn.MSELoss()\n\
             opt = torch.optim.{optimizer}(net.parameters(), lr=1e-3)\n\
             loader = torch.utils.data.DataLoader(data, batch_size=4)\nfor x, y in loader:\n    out = net(x)\n{before}    \
             loss = loss_fn(out, y)\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n\
             torch.save(net.state_dict(), \"net.pt\")\n"
        )
    };
    let (good, bad) = (step("", "Adam"), step("    while out.sum() > 0:\n        out = out - 1\n", "AdamW"));
    for target in ["ipu", "popdist"] {
        let (after, said) = ported(target, &[("good.py", &good), ("bad.py", &bad)]);
        assert!(after[0].contains("poptorch.optim.Adam("), "{}", after[0]);
        assert!(after[1].contains("torch.optim.AdamW(net.parameters(), lr=1e-3)\nloader = torch.utils.data.DataLoader(data, batch_size=4)\n"), "{}", after[1]);
        assert!(!after[1].contains("poptorch"), "{}", after[1]);
        assert!(said.contains("Not ported"), "{target}: {said}");
    }
}

#[test]
fn a_module_of_the_models_own_is_no_wrapper() {
    let text = "import poptorch\nimport torch\n\n\nclass Skip(torch.nn.Module):\n    def __init__(self, module):\n        \
                super().__init__()\n        self.module = module\n\n    def forward(self, x):\n        return x + self.module(x)\n";
    let text =
        format!("{text}\n\nnet = Skip(torch.nn.Linear(2, 2))\ntorch.save(net.module.state_dict(), \"net.pt\")\n");
    assert_eq!(ported("ipu", &[("a.py", &text)]).0, [text]);
}

#[test]
fn clipping_of_what_a_function_returns() {
    let clip = "    clip_all(weights(model), 1.0)\n    optimizer.step()\n";
    let text = STEP
        .replace("    optimizer.step()\n", clip)
        .replace("import torch\n", "import torch\nfrom own import clip_all, weights\n");
    for target in ["ipu", "popdist"] {
        check_said(target, &text, "12: Not ported: this reads a gradient");
    }
}

#[test]
fn a_loop_that_one_instance_ends() {
    let ends = |test: &str| {
        let end = format!("    optimizer.step()\n    steps += 1\n    seen += len(x)\n    if {test}:\n        break\n");
        STEP.replace("    optimizer.step()\n", &end).replace("for x", "steps = seen = 0\nfor x")
    };
    let words = "A training loss is that of the instance's own samples";
    let check = |test: &str, is_said: bool| check_in_project("popdist", &[("a.py", &ends(test))], words, is_said);
    check("loss < 0.1", true);
    check("steps > args.steps", false);
    check("seen > 1000 and steps > 1", false);
}

#[test]
fn files_and_order_in_a_module_of_the_program() {
    let data = "import pickle\n\nimport numpy as np\n\n\ndef lines(path):\n    words = open(path).readlines()\n    \
                np.random.shuffle(words)\n    with open(\"words.pickle\", \"wb\") as file:\n        \
                pickle.dump(words, file)\n    return words\n";
    let main = STEP.replace("model = ", "from data import lines\n\nloader = batches(lines(\"words.txt\"))\nmodel = ");
    let files = [("a.py", main.as_str()), ("data.py", data)];
    check_in_project("popdist", &files, "8: Every instance draws an order of its own here", true);
    check_in_project("popdist", &files, "9: Every instance writes or removes this file", true);
    let seeded = main.replace("loader =", "torch.manual_seed(1)\nnp.random.seed(1)\nloader =");
    check_in_project("popdist", &[("a.py", &seeded), ("data.py", data)], "an order of its own", false);
}

#[test]
fn another_thing_of_the_same_name_is_not_told() {
    let text = "import torch\n\ntry:\n    from torch.cuda.amp import autocast\nexcept ImportError:\n    autocast = None\n\n\n\
        with torch.autocast('cpu'):\n    pass\n";
    for target in ["hpu", "xpu", "ipu"] {
        check_silent(target, text);
    }
}

#[test]
fn modes_of_a_library_are_not_those_of_a_program() {
    let library = "import torch\n\n\nclass Module(torch.nn.Module):\n    def place(self, d):\n        if d == 'cpu':\n            \
                   self.cpu()\n        elif d == 'gpu':\n            self.cuda()\n        else:\n            raise ValueError\n";
    let program = "import torch\nfrom library import Module\n\nnet = Module().cuda()\n\
                   opt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor x, y in loader:\n    opt.zero_grad()\n    \
                   loss = (net(x.cuda()) - y.cuda()).pow(2).mean()\n    loss.backward()\n    opt.step()\n";
    let file = |path: &str, text: &str| SourceFile { path: path.to_owned(), text: text.to_owned() };
    let files = [file("library.py", library), file("train.py", program)];
    let options = Options { target: "hpu".to_owned(), ..Options::default() };
    let ported = port(&files, &RecipeSet::embedded(), &options);
    assert_eq!(ported.style, Style::InPlace);
    assert!(ported.files[1].text.contains("Module().to(\"hpu\")"), "{}", ported.files[1].text);
    assert!(ported.files[0].text.contains("self.to('hpu')"), "{}", ported.files[0].text);
}

#[test]
fn what_a_program_has_for_the_target_is_no_residue() {
    let chain = "import torch\n\nif torch.xpu.is_available():\n    x = x.to('xpu')\nelif torch.cuda.is_available():\n    x = x.cuda()\n";
    let siblings =
        "import torch\n\nif torch.cuda.is_available():\n    x.cuda()\nif torch.xpu.is_available():\n    x.to('xpu')\n";
    let choice = "import torch\n\nname = 'xpu' if ready else 'cuda'\n";
    let list = "import torch\n\nfast = x.device.type in ('cuda', 'xpu') and get_backend() in ['nccl', 'xccl']\n";
    for text in [chain, siblings, choice, list] {
        let (after, said) = ported("xpu", &[("a.py", text)]);
        assert_eq!((after[0].as_str(), said.as_str()), (text, ""));
    }
    let (after, _) =
        ported("xpu", &[("a.py", "import torch\n\nif ready:\n    x.cuda()\nelif args.use_hpu:\n    x.to('hpu')\n")]);
    assert!(after[0].contains("x.to('xpu')") || after[0].contains("x.to(\"xpu\")"), "{}", after[0]);
}

#[test]
fn a_test_for_cuda_stays_with_code_that_needs_cuda_alone() {
    let asks = "    return torch.cuda.get_device_properties(0).major\n";
    let text = format!("import torch\n\ndef level():\n    if torch.cuda.is_available():\n    {asks}    return 0\n");
    assert!(ported("hpu", &[("a.py", &text)]).0[0].contains("if torch.cuda.is_available():"));
    let moved = text.replace("        return", "        net.to(device)\n        return");
    assert!(ported("hpu", &[("a.py", &moved)]).0[0].contains("torch.hpu.is_available()"));
}

#[test]
fn methods_of_objects_that_a_step_has() {
    let library = "import torch\n\nclass Fourier:\n    def inverse(self, x):\n        return torch.istft(x, 8)\n";
    let train = STEP.replace("import torch\n", "import torch\nfrom b import Fourier\n\nfourier = Fourier()\n");
    let step = train.replace("F.mse_loss(out, y)", "F.mse_loss(self.fourier.inverse(out), y)");
    check_in_project("hpu", &[("a.py", &step), ("b.py", library)], "Gaudi has no complex numbers", true);
    check_in_project("hpu", &[("a.py", &train), ("b.py", library)], "Gaudi has no complex numbers", false);
}

#[test]
fn compiled_cuda_code_that_is_imported_by_its_name() {
    for import in ["import fused_attn_cuda", "import importlib\n\nops = importlib.import_module(\"fused_attn_cuda\")"] {
        for target in ["hpu", "xpu", "ipu", "rdu"] {
            check_said(target, &format!("{import}\n"), "`fused_attn_cuda` is compiled CUDA code");
        }
    }
    check_silent("hpu", "try:\n    import fused_attn_cuda\nexcept ImportError:\n    fused_attn_cuda = None\n");
}

#[test]
fn validation_that_is_only_called_without_gradients() {
    let validate = "def validate(net, data):\n    net.eval()\n    for x in data:\n        show(net(x))\n";
    let text = |call: &str| format!("import torch\n\nnet = torch.nn.Linear(2, 2)\n{validate}\n{call}");
    let after = |call: &str| ported("hpu", &[("a.py", &text(call))]).0.remove(0);
    assert!(!after("with torch.no_grad():\n    validate(net, data)\n").contains("@torch.no_grad()"));
    assert!(after("validate(net, data)\n").contains("@torch.no_grad()"));
}

#[test]
fn a_type_chosen_by_a_test_for_cuda() {
    let text = "import torch\n\nTensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.Tensor\n\n\n\
        def batch(data):\n    return data.type(Tensor)\n";
    for target in ["hpu", "xpu"] {
        check_said(target, text, "3: `torch.cuda.FloatTensor` and similar types");
    }
}

#[test]
fn a_choice_of_a_device_as_a_default() {
    let text =
        "import torch\n\nadd('--device', default=torch.device('cuda' if torch.cuda.is_available() else 'cpu'))\n";
    check_in_project("rdu", &[("a.py", text), ("train.py", STEP)], "Check the code that depends on it", false);
}

#[test]
fn an_import_with_a_fallback_is_optional() {
    let text = |otherwise: &str| {
        format!("import torch\n\ntry:\n    from xformers import ops\nexcept ImportError:\n    {otherwise}\n")
    };
    for target in ["hpu", "xpu"] {
        for otherwise in ["from own import ops", "ops = None"] {
            check_in_project(target, &[("a.py", &text(otherwise))], "CUDA kernels do not run", false);
        }
        check_said(target, &text("pass"), "CUDA kernels do not run");
    }
}

#[test]
fn a_block_that_names_a_device_of_tensorflow() {
    let text = |device: &str| format!("import tensorflow as tf\n\nwith tf.device('{device}'):\n    run()\n");
    check_said("ipu", &text("/gpu:0"), "blocks that name a GPU");
    check_in_project("ipu", &[("a.py", &text("/CPU:0"))], "blocks that name a GPU", false);
    let (_, said) = ported("rdu", &[("a.py", &text("/gpu:0"))]);
    assert!(said.contains("TensorFlow") && said.lines().count() == 1, "{said}");
}

#[test]
fn names_of_communication_backends() {
    check_silent("ipu", "if backend == 'nccl':\n    wait()\n");
    check_said("ipu", "backend = 'nccl'\n", "1: `nccl` is NVIDIA's");
    let option = "parser.add_argument('--backend', default='hccl')\n";
    check_said("xpu", option, "1: `hccl` is the communication backend of Gaudi");
    check_silent("xpu", "backend = 'hccl' if use_hpu else 'gloo'\n");
}

#[test]
fn a_trainer_without_a_device_on_intel() {
    let text = "import lightning as L\n\ntrainer = L.Trainer(max_epochs=3)\n";
    check_said("xpu", text, "`strategy=SingleXPUStrategy()` for one device");
    let own = text.replace("as L\n", "as L\nimport lightning_xpu\n");
    check_in_project("xpu", &[("a.py", &own)], "SingleXPUStrategy", false);
    let foreign = "`lightning_xpu` belongs to another accelerator";
    check_said("hpu", &own, foreign);
    check_in_project("hpu", &[("src/lightning_xpu/fabric.py", "import lightning_xpu\n")], foreign, false);
}

#[test]
fn what_is_reported_once_is_reported_in_the_program_that_trains() {
    let import = "import deepxde as dde\n";
    let (_, said) = ported("xpu", &[("a.py", import), ("train.py", &format!("\n{import}{STEP}"))]);
    assert_eq!(said.matches("`deepxde`").count(), 1, "{said}");
    assert!(said.lines().any(|line| line.starts_with("2: ") && line.contains("`deepxde`")), "{said}");
}

/// Other files of a project: the configuration, and the packages that it installs.
#[test]
fn settings_for_cuda() {
    let train = "import torch\n\ndist.init_process_group(cfg.dist.backend)\n";
    let check = |path: &str, text: &str, expected: &str| {
        let said = ported("hpu", &[(path, text)]).1;
        assert!(if expected.is_empty() { said.is_empty() } else { said.contains(expected) }, "{path}: {said}");
    };
    let devices = "seed: 1\ndist:\n  backend: nccl  # fast\ndevice: 'cuda:0'\n";
    check("conf/a.yaml", devices, "3: This configures an NVIDIA GPU: `backend: nccl`, `device: 'cuda:0'`. Set");
    check("a.json", "{\"train_device\": \"cuda\", \"n\": 1}", "`\"train_device\": \"cuda\"`");
    check("a.toml", "accelerator = \"gpu\"\n", "`accelerator = \"gpu\"`");
    check("a.yaml", "a: {device: cuda, n: 1}\n", "`device: cuda`");
    for none in
        ["device: cpu\n", "# device: cuda\n", "name: cuda\nmodel: gpu\n", "device: auto\nn: nccl\n", "mydevice: cuda\n"]
    {
        check("a.yaml", none, "");
    }
    let packages = "numpy\nnvidia-ml-py>=12\n# apex\nbitsandbytes\ncupy_cuda12x==13\n";
    check(
        "requirements.txt",
        packages,
        "2: This installs software for NVIDIA GPUs, or a build for them: `nvidia-ml-py>=12`, `bitsandbytes`, `cupy_cuda12x==13`.",
    );
    check(
        "environment.yml",
        "name: a\ndependencies:\n  - pytorch::pytorch-cuda=12.1\n  - pip:\n    - flash-attn\n",
        "`pytorch::pytorch-cuda=12.1`, `flash-attn`",
    );
    check("pyproject.toml", "[project]\ndependencies = [\"numpy\", \"torch==2.1+cu118\"]\n", "`torch==2.1+cu118`");
    check(
        "setup.py",
        "from setuptools import setup\n\nsetup(name=\"x\", install_requires=[\"apex\", \"numpy\"])\n",
        "`apex`",
    );
    for none in ["apexpy\nnumpy\n", "torch==2.1\n", "cuda-free\n"] {
        check("requirements.txt", &none.replace("torch", "torchmetrics"), "");
    }
    let place = "The value is set in conf/a.yaml:3";
    let said =
        ported("hpu", &[("conf/a.yaml", devices), ("train.py", &format!("import torch.distributed as dist\n{train}"))])
            .1;
    assert!(said.contains(place), "{said}");
}
