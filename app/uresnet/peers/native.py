"""Times ONNX Runtime, and PyTorch where it is installed, on what `examples/onnx` wrote.

    python native.py FOLDER HEIGHTxWIDTH RUNS PEER THREADS

prints one line of JSON. PEER is `onnxruntime` or `torch`; a peer that is not installed says so in `failure`.
"""

import json
import os
import resource
import sys
import time


def onnxruntime(folder, x, threads):
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = ort.InferenceSession(os.path.join(folder, "model.onnx"), options, providers=["CPUExecutionProvider"])
    return ort.__version__, lambda: session.run(None, {"x": x})[0]


def torch(folder, x, threads):
    import torch
    from torch.nn import functional as f

    torch.set_num_threads(threads)
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    weights = {name: torch.from_numpy(value) for name, value in safetensors(folder).items()}

    def unit(x, path, activated=True, conv=None, **how):
        conv = path + ".conv" if conv is None else conv
        weight, bias = weights[conv + ".weight"], weights.get(conv + ".bias")
        if how.pop("transposed", False):
            x = f.conv_transpose2d(x, weight, bias, stride=2)
        else:
            x = f.conv2d(x, weight, bias, padding=how.pop("padding", (weight.shape[-1] - 1) // 2), **how)
        if path + ".norm.weight" in weights:
            norm = [weights[f"{path}.norm.{part}"] for part in ("running_mean", "running_var", "weight", "bias")]
            x = f.batch_norm(x, *norm, training=False, eps=1e-5)
        return f.leaky_relu(x, 0.01) if activated else x

    def series(x, path, blocks):
        for i in range(blocks):
            block = f"{path}.blocks.{i}"
            if config["residual"]:
                y = unit(x, block + ".convolution_1")
                x = f.leaky_relu(unit(y, block + ".convolution_2", activated=False) + x, 0.01)
            else:
                x = unit(x, block)
        return x

    def core(planes, path, depth):
        if depth == 0:
            path += ".main_module"
            deep = lambda x: unit(
                series(unit(x, path + ".bottleneck"), path + ".blocks", config["blocks_deepest_layer"]),
                path + ".unbottleneck",
            )
            if config["block_concat"]:
                return [deep(x) for x in planes]
            return list(deep(torch.cat(planes, 1)).chunk(3, 1))
        skips = planes
        planes = [series(x, path + ".down_blocks", config["blocks_per_layer"]) for x in planes]
        if config["downsampling"] == "max_pooling":
            planes = [unit(f.max_pool2d(x, 2), path + ".downsample.bottleneck") for x in planes]
        else:
            planes = [unit(x, path + ".downsample", stride=2, padding=0) for x in planes]
        planes = core(planes, path + ".main_module", depth - 1)
        done = []
        for x, skip in zip(planes, skips):
            if config["upsampling"] == "interpolation":
                x = f.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
                x = unit(x, path + ".upsample.bottleneck")
            else:
                x = unit(x, path + ".upsample", transposed=True)
            if config["connections"] == "concat":
                x = unit(torch.cat([x, skip], 1), path + ".connection.bottleneck")
            elif config["connections"] == "sum":
                x = x + skip
            done.append(series(x, path + ".up_blocks", config["blocks_per_layer"]))
        return done

    def network(x):
        planes = [unit(plane, "initial_convolution") for plane in x.chunk(3, 1)]
        planes = core(planes, "net_core", config["depth"])
        planes = [series(x, "final_layer", config["blocks_final"]) for x in planes]
        return torch.cat([unit(x, "bottleneck", activated=False, conv="bottleneck") for x in planes], 1)

    def run():
        with torch.inference_mode():
            return network(torch.from_numpy(x)).numpy()

    return torch.__version__, run


def safetensors(folder):
    import numpy

    with open(os.path.join(folder, "weights.safetensors"), "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        body = file.read()
    header.pop("__metadata__", None)
    found = {}
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        found[name] = numpy.frombuffer(bytearray(body[start:end]), numpy.float32).reshape(entry["shape"])
    return found


def main():
    folder, size, runs, peer, threads = sys.argv[1:]
    line = {"name": peer, "threads": int(threads)}
    try:
        __import__(peer)
        import numpy

        height, width = map(int, size.split("x"))
        x = numpy.fromfile(os.path.join(folder, "input.f32"), numpy.float32).reshape(1, 3, height, width)
        expected = numpy.fromfile(os.path.join(folder, "expected.f32"), numpy.float32)
        line["version"], run = {"onnxruntime": onnxruntime, "torch": torch}[peer](folder, x, int(threads))
    except ImportError as error:
        print(json.dumps({**line, "failure": str(error)}))
        return
    # The first run sets up memory.
    found = run().ravel()
    line["far"] = float(abs(found - expected).max() / (expected.max() - expected.min()))
    times, work = [], []
    for _ in range(int(runs)):
        start, before = time.perf_counter(), time.process_time()
        run()
        times.append(time.perf_counter() - start)
        work.append(time.process_time() - before)
    line["seconds"] = min(times)
    line["processor"] = min(work) if int(threads) == 1 else None
    scale = 1 if sys.platform == "darwin" else 1024
    line["resident"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
    print(json.dumps(line))


main()
