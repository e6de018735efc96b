"""What the loader of the card's libraries says."""

from stand_in_calls import record


def is_habana_available():
    return True


def load_habana_module():
    record("load_habana_module")
