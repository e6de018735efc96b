"""`poptorch.Options`: set by methods that give the object back, frozen once a loader or a model took them.

Source: https://github.com/graphcore/poptorch, `python/options.py` and `python/_options_impl.py` (`OptionsDict.set`, `checkIsFrozen`).
"""

import copy

from contracts import kept, refused, require

from .enums import MeanReductionStrategy, OutputMode, ReductionType


class Group:
    """A set of options. `methods` maps the setter to (name of the value, default, type)."""

    methods = {}

    def __init__(self):
        object.__setattr__(self, "values", {name: default for name, default, _ in self.methods.values() if default is not None})
        object.__setattr__(self, "frozen", False)

    def __getattr__(self, name):
        if name.startswith("__") or name in ("values", "frozen"):
            raise AttributeError(name)
        if name in type(self).methods:
            return lambda *args, **kwargs: self._set(name, *args, **kwargs)
        if name in self.values:
            return self.values[name]
        raise AttributeError(f"poptorch options have no {name!r}")

    def __setattr__(self, name, value):
        if name in type(self).methods:
            raise refused("ipu.options", f"{name} is a method: write {name}({value!r})")
        object.__setattr__(self, name, value)

    def _set(self, method, *args, **kwargs):
        require("ipu.frozen-options", not self.frozen, f"{method}(…) after a loader or a model took the options: they are frozen")
        value_name, _, kind = self.methods[method]
        values = [*args, *kwargs.values()]
        value = values[0] if values else True
        if kind is not None and (not isinstance(value, kind) or (kind is int and isinstance(value, bool))):
            raise refused("ipu.options", f"{method} takes {kind.__name__}, not {type(value).__name__} {value!r}")
        if kind is int and method != "randomSeed" and value < 1:
            raise refused("ipu.options", f"{method}({value}): at least 1")
        self.values[value_name] = value
        return self

    def exists(self, name):
        return name in self.values


class Training(Group):
    methods = {
        "gradientAccumulation": ("gradient_accumulation", 1, int),
        "accumulationAndReplicationReductionType": ("reduction_type", ReductionType.Mean, ReductionType),
        "setMeanAccumulationAndReplicationReductionStrategy": ("reduction_strategy", MeanReductionStrategy.Post, MeanReductionStrategy),
        "setAutomaticLossScaling": ("auto_loss_scaling", False, bool),
        "setConvolutionDithering": ("dithering", False, bool),
    }


class Precision(Group):
    methods = {
        "setPartialsType": ("partials_type", None, None),
        "enableStochasticRounding": ("stochastic_rounding", False, bool),
        "enableFloatingPointExceptions": ("exceptions", False, bool),
        "halfFloatCasting": ("half_float_casting", None, None),
        "runningStatisticsAlwaysFloat": ("running_statistics_always_float", True, bool),
    }


class Distributed(Group):
    methods = {"disable": ("disabled", None, None), "setEnvVarNames": ("names", None, None)}
    numProcesses, processId = 1, 0

    def configureProcessId(self, process_id, num_processes):
        require("ipu.frozen-options", not self.frozen, "configureProcessId(…) after the options were frozen")
        object.__setattr__(self, "processId", process_id)
        object.__setattr__(self, "numProcesses", num_processes)
        return self


class Jit(Group):
    methods = {"traceModel": ("trace_model", False, bool)}


class TensorLocations(Group):
    methods = {
        name: (name, None, None)
        for name in ("numIOTiles", "setActivationLocation", "setWeightLocation", "setOptimizerLocation", "setAccumulatorLocation")
    }


class Popart(Group):
    methods = {name: (name, None, None) for name in ("set", "setEngineOptions", "setPatterns")}


class Options(Group):
    methods = {
        "deviceIterations": ("device_iterations", 1, int),
        "replicationFactor": ("replication_factor", 1, int),
        "randomSeed": ("random_seed", None, int),
        "outputMode": ("output_mode", OutputMode.Default, OutputMode),
        "enableExecutableCaching": ("cache_path", None, str),
        "useIpuModel": ("ipu_model", False, bool),
        "useIpuId": ("ipu_id", None, int),
        "useOfflineIpuTarget": ("offline", None, None),
        "setExecutionStrategy": ("execution_strategy", None, None),
        "setAvailableMemoryProportion": ("memory_proportion", None, None),
        "connectionType": ("connection_type", None, None),
        "syncPattern": ("sync_pattern", None, None),
        "autoRoundNumIPUs": ("auto_round", False, bool),
        "showCompilationProgressBar": ("progress_bar", True, bool),
        "enableStableNorm": ("stable_norm", False, bool),
        "enableSyntheticData": ("synthetic_data", False, bool),
        "logCycleCount": ("log_cycles", False, bool),
        "enableProfiling": ("profiling", None, None),
        "logDir": ("log_dir", None, str),
        "modelName": ("model_name", None, str),
        "loadFromFile": ("file", None, str),
        "relaxOptimizerAttributesChecks": ("relaxed", False, bool),
        "broadcastBuffers": ("broadcast_buffers", True, bool),
        "inputReplicaGrouping": ("input_groups", None, None),
        "updatableNamedBuffers": ("updatable_buffers", None, list),
        "disableModuleNamescope": ("no_namescope", None, None),
        "maxRepeatLogs": ("max_repeat_logs", None, None),
        "sourceLocationExcludes": ("excludes", None, None),
        "appendToLocationExcludes": ("more_excludes", None, None),
        "anchorTensor": ("anchors", None, None),
    }
    parts = {
        "Training": Training, "Precision": Precision, "Distributed": Distributed, "Jit": Jit, "TensorLocations": TensorLocations,
        "_Popart": Popart,
    }

    def __init__(self):
        super().__init__()
        for name, kind in self.parts.items():
            object.__setattr__(self, name, kind())

    def defaultOutputMode(self):
        return self.values["output_mode"] == OutputMode.Default

    def freeze(self):
        for group in (self, *(getattr(self, name) for name in self.parts)):
            object.__setattr__(group, "frozen", True)
        kept("ipu.frozen-options")

    def clone(self):
        other = copy.deepcopy(self)
        for group in (other, *(getattr(other, name) for name in self.parts)):
            object.__setattr__(group, "frozen", False)
        return other

    @property
    def batches_per_call(self):
        """How many micro-batches one call of the model takes."""
        return self.device_iterations * self.replication_factor * self.Training.gradient_accumulation

    def toDict(self):
        return {**self.values, **self.Training.values}
