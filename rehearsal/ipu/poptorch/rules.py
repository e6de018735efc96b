"""What PopTorch says while it records `forward`.

Source: https://github.com/graphcore/poptorch, release 3.3: `_SetDefaultDeviceType` in `python/_poplar_executor.py` (what is made on the
IPU by itself), `test_error_on_cpu_tensor` and `test_zero_size_tensor_error` in `tests/misc_test.py`,
`docs/user_guide/supported_ops.rst` and the handlers in `poptorch/source/popart_canonicalization` (which operations there are).
"""

import torch
from contracts import broken, refused
from compiled_program import Rules

# Operations that neither have a handler nor are made up of ones that have, of those that training programs use.
LACKING = frozenset(
    "stft istft unique _unique _unique2 unique_consecutive unique_dim nonzero masked_select histc histogram multinomial kthvalue mode cummax "
    "cummin logcumsumexp lgamma digamma polygamma erfinv i0 igamma igammac angle complex polar view_as_complex view_as_real grid_sample "
    "grid_sampler affine_grid adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d max_unpool1d max_unpool2d max_unpool3d "
    "max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices unique_impl "
    "fractional_max_pool2d fractional_max_pool3d huber_loss multi_margin_loss multilabel_margin_loss poisson to_sparse sparse_coo_tensor "
    "inverse det logdet slogdet svd cholesky cholesky_inverse cholesky_solve qr lu lstsq geqrf triangular_solve matrix_exp "
    "linalg_svd linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh linalg_qr linalg_cholesky linalg_inv linalg_det linalg_slogdet "
    "linalg_solve linalg_lstsq linalg_pinv linalg_matrix_exp linalg_lu quantile nanquantile nanmedian "
    "fft_fft fft_ifft fft_fft2 fft_ifft2 fft_fftn fft_ifftn fft_rfft fft_irfft fft_rfft2 fft_irfft2 fft_rfftn fft_irfftn fft_hfft fft_ihfft "
    .split())


class IpuRules(Rules):
    factories = frozenset(
        "arange empty full full_like linspace logspace ones rand randint randn randperm range tensor zeros zeros_like normal".split())

    def value_asked(self, name):
        words = {"__bool__": "a test of its value", "__float__": "float()", "__int__": "int()", "__format__": "a format"}
        raise refused("ipu.data-dependent", f"{words.get(name, '.' + name + '()')} on a tensor inside forward: the graph is compiled before "
                      "there are values")

    def call(self, name, function, args, kwargs):
        if name.lstrip("_") in LACKING or (name in ("__getitem__", "index") and any(
                isinstance(part, torch.Tensor) and part.dtype in (torch.bool, torch.uint8)
                for part in (args[1] if isinstance(args[1], tuple) else (args[1],)))):
            what = "an index that is a mask" if name == "__getitem__" else name
            raise refused("ipu.operations", f"{what} inside forward: PopTorch 3.3 has no such operation for the IPU")
        if name == "where" and len(args) == 1 and not kwargs:
            raise refused("ipu.operations", "torch.where of a condition alone inside forward: the shape of its result depends on values")
        if getattr(function, "__module__", "") == "torch._C._fft" or name.startswith(("fft_", "linalg_eig")):
            raise refused("ipu.operations", f"{name} inside forward: PopTorch 3.3 has no such operation for the IPU")
        if name in ("lstm", "gru", "rnn_tanh", "rnn_relu") and len(args) > 7:
            layers, dropout, training, both = args[4:8]
            if layers > 1 or both or (dropout and training):
                raise refused("ipu.operations", f"{name} with {layers} layers{', in both directions' if both else ''}"
                              f"{', with dropout' if dropout and training else ''}: PopTorch 3.3 has one layer in one direction, without dropout")
        if name in ("cross_entropy", "nll_loss") and (args[2] if len(args) > 2 else kwargs.get("weight")) is not None:
            raise refused("ipu.operations", f"{name} with class weights inside forward: PopTorch 3.3 accepts none")
        if name == "embedding" and (args[2] if len(args) > 2 else kwargs.get("padding_idx")) is not None:
            broken("ipu.operations", "padding_idx has no effect on the IPU: the padding row is trained like the others")
            args, kwargs = args[:2], {}
        if name == "double":
            return torch.Tensor.float, args, kwargs
        single = {torch.float64: torch.float32}
        args = tuple(single.get(a, a) if isinstance(a, torch.dtype) else a for a in args)
        kwargs = {key: single.get(a, a) if isinstance(a, torch.dtype) else a for key, a in kwargs.items()}
        return function, args, kwargs

    def instead(self, recorder, name, args, kwargs):
        """The mean over a batch of kl_div is a sum, which is the loss, and a division behind it."""
        if name == "kl_div" and kwargs.get("reduction") == "batchmean":
            whole = recorder.recorded(name, torch.nn.functional.kl_div, args, {**kwargs, "reduction": "sum"})
            return recorder.recorded("div", torch.div, (whole, args[0].size()[0]), {})
        return NotImplemented

    def host_tensor(self, name, tensor):
        if tensor.dim():
            raise refused("ipu.host-tensors", f"{name} inside forward takes a tensor of the host, of shape {tuple(tensor.shape)}, that is not a "
                          "parameter, buffer or input: register it as a buffer")
