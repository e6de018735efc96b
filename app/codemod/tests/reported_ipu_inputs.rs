//! What PopTorch does not accept as an input of a compiled step, or in the model: batches of differing shapes, objects, masks,
//! complex numbers; and similar code without a message.

mod said;

use said::{STEP, check_in_project, check_said, check_silent, ported};

/// A script that trains, with a collate function for its loader.
fn collating(body: &str) -> String {
    let loader = "loader = torch.utils.data.DataLoader(lines, batch_size=4, collate_fn=collate)\n";
    STEP.replace("\nmodel =", &format!("\n\ndef collate(samples):\n{body}\n\n{loader}model ="))
}

#[test]
fn batches_of_their_own_length() {
    let words = "Each batch is padded to its own longest sample";
    for body in [
        "    return tokenizer(samples, padding=True, return_tensors=\"pt\")\n",
        "    return tokenizer(samples, padding='longest')\n",
        "    return tokenizer.pad(samples, return_tensors=\"pt\")\n",
        "    size = max(len(sample) for sample in samples)\n    return padded(samples, size)\n",
        "    return torch.nn.utils.rnn.pad_sequence(samples)\n",
    ] {
        check_said("ipu", &collating(body), words);
    }
    for body in [
        "    return tokenizer(samples, padding=\"max_length\", max_length=64, return_tensors=\"pt\")\n",
        "    return tokenizer.pad(samples, padding=\"max_length\", return_tensors=\"pt\")\n",
        "    return torch.stack(samples)\n",
    ] {
        check_silent("ipu", &collating(body));
    }
    // All samples at once have one length.
    let all = "\nevery = tokenizer(texts, padding=True, return_tensors=\"pt\")\nsize = max(len(text) for text in texts)\nmodel =";
    check_silent("ipu", &STEP.replace("\nmodel =", all));
    let in_step = STEP
        .replace("    out = model(x)", "    x = tokenizer(x, padding=True, return_tensors=\"pt\")\n    out = model(x)");
    check_said("ipu", &in_step, words);
    let collator = |argument: &str| {
        let import = "from transformers import DataCollatorWithPadding\nimport torch\n";
        let made = format!("\ncollate = DataCollatorWithPadding(tokenizer{argument})\nmodel =");
        STEP.replace("import torch\n", import).replace("\nmodel =", &made)
    };
    check_said("ipu", &collator(""), words);
    check_silent("ipu", &collator(", padding=\"max_length\", max_length=64"));
}

/// The function that makes a batch may be in another file, and a method.
#[test]
fn a_collating_object_of_another_file() {
    let module = "class Words:\n    def __call__(self, samples):\n        return self.tokenizer(samples, padding=True)\n\n    \
                  def show(self, sample):\n        print(self.tokenizer(sample, padding=True))\n";
    let main = STEP.replace("import torch\n", "import torch\nfrom words import Words\n");
    let main = main.replace(
        "\nmodel =",
        "\nloader = torch.utils.data.DataLoader(lines, batch_size=4, collate_fn=Words(8))\nmodel =",
    );
    let (_, said) = ported("ipu", &[("train.py", &main), ("words.py", module)]);
    assert_eq!(said.matches("Each batch is padded").count(), 1, "{said}");
    assert!(said.contains("3: Each batch is padded"), "{said}");
}

#[test]
fn a_tokenizers_result_as_an_input() {
    let tokens =
        "    x = tokenizer(x, padding=\"max_length\", max_length=64, return_tensors=\"pt\")\n    out = model(x)";
    let text = STEP.replace("    out = model(x)", tokens);
    let (after, said) = ported("ipu", &[("a.py", &text)]);
    assert!(after[0].contains("training_step(dict(x), y)") && said.is_empty(), "{said}{}", after[0]);
    check_said("ipu", &format!("{text}    seen += x.input_ids.numel()\n"), "PopTorch does not see the tensors in it");
    let (after, _) = ported("ipu", &[("a.py", STEP)]);
    assert!(after[0].contains("training_step(x, y)"), "{}", after[0]);
}

#[test]
fn a_graph_as_an_input() {
    let words = "DGL's layers compute with kernels of their own";
    let text = |import: &str| STEP.replace("import torch\n", &format!("{import}\nimport torch\n"));
    check_said("ipu", &text("import dgl.nn"), words);
    check_said("ipu", &text("from dgl.nn.pytorch import GraphConv"), words);
    check_silent("ipu", &text("import dgl"));
}

#[test]
fn masks_in_the_loss() {
    let words = "The shape of this result depends on values";
    let loss = |mask: &str| {
        let own = format!(
            "\n\ndef contrast(out, y, low, high):\n    near = {mask}\n    return out[near].mean()\n\n\nmodel ="
        );
        STEP.replace("\nmodel =", &own).replace("F.mse_loss(out, y)", "contrast(out, y, 0, 3)")
    };
    for mask in [
        "(y >= low) & (y < high)",
        "((y >= low) & (y < high)) | (y == 7) | ~(y > 9)",
        "torch.logical_and(y >= low, y < high)",
        "torch.isin(y, out)",
        "(y >= low).all(dim=1)",
        "(y != low).unsqueeze(-1).expand_as(out)",
        "(y > 0) if low else (y > 1)",
    ] {
        check_said("ipu", &loss(mask), words);
    }
    for numbers in ["y.argmax(1)", "(y >= low).sum(1)", "torch.arange(low, high)", "y.topk(2)[1]"] {
        check_in_project("ipu", &[("a.py", &loss(numbers))], words, false);
    }
}

/// What is selected before the step and what is passed to it as a mask.
#[test]
fn masks_of_the_loop() {
    let lines = |before: &str, loss: &str| {
        STEP.replace("    out = model(x)\n", &format!("{before}    out = model(x)\n"))
            .replace("F.mse_loss(out, y)", loss)
    };
    let masked = "F.mse_loss(out[near], y[near])";
    let check = |before: &str, loss: &str, words: &str, is_said| {
        check_in_project("ipu", &[("a.py", &lines(before, loss))], words, is_said);
    };
    let of_values = "The shape of this result depends on values";
    check("    near = (y >= 0) & (y < 3)\n", masked, of_values, true);
    check("    near = y.argmax(1)\n", masked, of_values, false);
    let rows = "The number of rows that this selects depends on values";
    for chosen in ["torch.where(y > 0)[0]", "(y > 0).nonzero().squeeze()", "torch.nonzero(y > 0)"] {
        check(&format!("    near = {chosen}\n"), masked, rows, true);
        check(&format!("    near = {chosen}\n    x, y = x[near], y[near]\n"), "F.mse_loss(out, y)", rows, true);
    }
    check("    near = torch.randperm(4)\n    x, y = x[near], y[near]\n", "F.mse_loss(out, y)", rows, false);
}

#[test]
fn spectra_in_the_model() {
    let net = |layer: &str, base: &str, method: &str| {
        let class = format!(
            "import torchaudio\n\n\nclass Net({base}):\n    def __init__(self):\n        super().__init__()\n        self.mel = {layer}\n\n    \
             def {method}(self, x):\n        return self.mel(x)\n\n\nmodel = torch.nn.Linear(3, 3)\nnet = Net()\n"
        );
        STEP.replace("\nmodel = torch.nn.Linear(3, 3)\n", &format!("\n{class}"))
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
fn weights_with_the_prefix_of_a_wrapper() {
    let wrapped = STEP.replace("optimizer =", "model = torch.nn.DataParallel(model)\noptimizer =");
    let load = |line: &str| {
        format!(
            "import torch\nfrom net import Net\n\nmodel = Net()\nstate = torch.load(\"m.pt\")\n{line}\nmodel.load_state_dict(state, strict=False)\n"
        )
    };
    let after = |line: &str| ported("ipu", &[("train.py", &wrapped), ("test.py", &load(line))]).0.remove(1);
    let cut = after("state = {k[7:]: v for k, v in state.items()}");
    assert!(cut.contains("{k[7:] if k.startswith(\"module.\") else k: v for"), "{cut}");
    let added = after("state = {'module.' + k: v for k, v in state.items()}");
    assert!(added.contains("{k: v for k, v"), "{added}");
    let kept = after("state = {k[6:]: v for k, v in state.items()}");
    assert!(kept.contains("{k[6:]: v for"), "{kept}");
}
