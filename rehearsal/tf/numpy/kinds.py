"""Types of elements, and arrays of records."""

import datetime as _datetime


class dtype(str):
    """A type of element by its name, or the fields of a record; called, it converts."""

    def __new__(cls, kind="float64"):
        if isinstance(kind, cls):
            return kind
        if isinstance(kind, list):
            made = super().__new__(cls, "void")
            made.fields = [entry[0] for entry in kind]
            return made
        names = {float: "float64", int: "int64", bool: "bool"}
        made = super().__new__(cls, names.get(kind, kind))
        made.fields = None
        return made

    def __call__(self, value=0):
        if hasattr(value, "astype"):
            return value.astype(self)
        return int(value) if "int" in self else bool(value) if self == "bool" else float(value)

    name = property(str)
    names = property(lambda self: self.fields)


def datetime64(value, unit=None):
    return value if isinstance(value, _datetime.datetime) else _datetime.datetime.fromisoformat(value)


def timedelta64(value, unit="us"):
    return _datetime.timedelta(**{{"us": "microseconds", "ms": "milliseconds", "s": "seconds"}[unit]: value})


class Records:
    """Rows of named fields; a name gives a column, a number a row."""

    def __init__(self, length, kind):
        self.dtype = kind
        self._rows = []
        self.resize(length)

    shape = property(lambda self: (len(self._rows),))

    def resize(self, length, refcheck=True):
        length = length[0] if isinstance(length, tuple) else length
        self._rows = self._rows[:length] + [dict.fromkeys(self.dtype.fields, 0) for _ in range(length - len(self._rows))]

    def __len__(self):
        return len(self._rows)

    def __getitem__(self, key):
        return [row[key] for row in self._rows] if isinstance(key, str) else self._rows[key]

    def __setitem__(self, key, values):
        if not isinstance(key, str):
            self._rows[key] = dict(zip(self.dtype.fields, values))
            return
        for row, value in zip(self._rows, values):
            row[key] = value
