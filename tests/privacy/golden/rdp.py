"""Renyi divergences in high precision, from their definitions: python3 rdp.py > rdp.json
(needs mpmath; two minutes)
"""
import json

from mpmath import binomial, exp, fabs, log, mp, mpf, pi, quad, sqrt

mp.dps = 40


def normal(x, mean, z):
    return exp(-((x - mean) ** 2) / (2 * z * z)) / (z * sqrt(2 * pi))


def integral(f, z, points):
    """Over the line: panels of three standard deviations around and between the given points."""
    low, high = min(points) - 14 * z, max(points) + 14 * z
    count = max(8, int((high - low) / (3 * z)) + 1)
    return quad(f, [low + (high - low) * i / count for i in range(count + 1)])


def renyi(p, q, alpha, z, points):
    return log(integral(lambda x: p(x) ** alpha * q(x) ** (1 - alpha), z, points)) / (alpha - 1)


def two_point(p, q, alpha):
    return log(sum(a**alpha * b ** (1 - alpha) for a, b in zip(p, q))) / (alpha - 1)


def response(epsilon):
    high = 1 / (1 + exp(-epsilon))
    return [high, 1 - high], [1 - high, high]


rows = []


def add(kind, value, **inputs):
    rows.append({"kind": kind, **inputs, "rdp": float(value)})


def binomial_moment(q, z, order):
    """A whole order's moment of (1-q) N(0) + q N(1) against N(0), multiplied out."""
    return sum(binomial(order, k) * q**k * (1 - q) ** (order - k) * exp(k * (k - 1) / (2 * z * z))
               for k in range(order + 1))


for rate, z in [
    (1e-5, 0.3), (1e-5, 1.0), (0.001, 0.6), (0.001, 1.0), (256 / 60000, 1.0), (256 / 60000, 1.3),
    (256 / 32561, 5.0), (0.01, 0.5), (0.01, 4.0), (0.01, 50.0), (0.02048, 1.0), (0.1, 3.0),
    (0.5, 2.0), (0.9, 5.0),
]:
    q, s = mpf(rate), mpf(z)
    for order in [1.25, 1.5, 5.5]:
        a = mpf(order)
        mixture = lambda x: (1 - q) * normal(x, 0, s) + q * normal(x, 1, s)
        null = lambda x: normal(x, 0, s)
        add("poisson", renyi(mixture, null, a, s, [0, 1, a]), rate=rate, z=z, order=order)
    for order in [2, 3, 10, 32, 64, 256]:
        add("poisson", log(binomial_moment(q, s, order)) / (order - 1),
            rate=rate, z=z, order=float(order))

for rate, z, orders in [
    ("1e-5", "1", ["1.25", "2", "10"]),
    ("0.01", "0.5", ["1.5", "4", "20"]),
    ("0.2", "3", ["1.001", "8", "40"]),
    ("0.9", "0.7", ["1.5", "6"]),
]:
    for alpha in orders:
        q, s, a = mpf(float(rate)), mpf(float(z)), mpf(float(alpha))
        up = lambda x: (1 - q) * normal(x, 0, s) + q * normal(x, mpf(1) / 2, s)
        down = lambda x: (1 - q) * normal(x, 0, s) + q * normal(x, -mpf(1) / 2, s)
        add("poisson_replace", renyi(up, down, a, s, [-1, 1, a / 2 + 1]),
            rate=float(rate), z=float(z), order=float(alpha))

for epsilon in ["1e-6", "0.01", "1", "20"]:
    for alpha in ["1.0001", "2", "7.5", "300"]:
        e, a = mpf(float(epsilon)), mpf(float(alpha))
        inputs = {"epsilon": float(epsilon), "order": float(alpha)}
        p, q = response(e)
        add("pure", two_point(p, q, a), **inputs)
        for rate in ["1e-4", "0.3"]:
            r = mpf(float(rate))
            mixture = [(1 - r) * y + r * x for x, y in zip(p, q)]
            worst = max(two_point(mixture, q, a), two_point(q, mixture, a))
            add("poisson_pure", worst, rate=float(rate), **inputs)
        # Log ratios t and t - epsilon, for the worst t.
        def bounded(t):
            share = (1 - exp(t - e)) / (exp(t) - exp(t - e))
            return log(share * exp(a * t) + (1 - share) * exp(a * (t - e))) / (a - 1)

        low, high = mpf(0), e
        for _ in range(200):  # golden section would do as well; ternary search is shorter
            left, right = low + (high - low) / 3, high - (high - low) / 3
            if bounded(left) < bounded(right):
                low = left
            else:
                high = right
        add("bounded_range", bounded(low), **inputs)
        u = e  # a Laplace scale of 1 / epsilon: the densities' integral, in three parts
        f = lambda x: exp(-a * u * fabs(x) - (1 - a) * u * fabs(x - 1)) * u / 2
        total = quad(f, [0, 1]) + (exp((1 - a) * u * -1) / 2) + exp(-a * u) / 2
        add("laplace", log(total) / (a - 1), **inputs)


def corner_moment(k, z, b, c, d):
    """E |N(b)/N(0) - N(c)/N(0)|^k for squared norms b, c and squared distance d."""
    p = (b + c - d) / 2
    if k % 2 == 0:
        return sum(
            (-1) ** i * binomial(k, i)
            * exp((((k - i) ** 2 - (k - i)) * b + (i * i - i) * c + 2 * i * (k - i) * p) / (2 * z * z))
            for i in range(k + 1)
        )
    # Tilting by N(c)^k leaves a one-dimensional integral over the log of N(b)/N(c).
    mean = (k * (p - c) - (b - c) / 2) / (z * z)
    spread = sqrt(d) / z
    tilt = exp(k * (k - 1) * c / (2 * z * z))
    edges = [mean - 16 * spread, *sorted([mean, mpf(0), mean + k * spread**2]),
             mean + (k * spread + 16) * spread]
    edges = sorted(set(edges))
    return tilt * quad(lambda y: fabs(exp(y) - 1) ** k * normal(y, mean, spread), edges)


for rate, z in [("0.004", "1"), ("0.01", "8"), ("0.3", "2")]:
    q, s = mpf(float(rate)), mpf(float(z))
    for relation, far in [("replace-one", (1, 1, 1)), ("zero-out", (4, 1, 1))]:
        for alpha in [2, 3, 5, 16]:
            total = mpf(0)
            for k in range(2, alpha + 1):
                near = corner_moment(k, s, 1, 0, 1)
                worst = max(near, corner_moment(k, s, *far))
                total += binomial(alpha, k) * q**k * ((1 - q) * worst + q * near)
            value = min(log(1 + total) / (alpha - 1), alpha / (2 * s * s))
            add("fixed_size", value, rate=float(rate), z=float(z), relation=relation,
                order=float(alpha))

print("[\n" + ",\n".join(" " + json.dumps(row) for row in rows) + "\n]")
