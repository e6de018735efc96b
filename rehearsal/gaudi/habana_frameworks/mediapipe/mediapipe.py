"""`MediaPipe`, to be a base class."""


class MediaPipe:
    def __init__(self, *_, **__):
        raise NotImplementedError("the kit has no media pipe: read images with a DataLoader of PyTorch")
