use super::{Module, end_of_imports, first_code};
use crate::marked::{self, names, with_setup};

/// The obstacles to reading the step of a program.
#[track_caller]
fn check(program: &str, expected: &str) {
    marked::check(program, expected, |at| match at.step() {
        Ok(step) => names(&step.obstacles),
        Err(obstacles) => names(&obstacles),
    });
}

#[test]
fn what_hinders_reading_a_step() {
    let step = |body: &str| with_setup(&format!("for x, y in loader:\n{body}\n"));
    let plain = "    loss = F.mse_loss(net(x), y)\n    loss.backward()\n    optimizer.step()";
    check(&step(plain), "");
    check(&step(&format!("{plain}\n    second_optimizer.step()")), "several_optimizers");
    check(&step(&format!("    net(y).backward()\n{plain}")), "several_backward");
    check(&step(&format!("    net(y).backward()\n    optimizer.step()\n{plain}")), "several_updates");
    check(&step("    net(x).backward()"), "no_update");
    check(&step("    net(x).backward()\n    optimizer.step(closure)"), "closure");
    check(&step(&format!("{plain}\n    print(net.weight.grad)")), "gradient_read");
    check(&step(&format!("    nn.utils.clip_grad_norm_(w, 1)\n{plain}")), "clipped_before_backward");
    check(&step(&plain.replace("loss.backward()", "engine.backward(loss)")), "backward_by_helper");
    check(&step(&plain.replace("backward()", "backward(create_graph=True)")), "gradients_in_loss");
    check(&with_setup("def fit(loss):\n    loss.backward()\n    optimizer.step()\n"), "loss_handed_in");
}

#[test]
fn what_another_file_differentiates() {
    let step = |loss: &str| {
        let body = format!("    loss = {loss}\n    loss.backward()\n    optimizer.step()\n");
        with_setup(&format!("from penalty import slope\nfor x in loader:\n{body}"))
    };
    let penalty = "#- penalty.py\nimport torch\ndef slope(x):\n    return torch.autograd.grad(x, x)\n";
    check(&format!("{}{penalty}", step("net(x) + slope(x)")), "gradients_in_loss");
    check(&format!("{}{penalty}", step("net(x)")), "");
}

#[test]
fn the_parts_of_a_step() {
    let program = "
        for epoch in range(3):
            for x, y in loader:
                optimizer.zero_grad()
                out = net(x)
                loss = F.mse_loss(out, y)
                loss.backward()
                optimizer.step()
    ";
    marked::check(&with_setup(program), "loss", |at| {
        at.step().expect("a step").name_of_loss().unwrap_or_default().to_owned()
    });
    marked::check(&with_setup(program), "for epoch in range(3):\nfor x, y in loader:\nloss.backward()", |at| {
        let step = at.step().expect("a step");
        at.lines([step.whole, step.body, step.end])
    });
    marked::check(&with_setup(program), "optimizer.zero_grad()\nout = net(x)\nloss = F.mse_loss(out, y)", |at| {
        at.lines(at.step().expect("a step").before)
    });
}

/// The statements from the model's call to the loss, or the obstacles to compiling them.
#[track_caller]
fn slice(before: &str, body: &str, expected: &str) {
    let program =
        format!("{before}\nfor epoch in range(3):\n    for x, y in loader:\n{body}\n        optimizer.step()\n");
    marked::check(&with_setup(&program), expected, |at| match at.step().expect("a step").slice() {
        Ok(slice) => at.lines(slice.statements),
        Err(obstacles) => names(&obstacles),
    });
}

#[test]
fn statements_from_the_model_to_the_loss() {
    let backward = "        loss.backward()";
    let loss = "        x = x / 255\n        out = net(x)\n        print(epoch)\n        loss = F.mse_loss(out, y)\n";
    slice("", &format!("{loss}{backward}"), "out = net(x)\nloss = F.mse_loss(out, y)");
    slice("", "        F.mse_loss(net(x), y).backward()", "loss_without_name");
    slice("", &format!("        loss = F.mse_loss(x, y)\n{backward}"), "model_call_elsewhere");
    slice("", &format!("        loss = net(x).item() + net(x)\n{backward}"), "number_before_loss");
    slice(
        "",
        &format!("        if x > y:\n            out = net(x)\n        loss = out\n{backward}"),
        "control_flow_before_loss",
    );
    slice("", "        loss = net(x)\n        loss.backward(gradient=y)", "gradient_given");
    slice("", &format!("        loss = net(x)\n        scheduler.step()\n{backward}"), "scheduled_before_update");
    let rate = "        for group in optimizer.param_groups:\n            group['lr'] = 0.1\n";
    slice("", &format!("        loss = net(x)\n{rate}{backward}"), "scheduled_before_update");
    let function = "def warm(optimizer):\n    optimizer.param_groups[0]['momentum'] = 0.5";
    slice(function, &format!("        loss = net(x)\n        warm(optimizer)\n{backward}"), "scheduled_before_update");
    slice(
        "",
        &format!("        loss = net(x)\n        if loss > 3:\n            continue\n{backward}"),
        "skipped_update",
    );
    slice("", "        loss = net(x)\n        if loss > 3:\n            loss.backward()", "conditional_update");
}

#[test]
fn a_function_with_the_model_or_the_loss() {
    let forward = "def run(x):\n    out = net(x)\n    return out";
    let body = "        out = run(x)\n        loss = F.mse_loss(out, y)\n        loss.backward()";
    slice(forward, body, "loss = F.mse_loss(out, y)");
    let whole = "def run(x, y):\n    out = net(x)\n    return F.mse_loss(out, y)";
    slice(whole, "        loss = run(x, y)\n        loss.backward()", "loss = run(x, y)");
    let other = whole.replace("    return", "    print(out)\n    return");
    slice(&other, "        loss = run(x, y)\n        loss.backward()", "model_call_elsewhere");
}

/// The module of a step: its statements with its parameters and attributes, or the obstacles to it.
#[track_caller]
fn module(before: &str, body: &str, expected: &str) {
    let program =
        format!("{before}\nfor epoch in range(3):\n    for x, y in loader:\n{body}\n        optimizer.step()\n");
    marked::check(&with_setup(&program), expected, |at| {
        let step = at.step().expect("a step");
        let slice = step.slice().expect("a slice");
        match Module::of(&step, &slice) {
            Err(obstacles) => names(&obstacles),
            Ok(module) => {
                let pairs = |pairs: &[(String, String)]| {
                    pairs.iter().map(|(name, given)| format!("{name}={given}")).collect::<Vec<_>>().join(" ")
                };
                let (parameters, attributes) = (&module.extraction.parameters, &module.extraction.attributes);
                format!("{} | {} | {}", pairs(parameters), pairs(attributes), module.extraction.body.join("; "))
            }
        }
    });
}

#[test]
fn the_computation_of_a_step_as_a_module() {
    let backward = "        loss.backward()";
    let plain = format!("        loss = F.mse_loss(net(x), y)\n{backward}");
    module("", &plain, "x=x y=y | net=net | loss = F.mse_loss(self.net(x), y)");
    let read = format!("        loss = net(x['image'].cuda()).mean()\n{backward}");
    module("", &read, "image=x['image'].cuda() | net=net | loss = self.net(image).mean()");
    let weighed = format!("        loss = net(x).mean() * weights.sum()\n{backward}");
    module(
        "weights = torch.ones(4)",
        &weighed,
        "x=x | net=net weights=weights | loss = self.net(x).mean() * self.weights.sum()",
    );
    module(
        "",
        &format!("        loss = net(x).mean() * epoch\n{backward}"),
        "x=x epoch=torch.full((len(x),), float(epoch)) | net=net | epoch = epoch[0]; loss = self.net(x).mean() * epoch",
    );
}

#[test]
fn what_a_module_would_compute_otherwise() {
    let backward = "        loss.backward()";
    module("", &format!("        loss = net(x)[epoch]\n{backward}"), "changing_value");
    let learns = format!("        x = encoder(x)\n        loss = net(x)\n{backward}");
    module(
        "encoder = nn.Linear(2, 2)",
        &learns,
        "x=x | encoder=encoder net=net | x = self.encoder(x); loss = self.net(x)",
    );
    module(
        "",
        &format!("        out = net(x)\n        loss = out.mean()\n{backward}\n        print(out.logits)"),
        "output_object",
    );
    module(
        "state = None",
        &format!("        out, state = net(x, state)\n        loss = out.mean()\n{backward}"),
        "state_none_at_first",
    );
}

#[test]
fn a_target_that_records_no_gradients() {
    let program = "
        for x, y in loader:
            with torch.no_grad():
                goal = net(x + 0.1)
            loss = F.mse_loss(net(x), goal)
            loss.backward()
            optimizer.step()
    ";
    let expected = "with torch.no_grad():\n    goal = self.net(x + 0.1)\nloss = F.mse_loss(self.net(x), goal)";
    marked::check(&with_setup(program), expected, |at| {
        let step = at.step().expect("a step");
        let module = step.slice().and_then(|slice| Module::of(&step, &slice));
        module.unwrap_or_else(|_| panic!("a module")).extraction.body.join("\n")
    });
}

#[test]
fn where_the_code_of_a_file_begins() {
    let check = |program: &str, imports: &str, code: &str| {
        marked::check(program, [imports, code], |at| {
            [at.lines(end_of_imports(at.file(), at.whole())), at.lines(first_code(at.file().view))]
        });
    };
    let fit = "def fit():\n    net(x).backward()\n";
    check(&format!("'''Trains.'''\nimport a\nfrom b import c\n{fit}"), "from b import c", "def fit():");
    check(&format!("import a\ntry:\n    import b\nexcept ImportError:\n    b = None\n{fit}"), "try:", "def fit():");
    check(&format!("{fit}import a\n"), "", "def fit():");
    let shell = "get_ipython().run_cell_magic('bash', '', 'ls')\n";
    check(&format!("{shell}import a\n{shell}{fit}"), "import a", "def fit():");
}
