"""The peer of bench_first_order: as many steps of DP-SRM as Sotto makes, in PyTorch, with per-example
gradients of logistic regression by hand (a row times a number, so that nothing but the batch's rows is
stored). Rows are made here, in a9a's shape, dense float32.

usage: dp_srm_torch.py ROWS DIM STEPS BATCH; prints one JSON line with the better of one and two threads.
"""

import json
import sys
import time

import torch

rows, dim, steps, batch = (int(text) for text in sys.argv[1:5])
GROUPS = 14
GAMMA, RADIUS, DIFFERENCE, NOISE, STEP = 0.6, 2.0, 0.05, 1.0, 0.1

generator = torch.Generator().manual_seed(1)
x = torch.zeros(rows, dim)
x[torch.arange(rows).repeat_interleave(GROUPS), torch.randint(dim, (rows * GROUPS,), generator=generator)] = 1
y = torch.where(torch.rand(rows, generator=generator) < 0.25, 1.0, -1.0)
norms = x.norm(dim=1)


def slopes(xs, ys, w):
    """phi'(margin) y of every row: its gradient is this number times the row."""
    return -torch.sigmoid(-(ys * (xs @ w))) * ys


def clip(values, lengths, radius):
    return values * torch.clamp(radius / (values.abs() * lengths).clamp_min(1e-12), max=1)


def run():
    w = torch.zeros(dim)
    coefficients = clip(slopes(x, y, w), norms, RADIUS)
    v = (coefficients @ x + NOISE * torch.randn(dim)) / rows
    for _ in range(steps - 1):
        before, w = w, w - STEP * v
        index = torch.nonzero(torch.rand(rows) < batch / rows).squeeze(1)
        xs, ys, lengths = x[index], y[index], norms[index]
        now, then = slopes(xs, ys, w), slopes(xs, ys, before)
        weights = GAMMA * clip(now, lengths, RADIUS) + (1 - GAMMA) * clip(now - then, lengths, DIFFERENCE)
        v = (1 - GAMMA) * v + (weights @ xs + NOISE * torch.randn(dim)) / batch
    return w


best = None
with torch.no_grad():
    for threads in (1, 2):
        torch.set_num_threads(threads)
        run()
        for _ in range(3):
            start = time.perf_counter()
            run()
            seconds = time.perf_counter() - start
            if best is None or seconds < best[0]:
                best = (seconds, threads)
print(json.dumps({"seconds": best[0], "threads": best[1], "torch": torch.__version__}))
