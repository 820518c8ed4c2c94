"""Compositions of full-batch Gaussians in high precision: python3 full_batch.py > full_batch.json
(needs mpmath; a few seconds)

 - epsilon: exact. Steps of noise z are one Gaussian with mu = sqrt(steps) / z.
 - zcdp: the least epsilon that the conversion of [CKS20, Prop. 12] has for rho = steps / (2 z^2),
   over all real orders.
 - bun_steinke: rho + 2 sqrt(rho log(1 / delta)) [BS16, Prop. 1.3].
"""
import json

from mpmath import erfc, exp, log, mp, mpf, sqrt

mp.dps = 60


def tail(x):
    return erfc(x / sqrt(2)) / 2


def exact(mu, delta):
    def above(epsilon):
        return tail(epsilon / mu - mu / 2) - exp(epsilon) * tail(epsilon / mu + mu / 2) > delta

    if not above(mpf(0)):
        return mpf(0)
    low, high = mpf(0), mpf(1)
    while above(high):
        high *= 2
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle) else (low, middle)
    return (low + high) / 2


def zcdp(rho, delta):
    def bound(u):  # order 1 + e^u
        order = 1 + exp(u)
        return rho * order + log(1 - 1 / order) - log(order * delta) / (order - 1)

    # The best of a grid, then ever finer ones around it: no assumption of one valley.
    low, high = mpf(-30), mpf(30)
    for _ in range(14):
        points = [low + (high - low) * k / 60 for k in range(61)]
        best = min(range(61), key=lambda k: bound(points[k]))
        low, high = points[max(best - 1, 0)], points[min(best + 1, 60)]
    return max(mpf(0), bound((low + high) / 2))


rows = []
DELTAS = [1e-5, 1e-8, 1e-12, 0.01, 1e-6, 1e-10, 1e-40]
for i, z in enumerate([0.3, 0.5, 1.0, 2.0, 5.0, 20.0, 50.0, 1000.0]):
    for j, steps in enumerate([1, 10, 100, 1000, 10**6]):
        for delta in DELTAS[(i + j) % 3::3]:
            rho = mpf(steps) / (2 * mpf(z) ** 2)
            d = mpf(delta)
            rows.append({"z": z, "steps": steps, "delta": delta, "rho": float(rho),
                         "epsilon": float(exact(sqrt(2 * rho), d)), "zcdp": float(zcdp(rho, d)),
                         "bun_steinke": float(rho + 2 * sqrt(rho * log(1 / d)))})
print("[\n" + ",\n".join(" " + json.dumps(row) for row in rows) + "\n]")
