"""Python reads this at its start when the folder is on PYTHONPATH; `rehearse.py` imports `start` itself."""

import stand_in_start  # noqa: F401
