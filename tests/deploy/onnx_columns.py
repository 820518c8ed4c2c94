"""onnxruntime's part of tests/deploy/onnx_columns_test.cpp.

usage: onnx_columns.py MODEL ROWS COLUMNS
         Runs MODEL on the rows of ROWS (JSON, null where nothing is there) with the columns named in
         COLUMNS (JSON), checks the file with ONNX's own checker, and prints one line per row:
         probabilities, score or number, and the class, with tabs between them.
"""
import json
import sys

import numpy as np
import onnx
import onnxruntime as ort

model, rows, columns = sys.argv[1], json.load(open(sys.argv[2])), json.load(open(sys.argv[3]))
onnx.checker.check_model(onnx.load(model), full_check=True)
session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
feed = {}
for given in session.get_inputs():
    values = [row[columns.index(given.name)] for row in rows]
    if given.type == "tensor(string)":
        feed[given.name] = np.array([["" if v is None else v] for v in values], dtype=object)
    else:
        feed[given.name] = np.array([[np.nan if v is None else v] for v in values], dtype=np.float64)
names = [output.name for output in session.get_outputs()]
answers = dict(zip(names, session.run(names, feed)))
numbers = answers.get("probabilities", answers.get("prediction", answers["scores"]))
for i in range(len(rows)):
    line = ["%.17g" % v for v in np.atleast_1d(numbers[i])]
    if "class" in answers:
        line.append(answers["class"][i])
    print("\t".join(line))
