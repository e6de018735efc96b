"""Each rule of SambaFlow, and a small program that breaks it.

    python3 rehearsal/tests/test_rdu.py
"""

import json
import unittest

from programs import Programs

NET = """
import torch
import torch.nn as nn
import sys
import sambaflow.samba as samba
import sambaflow.samba.utils as utils
from sambaflow.samba.utils.argparser import parse_app_args
from sambaflow.samba.utils.pef_utils import get_pefmeta

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.loss = nn.CrossEntropyLoss()

    def forward(self, image, label=None):
        out = self.fc(image)
        return (self.loss(out, label), out) if label is not None else out

args = parse_app_args(argv=sys.argv[1:], common_parser_fn=lambda p: p.add_argument('--lr', type=float, default=0.1))
image = samba.randn(args.batch_size, 4, name='image', batch_dim=0)
label = samba.randint(3, (args.batch_size,), name='label', batch_dim=0)
data = torch.utils.data.TensorDataset(torch.rand(20, 4), torch.zeros(20, dtype=torch.long))
loader = torch.utils.data.DataLoader(data, batch_size=args.batch_size, drop_last=True)
net = Net()
samba.from_torch_model_(net)
opt = samba.optim.SGD(net.parameters(), lr=args.lr)
"""
COMPILE = """
if args.command == 'compile':
    samba.session.compile(net, (image, label), opt, name='net', app_dir=utils.get_file_dir(__file__), config_dict=vars(args),
                          pef_metadata=get_pefmeta(args, net))
    sys.exit()
"""
TRACE = "utils.trace_graph(net, (image, label), opt, pef=args.pef)\n"
FLAGS = "data_parallel=args.data_parallel, reduce_on_rdu=args.reduce_on_rdu"
BATCH = """
for x, y in loader:
    x, y = samba.from_torch_tensor(x, name='image', batch_dim=0), samba.from_torch_tensor(y, name='label', batch_dim=0)
"""
STEP = f"    loss, out = samba.session.run([x, y], net.output_tensors, hyperparam_dict={{'lr': args.lr}}, {FLAGS})\n"
RUN = NET + COMPILE + TRACE + BATCH + STEP
PEF = {"net.pef": json.dumps({"inputs": [{"name": "image", "shape": [4, 4], "dtype": "torch.float32"},
                                         {"name": "label", "shape": [4], "dtype": "torch.int64"}], "trains": True, "output_grads": False})}
START = {"argv": ("run", "-b", "4", "--pef", "net.pef"), "files": PEF}


class Rdu(Programs):
    target = "rdu"

    def test_compile_and_run(self):
        run = self.good(RUN, argv=("compile", "-b", "4", "--pef-name", "n", "--output-folder", "o"))
        self.assertIn("o", run.files)
        run = self.good(RUN + "samba.session.to_cpu(net)\ntorch.save(net.state_dict(), 'net.pt')\nprint(samba.to_torch(loss).mean().item())", **START)
        self.assertEqual(sum(name == "samba.session.run" for name, _ in run.calls), 5)

    def test_the_command_line(self):
        self.bad("rdu.command", RUN, argv=("--lr", "1"))
        self.bad("rdu.pef", RUN, argv=("run", "-b", "4"))
        self.bad("rdu.pef", RUN, argv=("run", "-b", "4", "--pef", "no.pef"))
        self.bad("rdu.no-data", NET + "next(iter(loader))\n" + COMPILE, argv=("compile", "-b", "4"))

    def test_inputs_agree(self):
        self.bad("rdu.inputs-agree", RUN, **{**START, "argv": ("run", "-b", "5", "--pef", "net.pef")})
        self.bad("rdu.inputs-agree", RUN.replace("(x, name='image'", "(x, name='images'"), **START)
        self.bad("rdu.inputs-agree", RUN.replace("(x, name='image'", "(x.half(), name='image'"), **START)
        ragged = RUN.replace("drop_last=True", "drop_last=False").replace("torch.rand(20, 4), torch.zeros(20,", "torch.rand(18, 4), torch.zeros(18,")
        self.bad("rdu.inputs-agree", ragged, **START)
        self.bad("rdu.input-names", RUN.replace("(x, name='image', batch_dim=0)", "(x)"), **START)
        self.bad("rdu.inputs", RUN.replace("x, y = samba.from", "pass  # ").replace("net.output_tensors, hyper", "net.output_tensors, hyper"), **START)

    def test_order(self):
        late = RUN.replace("samba.from_torch_model_(net)\n", "")
        self.bad("rdu.from-torch", late, argv=("compile", "-b", "4"))
        self.bad("rdu.from-torch", RUN.replace("opt = samba", "net.bfloat16()\nopt = samba"), argv=("compile", "-b", "4"))
        self.bad("rdu.traced", RUN.replace(TRACE, "net.output_tensors = ()\n"), **START)

    def test_the_optimizer(self):
        self.bad("rdu.optimizer", RUN.replace("samba.optim.SGD", "torch.optim.SGD"), **START)
        self.bad("rdu.optimizer", RUN.replace("SGD(net.p", "SGD(Net().p"), **START)
        self.bad("rdu.host-step", RUN + "    opt.step()\n", **START)
        self.bad("rdu.pef", RUN.replace("opt = samba.optim.SGD(net.parameters(), lr=args.lr)", "opt = None"), **START)
        self.bad("rdu.hyperparameters", RUN.replace("hyperparam_dict={'lr': args.lr}, ", ""), **START)
        self.bad("rdu.data-parallel", RUN.replace(FLAGS, ""), **{**START, "argv": (*START["argv"], "--data-parallel")})

    def test_the_loss(self):
        host = RUN.replace("(image, label), opt", "(image,), opt").replace("[x, y], net", "[x], net")
        files = {"net.pef": json.dumps({"inputs": [{"name": "image", "shape": [4, 4], "dtype": "torch.float32"}], "trains": True,
                                        "output_grads": True})}
        start = {**START, "files": files}
        self.bad("rdu.loss", host.replace("    loss, out = ", "    "), **start)
        two = host.replace(STEP.replace("[x, y], net", "[x], net"), f"""
    (logits,) = samba.session.run([x], net.output_tensors, section_types=['FWD'], {FLAGS})
    logits = samba.to_torch(logits).float()
    logits.requires_grad = True
    nn.functional.cross_entropy(logits, samba.to_torch(y)).backward()
    samba.session.run([x], net.output_tensors, section_types=['BCKWD', 'OPT'], grad_of_outputs=[samba.from_torch(logits.grad)],
                      hyperparam_dict={{'lr': args.lr}}, {FLAGS})
""")
        self.good(two, **start)
        self.bad("rdu.grad-of-outputs", two.replace("grad_of_outputs=[samba.from_torch(logits.grad)],", ""), **start)
        self.bad("rdu.grad-of-outputs", two, **{**start, "files": {"net.pef": files["net.pef"].replace("true}", "false}")}})

    def test_back_on_the_host(self):
        self.bad("rdu.to-cpu", RUN + "torch.save(net.state_dict(), 'net.pt')", **START)
        self.bad("rdu.to-cpu", RUN + "with torch.no_grad():\n    net(torch.rand(4, 4))", **START)
        self.bad("rdu.to-torch", RUN + "    print(loss.mean())", **START)

    def test_the_old_driver(self):
        self.bad("rdu.driver", NET + "from sambaflow.samba.utils.common import common_app_driver\ncommon_app_driver(args, net, (image, label), opt)",
                 **START)


if __name__ == "__main__":
    unittest.main()
