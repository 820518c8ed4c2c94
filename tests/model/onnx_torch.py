"""PyTorch's part of tests/model/onnx_torch_test.cpp.

usage: onnx_torch.py export FOLDER
         For each network of the zoo FOLDER/NAME.onnx, .rows.f32 (a few rows) and .outputs.f32.
       onnx_torch.py evaluate FOLDER
         Runs every FOLDER/NAME.back.onnx with the small interpreter below on the rows and prints
         NAME and the largest difference to the outputs.

The interpreter reads protocol buffers by their wire format and runs operators by PyTorch's
functions: it shares nothing with Sotto's reader and writer.
"""
import glob
import struct
import sys
import warnings

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
torch.manual_seed(5)


class View(nn.Module):
    def forward(self, x):
        return x.view(x.size(0), -1)


class Mean(nn.Module):
    def forward(self, x):
        return x.mean((2, 3))


class Constants(nn.Module):
    """(x - mean) / deviation, by channel."""

    def forward(self, x):
        return (x - 0.4) / torch.tensor([0.2, 0.3, 0.5]).view(3, 1, 1)


class Image(nn.Module):
    def forward(self, x):
        return x.view(-1, 1, 6, 6)


def zoo():
    image, flat = (3, 8, 8), (12,)
    nets = {
        "conv": (image, [nn.Conv2d(3, 4, (3, 2), stride=(2, 1), padding=(1, 0)), nn.ReLU(),
                         nn.Flatten(), nn.Linear(4 * 4 * 7, 3)]),
        "groups": (image, [nn.Conv2d(3, 6, 3, groups=3, bias=False), nn.Tanh(), nn.MaxPool2d(2),
                           View(), nn.Linear(54, 4, bias=False)]),
        "pools": (image, [nn.Conv2d(3, 5, 3, padding=1), nn.Sigmoid(), nn.AvgPool2d(3, stride=2),
                          nn.MaxPool2d((2, 1), stride=1), nn.Dropout(0.5), nn.Flatten(),
                          nn.Linear(5 * 2 * 3, 2)]),
        "globalavg": (image, [nn.Conv2d(3, 5, 3), nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                              nn.Linear(5, 3)]),
        "mean": (image, [nn.Conv2d(3, 5, 3), nn.GELU(), Mean(), nn.Linear(5, 3)]),
        "globalmax": (image, [nn.Conv2d(3, 5, 3), nn.AdaptiveMaxPool2d(1), View(),
                              nn.Linear(5, 3)]),
        "groupnorm": (image, [nn.Conv2d(3, 6, 3), nn.GroupNorm(2, 6), nn.ReLU(),
                              nn.Conv2d(6, 4, 3), nn.GroupNorm(4, 4), nn.GELU(), nn.Flatten(),
                              nn.Linear(64, 3)]),
        "instancenorm": (image, [nn.Conv2d(3, 6, 3), nn.InstanceNorm2d(6, affine=True), nn.ReLU(),
                                 nn.Flatten(), nn.Linear(216, 3)]),
        "layernorm": (image, [nn.Conv2d(3, 2, 3), nn.LayerNorm([2, 6, 6]), nn.ReLU(), nn.Flatten(),
                              nn.Linear(72, 5), nn.LayerNorm(5), nn.Linear(5, 2)]),
        "folded": (image, [nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(),
                           nn.Linear(144, 3)]),
        "constants": (image, [Constants(), nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(),
                              nn.Linear(144, 3)]),
        "mlp": (flat, [nn.Linear(12, 8), nn.GELU(), nn.Linear(8, 6, bias=False), nn.Tanh(),
                       nn.Linear(6, 3)]),
        "softmax": (flat, [nn.Linear(12, 3)]),
        "one": (flat, [nn.Linear(12, 4), nn.ReLU(), nn.Linear(4, 1)]),
        "unflat": ((36,), [Image(), nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(),
                           nn.Linear(32, 2)]),
        "mnist_cnn4": ((1, 28, 28), [nn.Conv2d(1, 16, 8, 2, padding=3), nn.ReLU(),
                                     nn.MaxPool2d(2, 1), nn.Conv2d(16, 32, 4, 2), nn.ReLU(),
                                     nn.MaxPool2d(2, 1), nn.Flatten(), nn.Linear(512, 32),
                                     nn.ReLU(), nn.Linear(32, 10)]),
    }
    return nets


def export(folder):
    for name, (shape, modules) in zoo().items():
        model = nn.Sequential(*modules)
        for module in modules:  # gains of 1 and running means of 0 would hide mistakes
            if isinstance(module, (nn.GroupNorm, nn.LayerNorm, nn.InstanceNorm2d, nn.BatchNorm2d)):
                nn.init.normal_(module.weight)
                nn.init.normal_(module.bias)
            if isinstance(module, nn.BatchNorm2d):
                nn.init.normal_(module.running_mean)
        model.eval()
        rows = torch.randn(4, *shape)
        outputs = model(rows).detach().numpy()
        for opset in (11, 13, 17):
            for dynamic in (False, True):
                case = f"{folder}/{name}_{opset}_{'dynamic' if dynamic else 'fixed'}"
                axes = {"dynamic_axes": {"rows": {0: "n"}}} if dynamic else {}
                torch.onnx.export(model, rows[:1], case + ".onnx", opset_version=opset,
                                  input_names=["rows"],
                                  do_constant_folding=not (dynamic and opset == 13), **axes)
                rows.numpy().astype(np.float32).tofile(case + ".rows.f32")
                outputs.astype(np.float32).tofile(case + ".outputs.f32")
    # Trained with batch normalization: nothing to fold it into.
    for name, mode in (("refused", torch.onnx.TrainingMode.TRAINING),):
        model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(),
                              nn.Linear(144, 2)).train()
        torch.onnx.export(model, torch.randn(2, 3, 8, 8), f"{folder}/{name}.bn", training=mode,
                          do_constant_folding=False, opset_version=13)


def fields(data):
    """(number, value) for each field of a message: an int, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value - (1 << 64) if value >> 63 else value

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
        elif kind == 2:
            size = varint()
            yield key >> 3, data[at:at + size]
            at += size
        elif kind == 5:
            yield key >> 3, data[at:at + 4]
            at += 4
        else:
            raise ValueError(f"wire type {kind}")


def numbers(value):
    """A repeated whole number: one of it, or all of it packed."""
    if isinstance(value, int):
        return [value]
    found, number, shift = [], 0, 0
    for byte in value:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(number - (1 << 64) if number >> 63 else number)
            number = shift = 0
    return found


def tensor(data):
    dims, kind, raw, name = [], 0, b"", ""
    for number, value in fields(data):
        if number == 1:
            dims += numbers(value)
        elif number == 2:
            kind = value
        elif number == 8:
            name = value.decode()
        elif number == 9:
            raw = value
    dtype = {1: np.float32, 7: np.int64}[kind]
    return name, torch.from_numpy(np.frombuffer(raw, dtype=dtype).reshape(dims).copy())


def attribute(data):
    name, value, ints = "", None, []
    for number, field in fields(data):
        if number == 1:
            name = field.decode()
        elif number == 2:
            value = struct.unpack("<f", field)[0]
        elif number == 3:
            value = field
        elif number == 8:
            ints += numbers(field)
    return name, ints if ints else value


def run(op, x, a):
    if op == "Conv":
        assert a["pads"][:2] == a["pads"][2:]
        return F.conv2d(x[0], x[1], x[2] if len(x) > 2 else None, stride=a["strides"],
                        padding=a["pads"][:2], groups=a["group"])
    if op == "Gemm":
        assert a["transB"] == 1
        return F.linear(x[0], x[1], x[2] if len(x) > 2 else None)
    if op in ("MaxPool", "AveragePool"):
        pool = F.max_pool2d if op == "MaxPool" else F.avg_pool2d
        return pool(x[0], a["kernel_shape"], stride=a["strides"])
    if op == "InstanceNormalization":
        return F.instance_norm(x[0], weight=x[1], bias=x[2], eps=a["epsilon"])
    if op == "Reshape":
        return x[0].reshape([x[0].shape[i] if d == 0 else d for i, d in enumerate(x[1].tolist())])
    if op == "ReduceMean":
        return x[0].mean(a["axes"], keepdim=bool(a["keepdims"]))
    if op == "ReduceSumSquare":
        return (x[0] * x[0]).sum(a["axes"], keepdim=bool(a["keepdims"]))
    return {"Relu": torch.relu, "Tanh": torch.tanh, "Sigmoid": torch.sigmoid, "Erf": torch.erf,
            "Sqrt": torch.sqrt, "Flatten": lambda v: v.flatten(1), "Identity": lambda v: v,
            "GlobalMaxPool": lambda v: F.adaptive_max_pool2d(v, 1),
            "GlobalAveragePool": lambda v: F.adaptive_avg_pool2d(v, 1), "Add": torch.add,
            "Sub": torch.sub, "Mul": torch.mul, "Div": torch.div, "Pow": torch.pow,
            "Max": torch.maximum}[op](*x)


def interpret(path, rows):
    graph = [v for n, v in fields(open(path, "rb").read()) if n == 7][0]
    values, output, shape, name = {}, "", [], ""
    for number, field in fields(graph):
        if number == 5:
            name, values_of = tensor(field)
            values[name] = values_of
        elif number == 11:
            name = dict(fields(field))[1].decode()
            kind = dict(fields(dict(fields(field))[2]))[1]
            dims = [d for n, d in fields(dict(fields(kind))[2]) if n == 1]
            shape = [dict(fields(d)).get(1) for d in dims][1:]
            values[name] = rows.reshape(-1, *shape)
        elif number == 12:
            output = dict(fields(field))[1].decode()
    for number, field in fields(graph):
        if number != 1:
            continue
        inputs, made, op, attributes = [], "", "", {}
        for n, v in fields(field):
            if n == 1:
                inputs.append(v.decode())
            elif n == 2:
                made = v.decode()
            elif n == 4:
                op = v.decode()
            elif n == 5:
                key, value = attribute(v)
                attributes[key] = value
        values[made] = run(op, [values[i] for i in inputs], attributes)
    return values[output]


def evaluate(folder):
    for path in sorted(glob.glob(folder + "/*.back.onnx")):
        case = path[:-len(".back.onnx")]
        expected = torch.from_numpy(np.fromfile(case + ".outputs.f32", dtype=np.float32))
        rows = torch.from_numpy(np.fromfile(case + ".rows.f32", dtype=np.float32))
        found = interpret(path, rows).reshape(-1)
        assert found.shape == expected.shape, (path, found.shape, expected.shape)
        print(case.split("/")[-1], float((found - expected).abs().max()))


{"export": export, "evaluate": evaluate}[sys.argv[1]](sys.argv[2])
