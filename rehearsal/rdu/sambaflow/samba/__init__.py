"""`sambaflow.samba`: tensors with names, and the session.

Source: https://github.com/sambanova/tutorials (`hello_world/logreg.py`, `lenet/lenet.py`) and https://docs.sambanova.ai/developer/latest/.
"""

from . import optim, session as _session_module, utils  # noqa: F401
from .model import from_torch_, from_torch_model_  # noqa: F401
from .session import SESSION as session  # noqa: F401
from .tensor import SambaTensor, from_torch, from_torch_tensor, ones, rand, randint, randn, to_torch, zeros  # noqa: F401
