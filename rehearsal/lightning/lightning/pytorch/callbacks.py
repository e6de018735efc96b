"""`lightning.pytorch.callbacks`: they are taken, and do nothing."""

from stand_in_calls import record

from .. import Callback


class _Named(Callback):
    best_model_path = last_model_path = ""
    best_model_score = None

    def __init__(self, *_, **options):
        record(type(self).__name__, **options)


class ModelCheckpoint(_Named):
    pass


class EarlyStopping(_Named):
    pass


class LearningRateMonitor(_Named):
    pass


class TQDMProgressBar(_Named):
    pass


class RichProgressBar(_Named):
    pass


class ModelSummary(_Named):
    pass


class Timer(_Named):
    pass
