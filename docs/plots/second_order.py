"""Tables of docs/studies/second_order.md (printed) and the data of its plot, from docs/results. Run from the project's folder."""

import json

cells = {}
for name in ("utility_second_order", "utility_second_order_saddles"):
    with open(f"docs/results/{name}.jsonl") as lines:
        for line in lines:
            cell = json.loads(line)
            cells[cell["key"]] = cell["result"]

METHODS = ["dp-tr", "dp-tr-b", "opt", "opt-b", "opt-ls", "2opt", "2opt-b", "2opt-ls"]
for start in ("normal", "zero"):
    for tolerance in ("loose", "tight"):
        print(f"\n{start} {tolerance}\n")
        print("| method | ε 0.2 | ε 0.6 | ε 1.0 |\n|---|---|---|---|")
        for method in METHODS:
            row = []
            for epsilon in ("0.2", "0.6", "1"):
                cell = cells[f"covertype {method} {tolerance} epsilon {epsilon} {start}"]
                cross = " ×" if cell["violations"] or cell["exhausted"] else ""
                row.append(f"{cell['loss']:.3f} ± {cell['loss_sd']:.3f}{cross}; {100 * cell['accuracy']:.1f} %; {cell['seconds']:.2f} s")
            print(f"| {method} | " + " | ".join(row) + " |")

for data in ("ijcnn1", "covertype"):
    print(f"\n{data}, optimum {cells[f'comparison {data} optimum']:.4f}\n")
    print("| method | ε 0.5 | ε 1 | ε 2 |\n|---|---|---|---|")
    for method in ("dp-tr", "dp-str", "dp-gd-sosp", "dp-gd"):
        for alpha in (" alpha 0.1", ""):
            keys = [f"comparison {data} {method}{alpha} epsilon {epsilon}" for epsilon in ("0.5", "1", "2")]
            if keys[0] not in cells:
                continue
            row = [f"{cells[k]['gradient_norm']:.4f}; {cells[k]['gap']:.4f}; {cells[k]['passes']:.0f}; {cells[k]['seconds']:.3f} s" for k in keys]
            print(f"| {method}{', α = 0.1' if alpha else ''} | " + " | ".join(row) + " |")

# Cells of 100 runs with fresh seeds are the best of a batch's grid; dp-tr, 2opt-ls and opt have one setting.
with open("docs/results/utility_second_order_saddles.dat", "w") as out:
    groups = {}
    print("\n| rows per release | first order | passes | gradient | second order | passes | gradient |\n|---|---|---|---|---|---|---|")
    table = {}
    for key, cell in cells.items():
        if not key.startswith("saddle ") or cell["escaped"] < 0.95:
            continue
        words = key.split()
        method = words[1]
        given = dict(word.split("=") for word in words if "=" in word)
        batch = given.get("expected_batch", "full")
        if " from 1000 " not in key and method not in ("dp-tr", "2opt-ls", "opt"):
            continue
        second = method not in ("dp-gd", "dp-sgd")
        label = method if batch == "full" else f"{method}, {batch} rows"
        if label not in groups or cell["first_passes"] < groups[label][0]:
            groups[label] = (cell["first_passes"], second)
        told = {"step_size": "step", "momentum": "momentum", "radius": "radius", "hessian_clip": "Hessian clip"}
        setting = ", ".join(f"{told[name]} {given[name]}" for name in told if name in given and (second or name != "radius"))
        best = table.setdefault(batch, {})
        if second not in best or cell["first_passes"] < best[second][0]:
            best[second] = (cell["first_passes"], f"{method} ({setting}) | {cell['first_passes']:.3g} | {cell['gradient']:.2g}")
    for batch in sorted(table, key=lambda b: float("inf") if b == "full" else float(b)):
        row = table[batch]
        print(f"| {batch} | " + " | ".join(row[second][1] if second in row else "none | | " for second in (False, True)) + " |")
    for label, (passes, second) in sorted(groups.items(), key=lambda item: item[1][0]):
        out.write(f'"{label}" {passes if second else 0} {0 if second else passes}\n')
