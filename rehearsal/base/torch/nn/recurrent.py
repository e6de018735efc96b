"""Recurrent networks and their cells."""

from . import _Layer, weight


class _Recurrent(_Layer):
    def __init__(self, input_size, hidden_size, num_layers=1, *_, batch_first=False, bidirectional=False, **__):
        self.hidden_size, self.num_layers, self.batch_first = hidden_size, num_layers, batch_first
        self.directions = 2 if bidirectional else 1
        self.weight_ih_l0, self.weight_hh_l0 = weight(hidden_size, input_size), weight(hidden_size, hidden_size)

    def flatten_parameters(self):
        return None

    def forward(self, x, state=None):
        out = self.result(x, x.shape[:-1] + (self.hidden_size * self.directions,))
        batch = x.shape[0 if self.batch_first else 1 :][:1] if len(x.shape) > 2 else ()
        last = out.like(shape=(self.num_layers * self.directions, *batch, self.hidden_size))
        return out, self.state(last)

    @staticmethod
    def state(last):
        return last


class RNN(_Recurrent):
    pass


class GRU(_Recurrent):
    pass


class LSTM(_Recurrent):
    @staticmethod
    def state(last):
        return last, last


class RNNCell(_Layer):
    def __init__(self, input_size, hidden_size, *_, **__):
        self.hidden_size = hidden_size
        self.weight_ih, self.weight_hh = weight(hidden_size, input_size), weight(hidden_size, hidden_size)

    def forward(self, x, state=None):
        return self.result(x, x.shape[:-1] + (self.hidden_size,))


class GRUCell(RNNCell):
    pass


class LSTMCell(RNNCell):
    def forward(self, x, state=None):
        out = super().forward(x)
        return out, out


__all__ = ["RNN", "GRU", "LSTM", "RNNCell", "GRUCell", "LSTMCell"]
