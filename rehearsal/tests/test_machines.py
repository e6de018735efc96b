"""What each machine has, and what a program for another meets there: devices, CUDA's answers, process groups, files.

    python3 rehearsal/tests/test_machines.py
"""

import unittest

from programs import Programs, Run

GROUP = "import torch\ntorch.distributed.init_process_group('BACKEND')\nx = torch.ones(1)\n"
ALONE = {"MASTER_ADDR": "localhost", "MASTER_PORT": "1", "RANK": "0", "WORLD_SIZE": "1"}


class OnTheCpu(Programs):
    target = "cpu"

    def test_cuda_is_only_where_it_is(self):
        for work in ("torch.nn.Linear(1, 1).cuda()", "torch.rand(1).to('cuda:0')", "torch.zeros(1, device='cuda')", "torch.cuda.synchronize()",
                     "torch.cuda.set_device(0)"):
            # By the build: "Torch not compiled with CUDA enabled", or "No CUDA GPUs are available".
            self.dies("CUDA", f"import torch; {work}")
        self.good("import torch; assert not torch.cuda.is_available()")

    def test_what_cuda_answers_where_it_is_not(self):
        self.good("""
            import torch
            for question in "max_memory_allocated() memory_allocated(0) memory_reserved() max_memory_reserved()".split():
                assert eval(f"torch.cuda.{question}") == 0, question
            assert torch.cuda.memory_stats() == {}
        """)

    def test_calls_that_need_a_process_group(self):
        for call in ("all_reduce(x)", "broadcast(x, 0)", "all_gather([x], x)", "reduce(x, 0)", "barrier()"):
            run = self.bad("torch.process-group", f"import torch; x = torch.ones(1); torch.distributed.{call}")
            self.assertIn("Default process group has not been initialized", run.error)
        run = self.good(GROUP.replace("BACKEND", "gloo") + "torch.distributed.all_reduce(x, async_op=True).wait()", env=ALONE)
        self.assertIn("all_reduce", [name for name, _ in run.calls])

    def test_backends(self):
        self.dies("NCCL built in", GROUP.replace("BACKEND", "nccl"), env=ALONE)
        self.dies("MASTER_ADDR", "import os; os.environ.pop('MASTER_ADDR', None)\n" + GROUP.replace("BACKEND", "gloo"))

    def test_no_other_machine(self):
        self.dies("No module named 'habana_frameworks'", "import habana_frameworks.torch.core")
        self.dies("AttributeError", "import torch; torch.hpu.is_available()")

    def test_larcv_deals_a_batch_out_over_the_ranks(self):
        program = """
            from larcv import {0} as queue
            q = queue.queue_interface(random_access_mode='random_blocks', seed=3)
            q.prepare_manager('train', dict(filler_name='f', filler_cfg=dict()), 4, dict(image='data'))
            data, dims = q.fetch_minibatch_data('train', pop=True, fetch_meta_data=True), q.fetch_minibatch_dims('train')
            assert data['image'].reshape(*dims['image']).shape[0] == len(data['entries']) == 4
        """
        for queue in ("queueloader", "distributed_queue_interface"):
            run = self.good(program.format(queue))
            self.assertEqual([name for name, _ in run.calls if name.startswith("larcv")], ["larcv.queue", "larcv.fetch"])
        self.dies("io_config needs", program.format("queueloader").replace("filler_cfg", "cfg"))


class OnAGpu(Programs):
    target = "cuda"

    def test_calls_are_written_down(self):
        run = self.good("import torch; torch.cuda.synchronize(); torch.cuda.memory_allocated()")
        self.assertEqual([name for name, _ in run.calls], ["torch.cuda.synchronize", "torch.cuda.memory_allocated"])

    def test_devices_do_not_mix(self):
        for work in ("torch.rand(2).cuda() + torch.rand(2)", "torch.nn.Linear(2, 2).cuda()(torch.rand(1, 2))",
                     "torch.nn.functional.mse_loss(torch.rand(2).cuda(), torch.rand(2))"):
            self.dies("same device", f"import torch; {work}")
        self.dies("Tensor.cpu()", "import torch; torch.rand(2).cuda().numpy()")

    def test_a_place_that_is_named_by_its_keyword(self):
        self.good("import torch; net = torch.nn.Linear(2, 2).to(memory_format=torch.channels_last).to(device=torch.device('cuda'))\n"
                  "assert net.weight.is_cuda; net(torch.rand(1, 2).to(device='cuda'))")

    def test_lengths_of_packed_sequences_are_on_the_host(self):
        pack = """
            import torch
            from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
            x, lengths = torch.rand(3, 5, 4).cuda(), torch.tensor([5, 2, 3])
            for net in (torch.nn.LSTM(4, 8, batch_first=True), torch.nn.GRU(4, 8, batch_first=True), torch.nn.RNN(4, 8, batch_first=True)):
                packed = pack_padded_sequence(x, lengths, enforce_sorted=False, batch_first=True)
                assert packed.is_cuda and not packed.batch_sizes.is_cuda
                padded, sizes = pad_packed_sequence(net.cuda()(packed)[0], batch_first=True)
                assert padded.is_cuda and not sizes.is_cuda and sizes.tolist() == [5, 2, 3]
        """
        self.good(pack)
        self.dies("1D CPU int64 tensor", pack.replace("x, lengths,", "x, lengths.cuda(),"))
        self.dies("same device", pack.replace("net.cuda()", "net"))

    def test_older_ways_to_name_a_place(self):
        self.good("from torch.autograd import Variable; import torch\nx = Variable(torch.rand(2).cuda())\nassert isinstance(torch.rand(1), Variable)\n"
                  "x + torch.rand(2).type_as(x) + torch.rand(2).type(torch.cuda.FloatTensor)")
        self.dies("same device", "from torch.autograd import Variable; import torch; Variable(torch.rand(2)) + torch.rand(2).cuda()")

    def test_gradients_are_followed(self):
        net = "import torch; net = torch.nn.Linear(2, 2).cuda(); x = torch.rand(1, 2).cuda()\n"
        self.dies("does not require grad", net + "with torch.no_grad():\n    y = net(x)\ny.sum().backward()")
        run = self.good(net + "opt = torch.optim.SGD(net.parameters(), lr=1); net(x).mean().backward(); opt.step()")
        self.assertEqual(run.calls[-1][0], "optimizer.step")

    def test_random_numbers_of_the_device(self):
        self.good("""
            import torch
            draw = lambda: (torch.rand(4), torch.rand(4, device="cuda").cpu())
            same = lambda a, b: [bool(torch.equal(x, y)) for x, y in zip(a, b)]
            torch.manual_seed(5)
            both = draw()
            torch.manual_seed(5)
            assert same(draw(), both) == [True, True], "torch.manual_seed seeds all"
            state = torch.cuda.get_rng_state()
            torch.cuda.manual_seed(5)
            assert torch.cuda.initial_seed() == 5 and same(draw(), both) == [False, True], "the device's seed is its own"
            torch.cuda.set_rng_state(state)
            before = torch.rand(3, device="cuda")
            with torch.random.fork_rng(devices=[0]):
                torch.randn(9, device="cuda")
            torch.cuda.set_rng_state_all([state])
            assert torch.equal(torch.rand(3, device="cuda"), before)
            generator = torch.Generator(device="cuda").manual_seed(2)
            assert generator.device.type == "cuda" and torch.Generator().device.type == "cpu"
            torch.rand(2, device="cuda", generator=generator)
            net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5)).cuda()
            x, host = torch.ones(2, 4).cuda(), torch.get_rng_state()
            a, b = net(x), torch.utils.checkpoint.checkpoint(net, x, use_reentrant=False)
            assert torch.equal(torch.get_rng_state(), host), "dropout on the device draws from the device's generator"
            b.sum().backward()
        """)
        for work in ("torch.rand(2, device='cuda', generator=torch.Generator())", "torch.randperm(4, generator=torch.Generator(device='cuda'))"):
            self.dies("device type for generator but found", f"import torch; {work}")

    def test_whatever_draws_is_known(self):
        self.good("""
            import torch
            from stand_in_random import DRAWS
            drawing = set()
            for name in dir(torch.ops.aten):
                operation = getattr(torch.ops.aten, name)
                for overload in getattr(operation, "overloads", list)():
                    if torch.Tag.nondeterministic_seeded in getattr(operation, overload).tags:
                        drawing.add(name)
            kernels = ("_cudnn", "_flash", "_scaled", "miopen")  # which functions of another name call
            public = {name for name in drawing if not name.startswith(kernels) and (hasattr(torch, name) or hasattr(torch.Tensor, name) or hasattr(torch.nn.functional, name))}
            assert len(public) > 20 and not public - DRAWS, public - DRAWS
        """)

    def test_precision_for_cuda(self):
        self.good("import torch; torch.cuda.amp.autocast(); torch.cuda.amp.GradScaler(); torch.autocast('cuda'); torch.cuda.empty_cache()")


class Hydra(Programs):
    target = "cpu"
    PROGRAM = """
        import sys
        import hydra
        sys.argv = ["x"]

        @hydra.main(config_path=None, version_base=None)
        def main(config):
            pass

        main()
    """

    def test_the_release_that_knows_no_version_base(self):
        self.good(self.PROGRAM)
        self.assertIn("version_base", Run("cpu", self.PROGRAM, env={"STAND_IN_HYDRA": "1.1"}).error)


if __name__ == "__main__":
    unittest.main()
