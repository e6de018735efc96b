"""Each rule of PopTorch, and a small program that breaks it.

    python3 rehearsal/tests/test_ipu.py
"""

import unittest

from programs import Programs

NET = """
import torch
import torch.nn as nn
import poptorch

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.drop = nn.Dropout(0.5)
        self.loss = nn.CrossEntropyLoss()

    def forward(self, x, y=None):
        out = self.drop(self.fc(x))
        if y is None:
            return out
        return out, self.loss(out, y)

x, y = torch.rand(8, 4), torch.zeros(8, dtype=torch.long)
data = torch.utils.data.TensorDataset(torch.rand(64, 4), torch.zeros(64, dtype=torch.long))
net = Net()
net.train()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.5)
opts = poptorch.Options()
"""
WRAP = NET + "ipu = poptorch.trainingModel(net, options=opts, optimizer=opt)\n"
STEP = WRAP + "out, loss = ipu(x, y)\n"


def loss_net(body):
    return NET.replace("        return out, self.loss(out, y)\n", "".join(f"        {line}\n" for line in body.split("; ")))


class Ipu(Programs):
    def test_a_whole_run(self):
        run = self.good(
            NET + """
opts.deviceIterations(2).replicationFactor(2).Training.gradientAccumulation(2)
loader = poptorch.DataLoader(opts, data, batch_size=4, shuffle=True)
assert len(loader) == 2 and loader.combinedBatchSize == 32
val_opts = poptorch.Options().deviceIterations(4)
val = poptorch.DataLoader(val_opts, data, batch_size=4)
ipu = poptorch.trainingModel(net, options=opts, optimizer=opt)
net_eval = Net()
net_eval.eval()
infer = poptorch.inferenceModel(net_eval, val_opts)
for epoch in range(2):
    for x, y in loader:
        out, loss = ipu(x, y)
        assert loss.shape == (2,) and out.shape[0] == 8, (loss.shape, out.shape)
        print(loss.mean().item())
    sched.step()
    ipu.setOptimizer(opt)
    ipu.detachFromDevice()
    net_eval.load_state_dict(net.state_dict())
    for x, y in val:
        out, loss = infer(x, y)
        assert out.shape[0] == 16
    infer.detachFromDevice()
    ipu.attachToDevice()
torch.save(net.state_dict(), 'net.pt')
""")
        self.assertIn("ipu.loss-in-forward", run.kept)
        self.assertEqual(sum(name == "poptorch.train" for name, _ in run.calls), 4)

    def test_training_on_the_host_goes_on(self):
        self.bad("ipu.backward", STEP + "loss.backward()")
        self.bad("ipu.optimizer-step", STEP + "opt.step()")
        self.bad("ipu.optimizer-zero-grad", WRAP + "opt.zero_grad()\nipu(x, y)")

    def test_the_wrapper_is_lost(self):
        for what in ("to('cpu')", "train()", "float()"):
            run = self.bad("ipu.wrapper-lost", WRAP + f"ipu = ipu.{what}\nipu(x, y)")
            self.assertIn("at ", run.broken["ipu.wrapper-lost"][0]["why"])
        self.bad("ipu.wrapper-lost", STEP + "net(x, y)")
        self.good(STEP + "ipu.train()\nwith torch.no_grad():\n    net(x, y)")

    def test_the_loss_is_in_the_model(self):
        self.bad("ipu.loss-in-forward", WRAP + "ipu(x)")
        self.bad("ipu.identity-loss", loss_net("return out, self.loss(out, y) * 2") + WRAP[len(NET):] + "ipu(x, y)")
        two = "a, b = self.loss(out, y), out.mean(); "
        self.bad("ipu.loss-in-forward", loss_net("return out, out.mean()") + WRAP[len(NET):] + "ipu(x, y)")
        self.good(loss_net(two + "return out, poptorch.identity_loss(a + b, 'none')") + WRAP[len(NET):] + "ipu(x, y)")
        self.bad("ipu.loss-returned", loss_net(two + "return out, poptorch.identity_loss(a + b, 'none') * 2") + WRAP[len(NET):] + "ipu(x, y)")
        self.bad("ipu.identity-loss", loss_net("return self.loss(out, y), self.loss(out, y)") + WRAP[len(NET):] + "ipu(x, y)")

    def test_the_optimizer(self):
        self.bad("ipu.optimizer-given", NET + "poptorch.trainingModel(net, opts)(x, y)")
        self.bad("ipu.optimizer-kind", NET + "poptorch.trainingModel(net, opts, torch.optim.Adagrad(net.parameters()))")
        self.bad("ipu.optimizer-parameters", NET + "poptorch.trainingModel(Net(), opts, opt)")
        self.bad("ipu.set-optimizer", STEP + "sched.step()\nipu(x, y)")
        self.bad("ipu.set-optimizer", STEP + "opt.param_groups[0]['lr'] = 0.3\nipu(x, y)")
        self.good(STEP + "sched.step()\nipu.setOptimizer(opt)\nipu(x, y)")
        for kind in ("SGD", "Adam", "AdamW", "RMSprop", "LAMB"):
            self.good(NET + f"poptorch.trainingModel(net, opts, poptorch.optim.{kind}(net.parameters(), lr=0.1, loss_scaling=2.0))(x, y)")
        self.bad("ipu.optimizer-kind", NET + "poptorch.optim.RMSprop(net.parameters(), lr=0.1, max_grad_norm=1.0)")
        later = ")\nipu = poptorch.trainingModel(net, opts, own)\nipu(x, y)\nown.param_groups[0]['lr'] = 0.2\nipu.setOptimizer(own)"
        self.bad("ipu.variable-rate", NET + "own = poptorch.optim.Adam(net.parameters()" + later)
        self.good(NET + "own = poptorch.optim.Adam(net.parameters(), lr=0.1" + later)
        load = "own = poptorch.optim.Adam(net.parameters(), lr=0.1)\nown.load_state_dict({0}.Adam(net.parameters(), lr=0.1).state_dict())"
        self.bad("ipu.optimizer-state", NET + load.format("torch.optim"))
        self.good(NET + load.format("poptorch.optim"))

    def test_shapes_and_constants(self):
        self.bad("ipu.static-shapes", STEP + "ipu(x[:4], y[:4])")
        self.bad("ipu.static-shapes", STEP + "ipu(x.half(), y)")
        self.bad("ipu.batch", NET + "opts.deviceIterations(3)\npoptorch.trainingModel(net, opts, opt)(x, y)")
        named = NET.replace("y=None):", "y=None, k=None):") + WRAP[len(NET):] + "ipu(x, y, 1)\n"
        self.good(named + "ipu(x, y, 1)")
        self.bad("ipu.constant-arguments", named + "ipu(x, y, 2)")
        held = "import collections, numpy\n" + named.replace("ipu(x, y, 1)", "ipu(x, y, numpy.ones((2, 3)))")
        self.good(held + "ipu(x, y, numpy.ones((2, 3)))")
        for other in ("numpy.zeros((2, 3))", "numpy.ones(4)", "[numpy.ones((2, 3))] * 2", "1"):
            self.bad("ipu.constant-arguments", held + f"ipu(x, y, {other})")
        queue = "collections.deque([torch.rand(2), torch.rand(2)])"
        self.bad("ipu.constant-arguments", held.replace("numpy.ones((2, 3))", queue) + f"ipu(x, y, {queue})")

    def test_values_in_forward(self):
        for use in ("out.mean().item()", "float(out.mean())", "1 if out.mean() > 0 else 0"):
            self.bad("ipu.data-dependent", loss_net(f"k = {use}; return out, self.loss(out, y)") + WRAP[len(NET):] + "ipu(x, y)")

    def test_class_weights(self):
        self.bad("ipu.operations", WRAP.replace("CrossEntropyLoss()", "CrossEntropyLoss(torch.ones(3))") + "ipu(x, y)")

    def test_modes(self):
        self.bad("ipu.mode-at-wrap", NET + "net.eval()\npoptorch.trainingModel(net, opts, opt)(x, y)")
        self.bad("ipu.mode-at-wrap", NET + "poptorch.inferenceModel(net)(x)")

    def test_options(self):
        self.bad("ipu.frozen-options", WRAP + "opts.deviceIterations(2)")
        self.bad("ipu.frozen-options", NET + "poptorch.DataLoader(opts, data)\nopts.Training.gradientAccumulation(2)")
        self.bad("ipu.options", NET + "opts.replicationFactor = 2")
        self.bad("ipu.options", NET + "opts.replicationFactor(2.0)")
        self.bad("ipu.options", NET + "poptorch.trainingModel(net, {}, opt)")
        self.bad("ipu.inference-options", NET + "opts.Training.gradientAccumulation(2)\nnet.eval()\npoptorch.inferenceModel(net, opts)")

    def test_one_device(self):
        both = STEP + "other = Net()\nother.eval()\ninfer = poptorch.inferenceModel(other)\n"
        self.bad("ipu.one-device", both + "infer(x)")
        self.good(both + "ipu.detachFromDevice()\ninfer(x)")
        self.good(both + "infer(x)", env={"STAND_IN_IPUS": "2"})
        self.bad("ipu.attach", STEP + "ipu.attachToDevice()")
        self.bad("ipu.attach", WRAP + "ipu.detachFromDevice()")
        self.good(STEP + "ipu.destroy()\npoptorch.trainingModel(net, opts, opt)(x, y)")
        self.bad("ipu.wrapped-twice", STEP + "poptorch.trainingModel(net, opts, opt)")

    def test_the_loader(self):
        self.bad("ipu.loader", NET + "poptorch.DataLoader(data, opts, batch_size=4)")
        batches = WRAP + "for x, y in poptorch.DataLoader(opts, data, batch_size=SIZE, drop_last=False):\n    ipu(x, y)"
        self.bad("ipu.static-shapes", batches.replace("SIZE", "48"))
        self.good(batches.replace("SIZE", "32"))
        self.bad("ipu.loader", NET + "poptorch.DataLoader(opts, data, batch_size=65)")

    def test_precision(self):
        self.bad("ipu.no-autocast", WRAP + "with torch.autocast('cpu'):\n    ipu(x, y)")


if __name__ == "__main__":
    unittest.main()
