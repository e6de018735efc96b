from . import checkpoint, cpp_extension, data  # noqa: F401
