//! Messages about unchanged places on the RDU, and cases without message or change.

mod said;

use said::{STEP, check_in_project, check_said, ported};

#[test]
fn a_part_of_a_compiled_model() {
    let program = format!("{STEP}images = model.decode(noise)\n");
    check_said("rdu", &program, "12: Not ported: `decode` runs part of the model");
    let own = "class Net(torch.nn.Module):\n    def paint(self, z):\n        return self.layer(z)\n\n\n";
    let program = STEP.replace("model = torch.nn.Linear(3, 3)\n", &format!("\n{own}model = Net()\n"));
    check_said("rdu", &format!("{program}images = model.paint(noise)\n"), "`paint` runs part of the model");
    assert!(ported("rdu", &[("a.py", &format!("{STEP}model.train(False)\n"))]).0[0].contains("rdu.update()"));
    let layers = own.replace("    def paint", "    def __init__(self):\n        super().__init__()\n        self.layer = torch.nn.Linear(3, 3)\n\n    def paint");
    let program = program.replace(own, &layers);
    for part in ["model.layer", "model.layer[0]", "model.layer.paint"] {
        check_said("rdu", &format!("{program}seen = {part}(noise)\n"), "runs part of the model on the host");
    }
    // While the model is built, and by methods that every module has.
    let built =
        "model.add_module('head', torch.nn.Linear(3, 3))\nmodel.layer(noise)\nmodel(noise)\nmodel.apply(init)\n";
    let other = "class Other:\n    def apply(self, call):\n        self.do(call)\n\n\n";
    let program = program.replace("optimizer =", &format!("{built}optimizer =")).replace(own, other)
        + "model.load_state_dict(best)\n";
    let (after, said) = ported("rdu", &[("a.py", &format!("{other}{program}"))]);
    assert!(after[0].contains("rdu.update()") && after[0].contains(built), "{said}{}", after[0]);
}

#[test]
fn states_that_are_a_row_of_tensors() {
    let program = STEP
        .replace("    out = model(x)\n", "    state = keep(state)\n    out, state = model(x, state)\n")
        .replace("\nmodel =", "\n\ndef keep(state):\n    return [part.detach() for part in state]\n\n\nmodel =");
    check_said("rdu", &program, "Not ported: the model's arguments are not all positional tensors");
    let one = program.replace("[part.detach() for part in state]", "state.detach()");
    assert!(!ported("rdu", &[("a.py", &one)]).1.contains("not all positional tensors"));
    let none_yet = one.replace("\nmodel =", "\nstate = None\nmodel =");
    check_said("rdu", &none_yet, "Not ported: the model's arguments are not all positional tensors");
    // A list of that name elsewhere is a different value.
    let made = STEP
        .replace("    out =", "    x = torch.tensor([n for n in x])\n    if cuda:\n        x = x.cuda()\n    out =");
    assert!(ported("rdu", &[("a.py", &format!("x = [1, 2]\n{made}"))]).0[0].contains("rdu.forward(x)"));
    let listed = made.replace("x = x.cuda()", "x = [x.cuda()]");
    check_said("rdu", &listed, "Not ported: the model's arguments are not all positional tensors");
}

#[test]
fn a_choice_of_where_a_tensor_is() {
    let given = |input: &str| ported("rdu", &[("a.py", &STEP.replace("model(x)", &format!("model({input})")))]);
    for input in
        ["x.cuda() if args.cuda else x", "x if cpu else x.cuda(0)", "(x.cuda() if torch.cuda.is_available() else x)"]
    {
        let (after, said) = given(input);
        assert!(after[0].contains("rdu.forward("), "{said}{}", after[0]);
    }
    for input in ["x.cuda() if args.cuda else y", "x + noise if noisy else x", "x.half() if half else x"] {
        assert!(given(input).1.contains("not all positional tensors"), "{input}");
    }
}

#[test]
fn an_optimizer_for_each_epoch() {
    let (head, turns) = STEP.split_once("optimizer = ").expect("an optimizer");
    let indented = format!("optimizer = {turns}").lines().map(|line| format!("    {line}\n")).collect::<String>();
    let program = format!("{head}\n\ndef train(epoch):\n{indented}\n\n");
    check_said(
        "rdu",
        &format!("{program}for epoch in range(3):\n    train(epoch)\n"),
        "Not ported: the optimizer is created in a loop",
    );
    assert!(!ported("rdu", &[("a.py", &format!("{program}train(0)\n"))]).1.contains("created in a loop"));
}

#[test]
fn a_project_imports_what_it_imports_a_name_of() {
    let loader = "from torch_geometric.loader import DataLoader\nfrom torch_geometric.nn import GCNConv\n\nloader = DataLoader(graphs)\n";
    let (_, said) = ported("rdu", &[("a.py", loader)]);
    assert_eq!(said.matches("Graphs differ").count(), 1, "at the loader, not at the import as well: {said}");
    let alone = "from torch_geometric.nn import GCNConv\n\nnet = GCNConv(2, 2)\n";
    assert_eq!(ported("rdu", &[("a.py", alone)]).1.matches("Graphs differ").count(), 1);
}

#[test]
fn a_choice_of_a_device_as_a_default() {
    let text =
        "import torch\n\nadd('--device', default=torch.device('cuda' if torch.cuda.is_available() else 'cpu'))\n";
    check_in_project("rdu", &[("a.py", text), ("train.py", STEP)], "Check the code that depends on it", false);
}

#[test]
fn an_optimizer_of_a_part_of_the_model() {
    let part = STEP.replace("model.parameters()", "model.head.parameters()");
    check_said("rdu", &part, "the optimizer does not get all of");
    let whole = STEP.replace("model(x)", "model.module(x)").replace("model.parameters()", "model.module.parameters()");
    let (after, _) = ported("rdu", &[("a.py", &whole)]);
    assert!(after[0].contains("rdu.take(model)"), "{}", after[0]);
}
