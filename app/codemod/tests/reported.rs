//! Messages about unchanged places on several targets, and cases without message or change.

mod said;

use said::{STEP, check_in_project, check_said, check_silent, ported};

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
fn another_thing_of_the_same_name_is_not_told() {
    let text = "import torch\n\ntry:\n    from torch.cuda.amp import autocast\nexcept ImportError:\n    autocast = None\n\n\n\
        with torch.autocast('cpu'):\n    pass\n";
    for target in ["hpu", "xpu", "ipu"] {
        check_silent(target, text);
    }
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
