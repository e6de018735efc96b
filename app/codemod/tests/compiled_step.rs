//! What goes into a compiled step as a constant, what comes back from it, and what is told to it.

use codemod::{Options, RecipeSet, SourceFile, Style, port};

const HEAD: &str = "import torch\nfrom torch.nn import functional as F\n\nmodel = torch.nn.Linear(3, 3)\n\
                    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n";
const STEP: &str = "out = model(x)\nloss = F.mse_loss(out, y) + WEIGHT * out.pow(2).mean()\noptimizer.zero_grad()\n\
                    loss.backward()\noptimizer.step()\n";

/// The step, indented, with an expression for the weight of its second term.
fn step(weight: &str, depth: usize) -> String {
    STEP.replace("WEIGHT", weight).lines().map(|line| format!("{}{line}\n", "    ".repeat(depth))).collect()
}

fn to_ipu(text: &str) -> (String, String) {
    to("ipu", text)
}

/// The ported text, and what is said of the step.
fn to(target: &str, text: &str) -> (String, String) {
    let file = SourceFile { path: "a.py".to_owned(), text: text.to_owned() };
    let options = Options { target: target.to_owned(), style: Style::InPlace, ..Options::default() };
    let ported = port(&[file], &RecipeSet::embedded(), &options);
    assert!(ported.certificate.parses && ported.certificate.idempotent);
    let said = ported.files[0].diagnostics.iter().map(|d| format!("{}: {}\n", d.original.line, d.message)).collect();
    (ported.files[0].text.clone(), said)
}

fn check_refused(text: &str, words: &str) {
    let (ported, said) = to_ipu(text);
    assert_eq!(ported, text);
    assert!(said.contains(words), "{said}");
}

fn check_ported(text: &str, words: &str) {
    let (ported, said) = to_ipu(text);
    assert!(ported.contains("training_step(x, y)") && ported.contains(words), "{said}{ported}");
}

#[test]
fn a_number_that_changes_is_no_constant() {
    let epochs = "for epoch in range(9):\n";
    let batches = "    for x, y in loader:\n";
    let inner = step("beta", 2);
    check_refused(&format!("{HEAD}{epochs}    beta = epoch / 9\n{batches}{inner}"), "10: not ported: `beta` changes");
    let late = format!("{HEAD}beta = 0.0\n{epochs}{batches}{inner}    beta += 0.1\n");
    check_refused(&late, "10: not ported: `beta` changes");

    let train = |given: &str, above: &str, weight: &str| {
        let step = step(weight, 2);
        format!("{HEAD}\n\ndef train(epoch, size):\n{above}{batches}{step}\n\n{epochs}    train({given})\n")
    };
    check_refused(&train("epoch, 3", "", "min(1, epoch / 9)"), "`epoch` changes");
    check_refused(&train("epoch, size=epoch + 1", "", "size"), "`size` changes");
    check_refused(&train("epoch, 3", "    beta = min(1, epoch / 9)\n", "beta"), "`beta` changes");
    let elsewhere =
        train("epoch, 3", "    model.train()\n", "epoch").replace(&format!("\n\n{epochs}    train(epoch, 3)"), "");
    check_refused(&elsewhere, "`epoch` changes");
    check_ported(&train("epoch, 3", "    beta = 1 / size\n", "beta"), "self.beta * out");
    // What a call says by name is not taken for what stands at its place.
    let named = train("epoch=epoch", "", "size").replace("(epoch, size)", "(size=2, epoch=0)");
    check_ported(&named, "self.size * out");

    // A counter of the loop's own; what each turn begins anew is none.
    let counted =
        |start: &str, first: &str| format!("{HEAD}{start}for x, y in loader:\n{first}    n += 1\n{}", step("n", 1));
    check_refused(&counted("n = 0\n", ""), "10: not ported: `n` changes");
    let (ported, said) = to_ipu(&counted("", "    n = 0\n"));
    assert!(ported.contains("ipu_training_step(optimizer"), "{said}");
}

#[test]
fn a_member_that_changes_is_no_constant() {
    let class = |fit: &str| {
        let step = step("self.beta", 3).replace("model(", "self.model(").replace("optimizer.", "self.optimizer.");
        format!(
            "import torch\nfrom torch.nn import functional as F\n\n\nclass Trainer:\n    def __init__(self, model, beta):\n        \
             self.model = model\n        self.beta = beta\n        \
             self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n\n    def fit(self, loader):\n{fit}\n    \
             def train_epoch(self, loader):\n        for x, y in loader:\n{step}"
        )
    };
    let epochs = "        for epoch in range(9):\n";
    let calls = "            self.train_epoch(loader)\n";
    check_refused(&class(&format!("{epochs}            self.beta = epoch / 9\n{calls}")), "`self.beta` changes");
    check_refused(&class(&format!("{epochs}{calls}        self.beta *= 2\n")), "`self.beta` changes");
    check_ported(&class(&format!("        self.beta = 0.5\n{epochs}{calls}")), "self.beta * out");
}

#[test]
fn each_training_of_several_has_constants_of_its_own() {
    let head = HEAD.replace("\nmodel", "\nfor beta in (0, 1):\n    model").replace("\noptimizer", "\n    optimizer");
    check_ported(&format!("{head}    for x, y in loader:\n{}", step("beta", 2)), "beta * out");
}

#[test]
fn a_shape_is_asked_of_the_tensor_that_the_step_is_given() {
    let noise = "torch.randn(x.shape[0], 3, device=x.device, dtype=x.dtype)";
    check_ported(&format!("{HEAD}for x, y in loader:\n{}", step(noise, 1)), noise);
}

#[test]
fn what_comes_back_has_a_value_at_every_turn() {
    let test = "    if args.penalty:\n        penalty = out.pow(2).mean()\n        loss = loss + penalty\n    optimizer.zero_grad";
    let body = step("2", 1).replace("    optimizer.zero_grad", test);
    let read = "    if args.penalty:\n        print(penalty.item())\n";
    check_refused(&format!("{HEAD}for x, y in loader:\n{body}{read}"), "9: not ported: `penalty` gets a value only");
    let given = body.replace("    if", "    penalty = torch.zeros(())\n    if");
    check_ported(&format!("{HEAD}for x, y in loader:\n{given}{read}"), "penalty, loss = training_step");
    check_ported(&format!("{HEAD}for x, y in loader:\n{body}"), "loss = training_step");
}

#[test]
fn a_rate_is_told_once_however_it_is_chosen() {
    let rate = "for group in optimizer.param_groups:\n    if group['fixed']:\n        group['lr'] = 1.0\n    else:\n        \
                group['lr'] = 0.1\n";
    let (ported, _) = to_ipu(&format!("{HEAD}for x, y in loader:\n{}{rate}", step("2", 1)));
    assert_eq!(ported.matches("update_ipu_optimizer(optimizer)\n").count(), 1, "{ported}");
}

#[test]
fn clipping_by_its_old_name_leaves_the_loop() {
    let clip = "    torch.nn.utils.clip_grad_norm(model.parameters(), 1.0)\n    optimizer.step";
    check_ported(
        &format!("{HEAD}for x, y in loader:\n{}", step("2", 1).replace("    optimizer.step", clip)),
        "loss = loss.mean()\n",
    );
    let (ported, _) =
        to_ipu(&format!("{HEAD}for x, y in loader:\n{}", step("2", 1).replace("    optimizer.step", clip)));
    assert!(ported.contains("max_grad_norm=1.0") && !ported.contains("clip_grad"), "{ported}");
}

#[test]
fn what_is_altered_in_its_place_moves_along() {
    for alters in ["out[out > 1] = 1", "out.clamp_(0, 1)", "y[y < 0] += 1"] {
        let text = format!(
            "{HEAD}for x, y in loader:\n{}",
            step("2", 1).replace("    loss = F", &format!("    {alters}\n    loss = F"))
        );
        check_ported(&text, &format!("        {alters}\n        loss = F"));
    }
    let table = "losses = {}\n    losses['fit'] = F.mse_loss(out, y)\n    loss = sum(losses.values())\n    #";
    let text = format!("{HEAD}for x, y in loader:\n{}", step("2", 1).replace("loss = F", table));
    check_ported(&text, "        losses['fit'] = F.mse_loss(out, y)\n        loss = sum");
}

#[test]
fn what_a_function_calls_is_a_part_and_no_input() {
    let text = format!(
        "{HEAD}warp = Warp()\n\n\ndef forward(x, model, warp):\n    field = model(x)\n    return warp(x, field)\n\n\nfor x, y in loader:\n    \
         moved = forward(x, model, warp)\n    loss = F.mse_loss(moved, y)\n    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"
    );
    check_ported(&text, "ipu_training_step(optimizer, model, warp)");
}

#[test]
fn functions_of_other_files_get_the_weights_of_the_moment() {
    let (head, body) =
        (HEAD.replace("import torch\n", "import torch\nfrom others import evaluate, start, tiles\n"), step("2", 2));
    let loops = "for epoch in range(9):\n    for x, y in loader:\n";
    let text = format!(
        "{head}start(model)\n{loops}{body}    print(evaluate(model, others))\n    with torch.no_grad():\n        \
         print(tiles(x, 3, predictor=model))\n"
    );
    let fetch = "detach_from_ipu(ipu_training_steps.values())\n";
    check_ported(
        &text,
        &format!("    {fetch}    print(evaluate(model, others))\n    {fetch}    with torch.no_grad():\n"),
    );
    assert_eq!(to_ipu(&text).0.matches(fetch).count(), 2, "nothing infers here");
    let (ported, said) = to("rdu", &text);
    assert!(
        ported.contains("    rdu.fetch()\n    print(evaluate(model, others))\n    rdu.fetch()\n    with"),
        "{said}{ported}"
    );

    let helpers = "\n\ndef infer(x):\n    def tile(x):\n        return tiles(x, model)\n    return tile(x)\n\n\n";
    let ahead = "model_inferer = partial(tiles, predictor=model)\n";
    let text = format!(
        "{head}{ahead}{helpers}{loops}{body}    with torch.no_grad():\n        print(infer(x), model_inferer(x))\n"
    );
    check_ported(&text, &format!("        {fetch}        return tiles(x, model)\n"));
    check_ported(&text, &format!("    {fetch}    with torch.no_grad():\n        print(infer(x), model_inferer(x))\n"));

    let train = format!("def train(model, optimizer):\n    for x, y in loader:\n{body}");
    let main = "def main():\n    start(model)\n    for epoch in range(9):\n        train(model, optimizer)\n        if epoch:\n            \
                evaluate(model, others)\n        print(model(example))\n";
    let text = format!("{head}\n\n{train}\n\n{main}");
    check_ported(&text, &format!("        train(model, optimizer)\n        {fetch}        if epoch:\n"));
    check_ported(&text, &format!("        {fetch}        print(model(example))\n"));
}

#[test]
fn an_optimizer_that_the_target_does_not_have_is_told_where_it_is_made() {
    let other = "if args.lookahead:\n    optimizer = Lookahead(model.parameters())\n";
    let text = format!("{HEAD}{other}for x, y in loader:\n{}", step("2", 1));
    let (ported, said) = to_ipu(&text);
    assert!(ported.contains("training_step(x, y)") && said.contains("7: PopTorch runs SGD"), "{said}");
    let (ported, said) = to("rdu", &text);
    assert!(ported == text && said.contains("7: the step is not ported"), "{said}");
}

#[test]
fn what_both_sides_of_a_test_do_is_not_asked_for() {
    let wrap = "if args.wide:\n    model = torch.nn.DataParallel(model)\nelse:\n    model = torch.nn.DataParallel(model.half())\n";
    let text = |wrap: &str| {
        format!("{}for x, y in loader:\n{}", HEAD.replace("optimizer", &format!("{wrap}optimizer")), step("2", 1))
    };
    let (ported, said) = to("rdu", &text(wrap));
    assert!(ported == text(wrap) && said.contains("6: the step is not ported"), "{said}");
    let one = wrap.split("else").next().unwrap_or_default();
    assert!(to("rdu", &text(one)).0.contains("rdu.forward(x)"));
}

#[test]
fn what_reads_the_weights_later_reads_those_of_the_moment() {
    let fetch = "detach_from_ipu(ipu_training_steps.values())\n";
    let loops = format!("for x, y in loader:\n{}", step("2", 1));
    for reads in [
        "sample = model.decode(z)",
        "weights = model.state_dict()",
        "for a, b in zip(ema.parameters(), model.parameters()):\n    a.mul_(b)",
    ] {
        check_ported(&format!("{HEAD}{loops}{reads}\n"), &format!("\n{fetch}{reads}"));
    }
    // Models for inference give the IPU back too, where there are any.
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
    for other in ["model.eval()", "model.load_extra(path)", "print(model)"] {
        let (ported, _) = to_ipu(&format!("{HEAD}{loops}{other}\n"));
        assert!(ported.ends_with(&format!("loss.mean()\n{other}\n")), "{ported}");
    }
}

#[test]
fn gradients_in_the_loss_are_told_where_they_are_asked_for() {
    let penalty = "    slope = torch.autograd.grad(out.sum(), x)[0]\n    loss = F";
    let text = format!("{HEAD}for x, y in loader:\n{}", step("2", 1).replace("    loss = F", penalty));
    for target in ["ipu", "rdu"] {
        let (ported, said) = to(target, &text);
        assert!(ported == text && said.contains("8: ") && said.contains("gradients are part of what"), "{said}");
    }
}

#[test]
fn a_checkpoint_is_told_beside_the_trainer_that_it_belongs_to() {
    let save = "import torch\n\n\ndef keep(model, path):\n    for _ in range(2):\n        torch.save(model.state_dict(), path)\n";
    let trainer = format!("from keeping import keep\n{HEAD}for x, y in loader:\n{}", step("2", 1));
    let file = |path: &str, text: &str| SourceFile { path: path.to_owned(), text: text.to_owned() };
    let files = [
        file("a.py", &format!("{HEAD}for x, y in loader:\n{}", step("3", 1))),
        file("b.py", &trainer),
        file("keeping.py", save),
        file("other.py", save),
    ];
    let options = Options { target: "ipu".to_owned(), style: Style::InPlace, ..Options::default() };
    let ported = port(&files, &RecipeSet::embedded(), &options);
    let said = |n: usize| ported.files[n].diagnostics.iter().map(|d| d.message.clone()).collect::<String>();
    assert!(said(2).contains("of `b.py` before this"), "{}", said(2));
    assert!(!said(3).contains("before this"), "{}", said(3));
}

#[test]
fn a_comment_inside_a_statement_of_the_step_leaves_all_of_the_step() {
    for loss in [
        "    loss = F.mse_loss(\n        out,  # of this batch\n        y,\n    )\n    loss.backward()\n",
        "    F.mse_loss(\n        out,  # of this batch\n        y,\n    ).backward()\n",
    ] {
        let text = format!(
            "{HEAD}for x, y in loader:\n    out = model(x)\n{loss}    optimizer.step()\n    optimizer.zero_grad()\n"
        );
        for target in ["ipu", "popdist"] {
            let (ported, said) = to(target, &text);
            let kept = [loss, "    out = model(x)\n", "    optimizer.step()\n    optimizer.zero_grad()\n"];
            assert!(kept.iter().all(|part| ported.contains(part)), "{target}: {ported}");
            assert!(said.contains("8: not ported"), "{target}: {said}");
        }
    }
}
