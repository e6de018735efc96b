use super::{Move, moves};
use crate::marked::{self, with_setup};

/// What is moved next to which statement: models, then tensors, tables and expressions; `?` where that is not known.
#[track_caller]
fn check(program: &str, expected: &[&str]) {
    marked::check(program, expected, |at| {
        let found = moves(at.file());
        let place = |m: &Move| if m.after { "after" } else { "before" };
        let line = |kind: &str, m: &Move| format!("{kind} {} {} {}", m.names.join(", "), place(m), at.lines([m.at]));
        let models = found.models.iter().map(|m| line("model", m));
        let tensors = found.tensors.iter().map(|m| line("tensor", m));
        let tables = found.tables.iter().map(|m| line("table", m));
        let expressions = found.expressions.iter().map(|id| format!("expression {}", at.lines([*id])));
        let unknown =
            found.unknown_models.iter().chain(&found.unknown_tensors).map(|id| format!("? {}", at.lines([*id])));
        models.chain(tensors).chain(tables).chain(expressions).chain(unknown).collect::<Vec<_>>()
    });
}

const MODEL: &str = "model net before optimizer = torch.optim.SGD(net.parameters(), lr=0.1)";

#[test]
fn a_model_is_moved_before_its_optimizer() {
    check(&with_setup(""), &[MODEL]);
    check(&with_setup("").replace("Linear(2, 2)", "Linear(2, 2).to(device)"), &[MODEL]);
    check(&with_setup("").replace("optimizer =", "net.to(device)\noptimizer ="), &[]);
    check(&with_setup("").replace("net.parameters()", "weights"), &["? torch.optim.SGD(weights, lr=0.1)"]);
}

#[test]
fn a_model_without_an_optimizer_is_moved_where_it_is_made() {
    let teacher = "teacher = nn.Linear(2, 2)\nz = teacher(torch.ones(2))\n";
    check(&with_setup(teacher), &[MODEL, "model teacher after teacher = nn.Linear(2, 2)", "expression torch.ones(2)"]);
}

#[test]
fn tensors_are_moved_where_they_come_from() {
    let looped = |body: &str| with_setup(&format!("for x, y in loader:\n    {}\n", body.replace('\n', "\n    ")));
    check(&looped("loss = F.mse_loss(net(x), y)"), &[MODEL, "tensor x, y before loss = F.mse_loss(net(x), y)"]);
    check(&looped("x = x.view(-1)\nout = net(x)"), &[MODEL, "tensor x before out = net(x)"]);
    check(&looped("x = x.to(device)\nout = net(x)"), &[MODEL]);
    check(&looped("out = net(x['image'])"), &[MODEL, "expression x['image']"]);
    check(&looped("out = net(**x)"), &[MODEL, "table x before out = net(**x)"]);
    check(&looped("out = net(3)"), &[MODEL]);
    check(&looped("out = net(*x)"), &[MODEL, "? net(*x)"]);
    check(&looped("out = net(x)\nloss = F.mse_loss(out, out * 2)"), &[MODEL, "tensor x before out = net(x)"]);
}

#[test]
fn what_comes_with_a_batch_is_moved_where_it_meets_a_models_result() {
    let looped_only = |body: &str| format!("for x, y in loader:\n    {}\n", body.replace('\n', "\n    "));
    let looped = |body: &str| with_setup(&looped_only(body));
    let noisy = looped("x = x + 0.1\nout = net(x)\nloss = ((out - y) ** 2).mean()");
    check(&noisy, &[MODEL, "tensor y before x = x + 0.1", "tensor x before out = net(x)"]);
    check(&looped("x = x + 0.1\nout = net(x)\nprint(out, y)"), &[MODEL, "tensor x before out = net(x)"]);
    let evaluated = format!("{noisy}x, y = rows\nout = net(x)\nloss = ((out - y) ** 2).mean()\n");
    let later = "tensor x, y before out = net(x)";
    check(&evaluated, &[MODEL, "tensor y before x = x + 0.1", "tensor x before out = net(x)", later]);
    let indexed = |body: &str| with_setup(&format!("for pair in loader:\n    {}\n", body.replace('\n', "\n    ")));
    let unpacked = "x, y = pair[0], pair[1]\nx = x + 0.1\nout = net(x)\nloss = ((out - y) ** 2).mean()";
    check(&indexed(unpacked), &[MODEL, "tensor y before x = x + 0.1", "tensor x before out = net(x)"]);
    for first in ["x = pair[0]", "x = pair[0] + 1", "x = 2 * pair[0].float()"] {
        let meets = format!("{first}\nout = net(x)\nloss = ((out - pair[1]) ** 2).mean()");
        check(&indexed(&meets), &[MODEL, "tensor x before out = net(x)", "expression pair[1]"]);
    }
    for numbers in ["x.shape", "x.size()", "scale"] {
        let by_number =
            format!("x = x.view({numbers}[0], -1) + {numbers}[0]\nout = net(x)\nloss = (out / {numbers}[1]).mean()");
        check(
            &with_setup(&format!("scale = [1.0, 2.0]\n{}", looped_only(&by_number))),
            &[MODEL, "tensor x before out = net(x)"],
        );
        let by_name = format!("sizes = {numbers}\n{by_number}").replace(&format!("{numbers}["), "sizes[");
        check(
            &with_setup(&format!("scale = [1.0, 2.0]\n{}", looped_only(&by_name))),
            &[MODEL, "tensor x before out = net(x)"],
        );
    }
    let setting = "x = pair['image'] * opts['scale']\nout = net(x)\nloss = (out * opts['weight']).mean()";
    check(&indexed(setting), &[MODEL, "tensor x before out = net(x)"]);
}

#[test]
fn what_meets_a_models_result_is_on_the_device() {
    let of_function = |body: &str| with_setup(&format!("def run(rows):\n    {}\n", body.replace('\n', "\n    ")));
    let masked = "x, y = rows\nmask = (y != 0).float()\nkept = len(y)\nout = net(x)\nloss = (F.mse_loss(out, y, reduction='none') * mask).sum()";
    check(&of_function(masked), &[MODEL, "tensor x, y before mask = (y != 0).float()"]);
    let counted = masked.replace(" * mask", "").replace("len(y)", "mask.sum().item()");
    check(&of_function(&counted), &[MODEL, "tensor x, y before out = net(x)"]);
    let computed = "x = torch.rand(2)\ny = x.pow(2) + torch.rand(2)\nout = net(x)\nloss = F.mse_loss(out, y)";
    let later = ["tensor x before out = net(x)", "tensor y before loss = F.mse_loss(out, y)"];
    check(&of_function(computed), &[MODEL, later[0], later[1]]);
    let summed =
        |made: &str, sum: &str| of_function(&format!("x, y = rows\n{made}\nloss = F.mse_loss(net(x), y)\n{sum}"));
    let moved = "tensor x, y before loss = F.mse_loss(net(x), y)";
    check(&summed("total = torch.zeros(1)", "total += loss.detach()"), &[MODEL, moved, "expression torch.zeros(1)"]);
    check(&summed("total = torch.zeros(1)", "total = total + loss"), &[MODEL, moved, "expression torch.zeros(1)"]);
    check(&summed("total = torch.zeros(1)", "total += loss.item()"), &[MODEL, moved]);
    check(&summed("total = torch.zeros(1)", "total += loss.detach().cpu()"), &[MODEL, moved]);
    check(&summed("total = torch.zeros(1)", "total += loss.detach()\nreturn total.numpy()"), &[MODEL, moved]);
    check(&summed("total = 0.0", "total += loss.detach()"), &[MODEL, moved]);
}

#[test]
fn elements_beside_the_models_input_meet_its_result() {
    let of_batch = |body: &str| {
        with_setup(&format!("def run(pair):\n    out = net(pair[0]).argmax(1)\n    {}\n", body.replace('\n', "\n    ")))
    };
    let first = "expression pair[0]";
    for body in [
        "wrong = out != pair[1]",
        "wrong = pair[1].view(-1) == out",
        "wrong = out.eq(pair[1])",
        "wrong = torch.eq(out, pair[1])",
        "wrong = out[:2] == pair[1][:2]",
        "if (out == pair[1]).all():\n    pass",
        "kept = pair[1][out > 0]",
        "y = pair[1]\nwrong = (out != y).sum()",
        "y = pair[1]\nwrong = (out != y).sum()\nloss = F.mse_loss(out, y)",
        "wrong = (out != pair[1]).cpu()",
        "kept = out * (pair[1] != 0)",
        "masked = out * pair[1]",
    ] {
        check(&of_batch(body), &[MODEL, first, "expression pair[1]"]);
    }
    for body in [
        "print(out[0], pair[1][0])",
        "found.append((out, pair[1]))",
        "wrong = out[0].item() == len(pair[1])",
        "same = pair[1] == pair[2]",
        "y = pair[1]\nprint(out, y)",
        "found = out.cpu()\nwrong = found != pair[1]",
        "found = out.cpu()\nfound = found[:2]\nwrong = found.eq(pair[1])",
        "wrong = out.cpu().numpy() != pair[1].numpy()",
        "wrong = out.to('cpu') != pair[1]",
        "wrong = out.to(torch.device('cpu')).eq(pair[1])",
        "wrong = out.tolist() == pair[1]",
        "rows = out.shape[0] == pair[1]",
        "mean = out.sum() / pair[1]",
        "total = out.sum()\nmean = total / pair[1]",
        "n = pair[1]\nmean = (out.sum() / n).item()",
        "n = pair[1]\nmean = torch.sum(out) * n",
        "n = pair[1]\nmean = F.mse_loss(out, out) / n",
        "wide = out.view(pair[1], -1)",
        "best = torch.topk(out, pair[1])",
        "same = decode(out) == pair[1]",
        "pair[1].append(out)",
        "loss = F.mse_loss(out.cpu(), pair[1])",
    ] {
        check(&of_batch(body), &[MODEL, first]);
    }
}

#[test]
fn labels_stay_where_the_result_is_on_the_host() {
    let looped = |body: &str| with_setup(&format!("for x, y in loader:\n    {}\n", body.replace('\n', "\n    ")));
    check(
        &looped("out = net(x).cpu()\nhits += (out == y).sum().item()"),
        &[MODEL, "tensor x before out = net(x).cpu()"],
    );
    check(&looped("hits += (net(x).cpu() == y).sum()"), &[MODEL, "tensor x before hits += (net(x).cpu() == y).sum()"]);
    check(&looped("out = net(x)\nhits += (out == y).sum().item()"), &[MODEL, "tensor x, y before out = net(x)"]);
    check(
        &looped("loss = F.mse_loss(net(x).cpu(), y)"),
        &[MODEL, "tensor x before loss = F.mse_loss(net(x).cpu(), y)"],
    );
}

#[test]
fn what_is_no_tensor_stays() {
    let of_function = |parameters: &str, body: &str| with_setup(&format!("def run({parameters}):\n    {body}\n"));
    check(&of_function("x", "return net(x)"), &[MODEL, "tensor x before return net(x)"]);
    check(&of_function("x, n: int", "return net(x, n)"), &[MODEL, "tensor x before return net(x, n)"]);
    check(&of_function("x, n=3", "return net(x, n)"), &[MODEL, "tensor x before return net(x, n)"]);
    check(&of_function("x=None", "return net(x)"), &[MODEL, "? net(x)"]);
    check(
        &of_function("x", "a = []\n    return net(x, a)"),
        &[MODEL, "tensor x before return net(x, a)", "? net(x, a)"],
    );
    check(&with_setup("for n in range(3):\n    net(n)\n"), &[MODEL]);
}

#[test]
fn another_framework_moves_nothing() {
    check("import tensorflow as tf\nmodel = build()\nmodel(x)\n", &[]);
}

#[test]
fn a_name_that_stands_for_two_models() {
    let program = "net = nn.Conv2d(2, 2, 1)\nsecond = torch.optim.SGD(net.parameters())\n";
    check(&with_setup(program), &[MODEL, "model net before second = torch.optim.SGD(net.parameters())"]);
}
