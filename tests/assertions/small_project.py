"""A small project with compute modes, and manual ports of it: correct ones, for the tests to break."""

import pathlib
import tempfile
import textwrap

BEFORE = '''
import argparse
import enum

import torch


class Kind(enum.Enum):
    CPU = 0
    GPU = 1


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 3)

    def forward(self, x):
        return self.fc(x)


class Trainer:
    def __init__(self, args):
        self.args, self.kind = args, Kind[args.kind]
        self.data = torch.utils.data.TensorDataset(torch.rand(32, 4), torch.zeros(32, dtype=torch.long))

    def build(self):
        self.net = Net()
        self.criterion = torch.nn.CrossEntropyLoss()
        self.net.to(self.device())
        self.optimizer = torch.optim.RMSprop(self.net.parameters(), lr=0.1, eps=1e-4)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, 0.9)

    def device(self):
        if self.kind == Kind.GPU:
            return torch.device("cuda")
        return torch.device("cpu")

    def loader(self):
        return torch.utils.data.DataLoader(self.data, batch_size=4, drop_last=True)

    def train_step(self, x, y):
        self.optimizer.zero_grad()
        loss = self.criterion(self.net(x), y)
        loss.backward()
        self.optimizer.step()
        return loss

    def validate(self):
        self.net.eval()
        with torch.no_grad():
            for x, y in self.loader():
                out = self.net(x)
        self.net.train()

    def save(self):
        torch.save(self.net.state_dict(), "net.pt")

    def train(self):
        for epoch in range(2):
            for x, y in self.loader():
                loss = self.train_step(x, y)
            self.scheduler.step()
            print("loss", loss.item())
            self.validate()
        self.save()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", default="CPU")
    args, _ = parser.parse_known_args()
    trainer = Trainer(args)
    trainer.build()
    trainer.train()


if __name__ == "__main__":
    main()
'''

IPU = [
    ("import torch\n", "import torch\n\ntry:\n    import poptorch\nexcept ImportError:\n    poptorch = None\n"),
    ("    GPU = 1\n", "    GPU = 1\n    IPU = 5\n"),
    ("class Trainer:\n", '''class NetWithLoss(torch.nn.Module):
    def __init__(self, net, criterion):
        super().__init__()
        self.net, self.criterion = net, criterion

    def forward(self, x, y=None):
        out = self.net(x)
        return out if y is None else (out, self.criterion(out, y))


class Trainer:
'''),
    ("        self.scheduler = torch", '''        if self.kind == Kind.IPU:
            # Detaching keeps the moments of poptorch.optim only.
            self.optimizer = poptorch.optim.RMSprop(self.net.parameters(), lr=0.1, eps=1e-4)
            self.opts = poptorch.Options()
            self.eval_opts = poptorch.Options()
            step = NetWithLoss(self.net, self.criterion)
            step.train()
            self.ipu_train = poptorch.trainingModel(step, options=self.opts, optimizer=self.optimizer)
        self.scheduler = torch'''),
    ("    def loader(self):\n", '''    def loader(self):
        if self.kind == Kind.IPU:
            return poptorch.DataLoader(self.opts, self.data, batch_size=4)
'''),
    ("    def train_step(self, x, y):\n", '''    def train_step(self, x, y):
        if self.kind == Kind.IPU:
            return self.ipu_train(x, y)[1].mean()
'''),
    ("    def validate(self):\n", '''    def validate(self):
        if self.kind == Kind.IPU:
            self.ipu_train.detachFromDevice()
            self.net.eval()
            ipu_eval = poptorch.inferenceModel(self.net, self.eval_opts)
            for x, y in self.loader():
                out = ipu_eval(x)
            ipu_eval.detachFromDevice()
            self.net.train()
            self.ipu_train.attachToDevice()
            return
'''),
    ("            self.scheduler.step()\n", '''            self.scheduler.step()
            if self.kind == Kind.IPU:
                self.ipu_train.setOptimizer(self.optimizer)
'''),
]

POPDIST = [
    *IPU,
    ("    import poptorch\nexcept ImportError:\n    poptorch = None\n", "    import popdist\n    import popdist.poptorch\n    import poptorch\n"
                                                                       "except ImportError:\n    popdist = poptorch = None\n"),
    ("        self.args, self.kind = args, Kind[args.kind]\n", '''        self.args, self.kind = args, Kind[args.kind]
        if self.kind == Kind.IPU:
            self.instance = 0
            if popdist.isPopdistEnvSet():
                popdist.init()
                self.instance = popdist.getInstanceIndex()
'''),
    ("            self.opts = poptorch.Options()\n            self.eval_opts = poptorch.Options()\n", '''            make = popdist.poptorch.Options if popdist.isPopdistEnvSet() else poptorch.Options
            self.opts, self.eval_opts = make(), make()
            self.opts.randomSeed(42)
'''),
    ("    def save(self):\n", '''    def save(self):
        if self.kind == Kind.IPU and self.instance != 0:
            return
'''),
]

RDU = [
    ("import torch\n", '''import sys

import torch

try:
    import sambaflow.samba as samba
    import sambaflow.samba.utils as utils
    from sambaflow.samba.utils.argparser import parse_app_args
    from sambaflow.samba.utils.pef_utils import get_pefmeta
except ImportError:
    samba = None
'''),
    ("    GPU = 1\n", "    GPU = 1\n    RDU = 6\n"),
    ("class Trainer:\n", '''class NetWithLoss(torch.nn.Module):
    def __init__(self, net, criterion):
        super().__init__()
        self.net, self.criterion = net, criterion

    def forward(self, x, y):
        out = self.net(x)
        return self.criterion(out, y), out


class Trainer:
'''),
    ("        self.optimizer = torch.optim.RMSprop", '''        if self.kind == Kind.RDU:
            self.build_rdu()
            return
        self.optimizer = torch.optim.RMSprop'''),
    ("    def device(self):\n", '''    def build_rdu(self):
        self.step = NetWithLoss(self.net, self.criterion)
        samba.from_torch_model_(self.step)
        self.optimizer = samba.optim.AdamW(self.step.parameters(), lr=0.1)
        self.inputs = (samba.randn(4, 4, name="x", batch_dim=0), samba.randint(3, (4,), name="y", batch_dim=0))
        if self.args.command == "compile":
            samba.session.compile(self.step, self.inputs, self.optimizer, name="net", app_dir=utils.get_file_dir(__file__),
                                  config_dict=vars(self.args), pef_metadata=get_pefmeta(self.args, self.step))
            return
        utils.trace_graph(self.step, self.inputs, self.optimizer, pef=self.args.pef)

    def train_rdu(self):
        if self.args.command == "compile":
            return
        for x, y in self.loader():
            x = samba.from_torch_tensor(x, name="x", batch_dim=0)
            y = samba.from_torch_tensor(y, name="y", batch_dim=0)
            loss, _ = samba.session.run([x, y], self.step.output_tensors, hyperparam_dict={"lr": 0.1},
                                        data_parallel=self.args.data_parallel, reduce_on_rdu=self.args.reduce_on_rdu)
        print("loss", samba.to_torch(loss).mean().item())
        samba.session.to_cpu(self.step)
        torch.save(self.step.state_dict(), "net.pt")

    def device(self):
'''),
    ("    def train(self):\n", '''    def train(self):
        if self.kind == Kind.RDU:
            self.train_rdu()
            return
'''),
    ("    trainer = Trainer(args)\n", '''    if Kind[args.kind] == Kind.RDU:
        args = parse_app_args(argv=sys.argv[1:], common_parser_fn=lambda p: p.add_argument("--kind"))
    trainer = Trainer(args)
'''),
]


def edited(text, edits):
    for old, new in edits:
        assert old in text, f"there is no {old!r}"
        text = text.replace(old, new, 1)
    return text


def written(text):
    """A folder with the project; the caller deletes it."""
    folder = tempfile.mkdtemp()
    (pathlib.Path(folder) / "train.py").write_text(textwrap.dedent(text), encoding="utf-8")
    return folder
