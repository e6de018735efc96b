"""The stand-ins keep the rules that the README beside them promises.

    python3 rehearsal/tests/test_base.py
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent.parent


def run(machine, program, **env):
    """Runs a program; gives its calls, or the last line of what it died of."""
    paths = [HERE / "recorder", HERE / "base"] + ([HERE / "gaudi"] if machine == "hpu" else [])
    with tempfile.TemporaryDirectory() as folder:
        calls = pathlib.Path(folder) / "calls"
        keep = {k: v for k, v in os.environ.items() if k != "PT_HPU_LAZY_MODE"}
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=folder, text=True, capture_output=True,
            env={**keep, "PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1",
                 "STAND_IN_MACHINE": machine, "STAND_IN_CALLS": str(calls), **env},
        )
        if done.returncode:
            return done.stderr.strip().splitlines()[-1]
        return [json.loads(line) for line in calls.read_text().splitlines()] if calls.exists() else []


GAUDI = "import os; os.environ['PT_HPU_LAZY_MODE'] = '0'\nimport torch\nimport habana_frameworks.torch.core as htcore\n"


class StandIns(unittest.TestCase):
    def dies(self, machine, program, why, **env):
        fault = run(machine, program, **env)
        self.assertIsInstance(fault, str, f"it ran: {fault}")
        self.assertIn(why, fault)

    def names(self, machine, program, **env):
        calls = run(machine, program, **env)
        self.assertIsInstance(calls, list, calls)
        return [name for name, _ in calls]

    def test_cuda_is_only_where_it_is(self):
        for machine in ("cpu", "hpu"):
            for work in ("torch.nn.Linear(1, 1).cuda()", "torch.rand(1).to('cuda:0')", "torch.zeros(1, device='cuda')",
                         "torch.cuda.synchronize()", "torch.cuda.set_device(0)", "torch.cuda.device(0)"):
                self.dies(machine, f"import torch; {work}", "Torch not compiled with CUDA enabled")
            self.assertEqual(self.names(machine, "import torch; assert not torch.cuda.is_available()"), [])
        self.assertIn("torch.cuda.synchronize", self.names("cuda", "import torch; torch.cuda.synchronize()"))

    def test_what_cuda_answers_where_it_is_not(self):
        for question, answer in (
            ("max_memory_allocated()", "0"), ("memory_allocated(0)", "0"), ("memory_reserved()", "0"), ("max_memory_reserved()", "0"),
            ("memory_stats()", "{}"), ("get_rng_state_all()", "[]"), ("is_bf16_supported()", "False"),
        ):
            self.assertEqual(self.names("cpu", f"import torch; assert torch.cuda.{question} == {answer}"), [])
        for work in ("reset_peak_memory_stats()", "memory_summary()", "get_rng_state()", "current_device()"):
            self.dies("cpu", f"import torch; torch.cuda.{work}", "Torch not compiled with CUDA enabled")
        self.assertIn("torch.cuda.memory_allocated", self.names("cuda", "import torch; torch.cuda.memory_allocated()"))

    def test_calls_that_need_a_process_group(self):
        why = "Default process group has not been initialized, please make sure to call init_process_group."
        for call in ("all_reduce(x)", "broadcast(x, 0)", "all_gather([x], x)", "reduce(x, 0)", "barrier()", "get_backend()"):
            self.dies("cpu", f"import torch; x = torch.ones(1); torch.distributed.{call}", why)
        gloo = "import torch; torch.distributed.init_process_group('gloo')\nx = torch.ones(1)\n"
        env = {"MASTER_ADDR": "localhost", "MASTER_PORT": "1", "RANK": "0", "WORLD_SIZE": "1"}
        self.assertIn("all_reduce", self.names("cpu", gloo + "torch.distributed.all_reduce(x, async_op=True).wait()", **env))

    def test_cuda_precision_is_a_fault_on_gaudi(self):
        for work in ("torch.cuda.amp.autocast()", "torch.cuda.amp.GradScaler()", "torch.autocast('cuda')", "torch.cuda.empty_cache()"):
            self.dies("hpu", GAUDI + work, "on a machine with HPU")
            self.assertEqual(self.names("cpu", f"import torch; {work}"), [])
        self.names("hpu", GAUDI + "torch.amp.GradScaler('hpu', enabled=False); torch.cuda.amp.GradScaler(enabled=False)")

    def test_hpu_is_there_once_habana_is_imported(self):
        self.dies("cpu", "import habana_frameworks.torch.core", "No module named 'habana_frameworks'")
        self.dies("cpu", "import torch; torch.hpu.is_available()", "AttributeError")
        self.dies("hpu", "import torch; torch.rand(1).to('hpu')", "not available here")
        self.dies("hpu", GAUDI + "torch.rand(1).to('hpu:1')", "number 0")
        self.dies("hpu", GAUDI + "torch.hpu.empty_cache()", "AttributeError")
        self.assertIn("Tensor.to", self.names("hpu", GAUDI + "torch.rand(1).to('hpu')"))

    def test_the_mode_is_set_before_habana(self):
        self.dies("hpu", "import habana_frameworks.torch.core", "PT_HPU_LAZY_MODE is not set")
        self.dies("hpu", GAUDI + "os.environ['PT_HPU_LAZY_MODE'] = '1'; htcore.mark_step()", "was 0 when")
        calls = run("hpu", "import habana_frameworks.torch.core as c; c.mark_step()", PT_HPU_LAZY_MODE="1")
        self.assertEqual(calls[-1], ["mark_step", {"lazy": True}])

    def test_hccl_comes_before_the_group(self):
        group = "torch.distributed.init_process_group('hccl', rank=0, world_size=1)"
        env = {"MASTER_ADDR": "localhost", "MASTER_PORT": "1"}
        self.dies("hpu", GAUDI + group, "HCCL built in", **env)
        program = GAUDI + "import habana_frameworks.torch.distributed.hccl\n" + group
        self.assertEqual(self.names("hpu", program, **env)[-2:], ["import hccl", "init_process_group"])
        self.dies("cpu", "import torch; torch.distributed.init_process_group('nccl')", "NCCL built in")
        self.dies("cpu", "import torch; torch.distributed.init_process_group('gloo')", "MASTER_ADDR")

    def test_devices_do_not_mix(self):
        self.dies("cuda", "import torch; torch.rand(2).cuda() + torch.rand(2)", "same device")
        self.dies("cuda", "import torch; torch.nn.Linear(2, 2).cuda()(torch.rand(1, 2))", "same device")
        self.dies("cuda", "import torch; torch.nn.functional.mse_loss(torch.rand(2).cuda(), torch.rand(2))", "same device")
        self.dies("cuda", "import torch; torch.rand(2).cuda().numpy()", "Use Tensor.cpu()")

    def test_gradients_are_followed(self):
        net = "import torch; net = torch.nn.Linear(2, 2); x = torch.rand(1, 2)\n"
        self.dies("cpu", net + "with torch.no_grad():\n    y = net(x)\ny.sum().backward()", "does not require grad")
        self.dies("cpu", net + "net(x).sum().backward(); net.weight.numpy()", "requires grad")
        step = "opt = torch.optim.SGD(net.parameters(), lr=1); net(x).mean().backward(); opt.step()"
        self.assertEqual(run("cpu", net + step)[-1], ["optimizer.step", {"updated": 2}])

    def test_hooks_see_what_a_module_gives(self):
        program = (
            "import torch\nnet = torch.nn.Sequential(torch.nn.Linear(4, 2))\nseen = []\n"
            "handle = net[0].register_forward_hook(lambda module, inputs, output: seen.append(output.shape))\n"
            "net(torch.zeros(3, 4)); handle.remove(); net(torch.zeros(3, 4))\n"
            "assert seen == [(3, 2)], seen\n"
            "assert 'running_var' in torch.nn.BatchNorm2d(4).state_dict()\n"
        )
        self.assertIsInstance(run("cpu", program), list)

    def test_values_are_one_for_all(self):
        run_ok = (
            "import torch\nt = torch.tensor([[1.0, 3.0], [1.0, 3.0]])\nassert t.sum().item() == 8.0 and t.mean().item() == 2.0\n"
            "assert torch.max(t, dim=1)[0].shape == (2,) and t.view(4).chunk(2)[0].shape == (2,)\n"
            "assert (t > 1.5).float().mean().item() == 1.0 and torch.cat([t, t]).shape == (4, 2)\n"
        )
        self.assertEqual(self.names("cpu", run_ok), [])

    def test_config_keys_are_known(self):
        program = (
            "import sys\nfrom dataclasses import dataclass\nfrom hydra.core.config_store import ConfigStore\nimport hydra\n"
            "@dataclass\nclass C:\n    n: int = 1\n    on: bool = False\n"
            "ConfigStore.instance().store(name='c', node=C)\nsys.argv = ['x'] + {0}\n"
            "@hydra.main(config_path=None, config_name='c'{1})\ndef main(cfg):\n    assert cfg.n == 3 and cfg.on is True\n    cfg.m\nmain()"
        )
        self.dies("cpu", program.format("['n=3', 'on=true']", ""), "Key 'm' is not in struct")
        self.dies("cpu", program.format("['k=3']", ""), "Could not override 'k'")
        self.dies("cpu", program.format("[]", ", version_base=None"), "version_base", STAND_IN_HYDRA="1.1")

    def test_configs_come_from_files_too(self):
        program = (
            "import os, sys, hydra\nos.makedirs('conf/net')\n"
            "open('conf/main.yaml', 'w').write('defaults:\\n  - net: small\\n  - _self_\\nlr: 0.1  # of Adam\\nnet:\\n  depth: 3\\n')\n"
            "open('conf/net/small.yaml', 'w').write('depth: 2\\nkernels: [3, 5]\\nname: net-${lr}\\n')\n"
            "sys.argv = [os.path.abspath('x.py')] + {0}\n"
            "@hydra.main(config_path='conf', config_name='main')\ndef main(cfg):\n"
            "    assert (cfg.lr, cfg.net.depth, cfg.net.kernels, cfg.net.name) == (0.2, 3, [3, 5], 'net-0.2'), cfg\nmain()"
        )
        self.assertEqual(self.names("cpu", program.replace('{0}', "['lr=0.2']")), [])
        self.dies("cpu", program.replace('{0}', "['net=large', 'lr=0.2']"), "Cannot find config 'large' in group 'net'")

    def test_a_configuration_may_stand_in_another(self):
        program = (
            "from dataclasses import dataclass\n@dataclass\nclass Inner:\n    n: int = 1\n"
            "@dataclass\nclass Outer:\n    inner: Inner = Inner()\nassert Outer().inner.n == 1"
        )
        self.assertEqual(self.names("cpu", program), [])

    def test_arrays_are_one_for_all(self):
        program = (
            "import numpy, torch\na = numpy.random.random_sample([2, 3]).astype(numpy.float32)\n"
            "assert (a * 2).sum() == 6.0 and numpy.where(a > 0.4)[0].shape == (6,) and torch.tensor(a[:, 0]).shape == (2,)\n"
            "assert numpy.piecewise(3.0, [True, False], [lambda x: x + 1, lambda x: 0]) == 4.0 and numpy.interp(1, [0, 2], [0, 4]) == 2.0\n"
            "rows = numpy.zeros((1,), dtype=numpy.dtype([('n', numpy.int32), ('t', 'timedelta64[us]')]))\nrows.resize(3)\nrows[2]['n'] = 7\n"
            "assert len(rows) == 3 and rows['n'] == [0, 0, 7]"
        )
        self.assertEqual(self.names("cpu", program), [])
        self.dies("cpu", "import numpy; numpy.ones((2, 3)) + numpy.ones((4,))", "broadcast")

    def test_larcv_deals_a_batch_out_over_the_ranks(self):
        program = (
            "from larcv import {0} as queue\nq = queue.queue_interface(random_access_mode='random_blocks', seed=3)\n"
            "q.prepare_manager('train', dict(filler_name='f', filler_cfg=dict()), 4, dict(image='data'))\n"
            "data, dims = q.fetch_minibatch_data('train', pop=True, fetch_meta_data=True), q.fetch_minibatch_dims('train')\n"
            "assert data['image'].reshape(*dims['image']).shape[0] == len(data['entries']) == 4"
        )
        for queue in ("queueloader", "distributed_queue_interface"):
            self.assertEqual(self.names("cpu", program.format(queue)), ["larcv.queue", "larcv.fetch"])
        self.dies("cpu", program.format("queueloader").replace("filler_cfg", "cfg"), "io_config needs")


if __name__ == "__main__":
    unittest.main()
