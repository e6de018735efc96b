//! Mixed precision: scalers of the loss, and types that a program chooses.

use crate::ports::{
    SCRIPT, check_in_project, check_said, check_said_at, check_silent, in_place, port_files, ported, ported_script,
};
use crate::step::{HEAD, check_refused, step_lines, to_ipu};

#[test]
fn mixed_precision_goes_on_whichever_side_it_is() {
    let plain = "        loss.backward()\n        optimizer.step()\n";
    let scaled = "        scaler.scale(loss).backward()\n        scaler.step(optimizer)\n        scaler.update()\n";
    let steps = step_lines("2", 1);
    let head = HEAD.replace("model =", "scaler = torch.cuda.amp.GradScaler() if args.amp else None\nmodel =");
    let (above, _) = steps.split_once("    loss.backward()").expect("the step goes backward");
    for (test, first, second) in [("scaler is None", plain, scaled), ("scaler is not None", scaled, plain)] {
        let text = format!("{head}for x, y in loader:\n{above}    if {test}:\n{first}    else:\n{second}");
        let (ported, said) = to_ipu(&text);
        assert!(ported.ends_with("training_step(x, y)\n    loss = loss.mean()\n"), "{said}{ported}");
    }
}

#[test]
fn a_scaler_for_older_releases_is_told_at_its_import() {
    let script = "if NEW:\n    from torch.amp import GradScaler\nelse:\n    from torch.cuda.amp import GradScaler\n\n\n\
                  class Scaler(GradScaler):\n    pass\n";
    check_said_at("xpu", script, 4, "is imported only where PyTorch lacks `torch.amp.GradScaler`");
    check_silent("xpu", script);
}

#[test]
fn a_scaler_that_is_handed_the_loss_is_written_out() {
    let handed = |given: &str| {
        let step = step_lines("2", 2)
            .replace("loss.backward()\n        optimizer.step()", &format!("loss_scaler(loss, optimizer{given})"));
        format!("{HEAD}\n\ndef train(loader, loss_scaler, limit=None):\n    for x, y in loader:\n{step}")
    };
    let (ported, said) = to_ipu(&handed(""));
    assert!(ported.contains("training_step(x, y)") && !ported.contains("loss_scaler(loss"), "{said}{ported}");
    let (ported, said) = to_ipu(&handed(", clip_grad=1.0, parameters=model.parameters()"));
    assert!(ported.contains("max_grad_norm=1.0"), "{said}{ported}");
    let (ported, said) = ported_script("rdu", &handed(", clip_grad=1.0, parameters=model.parameters()"));
    assert!(
        ported.contains("max_grad_norm=1.0)") && ported.ends_with("loss.backward()\n        rdu.update()\n"),
        "{said}"
    );
    // A call with a returned value, or whose result is used, is not written out.
    check_refused(
        &handed(", clip_grad=1.0, clip_mode=\"value\", parameters=model.parameters()"),
        "another function runs this",
    );
    let result = handed("").replace("        loss_scaler(", "        norm = loss_scaler(");
    check_refused(&result, "another function runs this");
}

#[test]
fn a_scaler_by_its_newest_name_goes_with_its_calls() {
    let step =
        "scaler = torch.GradScaler('cuda')\nscaler.scale(loss).backward()\nscaler.step(optimizer)\nscaler.update()\n";
    let ported = port_files(&[("a.py", &format!("import torch\n\n{step}"))], &in_place("hpu")).files[0].text.clone();
    assert!(ported.ends_with("\nloss.backward()\noptimizer.step()\n") && !ported.contains("caler"), "{ported}");
}

const SCALER: &str = "import torch


class NativeScaler:
    def __init__(self):
        self.inner = torch.amp.GradScaler(\"cuda\")

    def __call__(self, loss, optimizer):
        self.inner.scale(loss).backward()
        self.inner.step(optimizer)
        self.inner.update()
";

#[test]
fn one_update_with_and_without_a_scaler() {
    let (start, rest) = SCRIPT.split_once("for x, y").unwrap();
    let branches = rest.replace(
        "    loss.backward()\n    optimizer.step()\n",
        "    if scaler is not None:\n        scaler(loss, optimizer)\n    else:\n        loss.backward()\n        optimizer.step()\n",
    );
    assert!(branches.contains("else:"));
    let main = format!("{start}for x, y{branches}");
    for (target, call) in [("ipu", "training_step("), ("popdist", "training_step("), ("rdu", "rdu.update()")] {
        let (after, said) = ported(target, &[("scaling.py", SCALER), ("train.py", &main)]);
        assert!(after[1].contains(call) && !after[1].contains("scaler"), "{target}: {said}{}", after[1]);
        assert!(!said.contains("this function receives the loss"), "{target}: {said}");
        let (after, said) = ported(target, &[("train.py", &main.replace("import torch\n", SCALER))]);
        assert!(after[0].contains(call) && !after[0].contains("if scaler"), "{target}: {said}{}", after[0]);
    }
    // Only one of the branches limits the gradients.
    for target in ["ipu", "popdist", "rdu"] {
        let limited = main.replace("scaler(loss, optimizer)", "scaler(loss, optimizer, model.parameters())");
        let (_, said) = ported(target, &[("scaling.py", SCALER), ("train.py", &limited)]);
        assert!(said.contains("Only the branch with mixed precision limits the gradients"), "{target}: {said}");
    }
    // Other code that receives the loss may do anything.
    let (_, said) = ported("ipu", &[("train.py", &main.replace("scaler(loss", "finish(loss"))]);
    assert!(said.contains("this test decides whether the weights are updated"), "{said}");
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
fn a_type_chosen_by_a_test_for_cuda() {
    let text = "import torch\n\nTensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.Tensor\n\n\n\
        def batch(data):\n    return data.type(Tensor)\n";
    for target in ["hpu", "xpu"] {
        check_said(target, text, "3: `torch.cuda.FloatTensor` and similar types");
    }
}

#[test]
fn a_scaled_expression_keeps_its_value() {
    let before = |loss: &str, rest: &str| {
        format!(
            "import torch\n\nscaler = torch.amp.GradScaler(\"cuda\")\nnet = torch.nn.Linear(3, 3).cuda()\n\
             opt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor x, y in loader:\n    loss = F.mse_loss(net(x.cuda()), y.cuda())\n    \
             scaler.scale({loss}){rest}\n    scaler.step(opt)\n    scaler.update()\n    opt.zero_grad()\n"
        )
    };
    for (loss, rest, after) in [
        ("loss", ".backward()", "    loss.backward()\n"),
        ("loss / parts", ".backward()", "    (loss / parts).backward()\n"),
        ("-loss", ".backward(retain_graph=True)", "    (-loss).backward(retain_graph=True)\n"),
        ("loss if x.any() else 0 * loss", ".backward()", "    (loss if x.any() else 0 * loss).backward()\n"),
        ("(loss / parts)", ".backward()", "    (loss / parts).backward()\n"),
        ("sum(losses)", ".backward()", "    sum(losses).backward()\n"),
    ] {
        let (text, said) = ported_script("hpu", &before(loss, rest));
        assert!(text.contains(after), "{said}{text}");
    }
}

/// Without its scaler, a type that a setting chooses may be float16.
#[test]
fn a_type_that_loses_its_scaler() {
    let text = |dtype: &str| {
        let types =
            format!("dt = getattr(torch, config[\"dtype\"])\nscaler = torch.amp.GradScaler(\"cuda\")\n{SCRIPT}");
        let cast = format!("    with torch.autocast(\"cuda\", dtype={dtype}):\n        out = model(x)\n");
        let scaled =
            types.replace("    out = model(x)\n", &cast).replace("loss.backward()", "scaler.scale(loss).backward()");
        scaled.replace("optimizer.step()", "scaler.step(optimizer)\n    scaler.update()")
    };
    check_said("hpu", &text("dt"), "If that is float16, small gradients vanish");
    check_in_project("hpu", &[("a.py", &text("torch.bfloat16"))], "If that is float16", false);
}
