"""A twin run from its command line to its result: what is compared, what is said, what is refused, which data is made up.

    python3 rehearsal/tests/test_twin_command.py
"""

import hashlib
import html.parser
import importlib.util
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import textwrap
import unittest

KIT = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(KIT), str(KIT / "recorder")]

import clock  # noqa: E402

ORIGINAL = textwrap.dedent("""
    import sys
    import torch
    from net import Net

    rate = float(sys.argv[sys.argv.index("--lr") + 1]) if "--lr" in sys.argv else 0.1
    torch.manual_seed(1)
    net = Net().to("cuda")
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)
    data = torch.utils.data.TensorDataset(torch.randn(64, 4), torch.randn(64, 2))
    for x, y in torch.utils.data.DataLoader(data, batch_size=8, shuffle=True):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x.to("cuda")), y.to("cuda"))
        loss.backward()
        optimizer.step()
        print("loss", loss.item())
""")
NET = "import torch\n\n\nclass Net(torch.nn.Linear):\n    def __init__(self):\n        super().__init__(4, 2)\n"
PORT = ORIGINAL.replace("import sys\n", "import os\nimport sys\nos.environ.setdefault('PT_HPU_LAZY_MODE', '0')\nimport habana_frameworks.torch.core\n").replace('"cuda"', '"hpu"')


NORMED = textwrap.dedent("""
    import torch


    class Net(torch.nn.Sequential):
        def __init__(self):
            super().__init__(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 2))
""")
# The same training as one of several processes.
INSTANCE = textwrap.dedent("""
    import popdist
    import popdist.poptorch
    import poptorch
    import torch
    from net import Net

    popdist.init()
    options = popdist.poptorch.Options()
    options.randomSeed(1)


    class Step(torch.nn.Module):
        def __init__(self, net):
            super().__init__()
            self.net = net

        def forward(self, x, y):
            return poptorch.identity_loss(torch.nn.functional.mse_loss(self.net(x), y), reduction="mean")


    torch.manual_seed(1)
    net = Net()
    data = torch.utils.data.TensorDataset(torch.randn(64, 4), torch.randn(64, 2))
    step = poptorch.trainingModel(Step(net), options, poptorch.optim.SGD(net.parameters(), lr=0.1))
    for x, y in poptorch.DataLoader(options, data, batch_size=8, shuffle=True):
        step(x, y)
""")


class Twin:
    """What a twin run of two projects left behind. `files` lie where it is started."""

    def __init__(self, original, port, *options, argv=("train.py",), files=(), python=(), target="hpu", environment=None):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for side, texts in (("original", original), ("port", port), (".", dict(files))):
                for name, text in texts.items():
                    (root / side / name).parent.mkdir(parents=True, exist_ok=True)
                    (root / side / name).write_text(text, encoding="utf-8")
            done = subprocess.run(
                [sys.executable, *python, str(KIT / "rehearse.py"), "--target", target, "--project", "port", "--twin", "original", "--json", "twin.json",
                 "--html", "twin.html", *options, "--", *argv],
                cwd=root, text=True, capture_output=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})})
            self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
            read = lambda name: (root / name).read_text(encoding="utf-8") if (root / name).exists() else None  # noqa: E731
            self.page, self.result = read("twin.html"), json.loads(read("twin.json") or "null")
            self.kept = {name: (root / name).read_bytes() for name in dict(files) if (root / name).exists()}
            self.files = sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def both(original=ORIGINAL, port=PORT, net=NET):
    return {"train.py": original, "net.py": NET}, {"train.py": port, "net.py": net}


class Page(html.parser.HTMLParser):
    """What a page is made of."""

    def __init__(self, text):
        super().__init__()
        self.curves, self.loads, self.tags = {}, [], []
        self.feed(text)

    def handle_starttag(self, tag, given):
        given = dict(given)
        self.tags.append(tag)
        self.loads += [given[name] for name in ("src", "href") if name in given]
        if tag == "path":
            self.curves[given["class"]] = given["d"].count("L") + 1


class Result(unittest.TestCase):
    def test_equal(self):
        run = Twin(*both(), argv=("train.py", "--lr", "0.05"))
        self.assertEqual(run.status, 0, run.out + run.err)
        result = run.result
        self.assertEqual((result["verdict"], result["trained"], len(result["steps"])), ("equal", [8, 8], 8))
        self.assertEqual(result["steps"][0]["rate"], [[0.05], [0.05]])
        self.assertEqual(result["ran"]["stand_ins"], ["habana_frameworks"])
        self.assertEqual((result["ran"]["program"], result["ran"]["arguments"]), ("train.py", ["--lr", "0.05"]))
        sums = {"original": hashlib.sha256(ORIGINAL.encode()).hexdigest(), "port": hashlib.sha256(PORT.encode()).hexdigest()}
        self.assertEqual((sorted(result["files"]), result["files"]["train.py"]), (["net.py", "train.py"], sums))
        self.assertEqual([file for file in run.files if not file.startswith(("original/", "port/"))], ["twin.html", "twin.json"])

    def test_numbers_that_are_printed_too_late_to_be_compared(self):
        # Batches of no loader: the run ends inside the loop.
        loader = "torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)"
        late = [text.replace(loader, "[data[i : i + 8] for i in range(0, 64, 8)]").replace("\n    print(", "\nprint(") for text in (ORIGINAL, PORT)]
        self.assertIn("  1 printed lines with numbers agree", Twin(*both(*late)).out)
        self.assertIn("no printed numbers to compare: the program prints none within these 3 steps", Twin(*both(*late), "--twin-steps", "3").out)

    def test_a_difference_has_its_step_and_its_line(self):
        port = PORT.replace("lr=rate)", "lr=rate * 2)")
        run = Twin(*both(port=port))
        self.assertEqual((run.status, run.result["verdict"]), (1, "differs"), run.out + run.err)
        first = run.result["first"]
        line = port[: port.index("optimizer.step()")].count("\n") + 1
        self.assertEqual((first["step"], first["place"]), (1, ["train.py", line]))
        self.assertIn(f"(train.py:{line})", run.out)
        page = Page(run.page)
        self.assertEqual(page.curves, {"original": 8, "port": 8})
        self.assertEqual(page.loads, [])
        self.assertEqual(page.tags.count("tr"), 9)
        self.assertIn("learning rate", run.page)

    def test_the_ported_modules_are_those_of_the_port(self):
        run = Twin(*both(net=NET + "\n    def forward(self, x):\n        return super().forward(x) * 3\n"))
        self.assertEqual((run.status, run.result["first"]["what"]), (1, "the loss"), run.out + run.err)

    def test_weights_that_are_updated_by_hand(self):
        """With a module and without one; the first difference has its step."""
        module = ORIGINAL.replace("optimizer = torch.optim.SGD(net.parameters(), lr=rate)\n", "").replace("    optimizer.zero_grad()\n", "    net.zero_grad()\n").replace(
            "    optimizer.step()\n", "    for weight in net.parameters():\n        weight.data -= rate * weight.grad\n")
        tensor = textwrap.dedent("""
            import torch

            torch.manual_seed(1)
            weight = torch.randn(4, 2, device="cuda", requires_grad=True)
            for x, y in zip(torch.randn(5, 8, 4), torch.randn(5, 8, 2)):
                loss = (x.to("cuda") @ weight - y.to("cuda")).square().mean()
                loss.backward()
                with torch.no_grad():
                    weight -= 0.1 * weight.grad
                    weight.grad.zero_()
        """)
        head = PORT[: PORT.index("import torch\n")]
        for original, steps in ((module, 8), (tensor, 5)):
            port = head + original.replace('"cuda"', '"hpu"')
            run = Twin(*both(original=original, port=port))
            self.assertEqual((run.status, run.result and run.result["trained"]), (0, [steps, steps]), run.out + run.err)
            slower = Twin(*both(original=original, port=port.replace("rate * weight", "0.5 * rate * weight").replace("0.1 * weight", "0.05 * weight")))
            self.assertEqual((slower.status, slower.result["first"]["step"]), (1, 1), slower.out)
            self.assertIn("the weights after the update", slower.result["first"]["told"])

    def test_a_run_in_which_nothing_trained_fails(self):
        still = "import torch\nprint(torch.nn.Linear(4, 2)(torch.ones(1, 4)))\n"
        run = Twin(*both(still, still))
        self.assertEqual(run.status, 1)
        self.assertIn("the original ran no training step", run.out)
        self.assertIn("the port ran no training step", run.out)

    def test_a_port_that_never_reaches_the_target_fails(self):
        run = Twin(*both(port=ORIGINAL.replace('"cuda"', '"cpu"')))
        self.assertEqual(run.status, 1)
        self.assertIn("without the target's software or device", run.out)

    def test_a_program_that_fails_is_shown_with_its_error(self):
        run = Twin(*both(port=PORT + "raise ValueError('no such shape')\n"))
        self.assertEqual((run.status, run.result["verdict"]), (1, "differs"))
        self.assertEqual(run.result["failed"], "the port (train.py) ended with ValueError: no such shape")
        self.assertIn('File "', run.out)
        self.assertIn("no such shape", run.page)

    def test_arguments_of_the_port_alone(self):
        port = PORT.replace("rate = ", "assert sys.argv[1] == 'mode=NEW'\nrate = ")
        original = ORIGINAL.replace("rate = ", "assert 'mode=NEW' not in sys.argv\nrate = ")
        run = Twin(*both(original, port), "--port-args=mode=NEW", argv=("train.py", "--lr", "0.2"))
        self.assertEqual(run.status, 0, run.out + run.err)

    def test_the_command_of_a_launch_script(self):
        port = PORT.replace("rate = ", "assert os.environ['LEVEL'] == '3' and __debug__\nrate = ")
        words = ("LEVEL=3", "mpirun", "-n", "8", "--bind-to", "core", "python3", "-u", "train.py", "--lr", "0.2")
        run = Twin(*both(port=port), argv=words)
        self.assertEqual(run.status, 0, run.out + run.err)
        self.assertIn("starts 8 processes; only one is started here", run.out)
        self.assertEqual((run.result["ran"]["arguments"], run.result["steps"][0]["rate"][1]), (["--lr", "0.2"], [0.2]))


    def test_starts_in_front(self):
        """In the types of the run that is compared; one that fails is told as what it is."""
        port = PORT.replace("rate = ", "if sys.argv[1:] == ['first']:\n    assert Net().to(torch.bfloat16).weight.dtype == torch.float32\n    raise SystemExit\nrate = ")
        run = Twin(*both(port=port), "--first", "first")
        self.assertEqual(run.status, 0, run.out + run.err)
        run = Twin(*both(port=port.replace("raise SystemExit", "raise ValueError('no such shape')")), "--first", "first")
        self.assertEqual(run.result["failed"], "the port (train.py), started as `first`, ended with ValueError: no such shape")
        asks = "import argparse\n    parser = argparse.ArgumentParser()\n    parser.add_argument('--x-shape', required=True)\n    parser.parse_args([])"
        run = Twin(*both(port=port.replace("raise SystemExit", asks)), "--first", "first")
        self.assertIn("required: --x-shape. Pass it to the port with --port-args='--x-shape …'", run.result["failed"])

    def test_modules_of_the_users_own_folders(self):
        port, files = PORT.replace("from net", "import helper\nfrom net"), {"lib/helper.py": ""}
        self.assertIn("No module named 'helper'", Twin(*both(port=port), files=files).result["failed"])
        run = Twin(*both(port=port), files=files, environment={"PYTHONPATH": "lib"})
        self.assertEqual(run.status, 0, run.out + run.err)

    def test_a_folder_of_the_original_is_the_ports_for_the_port(self):
        doubled = NET + "\n    def forward(self, x):\n        return 2 * super().forward(x)\n"
        original, environment = {"train.py": ORIGINAL, "src/net.py": NET}, {"PYTHONPATH": "original/src"}
        run = Twin(original, {"train.py": PORT, "src/net.py": NET}, environment=environment)
        self.assertEqual(run.status, 0, run.out + run.err)
        run = Twin(original, {"train.py": PORT, "src/net.py": doubled}, environment=environment)
        self.assertEqual((run.status, run.result["verdict"]), (1, "differs"), run.out + run.err)

    def test_the_seed_of_the_device(self):
        """A port that leaves it out draws other numbers, in the step as well as in the model; one that seeds alike draws the same."""
        seeded = ORIGINAL.replace("torch.manual_seed(1)\n", "torch.manual_seed(1)\ntorch.cuda.manual_seed(7)\n")
        drawn = seeded.replace('net(x.to("cuda"))', 'net(torch.randn_like(x.to("cuda")))')
        dropped = {"net.py": NET + "\n    def forward(self, x):\n        return super().forward(torch.nn.functional.dropout(x, 0.3, self.training))\n"}
        head = PORT[: PORT.index("import torch\n")]
        for original, files in ((drawn, {}), (seeded, dropped)):
            port = head + original.replace('"cuda"', '"hpu"').replace("torch.cuda", "torch.hpu")
            texts = [{**side, **files} for side in both(original, port)]
            run = Twin(*texts)
            self.assertEqual((run.status, run.result and run.result["verdict"]), (0, "equal"), run.out + run.err)
            run = Twin(texts[0], {**texts[1], "train.py": port.replace("torch.hpu.manual_seed(7)\n", "")})
            self.assertEqual((run.status, run.result and run.result["first"]["step"]), (1, 1), run.out + run.err)

    def test_an_evaluation_with_gradients(self):
        """It goes nowhere, in either mode of the model, and at the end of the run as well as before it."""
        loop = ORIGINAL[: ORIGINAL.index("for x, y")] + textwrap.dedent("""
            loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
            for epoch in range(2):
                for x, y in loader:
                    optimizer.zero_grad()
                    loss = torch.nn.functional.mse_loss(net(x.to("cuda")), y.to("cuda"))
                    loss.backward()
                    optimizer.step()
                MODE
                total = 0.0
                for x, y in loader:
                    total += torch.nn.functional.mse_loss(net(x.to("cuda")), y.to("cuda")).item()
                print("total", total)
                net.train()
        """)
        head = PORT[: PORT.index("import torch\n")]
        for mode, steps in (("net.train()", "8"), ("net.train()", "12"), ("net.eval()", "16")):
            original = loop.replace("MODE", mode)
            port = (head + original.replace('"cuda"', '"hpu"')).replace("    total = 0.0\n", "    total = 0.0\n    torch.set_grad_enabled(False)\n").replace(
                '    print("total"', '    torch.set_grad_enabled(True)\n    print("total"')
            run = Twin({"train.py": original, "net.py": NORMED}, {"train.py": port, "net.py": NORMED}, "--twin-steps", steps)
            self.assertEqual((run.status, run.result and run.result["verdict"]), (0, "equal"), run.out + run.err)

    def test_an_incomplete_batch_of_a_loader_that_does_not_shuffle(self):
        original, port = (text.replace("batch_size=8, shuffle=True", "batch_size=24") for text in (ORIGINAL, PORT))
        run = Twin(*both(original, port.replace("batch_size=24", "batch_size=24, drop_last=True")))
        self.assertIn("twin: equal up to the last incomplete batch\n", run.out + run.err)

    def test_an_export_without_its_package(self):
        export = 'torch.onnx.export(net, x.to("{}"), "net.onnx")\n'
        run = Twin(*both(ORIGINAL + export.format("cuda"), PORT + export.format("hpu")))
        if importlib.util.find_spec("onnxscript") is None:
            self.assertEqual(run.status, 0, run.out + run.err)
            self.assertIn("export: torch.onnx.export wrote no file: this Python has no ", run.out)
            run = Twin(*both(ORIGINAL + export.format("cuda"), PORT + export.format("cpu")))
            self.assertIn("Expected all tensors to be on the same device", run.result["failed"])

    def test_a_forward_pass_behind_the_last_step(self):
        """Its running statistics are of no step that is compared."""
        again = ORIGINAL.replace("for x, y in torch.utils.data.DataLoader(data, batch_size=8, shuffle=True):", textwrap.dedent("""
            loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
            for x, y in (batch for epoch in range(2) for batch in loader):""").lstrip())
        run = Twin({"train.py": again, "net.py": NORMED}, {"train.py": PORT, "net.py": NORMED}, "--twin-steps", "8")
        self.assertEqual((run.status, run.result["verdict"]), (0, "equal"), run.out + run.err)

    def test_what_a_batch_goes_through_in_one_step(self):
        """A model twice, and a teacher of the same form that learns nothing: on the target both are inside the compiled module."""
        loss = "mse(net(x), y) + mse(net(x), goal)"
        original = textwrap.dedent(f"""
            import copy
            import torch
            from net import Net
            from torch.nn.functional import mse_loss as mse

            torch.manual_seed(1)
            net = Net().to("cuda")
            teacher = copy.deepcopy(net).requires_grad_(False).eval()
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            for x, y in zip(torch.randn(4, 8, 4), torch.randn(4, 8, 2)):
                x, y = x.to("cuda"), y.to("cuda")
                with torch.no_grad():
                    goal = teacher(x)
                loss = {loss}
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        """)
        port = textwrap.dedent(f"""
            import copy
            import poptorch
            import torch
            from net import Net
            from torch.nn.functional import mse_loss as mse


            class Step(torch.nn.Module):
                def __init__(self, net, teacher):
                    super().__init__()
                    self.net, self.teacher = net, teacher

                def forward(self, x, y):
                    net, goal = self.net, self.teacher(x)
                    return poptorch.identity_loss({loss}, reduction="mean")


            torch.manual_seed(1)
            net = Net()
            teacher = copy.deepcopy(net).requires_grad_(False).eval()
            step = poptorch.trainingModel(Step(net, teacher), optimizer=poptorch.optim.SGD(net.parameters(), lr=0.1))
            for x, y in zip(torch.randn(4, 8, 4), torch.randn(4, 8, 2)):
                step(x, y)
            step.copyWeightsToHost()
        """)
        run = Twin(*both(original, port), target="ipu")
        self.assertEqual((run.status, run.result and run.result["verdict"]), (0, "equal"), run.out + run.err)
        # The original need not freeze what it runs without gradients.
        run = Twin(*both(original.replace(".requires_grad_(False)", ""), port), target="ipu")
        self.assertEqual((run.status, run.result and run.result["verdict"]), (0, "equal"), run.out + run.err)
        self.assertNotIn("each started with its own weights", run.out)
        # What the step's own model gives without gradients is a part of the step, but in evaluation mode it is an evaluation.
        shown = original.replace("optimizer.zero_grad()", "optimizer.zero_grad()\n    net.eval()\n    with torch.no_grad():\n        net(x)\n    net.train()")
        run = Twin(*both(shown, port), target="ipu")
        self.assertEqual((run.status, run.result["first"]["what"]), (1, "evaluations"), run.out + run.err)
        run = Twin(*both(original, port.replace("self.teacher(x)", "self.teacher(0.9 * x)")), target="ipu")
        self.assertEqual((run.status, run.result["first"]["what"]), (1, "the loss"), run.out + run.err)

    def test_gradients_that_are_cleared_unused(self):
        """The rest of an accumulation belongs to no step."""
        original = ORIGINAL.replace('    print("loss", loss.item())\n', "").replace("    optimizer.zero_grad()\n", "").replace("for x, y in", "for n, (x, y) in enumerate(").replace("shuffle=True):", "shuffle=True)):").replace(
            "    optimizer.step()\n", "    if n % 3 == 2:\n        optimizer.zero_grad()\n    elif n % 3 == 1:\n        optimizer.step()\n        optimizer.zero_grad()\n")
        head = PORT[: PORT.index("import torch\n")]
        port = head + original.replace('"cuda"', '"hpu"')
        # Skips what is thrown away.
        port = port.replace("    loss = ", "    if n % 3 == 2:\n        continue\n    loss = ")
        run = Twin(*both(original, port))
        self.assertEqual((run.status, run.result and run.result["findings"]), (0, []), run.out + run.err)

    def test_batch_norm_of_several_processes(self):
        run = Twin({"train.py": ORIGINAL, "net.py": NORMED}, {"train.py": INSTANCE, "net.py": NORMED}, "--instances", "2", target="popdist")
        self.assertEqual(run.status, 0, run.out + run.err)
        self.assertIn("batch norm over each replica's own share of a batch", run.result["reasons"])

    def test_replicas_of_instances(self):
        """PopTorch's loader gives each replica a batch; each has statistics and a loss of its own."""
        wider = "the batch of an update (an update takes 2 batches of the loader, one for each replica)"
        for instances, replicas in ((1, 2), (2, 4)):
            counts = "--instances", str(instances), "--replicas", str(replicas), "--twin-steps", "2"
            run = Twin({"train.py": ORIGINAL, "net.py": NORMED}, {"train.py": INSTANCE, "net.py": NORMED}, *counts, target="popdist")
            self.assertEqual(run.status, 0, run.out + run.err)
            self.assertEqual(run.result["reasons"][:2], ["batch norm over each replica's own share of a batch", wider])

    def test_a_loss_of_each_replicas_share(self):
        weighted = textwrap.dedent("""
            import torch


            class Net(torch.nn.Linear):
                def __init__(self):
                    super().__init__(4, 2)


            class Loss(torch.nn.Module):
                def forward(self, scores, goal):
                    weights = goal.abs()
                    return (weights * (scores - goal) ** 2).sum() {}
        """)
        with_loss = lambda program: program.replace("from net import Net", "from net import Loss, Net").replace(  # noqa: E731
            "torch.nn.functional.mse_loss(", "Loss()(")
        for norm, ends in (("/ weights.sum()", "equal"), ("/ goal.shape[0]", "equal"), ("", "differs")):
            net = weighted.format(norm)
            run = Twin({"train.py": with_loss(ORIGINAL), "net.py": net}, {"train.py": with_loss(INSTANCE), "net.py": net}, "--instances", "2", "--twin-steps", "4", target="popdist")
            self.assertEqual(run.result and run.result["verdict"], ends, norm + run.out + run.err)
            reason = "a loss that weights the samples of each replica's own share of a batch"
            self.assertEqual(reason in run.result["reasons"], norm == "/ weights.sum()", norm + run.out)

    def test_types_that_the_programs_ask_for(self):
        """float16 in the original and bfloat16 in the port are explained; a difference in float32 is none of types."""
        forward = "torch.nn.functional.mse_loss(net("
        half = lambda program, device, kind: program.replace(  # noqa: E731
            "loss = " + forward, f"with torch.autocast('{device}', torch.{kind}):\n        out = net(").replace(
            "), y.to(", f")\n    loss = torch.nn.functional.mse_loss(out.float(), y.to(")
        original, port = half(ORIGINAL, "cuda", "float16"), half(PORT, "hpu", "bfloat16")
        run = Twin(*both(original, port), "--precision", "target")
        self.assertEqual(run.status, 0, run.out + run.err)
        self.assertIn("twin: equal up to the type of numbers (losses by ", run.out)
        run = Twin(*both(original, port.replace("else 0.1", "else 0.2")), "--precision", "target")
        self.assertEqual(run.status, 1, run.out + run.err)
        self.assertIn("already differ in float32", run.out)

    def test_an_evaluation_in_every_instance(self):
        held_back = "\nheld_back = torch.randn(32, 4)\nwith torch.no_grad():\n    net(held_back{}).sum().item()\n"
        for part, status in (("", 0), ("[:16]", 1)):
            original = ORIGINAL + held_back.format(".to('cuda')")
            port = INSTANCE + "step.detachFromDevice()" + held_back.format(part)
            run = Twin({"train.py": original, "net.py": NET}, {"train.py": port, "net.py": NET}, "--instances", "2", target="popdist")
            self.assertEqual(run.status, status, part + run.out + run.err)
            self.assertIn("every instance evaluates the same samples", run.out)


class Commands(unittest.TestCase):
    def check(self, line, program, arguments, environment=None, processes=0, replicas=0):
        from twins import launched

        words = line.split()
        self.assertTrue(launched.is_command(words), line)
        command = launched.read(words)
        found = (command.program, command.arguments, command.environment, command.processes, command.replicas)
        self.assertEqual(found, (program, arguments, environment or {}, processes, replicas))

    def test_commands_are_read(self):
        self.check("python3 train.py", "train.py", [])
        self.check("A=1 env B=2=3 /usr/bin/python3.11 -u bin/train.py --x a.py", "bin/train.py", ["--x", "a.py"], {"A": "1", "B": "2=3"})
        self.check("poprun -vv --num-instances=2 --num-replicas 4 python3 train.py", "train.py", [], None, 2, 4)
        self.check("torchrun --nnodes 2 --nproc_per_node=8 train.py -v", "train.py", ["-v"], None, 16)
        self.check("python3 -m torch.distributed.run --nproc-per-node 4 train.py", "train.py", [], None, 4)
        self.check("python gaudi_spawn.py --world_size 8 --use_mpi train.py --lr 1", "train.py", ["--lr", "1"], None, 8)
        self.check("srun --ntasks=2 python train.py", "train.py", [], None, 2)

    def test_a_script_with_arguments_is_none(self):
        from twins import launched

        for line in ("train.py python3", "mode=train run.x=2", "train.py", ""):
            self.assertFalse(launched.is_command(line.split()), line)
        with self.assertRaisesRegex(ValueError, "does not start a Python file"):
            launched.read(["mpirun", "-n", "2", "./a.out"])


class Printed(unittest.TestCase):
    def check(self, original, port, *expected):
        from twins import compare

        agree, first, _ = compare.printed(original, port)
        self.assertEqual((agree, first and first.original), expected)

    def test_lines_of_a_log_are_left_out(self):
        log = "W1123 11:22:33.{0} {1} torch/utils/flop_counter.py:113] triton not found; 2 kernels\n[rank0]:I1123 11:22:33.{0} {1} torch/x.py:7] {1}\nloss 0.5\n"
        self.check(log.format(356000, 25555), log.format(712000, 25632), 1, None)
        self.check("W1123 loss 0.5", "W1123 loss 0.7", 0, "W1123 loss 0.5")

    def test_numbers_of_the_clock_are_left_out(self):
        line = "{e} {l:.4f} {t} | {t:.1f}s, {r:>8.1f} it/s | took {t:.2f} sec"
        printed = [line.format(e=1, l=0.25, t=clock.Elapsed(t), r=64 / clock.Elapsed(t)) for t in (0.5, 1234.5)]
        self.check(*printed, 1, None)
        self.check(printed[0], printed[1].replace("0.2500", "0.3500"), 0, "1 0.2500 | , |")
        self.check("loss 0.5 1.25 GiB", "loss 0.5 0 MB", 1, None)
        # tqdm has seconds for each where there are few in a second.
        self.check(f"[{clock.Elapsed(2.5):.2f}s/img, loss=0.5]", f"[{clock.Elapsed(3.5):.2f}img/s, loss=0.5]", 1, None)
        self.assertEqual(clock.Elapsed(2.0) - 1, 1.0)
        self.assertEqual(type(pickle.loads(pickle.dumps(clock.Elapsed(2.0)))), float)

    def test_the_time_of_day_is_left_out(self):
        for stamp in ("11-26 00:39:{0}.733 Epoch: 0, loss: 0.5", "2026-11-26 00:39:{0},733 loss 0.5", "[00:39:{0}.733] loss 0.5"):
            self.check(stamp.format(12), stamp.replace("733", "016").format(41), 1, None)
        # What stands beside a date, or only looks like a time, is a result.
        for line, other, told in (("best 2024-05-01_10-30 95.2", "best 2024-05-01_10-30 55.2", "best 95.2"),
                                  ("saved 2024-05-01_10h30-12.5", "saved 2024-05-01_10h30-42.5", "saved -12.5"),
                                  ("ratio 99:88:77", "ratio 99:88:33", "ratio 99:88:77"), ("a 3:10<4:20", "a 3:10<4:50", "a 3:10<4:20")):
            self.check(line, other, 0, told)
        self.check("runs/12-01-12:59/x 5", "runs/12-01-13:00/x 5", 1, None)
        self.check(" 5/9 [00:02<01:15, loss=0.5]", " 5/9 [00:03<02:25, loss=0.5]", 1, None)


class Starts(unittest.TestCase):
    def check(self, target, arguments, expected, before=(), original=None, **told):
        from twins import starts

        start = starts.of(target, arguments.split(), **told)
        found = (start.arguments, start.before, start.original)
        self.assertEqual(found, (expected.split(), [line.split() for line in before], (arguments if original is None else original).split()))

    def test_what_a_target_wants_in_front(self):
        self.check("hpu", "--lr 1", "mode=NEW --lr 1", own=["mode=NEW"])
        compiled = "compile -b 8 --pef-name twin --output-folder pef -- --lr 1"
        self.check("rdu", "--lr 1", "run -b 8 --pef pef/twin/twin.pef -- --lr 1", [compiled], batch=8)
        # The program's own option, however it is spelled.
        for own in ("--batch_size 4", "--batch-size=4", "-b 4", "train.batch_size=4"):
            self.check("rdu", own, f"run -b 4 --pef pef/twin/twin.pef -- {own}",
                       [f"compile -b 4 --pef-name twin --output-folder pef -- {own}"], batch=8)
        self.check("rdu", "--batch-norm 4", "run -b 8 --pef pef/twin/twin.pef -- --batch-norm 4",
                   ["compile -b 8 --pef-name twin --output-folder pef -- --batch-norm 4"], batch=8)
        # As a launch script has it; the original knows nothing of that.
        self.check("rdu", "run -b 4 --pef=out/o.pef -- --lr 1", "run -b 4 --pef pef/twin/twin.pef -- --lr 1",
                   [compiled.replace("-b 8", "-b 4")], "--lr 1")
        self.check("rdu", "", "run --pef pef/twin/twin.pef", ["compile --pef-name twin --output-folder pef"])

    def test_shapes_of_the_first_batch(self):
        from twins import starts

        told = starts.told_shapes(["--x-shape", "--y-shape"], [[8, 3, 32, 32], [8]])
        self.assertEqual(told, "--x-shape 3 32 32 --y-shape".split())
        self.assertEqual(starts.with_words("run --pef p -- --lr 1".split(), ["--x-shape", "4"], 8), "run --x-shape 4 -b 8 --pef p -- --lr 1".split())
        self.assertEqual(starts.with_words(["compile", "-b", "4"], ["--x-shape"], 8), "compile --x-shape -b 4".split())
        for missing, call in ((["--x-shape"], [[8, 4], [8]]), (["--rate"], [[8]]), (["--x-shape"], None), (["--x-shape"], [[]]), ([], [])):
            self.assertIsNone(starts.told_shapes(missing, call))


class Files(unittest.TestCase):
    """What a program writes stays in the folder of its run."""

    FILES = {"log.txt": "mine\n", "out/best.pt": "best", "out/old.txt": "old", "out/last.pt": "last", "out/deep/a.txt": "a", "out/moved.txt": "moved",
             "runs/a.txt": "a", "part/b.txt": "b", "read.txt": "read"}
    WRITES = textwrap.dedent("""
        import pathlib
        import shutil
        torch.save({"w": 1}, "out/best.pt")
        assert torch.load("out/best.pt") == {"w": 1}
        with open("log.txt", "a") as log:
            log.write("more\\n")
        assert open("log.txt").read() == "mine\\nmore\\n"
        pathlib.Path("out/new.txt").write_text("new")
        os.remove("out/old.txt")
        torch.save([2], "out/next.pt")
        os.replace("out/next.pt", "out/last.pt")
        assert torch.load("out/last.pt") == [2]
        os.rename("out/moved.txt", "out/there.txt")
        with open("out/there.txt", "r+b") as file:
            file.write(b"M")
        assert open("out/there.txt").read() == "Moved"
        os.makedirs("out/deep/er", exist_ok=True)
        with open(os.path.join(os.getcwd(), "out", "deep", "..", "..", "out/deep/a.txt"), "w") as file:
            file.write("own")
        pathlib.Path("out/deep/a.txt").touch()
        os.symlink("deep/a.txt", "out/latest")
        open("out/latest", "a").write("er")
        assert os.path.islink("out/latest") and open("out/deep/a.txt").read() == "owner"
        os.link("read.txt", "out/hard.txt")
        open("out/hard.txt", "a").write("x")
        assert sorted(os.listdir("out")) == ["best.pt", "deep", "hard.txt", "last.pt", "latest", "new.txt", "there.txt"], os.listdir("out")
        shutil.rmtree("runs")
        assert not os.path.exists("runs")
        os.chdir("part")
        open("b.txt", "w").close()
        torch.save(3, "../out/best.pt")
        os.chdir("..")
        torch.save(1, "log.txt")
        try:
            open("nowhere/a.txt", "w")
        except FileNotFoundError as error:
            assert error.filename == "nowhere/a.txt"
    """)

    def check(self, files, original, port, **options):
        run = Twin(*both(original, port), files=files.items(), **options)
        self.assertEqual(run.status, 0, run.out + run.err)
        self.assertEqual(run.result["verdict"], "equal")
        self.assertEqual(run.kept, {name: text.encode() for name, text in files.items()})
        self.assertEqual([file for file in run.files if not file.startswith(("original/", "port/", "twin."))], sorted(files))
        self.assertEqual([file for file in run.files if file.startswith(("original/", "port/"))],
                         ["original/net.py", "original/train.py", "port/net.py", "port/train.py"])

    def test_the_users_own_are_as_before(self):
        original = "import os" + ORIGINAL + self.WRITES
        self.check(self.FILES, original, PORT + self.WRITES)
        # Of a target that has TorchScript.
        script = 'torch.jit.save(torch.jit.script(torch.nn.ReLU()), "out/best.pt")\n'
        self.check(self.FILES, original + script, original.replace('"cuda"', '"xpu"') + script, target="xpu")

    def test_both_start_from_the_same_file(self):
        resume = textwrap.dedent("""
            import json
            start = json.load(open("ckpt.json"))
            json.dump({"rate": 2 * start["rate"]}, open("ckpt.json", "w"))
        """)
        begun = [text.replace("torch.manual_seed(1)", resume + "rate = start['rate']\ntorch.manual_seed(1)") for text in (ORIGINAL, PORT)]
        self.check({"ckpt.json": '{"rate": 0.05}'}, *begun)


class Data(unittest.TestCase):
    def test_a_folder_of_images_is_made_up(self):
        original = ORIGINAL.replace("torch.randn(64, 4), torch.randn(64, 2))", "torch.randn(64, 4), torch.randn(64, 2))\n" + textwrap.dedent("""
            from torchvision import datasets, transforms
            assert sorted(open("data/notes.txt").read()) == ["h", "i"]
            images = datasets.ImageFolder("data/train", transforms.ToTensor())
            assert images.classes == ["class0", "class1", "class2"] and len(images) == 12, len(images)
            print("sum", float(images[3][0].sum()), images[3][1])
        """))
        port = original.replace("import sys\n", PORT[: PORT.index("import torch\n")].lstrip(), 1).replace('"cuda"', '"hpu"')
        run = Twin(*both(original, port), "--fake-images", "data/train=3", "--fake-data", "12", files={"data/notes.txt": "hi"}.items())
        self.assertEqual(run.status, 0, run.out + run.err)
        self.assertEqual([file for file in run.files if file.startswith("data/")], ["data/notes.txt"])
        self.assertEqual(run.result["ran"]["fake_images"], ["data/train=3"])

    def test_data_sets_are_made_up(self):
        keras = "def load_data(*_, **__):\n    raise SystemExit('this would be a download')\n"
        program = textwrap.dedent("""
            import sys
            sys.path.insert(0, ".")
            from keras.datasets import cifar10, imdb, california_housing
            (x, y), (u, v) = cifar10.load_data()
            assert (x.shape, y.shape, u.shape, v.shape) == ((40, 32, 32, 3), (40, 1), (7, 32, 32, 3), (7, 1))
            words = imdb.load_data(num_words=50, maxlen=10)[0][0]
            assert len(words) == 40 and all(len(text) <= 10 and max(text) < 50 for text in words)
            assert california_housing.load_data()[0][0].shape == (40, 8)
            from torchvision import datasets, transforms
            picture = transforms.Compose([transforms.Resize((16, 16)), transforms.ToTensor()])
            for name, classes, planes in (("Food101", 101, 3), ("GTSRB", 43, 3), ("USPS", 10, 1), ("Flowers102", 102, 3)):
                images = getattr(datasets, name)("nowhere", transform=picture, download=True)
                assert images[1][0].shape == (planes, 16, 16) and len(images) == 40 and 0 <= images[1][1] < classes, name
            assert len(datasets.Flowers102("nowhere", "test")) == 7
            assert datasets.CIFAR10("nowhere", False, picture)[0][0].shape == (3, 16, 16)
            assert int(datasets.EMNIST("nowhere", "letters", train=True).targets.max()) > 9
            image, mask = datasets.VOCSegmentation("nowhere", image_set="train")[0]
            assert image.size == mask.size and set(mask.tobytes()) <= {0, *range(21), 255}
            assert datasets.ImageFolder("nowhere/train", picture)[0][0].shape == (3, 16, 16)
            from torchvision.datasets.folder import ImageFolder
            from torchvision.datasets.mnist import MNIST
            assert len(MNIST("nowhere", train=False)) == 7 and MNIST is datasets.MNIST and ImageFolder is datasets.ImageFolder
            print("all made up")
        """)
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "keras/src/datasets").mkdir(parents=True)
            (root / "keras/datasets").mkdir()
            for name in ("keras", "keras/src", "keras/src/datasets"):
                (root / name / "__init__.py").touch()
            for name in ("cifar10", "imdb", "california_housing"):
                (root / f"keras/src/datasets/{name}.py").write_text(keras)
            (root / "keras/datasets/__init__.py").write_text("from keras.src.datasets import california_housing, cifar10, imdb\n")
            (root / "data.py").write_text(program)
            environment = {**os.environ, "STAND_IN_FAKE_DATA": "40", "PYTHONPATH": os.pathsep.join(str(KIT / name) for name in ("recorder", "base"))}
            done = subprocess.run([sys.executable, "data.py"], cwd=root, env=environment, text=True, capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (0, "all made up\n"), done.stderr)


class Refused(unittest.TestCase):
    def check(self, why, *options, argv=("train.py",), original=None, python=()):
        texts = both()
        run = Twin(texts[0] if original is None else original, texts[1], *options, argv=argv, python=python)
        self.assertEqual((run.status, run.result), (2, None), run.out + run.err)
        self.assertIn(why, run.err)
        self.assertNotIn("Traceback", run.err)

    def test_a_wrong_command_line(self):
        self.check("no such file: port/main.py", argv=("main.py",))
        self.check("no such folder: nowhere", "--twin", "nowhere")
        self.check("no such folder: nowhere", "--project", "nowhere")
        self.check("no such file: original/train.py", original={"other.py": ""})
        self.check("0 is not a whole number from 1 to", "--twin-steps", "0")
        self.check("--report: no such file: report.json", "--report", "report.json")
        self.check("does not start a Python file", argv=("mpirun", "-n", "2", "./a.out"))
        self.check("the folder must be below", "--fake-images", "../data")
        self.check("expected the number of classes", "--fake-images", "data=many")
        self.check("at most 25000 classes", "--fake-images", "data=1000000000")
        self.check("already exists", "--fake-images", "original")

    def test_packages_that_are_missing(self):
        self.check("install it with `python3 -m pip install torch`", python=("-S",))

    def test_tensorflow(self):
        port = {"train.py": "import tensorflow as tf\n"}
        run = Twin(port, port)
        self.assertEqual((run.status, run.result), (2, None))
        self.assertIn("install it with `python3 -m pip install tensorflow`", run.err)


if __name__ == "__main__":
    unittest.main()
