"""What a port to Intel's GPUs is held to, and small programs that break it.

    python3 rehearsal/tests/test_xpu.py
"""

import unittest

from programs import Programs

STEP = """
import torch
import torch.nn as nn

device = torch.device("xpu")
net = nn.Linear(4, 2).to(device)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("xpu")
x, y = torch.rand(8, 4).xpu(), torch.rand(8, 2, device="xpu:0")
with torch.autocast("xpu", dtype=torch.bfloat16):
    loss = nn.functional.mse_loss(net(x), y)
scaler.scale(loss).backward()
scaler.step(opt)
scaler.update()
torch.xpu.synchronize()
"""


class Xpu(Programs):
    target = "xpu"

    def test_a_good_step(self):
        run = self.good(STEP)
        self.assertEqual(run.kept, {"xpu.device", "xpu.no-cuda", "xpu.autocast-device"})
        self.assertIn(["backward", {"device": "xpu"}], run.calls)
        self.assertIn(["torch.xpu.synchronize", {}], run.calls)

    def test_where_tensors_are(self):
        self.good(STEP + "assert x.is_xpu and not x.is_cuda and x.device == torch.device('xpu', 0) and not x.cpu().is_xpu")
        # A number names the accelerator that PyTorch was built for.
        self.good(STEP + "assert torch.rand(1).to(0).is_xpu and next(nn.Linear(1, 1).to(0).parameters()).is_xpu")
        self.good(STEP + "torch.save(net.state_dict(), 'w.pt'); assert torch.load('w.pt')['weight'].is_xpu")

    def test_nothing_of_cuda(self):
        for call in ("x.cpu().cuda()", "torch.zeros(1, device='cuda')"):
            self.bad("xpu.no-cuda", STEP + call)
        self.bad("xpu.no-cuda", STEP.replace('GradScaler("xpu")', 'GradScaler("cuda")'))

    def test_a_step_elsewhere(self):
        self.bad("xpu.device", STEP.replace('"xpu:0"', '"cpu"').replace(".xpu()", "").replace(".to(device)", ""))

    def test_processes(self):
        group = STEP + "torch.distributed.init_process_group('BACKEND', rank=0, world_size=1, store=torch.distributed.HashStore())\n"
        joined = group + "ddp = nn.parallel.DistributedDataParallel(net, device_ids=[0])\nddp(x).sum().backward()\n"
        self.assertIn("xpu.backend", self.good(joined.replace("BACKEND", "xccl")).kept)
        self.bad("xpu.backend", group.replace("BACKEND", "nccl"))
        ccl = "import oneccl_bindings_for_pytorch" + joined.replace("BACKEND", "ccl")
        self.good(ccl)

    def test_the_extension(self):
        optimized = "import intel_extension_for_pytorch as ipex" + STEP + "net, opt = ipex.optimize(net, optimizer=opt)\n"
        self.good(optimized)
        self.bad("xpu.optimize-mode", optimized.replace(", opt = ", " = ").replace(", optimizer=opt", ""))
        self.good(optimized.replace(", opt = ", " = ").replace("net, optimizer=opt", "net.eval()"))


if __name__ == "__main__":
    unittest.main()
