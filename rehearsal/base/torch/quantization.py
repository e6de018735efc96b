from stand_in_calls import record


def get_default_qat_qconfig(_):
    return None


def prepare_qat(module):
    record("prepare_qat")
    return module


def convert(module):
    record("quantization.convert")
    return module
