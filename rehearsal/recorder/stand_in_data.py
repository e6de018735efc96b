"""Data sets that would be downloaded, made up: right shapes and types, and images that tell their class apart a little.

`STAND_IN_FAKE_DATA=N` asks for them, with N samples for training and a tenth as many, and three, for anything else. Without it nothing
here is done. A folder of images that is there is read as it is; one that is not is made up too. `twins/images.py` makes folders of files.
"""

import inspect
import os
import sys

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


# ------------------------------------------------------------------------------------------------ torchvision

# Sets of photographs, each with a class: the classes, and the sides of an image. Where a set's photographs differ in size, theirs is made up.
# The number of classes stands in each one's own documentation (https://docs.pytorch.org/vision/stable/datasets.html).
CLASSIFIED = {
    "Caltech101": (101, (300, 200)), "Caltech256": (257, (300, 200)), "CLEVRClassification": (11, (480, 320)), "Country211": (211, (320, 240)),
    "DTD": (47, (320, 320)), "EuroSAT": (10, (64, 64)), "FGVCAircraft": (100, (320, 240)), "FER2013": (7, (48, 48)), "Flowers102": (102, (256, 256)),
    "Food101": (101, (256, 256)), "GTSRB": (43, (48, 48)), "Imagenette": (10, (320, 240)), "ImageNet": (1000, (256, 256)),
    "INaturalist": (10000, (256, 256)), "LFWPeople": (5749, (250, 250)), "Omniglot": (964, (105, 105)), "PCAM": (2, (96, 96)),
    "Places365": (365, (256, 256)), "RenderedSST2": (2, (448, 448)), "SEMEION": (10, (16, 16)), "StanfordCars": (196, (320, 240)),
    "SUN397": (397, (256, 256)), "USPS": (10, (16, 16)),
}
# Those of them whose images are grey.
GREY = {"FER2013", "Omniglot", "SEMEION", "USPS"}
# Sets with a mask for each photograph: its classes, and the value of what is of no class.
SEGMENTED = {"VOCSegmentation": (21, 255), "SBDataset": (21, 255), "Cityscapes": (34, None), "OxfordIIITPet": (37, None)}
TRAINING = (True, "train", "trainval", "train+unlabeled", "training", "balanced", "byclass", "bymerge", "letters", "digits", "mnist", "full", "extra",
            "background", "2021_train", "2021_train_mini", "train-standard", "train-challenge", "train_noval")


def torchvision():
    if not COUNT:
        return
    import torch
    import torchvision
    from torchvision import datasets

    def folder_of(base, make):
        """The data set with its own `__getitem__`, over data that `make` puts in place."""

        class Made(base):
            def __init__(self, root="", *args, **options):
                if make is folders and _is_there(root):
                    super().__init__(root, *args, **options)
                    return
                make(self, _begun(self, base, root, args, options))

        return _named(Made, base)

    def mnist(classes=10):
        def make(self, given):
            self.train = _trains(given)
            kinds = {"byclass": 62, "bymerge": 47, "balanced": 47, "letters": 27}.get(given.get("split"), classes)
            images, labels = _images(_count(self.train), (28, 28), kinds, 1 + self.train)
            self.data, self.targets = torch.from_numpy(images), torch.from_numpy(labels)

        return make

    def cifar(classes):
        def make(self, given):
            self.train = _trains(given)
            self.data, labels = _images(_count(self.train), (32, 32, 3), classes, 3 + self.train)
            self.targets = [int(label) for label in labels]
            self.classes = [str(number) for number in range(classes)]
            self.class_to_idx = {name: number for number, name in enumerate(self.classes)}

        return make

    def planes(size):
        def make(self, given):
            images, labels = _images(_count(_trains(given)), (size, size, 3), 10, 5)
            self.data, self.labels = images.transpose(0, 3, 1, 2), labels

        return make

    def folders(self, _given):
        drawn = _Drawn(_count("val" not in str(self.root) and "test" not in str(self.root)), (256, 256), 10, 7)
        self.classes = [f"class{number}" for number in range(10)]
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
        self.samples = self.imgs = [(number, int(label)) for number, label in enumerate(drawn.labels)]
        self.targets = [label for _, label in self.samples]
        self.loader = drawn.image
        self.extensions = None

    made = {
        **dict.fromkeys(("MNIST", "FashionMNIST", "KMNIST", "EMNIST"), mnist()), "CIFAR10": cifar(10), "CIFAR100": cifar(100), "SVHN": planes(32),
        "STL10": planes(96), "ImageFolder": folders, "DatasetFolder": folders,
    }
    kinds = {name: folder_of(getattr(datasets, name), make) for name, make in made.items()}
    bases = {name: getattr(datasets, name) for name in (*CLASSIFIED, *SEGMENTED) if hasattr(datasets, name)}
    kinds.update({name: _pairs(name, base) for name, base in bases.items()})
    for name, kind in kinds.items():
        # A program may import it from the module that it is written in, too.
        for module in (datasets, sys.modules[kind.__module__]):
            setattr(module, name, kind)
    _own_weights_of_torchvision(torch)


def _named(kind, base):
    kind.__name__, kind.__qualname__, kind.__module__ = base.__name__, base.__qualname__, base.__module__
    return kind


def _begun(data_set, base, root, given, options):
    """The start of a data set: its transforms are put in place, and what it was given comes back by name."""
    from torchvision.datasets.vision import VisionDataset

    bound = inspect.signature(base.__init__).bind(data_set, root, *given, **options).arguments
    named = {**bound, **bound.pop("kwargs", {})}
    transforms = {name: named[name] for name in ("transforms", "transform", "target_transform") if named.get(name) is not None}
    VisionDataset.__init__(data_set, root or ".", **transforms)
    return named


def _trains(given):
    """Whether it is the part to train on that was asked for; where nothing says, it is."""
    said = [given[name] for name in ("train", "split", "image_set", "version", "background") if name in given]
    return given.get("train") is not False and (not said or any(one in TRAINING for one in said if isinstance(one, (bool, str))))


def _is_there(root):
    """Whether a folder has folders in it, as one of images has for its classes."""
    return os.path.isdir(root) and any(entry.is_dir() for entry in os.scandir(root))


class _Drawn:
    """Images that are drawn when they are asked for: a thousand photographs would not fit where a thousand labels do."""

    def __init__(self, count, size, classes, seed, grey=False):
        import numpy

        self.labels = numpy.random.default_rng(seed).integers(0, classes, count)
        self.size, self.seed, self.mode, self.classes = size, seed, "L" if grey else "RGB", classes

    def image(self, number):
        import numpy
        from PIL import Image

        width, height = self.size
        shape = (height, width) if self.mode == "L" else (height, width, 3)
        pixels = numpy.random.default_rng((self.seed, int(number))).integers(0, 128, shape, dtype=numpy.uint8)
        row, column = divmod(int(self.labels[number]) % 16, 4)
        pixels[row * height // 4 : (row + 1) * height // 4, column * width // 4 : (column + 1) * width // 4] += 100
        return Image.fromarray(pixels)

    def mask(self, number, border):
        """A rectangle of the image's class, with a border of no class where the set has such."""
        import numpy
        from PIL import Image

        width, height = self.size
        pixels = numpy.zeros((height, width), dtype=numpy.uint8)
        if border is not None:
            pixels[height // 4 - 2 : height * 3 // 4 + 2, width // 4 - 2 : width * 3 // 4 + 2] = border
        pixels[height // 4 : height * 3 // 4, width // 4 : width * 3 // 4] = int(self.labels[number])
        return Image.fromarray(pixels)


def _pairs(name, base):
    """A set of photographs with a class, or a mask, each."""
    segmented = SEGMENTED.get(name)
    classes, size = (segmented[0], (320, 240)) if segmented else CLASSIFIED[name]

    class Made(base):
        def __init__(self, root="", *args, **options):
            given = _begun(self, base, root, args, options)
            self._drawn = _Drawn(_count(_trains(given)), size, classes, 11, name in GREY)
            asked = given.get("target_types", "")
            asked = asked[0] if isinstance(asked, (list, tuple)) else asked
            self._masks = bool(segmented) and (name != "OxfordIIITPet" or asked == "segmentation")
            self.classes = [f"class{number}" for number in range(classes)]
            self.class_to_idx = {kind: number for number, kind in enumerate(self.classes)}
            self.targets = [int(label) for label in self._drawn.labels]

        def __len__(self):
            return len(self.targets)

        def __getitem__(self, index):
            image, target = self._drawn.image(index), self._drawn.mask(index, segmented[1]) if self._masks else self.targets[index]
            return (image, target) if self.transforms is None else self.transforms(image, target)

        def __repr__(self):
            return f"{name} (made up, {len(self)} samples)"

    return _named(Made, base)


class Own(dict):
    """Weights, or a checkpoint with them, that stand for those that a model has."""

    def __missing__(self, key):
        return self


def own_weights(torch):
    """Weights that would be downloaded are those that the model has."""
    import torch_calls

    torch.hub.load_state_dict_from_url = lambda *_, **__: Own()
    torch_calls.around(
        torch.nn.Module, "load_state_dict",
        lambda original, self, state, *args, **kwargs: None if isinstance(state, Own) else original(self, state, *args, **kwargs))


def _own_weights_of_torchvision(torch):
    import torchvision.models._api as api

    own_weights(torch)
    api.load_state_dict_from_url = torch.hub.load_state_dict_from_url


# ------------------------------------------------------------------------------------------------ Keras


def keras(module, name):
    """Puts data in the place of a download of `keras.datasets`, as https://keras.io/api/datasets/ describes each."""
    if COUNT:
        module.load_data = KERAS[name]


def _keras_images(shape, classes, column):
    def load_data(*_, **__):
        def part(train):
            images, labels = _images(_count(train), shape, classes, 21 + train)
            return images, labels.astype("uint8")[:, None] if column else labels.astype("uint8")

        return part(True), part(False)

    return load_data


def _keras_words(classes):
    def load_data(path=None, num_words=None, skip_top=0, maxlen=None, seed=113, start_char=1, oov_char=2, index_from=3, **__):
        import numpy

        def part(train):
            draw = numpy.random.default_rng(31 + train)
            most = min(maxlen or 200, 200)
            texts = [[start_char or index_from, *draw.integers(index_from + 1, num_words or 10000, draw.integers(most // 4, most)).tolist()][:most]
                     for _ in range(_count(train))]
            return numpy.array([*texts, None], dtype=object)[:-1], draw.integers(0, classes, _count(train))

        return part(True), part(False)

    return load_data


def _keras_houses(columns):
    def load_data(*_, **__):
        import numpy

        def part(train):
            draw = numpy.random.default_rng(41 + train)
            houses = draw.normal(size=(_count(train), columns))
            return houses, 20 + houses.sum(axis=1) + draw.normal(size=_count(train))

        return part(True), part(False)

    return load_data


KERAS = {
    "mnist": _keras_images((28, 28), 10, False), "fashion_mnist": _keras_images((28, 28), 10, False),
    "cifar10": _keras_images((32, 32, 3), 10, True), "cifar100": _keras_images((32, 32, 3), 100, True),
    "imdb": _keras_words(2), "reuters": _keras_words(46), "boston_housing": _keras_houses(13), "california_housing": _keras_houses(8),
}
