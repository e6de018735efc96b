"""A program in parts, before it has names and a structure.

Habits write lines into the parts. `$role` in a line stands for a value whose name, and the place where it lives, are decided when the
program is put together (`structures.py`).
"""

import random
import textwrap


class Draft:
    """The parts, in the order in which they run."""

    def __init__(self, habits, seed):
        self.habits, self.seed = habits, seed
        self.imports = ["import torch", "from torch import nn"]
        self.settings, self.files = {"lr": 0.05, "epochs": 2, "batch_size": 8}, {}
        self.structure, self.form, self.main_parameters = "script", None, False
        # Definitions, by the file that they would be in.
        self.models, self.datasets, self.helpers = [], [], []
        # The task: what goes in (`vector`, `image`, `tokens`, `sequence`), and what comes out (`class`, `value`, or the `same` again).
        self.kind, self.task, self.outputs, self.same, self.model = "vector", "class", 3, False, ""
        # How a value is moved to the device; a batch may be moved otherwise, or under a condition.
        self.move, self.move_batch, self.move_under = "{}.to($device)", None, None
        # Before training, in this order.
        self.seeds, self.devices, self.data = [], [], []
        self.after_model, self.setup_loss, self.setup_scaler, self.setup_schedule, self.setup_extra = [], [], [], [], []
        self.parameters, self.optimizer = "$model.parameters()", ""
        self.loader_options, self.loader_kwargs, self.valid_batch, self.place = {"train": ["shuffle=True"], "valid": []}, False, "$batch_size", None
        # Training: `item` is the loop's target. `slices`: there is no loader.
        self.item, self.unpack, self.slices, self.counts_batches, self.draws = "$x, $y", [], False, False, False
        self.before_epochs, self.begin_epoch, self.report, self.end_epoch, self.finish = [], [], [], [], []
        self.before_batch, self.before_forward, self.forward = [], [], ["$out = $model($x)"]
        self.loss, self.more_loss, self.valid_loss = [], [], []
        self.order, self.clear, self.autocast, self.scaled = "clear first", ["$optimizer.zero_grad()"], None, False
        self.accumulate, self.rest, self.scale_loss, self.divide_in_place = None, None, "$loss", False
        self.before_backward, self.after_backward, self.clip, self.per_update, self.after_update, self.after_step = [], [], [], [], [], []
        # Evaluation: `inline`, in a `function`, or `after` training; or `phases` of one loop.
        self.evaluation, self.evaluation_place, self.evaluation_when, self.decorator, self.phases = [], None, None, None, False

    def random(self, what):
        """A generator for one choice: what another habit draws doesn't change it."""
        return random.Random(f"{self.seed}/{what}")

    def draw(self, what, *choices):
        return self.random(what).choice(choices)

    def use(self, *lines):
        self.imports += [line for line in lines if line not in self.imports]

    def on_device(self, expression):
        return self.move.replace("{}", expression)


def text(block):
    """The lines of an indented block."""
    return textwrap.dedent(block).strip("\n").splitlines()


def indent(lines):
    return ["    " + line if line else line for line in lines]
