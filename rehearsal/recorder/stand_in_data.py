"""Data sets that would be downloaded, made up: right shapes and types, and images that tell their class apart a little.

`STAND_IN_FAKE_DATA=N` asks for them, with N samples for training and a tenth as many, and three, for anything else. Without it nothing
here is done.
"""

import os

COUNT = int(os.environ.get("STAND_IN_FAKE_DATA", "0"))


def _count(train):
    return COUNT if train else COUNT // 10 + 3


def _images(count, shape, classes, seed):
    """Noise with a bright patch that depends on the class."""
    import numpy

    draw = numpy.random.default_rng(seed)
    labels = draw.integers(0, classes, count)
    images = draw.integers(0, 128, (count, *shape), dtype=numpy.uint8)
    for image, label in zip(images, labels):
        side = shape[0] // 4
        row, column = divmod(int(label) % 16, 4)
        image[row * side : (row + 1) * side, column * side : (column + 1) * side] += 100
    return images, labels


def torchvision():
    if not COUNT:
        return
    import torch
    import torchvision
    from torchvision import datasets

    def folder_of(base, make):
        """The data set with its own `__getitem__`, over data that `make` puts in place."""

        class Made(base):
            def __init__(self, root="", *args, transform=None, target_transform=None, **options):
                datasets.vision.VisionDataset.__init__(self, root or ".", transform=transform, target_transform=target_transform)
                make(self, args, options)

        Made.__name__, Made.__qualname__, Made.__module__ = base.__name__, base.__qualname__, base.__module__
        return Made

    def trains(args, options):
        named = options.get("train", options.get("split", args[0] if args else True))
        return named in (True, "train", "train+unlabeled", "balanced", "byclass", "letters", "digits") and options.get("train", True) is not False

    def mnist(self, args, options):
        self.train = trains(args, options)
        images, labels = _images(_count(self.train), (28, 28), 10, 1 + self.train)
        self.data, self.targets = torch.from_numpy(images), torch.from_numpy(labels)

    def cifar(classes):
        def make(self, args, options):
            self.train = trains(args, options)
            self.data, labels = _images(_count(self.train), (32, 32, 3), classes, 3 + self.train)
            self.targets = [int(label) for label in labels]
            self.classes = [str(number) for number in range(classes)]
            self.class_to_idx = {name: number for number, name in enumerate(self.classes)}

        return make

    def planes(size):
        def make(self, args, options):
            images, labels = _images(_count(trains(args, options)), (size, size, 3), 10, 5)
            self.data, self.labels = images.transpose(0, 3, 1, 2), labels

        return make

    def folders(self, args, options):
        from PIL import Image

        images, labels = _images(_count("val" not in str(self.root) and "test" not in str(self.root)), (256, 256, 3), 10, 7)
        self.classes = [f"class{number}" for number in range(10)]
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
        self.samples = self.imgs = [(number, int(label)) for number, label in enumerate(labels)]
        self.targets = [label for _, label in self.samples]
        self.loader = lambda number: Image.fromarray(images[number])
        self.extensions = None

    made = {
        **dict.fromkeys(("MNIST", "FashionMNIST", "KMNIST"), mnist), "CIFAR10": cifar(10), "CIFAR100": cifar(100), "SVHN": planes(32),
        "STL10": planes(96), "ImageFolder": folders, "DatasetFolder": folders,
    }
    for name, make in made.items():
        kind = folder_of(getattr(datasets, name), make)
        setattr(datasets, name, kind)
        setattr(torchvision.datasets, name, kind)
    _own_weights(torch)


def _own_weights(torch):
    """Weights that would be downloaded are those that the model has."""
    import torch_calls

    class Own(dict):
        pass

    torch.hub.load_state_dict_from_url = lambda *_, **__: Own()
    torch_calls.around(
        torch.nn.Module, "load_state_dict",
        lambda original, self, state, *args, **kwargs: None if isinstance(state, Own) else original(self, state, *args, **kwargs))
    import torchvision.models._api as api

    api.load_state_dict_from_url = torch.hub.load_state_dict_from_url
