"""Asked by DeepSpeed's accelerator for Gaudi. The card is of the first generation, which has no float16."""


def _is_fp16_supported():
    return False
