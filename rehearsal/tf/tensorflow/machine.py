"""What an accelerator's module adds to Keras: it is asked when a model is built, compiled and run.

Without one, nothing is asked of the program.
"""


class Machine:
    def used(self, what, model=None):
        """A model is made, compiled, fitted, evaluated."""

    def compiled(self, model):
        """`compile` was called; its arguments are on the model."""

    def batches(self, model, samples, batch_size, whole, count):
        """Data are about to be fed."""


CURRENT = [Machine()]


def machine():
    return CURRENT[-1]
