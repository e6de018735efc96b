"""The file that defines the loader; some programs import it from here."""

from . import DataLoader  # noqa: F401
