//! What a compiled step returns to the host, and state that goes from one call to the next.

use super::{BODY, HEAD, check_ported, check_refused, step_lines, to_ipu};
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
