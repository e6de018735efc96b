"""What a port to Gaudi is held to, a program for each rule that breaks it, and the arithmetic of the vendor's own optimizers.

    python3 rehearsal/tests/test_gaudi.py
"""

import unittest

from programs import Programs

START = "import os\nos.environ.setdefault('PT_HPU_LAZY_MODE', '0')\nimport torch\nimport habana_frameworks.torch.core as htcore\n"
STEP = START + """
net = torch.nn.Linear(4, 2).to("hpu")
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.rand(8, 4).to("hpu"), torch.rand(8, 2, device="hpu")
with torch.autocast(device_type="hpu", dtype=torch.bfloat16):
    loss = torch.nn.functional.mse_loss(net(x), y)
loss.backward()
htcore.mark_step()
optimizer.step()
htcore.mark_step()
"""
ALONE = {"MASTER_ADDR": "localhost", "MASTER_PORT": "1", "RANK": "0", "WORLD_SIZE": "1"}
HCCL = "import habana_frameworks.torch.distributed.hccl\n"


class Gaudi(Programs):
    target = "gaudi"

    def test_a_good_step(self):
        self.assertEqual(self.good(STEP).kept, {"hpu.device", "hpu.no-cuda", "hpu.mode", "hpu.autocast-device"})

    def test_the_mode_is_there_before_the_bridge(self):
        self.bad("hpu.mode", "import habana_frameworks.torch.core")
        self.bad("hpu.mode", "import os\nos.environ['PT_HPU_LAZY_MODE'] = 'eager'\nimport habana_frameworks.torch.core")
        self.dies("was 0 when", START + "os.environ['PT_HPU_LAZY_MODE'] = '1'; htcore.mark_step()")
        self.bad("hpu.mode", STEP.replace("loss.backward()\nhtcore.mark_step()", "os.environ['PT_HPU_LAZY_MODE'] = '1'\nloss.backward()")
                 .replace("step()\nhtcore.mark_step()", "step()"))
        run = self.good("import habana_frameworks.torch.core as c; c.mark_step()", env={"PT_HPU_LAZY_MODE": "1"})
        self.assertEqual(run.calls[-1], ["mark_step", {"lazy": True}])

    def test_lazy_mode_has_marks(self):
        lazy = {"PT_HPU_LAZY_MODE": "1"}
        self.assertIn("hpu.mark-step", self.good(STEP + STEP.split("\n\n", 1)[0], env=lazy).kept)
        self.bad("hpu.mark-step", STEP.replace("loss.backward()\nhtcore.mark_step()", "loss.backward()"), env=lazy)

    def test_the_device_is_there_once_the_bridge_is(self):
        self.dies("hpu", "import torch; torch.rand(1).to('hpu')")
        self.dies("number 0", START + "torch.hpu.set_device(1)")
        self.dies("AttributeError", START + "torch.hpu.empty_cache()")
        self.good(START + "x = torch.rand(1).to('hpu'); assert x.is_hpu and x.device.type == 'hpu' and not x.cpu().is_hpu")

    def test_the_bridge_is_loaded_with_torch_from_some_release_on(self):
        program, eager = "import torch; assert torch.rand(1).to('hpu').is_hpu", {"PT_HPU_LAZY_MODE": "0"}
        self.good(program, env={**eager, "STAND_IN_SDK": "1.18"})
        self.dies("hpu", program, env={**eager, "STAND_IN_SDK": "1.17.1"})
        self.dies("hpu", program, env={"PT_HPU_LAZY_MODE": "1", "STAND_IN_SDK": "1.21"})

    def test_a_step_elsewhere(self):
        self.bad("hpu.device", STEP.replace('.to("hpu")', "").replace(', device="hpu"', ""))

    def test_autocast_for_another_device(self):
        self.bad("hpu.autocast-device", STEP.replace('device_type="hpu"', 'device_type="cpu"'))

    def test_an_lstm_in_bfloat16_on_any_processor(self):
        recurrent = STEP.replace("torch.nn.Linear(4, 2)", "torch.nn.LSTM(4, 2)").replace("net(x)", "net(x)[0]")
        self.good(recurrent)

    def test_nothing_of_cuda(self):
        for call in ("torch.cuda.synchronize()", "torch.zeros(1, device='cuda')", "net.cuda()", "torch.cuda.amp.GradScaler()"):
            self.bad("hpu.no-cuda", STEP + call)
        self.good(STEP + "torch.amp.GradScaler('hpu', enabled=False); torch.cuda.is_available()")

    def test_devices_do_not_mix(self):
        self.dies("same device", STEP + "x + torch.rand(8, 4)")

    def test_complex_numbers(self):
        for call in ("torch.zeros(2, dtype=torch.complex64, device='hpu')", "torch.zeros(2, dtype=torch.complex64).to('hpu')", "torch.fft.fft(x)",
                     "torch.view_as_complex(x.reshape(16, 2))", "torch.polar(x, x)"):
            self.bad("hpu.types", STEP + call)
        self.good(STEP + "torch.fft.fft(x.cpu().detach())")

    def test_double_precision(self):
        run = self.good(STEP + "z = torch.zeros(2, dtype=torch.float64).to('hpu')")
        self.assertIn("float64 is not supported by the card", run.trace)
        self.assertNotIn("float64", self.good(STEP + "z = torch.zeros(2, dtype=torch.float64)").trace)

    def test_torchscript(self):
        for call in ("torch.jit.script(net)", "torch.jit.trace(net, x)"):
            self.bad("hpu.torchscript", STEP + call)

    def test_sparse_tensors(self):
        for call in ("x.to_sparse()", "torch.sparse.mm(x, x.t())"):
            self.bad("hpu.sparse", STEP + call)

    def test_processes_meet_over_hccl(self):
        group = STEP + HCCL + "torch.distributed.init_process_group('BACKEND')\ntorch.distributed.all_reduce(x)\n"
        run = self.good(group.replace("BACKEND", "hccl"), env=ALONE)
        self.assertIn("hpu.backend", run.kept)
        self.assertIn("import hccl", [name for name, _ in run.calls])
        self.bad("hpu.backend", group.replace("BACKEND", "nccl"), env=ALONE)
        self.bad("hpu.backend", group.replace(HCCL, "").replace("BACKEND", "hccl"), env={**ALONE, "STAND_IN_SDK": "1.17"})

    def test_several_processes_add_up(self):
        """HCCL's stand-in is gloo, so a sum over two processes is the sum."""
        self.good(START + HCCL + """
            import torch.multiprocessing as mp

            def one(rank):
                torch.distributed.init_process_group("hccl", rank=rank, world_size=2)
                x = torch.full((3,), rank + 1.0).to("hpu")
                torch.distributed.all_reduce(x)
                assert x.cpu().tolist() == [3.0] * 3, x

            if __name__ == "__main__":
                os.environ["STAND_IN_STORE"] = os.path.abspath("store")
                mp.start_processes(one, nprocs=2, start_method="fork")
        """.replace("\n            ", "\n"), env={"MASTER_ADDR": "localhost", "MASTER_PORT": "1"})

    def test_compiled_for_the_card(self):
        self.good(STEP + "torch.compile(net, backend='hpu_backend')(x).sum().backward()")

    def test_fused_adamw(self):
        """PyTorch's arithmetic, with defaults of its own."""
        self.good(START + """
from habana_frameworks.torch.hpex.optimizers import FusedAdamW
nets = [torch.nn.Linear(4, 2).to("hpu"), torch.nn.Linear(4, 2).to("hpu")]
nets[1].load_state_dict(nets[0].state_dict())
fused, plain = FusedAdamW(nets[0].parameters()), torch.optim.AdamW(nets[1].parameters(), lr=1e-3, eps=1e-6, weight_decay=0.0)
x = torch.rand(8, 4, device="hpu")
for _ in range(3):
    for net, optimizer in zip(nets, (fused, plain)):
        optimizer.zero_grad()
        net(x).square().sum().backward()
        optimizer.step()
assert all(torch.equal(a, b) for a, b in zip(nets[0].parameters(), nets[1].parameters()))
try:
    FusedAdamW(nets[0].parameters(), amsgrad=True)
except TypeError:
    pass
else:
    raise AssertionError("the vendor's has no amsgrad")
""")

    def test_fused_clip_norm(self):
        self.good(START + """
from habana_frameworks.torch.hpex.normalization import FusedClipNorm
nets = [torch.nn.Linear(4, 2).to("hpu"), torch.nn.Linear(4, 2).to("hpu")]
nets[1].load_state_dict(nets[0].state_dict())
x = torch.rand(8, 4, device="hpu")
for net in nets:
    (100 * net(x).square().sum()).backward()
clip = FusedClipNorm(nets[0].parameters(), 0.5)
clip.clip_norm(nets[0].parameters())
torch.nn.utils.clip_grad_norm_(nets[1].parameters(), 0.5)
assert all(torch.equal(a.grad, b.grad) for a, b in zip(nets[0].parameters(), nets[1].parameters()))
norm = sum(float(p.grad.square().sum()) for p in nets[0].parameters()) ** 0.5
assert abs(norm - 0.5) < 1e-4, norm
""")

    def test_fused_lamb_clips_by_itself(self):
        self.good(START + """
from habana_frameworks.torch.hpex.optimizers import FusedLamb
def change(bound):
    torch.manual_seed(1)
    net = torch.nn.Linear(4, 2).to("hpu")
    before = net.weight.detach().clone()
    optimizer = FusedLamb(net.parameters(), lr=0.1, eps=1.0, max_grad_norm=bound)
    (100 * net(torch.ones(8, 4, device="hpu")).square().sum()).backward()
    optimizer.step()
    return float((net.weight - before).detach().norm())
assert change(1.0) < change(1000.0)
""")


if __name__ == "__main__":
    unittest.main()
