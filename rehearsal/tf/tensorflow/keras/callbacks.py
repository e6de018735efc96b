"""Callbacks of Keras."""


class Callback:
    def __init__(self, *_, **__):
        pass

    def on_train_end(self, logs=None):
        return None


class ModelCheckpoint(Callback):
    pass


class EarlyStopping(Callback):
    pass


class TensorBoard(Callback):
    pass


class ReduceLROnPlateau(Callback):
    pass


class LearningRateScheduler(Callback):
    pass


class CSVLogger(Callback):
    pass
