class _Flags:
    def __init__(self, **flags):
        self.__dict__.update(flags)

    def is_available(self):
        return False

    is_built = is_available


cudnn = _Flags(benchmark=False, deterministic=False, enabled=True, allow_tf32=True)
cuda = _Flags(matmul=_Flags(allow_tf32=False))
cuda.sdp_kernel = lambda **_: __import__("contextlib").nullcontext()
mps = _Flags()
mkldnn = _Flags()

import sys  # noqa: E402

sys.modules[__name__ + ".cudnn"] = cudnn
sys.modules[__name__ + ".cuda"] = cuda
