from stand_in_calls import record


def load_habana_module():
    record("load_habana_module")
