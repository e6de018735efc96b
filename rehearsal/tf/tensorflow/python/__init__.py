"""Where the vendor's `ipu` module lives, on a machine that has it."""

import pkgutil

__path__ = pkgutil.extend_path(__path__, __name__)
