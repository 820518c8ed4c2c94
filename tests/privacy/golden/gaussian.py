"""Exact epsilon of the Gaussian mechanism in high precision: python3 gaussian.py > gaussian.json

For each epsilon and delta the mu with delta(epsilon; mu) = delta, rounded to a double, and then the
epsilon that this double really has.
"""
import json

from mpmath import erfc, exp, log, mp, mpf, sqrt

mp.dps = 140


def tail(x):
    return erfc(x / sqrt(2)) / 2


def log_delta(mu, epsilon):
    return log(tail(epsilon / mu - mu / 2) - exp(epsilon) * tail(epsilon / mu + mu / 2))


def bisect(f, low, high):
    """The zero of an increasing f, by bisection on a log scale."""
    low, high = log(mpf(low)), log(mpf(high))
    for _ in range(230):
        middle = (low + high) / 2
        if f(exp(middle)) > 0:
            high = middle
        else:
            low = middle
    return exp((low + high) / 2)


rows = []
for epsilon in ["1e-6", "1e-4", "1e-2", "0.1", "1", "8", "100", "1e3", "1e5"]:
    for delta in ["0.4", "1e-2", "1e-5", "1e-10", "1e-50", "1e-300"]:
        goal = log(mpf(float(delta)))
        e = mpf(epsilon)
        # The two terms of delta cancel to about 1e-300 at worst.
        mp.dps = 400 if delta == "1e-300" else 140
        mu = float(bisect(lambda m: log_delta(m, e) - goal, mpf("1e-9"), mpf("1e4")))
        exact = bisect(lambda x: goal - log_delta(mpf(mu), x), e / 2, e * 2)
        rows.append({"mu": mu, "delta": float(delta), "epsilon": float(exact)})
print("[\n" + ",\n".join(" " + json.dumps(row) for row in rows) + "\n]")
