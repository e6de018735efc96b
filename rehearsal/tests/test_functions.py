"""Functions and layers that training scripts use: they are there, and shapes and numbers come out right.

    python3 rehearsal/tests/test_functions.py
"""

import math
import pathlib
import sys
import unittest

KIT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(KIT / "recorder"), str(KIT / "base")]

import torch  # noqa: E402
from torch import nn  # noqa: E402

F = nn.functional

# As `dir()` of PyTorch has them.
FUNCTIONS = """
abs acos acosh add addcdiv addcmul addmm all allclose amax amin any arange arccos arcsin arctan argmax argmin argsort as_tensor asin asinh
atan atan2 atanh baddbmm bernoulli bincount bmm broadcast_to cat cdist ceil chunk clamp clip clone concat cos cosh count_nonzero cross cumprod
cumsum deg2rad detach diag diagonal div dot einsum empty empty_like eq equal erf erfc exp exp2 expm1 eye fix flatten flip floor floor_divide
fmod frac from_numpy full full_like gather ge ger greater gt hstack hypot index_select inner isclose isfinite isinf isnan le lerp lgamma linspace
log log10 log1p log2 log_softmax logical_and logical_not logical_or logical_xor logspace logsumexp logit lt masked_fill masked_select matmul max
maximum mean median meshgrid min minimum mm movedim mul multinomial mv nan_to_num nansum narrow ne neg nonzero norm normal numel ones ones_like
outer permute pow prod quantile rad2deg rand rand_like randint randint_like randn randn_like randperm reciprocal relu remainder
repeat_interleave reshape roll round rsqrt scatter select sigmoid sign sin sinc sinh softmax sort split sqrt square squeeze stack std std_mean
sub sum swapaxes t take_along_dim tan tanh tensor tile topk trace transpose tril tril_indices triu true_divide trunc unbind unflatten unique
unsqueeze var var_mean vstack where xlogy zeros zeros_like dropout embedding layer_norm batch_norm conv1d conv2d conv3d cosine_similarity
finfo iinfo get_default_dtype set_default_dtype set_printoptions inf nan pi
""".split()
ACTIVATIONS = """
ReLU ReLU6 ELU SELU CELU GELU SiLU Mish Tanh Sigmoid Softplus Softsign Hardtanh Hardswish Hardsigmoid Hardshrink Softshrink Tanhshrink RReLU
LeakyReLU LogSigmoid Softmax LogSoftmax Softmin PReLU Identity Dropout Dropout1d Dropout2d Dropout3d AlphaDropout
""".split()
IN_FUNCTIONAL = """
relu relu6 elu selu celu gelu silu mish tanh sigmoid softplus softsign hardtanh hardswish hardsigmoid hardshrink softshrink tanhshrink rrelu
leaky_relu logsigmoid softmax log_softmax softmin dropout dropout2d alpha_dropout normalize relu_ leaky_relu_ elu_
""".split()
LOSSES = """
mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div poisson_nll_loss gaussian_nll_loss
hinge_embedding_loss margin_ranking_loss cosine_embedding_loss triplet_margin_loss soft_margin_loss multilabel_soft_margin_loss
""".split()


class Functions(unittest.TestCase):
    def shape(self, tensor, *expected):
        self.assertEqual(tuple(tensor.shape), expected)

    def value(self, tensor, expected):
        self.assertAlmostEqual(float(tensor.value), expected)

    def test_names(self):
        self.assertEqual([name for name in FUNCTIONS if not hasattr(torch, name)], [])

    def test_numbers_of_single_elements(self):
        x = torch.full((2, 3), 0.25)
        for name in "sin cos tan asin acos atan sinh cosh tanh log log2 log10 log1p sqrt exp expm1 erf floor ceil".split():
            self.value(getattr(torch, name)(x), getattr(math, name)(0.25))
            self.value(getattr(x, name)(), getattr(math, name)(0.25))
            self.shape(getattr(torch, name)(x), 2, 3)
        self.value(torch.rsqrt(x), 2.0)
        self.value(torch.reciprocal(x), 4.0)
        self.value(torch.square(torch.sub(x, 1.25, alpha=2)), 5.0625)
        self.value(torch.div(torch.tensor(7.0), 2, rounding_mode="floor"), 3.0)
        self.value(torch.pow(2, torch.tensor(3.0)), 8.0)
        self.value(torch.maximum(x, torch.tensor(1.0)), 1.0)
        self.value(torch.max(x, torch.ones(2, 3)), 1.0)
        self.value(2**torch.tensor(3.0), 8.0)
        self.value(torch.where(x > 0, x, -x), 0.25)
        self.value(x.clone().add_(1).mul_(2).sin_(), math.sin(2.5))
        self.value(torch.full((3,), -1.0).masked_fill(torch.ones(3) > 0, 5.0), 5.0)
        # What has no number there does not end the script.
        for name in "log sqrt acos atanh reciprocal logit".split():
            self.value(getattr(torch, name)(torch.tensor(-0.0 if name == "reciprocal" else -3.0)), 0.0)
        self.assertIs(torch.isnan(x).dtype, torch.bool)
        self.assertIs(torch.sin(torch.tensor([1])).dtype, torch.float32)
        self.assertIs(torch.abs(torch.tensor([1])).dtype, torch.int64)
        with self.assertRaises(TypeError):
            torch.sin(1.0)

    def test_gradients_go_through(self):
        w = nn.Parameter(torch.ones(3))
        torch.sin(torch.einsum("bi,i->b", torch.rand(2, 3), w)).masked_fill(torch.zeros(2) > 0, 1.0).sum().backward()
        self.assertIsNotNone(w.grad)

    def test_shapes(self):
        x = torch.rand(2, 3, 4)
        for made, shape in (
            (x.amax(dim=1), (2, 4)), (torch.logsumexp(x, -1, keepdim=True), (2, 3, 1)), (torch.var(x, dim=0), (3, 4)), (torch.cumsum(x, 1), (2, 3, 4)),
            (torch.any(x > 0, dim=1), (2, 4)), (torch.tile(x, (2, 1)), (2, 6, 4)), (torch.repeat_interleave(x, 2, dim=1), (2, 6, 4)),
            (torch.movedim(x, 0, 2), (3, 4, 2)), (torch.index_select(x, 1, torch.tensor([0, 2])), (2, 2, 4)), (x.split([1, 2], 1)[1], (2, 2, 4)),
            (torch.einsum("bij,bkj->bik", x, torch.rand(2, 5, 4)), (2, 3, 5)), (torch.einsum("...j,kj->...k", x, torch.rand(5, 4)), (2, 3, 5)),
            (torch.vstack([torch.rand(3), torch.rand(3)]), (2, 3)), (torch.hstack([torch.rand(2), torch.rand(3)]), (5,)), (torch.outer(torch.rand(2), torch.rand(3)), (2, 3)),
            (torch.mv(torch.rand(2, 3), torch.rand(3)), (2,)), (torch.meshgrid(torch.rand(2), torch.rand(3), indexing="ij")[1], (2, 3)),
            (x.new_zeros(5), (5,)), (x.new_ones((5, 1)), (5, 1)), (torch.unflatten(x, 2, (2, 2)), (2, 3, 2, 2)), (torch.cdist(torch.rand(2, 4), torch.rand(3, 4)), (2, 3)),
            (torch.sort(x, dim=1)[1], (2, 3, 4)), (torch.gather(x, 2, torch.zeros(2, 3, 1, dtype=torch.long)), (2, 3, 1)), (torch.ones(2, 2).diag(), (2,)),
        ):
            self.shape(made, *shape)
        with self.assertRaises(RuntimeError):
            torch.einsum("ij,jk->ik", torch.rand(2, 3), torch.rand(4, 5))

    def test_layers(self):
        x = torch.rand(2, 3, 8)
        for name in ACTIVATIONS:
            self.shape(getattr(nn, name)()(x), 2, 3, 8)
        for name in IN_FUNCTIONAL:
            self.shape(getattr(F, name)(x), 2, 3, 8)
        for name in LOSSES:
            third = [x] if name in ("gaussian_nll_loss", "margin_ranking_loss", "triplet_margin_loss", "cosine_embedding_loss") else []
            self.shape(getattr(F, name)(x, x, *third), )
        picture = torch.rand(2, 4, 8, 8)
        for layer, given, shape in (
            (nn.GLU(), x, (2, 3, 4)), (nn.MaxPool1d(2), x, (2, 3, 4)), (nn.AvgPool2d(3, stride=2, padding=1), picture, (2, 4, 4, 4)),
            (nn.AdaptiveAvgPool1d(1), x, (2, 3, 1)), (nn.AdaptiveMaxPool2d((2, None)), picture, (2, 4, 2, 8)), (nn.MaxPool2d(3, 2, ceil_mode=True), picture, (2, 4, 4, 4)),
            (nn.ReflectionPad2d(1), picture, (2, 4, 10, 10)), (nn.ZeroPad2d((1, 0, 2, 0)), picture, (2, 4, 10, 9)), (nn.PixelShuffle(2), picture, (2, 1, 16, 16)),
            (nn.Upsample(scale_factor=2), picture, (2, 4, 16, 16)), (nn.Upsample(size=(3, 5)), picture, (2, 4, 3, 5)), (nn.ConvTranspose1d(3, 5, 2, 2), x, (2, 5, 16)),
            (nn.InstanceNorm2d(4), picture, (2, 4, 8, 8)), (nn.RMSNorm(8), x, (2, 3, 8)), (nn.Unflatten(2, (2, 4)), x, (2, 3, 2, 4)), (nn.Flatten(1, 2), picture, (2, 32, 8)),
            (nn.Sequential(nn.ModuleList([nn.Linear(8, 2)])[0], nn.Softplus(beta=2)), x, (2, 3, 2)),
        ):
            self.shape(layer(given), *shape)
        out, (h, c) = nn.LSTM(8, 5, num_layers=2, batch_first=True, bidirectional=True)(x)
        self.shape(out, 2, 3, 10), self.shape(h, 4, 2, 5), self.shape(c, 4, 2, 5)
        out, h = nn.GRU(8, 5)(x)
        self.shape(out, 2, 3, 5), self.shape(h, 1, 3, 5)
        out, weights = nn.MultiheadAttention(8, 2, batch_first=True)(x, x, x)
        self.shape(out, 2, 3, 8), self.shape(weights, 2, 3, 3)
        self.shape(nn.LSTMCell(8, 5)(torch.rand(2, 8))[0], 2, 5)
        self.shape(nn.Transformer(8, 2)(x, torch.rand(2, 5, 8)), 2, 5, 8)
        self.shape(F.linear(x, torch.rand(5, 8)), 2, 3, 5)
        self.shape(F.conv2d(picture, torch.rand(6, 4, 3, 3), stride=2, padding=1), 2, 6, 4, 4)
        self.shape(F.conv_transpose2d(picture, torch.rand(4, 6, 2, 2), stride=2), 2, 6, 16, 16)
        self.shape(F.embedding(torch.zeros(2, 3, dtype=torch.long), torch.rand(10, 6)), 2, 3, 6)
        self.shape(F.max_pool3d(torch.rand(1, 1, 4, 4, 4), 2), 1, 1, 2, 2, 2)


if __name__ == "__main__":
    unittest.main()
