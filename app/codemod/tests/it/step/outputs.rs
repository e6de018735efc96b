//! What a compiled step returns to the host, and state that goes from one call to the next.

use super::{BODY, HEAD, check_has, check_ported, check_refused, step_lines, to_ipu};
use crate::ports::{SCRIPT, check_said, ported};

#[test]
fn what_comes_back_has_a_value_at_every_turn() {
    let test = "    if args.penalty:\n        penalty = out.pow(2).mean()\n        loss = loss + penalty\n    optimizer.zero_grad";
    let body = step_lines("2", 1).replace("    optimizer.zero_grad", test);
    let read = "    if args.penalty:\n        print(penalty.item())\n";
    check_refused(&format!("{HEAD}for x, y in loader:\n{body}{read}"), "9: Not ported: `penalty` is assigned only");
    let given = body.replace("    if", "    penalty = torch.zeros(())\n    if");
    check_ported(&format!("{HEAD}for x, y in loader:\n{given}{read}"), "penalty, loss = training_step");
    check_ported(&format!("{HEAD}for x, y in loader:\n{body}"), "loss = training_step");
}

#[test]
fn state_that_goes_from_turn_to_turn_comes_back() {
    let call =
        |state: &str| BODY.replace("out = model(x)", &format!("{state}out, h = model(x, h)")).replace("WEIGHT", "2");
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
fn carried_state_is_checked_for_replicas() {
    let carried = BODY.replace("out = model(x)", "out, h = model(x, h)").replace("WEIGHT", "2");
    let carried: String = carried.lines().map(|line| format!("    {line}\n")).collect();
    let (ported, said) = to_ipu(&format!("{HEAD}h = start()\nfor x, y in loader:\n{carried}"));
    assert!(ported.contains("    require_batch_first(h, x)\n    h, loss = training_step(x, h, y)"), "{said}{ported}");
    let (ported, _) = to_ipu(&format!("{HEAD}for x, y in loader:\n{}", step_lines("2", 1)));
    assert!(!ported.contains("require_batch_first"), "{ported}");
}

#[test]
fn states_that_are_a_row_of_tensors() {
    let program = SCRIPT
        .replace("    out = model(x)\n", "    state = keep(state)\n    out, state = model(x, state)\n")
        .replace("\nmodel =", "\n\ndef keep(state):\n    return [part.detach() for part in state]\n\n\nmodel =");
    check_said("rdu", &program, "Not ported: the model's arguments are not all positional tensors");
    let one = program.replace("[part.detach() for part in state]", "state.detach()");
    assert!(!ported("rdu", &[("a.py", &one)]).1.contains("not all positional tensors"));
    let none_yet = one.replace("\nmodel =", "\nstate = None\nmodel =");
    check_said("rdu", &none_yet, "Not ported: the model's arguments are not all positional tensors");
    // A list of that name elsewhere is a different value.
    let made = SCRIPT
        .replace("    out =", "    x = torch.tensor([n for n in x])\n    if cuda:\n        x = x.cuda()\n    out =");
    assert!(ported("rdu", &[("a.py", &format!("x = [1, 2]\n{made}"))]).0[0].contains("rdu.forward(x)"));
    let listed = made.replace("x = x.cuda()", "x = [x.cuda()]");
    check_said("rdu", &listed, "Not ported: the model's arguments are not all positional tensors");
}

#[test]
fn a_state_that_the_first_batch_lacks() {
    let carried = SCRIPT.replace("model(x)\n", "model(x, state)\n").replace("    out =", "    out, state =");
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
fn a_member_that_the_loop_changes_is_not_compiled_in() {
    let program = |change: &str| {
        format!(
            "import torch\n\n\nclass Run:\n    def __init__(self, net, optimizer):\n        self.net, self.optimizer = net, optimizer\n        \
             self.R = torch.tensor(0.0)\n\n    def fit(self, loader):\n        for x in loader:\n            self.optimizer.zero_grad()\n            \
             dist = (self.net(x) ** 2).sum(1)\n            loss = (dist - self.R).mean()\n            loss.backward()\n            \
             self.optimizer.step()\n            {change}\n"
        )
    };
    for change in ["self.R.data = dist.max()", "self.R = dist.detach().max()", "self.R.fill_(dist.max())"] {
        check_said("ipu", &program(change), "`self.R` changes during training");
    }
    check_has(&program("print(dist.max())"), &["dist, loss = training_step(x)"]);
}

#[test]
fn what_the_loss_is_computed_from_number_by_number_is_one_number() {
    let step = |loss: &str| {
        let lines = format!("    out = model(x)\n    part = F.mse_loss(out, y)\n{loss}    optimizer.zero_grad()\n");
        format!("{HEAD}total = torch.zeros(1)\nfor x, y in loader:\n{lines}    loss.backward()\n    optimizer.step()\n")
    };
    let summed = "    total += part.detach()\n";
    for loss in ["    loss = part / 2\n", "    loss = part\n    loss += 0.1 * out.pow(2).mean()\n"] {
        check_ported(
            &(step(loss) + summed),
            "part, loss = training_step(x, y)\n    loss = loss.mean()\n    part = part.mean()\n",
        );
    }
    // A product of matrices is a sum over their elements.
    let (ported, said) =
        to_ipu(&(step("    row = out.flatten()\n    loss = row @ row\n") + "    print(row.detach())\n"));
    assert!(ported.contains("row, loss = training_step(x") && !ported.contains("row.mean()"), "{said}{ported}");
}
