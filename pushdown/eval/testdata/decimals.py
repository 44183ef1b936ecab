"""Writes decimal_casts.txt and decimal_arithmetic.txt from DuckDB 1.5.6.

casts: precision scale unscaled | bits of ::DOUBLE | precision scale of the
target and the unscaled result, or err.
arithmetic: precision scale unscaled | operator | the same | precision scale of
the result and the unscaled result, or err."""

import os
import random
import re
import struct
from decimal import Decimal, getcontext

import duckdb

getcontext().prec = 80
random.seed(11)
db = duckdb.connect()


def literal(v, p, s):
    return f"'{format(Decimal(v).scaleb(-s), 'f')}'::decimal({p},{s})"


def unscaled(sql, scale):
    try:
        return int(db.execute("select " + sql).fetchone()[0].scaleb(scale))
    except duckdb.Error:
        return "err"


def number(p):
    return random.randint(0, 10 ** random.randint(1, p) - 1) * random.choice([1, -1])


def cast():
    p = random.choice([1, 3, 4, 5, 9, 10, 17, 18, 19, 20, 25, 30, 37, 38])
    s = random.randint(0, p)
    v = random.choice([number(p), number(p), number(p), 10**p - 1, 1 - 10**p, 5 * 10 ** (s - 1) if 0 < s < p else 0])
    p2 = random.choice([2, 4, 9, 18, 19, 38, 30])
    s2 = random.randint(0, p2)
    if random.random() < 0.5:
        s2 = min(s2, s)
    lit = literal(v, p, s)
    bits = struct.unpack("<Q", struct.pack("<d", db.execute(f"select {lit}::double").fetchone()[0]))[0]
    return f"{p} {s} {v} {bits} {p2} {s2} {unscaled(f'{lit}::decimal({p2},{s2})', s2)}"


def arithmetic():
    p, p2 = random.choice([4, 9, 18, 19, 38]), random.choice([4, 9, 18, 19, 38])
    op, s = random.choice("+-*"), random.randint(0, 3)
    s2 = random.randint(0, 3) if op == "*" else s
    a, b = number(p), number(p2)
    sql = f"{literal(a, p, s)} {op} {literal(b, p2, s2)}"
    precision, scale = map(int, re.findall(r"\d+", str(db.sql(f"select {sql}").types[0])))
    return f"{p} {s} {a} {op} {p2} {s2} {b} {precision} {scale} {unscaled(sql, scale)}"


def write(name, lines):
    with open(os.path.join(os.path.dirname(__file__), name), "w") as f:
        f.writelines(line + "\n" for line in lines)


write("decimal_casts.txt", [cast() for _ in range(700)])
write("decimal_arithmetic.txt", [arithmetic() for _ in range(500)])
