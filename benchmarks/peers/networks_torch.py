"""The peer of bench_networks: PyTorch's non-private training step, on the same shapes.

usage: networks_torch.py CASE BATCH THREADS REPETITIONS
Prints one JSON line: the median seconds of a step (forward, loss, backward, SGD update on a batch
that is already a tensor) and the configuration.
"""
import json
import os
import statistics
import sys
import time

case, batch, threads, repetitions = sys.argv[1], *map(int, sys.argv[2:5])
os.environ["OMP_NUM_THREADS"] = str(threads)

import torch  # noqa: E402
from torch import nn  # noqa: E402

torch.set_num_threads(threads)
torch.manual_seed(1)


def conv(*a, **k):
    return nn.Conv2d(*a, **k)


def head(*widths):
    layers = [nn.Flatten()]
    for a, b in zip(widths, widths[1:]):
        layers += [nn.Linear(a, b), nn.ReLU()]
    return layers[:-1]


CASES = {
    "mnist-cnn4": ((1, 28, 28), lambda: nn.Sequential(
        conv(1, 16, 8, stride=2, padding=3), nn.ReLU(), nn.MaxPool2d(2, 1),
        conv(16, 32, 4, stride=2), nn.ReLU(), nn.MaxPool2d(2, 1), *head(512, 32, 10))),
    "cifar-cnn5": ((3, 32, 32), lambda: nn.Sequential(
        conv(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2),
        conv(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), *head(400, 120, 84, 10))),
    "cifar-cnn6": ((3, 32, 32), lambda: nn.Sequential(
        conv(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        conv(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        conv(64, 128, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), *head(2048, 128, 64, 10))),
    "softmax": ((784,), lambda: nn.Sequential(nn.Linear(784, 10))),
    "logistic": ((123,), lambda: nn.Sequential(nn.Linear(123, 1))),
}
shape, make = CASES[case]
model = make()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
x = torch.randn(batch, *shape)
if case == "logistic":
    y = torch.randint(0, 2, (batch, 1)).float()
    loss = nn.BCEWithLogitsLoss()
else:
    y = torch.randint(0, 10, (batch,))
    loss = nn.CrossEntropyLoss()


def step():
    optimizer.zero_grad()
    loss(model(x), y).backward()
    optimizer.step()


for _ in range(3):
    step()
seconds = []
for _ in range(repetitions):
    begin = time.perf_counter()
    step()
    seconds.append(time.perf_counter() - begin)
print(json.dumps({"seconds": statistics.median(seconds), "best": min(seconds), "threads": threads,
                  "torch": torch.__version__}))
