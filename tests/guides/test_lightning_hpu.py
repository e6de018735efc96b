"""Examples of the guide for Lightning on Gaudi, run with Lightning, lightning-habana and DeepSpeed themselves on the kit's card.

A check names a section of the guide, one of its ports by its number, and expressions with the beginning of what each comes to.
`example.py` has what an example leaves open.

    python3 tests/guides/test_lightning_hpu.py
"""

import json
import pathlib
import re
import sys
import textwrap
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.append(str(ROOT / "rehearsal" / "tests"))

from programs import Prepared, Programs, Run  # noqa: E402

GUIDE = (ROOT / "guides" / "lightning-hpu.md").read_text(encoding="utf-8")
FILES = {"example.py": (HERE / "example.py").read_text(encoding="utf-8"), "model.py": "from example import Spectra\n"}

SINGLE = "as on the CPU, float32 computed in float32, SingleHPUStrategy"
DDP = "as on the CPU, float32 computed in float32, HPUDDPStrategy of DistributedDataParallel"
MIXED = "near the CPU's, float32 computed in bfloat16, "
FLOAT = "as on the CPU, float32 computed in float32, HPUDeepSpeedStrategy "
BFLOAT = "near the CPU's, bfloat16 computed in bfloat16, HPUDeepSpeedStrategy "
FSDP = "as on the CPU, float32 computed in float32, HPUFSDPStrategy of FullyShardedDataParallel"
OWN_ADAM = "deepspeed.ops.adam.DeepSpeedCPUAdam"
NO_CUDA = "RuntimeError: No CUDA GPUs are available"
NOT_ON_GAUDI = "This op had not been implemented on HPU backend."
GROUP = """
import os
os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0", MASTER_ADDR="localhost", MASTER_PORT="29500")
"""
STARTED = f"{GROUP}deepspeed.init_distributed(dist_backend='hccl')\nstart = weights(net)\n"


def section(name):
    return re.split(r"^##", GUIDE.partition(f"{{#{name}}}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def fences(name, kind):
    return re.findall(rf"^```python{kind}\n(.*?)^```$", section(name), re.MULTILINE | re.DOTALL)


def trainer(arguments):
    return f"L.Trainer(accelerator=HPUAccelerator(), devices=1, {arguments})"


class Guide(Prepared):
    target = "lightning"
    modules = ("stand_in_start", "lightning_habana", "lightning.pytorch", "deepspeed")

    def check(self, name, number, expected, names="", changed=None):
        """What the expressions come to behind a port: one that a section shows, or that it leaves as it is."""
        text = fences(name, " (?:after|unchanged)[^\n]*")[number - 1]
        for old, new in (changed or {}).items():
            self.assertIn(old, text)
            text = text.replace(old, new)
        return self.run_example(text, expected, names)

    def run_example(self, text, expected, names=""):
        program = f"import example\nexample.run({text!r}, {list(expected)!r}, {names!r})\n"
        run = Run(self.target, program, env=self.env, files=FILES)
        lines = [json.loads(line)[1] for line in run.out.splitlines() if line.startswith('["told"')]
        self.assertEqual(len(lines), len(expected), run.trace)
        self.maxDiff = None
        found = {expression: line[:len(begin)] for (expression, begin), line in zip(expected.items(), lines)}
        self.assertEqual(found, expected, f"{lines}\n{run.trace[-3000:]}")
        return run

    def order(self, run, *calls):
        """Of these calls, the order in which they were made."""
        self.assertEqual([name for name, _ in run.calls if name in calls], list(calls))


class Eager(Guide):
    env = {"PT_HPU_LAZY_MODE": "0"}

    def test_one_card(self):
        self.check("accelerator", 2, {"fit(trainer)": SINGLE})
        others = ("other", "rest", "more", "old", "last")
        self.check("accelerator", 3, {"fit(trainer)": DDP, **{f"fit({name})": SINGLE for name in others}, "fit(host)": MIXED + "SingleHPU"})

    def test_strings_of_accelerators(self):
        strings = {"gpu": "MisconfigurationException: No supported gpu backend", "hpu": SINGLE, "auto": SINGLE}
        self.check("accelerator", 2, {
            **{f"fit(L.Trainer(accelerator={name!r}, devices=1))": told for name, told in strings.items()},
            "L.Trainer(accelerator='hpu', devices=1, strategy='ddp')": "ValueError: The `HPUAccelerator` can only be used with a `SingleHPU",
            "L.Trainer(accelerator=HPUAccelerator(), devices=[0, 1])": "MisconfigurationException: `devices` for `HPUAccelerator` must be int",
            "L.Fabric(accelerator='hpu')": "ValueError: You selected an invalid accelerator name",
        })

    def test_a_strategy_for_another_accelerator_is_refused(self):
        self.check("accelerator", 2, {"fit(L.Trainer(accelerator='cpu', strategy=SingleHPUStrategy()))": "MisconfigurationException"})

    def test_ddp(self):
        self.check("accelerator", 4, {"fit(main())": DDP})
        ddp = {f"fit({name})": DDP for name in ("one", "two", "three", "four")}
        self.check("ddp", 1, {**ddp, "fit(five)": SINGLE, "fit(six)": SINGLE})

    def test_ddp_before_1_5(self):
        told = DDP.replace("HPUDDPStrategy", "HPUParallelStrategy")
        self.check("ddp", 2, {f"fit({name})": told for name in ("one", "two", "three")})

    def test_a_strategy_in_a_variable(self):
        self.check("ddp", 3, {"fits(main, args)": f'["{DDP}", "{SINGLE} of Spectra"]'.replace('"', "'")})

    def test_fabric(self):
        """In several processes this release needs what the next one has."""
        derived = textwrap.dedent("""
            from lightning_habana.fabric.plugins.precision import HPUPrecision
            from lightning.fabric.strategies import DDPStrategy
            from lightning_habana.fabric.strategies import HPUDDPStrategy


            class Derived(HPUDDPStrategy):
                backward, optimizer_step = DDPStrategy.backward, DDPStrategy.optimizer_step

                def _determine_ddp_device_ids(self):
                    return None
        """)
        fabric = "by_fabric(L.Fabric(accelerator=HPUAccelerator(), devices=1, strategy={}, {}))"
        self.check("fabric", 1, {
            "by_fabric(one)": "near the CPU's, bfloat16 computed in bfloat16, SingleHPUStrategy",
            "by_fabric(many)": "ContractBroken: [hpu.no-cuda] torch.cuda.Stream",
            fabric.format("SingleHPUStrategy()", "plugins=HPUPrecision('bf16')"): MIXED + "SingleHPUStrategy",
            fabric.format("SingleHPUStrategy()", "plugins=HPUPrecision('bf16-mixed')"): SINGLE,
            fabric.format("Derived()", "precision='32-true'"): "as on the CPU, float32 computed in float32, Derived",
        }, names=derived)

    # ---------------------------------------------------------------------------------------- precision

    def test_precision(self):
        plugins = {f"fit(pl.{trainer(f'plugins={name}')[2:]})": MIXED for name in ("plugins", "older")}
        self.check("precision", 1, {"fit(trainer)": MIXED, **plugins}, names="import argparse\nchosen, place, parser = 'auto', 'hpu', argparse.ArgumentParser()")

    def test_refused_precisions(self):
        refused = ("64", "64-true", "16-true", "bf16-true", "transformer-engine", "transformer-engine-float16")
        told = "MisconfigurationException: `Trainer(accelerator='hpu', precision="
        self.check("accelerator", 2, {
            **{trainer(f"precision={name!r}"): told for name in refused},
            trainer("precision='16-mixed'"): "NotImplementedError: fp16 not supported: FP16 not supported on Gaudi, Gaudi2 or higher",
            f"fit({trainer('plugins=L.pytorch.plugins.HalfPrecision(%r)' % 'bf16-true')})": "near the CPU's, bfloat16 computed in bfloat16",
        })

    # ---------------------------------------------------------------------------------------- DeepSpeed

    def test_deepspeed_stages(self):
        stages = {"one": BFLOAT + "stage 1", "two": FLOAT + "stage 2", "three": FLOAT + "stage 3", "six": BFLOAT + "stage 1", "seven": FLOAT + "stage 2"}
        self.check("deepspeed", 1, {f"fit({name})": told for name, told in stages.items()})
        self.check("deepspeed", 6, {"fit(one)": FLOAT + "stage 2", "fit(two)": FLOAT + "stage 2"})

    def test_deepspeed_strings(self):
        told = {"hpu_deepspeed": "invalid strategy name", "hpu_deepspeed_stage_1": "invalid strategy name"}
        expected = {trainer(f"strategy={name!r}"): f"ValueError: You selected an {what}" for name, what in told.items()}
        mixed = "ValueError: The `HPUAccelerator` can only be used with a `SingleHPUStrategy` or `HPUParallelStrategy`, found DeepSpeedStrategy"
        self.check("deepspeed", 1, {**expected, trainer("strategy='deepspeed_stage_2'"): mixed})

    def test_deepspeed_offload(self):
        """The optimizer is DeepSpeed's own."""
        both = FLOAT + "stage 3 optimizer on cpu parameters on cpu"
        self.check("deepspeed", 1, {
            f"fit(four, {OWN_ADAM})": FLOAT + "stage 2 optimizer on cpu",
            f"fit(five, {OWN_ADAM})": both,
        })
        self.check("deepspeed", 1, {"fit(four)": "ZeRORuntimeException: You are using ZeRO-Offload with a client provided optimizer"})
        self.check("deepspeed", 4, {f"fit(trainer, {OWN_ADAM})": FLOAT + "stage 2 optimizer on cpu"})
        self.check("deepspeed", 5, {f"fit(trainer, {OWN_ADAM})": both})

    def test_deepspeed_nvme(self):
        self.check("deepspeed", 1, {f"fit(eight, {OWN_ADAM})": f"ValueError: {NOT_ON_GAUDI}"})

    def test_deepspeed_precision(self):
        self.check("deepspeed", 2, {
            "fits(train, 'bf16-mixed')": str([BFLOAT + f"stage {stage}" for stage in (3, 1, 2)]),
            "fits(fail)": "KeyError: 0", "fits(choose, False)": "KeyError: 0",
        }, names="import lightning_habana\ncheckpoints = lightning_habana.HPUCheckpointIO()")

    def test_deepspeed_takes_its_precision_from_its_plugin_only(self):
        strategy = "strategy=HPUDeepSpeedStrategy(stage=2)"
        plugin = "plugins=HPUDeepSpeedPrecisionPlugin('bf16-mixed')"
        self.check("deepspeed", 1, {
            f"fit({trainer(f'{strategy}, {plugin}')})": BFLOAT + "stage 2",
            trainer(f"{strategy}, {plugin}, precision='bf16-mixed'"): "ValueError: Received both",
        })
        self.check("deepspeed", 3, {"fit(trainer)": "KeyError: 0"})

    def test_deepspeed_limits(self):
        plugin = "precision_plugin=HPUDeepSpeedPrecisionPlugin('bf16-mixed')"
        autotuned = f"HPUDeepSpeedStrategy({plugin}, config={{'autotuning': {{'enabled': True}}, **settings}})"
        with_fp16 = f"HPUDeepSpeedStrategy({plugin}, config={{'fp16': {{'enabled': True}}, **settings}})"
        self.check("deepspeed", 2, {"fits(clip)": "MisconfigurationException: DeepSpeed does not support clipping gradients by value."})
        self.check("deepspeed", 1, {
            f"fit({trainer(f'strategy={autotuned}')})": "MisconfigurationException: HPU DeepSpeed strategy doesn't support `autotuning`",
            f"fit({trainer(f'strategy={with_fp16}')})": "AssertionError: bfloat16 and fp16 modes cannot be simultaneously enabled",
            "fit(two, torch.optim.LBFGS)": "TypeError: LBFGS.step() missing 1 required positional argument: 'closure'",
        })

    def test_deepspeed_checkpoints_activations(self):
        net = textwrap.dedent("""
            class Kept(Spectra):
                def training_step(self, batch, index):
                    scores = deepspeed.checkpointing.checkpoint(self.net, batch[0].requires_grad_())
                    return torch.nn.functional.cross_entropy(scores, batch[1])
        """)
        plugin = "precision_plugin=HPUDeepSpeedPrecisionPlugin('32-true')"
        kept = trainer(f"strategy=HPUDeepSpeedStrategy({plugin}, cpu_checkpointing=True)")
        told = {f"fits({kept}.fit, Kept())": str([FLOAT + "stage 2"]), "deepspeed.checkpointing.is_configured()": "True"}
        self.check("deepspeed", 1, told, names=net)

    def test_deepspeed_predicts(self):
        net = textwrap.dedent("""
            from example import batches


            class Predicting(Spectra):
                def predict_step(self, batch, index):
                    return self.net(batch[0].bfloat16()).dtype
        """)
        strategy = "HPUDeepSpeedStrategy(dtype=torch.bfloat16, tensor_parallel={'tp_size': 1})"
        self.check("deepspeed", 1, {f"set({trainer(f'strategy={strategy}')}.predict(Predicting(), batches()))": "{torch.bfloat16}"}, names=net)

    # ---------------------------------------------------------------------------------------- DeepSpeed alone

    def test_init_distributed(self):
        for number, names in ((1, ""), (2, "import datetime\nlimit = datetime.timedelta(seconds=60)\n")):
            self.check("deepspeed-backend", number, {"torch.distributed.get_backend()": "hccl"}, names=GROUP + names)

    def test_engine(self):
        """A configuration with fp16 is refused on the first cards; the engine's number names a device of CUDA."""
        file = "import json\nopen('ds.json', 'w').write(json.dumps({'train_batch_size': 4, 'optimizer': {'type': 'Adam', 'params': {}}}))\n"
        with_fp16 = '"fp16": {"enabled": True, "loss_scale": 0},'
        self.check("deepspeed-backend", 3, {"engine": "Type fp16 is not supported on your device."}, names=STARTED + file)
        self.check("deepspeed-backend", 3, {
            "judged(net, start, deepspeed.ops.adam.FusedAdam)": "near the CPU's", "engine.device": "hpu",
            "torch.rand(1).to(engine.local_rank)": NO_CUDA,
        }, names=STARTED + file, changed={with_fp16: ""})
        zero = "bf16={'enabled': True}, zero_optimization={'stage': 2}"
        told = "near the CPU's, bfloat16 computed in bfloat16, DeepSpeedZeroOptimizer"
        self.check("deepspeed-backend", 1, {f"by_deepspeed(torch.optim.SGD, {zero})": told}, names=GROUP)

    def test_optimizers(self):
        offload = "zero_optimization={'stage': 2, 'offload_optimizer': {'device': 'cpu'}}"
        decayed = textwrap.dedent("""
            from example import OF_PYTORCH
            from deepspeed.ops.adagrad import DeepSpeedCPUAdagrad
            from deepspeed.ops.adam import FusedAdam
            from deepspeed.ops.lamb import FusedLamb


            def decayed(parameters, lr):
                return FusedAdam(parameters, lr=lr, weight_decay=10.0, adam_w_mode=False)


            OF_PYTORCH["decayed"] = OF_PYTORCH["FusedAdam"]
        """)
        self.check("deepspeed-backend", 1, {
            f"by_deepspeed({OWN_ADAM}, {offload})": "as on the CPU, float32 computed in float32, DeepSpeedZeroOptimizer",
            "by_deepspeed(deepspeed.ops.adam.FusedAdam)": "near the CPU's, float32 computed in float32, FusedAdam",
            "by_deepspeed(decayed)": "near the CPU's, float32 computed in float32, FusedAdam",
            "FusedLamb(net.parameters())": f"ValueError: {NOT_ON_GAUDI}",
            "deepspeed.ops.lion.FusedLion(net.parameters())": f"ValueError: {NOT_ON_GAUDI}",
            "deepspeed.ops.lion.DeepSpeedCPULion(net.parameters())": "RuntimeError: DeepSpeedCPULion requires the cpu_lion op",
            "DeepSpeedCPUAdagrad(net.parameters())": "RuntimeError: DeepSpeedCPUAdagrad requires the cpu_adagrad op",
        }, names=GROUP + decayed)

    def test_inference(self):
        """In one process, without the package of Hugging Face that a model is split with."""
        first = "next({}.module.parameters()).dtype"
        split = "deepspeed.inference.config.DeepSpeedInferenceConfig(tensor_parallel={'tp_size': 8}, injection_policy={Block: ('out',)})"
        refused = "ValueError: Data type torch.float16 is not supported by hpu accelerator"
        self.check("deepspeed-backend", 4, {
            first.format("one"): "torch.bfloat16", "one(image.bfloat16().to('hpu')).dtype": "torch.bfloat16", f"{split}.tensor_parallel.tp_size": "8",
            "deepspeed.init_inference(Net())": refused, "deepspeed.init_inference(Net(), dtype='half')": refused,
            "deepspeed.init_inference(Net(), dtype=torch.bfloat16, replace_method='auto').module.first.weight.dtype": "torch.bfloat16",
            "deepspeed.init_inference(Net(), dtype=torch.bfloat16, replace_with_kernel_inject=True)": "AssertionError: No default policy found",
        }, names=STARTED, changed={"mp_size=2": "mp_size=1"})

    # ---------------------------------------------------------------------------------------- FSDP

    def test_fsdp(self):
        self.check("fsdp", 1, {f"fit({name})": FSDP for name in ("one", "two", "three", "six")})
        self.check("fsdp", 2, {"fit(trainer)": FSDP})
        self.check("fsdp", 4, {"fit(one)": FSDP, "fit(two)": FSDP})
        strategy = "strategy=HPUFSDPStrategy(sharding_strategy={!r}, precision_plugin=HPUFSDPPrecision('32-true'))"
        self.check("fsdp", 1, {
            f"fit({trainer(strategy.format('NO_SHARD'))})": FSDP,
            f"fit({trainer(strategy.format('HYBRID_SHARD'))})": "RuntimeError: The hybrid sharding strategy requires you to pass",
        })

    def test_fsdp_precision(self):
        fsdp = "HPUFSDPStrategy of FullyShardedDataParallel"
        checkpoints = "strategy=HPUFSDPStrategy(activation_checkpointing_policy={Block}, precision_plugin=HPUFSDPPrecision('32-true'))"
        self.check("fsdp", 1, {
            "fit(five)": MIXED + fsdp, "fit(eight)": MIXED + fsdp,
            "fit(seven)": "MisconfigurationException: precision set through both strategy class and plugins",
            f"fit({trainer(checkpoints)})": FSDP,
            f"fit({trainer('strategy=HPUFSDPStrategy(), precision=%r' % '32-true')})": MIXED + fsdp,
            trainer("strategy=HPUFSDPStrategy(precision_plugin=None), plugins=HPUFSDPPrecision('32-true')") + ".precision": "32-true",
        })

    def test_fsdp_of_lightning_is_refused(self):
        self.check("fsdp", 3, {f"fit({name})": "ValueError: The strategy `fsdp` requires a GPU accelerator" for name in ("one", "two")})

    def test_fsdp_of_pytorch(self):
        started = GROUP + "torch.distributed.init_process_group('hccl')\nother = Net()\n"
        self.check("fsdp-device", 1, {"net.compute_device": "hpu:0", "FSDP(Net(), device_id=0)": NO_CUDA}, names=started)

    # ---------------------------------------------------------------------------------------- measuring

    def test_profiler(self):
        """A report and a trace; actions of one's own are in the trace."""
        own = textwrap.dedent("""
            import glob


            class Measured(Spectra):
                def training_step(self, batch, index):
                    with self.trainer.profiler.profile("mine"):
                        return super().training_step(batch, index)


            def files(suffix):
                return sorted(file.partition("-")[2][:5] for file in glob.glob(f"fit-trace*{suffix}"))
        """)
        self.check("profiler", 1, {
            "fit(one)": SINGLE, "fits(two.fit, Measured())": str([f"{SINGLE} of Measured"]), "files('.txt')": "['trace']",
            "files('.pt.trace.json')": "['trace']", "two.profiler.summary()": "Summary not supported",
            "L.Trainer(accelerator=HPUAccelerator(), devices=1, profiler='hpu')": "MisconfigurationException: When passing string value for the `profiler`",
            "'[pl][profile]mine' in open(glob.glob('fit-trace*.json')[0]).read()": "True",
        }, names=own, changed={'filename="trace"': 'dirpath=".", filename="trace"'})

    def test_the_profiler_refuses_the_other_one(self):
        self.check("profiler", 1, {"HPUProfiler()": "AssertionError: `HABANA_PROFILE` should not be set"}, names="import os\nos.environ['HABANA_PROFILE'] = '1'\n")

    def test_metrics(self):
        stats = "L.Trainer(accelerator=HPUAccelerator(), devices=1).accelerator.get_device_stats('hpu')"
        self.check("metrics", 1, {f"sorted({stats})": "['ActiveAllocs', 'InUse', 'Limit', 'MaxAllocSize', 'MaxInUse', 'NumAllocs', 'NumFrees'"},
                   names="import lightning.pytorch as L\nfrom lightning_habana import HPUAccelerator")

    def test_no_graphs_in_eager_mode(self):
        missing = "module 'habana_frameworks.torch.hpu' has no attribute"
        self.check("hpu-graphs", 3, {"net": missing, "graph": missing})


class Lazy(Guide):
    """Graphs are captured in lazy mode alone. The kit has the bridge's names for them, as no registry has the bridge."""

    env = {"PT_HPU_LAZY_MODE": "1"}

    def test_a_captured_step(self):
        data = "first = image, label\nimage, label = image.to('hpu'), label.to('hpu')\nstart = weights(net)\n"
        run = self.check("hpu-graphs", 1, {"step(loader)": "None", "judged(net, start, data=[first, *loader])": "as on the CPU"}, names=data)
        self.order(run, "HPUGraph.capture_begin", "HPUGraph.capture_end", *["HPUGraph.replay"] * 4)

    def test_a_captured_step_of_a_trainer(self):
        own = textwrap.dedent("""
            import lightning.pytorch as L
            from lightning_habana import HPUAccelerator, SingleHPUStrategy


            class Manual(Spectra):
                def __init__(self):
                    super().__init__()
                    self.automatic_optimization = False
                    self.register_buffer("images", torch.zeros(4, 4))
                    self.register_buffer("labels", torch.zeros(4, dtype=torch.long))
                    self.graph, self.criterion = htcore.hpu.HPUGraph(), torch.nn.CrossEntropyLoss()

        """) + textwrap.indent(fences("hpu-graphs", "")[0], "    ")
        run = self.run_example(own, {f"fits({trainer('strategy=SingleHPUStrategy()')}.fit, Manual())": str([f"{SINGLE} of Manual"])})
        self.order(run, "HPUGraph.capture_begin", "HPUGraph.capture_end", *["HPUGraph.replay"] * 3)

    def test_no_mark_step_in_a_capture(self):
        train = "train(net.to('hpu'), torch.optim.SGD(net.parameters(), lr=0.1), image.to('hpu'))"
        run = self.check("hpu-graphs", 2, {train: "Network"})
        self.order(run, "mark_step", "HPUGraph.capture_begin", "HPUGraph.capture_end", "make_graphed_callables")

    def test_graphed_callables_take_a_tuple_of_tensors(self):
        graphed = "torch.hpu.make_graphed_callables(net, {})"
        self.check("hpu-graphs", 2, {graphed.format("(image,)"): "Network", graphed.format("([image],)"): "AssertionError: sample_args"})

    def test_inference_in_a_graph(self):
        self.check("hpu-graphs", 3, {"net": "Network", "type(graph).__name__": "HPUGraph"})

    def test_models_that_change(self):
        parts = "torch.nn.Linear(4, 8), torch.nn.Linear(8, 3)"
        run = self.check("dynamic-models", 1, {f"Branches({parts}, torch.nn.Linear(8, 5)).to('hpu')(image.to('hpu'), True).shape": "torch.Size([4, 5])"})
        self.order(run, *["ModuleCacher"] * 3)
        run = self.check("dynamic-models", 2, {f"Selection({parts}).to('hpu')(image.to('hpu')).shape[1]": "3"})
        self.order(run, *["ModuleCacher"] * 2, *["mark_step"] * 2)


class Imports(Programs):
    target = "lightning"

    def test_lightning_habana_comes_first(self):
        """Where `import torch` does not load the bridge."""
        begin = fences("profiler", " after[^\n]*")[0].partition("\nfrom ")[0]
        end = "\nfrom lightning_habana.pytorch.profiler.profiler import HPUProfiler\nHPUProfiler()\n"
        lazy = {"env": {"PT_HPU_LAZY_MODE": "1"}}
        self.good(begin + end, **lazy)
        self.dies("should be imported before lightning", begin.replace("import lightning_habana\n", "") + end, **lazy)


if __name__ == "__main__":
    unittest.main()
