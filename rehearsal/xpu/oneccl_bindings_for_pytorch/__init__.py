"""oneCCL's bindings, whose import brings the backend `ccl` (intel/torch-ccl, `oneccl_bindings_for_pytorch/__init__.py`)."""

import process_groups

process_groups.BACKENDS.add("ccl")
