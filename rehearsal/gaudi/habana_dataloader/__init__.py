"""`habana_dataloader`: PyTorch's loader, with the decoding of images on the card that does not change what is read.

Source: Model-References, PyTorch/computer_vision/classification/torchvision/train.py: `habana_dataloader.HabanaDataLoader` in the place of
`torch.utils.data.DataLoader`.
"""

from torch.utils.data import DataLoader as HabanaDataLoader  # noqa: F401
