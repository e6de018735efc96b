def fork_rng(*_, **__):
    return __import__("contextlib").nullcontext()
