//! Training steps of programs that were read: what keeps them from being ported, what does not, and what is said of them.

mod said;

use said::{STEP, check_said, ported};

/// What is said of a file in a folder of several.
fn check_in_project(target: &str, files: &[(&str, &str)], words: &str, is_said: bool) {
    let (after, said) = ported(target, files);
    assert_eq!(said.contains(words), is_said, "{words}: {said}{}", after[0]);
}

#[test]
fn what_no_program_uses_keeps_no_step_from_being_ported() {
    let demo = "\n\ndef demo():
    torch.distributed.init_process_group('nccl')
    other = torch.nn.Linear(3, 3)
    optimizer = torch.optim.Rprop(other.parameters())
    print(other(torch.ones(3)), optimizer)\n\n
";
    let program = STEP.replace("\nmodel =", &format!("{demo}model ="));
    for (target, call) in [("ipu", "training_step("), ("rdu", "rdu.update()")] {
        let (after, said) = ported(target, &[("a.py", &program)]);
        assert!(after[0].contains(call) && after[0].contains("torch.optim.Rprop("), "{said}{}", after[0]);
        let used = format!("{program}demo()\n");
        check_said(target, &used, "Not ported");
    }
}

#[test]
fn what_a_tuple_assigns_is_part_of_a_step() {
    let models = "model, head = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)\nweights, other = torch.ones(3), 2\n";
    let program =
        STEP.replace("model = torch.nn.Linear(3, 3)\n", models).replace("model(x)", "head(model(x)) * weights");
    let (after, said) = ported("ipu", &[("a.py", &program)]);
    assert!(after[0].contains("def __init__(self, head, model, weights):"), "{said}{}", after[0]);
    assert!(after[0].contains("self.register_buffer(\"weights\", weights)"), "{said}{}", after[0]);
}

#[test]
fn an_object_is_no_input_of_a_step() {
    let program = STEP.replace("for x, y in loader", "for x in trees").replace("(out, y)", "(out, x.label)");
    check_said("ipu", &program, "Pass tensors to the compiled step");
    check_said("rdu", &program, "Not ported: the model's arguments are not all positional tensors");
    let tensor = STEP.replace("(out, y)", "(out, x.T)").replace("for x, y in loader", "for x in loader");
    assert!(ported("rdu", &[("a.py", &tensor)]).0[0].contains("rdu.update()"));
}

#[test]
fn a_state_that_the_first_batch_lacks() {
    let carried = STEP.replace("model(x)\n", "model(x, state)\n").replace("    out =", "    out, state =");
    let detached = carried.replace("    loss =", "    state = state.detach()\n    loss =");
    let begun = |value: &str| detached.replace("for x, y", &format!("state = {value}\nfor x, y"));
    check_said("ipu", &begun("None"), "Not ported: `state` is None for the first batch");
    let function = |first: &str, call: &str| {
        let (head, body) = detached.split_once("for x, y").unwrap();
        let body = format!("for x, y{body}").replace('\n', "\n    ");
        format!("{head}def run(given=None):\n{first}    {}\n{call}\n", body.trim_end())
    };
    check_said("ipu", &function("    state = given\n", "run()"), "Not ported: `state` is None for the first batch");
    let tested = "    state = given\n    if state is None:\n        state = torch.zeros(3)\n";
    for (first, call) in [(tested, "run()"), ("    state = given\n", "run(torch.zeros(3))")] {
        let (after, said) = ported("ipu", &[("a.py", &function(first, call))]);
        assert!(after[0].contains("state, loss = training_step(x, state, y)\n"), "{said}{}", after[0]);
    }
    // What follows the call of the compiled step may change what goes in at the next turn.
    let (after, said) = ported("ipu", &[("a.py", &begun("torch.zeros(3)"))]);
    assert!(after[0].contains("    state = state.detach()\n"), "{said}{}", after[0]);
    assert!(after[0].contains("state, loss = training_step(x, state, y)\n"), "{said}{}", after[0]);
}

#[test]
fn a_helper_that_reads_gradients() {
    let clipped = STEP.replace("    optimizer.step()", "    clip_gradient(optimizer, 0.5)\n    optimizer.step()");
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
fn a_rate_that_a_function_of_another_file_sets_is_handed_over() {
    let head = "def train(model, optimizer, loader):\n    for x, y in loader:";
    let (before, loop_) = STEP.split_once("for x, y in loader:").expect("a loop");
    let inner = loop_.replace("\n", "\n    ");
    let calls = "for epoch in range(3):\n    adjust_lr(optimizer, epoch)\n    train(model, optimizer, loader)\n";
    let program = format!("from rates import adjust_lr\n{before}\n\n{head}{}\n\n{calls}", inner.trim_end());
    let (after, said) = ported("ipu", &[("a.py", &program)]);
    assert!(
        after[0].contains("adjust_lr(optimizer, epoch)\n    update_ipu_optimizer(optimizer)"),
        "{said}{}",
        after[0]
    );
}

#[test]
fn weights_are_frozen_before_the_optimizer_is_made() {
    let frozen = "for weight in model.parameters():\n    weight.requires_grad = False\nweights = model.parameters()\n";
    let body =
        STEP.replace("optimizer =", &format!("{frozen}optimizer =")).replace("Adam(model.parameters()", "Adam(weights");
    let (head, rest) = body.split_once("model =").expect("a model");
    let program = format!("{head}\n\ndef main():\n    model ={}\n\nmain()\n", rest.trim_end().replace("\n", "\n    "));
    let (after, said) = ported("rdu", &[("a.py", &program)]);
    assert!(after[0].contains("rdu.update()"), "{said}{}", after[0]);
}

#[test]
fn a_loss_that_is_an_object_of_a_class_without_layers() {
    let class = "class Relative:\n    def __call__(self, out, y):\n        return self.rel(out, y)\n\n    def rel(self, out, y):
        error = (out - y).abs()\n        return error[y > 0].mean()\n";
    let other = "\n\nclass Crop:\n    def __call__(self, image):\n        return image[image > 0]\n";
    let program = STEP
        .replace("\nmodel =", "from losses import Crop, Relative\n\ncriterion = Relative()\ncrop = Crop()\nmodel =")
        .replace("F.mse_loss(out, y)", "criterion(out, y)");
    let (_, said) = ported("ipu", &[("a.py", &program), ("losses.py", &format!("{class}{other}"))]);
    assert_eq!(said.matches("The shape of this result depends on values").count(), 1, "{said}");
    let tested = class.replace(
        "        return error",
        "        if error.any():\n            error = error + 1\n        return error",
    );
    let (head, body) = program.split_once("criterion =").unwrap();
    let body = format!("criterion ={body}").replace('\n', "\n    ");
    let in_function = format!("{head}\n\ndef main():\n    {}\n\n\nmain()\n", body.trim_end());
    let (after, said) = ported("ipu", &[("a.py", &in_function), ("losses.py", &tested)]);
    assert!(after[0].contains("self.criterion(out, y)"), "{said}{}", after[0]);
    assert!(said.contains("values can't be tested here"), "{said}");
}

#[test]
fn a_rate_that_changes_between_the_loss_and_the_update() {
    let plan = "plan = torch.optim.lr_scheduler.StepLR(optimizer, 9)\n";
    let program = STEP.replace("for x, y", &format!("{plan}for x, y"));
    let early = program.replace("    optimizer.zero_grad()", "    plan.step()\n    optimizer.zero_grad()");
    check_said("ipu", &early, "10: Not ported: this changes the learning rate between the loss and the update");
    check_in_project("rdu", &[("a.py", &early)], "changes the learning rate", false);
    check_in_project("ipu", &[("a.py", &format!("{program}    plan.step()\n"))], "changes the learning rate", false);
}

#[test]
fn samples_that_a_loop_cuts_on_the_rdu() {
    let cut = STEP.replace(
        "for x, y in loader:",
        "for i in range(0, len(images), 8):\n    x, y = images[i:i + 8], labels[i:i + 8]",
    );
    check_said("rdu", &cut, "`range(0, len(images) - 8 + 1, 8)`");
}

#[test]
fn a_test_of_a_setting_that_is_converted() {
    let weighed =
        STEP.replace("    loss =", "    if int(args.steps) > 0:\n        out = out * float(args.weight)\n    loss =");
    let program = weighed.replace("\nmodel =", "\nargs = parse()\nmodel =");
    let (after, said) = ported("ipu", &[("a.py", &program)]);
    assert!(
        after[0].contains("if int(self.args.steps) > 0:") || after[0].contains("training_step("),
        "{said}{}",
        after[0]
    );
    check_said("ipu", &program.replace("int(args.steps)", "int(x)"), "Not ported: a test or loop");
    let scaled = STEP
        .replace("    loss.backward()", "    scaler.scale(loss).backward()\n    if device.type == 'cuda' and AMP:\n        scaler.unscale_(optimizer)")
        .replace("optimizer.step()", "scaler.step(optimizer)\n    scaler.update()")
        .replace("\nmodel =", "\nscaler = torch.cuda.amp.GradScaler()\nmodel =");
    let (after, said) = ported("ipu", &[("a.py", &scaled)]);
    assert!(after[0].contains("training_step(") && !after[0].contains("unscale_"), "{said}{}", after[0]);
}

#[test]
fn a_demonstration_in_a_module_of_a_program_is_no_warning() {
    let net =
        "import torch\n\n\nclass Net(torch.nn.Module):\n    pass\n\n\nif __name__ == '__main__':\n    Net().cuda()\n";
    let program = STEP.replace("\nmodel = torch.nn.Linear(3, 3)", "from net import Net\n\nmodel = Net()");
    check_in_project("ipu", &[("a.py", &program), ("net.py", net)], "`.cuda()` remains", false);
    check_said("ipu", net, "`.cuda()` remains");
}

#[test]
fn an_optimizer_that_the_target_lacks_in_a_branch() {
    let made = "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n";
    let chosen = "if args.other:\n    optimizer = torch.optim.Adagrad(model.parameters())\nelse:\n";
    let (after, said) = ported("ipu", &[("a.py", &STEP.replace(made, &format!("{chosen}    {made}")))]);
    assert!(after[0].contains("training_step("), "{said}{}", after[0]);
    assert!(said.contains("6: PopTorch has no Adagrad, and fails when it compiles the step"), "{said}");
    check_said("ipu", &STEP.replace("Adam(", "Adagrad("), "Not ported: the IPU has no Adagrad");
}

#[test]
fn processes_of_pytorch_on_the_rdu() {
    let head = "import torch.distributed as dist\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n";
    let group = "dist.init_process_group('nccl')\nrank = dist.get_rank()\n";
    let program = format!("{head}{STEP}").replace("\nmodel =", &format!("\n{group}model ="));
    let program = program.replace("optimizer =", "model = DDP(model, device_ids=[rank])\noptimizer =");
    let (after, said) = ported("rdu", &[("a.py", &program)]);
    assert!(after[0].contains("rdu.update()") && after[0].contains("rank = process_rank()"), "{said}{}", after[0]);
    assert!(!after[0].contains("DDP(") && !after[0].contains("init_process_group"), "{said}{}", after[0]);
    check_said(
        "rdu",
        &format!("{program}torch.multiprocessing.spawn(main, nprocs=2)\n"),
        "Not ported: this starts processes",
    );
}

#[test]
fn a_class_of_optimizers_under_a_name_of_its_own() {
    let made = "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n";
    let program =
        STEP.replace(made, "chosen = getattr(torch.optim, args.name)\noptimizer = chosen(model.parameters())\n");
    check_said("ipu", &program, "6: `chosen` does not build a `poptorch.optim` optimizer");
}

#[test]
fn several_models_take_turns_in_evaluation() {
    let models = "model, head = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)\n";
    let program = STEP.replace("model = torch.nn.Linear(3, 3)\n", models).replace("model(x)", "head(model(x))")
        + "with torch.no_grad():\n    for x, y in others:\n        score(head(model(x)), y)\n";
    let (after, said) = ported("ipu", &[("a.py", &program)]);
    assert!(after[0].contains("score(ipu_inference(head)(ipu_inference(model)(x)), y)"), "{said}{}", after[0]);
    // Both are asked for before one runs, so a model frees the IPU when it runs.
    let (_, infer) = after[0].split_once("    def infer(*batch, **named):\n").expect("inference");
    assert!(infer.contains("        detach_from_ipu(other for"), "{}", after[0]);
}

#[test]
fn a_loop_that_trains_or_evaluates_on_the_rdu() {
    let (head, body) = STEP.split_once("for x, y").unwrap();
    let (forward, update) = body.split_once("    optimizer.zero_grad()\n").unwrap();
    let update = format!("    optimizer.zero_grad()\n{update}").trim_end().replace("    ", "            ");
    let run = |test: &str, parameters: &str| {
        let forward = forward.replace("\n    ", "\n        ");
        let loop_ = format!("    for x, y{forward}        if {test}:\n{update}\n");
        format!("{head}\ndef run(loader, {parameters}):\n{loop_}\nrun(loader, optimizer)\nrun(others, None)\n")
    };
    for (test, parameters) in [("is_train", "is_train=True"), ("optimizer is not None", "optimizer=None")] {
        let (after, said) = ported("rdu", &[("a.py", &run(test, parameters))]);
        let call = format!("out = rdu.forward(x) if {test} else rdu.evaluate(x)\n");
        assert!(after[0].contains(&call) && after[0].contains("rdu.update()"), "{said}{}", after[0]);
    }
    check_said("rdu", &run("out.mean() > 0", "is_train"), "Not ported: a test decides whether this part");
    let (after, said) = ported("ipu", &[("a.py", &run("optimizer is not None", "optimizer=None"))]);
    assert!(
        after[0].contains("if optimizer is not None:") && after[0].contains("ipu_inference("),
        "{said}{}",
        after[0]
    );
}

#[test]
fn named_arguments_of_a_model_on_the_rdu() {
    let class = "class Net(torch.nn.Module):\n    def forward(self, image, mask):\n        return image * mask\n\n\nmodel = Net()";
    let call = |call: &str| STEP.replace("model = torch.nn.Linear(3, 3)", class).replace("model(x)", call);
    for named in ["model(image=x, mask=y)", "model(x, mask=y)"] {
        let (after, said) = ported("rdu", &[("a.py", &call(named))]);
        assert!(after[0].contains("out = rdu.forward(x, y)"), "{said}{}", after[0]);
        assert!(after[0].contains("names = (\"x\", \"y\",)"), "{said}{}", after[0]);
    }
    check_said("rdu", &call("model(mask=y, image=x)"), "Not ported: the model's arguments are not all positional");
}

#[test]
fn a_loss_that_is_the_sum_of_a_list() {
    let program = STEP.replace("    out = model(x)\n", "    (out, (middle, _)), last = model(x)\n").replace(
        "    loss =",
        "    losses = [middle.mean(), last.mean(), F.mse_loss(out, y)]\n    loss = sum(losses)\n    other =",
    );
    let (after, said) = ported("ipu", &[("a.py", &program)]);
    assert!(after[0].contains("        loss = sum(losses)\n        return"), "{said}{}", after[0]);
    let stacked = program.replace("sum(losses)", "torch.stack(losses).sum()");
    assert!(ported("ipu", &[("a.py", &stacked)]).0[0].contains("loss = torch.stack(losses).sum()"));
}

#[test]
fn names_of_the_port_that_the_program_has() {
    let program = STEP
        .replace("for x, y in", "for training_step, (x, y) in enumerate(")
        .replace("loader:", "loader):")
        .replace("    out = model", "    out = training_step * model")
        + "    print(training_step)\n";
    let program = program.replace("\nmodel", "class TrainingStep:\n    opts = 1\n\n\nmodel");
    for target in ["ipu", "popdist"] {
        let (after, said) = ported(target, &[("a.py", &program)]);
        assert!(after[0].contains("    compiled_step = ipu_training_step(optimizer, model)\n"), "{said}{}", after[0]);
        assert!(after[0].contains("class CompiledStep(torch.nn.Module)"), "{said}{}", after[0]);
        assert!(after[0].contains("step = CompiledStep(*parts)"), "{said}{}", after[0]);
        assert!(after[0].contains("options=ipu_opts") && after[0].contains("print(training_step)"), "{}", after[0]);
        assert!(after[0].contains("float(training_step)"), "{}", after[0]);
    }
    let process = "import torch.distributed as dist\n";
    let ranked = format!("{process}{STEP}process_rank = dist.get_rank()\n");
    check_said("rdu", &ranked, "the port needs the name `process_rank`");
}

#[test]
fn a_generator_may_yield_a_shorter_last_batch() {
    let shorter = "the last batch that this yields is shorter";
    let text = |batches: &str| {
        STEP.replace("in loader:", "in batches(data, 32):").replace("\nmodel", &format!("{batches}\n\nmodel"))
    };
    let by_range = "\ndef batches(data, size):\n    for i in range(0, len(data), size):\n        yield data.x[i:i + size], data.y[i:i + size]\n";
    check_said("ipu", &text(by_range), shorter);
    let by_starts = "\ndef batches(data, size):\n    for i in starts:\n        yield data[i:i + size]\n";
    check_said("ipu", &text(by_starts), shorter);
}

#[test]
fn a_limit_that_the_training_function_is_given() {
    let clip = "    torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)\n    optimizer.step()";
    let (head, body) = STEP.split_once("for x, y").unwrap();
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
    let clips = |norm: &str| STEP.replace("    optimizer.step", &format!("    {norm}\n    optimizer.step"));
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

#[test]
fn a_limit_of_the_gradients_that_callers_pass() {
    let (head, body) = STEP.split_once("for x").unwrap();
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
    for call in ["train(1.0)\ntrain(2.0)\n", "later = 1.0\ntrain(later)\n"] {
        assert!(known(call).1.contains("the clipping limit is unknown"), "{}", known(call).1);
    }
}
