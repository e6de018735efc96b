"""`MediaPipe`, to be a base class."""


class MediaPipe:
    def __init__(self, *_, **__):
        raise NotImplementedError("the kit does not support media pipes: read images with PyTorch's DataLoader")
