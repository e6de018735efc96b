"""`HPUResnetPytorchIterator`, to be a base class."""


class HPUResnetPytorchIterator:
    pass
