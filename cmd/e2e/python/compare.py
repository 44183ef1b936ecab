"""Comparison of results: exact, but for doubles, which may differ by 1e-12 relative."""

import decimal
import math


def _key(row):
    return tuple((v is not None, f"{v:.9g}" if isinstance(v, float) else str(v)) for v in row)


def assert_same(got, want, ordered=False, what=""):
    got, want = [tuple(r) for r in got], [tuple(r) for r in want]
    assert len(got) == len(want), f"{what}: {len(got)} rows, want {len(want)}"
    if not ordered:
        got, want = sorted(got, key=_key), sorted(want, key=_key)
    for i, (g, w) in enumerate(zip(got, want)):
        assert len(g) == len(w)
        for a, b in zip(g, w):
            assert same(a, b), f"{what}: row {i}: {g} want {w}"


def same(a, b) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return math.isnan(a) and math.isnan(b) or math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-300)
    if isinstance(a, decimal.Decimal) and type(b) is int:  # HUGEINT travels as decimal128(38, 0)
        return a == b
    return type(a) is type(b) and a == b
