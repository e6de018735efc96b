//! Constants, outputs and settings of a compiled step.

mod ported;

use codemod::{Options, RecipeSet, Style, port};
use ported::to;
use python::SourceFile;

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

fn check_refused(text: &str, words: &str) {
    let (ported, said) = to_ipu(text);
    assert_eq!(ported, text);
    assert!(said.contains(words), "{said}");
}

fn check_ported(text: &str, words: &str) {
    let (ported, said) = to_ipu(text);
    assert!(ported.contains("training_step(x, y)") && ported.contains(words), "{said}{ported}");
}

/// Ported with the number as an input for each sample.
fn check_input(text: &str, number: &str) {
    check_numbers(text, "x, y", number);
}

fn check_numbers(text: &str, batch: &str, number: &str) {
    let (ported, said) = to_ipu(text);
    let call = format!("training_step({batch}, torch.full((len(x),), float({number})))");
    assert!(ported.contains(&call) && ported.contains("[0]\n        out = self.model(x)\n"), "{said}{ported}");
}

#[test]
fn a_number_that_changes_comes_with_the_batch() {
    let epochs = "for epoch in range(9):\n";
    let batches = "    for x, y in loader:\n";
    let inner = step("beta", 2);
    check_input(&format!("{HEAD}{epochs}    beta = epoch / 9\n{batches}{inner}"), "beta");
    check_input(&format!("{HEAD}beta = 0.0\n{epochs}{batches}{inner}    beta += 0.1\n"), "beta");

    let train = |given: &str, above: &str, weight: &str| {
        let step = step(weight, 2);
        format!("{HEAD}\n\ndef train(epoch, size):\n{above}{batches}{step}\n\n{epochs}    train({given})\n")
    };
    check_input(&train("epoch, 3", "", "min(1, epoch / 9)"), "min(1, epoch / 9)");
    check_input(&train("epoch, size=epoch + 1", "", "size"), "size");
    check_input(&train("epoch, 3", "    beta = min(1, epoch / 9)\n", "beta"), "beta");
    let elsewhere =
        train("epoch, 3", "    model.train()\n", "epoch").replace(&format!("\n\n{epochs}    train(epoch, 3)"), "");
    check_input(&elsewhere, "epoch");
    check_ported(&train("epoch, 3", "    beta = 1 / size\n", "beta"), "self.beta * out");
    // A named argument is not mistaken for the one at its position.
    let named = train("epoch=epoch", "", "size").replace("(epoch, size)", "(size=2, epoch=0)");
    check_ported(&named, "self.size * out");

    // A counter of the loop itself; a value that is reset in each iteration is not one.
    let counted =
        |start: &str, first: &str| format!("{HEAD}{start}for x, y in loader:\n{first}    n += 1\n{}", step("n", 1));
    check_input(&counted("n = 0\n", ""), "n");
    let (ported, said) = to_ipu(&counted("", "    n = 0\n"));
    assert!(ported.contains("ipu_training_step(optimizer"), "{said}");
}

#[test]
fn what_changes_and_is_no_number_to_compute_with_is_refused() {
    let epochs = "for epoch in range(9):\n    for x, y in loader:\n";
    let unknown = epochs.replace("    for", "    beta = schedule(epoch)\n    for");
    check_refused(&format!("{HEAD}{unknown}{}", step("beta", 2)), "10: Not ported: `beta` changes");
    check_refused(&format!("{HEAD}{epochs}{}", step("weights[epoch]", 2)), "9: Not ported: `epoch` changes");
    check_refused(&format!("{HEAD}{epochs}{}", step("noise(epoch)", 2)), "9: Not ported: `epoch` changes");
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
    // The constructor's argument may be anything.
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
    check_refused(&format!("{HEAD}for x, y in loader:\n{body}{read}"), "9: Not ported: `penalty` is assigned only");
    let given = body.replace("    if", "    penalty = torch.zeros(())\n    if");
    check_ported(&format!("{HEAD}for x, y in loader:\n{given}{read}"), "penalty, loss = training_step");
    check_ported(&format!("{HEAD}for x, y in loader:\n{body}"), "loss = training_step");
}

#[test]
fn state_that_goes_from_turn_to_turn_comes_back() {
    let call =
        |state: &str| STEP.replace("out = model(x)", &format!("{state}out, h = model(x, h)")).replace("WEIGHT", "2");
    let indented = |text: &str| text.lines().map(|line| format!("    {line}\n")).collect::<String>();
    for state in ["", "h = h.detach()\n", "h = [part.detach() for part in h]\n"] {
        let text = format!("{HEAD}h = start()\nfor x, y in loader:\n{}", indented(&call(state)));
        let (ported, said) = to_ipu(&text);
        assert!(ported.contains("h, loss = training_step(x, h, y)"), "{said}{ported}");
        assert!(ported.contains("return h, poptorch.identity_loss"), "{ported}");
    }
    // A value that is reset in every iteration is not carried.
    let (ported, said) = to_ipu(&format!("{HEAD}for x, y in loader:\n{}", indented(&call("h = start(x)\n"))));
    assert!(ported.contains("    loss = training_step(x, h, y)"), "{said}{ported}");
}

#[test]
fn gradients_are_not_read_on_the_host() {
    let body = |line: &str| step("2", 1).replace("    optimizer.step", &format!("    {line}\n    optimizer.step"));
    let reads = "norms = [p.grad.norm() for p in model.parameters()]";
    check_refused(&format!("{HEAD}for x, y in loader:\n{}", body(reads)), "11: Not ported: this reads a gradient");
}

#[test]
fn settings_decide_before_there_is_any_data() {
    let train = |call: &str| {
        let test = "        if penalise:\n            loss = loss + out.abs().mean()\n        optimizer.zero_grad";
        let body = step("2", 2).replace("        optimizer.zero_grad", test);
        let clip = "        if limit > 0:\n            torch.nn.utils.clip_grad_norm_(model.parameters(), limit)\n        optimizer.step";
        let body = body.replace("        optimizer.step", clip);
        format!(
            "{HEAD}\n\ndef train(penalise, limit=0):\n    for x, y in loader:\n{body}\n\nfor epoch in range(9):\n    train({call})\n"
        )
    };
    let (ported, said) = to_ipu(&train("args.penalise, args.limit"));
    assert!(
        ported.contains("        if self.penalise:\n            loss = loss + out.abs().mean()\n"),
        "{said}{ported}"
    );
    assert!(ported.contains("if limit > 0:\n            optimizer.max_grad_norm = limit\n"), "{ported}");
    check_refused(&train("epoch > 3"), "12: Not ported: a test or loop lies between");
}

#[test]
fn mixed_precision_goes_on_whichever_side_it_is() {
    let plain = "        loss.backward()\n        optimizer.step()\n";
    let scaled = "        scaler.scale(loss).backward()\n        scaler.step(optimizer)\n        scaler.update()\n";
    let steps = step("2", 1);
    let head = HEAD.replace("model =", "scaler = torch.cuda.amp.GradScaler() if args.amp else None\nmodel =");
    let (above, _) = steps.split_once("    loss.backward()").expect("the step goes backward");
    for (test, first, second) in [("scaler is None", plain, scaled), ("scaler is not None", scaled, plain)] {
        let text = format!("{head}for x, y in loader:\n{above}    if {test}:\n{first}    else:\n{second}");
        let (ported, said) = to_ipu(&text);
        assert!(ported.ends_with("training_step(x, y)\n    loss = loss.mean()\n"), "{said}{ported}");
    }
}

#[test]
fn statements_on_one_line_get_a_line_each() {
    let line =
        "    out = model(x); loss = F.mse_loss(out, y); optimizer.zero_grad(); loss.backward(); optimizer.step()\n";
    let (ported, said) = to_ipu(&format!("{HEAD}for x, y in loader:\n{line}"));
    assert!(ported.ends_with("training_step(x, y)\n    loss = loss.mean()\n"), "{said}{ported}");
    for line in ["optimizer.zero_grad(); loss.backward(); optimizer.step()", "loss.backward(); optimizer.step()"] {
        let text = format!("{HEAD}for x, y in loader:\n    loss = F.mse_loss(model(x), y)\n    {line}\n");
        let (ported, said) = to_ipu(&text);
        assert!(ported.ends_with("training_step(x, y)\n    loss = loss.mean()\n"), "{said}{ported}");
        let (ported, said) = to_ipu(&text.replace("step()\n", "step(); n += 1\n"));
        assert!(ported.ends_with("training_step(x, y)\n    loss = loss.mean()\n    n += 1\n"), "{said}{ported}");
    }
    let line = "    F.mse_loss(model(x), y).backward(); optimizer.step(); optimizer.zero_grad()\n";
    let (ported, said) = to_ipu(&format!("{HEAD}for x, y in loader:\n{line}"));
    assert!(ported.ends_with("training_step(x, y)\n    loss = loss.mean()\n"), "{said}{ported}");
    check_refused(
        &format!("{HEAD}for x, y in loader:\n{}", line.replace("y).back", "y.item()).back")),
        "7: Not ported: a tensor is converted",
    );
}

#[test]
fn a_test_of_the_program_s_own_that_always_holds_stays() {
    let own = "if True:\n    print(1)\n";
    let step = "for i, (x, y) in enumerate(loader):\n    loss = F.mse_loss(model(x), y) / 4\n    loss.backward()\n    \
                if (i + 1) % 4 == 0:\n        optimizer.step()\n        schedule.step()\n        optimizer.zero_grad()\n";
    let loader = "loader = torch.utils.data.DataLoader(events, batch_size=8)\nschedule = torch.optim.lr_scheduler.StepLR(optimizer, 3)\n";
    let (ported, said) = to_ipu(&format!("{HEAD}{loader}{own}{step}"));
    assert!(ported.contains(own) && !ported.contains("is not False"), "{said}{ported}");
    assert!(ported.contains("    schedule.step()\n    training_step.setOptimizer(optimizer)\n"), "{ported}");
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
fn a_batch_is_an_input_whatever_it_is_called() {
    let step = "    optimizer.zero_grad()\n    out = model(INPUT)\n    loss = F.mse_loss(out, y)\n    loss.backward()\n    optimizer.step()\n";
    for name in ["model_input", "encoder_features"] {
        let step = step.replace("INPUT", name);
        let (ported, said) = to_ipu(&format!("{HEAD}for batch in loader:\n    {name}, y = split(batch)\n{step}"));
        assert!(ported.contains(&format!("training_step({name}, y)")), "{said}{ported}");
    }
    // A value that the loop assigns in every iteration is not a state, even if the step replaces it.
    let step = step
        .replace("INPUT", "batch")
        .replace("    loss", "    batch = shrink(batch)\n    loss")
        .replace("y)", "batch)");
    let (ported, said) = to_ipu(&format!(
        "{HEAD}for batch in loader:\n    batch = {{k: torch.as_tensor(v) for k, v in batch.items()}}\n{step}"
    ));
    assert!(!ported.contains("require_batch_first"), "{said}{ported}");
}

#[test]
fn weights_that_the_host_reads_are_fetched_first() {
    let text = format!(
        "{HEAD}for x, y in loader:\n{}left = model.weight.detach().numpy()\nbias = model.bias.data.cpu()\n",
        step("2", 1)
    );
    let (ported, said) = to("rdu", &text);
    assert!(ported.contains("rdu.fetch()\nleft = model") && ported.contains("rdu.fetch()\nbias"), "{said}{ported}");
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
    // PopTorch copies weights to the host when they are read there.
    check_ported(&text, "loss = loss.mean()\n    print(evaluate(model, others))\n    with torch.no_grad():\n");
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
    let (ported, said) = to("rdu", &text);
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
fn an_optimizer_that_the_target_does_not_have_is_told_where_it_is_made() {
    let other = "if args.lookahead:\n    optimizer = Lookahead(model.parameters())\n";
    let text = format!("{HEAD}{other}for x, y in loader:\n{}", step("2", 1));
    let (ported, said) = to_ipu(&text);
    assert!(ported.contains("training_step(x, y)") && said.contains("7: PopTorch supports only its own SGD"), "{said}");
    let (ported, said) = to("rdu", &text);
    assert!(ported == text && said.contains("7: Not ported"), "{said}");
}

#[test]
fn what_both_sides_of_a_test_do_is_not_asked_for() {
    let wrap = "if args.wide:\n    model = torch.distributed.fsdp.FullyShardedDataParallel(model)\nelse:\n    model = torch.distributed.fsdp.FullyShardedDataParallel(model.half())\n";
    let text = |wrap: &str| {
        format!("{}for x, y in loader:\n{}", HEAD.replace("optimizer", &format!("{wrap}optimizer")), step("2", 1))
    };
    let (ported, said) = to("rdu", &text(wrap));
    assert!(ported == text(wrap) && said.contains("6: Not ported"), "{said}");
    let one = wrap.split("else").next().unwrap_or_default();
    assert!(to("rdu", &text(one)).0.contains("rdu.forward(x)"));
}

#[test]
fn weights_are_the_host_s_again_where_it_replaces_them() {
    let fetch = "detach_from_ipu(ipu_training_steps.values())\n";
    let loops = format!("for x, y in loader:\n{}", step("2", 1));
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
    let body = step("2", 2).lines().map(|line| format!("    {line}\n")).collect::<String>();
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
fn gradients_in_the_loss_are_told_where_they_are_asked_for() {
    let penalty = "    slope = torch.autograd.grad(out.sum(), x)[0]\n    loss = F";
    let text = format!("{HEAD}for x, y in loader:\n{}", step("2", 1).replace("    loss = F", penalty));
    for target in ["ipu", "rdu"] {
        let (ported, said) = to(target, &text);
        assert!(ported == text && said.contains("8: ") && said.contains("gradients"), "{said}");
    }
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
            assert!(said.contains("8: Not ported"), "{target}: {said}");
        }
    }
}

/// A project: the result for each file, and the messages.
fn project(files: &[(&str, &str)]) -> Vec<(String, String)> {
    let file = |&(path, text): &(&str, &str)| SourceFile { path: path.to_owned(), text: text.to_owned() };
    let options = Options { target: "ipu".to_owned(), style: Style::InPlace, ..Options::default() };
    let ported = port(&files.iter().map(file).collect::<Vec<_>>(), RecipeSet::embedded(), &options);
    assert!(ported.certificate.parses && ported.certificate.idempotent);
    let said = |f: &codemod::PortedFile| f.diagnostics.iter().map(|d| format!("{}\n", d.message)).collect();
    ported.files.iter().map(|f| (f.text.clone(), said(f))).collect()
}

#[test]
fn a_gradient_that_is_given_is_no_loss() {
    let given = step("2", 1).replace("loss.backward()", "loss.backward(error)");
    let text = format!("{HEAD}for x, y in loader:\n{given}");
    let (ported, said) = to_ipu(&text);
    assert!(ported == text && said.contains("`backward` is called with a gradient"), "{said}{ported}");
}

#[test]
fn clipping_behind_the_update_clips_nothing() {
    let clip = "optimizer.step()\n    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n";
    let late = step("2", 1).replace("optimizer.step()\n", clip);
    let (ported, said) = to_ipu(&format!("{HEAD}for x, y in loader:\n    optimizer.zero_grad()\n{late}"));
    assert!(ported.contains("training_step(x, y)") && !ported.contains("max_grad_norm"), "{said}{ported}");
}

#[test]
fn steps_of_one_file_get_modules_of_their_own() {
    let function = |name: &str, loss: &str| {
        let body = step(loss, 1).replace('\n', "\n    ");
        let body = body.trim_end();
        format!("def {name}(model, optimizer, loader):\n    for x, y in loader:\n    {body}\n\n\n")
    };
    let (first, second, third) = (function("warm_up", "1"), function("train", "2"), function("left", "3"));
    let calls = "warm_up(model, optimizer, loader)\ntrain(model, optimizer, loader)\n";
    let (ported, said) = to_ipu(&format!("{HEAD}\n\n{first}{second}{third}{calls}"));
    assert!(ported.contains("class WarmUpStep(") && ported.contains("class TrainStep("), "{said}{ported}");
    assert!(ported.contains("ipu_training_step(TrainStep, optimizer, ") && !ported.contains("LeftStep"), "{ported}");
    assert!(ported.contains(third.trim_end()), "{ported}");
    // A refused step prevents the others: they may train the same weights.
    let refused = second.replace("loss.backward()", "loss.backward(error)");
    let text = format!("{HEAD}\n\n{first}{refused}{calls}");
    let (ported, said) = to_ipu(&text);
    assert!(ported == text && said.contains("another training step in this file can't be"), "{said}{ported}");
}

#[test]
fn an_optimizer_of_another_file_keeps_its_state() {
    let making = "import torch\n\n\ndef make(model):\n    return torch.optim.Adam(model.parameters(), lr=1e-3)\n";
    let head = HEAD.replace("torch.optim.Adam(model.parameters(), lr=1e-3)", "make(model)");
    let head = head.replacen('\n', "\nfrom making import make\n", 1);
    let train = format!("{head}for x, y in loader:\n{}", step("2", 1));
    let ported = project(&[("train.py", &train), ("making.py", making)]);
    assert!(ported[0].0.contains("training_step(x, y)"), "{}", ported[0].1);
    let made = "    import poptorch\n    return poptorch.optim.Adam(model.parameters(), lr=1e-3)\n";
    assert!(ported[1].0.ends_with(made), "{}", ported[1].0);
    // If a step remains, the optimizer may belong to that one.
    let refused = train.replace("loss.backward()", "loss.backward()\n    loss.backward()");
    let files = [("train.py", &*train), ("making.py", making), ("other.py", &*refused)];
    assert_eq!(project(&files)[1].0, making);
    // An optimizer created by a library can't be changed.
    let helper = train.replace("from making import make", "from timm.optim import make");
    let (ported, said) = to_ipu(&helper);
    assert!(
        ported.contains("training_step(x, y)") && said.contains("`make` does not build a `poptorch.optim` optimizer"),
        "{said}"
    );
}

#[test]
fn carried_state_is_checked_for_replicas() {
    let carried = STEP.replace("out = model(x)", "out, h = model(x, h)").replace("WEIGHT", "2");
    let carried: String = carried.lines().map(|line| format!("    {line}\n")).collect();
    let (ported, said) = to_ipu(&format!("{HEAD}h = start()\nfor x, y in loader:\n{carried}"));
    assert!(ported.contains("    require_batch_first(h, x)\n    h, loss = training_step(x, h, y)"), "{said}{ported}");
    let (ported, _) = to_ipu(&format!("{HEAD}for x, y in loader:\n{}", step("2", 1)));
    assert!(!ported.contains("require_batch_first"), "{ported}");
}

#[test]
fn weights_that_the_host_changes_go_to_the_target() {
    let clamp = "    for p in model.parameters():\n        p.data.clamp_(-1, 1)\n";
    let told =
        |before: &str, after: &str| to_ipu(&format!("{HEAD}for x, y in loader:\n{before}{}{after}", step("2", 1)));
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
fn what_may_change_the_rate_is_followed() {
    let told = |head: &str, before: &str, after: &str| {
        to_ipu(&format!("{head}{HEAD}for x, y in loader:\n{before}{}{after}", step("2", 1)))
    };
    for after in ["    plan.step()\n", "    adjust_learning_rate(optimizer, 3)\n"] {
        let (ported, said) = told("", "", after);
        assert!(ported.ends_with(&format!("{after}    training_step.setOptimizer(optimizer)\n")), "{said}{ported}");
    }
    // Before the compiled step there is none in the first iteration.
    let (ported, said) = told("", "    adjust_learning_rate(optimizer, 3)\n", "");
    assert!(ported.contains("(optimizer, 3)\n    update_ipu_optimizer(optimizer)\n"), "{said}{ported}");
    let (ported, _) = told("from torch.profiler import profile\nwatch = profile()\n", "", "    watch.step()\n");
    assert!(ported.contains("training_step(x, y)") && !ported.contains("setOptimizer"), "{ported}");
}

#[test]
fn a_scaler_that_is_handed_the_loss_is_written_out() {
    let handed = |given: &str| {
        let step = step("2", 2)
            .replace("loss.backward()\n        optimizer.step()", &format!("loss_scaler(loss, optimizer{given})"));
        format!("{HEAD}\n\ndef train(loader, loss_scaler, limit=None):\n    for x, y in loader:\n{step}")
    };
    let (ported, said) = to_ipu(&handed(""));
    assert!(ported.contains("training_step(x, y)") && !ported.contains("loss_scaler(loss"), "{said}{ported}");
    let (ported, said) = to_ipu(&handed(", clip_grad=1.0, parameters=model.parameters()"));
    assert!(ported.contains("max_grad_norm=1.0"), "{said}{ported}");
    let (ported, said) = to("rdu", &handed(", clip_grad=1.0, parameters=model.parameters()"));
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
fn lists_become_tensors_outside_of_the_step() {
    let collected = |out: &str, wanted: &str| {
        let step = step("0.1", 1).replace("model(x)", &format!("model({out})")).replace("y)", &format!("{wanted})"));
        to_ipu(&format!(
            "import numpy as np\n{HEAD}for batch in memory:\n    x, y = [], []\n    for a, b in batch:\n        \
                         x.append(a)\n        y.append(b)\n{step}"
        ))
        .0
    };
    let check = |out: &str, wanted: &str, call: &str| {
        let ported = collected(out, wanted);
        assert!(ported.contains(&format!("training_step({call})")), "{ported}");
        assert!(ported.contains("def forward(self, x, y):") && ported.contains("self.model(x)"), "{ported}");
    };
    let (made, stacked) = ("torch.tensor(x, dtype=torch.float32)", "torch.stack(y)");
    check(made, stacked, &format!("{made}, {stacked}"));
    let by_array = "torch.from_numpy(np.array(x))";
    check(by_array, "torch.as_tensor(y)", &format!("{by_array}, torch.as_tensor(y)"));
    // The call has arguments other than data and imports: it is moved unchanged.
    assert!(collected("torch.stack((x, x))", "y").contains("torch.stack((x, x))"));
}

/// A program that accumulates the gradients of some batches: the parameters and the beginning of the function that
/// trains, the number as it is written there, and its caller's code before it and arguments.
fn accumulates(more: &str, head: &str, number: &str, before: &str, given: &str) -> String {
    format!(
        "import json\nimport torch\nfrom torch.utils.data import DataLoader\n\n\n\
         def train(net, loader, opt{more}):\n{head}    for i, (x, y) in enumerate(loader):\n        \
         loss = torch.nn.functional.cross_entropy(net(x), y) / {number}\n        loss.backward()\n        \
         if (i + 1) % {number} == 0:\n            opt.step()\n            opt.zero_grad()\n\n\n\
         def main():\n{before}    net = torch.nn.Linear(4, 2)\n    opt = torch.optim.SGD(net.parameters(), lr=0.1)\n    \
         loader = DataLoader(data, batch_size=8)\n    train(net, loader, opt{given})\n\n\nmain()\n"
    )
}

/// The options receive the number of batches wherever a name, a setting or a literal has it by then.
#[test]
fn the_number_of_batches_is_read_where_the_options_are_made() {
    let read = "    with open('a.json') as file:\n        cfg = json.load(file)\n";
    let check = |text: &str, number: &str| {
        for target in ["ipu", "popdist"] {
            let (ported, said) = to(target, text);
            let told = format!(".Training.gradientAccumulation({number})");
            assert!(ported.contains(&told) && !ported.contains("% "), "{target}: {said}{ported}");
        }
    };
    let local = "    n = cfg['accumulate']\n";
    check(&accumulates(", cfg", local, "n", read, ", cfg"), "cfg['accumulate']");
    check(&accumulates(", cfg", "", "cfg['accumulate']", read, ", cfg"), "cfg['accumulate']");
    check(&accumulates(", n", "", "n", read, ", cfg['train']['n']"), "cfg['train']['n']");
    let gets = "    n = int(cfg.get('n', 1))\n";
    check(&accumulates(", cfg", gets, "n", read, ", cfg"), "int(cfg.get('n', 1))");
    check(&accumulates(", args", "    n = args.n\n", "n", "    args = parse()\n", ", args"), "args.n");
    check(&accumulates("", "    n = 4\n", "n", "", ""), "4");
    let table = accumulates("", "", "CFG['n']", "", "").replace("\n\n\ndef train", "\n\nCFG = {'n': 4}\n\n\ndef train");
    check(&table, "CFG['n']");
    let main = accumulates("", "", "n", "", "");
    let main = format!(
        "{}if __name__ == '__main__':\n    n = parse().n\n    net = torch.nn.Linear(4, 2)\n    \
         opt = torch.optim.SGD(net.parameters(), lr=0.1)\n    loader = DataLoader(data, batch_size=8)\n    train(net, loader, opt)\n",
        &main[..main.find("def main").unwrap()]
    );
    check(&main, "n");
}

/// A value that is reassigned after it was read is used as of the loader's creation.
#[test]
fn a_number_of_batches_that_is_set_anew() {
    let again = accumulates(", args", "", "args.n", "    args = parse()\n    args.n = max(1, args.n)\n", ", args");
    let (ported, said) = to_ipu(&again);
    let (set, told) = (ported.find("args.n = max"), ported.find("gradientAccumulation(args.n)"));
    assert!(set.is_some() && set < told, "{said}{ported}");
    // The constant is not the step's argument.
    let other = accumulates(", n", "", "n", "", ", 8").replace("\n\n\ndef train", "\n\nn = 4\n\n\ndef train");
    assert!(to_ipu(&other).0.contains("gradientAccumulation(8)"), "{}", to_ipu(&other).0);
}

/// Following a refusal's advice literally leads to a port.
#[test]
fn the_advice_about_the_number_of_batches_can_be_followed() {
    let twice =
        accumulates(", cfg", "    n = cfg['n']\n", "n", "    cfg = {}\n    train(net, loader, opt, cfg)\n", ", cfg");
    check_refused(&twice, "Assign it once at the top of the file, below the imports (`ACCUMULATE = 4`");
    let advised = twice
        .replace("    n = cfg['n']\n", "")
        .replace("\n\n\ndef train", "\n\nACCUMULATE = json.load(open('a.json'))['n']\n\n\ndef train")
        .replace(" n\n", " ACCUMULATE\n")
        .replace("% n ", "% ACCUMULATE ");
    let (ported, said) = to_ipu(&advised);
    assert!(ported.contains("gradientAccumulation(ACCUMULATE)"), "{said}{ported}");
}
