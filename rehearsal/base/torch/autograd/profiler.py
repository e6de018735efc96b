from stand_in_calls import MACHINE, record


class profile:
    def __init__(self, enabled=True, *, use_cuda=False, use_device=None, **_):
        if use_cuda and MACHINE != "cuda":
            raise AssertionError("profile(use_cuda=True) without CUDA")
        record("profile", use_cuda=use_cuda)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def export_chrome_trace(self, path):
        record("export_chrome_trace")


record_function = lambda name: __import__("contextlib").nullcontext()
