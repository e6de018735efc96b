"""CosmicTagger's 2D UResNet in plain PyTorch, with the names that its state_dict has there.

A configuration is a dictionary with the fields of CosmicTagger's configuration class; those that are left out are those
of its `uresnet`. src/network.rs describes the same network.
"""

import torch
from torch import nn
from torch.nn import functional as F

DEFAULTS = {
    "bias": True,
    "normalization": "batch",
    "n_initial_filters": 16,
    "blocks_per_layer": 2,
    "blocks_deepest_layer": 5,
    "blocks_final": 5,
    "depth": 6,
    "filter_size_deepest": 5,
    "bottleneck_deepest": 256,
    "residual": True,
    "block_concat": False,
    "connections": "concat",
    "growth_rate": "additive",
    "downsampling": "max_pooling",
    "upsampling": "interpolation",
}

SLOPE = 0.01


class Unit(nn.Module):
    """Convolution, normalisation, leaky ReLU."""

    def __init__(self, config, inputs, outputs, kernel, stride=1, padding=None, activate=True, double=False):
        super().__init__()
        kind = nn.ConvTranspose2d if double else nn.Conv2d
        padding = (kernel - 1) // 2 if padding is None else padding
        self.conv = kind(inputs, outputs, kernel, stride=stride, padding=padding, bias=config["bias"])
        if config["normalization"] == "batch":
            self.norm = nn.BatchNorm2d(outputs)
        self.activate = activate

    def forward(self, x):
        x = self.conv(x)
        if hasattr(self, "norm"):
            x = self.norm(x)
        return F.leaky_relu(x, SLOPE) if self.activate else x


class Residual(nn.Module):
    """Two units and the input; what is added is activated afterwards."""

    def __init__(self, config, width, kernel):
        super().__init__()
        self.convolution_1 = Unit(config, width, width, kernel)
        self.convolution_2 = Unit(config, width, width, kernel, activate=False)

    def forward(self, x):
        return F.leaky_relu(self.convolution_2(self.convolution_1(x)) + x, SLOPE)


class Series(nn.Module):
    def __init__(self, config, blocks, width, kernel=3):
        super().__init__()
        if config["residual"]:
            self.blocks = nn.Sequential(*(Residual(config, width, kernel) for _ in range(blocks)))
        else:
            self.blocks = nn.Sequential(*(Unit(config, width, width, kernel) for _ in range(blocks)))

    def forward(self, x):
        return self.blocks(x)


class Pooled(nn.Module):
    def __init__(self, config, inputs, outputs):
        super().__init__()
        self.bottleneck = Unit(config, inputs, outputs, 1)

    def forward(self, x):
        return self.bottleneck(F.max_pool2d(x, 2))


class Interpolated(nn.Module):
    def __init__(self, config, inputs, outputs):
        super().__init__()
        self.bottleneck = Unit(config, inputs, outputs, 1)

    def forward(self, x):
        return self.bottleneck(F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False))


class Connection(nn.Module):
    """How a level's input comes back in on the way up."""

    def __init__(self, config, width):
        super().__init__()
        self.kind = config["connections"]
        if self.kind == "concat":
            self.bottleneck = Unit(config, 2 * width, width, 1)

    def forward(self, x, skip):
        if self.kind == "concat":
            return self.bottleneck(torch.cat([x, skip], dim=1))
        return x + skip if self.kind == "sum" else x


class Deepest(nn.Module):
    """The one place where the planes meet, unless `block_concat` keeps them apart."""

    def __init__(self, config, width):
        super().__init__()
        self.joined = not config["block_concat"]
        outer = 3 * width if self.joined else width
        inner = config["bottleneck_deepest"]
        self.bottleneck = Unit(config, outer, inner, 1)
        self.blocks = Series(config, config["blocks_deepest_layer"], inner, config["filter_size_deepest"])
        self.unbottleneck = Unit(config, inner, outer, 1)

    def forward(self, planes):
        if not self.joined:
            return [self.unbottleneck(self.blocks(self.bottleneck(x))) for x in planes]
        x = self.unbottleneck(self.blocks(self.bottleneck(torch.cat(planes, dim=1))))
        return list(torch.chunk(x, 3, dim=1))


class Core(nn.Module):
    """A level and all that lies below it."""

    def __init__(self, config, depth, width):
        super().__init__()
        self.depth = depth
        if depth == 0:
            self.main_module = Deepest(config, width)
            return
        deeper = 2 * width if config["growth_rate"] == "multiplicative" else width + config["n_initial_filters"]
        self.down_blocks = Series(config, config["blocks_per_layer"], width)
        if config["downsampling"] == "max_pooling":
            self.downsample = Pooled(config, width, deeper)
        else:
            self.downsample = Unit(config, width, deeper, 2, stride=2, padding=0)
        self.main_module = Core(config, depth - 1, deeper)
        if config["upsampling"] == "interpolation":
            self.upsample = Interpolated(config, deeper, width)
        else:
            self.upsample = Unit(config, deeper, width, 2, stride=2, padding=0, double=True)
        self.connection = Connection(config, width)
        self.up_blocks = Series(config, config["blocks_per_layer"], width)

    def forward(self, planes):
        if self.depth == 0:
            return self.main_module(planes)
        skips = planes
        planes = [self.downsample(self.down_blocks(x)) for x in planes]
        planes = [self.upsample(x) for x in self.main_module(planes)]
        return [self.up_blocks(self.connection(x, skip)) for x, skip in zip(planes, skips)]


class UResNet(nn.Module):
    """Pictures [B, 3, H, W] to three tensors of logits [B, 3 classes, H, W], one a plane."""

    def __init__(self, config):
        super().__init__()
        config = {**DEFAULTS, **config}
        width = config["n_initial_filters"]
        self.initial_convolution = Unit(config, 1, width, 5)
        self.net_core = Core(config, config["depth"], width)
        self.final_layer = Series(config, config["blocks_final"], width)
        self.bottleneck = nn.Conv2d(width, 3, 1, bias=config["bias"])
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, pictures):
        planes = [self.initial_convolution(x) for x in torch.chunk(pictures, 3, dim=1)]
        return [self.bottleneck(self.final_layer(x)) for x in self.net_core(planes)]
