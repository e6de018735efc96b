"""SambaFlow's stand-in against PyTorch's own loop: compiled in one process, run in another, the same numbers to the last bit.

    python3 rehearsal/tests/test_rdu_numbers.py
"""

import json
import pathlib
import tempfile
import unittest

from programs import Run

COMMON = """
import json, sys
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
DATA, LABELS = torch.randn(24, 8), torch.arange(24) % 3

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.drop, self.last, self.loss = nn.Linear(8, 16), nn.Dropout(0.0), nn.Linear(16, 3), nn.CrossEntropyLoss()

    def logits(self, x):
        return self.last(self.drop(torch.relu(self.first(x))))

    def forward(self, x, y=None):
        out = self.logits(x)
        return out if y is None else (self.loss(out, y), out)

torch.manual_seed(1)
net = Net()
"""
ON_RDU = COMMON + """
import sambaflow.samba as samba
import sambaflow.samba.utils as utils
from sambaflow.samba.utils.argparser import parse_app_args
from sambaflow.samba.utils.pef_utils import get_pefmeta

args = parse_app_args(argv=sys.argv[1:])
host_loss = {host_loss}
image, label = samba.zeros(4, 8, name='image', batch_dim=0), samba.from_torch_tensor(torch.zeros(4, dtype=torch.long), name='label', batch_dim=0)
inputs = (image,) if host_loss else (image, label)
samba.from_torch_model_(net)
opt = {optimizer}
if args.command == 'compile':
    samba.session.compile(net, inputs, opt, name='net', init_output_grads=True, config_dict=vars(args), pef_metadata=get_pefmeta(args, net))
    sys.exit()
{before}
utils.trace_graph(net, inputs, opt, pef=args.pef, init_output_grads=True)
losses = []
for step in range(6):
    x, y = DATA[step * 4:step * 4 + 4], LABELS[step * 4:step * 4 + 4]
    sx, sy = samba.from_torch_tensor(x, name='image', batch_dim=0), samba.from_torch_tensor(y, name='label', batch_dim=0)
    torch.manual_seed(step)
{step}
{after}
samba.session.to_cpu(net)
print(json.dumps([losses, [p.tolist() for p in net.parameters()]]))
"""
IN_MODEL = """
    loss, out = samba.session.run([sx, sy], net.output_tensors, hyperparam_dict={hyper})
    losses.append(samba.to_torch(loss).mean().item())
"""
ON_HOST = """
    out, = samba.session.run([sx], net.output_tensors, section_types=['fwd'])
    logits = samba.to_torch(out).detach().requires_grad_()
    loss = net.loss(logits, y)
    loss.backward()
    losses.append(loss.item())
    samba.session.run([sx], net.output_tensors, section_types={sections}, grad_of_outputs=[samba.from_torch(logits.grad)], hyperparam_dict={hyper})
"""
SGD = "samba.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)"


def on_rdu(optimizer=SGD, step=IN_MODEL, hyper="{'lr': 0.1}", sections="['bckwd', 'opt']", before="", after="", host_loss=False, compiled=None):
    """Losses and weights of six steps; compiled first, in a process of its own."""
    step = step.replace("{hyper}", hyper).replace("{sections}", sections)

    def program(optimizer):
        parts = {"host_loss": host_loss, "optimizer": optimizer, "before": before, "step": step, "after": after}
        text = ON_RDU
        for name, value in parts.items():
            text = text.replace("{" + name + "}", str(value))
        return text

    with tempfile.TemporaryDirectory() as folder:
        done = Run("rdu", program(compiled or optimizer), argv=("compile", "-b", "4", "--output-folder", folder))
        if done.error:
            raise AssertionError(done.trace)
        run = Run("rdu", program(optimizer), argv=("run", "-b", "4", "--pef", str(pathlib.Path(folder) / "net" / "net.pef")))
    if run.error:
        raise AssertionError(run.trace)
    return (*json.loads(run.out.strip().splitlines()[-1]), run.broken)


PLAIN = COMMON + """
net.drop.p = {rate}
optimizer, losses = {optimizer}, []
for step in range(6):
    torch.manual_seed(step)
{every}
    optimizer.zero_grad()
    loss, _ = net(DATA[step * 4:step * 4 + 4], LABELS[step * 4:step * 4 + 4])
    loss.backward()
{clip}
    optimizer.step()
    losses.append(loss.item())
print(json.dumps([losses, [p.tolist() for p in net.parameters()]]))
"""


def plain(optimizer="torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)", clip=None, rate=0.0, every=""):
    """PyTorch's loop over the same data from the same weights."""
    text = PLAIN
    for name, value in {"rate": rate, "optimizer": optimizer, "every": every,
                        "clip": f"    nn.utils.clip_grad_norm_(net.parameters(), {clip})" if clip else ""}.items():
        text = text.replace("{" + name + "}", str(value))
    run = Run("rdu", text)
    if run.error:
        raise AssertionError(run.trace)
    return json.loads(run.out.strip().splitlines()[-1])


class Numbers(unittest.TestCase):
    def same(self, run, expected, *rules):
        self.assertEqual(run[0], expected[0])
        self.assertEqual(run[1], expected[1])
        self.assertEqual(sorted(run[2]), sorted(rules), run[2])

    def test_the_loss_in_the_model(self):
        self.same(on_rdu(), plain())
        self.same(on_rdu("samba.optim.AdamW(net.parameters(), lr=0.1)"), plain("torch.optim.AdamW(net.parameters(), lr=0.1)"))

    def test_the_loss_on_the_host(self):
        self.same(on_rdu(step=ON_HOST, host_loss=True), plain())

    def test_gradients_of_an_output(self):
        step = """
    net.output_tensors[0].sn_grad = torch.tensor(2.0)
    loss, out = samba.session.run([sx, sy], net.output_tensors, hyperparam_dict={'lr': 0.1})
    losses.append(samba.to_torch(loss).item())
"""
        self.same(on_rdu("samba.optim.SGD(net.parameters(), lr=0.1)", step), plain("torch.optim.SGD(net.parameters(), lr=0.2)"))

    def test_the_hyperparameters_of_the_run_count(self):
        halved = "    optimizer.param_groups[0]['lr'] = 0.1 / 2**step"
        self.same(on_rdu(hyper="{'lr': 0.1 / 2**step, 'momentum': 0.9, 'weight_decay': 0.01}"), plain(every=halved))
        self.same(on_rdu(hyper="{'lr': 0.1, 'momentum': 0.0}"), plain("torch.optim.SGD(net.parameters(), lr=0.1, weight_decay=0.01)"))

    def test_a_number_that_was_compiled_in(self):
        run = on_rdu("samba.optim.SGD(net.parameters(), lr=0.1, momentum=0.5)", compiled="samba.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)")
        self.same(run, plain("torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)"), "rdu.hyperparameters")

    def test_clipping_needs_the_norm(self):
        clipped = "samba.optim.SGD(net.parameters(), lr=0.1, max_grad_norm=0.05)"
        loose, tight = (plain("torch.optim.SGD(net.parameters(), lr=0.1)", clip=clip) for clip in (None, 0.05))
        self.same(on_rdu(clipped), tight)
        self.same(on_rdu(clipped, ON_HOST, sections="['bckwd', 'gradnorm', 'opt']", host_loss=True), tight)
        self.same(on_rdu(clipped, ON_HOST, host_loss=True), loose, "rdu.gradient-norm")

    def test_the_rate_of_the_dropout(self):
        self.same(on_rdu(hyper="{'lr': 0.1, 'p': 0.5}"), plain(rate=0.5))

    def test_weights_of_the_host_stay_until_they_are_fetched(self):
        total = "losses.append(net.first.weight.sum().item())"
        run = on_rdu(before=total.replace("losses", "totals = []; totals"), after=f"{total}\nsamba.session.to_cpu(net)\n{total}\nlosses += totals")
        losses, weights = plain()
        self.assertEqual(run[0][:6], losses)
        self.assertEqual(run[0][6], run[0][8])
        self.assertAlmostEqual(run[0][7], sum(map(sum, weights[0])), 4)

    def test_weights_that_are_loaded_behind_the_trace_stay_on_the_host(self):
        late = "[p.data.zero_() for p in net.parameters()]"
        self.same(on_rdu(before=""), plain())
        self.assertNotEqual(on_rdu(before=late)[0], plain()[0])
        step = IN_MODEL + f"    {late}\n"
        self.assertEqual(on_rdu(step=step)[0], plain()[0])

    def test_the_state_of_the_optimizer_comes_with_the_weights(self):
        run = on_rdu(after="samba.session.to_cpu(net)\nlosses.append(opt.state_dict()['state'][0]['momentum_buffer'].abs().sum().item() > 0)")
        self.assertIs(run[0][-1], True)

    def test_a_forward_pass_alone_changes_nothing(self):
        step = """
    with torch.no_grad():
        loss, out = samba.session.run([sx, sy], net.output_tensors, section_types=['fwd'])
    losses.append(samba.to_torch(loss).item())
"""
        losses, weights, _ = on_rdu(step=step)
        self.assertEqual((losses, weights), tuple(plain("torch.optim.SGD(net.parameters(), lr=0.0)")))


if __name__ == "__main__":
    unittest.main()
