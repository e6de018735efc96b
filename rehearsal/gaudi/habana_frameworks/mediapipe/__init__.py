"""Media on the card: its names alone, which lightning-habana asks for at import. Images are decoded on the host here."""

from . import fn  # noqa: F401
