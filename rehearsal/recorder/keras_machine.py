"""What an accelerator's module adds to Keras: it is asked when a model is built, compiled and run.

Without one, nothing is asked of the program. The real Keras (`keras_calls`) and the stand-in without numbers (`tf/`) ask the same.
"""

# The pipeline stages that are open.
STAGES = []


class Machine:
    def used(self, what, model=None):
        """A model is made, compiled, fitted, evaluated."""

    def compiled(self, model):
        """`compile` was called; its arguments are on the model."""

    def batches(self, model, samples, batch_size, whole, count):
        """Data are about to be fed."""

    def update(self, model):
        """How many batches an update of the weights takes, and by what each one's gradient is multiplied before all are summed."""
        return 1, 1.0

    def trains(self):
        """Whether what is trained now is on the accelerator."""
        return False


CURRENT = [Machine()]


def machine():
    return CURRENT[-1]
