use super::{Turn, data_above};
use crate::marked::{self, names, with_setup};

/// What one iteration calls: the model, with its inputs, and the update; or the obstacles to alternating them.
#[track_caller]
fn check(rest: &str, expected: &str) {
    marked::check(&with_setup(rest), expected, |at| match Turn::read(at.file(), at.whole()) {
        Err(obstacles) => names(&obstacles),
        Ok(turn) => {
            let inputs = turn.inputs.iter().map(|input| input.name.as_str()).collect::<Vec<_>>().join(" ");
            format!("{}; {}; {inputs}", at.lines([turn.forward]), at.lines([turn.update]))
        }
    });
}

fn looped(body: &str) -> String {
    format!("for x, y in loader:\n    {}\n", body.replace('\n', "\n    "))
}

const END: &str = "loss.backward()\noptimizer.step()";

#[test]
fn a_call_of_the_model_and_an_update() {
    check(&looped(&format!("loss = F.mse_loss(net(x), y)\n{END}")), "net(x); optimizer.step(); x");
    check(
        &looped(&format!("out = net(x['image'].cuda())\nloss = out.mean()\n{END}")),
        "net(x['image'].cuda()); optimizer.step(); image",
    );
    check(&looped(&format!("out = net(x, 3)\nloss = out.mean()\n{END}")), "input_no_tensor");
}

#[test]
fn what_is_not_alternated() {
    check(&looped(&format!("loss = F.mse_loss(x, y)\n{END}")), "no_model_call");
    check(&looped(&format!("loss = net(x) + net(y)\n{END}")), "several_model_calls");
    check(&looped("loss = net(x)\nloss.backward()\nif y:\n    optimizer.step()"), "part_under_test");
    check(&looped("loss = net(x)\noptimizer.step()\nloss.backward()"), "other_order");
    check(&looped("loss = net(x)\nloss.backward()\na = optimizer.step()"), "update_result_used");
    check(&looped(&format!("loss = net.score(x)\n{END}")), "method_called");
    check(&looped(&format!("out = net(x)\nloss = out['loss']\n{END}")), "output_no_tensor");
    check(&looped(&format!("loss = net((x, y))\n{END}")), "input_no_tensor");
    check(&looped(&format!("loss = net(x)\nfor p in net.parameters():\n    f(p)\n{END}")), "weights_touched");
    let turns = "loss = net(x)\nloss.backward()\nif (i + 1) % 4 == 0:\n    optimizer.step()";
    check(&looped(turns), "gathered");
}

#[test]
fn an_input_that_is_no_part_of_a_batch() {
    let made =
        "edges = f(4)\nfor x, y in loader:\n    loss = net(x, edges)\n    loss.backward()\n    optimizer.step()\n";
    check(made, "input_not_of_batch");
}

#[test]
fn how_the_models_class_uses_an_input() {
    let layers = "class Net(nn.Module):\n    def __init__(self):\n        self.embed = nn.Embedding(9, 2)\n";
    let class = format!("{layers}    def forward(self, tokens, x):\n        return self.embed(tokens) + x\n");
    let rest = looped(&format!("loss = net(x, y)\n{END}"));
    for made in ["Net()", "Net().to(device)", "Net().float().cuda()"] {
        turn(&format!("{class}net = {made}\n{rest}"), "x whole, y", |_, turn| {
            let kind = |integer| if integer { " whole" } else { "" };
            let inputs = turn.inputs.iter().map(|input| format!("{}{}", input.name, kind(input.is_integer)));
            inputs.collect::<Vec<_>>().join(", ")
        });
    }
}

/// One iteration that can be followed.
#[track_caller]
fn turn(rest: &str, expected: &str, query: impl Fn(&marked::Marked<'_, '_>, &Turn<'_, '_>) -> String) {
    marked::check(&with_setup(rest), expected, |at| {
        let turn = Turn::read(at.file(), at.whole()).unwrap_or_else(|obstacles| panic!("{}", names(&obstacles)));
        query(at, &turn)
    });
}

#[test]
fn a_loss_that_the_model_returns() {
    let check = |body: &str, expected: &str| {
        turn(&looped(&format!("{body}\n{END}")), expected, |_, turn| {
            turn.loss.as_ref().map(|loss| format!("{} {}", loss.name, loss.is_first)).unwrap_or_default()
        });
    };
    check("loss = net(x, y)", "loss true");
    check("out, loss = net(x, y)", "loss false");
    check("out = net(x)\nloss = out.mean()", "");
    check("loss = net(x)\nloss = loss / 2", "");
}

#[test]
fn the_phase_of_a_loop_that_also_validates() {
    let check = |test: &str, expected: &str| {
        let body =
            format!("out = net(x)\nloss = F.mse_loss(out, y)\nif {test}:\n    loss.backward()\n    optimizer.step()");
        turn(&looped(&body), expected, |_, turn| turn.phase.unwrap_or_default().to_owned());
    };
    check("phase == 'train'", "phase == 'train'");
    check("training", "training");
}

#[test]
fn constants_that_the_model_receives() {
    let class = "class Net(nn.Module):\n    def forward(self, x, mode, scale):\n        return x\nnet = Net()\n";
    let check = |call: &str, expected: &str| {
        let rest = format!("{class}{}", looped(&format!("loss = {call}\n{END}")));
        turn(&rest, expected, |at, turn| {
            let each = turn.constants.iter().map(|(name, value)| format!("{name}={}", at.lines([*value])));
            each.collect::<Vec<_>>().join(" ")
        });
    };
    check("net(x, 'fast', scale=2)", "mode='fast' scale=2");
    check("net(x, mode=args.mode)", "mode=args.mode");
    check("net(x, y)", "");
}

#[test]
fn code_around_the_iterations() {
    let step = "loss = net(x).mean()\noptimizer.zero_grad()\nloss.backward()\noptimizer.step()";
    turn(&looped(step), "optimizer.zero_grad()", |at, turn| at.lines(turn.clears()));
    let scaled = "scaler = torch.amp.GradScaler()\nfor x, y in loader:\n    loss = net(x).mean()\n    \
        scaler.scale(loss).backward()\n    scaler.step(optimizer)\n    scaler.update()\n";
    turn(scaled, "scaler = torch.amp.GradScaler()\nscaler.update()", |at, turn| at.lines(turn.scaler_statements()));
    let asked = format!("{scaled}print(scaler.get_scale())\n");
    turn(&asked, "scaler.update()", |at, turn| at.lines(turn.scaler_statements()));
    let saves = format!("{}torch.save(net.state_dict(), p)\nprint(net.weight.cpu())\n", looped(step));
    turn(&saves, "torch.save(net.state_dict(), p)\nprint(net.weight.cpu())", |at, turn| {
        at.lines(turn.weight_uses(None))
    });
}

#[test]
fn a_step_that_is_given_model_and_optimizer() {
    let body = concat!(
        "    '''Trains.'''\n",
        "    for x in loader:\n",
        "        loss = net(x).mean()\n",
        "        loss.backward()\n",
        "        optimizer.step()\n",
    );
    let given = |at: &marked::Marked<'_, '_>, turn: &Turn<'_, '_>| at.lines(turn.handed_in().map(|(first, _)| first));
    turn(&format!("def fit(net, optimizer):\n{body}"), "for x in loader:", given);
    turn(&format!("def fit(net):\n{body}"), "", given);
}

#[test]
fn loaders_that_are_made_above_a_statement() {
    let check = |rest: &str, expected: &str| {
        marked::check(rest, expected, |at| {
            let statement = at.file().statement_of(at.node()).expect("a statement");
            at.lines(data_above(at.file(), statement).into_iter().flat_map(|(first, last)| [first, last]))
        });
    };
    let made = "import torch\ndataset = ImageDataset(p)\nloader = torch.utils.data.DataLoader(dataset)\nn = 3\n";
    check(
        &format!("{made}a = f(n)\n    ^^^^\n"),
        "dataset = ImageDataset(p)\nloader = torch.utils.data.DataLoader(dataset)",
    );
    check(&format!("{made}a = f(loader)\n    ^^^^^^^^^\n"), "");
}
