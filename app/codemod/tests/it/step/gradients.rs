//! Gradients that the host reads, and limits for them.

use super::{HEAD, check_ported, check_refused, step_lines, to_ipu};
use crate::ports::{SCRIPT, check_in_project, check_said, ported};

#[test]
fn gradients_are_not_read_on_the_host() {
    let body =
        |line: &str| step_lines("2", 1).replace("    optimizer.step", &format!("    {line}\n    optimizer.step"));
    let reads = "norms = [p.grad.norm() for p in model.parameters()]";
    check_refused(&format!("{HEAD}for x, y in loader:\n{}", body(reads)), "11: Not ported: this reads a gradient");
}

#[test]
fn clipping_by_its_old_name_leaves_the_loop() {
    let clip = "    torch.nn.utils.clip_grad_norm(model.parameters(), 1.0)\n    optimizer.step";
    check_ported(
        &format!("{HEAD}for x, y in loader:\n{}", step_lines("2", 1).replace("    optimizer.step", clip)),
        "loss = loss.mean()\n",
    );
    let (ported, _) =
        to_ipu(&format!("{HEAD}for x, y in loader:\n{}", step_lines("2", 1).replace("    optimizer.step", clip)));
    assert!(ported.contains("max_grad_norm=1.0") && !ported.contains("clip_grad"), "{ported}");
}

#[test]
fn clipping_behind_the_update_clips_nothing() {
    let clip = "optimizer.step()\n    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n";
    let late = step_lines("2", 1).replace("optimizer.step()\n", clip);
    let (ported, said) = to_ipu(&format!("{HEAD}for x, y in loader:\n    optimizer.zero_grad()\n{late}"));
    assert!(ported.contains("training_step(x, y)") && !ported.contains("max_grad_norm"), "{said}{ported}");
}

#[test]
fn clipping_before_there_are_gradients() {
    let clip = "    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n";
    let early = SCRIPT.replace("    loss.backward()\n", &format!("{clip}    loss.backward()\n"));
    for target in ["ipu", "popdist", "rdu"] {
        check_said(target, &early, "10: Not ported: gradients are clipped here before `backward()`");
    }
    let late = SCRIPT.replace("    optimizer.step()\n", &format!("{clip}    optimizer.step()\n"));
    assert!(ported("ipu", &[("a.py", &late)]).0[0].contains("max_grad_norm=1.0"));
    // The branch with a scaler clips after its own backward pass.
    let (head, _) = SCRIPT.split_once("    loss.backward()").expect("a backward pass");
    let scaled = "        scaler.scale(loss).backward()\n        scaler.unscale_(optimizer)\n";
    let both = format!(
        "{head}    if amp:\n{scaled}    {clip}        scaler.step(optimizer)\n        scaler.update()\n    else:\n        loss.backward()\n        optimizer.step()\n"
    );
    let both = both.replace("for x, y", "scaler = torch.cuda.amp.GradScaler()\nfor x, y");
    assert!(!ported("ipu", &[("a.py", &both)]).1.contains("before `backward()`"));
}

#[test]
fn clipping_of_what_a_function_returns() {
    let clip = "    clip_all(weights(model), 1.0)\n    optimizer.step()\n";
    let text = SCRIPT
        .replace("    optimizer.step()\n", clip)
        .replace("import torch\n", "import torch\nfrom own import clip_all, weights\n");
    for target in ["ipu", "popdist"] {
        check_said(target, &text, "12: Not ported: this reads a gradient");
    }
}

#[test]
fn a_helper_that_reads_gradients() {
    let clipped = SCRIPT.replace("    optimizer.step()", "    clip_gradient(optimizer, 0.5)\n    optimizer.step()");
    for target in ["ipu", "rdu"] {
        check_said(target, &clipped, "11: Not ported: this reads a gradient");
        check_in_project(
            target,
            &[("a.py", &clipped.replace("clip_gradient", "count_steps"))],
            "reads a gradient",
            false,
        );
    }
}

#[test]
fn a_limit_that_the_training_function_is_given() {
    let clip = "    torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)\n    optimizer.step()";
    let (head, body) = SCRIPT.split_once("for x, y").unwrap();
    let (imports, made) = head.split_once("\nmodel").unwrap();
    let body = format!("for x, y{}", body.replace("    optimizer.step()", clip)).trim_end().replace('\n', "\n    ");
    let made = format!("model{made}").trim_end().replace('\n', "\n    ");
    let main = |args: &str| {
        let train = format!("def train(loader, model, optimizer, args):\n    {body}");
        let call = "train(loader, model, optimizer, args)";
        format!("{imports}\n\n{train}\n\n\ndef main():\n    {args}\n    {made}\n    {call}\n\n\nmain()\n")
    };
    let (after, said) = ported("rdu", &[("a.py", &main("args = parse()"))]);
    assert!(after[0].contains("max_grad_norm=args.clip"), "{said}{}", after[0]);
    check_said("rdu", &main("pass"), "Not ported: the clipping limit is unknown");
}

#[test]
fn a_norm_of_the_gradients_that_is_only_logged() {
    let clips = |norm: &str| SCRIPT.replace("    optimizer.step", &format!("    {norm}\n    optimizer.step"));
    let clip = "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)";
    let nan = "torch.full((), float(\"nan\"))";
    for (target, call) in [("ipu", "training_step("), ("rdu", "rdu.update()")] {
        for used in ["norm = @; print(norm)", "norms.append(@.item())", "norm = @; log[0] = norm"] {
            let used = used.replace("; ", "\n    ");
            let (after, said) = ported(target, &[("a.py", &clips(&used.replace('@', clip)))]);
            assert!(after[0].contains(call) && after[0].contains(&used.replace('@', nan)), "{said}{}", after[0]);
            assert!(said.contains("now logs NaN"), "{said}");
        }
        // One that nothing reads, under a test; and one that decides something.
        let (after, _) = ported(target, &[("a.py", &clips(&format!("if limited:\n        {clip}")))]);
        assert!(!after[0].contains(nan), "{}", after[0]);
        let text = clips(&format!("norm = {clip}\n    if norm > 9:\n        print(norm)"));
        let (after, said) = ported(target, &[("a.py", &text)]);
        assert!(!after[0].contains(call) && said.to_lowercase().contains("not ported"), "{said}{}", after[0]);
    }
}

/// They are copied where the host changed them, whatever else goes from that block.
#[test]
fn weights_that_the_host_changes_under_a_test() {
    let text = "import torch\nfrom torch.nn import functional as F\nfrom torch.utils.data import DataLoader\n\n\nloader = DataLoader(data, batch_size=8)\n\
                net = torch.nn.Linear(3, 3)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\nfor i, (x, y) in enumerate(loader):\n    \
                loss = F.mse_loss(net(x), y) / 2\n    loss.backward()\n    if (i + 1) % 2 == 0:\n        opt.step()\n        \
                with torch.no_grad():\n            for p in net.parameters():\n                p.clamp_(-1, 1)\n        opt.zero_grad()\n";
    let (after, said) = ported("ipu", &[("a.py", text)]);
    let copied = "            p.clamp_(-1, 1)\n    training_step.copyWeightsToDevice()\n";
    assert!(after[0].contains(copied), "{said}{}", after[0]);
}

/// An optimizer that PopTorch can't clip is found wherever it is made.
#[test]
fn a_limit_for_an_optimizer_of_another_file() {
    let fit = "import torch\nfrom torch.nn import functional as F\n\n\ndef fit(model, loader, optimizer):\n    for x, y in loader:\n        \
               optimizer.zero_grad()\n        loss = F.mse_loss(model(x), y)\n        loss.backward()\n        \
               torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n        optimizer.step()\n";
    let check = |class: &str, refused: bool| {
        let main = format!(
            "import torch\nfrom data import loader\nfrom engine import fit\n\nmodel = torch.nn.Linear(3, 3)\n\
             fit(model, loader, torch.optim.{class}(model.parameters(), lr=0.1))\n"
        );
        let (after, said) = ported("ipu", &[("engine.py", fit), ("main.py", &main)]);
        assert_eq!(said.contains("RMSprop can't clip gradients"), refused, "{said}{}", after[0]);
        assert_eq!(after[0].contains("max_grad_norm = 1.0"), !refused, "{said}{}", after[0]);
    };
    check("RMSprop", true);
    check("Adam", false);
}

#[test]
fn a_limit_of_the_gradients_that_callers_pass() {
    let (head, body) = SCRIPT.split_once("for x").unwrap();
    let body = format!("for x{body}").replace('\n', "\n    ");
    let body = body
        .replace("optimizer.step", "torch.nn.utils.clip_grad_norm_(model.parameters(), limit)\n        optimizer.step");
    let text =
        |above: &str, call: &str| format!("{head}\n{above}def train(limit):\n    {}\n\n\n{call}", body.trim_end());
    let made = head.replace("model =", "args = parse()\nmodel =");
    let known = |call: &str| ported("rdu", &[("a.py", &text("", call).replace(head, &made))]);
    let (after, said) = known("train(args.limit)\n");
    assert!(after[0].contains("max_grad_norm=args.limit)"), "{said}{}", after[0]);
    let (after, said) = known("train(1.0)\ntrain(1.0)\n");
    assert!(after[0].contains("max_grad_norm=1.0)"), "{said}{}", after[0]);
    for call in ["train(1.0)\ntrain(2.0)\n", "later = pick()\ntrain(later)\n"] {
        assert!(known(call).1.contains("the clipping limit is unknown"), "{}", known(call).1);
    }
}
