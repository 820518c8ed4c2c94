"""The peer of bench_first_order: as many steps of DP-SRM as Sotto makes, in PyTorch, for logistic regression.
Rows are made here, in a9a's shape, dense float32. Two ways: per-example gradients written out by hand, as
one does it for any model; and without them, by the algebra that only a linear model allows (a gradient is a
row times a number).

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


def mean_by_algebra(xs, ys, lengths, w, before):
    now, then = slopes(xs, ys, w), slopes(xs, ys, before)
    return (GAMMA * clip(now, lengths, RADIUS) + (1 - GAMMA) * clip(now - then, lengths, DIFFERENCE)) @ xs


def clip_rows(gradients, radius):
    return gradients * torch.clamp(radius / gradients.norm(dim=1, keepdim=True).clamp_min(1e-12), max=1)


def mean_by_gradients(xs, ys, lengths, w, before):
    now = slopes(xs, ys, w)[:, None] * xs
    then = slopes(xs, ys, before)[:, None] * xs
    return (GAMMA * clip_rows(now, RADIUS) + (1 - GAMMA) * clip_rows(now - then, DIFFERENCE)).sum(dim=0)


def run(mean):
    w = torch.zeros(dim)
    v = (clip(slopes(x, y, w), norms, RADIUS) @ x + NOISE * torch.randn(dim)) / rows
    for _ in range(steps - 1):
        before, w = w, w - STEP * v
        index = torch.nonzero(torch.rand(rows) < batch / rows).squeeze(1)
        v = (1 - GAMMA) * v + (mean(x[index], y[index], norms[index], w, before) + NOISE * torch.randn(dim)) / batch
    return w


def best_seconds(mean):
    best = None
    for threads in (1, 2):
        torch.set_num_threads(threads)
        run(mean)
        for _ in range(3):
            start = time.perf_counter()
            run(mean)
            seconds = time.perf_counter() - start
            if best is None or seconds < best[0]:
                best = (seconds, threads)
    return best


with torch.no_grad():
    seconds, threads = best_seconds(mean_by_gradients)
    algebra, _ = best_seconds(mean_by_algebra)
print(json.dumps({"seconds": seconds, "threads": threads, "by_algebra": algebra, "torch": torch.__version__}))
