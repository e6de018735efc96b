//! Code that is compiled with the model: its methods, functions of other files, operations that the target lacks.

use super::{HEAD, check_has, check_not_compiled, check_ported, step_lines};
use crate::ports::{SCRIPT, check_in_project, check_said, check_silent, ported, ported_script};

#[test]
fn what_is_altered_in_its_place_moves_along() {
    for alters in ["out[out > 1] = 1", "out.clamp_(0, 1)", "y[y < 0] += 1"] {
        let text = format!(
            "{HEAD}for x, y in loader:\n{}",
            step_lines("2", 1).replace("    loss = F", &format!("    {alters}\n    loss = F"))
        );
        check_ported(&text, &format!("        {alters}\n        loss = F"));
    }
    let table = "losses = {}\n    losses['fit'] = F.mse_loss(out, y)\n    loss = sum(losses.values())\n    #";
    let text = format!("{HEAD}for x, y in loader:\n{}", step_lines("2", 1).replace("loss = F", table));
    check_ported(&text, "        losses['fit'] = F.mse_loss(out, y)\n        loss = sum");
}

#[test]
fn what_both_sides_of_a_test_do_is_not_asked_for() {
    let wrap = "if args.wide:\n    model = torch.distributed.fsdp.FullyShardedDataParallel(model)\nelse:\n    model = torch.distributed.fsdp.FullyShardedDataParallel(model.half())\n";
    let text = |wrap: &str| {
        format!("{}for x, y in loader:\n{}", HEAD.replace("optimizer", &format!("{wrap}optimizer")), step_lines("2", 1))
    };
    let (ported, said) = ported_script("rdu", &text(wrap));
    assert!(ported == text(wrap) && said.contains("6: Not ported"), "{said}");
    let one = wrap.split("else").next().unwrap_or_default();
    assert!(ported_script("rdu", &text(one)).0.contains("rdu.forward(x)"));
}

#[test]
fn another_method_of_the_model() {
    check_said(
        "rdu",
        &SCRIPT.replace("model(x)", "model.extract(x)"),
        "calls the model's `extract`, but SambaFlow traces",
    );
}

const RENDERS: &str = "import torch

from rendering import render

model = torch.nn.Linear(3, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for rays, target in loader:
    loss = ((render(model, rays) - target) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
";

#[test]
fn a_function_of_another_file_that_computes_with_the_model() {
    let helper = |body: &str| {
        format!("import numpy as np\nimport torch\n\n\ndef render(model, rays):\n{body}    return model(rays)\n")
    };
    let (after, said) = ported("ipu", &[("rendering.py", &helper("    rays = rays * 2\n")), ("a.py", RENDERS)]);
    assert!(after[1].contains("loss = ((render(self.model, rays) - target) ** 2).mean()"), "{said}{}", after[1]);
    assert!(after[1].contains("loss = training_step(rays, target)"), "{}", after[1]);
    let words = "the model call for this loss is not in this function";
    for body in [
        "    rays = rays + np.random.rand()\n",
        "    print(rays.mean().item())\n",
        "    with torch.no_grad():\n        model(rays)\n",
        "    model.train()\n",
        "    model.calls += 1\n",
        "    seen.append(rays)\n",
        "    rays = scaled(rays)\n\n\ndef scaled(rays):\n    rays = rays * np.random.rand()\n",
    ] {
        check_in_project("ipu", &[("a.py", RENDERS), ("rendering.py", &helper(body))], words, true);
    }
    let parts = helper("    parts = []\n    parts.append(rays)\n    rays = torch.cat(parts)\n");
    check_in_project("ipu", &[("a.py", RENDERS), ("rendering.py", &parts)], words, false);
    // Unknown code may do anything.
    check_said("ipu", RENDERS, words);
    // A number that changes would be compiled in.
    let counts = RENDERS.replace("for rays, target in loader", "for epoch, (rays, target) in enumerate(loader)");
    let counts = counts.replace("render(model, rays)", "render(model, rays, epoch)");
    let takes = helper("    rays = rays * epoch\n").replace("(model, rays):", "(model, rays, epoch):");
    check_in_project("ipu", &[("a.py", &counts), ("rendering.py", &takes)], "`epoch` changes during training", true);
}

#[test]
fn a_spectrum_in_a_step_and_one_in_a_data_set() {
    let sound = "import torch\n\n\ndef mel(sound):\n    return torch.stft(sound, 512, return_complex=True).abs()\n\n\nclass Sounds(torch.utils.data.Dataset):\n    def __getitem__(self, n):\n        return mel(self.sounds[n])\n";
    let train = SCRIPT.replace("import torch\n", "import torch\nfrom sound import mel, Sounds\n");
    let words = "no complex numbers";
    let spectral = train.replace("F.mse_loss(out, y)", "F.mse_loss(mel(out), y)");
    check_in_project("hpu", &[("train.py", &spectral), ("sound.py", sound)], words, true);
    check_in_project("hpu", &[("train.py", &train), ("sound.py", sound)], words, false);
}

#[test]
fn methods_of_objects_that_a_step_has() {
    let library = "import torch\n\nclass Fourier:\n    def inverse(self, x):\n        return torch.istft(x, 8)\n";
    let train = SCRIPT.replace("import torch\n", "import torch\nfrom b import Fourier\n\nfourier = Fourier()\n");
    let step = train.replace("F.mse_loss(out, y)", "F.mse_loss(self.fourier.inverse(out), y)");
    check_in_project("hpu", &[("a.py", &step), ("b.py", library)], "Gaudi has no complex numbers", true);
    check_in_project("hpu", &[("a.py", &train), ("b.py", library)], "Gaudi has no complex numbers", false);
}

#[test]
fn a_shape_that_depends_on_values_in_a_compiled_step() {
    let loss = |body: &str| {
        let own = format!("\n\ndef contrast(out, y):\n{body}\n\nmodel =");
        SCRIPT.replace("\nmodel =", &own).replace("F.mse_loss(out, y)", "contrast(out, y)")
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
        &SCRIPT.replace("\nmodel =", "\nevents = events[events[:, 0] > 1]\nkinds = torch.unique(y)\nmodel ="),
    );
}

#[test]
fn a_tensor_of_the_host_in_a_forward_pass() {
    let net = |line: &str| {
        let class =
            format!("\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        {line}\n\n\nmodel = Net()\n");
        SCRIPT.replace("\nmodel = torch.nn.Linear(3, 3)\n", &class)
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
fn a_model_named_like_an_imported_module_is_compiled() {
    let program = SCRIPT.replace("model = ", "import model\nmodel = ");
    for target in ["ipu", "popdist"] {
        let (after, _) = ported(target, &[("a.py", &program)]);
        assert!(after[0].contains("self.model = model\n"), "{}", after[0]);
    }
}

#[test]
fn a_diagonal_or_a_triangle_of_what_is_computed() {
    let words = "only for constants";
    let loss = |body: &str| {
        let own = format!("\n\ndef contrast(out, y):\n{body}\n\nmodel =");
        SCRIPT.replace("\nmodel =", &own).replace("F.mse_loss(out, y)", "contrast(out, y)")
    };
    for value in ["torch.diag(near)", "near.triu(1)", "torch.tril(near, -1)", "torch.diagonal(out @ y.T)"] {
        check_said("ipu", &loss(&format!("    near = out @ y.T\n    return {value}.mean()\n")), words);
    }
    for value in ["near * torch.ones(3, 3).triu(1)", "torch.tril(torch.ones(3, 3)) * near", "ones.triu() * near"] {
        let body = format!("    near, ones = out @ y.T, 1\n    ones = torch.ones(3, 3)\n    return ({value}).mean()\n");
        check_in_project("ipu", &[("a.py", &loss(&body))], words, false);
    }
    // What the host computes from a table of counts.
    check_silent("ipu", &format!("{SCRIPT}counts = torch.zeros(3, 3)\nprint(counts.diag() / counts.sum(1))\n"));
}

#[test]
fn spectra_in_the_model() {
    let net = |layer: &str, base: &str, method: &str| {
        let class = format!(
            "import torchaudio\n\n\nclass Net({base}):\n    def __init__(self):\n        super().__init__()\n        self.mel = {layer}\n\n    \
             def {method}(self, x):\n        return self.mel(x)\n\n\nmodel = torch.nn.Linear(3, 3)\nnet = Net()\n"
        );
        SCRIPT.replace("\nmodel = torch.nn.Linear(3, 3)\n", &format!("\n{class}"))
    };
    let words = "computes Fourier transforms";
    let check =
        |layer, base, method, is_said| check_in_project("ipu", &[("a.py", &net(layer, base, method))], words, is_said);
    check("torchaudio.transforms.MelSpectrogram(16000)", "torch.nn.Module", "forward", true);
    check("torch.nn.Sequential(torchaudio.transforms.MFCC(), Norm())", "torch.nn.Module", "forward", true);
    check("torchaudio.transforms.MelSpectrogram(16000)", "torch.utils.data.Dataset", "__getitem__", false);
    check("torchaudio.transforms.FrequencyMasking(16)", "torch.nn.Module", "forward", false);
}

#[test]
fn a_part_of_a_compiled_model() {
    let program = format!("{SCRIPT}images = model.decode(noise)\n");
    check_said("rdu", &program, "12: Not ported: `decode` runs part of the model");
    let own = "class Net(torch.nn.Module):\n    def paint(self, z):\n        return self.layer(z)\n\n\n";
    let program = SCRIPT.replace("model = torch.nn.Linear(3, 3)\n", &format!("\n{own}model = Net()\n"));
    check_said("rdu", &format!("{program}images = model.paint(noise)\n"), "`paint` runs part of the model");
    assert!(ported("rdu", &[("a.py", &format!("{SCRIPT}model.train(False)\n"))]).0[0].contains("rdu.update()"));
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
fn a_method_brings_what_it_calls() {
    let text = "import torch\n\n\nclass Trainer:\n    def __init__(self, model, loader):\n        self.model = model\n        \
                self.loader = loader\n        self.criterion = torch.nn.MSELoss()\n        \
                self.optimizer = torch.optim.Adam(self.model.parameters())\n\n    def model_step(self, batch):\n        \
                if self.plain:\n            return self.criterion(self.model(batch[0]), batch[1])\n        \
                return self.model(batch[0]).sum()\n\n    def train(self):\n        for batch in self.loader:\n            \
                self.optimizer.zero_grad()\n            loss = self.model_step(batch)\n            loss.backward()\n            \
                self.optimizer.step()\n";
    let call = "ipu_training_step(self.optimizer, self.model_step, self.criterion, self.model)";
    check_has(text, &[call, "self.model = model\n", "loss = self.model_step(batch)"]);
    check_not_compiled(
        &text.replace("return self.model(batch[0]).sum()", "return self.model(batch[0]).sum().item()"),
        "this method",
    );
}
