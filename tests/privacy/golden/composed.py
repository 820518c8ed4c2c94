"""Exact epsilons of many sampled Gaussian steps: python3 composed.py > composed.json
(needs numpy; a minute on one core)

No lattice of losses and no convolution, which is how an accountant does it. With S the privacy loss
of all steps under P, M(s) = integral of P^(1+s) Q^(-s) over one step, and any c > 0,

    delta(epsilon) = E (1 - e^(epsilon - S))_+
                   = 1/(2 pi i) integral over c + i R of e^(-s epsilon) M(s)^steps / (s (s + 1)) ds,

because 1 and -e^(epsilon - S) are the residues at 0 and -1. The line goes near the saddle point:
all terms are of the order of delta, so that a delta of 1e-12 has as many digits as one of 0.1.

 - The sum over t = 0, h, 2h, ... is the integral but for what lies 2 pi / h away: at most
   e^(-2 pi c / h) from below, and from above the Chernoff bound, for which h is chosen.
 - It ends where the integrand has fallen below 1e-15 of its start.
 - M(c + it) is a sum of the density over x, which converges exponentially.
 - `error` is ten times the difference between two lines (other c, so other aliases and another
   tail), the second with half of both steps; it is at least 1e-10 of the value.
 - The first lines of main() compare the method with closed forms before anything is printed.

Kinds (z is the noise in units of the sensitivity under the relation, q the rate):
 - poisson: (1-q) N(0) + q N(1) against N(0), the worse of both orders: add-remove and zero-out.
   With rdp: the best bound by whole Renyi orders up to 512, from the binomial sum [MTZ19] and the
   conversion of [CKS20, Prop. 12], and that order.
 - poisson-replace: (1-q) N(0) + q N(1/2) against (1-q) N(0) + q N(-1/2).
 - fixed-replace, fixed-null: batch of population. `epsilon` is what some data really reach, a lower
   bound on any right answer: all other records at the same point, each choice of which gives a pair.
   For fixed-replace with rdp: the bound of Wang, Balle and Kasiviswanathan (AISTATS 2019,
   Theorem 27).
 - published: poisson, with the epsilon that was printed. `rdp_classic`: by Mironov's conversion
   [Mir17, Prop. 3] at whole and fractional orders, as was usual when these were printed.
"""
import json
import math
import sys

import numpy as np


def log_normal(x, mean, z):
    return -((x - mean) ** 2) / (2 * z * z) - math.log(z * math.sqrt(2 * math.pi))


def log_mixture(x, parts, z):
    terms = [math.log(w) + log_normal(x, m, z) for w, m in parts if w > 0]
    result = terms[0]
    for term in terms[1:]:
        result = np.logaddexp(result, term)
    return result


class Pair:
    """Mixtures of Gaussians with the standard deviation z: lists of (weight, mean)."""

    def __init__(self, p, q, z):
        self.p, self.q, self.z = p, q, z

    def swapped(self):
        return Pair(self.q, self.p, self.z)

    def grid(self, c, largest_t=0.0, fine=1):
        """log Q (with the step) and loss, wherever P, Q or P^(1+c) Q^(-c) have mass."""
        means = [m for _, m in self.p + self.q]
        reach = max(means) - min(means)
        low = min(means) - c * reach - 12 * self.z
        high = max(means) + c * reach + 12 * self.z
        step = 0.25 * min(self.z, self.z**2) / fine
        x = np.arange(low, high, step)
        p, q = log_mixture(x, self.p, self.z), log_mixture(x, self.q, self.z)
        weight = np.maximum(np.maximum((1 + c) * p - c * q, p), q)
        kept = x[weight > weight.max() - 80]
        if largest_t > 0:
            # Two points per turn of e^(itL), except where next to nothing lies.
            slope = np.abs(np.gradient(self.loss(x), step))
            order = np.argsort(slope)
            above = np.cumsum(np.exp(weight - weight.max())[order][::-1])[::-1]
            matters = slope[order][above > 1e-19 * above[0]].max()
            step = min(step, math.pi / (largest_t * matters) / fine)
        x = np.arange(kept[0], kept[-1], step)
        return log_mixture(x, self.q, self.z) + math.log(step), self.loss(x)

    def loss(self, x):
        """log P/Q, exact where it is near 0: both mixtures share their largest component's weight."""
        base = self.q[0][1]
        if len(self.q) == 1 or self.p[0] == self.q[0]:  # a common part (1-q) N(base)
            def ratio(parts):  # sum of w (N(m)/N(base) - 1), whose total is density/N(base) - 1
                return sum(w * np.expm1(np.minimum((m - base) * (2 * x - m - base)
                                                   / (2 * self.z**2), 600)) for w, m in parts)
            up, down = ratio(self.p), ratio(self.q)
            exact = np.log1p(up) - np.log1p(down)
        elif len(self.p) == 1:
            return -self.swapped().loss(x)
        else:
            exact = None
        plain = log_mixture(x, self.p, self.z) - log_mixture(x, self.q, self.z)
        return plain if exact is None else np.where(np.abs(plain) < 1, exact, plain)


def log_moments(log_q, loss, c, t):
    """log M(c + it) for an array t: 1 + E_Q[e^((1+s) L) - 1 - (1+s)(e^L - 1)], as E_Q e^L = 1."""
    size = log_q + (1 + c) * loss
    top = size.max()
    weight = np.exp(size - top)
    log_total = top + math.log(weight.sum())
    q, far = np.exp(log_q), np.abs(loss) > 1
    near = ~far
    out = np.empty(len(t), dtype=complex)
    width = max(1, (1 << 21) // len(loss))
    for i in range(0, len(t), width):
        turn = t[i:i + width, None]
        if log_total > 0.4:
            out[i:i + width] = top + np.log((weight * np.exp(1j * turn * loss)).sum(axis=1))
            continue
        power = 1 + c + 1j * turn
        total = (q[near] * (np.expm1(power * loss[near]) -
                            power * np.expm1(loss[near]))).sum(axis=1)
        total += (np.exp(log_q[far] + power * loss[far]) - q[far] -
                  power * (np.exp(log_q[far] + loss[far]) - q[far])).sum(axis=1)
        out[i:i + width] = log1p_complex(total)
    return out


def log1p_complex(v):
    square = 2 * v.real + v.real**2 + v.imag**2  # of the modulus, less 1; its rounding is 1e-16
    return 0.5 * np.log1p(np.maximum(square, -1 + 1e-15)) + 1j * np.arctan2(v.imag, 1 + v.real)


def log_moment(pair, c):
    return log_moments(*pair.grid(c), c, np.zeros(1))[0].real


class Composition:
    """delta(epsilon) of `steps` copies of a pair along one line."""

    def __init__(self, pair, steps, c, epsilon, fine=1, depth=36):
        self.c = c
        start = log_moment(pair, c) * steps
        scale = start - c * epsilon
        # 2 pi / h: what lies so far below counts e^(-c far), and above by Chernoff at a > c.
        far = (40 + max(0.0, -scale)) / c
        far = max(far, min((log_moment(pair, a) * steps - a * epsilon - scale + 40) / (a - c)
                           for a in (1.05 * c, 1.1 * c, 1.2 * c, 1.5 * c, 2 * c)))
        self.h = 2 * math.pi / far / fine
        # In blocks of doubled length, until the integrand has fallen for good.
        self.t, self.log_m, length = np.empty(0), np.empty(0, dtype=complex), 64 * fine
        while True:
            t = self.h * np.arange(len(self.t), len(self.t) + length)
            m = log_moments(*pair.grid(c, t[-1], fine), c, t) * steps
            self.t, self.log_m = np.append(self.t, t), np.append(self.log_m, m)
            if m.real.max() - start - 2 * math.log1p(t[0] / c) < -depth:
                break
            length = len(self.t)
            assert length < 1 << 14, "the integrand does not fall"

    def delta(self, epsilon):
        s = self.c + 1j * self.t
        terms = (np.exp(self.log_m - s * epsilon) / (s * (s + 1))).real
        terms[0] /= 2
        return math.fsum(terms) * self.h / math.pi


def saddle(pair, steps, delta):
    """Exponent and epsilon of the best Renyi bound: a starting point, nothing more."""
    best = (math.inf, 1.0)
    for c in np.exp(np.linspace(math.log(0.05), math.log(3000), 34)):
        m = log_moment(pair, c) * steps
        epsilon = (m - math.log(delta) - math.log(c + 1) + c * math.log(c / (c + 1))) / c
        best = min(best, (epsilon, c))
    return best


def solve(curve, delta, guess):
    """The epsilon of a delta; 0 where delta(0) is below it."""
    if curve(0.0) <= delta:
        return 0.0
    low, high = 0.0, guess * 2 + 1e-9
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if curve(middle) > delta else (low, middle)
    return (low + high) / 2


def worst(pairs, steps, delta):
    """(epsilon, error) of the worst of the pairs, each along two lines."""
    starts = []
    for pair in pairs:
        guess, c = saddle(pair, steps, delta)
        guess = max(guess, 1e-6)
        rough = solve(Composition(pair, steps, 0.8 * c, guess).delta, delta, guess)
        starts.append((rough, pair, guess, c))
    best = max(start[0] for start in starts)
    found = []
    for rough, pair, guess, c in starts:
        if rough >= 0.99 * best:
            value = solve(Composition(pair, steps, 0.6 * c, guess, fine=2).delta, delta, guess)
            found.append((value, max(10 * abs(value - rough), 1e-10 * value)))
    value, error = max(found)
    assert error <= 1e-6 * value, (steps, delta, value, error)
    return value, error


def poisson(q, z):
    pair = Pair([(1 - q, 0), (q, 1)], [(1, 0)], z)
    return [pair, pair.swapped()]


def poisson_replace(q, z):
    return [Pair([(1 - q, 0), (q, 0.5)], [(1 - q, 0), (q, -0.5)], z)]


def fixed_null(q, z):
    pair = Pair([(1 - q, -1), (q, 1)], [(1 - q, -1), (q, 0)], z)
    return [pair, pair.swapped()] + poisson(q, z)


# Bounds by whole Renyi orders, in sums of positive terms.

WHOLE = np.arange(2, 513)


def log_choose(n):
    k = np.arange(n + 1)
    log_factorial = np.cumsum(np.log(np.maximum(k, 1)))
    return log_factorial[n] - log_factorial - log_factorial[::-1]


def poisson_renyi(q, z, order):
    if q == 1:
        return order / (2 * z * z)
    k = np.arange(order + 1)
    power = k * (k - 1) / (2 * z * z)
    size = log_choose(order) + k * math.log(q) + (order - k) * math.log1p(-q)
    grown = size[2:] + power[2:] + np.log(-np.expm1(-power[2:]))
    top = grown.max()
    total = top + math.log(np.exp(grown - top).sum())
    return np.logaddexp(0, total) / (order - 1) if total > -30 else math.exp(total) / (order - 1)


def wbk_renyi(q, z):
    """Theorem 27 with the Gaussian's epsilon(j) = j / (2 z^2): log min(4 B_j, 2 e^((j-1) eps(j))),
    B_j = E |N(1)/N(0) - 1|^j for even j and sqrt(B_(j-1) B_(j+1)) for odd ones."""
    last = int(WHOLE[-1]) + 1
    x = np.arange(-12 * z, last + 12 * z, 0.25 * min(z, z * z)) + 1e-3 * z * z  # not where it is 0
    base = log_normal(x, 0, z) + math.log(x[1] - x[0])
    difference = np.log(np.abs(np.expm1(np.minimum((2 * x - 1) / (2 * z * z), 600))))
    difference = np.where(x > 500 * z * z, (2 * x - 1) / (2 * z * z), difference)
    even = {j: np.logaddexp.reduce(base + j * difference) for j in range(2, last + 1, 2)}
    moment = np.array([even[j] if j % 2 == 0 else (even[j - 1] + even[j + 1]) / 2
                       for j in range(2, last)])
    j = np.arange(2, last)
    term = np.minimum(math.log(4) + moment, math.log(2) + j * (j - 1) / (2 * z * z))

    def renyi(order):
        total = np.logaddexp.reduce((log_choose(order) + np.arange(order + 1) * math.log(q))[2:]
                                    + term[:order - 1])
        return min(np.logaddexp(0, total) / (order - 1), order / (2 * z * z))

    return renyi


def best_order(renyi, steps, delta):
    values = []
    for order in WHOLE:
        order = int(order)
        epsilon = (steps * renyi(order) + math.log1p(-1 / order) -
                   math.log(delta * order) / (order - 1))
        values.append((max(epsilon, 0.0), order))
    value, order = min(values)
    return {"epsilon": value, "order": order}


def classic(q, z, steps, delta):
    """min over orders of steps * RDP + log(1/delta) / (order - 1)."""
    best = math.inf
    pair = poisson(q, z)[0]
    for order in np.concatenate([np.arange(1.1, 11, 0.1), np.arange(12, 65)]):
        m = log_moment(pair, order - 1)
        best = min(best, (steps * m - math.log(delta)) / (order - 1))
    return best


# Closed forms to compare with.

def tail(x):
    return math.erfc(x / math.sqrt(2)) / 2


def gaussian_delta(mu, epsilon):
    return tail(epsilon / mu - mu / 2) - math.exp(epsilon) * tail(epsilon / mu + mu / 2)


def one_step(q, z, epsilon):
    """delta of one Poisson step, removal, for any real epsilon."""
    ratio = math.expm1(epsilon) / q
    if ratio <= -1:
        return -math.expm1(epsilon)
    x = z * z * math.log1p(ratio) + 0.5
    return (1 - q) * tail(x / z) + q * tail((x - 1) / z) - math.exp(epsilon) * tail(x / z)


def check_method():
    for z, steps, epsilon in [(1, 1, 2.0), (5, 100, 3.0), (50, 10**4, 7.0), (3, 10, 5.0)]:
        pair = Pair([(1, 1)], [(1, 0)], z)
        exact = gaussian_delta(math.sqrt(steps) / z, epsilon)
        _, c = saddle(pair, steps, exact)
        found = Composition(pair, steps, 0.8 * c, epsilon).delta(epsilon)
        assert abs(found / exact - 1) < 1e-9, (z, steps, epsilon, found, exact)
    # Two steps: the second one's closed form, integrated over the first one's loss.
    for q, z, epsilon in [(0.1, 1, 0.5), (0.3, 0.7, 2.0), (0.5, 2, 0.7)]:
        pair = poisson(q, z)[0]
        x = np.arange(-15 * z, 1 + 15 * z, 1e-3 * z)
        p = np.exp(log_mixture(x, pair.p, z)) * 1e-3 * z
        exact = math.fsum(w * one_step(q, z, epsilon - l) for w, l in zip(p, pair.loss(x)))
        _, c = saddle(pair, 2, exact)
        found = Composition(pair, 2, 0.8 * c, epsilon, depth=18).delta(epsilon)
        assert abs(found / exact - 1) < 1e-6, (q, z, epsilon, found, exact)


rows = []


def add(kind, **values):
    rows.append({"kind": kind, **values})
    print(len(rows), json.dumps(rows[-1]), file=sys.stderr, flush=True)


MNIST, ADULT = 256 / 60000, 256 / 32561
POISSON = [  # q, z, steps, delta
    (MNIST, 0.7, 234, 1e-5), (MNIST, 0.7, 14062, 1e-5), (MNIST, 1.0, 3516, 1e-5),
    (MNIST, 1.1, 234, 1e-5), (MNIST, 1.1, 14062, 1e-5), (MNIST, 1.3, 3516, 1e-5),
    (MNIST, 2.0, 14062, 1e-7), (MNIST, 4.0, 2344, 1e-5),
    (ADULT, 1.0, 127, 1e-5), (ADULT, 1.0, 1270, 1e-6), (ADULT, 2.0, 12700, 1e-5),
    (ADULT, 5.0, 1270, 1e-5),
    (1024 / 50000, 1.0, 490, 1e-5), (1024 / 50000, 4.0, 4900, 1e-6),
    (0.1, 0.5, 20, 1e-5), (0.01, 1.0, 1000, 1e-8), (0.01, 1.0, 1000, 1e-12),
    (0.01, 4.0, 10000, 1e-5), (0.01, 5.0, 100000, 1e-5), (0.01, 50.0, 1000000, 1e-5),
    (0.001, 0.6, 100000, 1e-6), (0.001, 0.8, 10000, 1e-9), (0.0001, 0.5, 1000000, 1e-6),
    (1e-5, 1.0, 1000000, 1e-5), (1e-5, 1.0, 1000000, 1e-8),
    (0.1, 1.0, 10, 1e-6), (0.1, 3.0, 10000, 1e-6), (0.5, 2.0, 100, 1e-6), (0.9, 5.0, 100, 1e-6),
    (0.3, 0.8, 5, 0.01), (0.5, 1.5, 200, 1e-30), (0.02, 2.0, 500, 1e-20),
]
REPLACE = [
    (MNIST, 0.5, 234, 1e-5), (MNIST, 1.0, 14062, 1e-5), (1024 / 60000, 1.0, 590, 1e-5),
    (ADULT, 0.5, 127, 1e-5), (ADULT, 2.5, 12700, 1e-5), (1024 / 50000, 4.0, 4900, 1e-6),
    (0.01, 4.0, 10000, 1e-8), (1e-5, 0.5, 100000, 1e-6), (0.5, 1.0, 20, 1e-9), (0.9, 3.0, 50, 0.01),
]
FIXED = [  # batch, population, z, steps, delta
    (256, 60000, 1.0, 234, 1e-5), (256, 60000, 2.0, 14062, 1e-5), (1024, 60000, 2.0, 590, 1e-5),
    (256, 32561, 5.0, 12700, 1e-5), (100, 10000, 8.0, 10000, 1e-8), (9, 10, 1.0, 20, 1e-6),
    (1, 2, 2.0, 20, 1e-5),
]
PUBLISHED = [  # source, q, z, steps, delta, printed, whether rdp_classic is what was printed
    ("Abadi et al., Deep Learning with Differential Privacy, CCS 2016, Section 5.1: 100 epochs",
     0.01, 4.0, 10000, 1e-5, 1.26, True),
    ("Abadi et al., Deep Learning with Differential Privacy, CCS 2016, Section 5.1: 400 epochs",
     0.01, 4.0, 40000, 1e-5, 2.55, False),
    *((f"TensorFlow Privacy, tutorials/README.md at 047e1ee: MNIST, {epochs} epochs",
       MNIST, z, epochs * 234, 1e-5, printed, z != 0.6)  # 9.747, perhaps cut instead of rounded
      for epochs, z, printed in [(60, 1.12, 2.92), (30, 0.6, 9.74), (10, 1.2, 1.20)]),
]


def main():
    check_method()
    for q, z, steps, delta in POISSON:
        epsilon, error = worst(poisson(q, z), steps, delta)
        add("poisson", q=q, z=z, steps=steps, delta=delta, epsilon=epsilon, error=error,
            rdp=best_order(lambda order: poisson_renyi(q, z, order), steps, delta))
    for q, z, steps, delta in REPLACE:
        epsilon, error = worst(poisson_replace(q, z), steps, delta)
        add("poisson-replace", q=q, z=z, steps=steps, delta=delta, epsilon=epsilon, error=error)
    for batch, population, z, steps, delta in FIXED:
        q = batch / population
        names = {"batch": batch, "population": population, "z": z, "steps": steps, "delta": delta}
        epsilon, error = worst(poisson(q, z) + poisson_replace(q, z), steps, delta)
        add("fixed-replace", **names, epsilon=epsilon, error=error,
            rdp=best_order(wbk_renyi(q, z), steps, delta))
        epsilon, error = worst(fixed_null(q, z), steps, delta)
        add("fixed-null", **names, epsilon=epsilon, error=error)
    for source, q, z, steps, delta, printed, reproduced in PUBLISHED:
        epsilon, error = worst(poisson(q, z), steps, delta)
        add("published", source=source, q=q, z=z, steps=steps, delta=delta, epsilon=epsilon,
            error=error, printed=printed, rdp_classic=classic(q, z, steps, delta),
            reproduced=reproduced)
    print("[\n" + ",\n".join(" " + json.dumps(row) for row in rows) + "\n]")


main()
