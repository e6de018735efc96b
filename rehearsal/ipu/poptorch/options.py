"""`poptorch.Options`: set by methods that give the object back, frozen once a loader or a model took them.

Source: https://github.com/graphcore/poptorch, `python/options.py` and `python/_options_impl.py` (`OptionsDict.set`, `checkIsFrozen`).
"""

import copy
import os

import torch
from contracts import kept, refused, require

from .enums import CommGroupType, MeanReductionStrategy, OutputMode, ReductionType


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
            raise refused("ipu.options", f"{name} is a method: use {name}({value!r})")
        object.__setattr__(self, name, value)

    def _set(self, method, *args, **kwargs):
        require("ipu.frozen-options", not self.frozen, f"{method}(…) after the options were passed to a loader or a model: they are frozen")
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
        "accumulationAndReplicationReductionType": ("accumulation_and_replication_reduction_type", ReductionType.Mean, ReductionType),
        "setMeanAccumulationAndReplicationReductionStrategy": (
            "meanAccumulationAndReplicationReductionStrategy", MeanReductionStrategy.Post, MeanReductionStrategy),
        "setAutomaticLossScaling": ("auto_loss_scaling", False, bool),
        "setConvolutionDithering": ("dithering", False, bool),
    }

    def accumulationAndReplicationReductionType(self, reduction_type):
        require("ipu.options", reduction_type in (ReductionType.Sum, ReductionType.Mean),
                "accumulationAndReplicationReductionType takes ReductionType.Mean or ReductionType.Sum")
        return self._set("accumulationAndReplicationReductionType", reduction_type)


class Precision(Group):
    methods = {
        "setPartialsType": ("partials_type", None, None),
        "enableStochasticRounding": ("stochastic_rounding", False, bool),
        "enableFloatingPointExceptions": ("exceptions", False, bool),
        "halfFloatCasting": ("half_float_casting", None, None),
        "runningStatisticsAlwaysFloat": ("running_statistics_always_float", True, bool),
    }


class Distributed(Group):
    """Which process of how many this is; by default what OpenMPI's launcher says."""

    def __init__(self):
        super().__init__()
        self.setEnvVarNames("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK")

    def disable(self):
        return self.configureProcessId(0, 1)

    def setEnvVarNames(self, var_num_processes, var_process_id):
        return self.configureProcessId(int(os.environ.get(var_process_id, "0")), int(os.environ.get(var_num_processes, "1")))

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
        self.values.update(output_mode=OutputMode.Default, output_return_period=1, input_group_size=1, input_cgt=CommGroupType.Consecutive,
                           anchored_tensors={})
        for name, kind in self.parts.items():
            object.__setattr__(self, name, kind())

    def outputMode(self, output_mode, output_return_period=None):
        require("ipu.frozen-options", not self.frozen, "outputMode(…) after the options were passed to a loader or a model: they are frozen")
        require("ipu.options", isinstance(output_mode, OutputMode), f"outputMode takes poptorch.OutputMode, not {output_mode!r}")
        require("ipu.options", output_mode != OutputMode.EveryN or (output_return_period or 0) > 0,
                "OutputMode.EveryN takes a period: outputMode(poptorch.OutputMode.EveryN, N)")
        self.values.update(output_mode=output_mode, output_return_period=output_return_period or 1)
        return self

    def randomSeed(self, random_seed):
        """The seed of the IPU's random numbers, and of PyTorch's on the host."""
        self._set("randomSeed", random_seed)
        torch.manual_seed(random_seed)
        return self

    def inputReplicaGrouping(self, input_group_size, input_group_type):
        require("ipu.frozen-options", not self.frozen, "inputReplicaGrouping(…) after the options were frozen")
        if input_group_type == CommGroupType.NoGrouping:
            input_group_size, input_group_type = 1, CommGroupType.Consecutive
        require("ipu.options", input_group_type != CommGroupType.All and self.replication_factor % input_group_size == 0,
                f"inputReplicaGrouping({input_group_size}): a divisor of the replication factor {self.replication_factor}, and not CommGroupType.All")
        self.values.update(input_group_size=input_group_size, input_cgt=input_group_type)
        return self

    def set(self, **values):
        require("ipu.frozen-options", not self.frozen, "set(…) after the options were passed to a loader or a model: they are frozen")
        self.values.update(values)

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
        return self.device_iterations * (self.replication_factor // self.input_group_size) * self.Training.gradient_accumulation

    def toDict(self):
        return {**self.values, **self.Training.values}
