"""The expected values of tests/conformance/attention/pencil_test.cpp, computed pair by pair in double.

It follows engine/README.md (A1 to A13) and conformance/README.md (E1 to E26), not the code.
    python3 tests/conformance/attention/pencil.py
"""
import math
from dataclasses import dataclass, field, replace

import numpy as np

U = 2.0**-24
FORMATS = {"bf16": (2.0**-8, 2.0**-134), "fp16": (2.0**-11, 2.0**-25)}  # u, half the least subnormal
NUMERICS = dict(stage="fp32", store_s="fp32", store_p="fp32", store_dp="fp32", partials="fp32",
                own_stats=False, own_delta=False, u_a=2.0**-24, truncating=False, u_x=0.0, scaled=False,
                lse=False, log_error=2.0**-22, exp_error=2.0**-22, fused=False, phi=2.0**-126, away=False)


def leading_power(x):
    return 2.0 ** np.floor(np.log2(np.where(x > 0, x, 1.0))) * (x > 0)


def h(x, kind):
    """E1 for nearest roundings."""
    x = np.asarray(x, dtype=float)
    if kind == "fp32":
        return np.zeros_like(x)
    u, eta = FORMATS[kind]
    return np.where(x > 0, np.minimum(x, np.maximum(u * leading_power(x), eta)), 0.0)


def growth(x):
    """E6."""
    return np.where(x < 2.0**-12, x * (1 + x), np.expm1(x))


def drift(value, noise, kind, away):
    """E2, A3."""
    if kind == "fp32":
        return np.zeros_like(value)
    u, eta = FORMATS[kind]
    step = np.maximum(2 * u * leading_power(np.abs(value)), 2 * eta)
    steps = value / step
    whole = np.copysign(np.floor(np.abs(steps) + 0.5), steps) if away else np.rint(steps)
    to_tie = (0.5 - np.abs(whole - steps)) * step
    return np.where((noise <= to_tie) | (noise <= step / 16), whole * step - value, 0.0)


@dataclass
class Number:
    """A1: arrays over (row, key)."""
    value: np.ndarray
    rigorous: np.ndarray = 0.0
    additive: np.ndarray = 0.0
    squares: np.ndarray = 0.0
    moment: np.ndarray = 0.0
    shared: np.ndarray = 0.0
    by: list = field(default_factory=lambda: [0.0, 0.0])

    def __add__(x, y):
        return Number(x.value + y.value, x.rigorous + y.rigorous, x.additive + y.additive, x.squares + y.squares,
                      x.moment + y.moment, x.shared + y.shared, [a + b for a, b in zip(x.by, y.by)])

    def times(x, f):
        a = np.abs(f)
        return Number(x.value * f, x.rigorous * a, x.additive * a, x.squares * a * a, x.moment * a * a, x.shared * a,
                      [b * f for b in x.by])

    def __mul__(x, y):
        a, b, second = np.abs(x.value), np.abs(y.value), x.rigorous * y.rigorous
        return Number(x.value * y.value, a * y.rigorous + b * x.rigorous + second, a * y.additive + b * x.additive + second,
                      a * a * y.squares + b * b * x.squares, a * a * y.moment + b * b * x.moment,
                      a * y.shared + b * x.shared + second, [x.value * q + y.value * p for p, q in zip(x.by, y.by)])

    def most(x):
        return np.abs(x.value) + x.rigorous

    def rounded(x, size, times, pair, mean_squares=None):
        e = times * U * size
        both = dict(rigorous=x.rigorous + e, additive=x.additive + e)
        if not pair:
            return replace(x, shared=x.shared + e, **both)
        m = U * U * ((times * size) ** 2 if mean_squares is None else mean_squares)
        return replace(x, squares=x.squares + e * e, moment=x.moment + m, **both)

    def stored(x, kind, size=None, typical=None):
        e = h(x.most() if size is None else size, kind)
        t = e if typical is None else h(typical, kind)
        return replace(x, rigorous=x.rigorous + e, additive=x.additive + e, squares=x.squares + e * e, moment=x.moment + t * t)

    def residue(x, phi):
        return replace(x, rigorous=x.rigorous + phi, additive=x.additive + phi, shared=x.shared + phi)


def dot(value, size, squares, terms, n):
    """A4."""
    narrow = (n.u_k + 2 * n.u_x) * size
    worst = (terms + 4) * n.u_a * size
    moment = n.u_a**2 * ((terms / 2 + 1) * squares + terms / 3 * value**2) + (2 * n.u_x * size) ** 2
    free = 0.0 if n.truncating else ((math.sqrt(terms) + 2) * n.u_a * size) ** 2
    return Number(value, worst + narrow, worst + narrow, free, moment, narrow + (worst if n.truncating else 0.0))


class Numerics:
    def __init__(self, io, **declared):
        self.__dict__.update(NUMERICS | declared)
        self.io = io
        self.u_k = (FORMATS[io][0] if io in FORMATS else U) if self.scaled else 0.0
        self.eta_k = FORMATS[io][1] if self.scaled and io in FORMATS else 0.0


class Problem:
    """Two query heads of 40 rows that share 90 keys; two channels, one of values."""
    heads, queries, keys, dim, dim_v, scale = 2, 40, 90, 2, 1, -0.5

    def __init__(self):
        def numbers(count, seed):
            i = np.arange(count)
            return ((7 * i * i + 3 * i + seed) % 17 - 8) / 4 + 0.125

        def rows(heads, length, dim, seed):  # BNSD
            return numbers(heads * length * dim, seed).reshape(-1, dim)

        self.q, self.k = rows(2, 40, 2, 1), rows(1, 90, 2, 2)
        self.v, self.dy, self.o = rows(1, 90, 1, 3), rows(2, 40, 1, 4), rows(2, 40, 1, 5)
        self.largest = max(np.abs(self.q).sum(axis=1).max(), np.abs(self.k).sum(axis=1).max())
        self.score = self.scale * self.q @ self.k.T
        self.m = self.score.max(axis=1)
        self.z = np.rint(64 * np.exp(self.score - self.m[:, None]).sum(axis=1)) / 64
        # The kernel receives statistics and row terms as fp32, so they are rounded to fp32 here. attention_in has few
        # bits and is exact.
        self.m, self.z = (np.float32(x).astype(float) for x in (self.m, self.z))


def scored(n, scale, score, m, z, bias=0.0, underflow=0.0):
    """E4, E12: the stored scores of pairs. `score`: (sum, magnitudes, squares, terms)."""
    one = np.ones(np.broadcast(score[0], m).shape)
    x = dot(*score, n).times(scale * one)
    x = x.residue(underflow) if underflow else x
    if np.any(bias):
        x = x.stored(n.store_s, np.abs(scale) * score[1] + np.abs(bias)) + Number(bias * one)
    s, b = x.most(), np.abs(bias)
    log = np.abs(np.log(z)) if n.lse else 0.0
    if n.fused:
        x = x.rounded(s + np.abs(m) + log, 2, False)
    if n.lse:
        x = x.rounded(np.abs(m) + log + n.log_error / U * np.maximum(1, log), 1, False)
    return x.rounded(s + b + np.abs(m) + log + 4 / 3, 3, True, 2 * s**2 + b**2 + m**2 + log**2 + 4).stored(n.store_s)


def probability(n, x, z):
    """E5 to E7 for an argument of exp."""
    error = n.exp_error + 4 * U
    prob = np.exp(x.value) / z
    rho = growth(x.rigorous + error)
    return Number(prob, prob * rho, prob * np.maximum(rho - (x.rigorous - x.additive), x.additive), prob**2 * x.squares,
                  prob**2 * x.moment, prob * (x.shared + error + rho**2),
                  [prob * by for by in x.by]).residue(n.phi).stored(n.store_p)


def row_terms(p, n):
    """E9 to E11: delta, omega and zeta, each (rigorous, deviation, shared)."""
    products = p.dy * p.o
    size = np.abs(products).sum(axis=1)
    delta = products.sum(axis=1)
    omega = ((p.dim_v + 4) * U * size, (math.sqrt(p.dim_v) + 2) * U * size, 2 * U * np.abs(delta))
    zeta = (np.zeros(80),) * 3
    m, z = p.m[:, None], p.z[:, None]
    x = scored(n, p.scale, sums(p.q, p.k, p.dim), m, z, underflow=n.eta_k * p.largest)
    prob = np.exp(x.value - m) / z
    entries = p.keys
    if n.own_stats:
        total = prob.sum(axis=1)
        fixed = np.abs(np.log(total)) + (entries + 4) * U + n.exp_error
        zeta = (np.abs(np.log((prob * np.exp(x.rigorous)).sum(axis=1) / total)) + fixed,
                np.sqrt((prob**2 * x.squares).sum(axis=1)), (prob * x.shared).sum(axis=1) + fixed)
    if n.own_delta:
        dp = dot(*sums(p.dy, p.v, p.dim_v), n).stored(n.store_dp)
        delta = (prob * dp.value).sum(axis=1)
        pr = probability(n, x + Number(-m, rigorous=zeta[0][:, None]), z)
        both, size = pr * dp, np.abs(dp.value)
        # If the kernel computes its own statistics, each row of P sums to 1. So an error of the score S changes delta
        # by P (dP - delta).
        t = np.abs(dp.value - delta[:, None]) if n.own_stats else size
        omega = ((both.rigorous + (entries + 4) * U * pr.most() * dp.most()).sum(axis=1),
                 np.sqrt((both.squares + prob**2 * x.squares * (t**2 - size**2)).sum(axis=1)),
                 (both.shared + (t - size) * (pr.shared - n.phi) + (entries + 6) * U * prob * size).sum(axis=1))
    return delta, omega, zeta


def sums(a, b, terms):
    return a @ b.T, np.abs(a) @ np.abs(b).T, a**2 @ (b**2).T, terms


def terms_of(n, scale, score, dprob, rows, bias=0.0, kappa=1.0, kappa_of_call=1.0, underflow=0.0):
    """dS and kappa P of pairs, and the known errors of staging in them. `score` and `dprob`: (sum, magnitudes, squares,
    terms); `rows`: m, z, delta, omega, zeta, each as an array that broadcasts to the pairs."""
    m, z, delta, omega, zeta = rows
    one = np.ones(np.broadcast(score[0], m).shape)
    x = scored(n, scale, score, m, z, bias, underflow)
    pr = probability(n, x + Number(-m * one, rigorous=zeta[0] * one, by=[0.0, -one]), z)
    dp = dot(*dprob, n).times(kappa * one)
    if kappa_of_call != 1:
        dp = dp.rounded(dp.most(), 1, False)
    dp = dp.stored(n.store_dp)
    d = Number(delta * one, rigorous=omega[0] * one, by=[one, 0.0])
    t = (dp + d.times(-1.0)).rounded(dp.most() + d.most(), 2, True)
    ds = pr * t
    ds = ds.rounded(ds.most(), 2, True)
    kept = pr.times(kappa * one)
    kept = kept.rounded(kept.most(), 1, False)

    def staged(y, kind):
        squares, shared = y.moment, y.shared
        for by, of in zip(y.by, (omega, zeta)):
            squares = squares + (by * of[1]) ** 2
            shared = shared + np.abs(by) * of[2]
        known = drift(y.value, 4 * np.sqrt(squares) + shared, kind, n.away)
        return y.stored(kind, typical=np.abs(y.value)), known

    is_stored = n.store_p != "fp32" and kappa_of_call == 1
    return staged(ds, n.stage), staged(kept, "fp32" if is_stored else n.stage)


def pair_terms(p, n, delta, omega, zeta):
    column = lambda x: tuple(y[:, None] for y in x) if isinstance(x, tuple) else x[:, None]
    rows = tuple(column(x) for x in (p.m, p.z, delta, omega, zeta))
    return terms_of(n, p.scale, sums(p.q, p.k, p.dim), sums(p.dy, p.v, p.dim_v), rows, underflow=n.eta_k * p.largest)


def channels(rows):
    """E16: at most 512 evenly spaced rows."""
    gram = rows.T @ rows
    return np.trace(gram) ** 2 / (gram**2).sum()


def finish(p, n, value, magnitude, rig, azuma, linear, squares, core, known, terms, floor, scaled=0.0, partials=0.0,
           heads=0):
    """E18 to E26."""
    lam = math.sqrt(2 * math.log(2 * value.size / 1e-9))
    size = np.abs(value)
    prob = np.abs(known) + lam * np.sqrt(azuma) + linear
    mean_free = True
    inner = np.minimum(rig, prob)
    total, worst = magnitude + rig, terms + 4
    acc_det = worst * n.u_a * total
    acc = acc_det if n.truncating else np.minimum(worst, lam * math.sqrt(terms) + 4) * n.u_a * total
    part = 0.0
    if n.partials != "fp32":
        u_o, eta = FORMATS[n.io]
        part = np.where(magnitude > 0, u_o * partials + 2 * u_o * (size + inner) + (heads + 2) * eta, 0.0)
    extra = 2 * n.u_x * total + scaled + 2 * U * size + part + floor
    tau = inner + acc + extra + h(size + extra + inner + acc, n.io)
    tau_det = rig + acc_det + extra + h(size + extra + rig + acc_det, n.io)
    h_o = h(size, n.io)
    variance = (core / 3 + linear**2 / 81 + n.u_a**2 * terms / 3 * (value**2 + squares) + h_o**2 / 3
                + 2 * n.u_x**2 * squares / 3 + part**2 / 6 + (scaled / 2) ** 2 / 3 + 4 * (U * value) ** 2 / 3 + floor**2)
    radius = 2.0**-27 * (rig + acc_det) + 2.0**-52 * size
    return dict(value=value, tau=tau, tau_det=tau_det, sigma=np.sqrt(variance), floor=floor + 0 * value, drift=known,
                radius=radius)


def tensors(n):
    p = Problem()
    delta, omega, zeta = row_terms(p, n)
    (ds, ds_drift), (kept, kept_drift) = pair_terms(p, n, delta, omega, zeta)
    scale, f2 = abs(p.scale), p.scale**2
    third = lambda m, s: m + s * s / 3
    # E23
    row_floor = np.sqrt((p.dy**2).sum(axis=1) * (p.v**2).sum(axis=1).max()) + np.abs(p.dy * p.o).sum(axis=1)
    floors = (n.phi * row_floor[:, None] * scale * np.abs(p.k).sum(axis=0), n.phi * scale * (row_floor @ np.abs(p.q)),
              n.phi * np.abs(p.dy).sum(axis=0))
    out = []
    # dq: A8
    k, k2 = np.abs(p.k), p.k**2
    signed = [(np.broadcast_to(b, ds.value.shape)) @ p.k for b in ds.by]
    rig, az = ds.additive @ k, ds.squares @ k2
    core, lin = third(ds.moment, ds.shared) @ k2, ds.shared @ k
    for s, of in zip(signed, (omega, zeta)):
        s = np.abs(s)
        rig = rig + s * of[0][:, None]
        az = az + (s * of[1][:, None]) ** 2
        core = core + third((s * of[1][:, None]) ** 2, s * of[2][:, None])
        lin = lin + s * of[2][:, None]
    scaled = 2 * (n.u_k * scale * np.abs(ds.value) @ k + n.eta_k * np.abs(ds.value).sum(axis=1)[:, None])
    e = finish(p, n, p.scale * ds.value @ p.k, scale * np.abs(ds.value) @ k, scale * rig, f2 * az, scale * lin,
               f2 * ds.value**2 @ k2, f2 * core, p.scale * ds_drift @ p.k, p.keys, floors[0], scaled)
    spread = ds.moment * k2.sum(axis=1)
    e["share"] = 1 / channels(p.k) + (spread**2).sum(axis=1) / spread.sum(axis=1) ** 2
    out.append(e)
    # Errors of dk and dv: equation A9 of engine/README.md.
    for y, known, x, factor, floor in ((ds, ds_drift, p.q, p.scale, floors[1]), (kept, kept_drift, p.dy, 1.0, floors[2])):
        a, a2, f = np.abs(x), x**2, abs(factor)
        free, shared = 0.0, y.shared
        for by, of in zip(y.by, (omega, zeta)):
            free = free + (by * of[1][:, None]) ** 2
            shared = shared + np.abs(by) * of[2][:, None]
        partials = sum(np.abs(y.value[40 * i:40 * i + 40].T @ x[40 * i:40 * i + 40]) for i in range(2))
        e = finish(p, n, factor * y.value.T @ x, f * np.abs(y.value).T @ a, f * y.rigorous.T @ a,
                   factor**2 * (y.squares + free).T @ a2, f * shared.T @ a, factor**2 * (y.value**2).T @ a2,
                   factor**2 * third(y.moment + free, shared).T @ a2, factor * known.T @ x, 80, floor,
                   partials=f * partials, heads=2)
        spread = y.moment * a2.sum(axis=1)[:, None]
        e["share"] = 1 / channels(x) + (spread**2).sum(axis=0) / spread.sum(axis=0) ** 2
        out.append(e)
    return out


LINES = {
    "nothing staged": Numerics("fp32"),
    "staged in bf16, sums of heads in bf16": Numerics("bf16", stage="bf16", partials="bf16"),
    "fp16 of everything, its own": Numerics("fp16", store_s="fp16", store_p="fp16", store_dp="fp16", stage="fp16",
                                            own_stats=True, own_delta=True, exp_error=2.0**-18, phi=2.0**-30),
    "tf32 operands, one of them scaled, truncating sums": Numerics("fp32", u_x=2.0**-11, u_a=2.0**-23, truncating=True,
                                                                   scaled=True, phi=2.0**-40),
    "sums of heads and a scaled operand in fp16": Numerics("fp16", stage="fp16", partials="fp16", scaled=True),
    "a row term of its own": Numerics("bf16", stage="bf16", own_delta=True),
    "own statistics, fused": Numerics("fp32", own_stats=True, own_delta=True, fused=True, phi=2.0**-50),
}

PAIRS = {  # the value says whether the pair has a bias and dropout
    "nothing staged, with a bias and dropout": (Numerics("bf16"), True),
    "everything stored, operands short and scaled": (
        Numerics("bf16", store_s="bf16", store_p="bf16", store_dp="bf16", stage="bf16", u_x=2.0**-11, scaled=True, lse=True,
                 log_error=2.0**-12, exp_error=2.0**-18, fused=True, phi=2.0**-40), False),
    "stored scores with a bias, dropped": (Numerics("bf16", store_s="bf16", store_p="bf16", stage="bf16", phi=2.0**-30),
                                           True),
    "truncating sums": (Numerics("bf16", u_a=2.0**-23, truncating=True, phi=2.0**-40), True),
    "staged in fp16": (Numerics("bf16", stage="fp16", away=True), False),
}


def print_pairs():
    """Twelve channels of query and key, nine of value."""
    numbers = lambda *x: tuple(np.array([y]) for y in x)
    rows = numbers(1.5, 2.5, 0.375) + (numbers(2.0**-20, 2.0**-21, 2.0**-22), numbers(2.0**-19, 2.0**-21, 2.0**-20))
    for name, (n, is_dropped) in PAIRS.items():
        print(name)
        for y, known in terms_of(n, -0.5, numbers(3.0, 5.0, 7.0) + (12,), numbers(-2.0, 6.0, 10.0) + (9,), rows,
                                 *((0.75, 1.25, 1.25) if is_dropped else ()), underflow=n.eta_k * 2.0**120):
            all_of = [y.value, y.rigorous, y.additive, y.squares, y.moment, y.shared, *y.by, known]
            print("  {" + ", ".join(f"{float(np.ravel(x)[0]):.15g}" for x in all_of) + "}")


if __name__ == "__main__":
    print_pairs()
    for name, n in LINES.items():
        print(name)
        for e in tensors(n):
            weighed = lambda x: float((np.arange(1, x.size + 1) * x.ravel()).sum())
            print("  {" + ", ".join(f"{weighed(e[what]):.15g}" for what in
                                    ("value", "tau", "tau_det", "sigma", "floor", "drift", "radius", "share")) + "}")
