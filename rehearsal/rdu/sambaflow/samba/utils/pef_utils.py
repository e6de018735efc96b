"""What `get_pefmeta` gives `session.compile`. Source: https://github.com/sambanova/tutorials."""


def get_pefmeta(args, model):
    return {"model": type(model).__name__, "batch_size": getattr(args, "batch_size", None)}
