"""`keras.ipu` of Graphcore's Keras: stages of a pipeline.

Source: https://docs.graphcore.ai/projects/tensorflow2-keras (`keras.ipu.PipelineStage`).
"""

from keras_machine import STAGES


class PipelineStage:
    def __init__(self, stage):
        self.stage = stage

    def __enter__(self):
        STAGES.append(self.stage)
        return self

    def __exit__(self, *_):
        STAGES.pop()
        return False
