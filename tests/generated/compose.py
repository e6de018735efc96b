"""Draws programs, so that all pairs of habits that go together occur."""

import itertools
import random

import registry
import structures
from draft import Draft

registry.load()
# The share of sparse programs, and of the plain habits in one.
SPARSE, PLAIN = 0.6, 0.7


def write(habits, seed, opaque=False):
    """The program of the chosen habits, one for each dimension; all else is drawn from the seed."""
    draft = Draft(habits, seed)
    for dimension in registry.ORDER:
        registry.DIMENSIONS[dimension][habits[dimension]].write(draft)
    return structures.Assembly(draft, opaque).program()


def pairs(habits):
    return {frozenset(pair) for pair in itertools.combinations(habits.items(), 2)}


def possible_pairs():
    """All pairs of habits that don't exclude one another. Few of them may still go with no third."""
    return {frozenset({(a, x), (b, y)}) for a, b in itertools.combinations(registry.ORDER, 2)
            for x, y in itertools.product(registry.DIMENSIONS[a], registry.DIMENSIONS[b]) if registry.fits({a: x, b: y})}


def complete(chosen, rng, prefer=None):
    """Habits for all dimensions that go with those chosen, or None. `prefer` orders the candidates of a dimension."""
    chosen = dict(chosen)
    if not registry.fits(chosen):
        return None
    order = [dimension for dimension in registry.ORDER if dimension not in chosen]
    rng.shuffle(order)
    return _extend(chosen, order, rng, prefer, [400])


def _extend(chosen, order, rng, prefer, budget):
    if not order:
        return chosen
    candidates = registry.fitting(order[0], chosen)
    rng.shuffle(candidates)
    if prefer:
        candidates.sort(key=lambda name: -prefer(order[0], name, chosen))
    for name in candidates:
        budget[0] -= 1
        if budget[0] < 0:
            return None
        found = _extend({**chosen, order[0]: name}, order[1:], rng, prefer, budget)
        if found is not None:
            return found
    return None


def _dense(left):
    return lambda dimension, name, chosen: sum(frozenset({(dimension, name), other}) in left for other in chosen.items())


def _sparse(rng):
    plain = registry.plain()
    kept = {dimension for dimension in plain if rng.random() < PLAIN}
    return lambda dimension, name, chosen: dimension in kept and name == plain[dimension]


def plan(seed, count, only=(), wanted=None):
    """Habits of so many programs: each begins with a pair that none had yet. A dense one takes what covers the most others; a sparse one is
    otherwise plain, since few ports take everything at once. `only` are habits that every one has."""
    rng = random.Random(f"plan {seed}")
    fixed = {dimension: name for name in only for dimension, habits in registry.DIMENSIONS.items() if name in habits}
    left = set(possible_pairs() if wanted is None else wanted)
    for _ in range(count):
        begin = sorted(tuple(sorted(pair)) for pair in left if all(fixed.get(d, n) == n for d, n in pair))
        start = {**(dict(rng.choice(begin)) if begin else {}), **fixed}
        prefer = _sparse(rng) if rng.random() < SPARSE else _dense(left) if begin else None
        habits = complete(start, rng, prefer)
        while habits is None:
            # The pair goes with no third habit of some dimension, or the search was too short.
            left.discard(frozenset(pair for pair in start.items() if pair not in fixed.items()))
            start = dict(fixed)
            habits = complete(start, rng, prefer)
        left -= pairs(habits)
        yield {dimension: habits[dimension] for dimension in registry.ORDER}
