"""The command `portolan`, which this package installs; see `python -m portolan --help`."""
