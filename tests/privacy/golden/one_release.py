"""Exact epsilons in high precision, over the whole range of doubles:
    python3 one_release.py > one_release.json   (needs mpmath; a minute)

One release each, and compositions of full-batch Gaussians, which are one. Written from the
definitions of the hockey-stick divergence, without a line of the accountants:
 - poisson-null: (1-q) N(0) + q N(1) against N(0), noise z. Also fixed size under replace-one.
 - poisson-replace: (1-q) N(0) + q N(1/2) against (1-q) N(0) + q N(-1/2).
 - fixed-null: (1-q) N(-1) + q N(1) against (1-q) N(-1) + q N(0), q = batch / population.
 - laplace: (1-q) L(0) + q L(1) against L(0), L of scale z.
An epsilon beyond the largest double is the text "inf".
"""
import json
import sys
from fractions import Fraction

from mpmath import asinh, erf, erfc, exp, expm1, log, log1p, mp, mpf, pi, sinh, sqrt

LARGEST = mpf(2) ** 1024


def to_mpf(x):
    x = Fraction(x)
    return mpf(x.numerator) / x.denominator


def tail(x):
    """P(N > x)."""
    return erfc(x / sqrt(2)) / 2


def mills(x):
    """P(N > x) / density(x); the asymptotic series where it has 60 digits."""
    if x < 1000:
        return tail(x) * sqrt(2 * pi) * exp(x * x / 2)
    term, total, k = 1 / x, mpf(0), 0
    while abs(term) > mpf(10) ** -70 / x and k < 200:
        total += term
        k += 1
        term *= -(2 * k - 1) / (x * x)
    return total


def bisect(excess, low, high, rounds):
    """The zero of a decreasing function, to (high - low) / 2^rounds."""
    for _ in range(rounds):
        middle = (low + high) / 2
        if excess(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def enough_digits(scale, delta):
    """For differences of terms of order 1 that leave delta, or shrink with the scale."""
    mp.dps = 35 + int(max(0, -log(mpf(delta), 10))) + int(max(0, -log(mpf(scale), 10)))


def gaussian(mu, delta):
    """epsilon of N(mu, 1) against N(0, 1) at delta."""
    if delta >= erf(mu / (2 * sqrt(2))):
        return mpf(0)
    # epsilon = mu (a + mu / 2); delta = density(a) (R(a) - R(a + mu)).
    def excess(a):
        density = exp(-a * a / 2) / sqrt(2 * pi)
        return tail(a) - density * mills(a + mu) - delta
    low = max(-mu / 2, mpf(-60))
    return mu * (bisect(excess, low, mpf(60), 90) + mu / 2)


def amplified(q, inner):
    """log(1 + q (e^inner - 1))."""
    if inner < 1000:
        return log1p(q * expm1(inner))
    return inner + log(q)


def poisson_null(q, z, delta):
    return mpf(0) if delta >= q else amplified(q, gaussian(1 / z, delta / q))


def laplace(q, z, delta):
    if delta >= q:
        return mpf(0)
    inner = 1 / z + 2 * log1p(-delta / q)
    return amplified(q, inner) if inner > 0 else mpf(0)


def above(point, mean, z):
    return tail((point - mean) / z)


def largest(q, z, delta, gap):
    """An epsilon that is not exceeded: one of the record's own component at distance `gap`."""
    return gaussian(gap / z, delta) + 1


def poisson_replace(q, z, delta):
    out = 1 - q
    half = mpf(1) / 2
    if delta >= q * erf(1 / (2 * z * sqrt(2))):
        return mpf(0)
    def excess(epsilon):
        # The loss is epsilon at this point [pld.proof.md, 2.6], derived again: y = e^{x / 2 z^2}.
        k = exp(-1 / (8 * z * z))
        s = epsilon / 2 + asinh(out / q / k * sinh(epsilon / 2))
        x = 2 * z * z * s
        p = out * above(x, 0, z) + q * above(x, half, z)
        r = out * above(x, 0, z) + q * above(x, -half, z)
        return p - exp(epsilon) * r - delta
    return bisect(excess, mpf(0), largest(q, z, delta, 1), 90)


def fixed_null(q, z, delta):
    out = 1 - q
    if delta >= q * erf(1 / (2 * z * sqrt(2))):
        return mpf(0)
    def excess(epsilon):
        # 1-q + q w^2 e^{1/z^2} = e^epsilon (1-q + q w e^{1/z^2}), w = e^{(x - 1/2) / z^2}
        e = exp(epsilon)
        w = (e + sqrt(e * e + 4 * (e - 1) * out / q * exp(-1 / (z * z)))) / 2
        x = z * z * log(w) + mpf(1) / 2
        p = out * above(x, -1, z) + q * above(x, 1, z)
        r = out * above(x, -1, z) + q * above(x, 0, z)
        return p - e * r - delta
    return bisect(excess, mpf(0), largest(q, z, delta, 2), 90)


rows = []


def row(kind, delta, value, **names):
    shown = "inf" if value >= LARGEST else float(value)
    rows.append({"kind": kind, **names, "delta": delta, "epsilon": shown})
    print(len(rows), kind, names, delta, shown, file=sys.stderr)


RATES = [5e-324, 1e-310, 1e-300, 1e-100, 1e-20, 1e-6, 0.01, 0.5, 0.9, 1 - 1e-9, 1 - 2**-53]
NOISES = [6e-309, 1e-300, 1e-25, 1e-10, 1e-4, 0.003, 0.02, 0.3, 1.0, 5.0, 1e3, 1e9, 1e100, 1e200, 1e308]
DELTAS = [1e-300, 1e-100, 1e-30, 1e-12, 1e-5, 0.1]
for i, z in enumerate(NOISES):
    for count in [1, 10**9]:
        for delta in DELTAS[i % 2::2]:
            enough_digits(sqrt(mpf(count)) / mpf(z), delta)
            row("gaussian", delta, gaussian(sqrt(mpf(count)) / mpf(z), mpf(delta)), z=z, count=count)
    for j, q in enumerate(RATES):
        # Every pair of rate and noise, deltas in turn.
        delta = DELTAS[(i + j) % 6]
        enough_digits(1 / mpf(z), delta / mpf(q) if delta < q else 1)
        row("poisson-null", delta, poisson_null(mpf(q), mpf(z), mpf(delta)), q=q, z=z)
        row("laplace", delta, laplace(mpf(q), mpf(z), mpf(delta)), q=q, z=z)
for i, z in enumerate([0.02, 0.06, 0.3, 1.0, 5.0, 1e3]):
    for j, q in enumerate([1e-20, 1e-6, 0.01, 0.5, 0.9, 1 - 1e-9, 1 - 2**-53]):
        delta = DELTAS[(i + j) % 6]
        enough_digits(mpf(q) / z, delta)
        row("poisson-replace", delta, poisson_replace(mpf(q), mpf(z), mpf(delta)), q=q, z=z)
    for j, (b, n) in enumerate([(1, 2), (1, 10**15), (600, 60000), (9, 10), (10**18 - 1, 10**18)]):
        delta = DELTAS[(i + j) % 6]
        enough_digits(mpf(b) / n / z, delta)
        q = to_mpf(Fraction(b, n))
        row("fixed-null", delta, fixed_null(q, mpf(z), mpf(delta)), batch=b, population=n, z=z)
        row("fixed-replace", delta, poisson_null(q, mpf(z), mpf(delta)), batch=b, population=n, z=z)
print("[\n" + ",\n".join(" " + json.dumps(r) for r in rows) + "\n]")
