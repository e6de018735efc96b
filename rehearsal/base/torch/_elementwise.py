"""What works element by element, by name. Of a constant tensor each operation is one reckoning with one number.

Outside of its domain an operation gives 0 where PyTorch has nan: the constant stands for elements that may be inside.
"""

import math


def _inside(function):
    def reckon(*numbers):
        try:
            result = function(*numbers)
        except (ValueError, OverflowError, ZeroDivisionError):
            return 0.0
        return 0.0 if isinstance(result, complex) else result

    return reckon


def _logistic(x):
    return 1.0 / (1.0 + math.exp(-max(min(x, 50.0), -50.0)))


def _sign(x):
    return float((x > 0) - (x < 0))


# Operations whose result is a whole number where the tensor's elements are; all others make floating point of them.
KEEPING = {
    "abs": abs, "neg": lambda x: -x, "positive": lambda x: x, "sign": _sign, "sgn": _sign, "square": lambda x: x * x,
    "floor": math.floor, "ceil": math.ceil, "round": round, "trunc": math.trunc, "frac": lambda x: x - math.trunc(x),
    "relu": lambda x: max(x, 0.0), "nan_to_num": lambda x: x if math.isfinite(x) else 0.0, "bitwise_not": lambda x: ~int(x),
}
FLOATING = {
    **{name: getattr(math, name) for name in (
        "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh log log2 log10 log1p sqrt expm1 erf erfc lgamma".split()
    )},
    "exp": lambda x: math.exp(min(x, 50.0)), "exp2": lambda x: 2.0 ** min(x, 70.0), "rsqrt": lambda x: 1.0 / math.sqrt(x),
    "reciprocal": lambda x: 1.0 / x, "sigmoid": _logistic, "logit": lambda x: math.log(x / (1.0 - x)), "deg2rad": math.radians,
    "rad2deg": math.degrees, "sinc": lambda x: math.sin(math.pi * x) / (math.pi * x) if x else 1.0,
}
PREDICATES = {
    "isnan": math.isnan, "isinf": math.isinf, "isfinite": math.isfinite, "isreal": lambda x: True, "logical_not": lambda x: not x,
    "signbit": lambda x: x < 0,
}
BINARY = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b if b else 0.0,
    "floor_divide": lambda a, b: a // b, "remainder": lambda a, b: a % b, "fmod": math.fmod, "atan2": math.atan2, "hypot": math.hypot,
    "pow": lambda a, b: a**b if a >= 0 else abs(a) ** b, "maximum": max, "minimum": min, "fmax": max, "fmin": min,
    "copysign": math.copysign, "xlogy": lambda a, b: a * math.log(b),
}
COMPARISONS = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "gt": lambda a, b: a > b, "le": lambda a, b: a <= b,
    "ge": lambda a, b: a >= b, "logical_and": lambda a, b: bool(a) and bool(b), "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_xor": lambda a, b: bool(a) != bool(b), "isclose": lambda a, b: abs(a - b) <= 1e-8 + 1e-5 * abs(b),
}
OTHER_NAMES = {
    "absolute": "abs", "negative": "neg", "fix": "trunc", "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div",
    "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "not_equal": "ne", "special_expit": "sigmoid",
    **{f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh")},
}


def _unary(function, keeps):
    def method(self, *_, out=None, **__):
        kind = None if keeps or self.dtype.is_floating_point else self.float().dtype
        return self.like(function(self.value), dtype=kind)

    def in_place(self, *_, **__):
        self.value = float(function(self.value))
        return self

    return method, in_place


def _binary(function, dtype):
    def scaled(other, alpha, rounding_mode):
        def reckon(a, b):
            result = function(a, b if alpha is None else b * alpha)
            return {None: float, "floor": math.floor, "trunc": math.trunc}[rounding_mode](result)

        return reckon

    def method(self, other, *, alpha=None, rounding_mode=None, out=None, **_):
        return self._binary(other, scaled(other, alpha, rounding_mode), dtype)

    def in_place(self, other, *, alpha=None, rounding_mode=None, **_):
        return self._inplace(other, scaled(other, alpha, rounding_mode))

    return method, in_place


def attach(tensor, boolean):
    """Gives the class a method and one in place for each name; gives back the names."""
    pairs = {}
    for table, keeps in ((KEEPING, True), (FLOATING, False)):
        pairs.update({name: _unary(_inside(function), keeps) for name, function in table.items()})
    pairs.update({name: _binary(_inside(function), None) for name, function in BINARY.items()})
    pairs.update({name: _binary(_inside(function), boolean) for name, function in COMPARISONS.items()})
    for name, function in PREDICATES.items():
        pairs[name] = ((lambda f: lambda self: self.like(f(self.value), dtype=boolean))(function), None)
    for name, same in OTHER_NAMES.items():
        pairs[name] = pairs[same]
    for name, (method, in_place) in pairs.items():
        setattr(tensor, name, method)
        if in_place is not None:
            setattr(tensor, name + "_", in_place)
    return sorted(pairs)
