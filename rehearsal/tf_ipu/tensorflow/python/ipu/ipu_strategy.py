"""`IPUStrategy`: what is made and run inside its scope is on the IPU, and nothing else.

Source: https://docs.graphcore.ai/projects/tensorflow-user-guide ("Targeting the IPU from TensorFlow 2"). What replicas do together:
https://github.com/graphcore/tensorflow, `tensorflow/python/ipu/ipu_strategy.py`, where `_num_replicas_in_sync` is 1 however many there are,
so that no loss is divided by their number, and Keras 2.6, `optimizer_v2/utils.py`, which has the strategy *sum* the gradients.
"""

import contextlib

import keras_machine as machines
import twin
from contracts import broken, count_step, expect, kept, require
from stand_in_calls import record

from .state import STATE


class IPUStrategyV1:
    def __init__(self, ipu_device="/device:IPU:0", *_, **__):
        require("tf-ipu.configure-first", STATE.configured, "IPUStrategy() before configure_ipu_system()")
        STATE.strategies += 1
        machines.CURRENT.append(Ipu(self))
        record("ipu.strategy")

    num_replicas_in_sync = 1

    @contextlib.contextmanager
    def scope(self):
        STATE.open.append(self)
        try:
            yield self
        finally:
            STATE.open.pop()

    def run(self, body, args=(), kwargs=None):
        require("tf-ipu.scope", self in STATE.open, "strategy.run outside strategy.scope()")
        count_step()
        twin.RECORD["on_device"] = True
        return body(*args, **(kwargs or {}))

    def reduce(self, kind, value, axis=None):
        return value

    def experimental_distribute_dataset(self, dataset, *_, **__):
        return dataset


IPUStrategy = IPUStrategyV1


class Ipu(machines.Machine):
    """Keras on the IPU."""

    def __init__(self, strategy):
        self.strategy = strategy

    def used(self, what, model=None):
        if STATE.open:
            kept("tf-ipu.scope")
        else:
            broken("tf-ipu.scope", f"a model is {what} outside strategy.scope(): that part stays on the host")
        if what in ("fitted", "evaluated", "asked to predict"):
            count_step()

    def compiled(self, model):
        from .pipelining import check_pipeline

        stages = check_pipeline(model)
        model.replicas = max((STATE.local_replicas or STATE.ipus) // max(stages, 1), 1)
        expect("tf-ipu.replicas", STATE.ipus >= stages, f"{stages} stages and {STATE.ipus} IPUs")
        model.steps_of_a_replica = int(model.steps_per_execution)
        if twin.FILE:
            # Keras counts the batches of all replicas.
            model.steps_per_execution = model.steps_of_a_replica * model.replicas

    def batches(self, model, samples, batch_size, whole, count):
        require("tf-ipu.static-shapes", whole,
                f"{samples} samples are not a multiple of {batch_size}: the last batch has a different shape" if samples else
                "a dataset is batched without drop_remainder=True: the last batch has a different shape")
        replicas = getattr(model, "replicas", 1)
        if count is None:
            broken("tf-ipu.steps-per-execution", "an infinite dataset without a number of steps")
            return
        steps = model.steps_of_a_replica
        require("tf-ipu.steps-per-execution", steps > 0, "steps_per_execution is 0: there are fewer samples than the replicas need together")
        require("tf-ipu.steps-per-execution", count % (steps * replicas) == 0,
                f"{count} batches cannot be divided into executions of {steps} steps on each of {replicas} replicas")
        if model.pipelining:
            require("tf-ipu.pipeline", steps % model.pipelining["gradient_accumulation_steps_per_replica"] == 0,
                    "steps_per_execution is not a multiple of gradient_accumulation_steps_per_replica")

    def update(self, model):
        from .keras_extensions import accumulated

        count, times = accumulated(model)
        replicas = getattr(model, "replicas", 1)
        if not STATE.open or count * replicas == 1:
            return 1, 1.0
        # What a strategy counts as its replicas, Keras divides the loss by.
        times /= self.strategy.num_replicas_in_sync
        batches = count * replicas
        twin.note("batches", f"an update takes {batches} batches, whose gradients are {'summed' if times == 1 else 'averaged'}",
                  count=batches, times=times * batches)
        return batches, times

    def trains(self):
        return bool(STATE.open)
