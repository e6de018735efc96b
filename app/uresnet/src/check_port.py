"""Runs a ported network on a reference bundle, and writes what it gives for the comparison.

    python3 check_port.py BUNDLE.safetensors --project FOLDER --device hpu
    portolan forward --config CONFIG --weights BUNDLE.safetensors --input BUNDLE.safetensors --compare candidate.safetensors

The bundle holds the picture and the weights. FOLDER is the ported project's; the network's class is looked for in it, and
--network MODULE:CLASS names it where the search finds another. Needs Python 3.8 and what the project needs, no more. If your project
builds its network in a way of its own, `build_network` below is the function to change.
"""

import argparse
import enum
import importlib
import json
import os
import re
import struct
import sys
import types
from pathlib import Path

# The network's configuration, under CosmicTagger's names.
CONFIG = json.loads("""{{CONFIG}}""")

PLANES = 3


# ---------------------------------------------------------------- the project's network


def find_network(project):
    """The 2D UResNet of a project as MODULE:CLASS: the first file that defines a class of such a name."""
    pattern = re.compile(r"^class\s+(\w*u_?res_?net\w*)\s*[(:]", re.IGNORECASE | re.MULTILINE)
    found = []
    for path in sorted(project.rglob("*.py")):
        inside = path.relative_to(project).with_suffix("")
        if any(part.startswith(".") or not part.isidentifier() for part in inside.parts) or path == Path(__file__).resolve():
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        for name in pattern.findall(text):
            # A configuration may be called UResNet too, but it imports no torch.
            if "torch" in text and "3d" not in name.lower() and "sparse" not in name.lower():
                found.append(f"{'.'.join(inside.parts)}:{name}")
    # A project with networks of two and three dimensions says which in the file's name.
    found.sort(key=lambda place: ("2d" not in place.lower(), "3d" in place.lower()))
    if not found:
        sys.exit(f"check_port: no class with UResNet in its name below {project}; name it with --network MODULE:CLASS")
    return found[0]


class Parameters(types.SimpleNamespace):
    """The configuration by attribute, and by key for a project that takes a dictionary."""

    def keys(self):
        return vars(self).keys()

    def __getitem__(self, name):
        return vars(self)[name]


def project_enums(project):
    """Every enum of the project that importing the network has brought in."""
    enums = []
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and project in Path(file).resolve().parents:
            members = [value for value in vars(module).values() if isinstance(value, type)]
            enums += [kind for kind in members if issubclass(kind, enum.Enum) and kind not in enums]
    return enums


def in_the_projects_terms(field, value, enums):
    """A word of the configuration as a member of the project's enum for it, or the word itself when there is none."""
    if not isinstance(value, str):
        return value
    bare = field.replace("_", "").lower()

    def likeness(kind):
        name = kind.__name__.replace("_", "").lower()
        return name.startswith(bare) or bare.startswith(name)

    fitting = [kind for kind in enums if value in kind.__members__]
    named = [kind for kind in fitting if likeness(kind)]
    chosen = named or (fitting if len(fitting) == 1 else [])
    return chosen[0][value] if chosen else value


def build_network(project, place):
    """The project's network for CONFIG, on the CPU, with weights of its own."""
    sys.path.insert(0, str(project))
    module_name, _, class_name = place.partition(":")
    module = importlib.import_module(module_name)
    enums = project_enums(project)
    fields = {field: in_the_projects_terms(field, value, enums) for field, value in CONFIG.items()}
    return getattr(module, class_name)(Parameters(**fields))


def load_weights(network, tensors):
    """Every parameter and buffer of the network out of the bundle; none may be missing or of another shape."""
    import torch

    state, faults = network.state_dict(), []
    for name, own in state.items():
        if name.endswith("num_batches_tracked"):
            continue
        if name not in tensors:
            faults.append(f"{name} is not in the bundle")
        elif tensors[name][0] != tuple(own.shape):
            faults.append(f"{name}: the network has shape {tuple(own.shape)}, the bundle {tensors[name][0]}")
        else:
            state[name] = to_tensor(torch, tensors[name])
    modules = {name.split(".")[0] for name in state}
    left = [name for name in tensors if name.split(".")[0] in modules and name not in state]
    faults += [f"{name} of the bundle has no place in the network" for name in left]
    if faults:
        more = f"\n  and {len(faults) - 5} more" if len(faults) > 5 else ""
        sys.exit("check_port: the network is another than the bundle's:\n  " + "\n  ".join(faults[:5]) + more)
    network.load_state_dict(state)


# ---------------------------------------------------------------- devices


def run_on_torch_device(network, picture, device):
    return network.to(device)(picture.to(device))


def run_on_hpu(network, picture):
    # The device is there once this is imported.
    import habana_frameworks.torch.core as htcore

    outputs = run_on_torch_device(network, picture, "hpu")
    htcore.mark_step()
    return outputs


def run_on_ipu(network, picture):
    import poptorch

    return poptorch.inferenceModel(network, options=poptorch.Options())(picture)


def run_on_rdu(network, picture, pef):
    """Compiles when there is no PEF yet, and ends; runs the PEF when it is named."""
    import sambaflow.samba as samba
    import sambaflow.samba.utils as samba_utils
    from sambaflow.samba.utils.argparser import parse_app_args
    from sambaflow.samba.utils.pef_utils import get_pefmeta

    command = ["run", f"--pef={pef}"] if pef else ["compile", "--pef-name=check_port", "--inference"]
    args = parse_app_args(argv=command)
    samba.from_torch_model_(network)
    inputs = [samba.from_torch_tensor(picture, name="picture", batch_dim=0)]
    if not pef:
        samba.session.compile(
            network,
            inputs,
            None,
            name="check_port",
            app_dir=samba_utils.get_file_dir(__file__),
            config_dict=vars(args),
            pef_metadata=get_pefmeta(args, network),
        )
        print("check_port: compiled; run it again with --pef FILE.pef")
        sys.exit()
    samba_utils.trace_graph(network, inputs, None, pef=pef)
    outputs = samba.session.run(input_tensors=inputs, output_tensors=network.output_tensors, section_types=["fwd"])
    return [samba.to_torch(output) for output in outputs]


# ---------------------------------------------------------------- stages


class Stages:
    """Keeps what the network's modules give, on the host: the levels and what lies between them, or every module."""

    def __init__(self, network, which):
        self.calls = {}
        fine = re.compile(r"\.blocks\.|(sample|connection)\.bottleneck$") if which == "levels" else re.compile(r"$.")
        # A module with weights below it is a stage; a convolution inside a unit is not.
        weighted = {name.rsplit(".", 1)[0] for name in network.state_dict()}
        for name, module in network.named_modules():
            below = any(owner == name or owner.startswith(name + ".") for owner in weighted)
            if name and below and name.rsplit(".", 1)[-1] not in ("conv", "norm") and not fine.search(name):
                module.register_forward_hook(self.keeper(name))

    def keeper(self, name):
        def keep(_module, _inputs, output):
            parts = output if isinstance(output, (tuple, list)) else [output]
            self.calls.setdefault(name, []).extend(to_numbers(part) for part in parts)

        return keep

    def named(self):
        """A module that is called for each plane has three outputs, one that sees the planes joined has one."""
        named = {}
        for name, outputs in self.calls.items():
            if len(outputs) == PLANES:
                named.update({f"stage.{name}.plane{plane}": output for plane, output in enumerate(outputs)})
            elif len(outputs) == 1:
                named[f"stage.{name}.all"] = outputs[0]
        return named


# ---------------------------------------------------------------- safetensors


def read_bundle(path):
    """Name → shape and bytes. Everything in a bundle is float32."""
    data = Path(path).read_bytes()
    if len(data) < 8:
        sys.exit(f"check_port: {path} is no safetensors file")
    (length,) = struct.unpack("<Q", data[:8])
    try:
        header = json.loads(data[8 : 8 + length])
    except ValueError:
        sys.exit(f"check_port: {path} is no safetensors file")
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        first, end = (8 + length + offset for offset in entry["data_offsets"])
        if end > len(data):
            sys.exit(f"check_port: {path} is cut off")
        tensors[name] = (tuple(entry["shape"]), data[first:end])
    return tensors


def to_tensor(torch, tensor):
    shape, data = tensor
    if hasattr(torch, "frombuffer"):
        return torch.frombuffer(bytearray(data), dtype=torch.float32).reshape(shape)
    return torch.tensor(struct.unpack(f"<{len(data) // 4}f", data)).view(*shape)


def to_numbers(tensor):
    """Shape and bytes of a tensor of any device and type."""
    tensor = tensor.detach().to("cpu").float().contiguous()
    shape = tuple(tensor.shape)
    try:
        import numpy

        data = numpy.asarray(tensor.numpy(), dtype="<f4").tobytes()
    except (ImportError, RuntimeError, AttributeError, TypeError):
        # A torch without NumPy says so by one of these.
        data = b""
    if len(data) != 4 * tensor.numel():
        numbers = tensor.view(-1).tolist()
        data = struct.pack(f"<{len(numbers)}f", *numbers)
    return shape, data


def write_safetensors(path, tensors):
    header, place = {}, 0
    for name, (shape, data) in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [place, place + len(data)]}
        place += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, data in tensors.values():
            file.write(data)


# ---------------------------------------------------------------- the run


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bundle", help="the reference's weights and picture")
    parser.add_argument("--project", type=Path, default=Path("."), help="the ported project's folder (this one)")
    parser.add_argument("--network", metavar="MODULE:CLASS", help="the network's class, where the search finds another")
    parser.add_argument("--device", choices=["cpu", "cuda", "hpu", "ipu", "rdu", "xpu"], default="cpu")
    parser.add_argument("--precision", choices=["fp32", "bf16", "fp16"], default="fp32", help="what to compute with")
    parser.add_argument(
        "--stages",
        nargs="?",
        const="levels",
        choices=["levels", "all"],
        help="write the outputs of the levels, or of all modules, too (cpu, cuda and hpu)",
    )
    parser.add_argument("--pef", help="the compiled program to run on an RDU; without it one is compiled")
    parser.add_argument("--out", default="candidate.safetensors")
    arguments = parser.parse_args()
    if arguments.stages and arguments.device in ("ipu", "rdu"):
        parser.error("a compiled network shows no stages; run it without --stages, or on another device")

    if arguments.device == "hpu":
        # Gaudi's bridge reads the mode once, and newer ones are loaded by torch itself. A mode that is set stays.
        os.environ.setdefault("PT_HPU_LAZY_MODE", "0")
    import torch

    tensors = read_bundle(arguments.bundle)
    if "input" not in tensors:
        sys.exit(f"check_port: {arguments.bundle} holds no picture; write it with `portolan forward --out FILE --bundle`")
    project = arguments.project.resolve()
    place = arguments.network or find_network(project)
    print(f"check_port: {place} on {arguments.device} with {arguments.precision}")
    network = build_network(project, place)
    load_weights(network, tensors)
    network.eval()
    kind = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[arguments.precision]
    network, picture = network.to(kind), to_tensor(torch, tensors["input"]).to(kind)
    stages = Stages(network, arguments.stages) if arguments.stages else None
    with torch.no_grad():
        if arguments.device == "hpu":
            outputs = run_on_hpu(network, picture)
        elif arguments.device == "ipu":
            outputs = run_on_ipu(network, picture)
        elif arguments.device == "rdu":
            outputs = run_on_rdu(network, picture, arguments.pef)
        else:
            outputs = run_on_torch_device(network, picture, arguments.device)
    if not isinstance(outputs, (tuple, list)) or len(outputs) != PLANES:
        sys.exit("check_port: the network's output is not a list of three planes")
    found = {f"output.plane{plane}": to_numbers(output) for plane, output in enumerate(outputs)}
    if stages:
        found.update(stages.named())
    write_safetensors(arguments.out, found)
    print(f"check_port: {arguments.out} holds {len(found)} tensors")


if __name__ == "__main__":
    main()
