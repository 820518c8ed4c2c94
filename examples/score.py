"""Scores the rows of a SQLite table with a model that `sotto export` wrote: DATABASE TABLE MODEL."""
import sqlite3, sys, numpy as np, onnxruntime as ort

database, table, model = sys.argv[1:]
session = ort.InferenceSession(model)
columns = session.get_inputs()
query = 'SELECT id, {} FROM "{}"'.format(", ".join(f'"{each.name}"' for each in columns), table)
ids, *cells = zip(*sqlite3.connect(database).execute(query))
kinds = {"tensor(string)": (object, ""), "tensor(double)": (float, np.nan)}  # and what NULL is
feed = {}
for each, values in zip(columns, cells):
    kind, missing = kinds[each.type]
    feed[each.name] = np.array([missing if v is None else v for v in values], kind).reshape(-1, 1)
for who, risk in zip(ids, session.run(["probabilities"], feed)[0][:, 1]):
    print(who, risk)
