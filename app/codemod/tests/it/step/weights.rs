//! Weights that the host reads, replaces or freezes beside a compiled step.

use super::{HEAD, check_has, check_ported, step_lines, to_ipu, training};
use crate::ports::{SCRIPT, ported, ported_script};

#[test]
fn weights_that_the_host_reads_are_fetched_first() {
    let text = format!(
        "{HEAD}for x, y in loader:\n{}left = model.weight.detach().numpy()\nbias = model.bias.data.cpu()\n",
        step_lines("2", 1)
    );
    let (ported, said) = ported_script("rdu", &text);
    assert!(ported.contains("rdu.fetch()\nleft = model") && ported.contains("rdu.fetch()\nbias"), "{said}{ported}");
}

#[test]
fn functions_of_other_files_get_the_weights_of_the_moment() {
    let (head, body) = (
        HEAD.replace("import torch\n", "import torch\nfrom others import evaluate, start, tiles\n"),
        step_lines("2", 2),
    );
    let loops = "for epoch in range(9):\n    for x, y in loader:\n";
    let text = format!(
        "{head}start(model)\n{loops}{body}    print(evaluate(model, others))\n    with torch.no_grad():\n        \
         print(tiles(x, 3, predictor=model))\n"
    );
    // PopTorch copies weights to the host when they are read there.
    check_ported(&text, "loss = loss.mean()\n    print(evaluate(model, others))\n    with torch.no_grad():\n");
    let (ported, said) = ported_script("rdu", &text);
    assert!(
        ported.contains("    rdu.fetch()\n    print(evaluate(model, others))\n    rdu.fetch()\n    with"),
        "{said}{ported}"
    );

    let helpers = "\n\ndef infer(x):\n    def tile(x):\n        return tiles(x, model)\n    return tile(x)\n\n\n";
    let ahead = "model_inferer = partial(tiles, predictor=model)\n";
    let text = format!(
        "{head}{ahead}{helpers}{loops}{body}    with torch.no_grad():\n        print(infer(x), model_inferer(x))\n"
    );
    let (ported, said) = ported_script("rdu", &text);
    assert!(ported.contains("        rdu.fetch()\n        return tiles(x, model)\n"), "{said}{ported}");
    assert!(
        ported.contains("    rdu.fetch()\n    with torch.no_grad():\n        print(infer(x), model_inferer(x))\n"),
        "{ported}"
    );

    let train = format!("def train(model, optimizer):\n    for x, y in loader:\n{body}");
    let main = "def main():\n    start(model)\n    for epoch in range(9):\n        train(model, optimizer)\n        if epoch:\n            \
                evaluate(model, others)\n        print(model(example))\n";
    let text = format!("{head}\n\n{train}\n\n{main}");
    check_ported(&text, "        train(model, optimizer)\n        if epoch:\n");
}

#[test]
fn weights_are_the_host_s_again_where_it_replaces_them() {
    let fetch = "detach_from_ipu(ipu_training_steps.values())\n";
    let loops = format!("for x, y in loader:\n{}", step_lines("2", 1));
    for reads in [
        "sample = model.decode(z)",
        "weights = model.state_dict()",
        "for a, b in zip(ema.parameters(), model.parameters()):\n    a.mul_(b)",
    ] {
        check_ported(&format!("{HEAD}{loops}{reads}\n"), &format!("loss.mean()\n{reads}"));
    }
    // Inference models are detached from the IPU too, if there are any.
    check_ported(
        &format!("{HEAD}{loops}model.load_state_dict(best)\n"),
        &format!("\n{fetch}model.load_state_dict(best)\n"),
    );
    let (ported, _) = to_ipu(&format!("{HEAD}{loops}model.load_state_dict(best)\n"));
    assert!(!ported.contains("ipu_inference"), "{ported}");
    let infers = "model.eval()\nwith torch.no_grad():\n    for a, b in others:\n        score = model(a)\n";
    let (ported, _) = to_ipu(&format!("{HEAD}{loops}{infers}model.load_state_dict(best)\n"));
    let both = format!("\n{fetch}detach_from_ipu(ipu_inference_models.values())\nmodel.load_state_dict(best)\n");
    assert!(ported.contains(&both) && ported.contains("ipu_inference_models = {}"), "{ported}");
    let early = HEAD.replace("optimizer =", "model.load_state_dict(best)\noptimizer =");
    check_ported(&format!("{early}{loops}"), "Linear(3, 3)\nmodel.load_state_dict(best)\n");
    // A function that trains and validates, which validates the best weights at the end.
    let body = step_lines("2", 2).lines().map(|line| format!("    {line}\n")).collect::<String>();
    let run =
        format!("\n\ndef run(loader):\n    for x, y in loader:\n{}\n\n", body.replace("            ", "        "));
    let (start, best) = ("    model.load_state_dict(start)\n", "    model.load_state_dict(best)\n    run(loader)\n");
    let main = format!("def main():\n{start}    for epoch in range(9):\n        run(loader)\n{best}\n\nmain()\n");
    let (ported, said) = to_ipu(&format!("{HEAD}{run}{main}"));
    let found = ported.contains(&format!("    {fetch}    model.load_state_dict(best)"));
    assert!(found && !ported.contains(&format!("{fetch}    model.load_state_dict(start)")), "{said}{ported}");
    for other in ["model.eval()", "model.load_extra(path)", "print(model)"] {
        let (ported, _) = to_ipu(&format!("{HEAD}{loops}{other}\n"));
        assert!(ported.ends_with(&format!("loss.mean()\n{other}\n")), "{ported}");
    }
}

#[test]
fn weights_that_the_host_changes_go_to_the_target() {
    let clamp = "    for p in model.parameters():\n        p.data.clamp_(-1, 1)\n";
    let told = |before: &str, after: &str| {
        to_ipu(&format!("{HEAD}for x, y in loader:\n{before}{}{after}", step_lines("2", 1)))
    };
    let (ported, said) = told("", clamp);
    assert!(ported.ends_with(&format!("{clamp}    training_step.copyWeightsToDevice()\n")), "{said}{ported}");
    let under = "    with torch.no_grad():\n        model.weight.mul_(0.9)\n";
    let (ported, said) = told("", under);
    assert!(ported.ends_with(&format!("{under}    training_step.copyWeightsToDevice()\n")), "{said}{ported}");
    let (ported, said) = told(clamp, "");
    assert!(
        !ported.contains("poptorch") && said.contains("7: Not ported: this changes weights before"),
        "{said}{ported}"
    );
    // An average next to the model is on the host, and reading weights changes nothing.
    let average =
        "    for e, p in zip(average.parameters(), model.parameters()):\n        e.data.mul_(0.9).add_(p.data)\n";
    for harmless in [average, "    norm = sum(p.norm() for p in model.parameters())\n"] {
        let (ported, said) = told("", harmless);
        assert!(ported.contains("training_step(x, y)") && !ported.contains("copyWeightsToDevice"), "{said}{ported}");
    }
}

#[test]
fn weights_with_the_prefix_of_a_wrapper() {
    let wrapped = SCRIPT.replace("optimizer =", "model = torch.nn.DataParallel(model)\noptimizer =");
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

#[test]
fn weights_of_no_optimizer_stay_as_they_are() {
    let second = "other = torch.nn.Linear(3, 3)\n";
    let freezes = "freeze_untrained(TrainingStep(*parts), optimizer)";
    check_has(&training(second, "x, y in loader", "", "F.mse_loss(model(x), y + other(x))"), &[freezes]);
    let part = training("", "x, y in loader", "", "F.mse_loss(model(x), y)");
    check_has(&part.replace("model.parameters()", "model.head.parameters()"), &[freezes]);
    let (ported, _) = ported_script("ipu", &part);
    assert!(ported.contains("training_step(x, y)") && !ported.contains("freeze"), "{ported}");
}

#[test]
fn weights_are_frozen_before_the_optimizer_is_made() {
    let frozen = "for weight in model.parameters():\n    weight.requires_grad = False\nweights = model.parameters()\n";
    let body = SCRIPT
        .replace("optimizer =", &format!("{frozen}optimizer ="))
        .replace("Adam(model.parameters()", "Adam(weights");
    let (head, rest) = body.split_once("model =").expect("a model");
    let program = format!("{head}\n\ndef main():\n    model ={}\n\nmain()\n", rest.trim_end().replace("\n", "\n    "));
    let (after, said) = ported("rdu", &[("a.py", &program)]);
    assert!(after[0].contains("rdu.update()"), "{said}{}", after[0]);
}
