"""PyTorch's answers for tests/objective/network_torch_test.cpp.

usage: network_torch.py FOLDER...
FOLDER/case.json: input shape, layers (as in a model file), loss; weights.f64, rows.f32, labels.f32.
Writes outputs.f64 (rows x outputs) and gradients.f64 (rows x parameters), in float64.
"""
import json
import sys

import numpy as np
import torch
from torch import nn

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


def pair(text):
    parts = [int(p) for p in text.split("x")]
    return (parts[0], parts[-1])


def build(text, shape):
    """The module of one layer, for an input of the given shape (without the batch)."""
    words = text.split()
    kind, rest = words[0], words[1:]
    options = {}
    plain = []
    while rest:
        word = rest.pop(0)
        if word in ("stride", "pad", "groups"):
            options[word] = rest.pop(0)
        elif word in ("nobias", "frozen"):
            options[word] = True
        else:
            plain.append(word)
    if kind == "linear":
        return nn.Linear(shape[0], int(plain[0]), bias="nobias" not in options)
    if kind == "conv":
        return nn.Conv2d(shape[0], int(plain[0]), pair(plain[1]),
                         stride=pair(options.get("stride", "1")),
                         padding=pair(options.get("pad", "0")),
                         groups=int(options.get("groups", 1)), bias="nobias" not in options)
    if kind in ("maxpool", "avgpool"):
        make = nn.MaxPool2d if kind == "maxpool" else nn.AvgPool2d
        window = pair(plain[0])
        return make(window, stride=pair(options["stride"]) if "stride" in options else window)
    if kind == "groupnorm":
        return nn.GroupNorm(int(plain[0]), shape[0])
    if kind == "layernorm":
        return nn.LayerNorm(list(shape))
    return {"relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid, "gelu": nn.GELU,
            "flatten": nn.Flatten, "dropout": nn.Identity,
            "globalmax": lambda: nn.Sequential(nn.AdaptiveMaxPool2d(1), nn.Flatten()),
            "globalavg": lambda: nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())}[kind]()


def answer(folder):
    case = json.load(open(folder + "/case.json"))
    shape = case["input"]
    probe = torch.zeros(1, *shape)
    modules = []
    for text in case["layers"]:
        modules.append(build(text, probe.shape[1:]))
        probe = modules[-1](probe)
    model = nn.Sequential(*modules)
    weights = torch.from_numpy(np.fromfile(folder + "/weights.f64"))
    place = 0
    for parameter in model.parameters():
        size = parameter.numel()
        parameter.data = weights[place:place + size].reshape(parameter.shape).clone()
        place += size
    assert place == len(weights), (place, len(weights))
    rows = torch.from_numpy(np.fromfile(folder + "/rows.f32", dtype=np.float32)).double()
    rows = rows.reshape(-1, *shape)
    labels = np.fromfile(folder + "/labels.f32", dtype=np.float32)
    outputs = model(rows).detach().numpy()
    gradients = []
    for row, label in zip(rows, labels):
        model.zero_grad()
        z = model(row[None])
        if case["loss"] == "softmax":
            loss = nn.functional.cross_entropy(z, torch.tensor([int(label)]))
        elif case["loss"] == "logistic":
            loss = nn.functional.softplus(-float(label) * z[0, 0])
        else:
            loss = (z[0, 0] - float(label)) ** 2 / 2
        loss.backward()
        gradients.append(np.concatenate([p.grad.numpy().ravel() for p in model.parameters()]))
    outputs.astype(np.float64).tofile(folder + "/outputs.f64")
    np.stack(gradients).tofile(folder + "/gradients.f64")


for each in sys.argv[1:]:
    answer(each)
