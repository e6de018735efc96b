"""Python reads this at its start when the folder is on PYTHONPATH; `rehearse.py` imports `habits` itself."""

import habits  # noqa: F401
