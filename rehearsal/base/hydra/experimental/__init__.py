"""Names that Hydra 1.0 kept here."""

from hydra import compose, initialize, initialize_config_dir  # noqa: F401
