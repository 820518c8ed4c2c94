#!/usr/bin/env python3
"""Pictures for the pages of the first-order methods: docs/results/first_order_curves.jsonl to one SVG per
method, through gnuplot. The data file comes from ./dev bench utility-first-order (its third program)."""

import json
import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent
RESULTS = HERE.parent / "results" / "first_order_curves.jsonl"

NON_PRIVATE = 0.3330  # test objective of the non-private optimum, docs/studies/first_order.md
# [WJEG23] Table 2: passes, test objective, gradient norm
PRINTED = {
    ("dp-gd", 0.2): (20, 0.4155, 0.0953),
    ("dp-gd", 0.5): (20, 0.3859, 0.0866),
    ("dp-agd", 0.2): (360, 0.3713, 0.0437),
    ("dp-agd", 0.5): (365, 0.3627, 0.0402),
    ("rrpsgd", 0.2): (8, 0.4019, 0.2175),
    ("rrpsgd", 0.5): (10, 0.3861, 0.1454),
    ("dp-srm", 0.2): (4, 0.3579, 0.0528),
    ("dp-srm", 0.5): (5, 0.3506, 0.0502),
}
COLOURS = {0.2: "#c2410c", 0.5: "#1d4ed8"}


def block(name, rows):
    lines = "\n".join(" ".join(f"{value:.6g}" for value in row) for row in rows)
    return f"${name} << END\n{lines}\nEND\n"


def panel(method, curves, what, label, column):
    """Data blocks and the plot command of one panel."""
    blocks, parts = "", []
    if method != "dp-gd":
        for epsilon in COLOURS:
            name = f"gd_{column}_{int(10 * epsilon)}"
            points = curves[("dp-gd", epsilon)]["points"]
            blocks += block(name, [(p["passes"], p[what]) for p in points])
            title = "dp-gd, both" if epsilon == 0.2 and column == 1 else ""
            parts.append(f"${name} with lines lc rgb '#9ca3af' dt 2 title '{title}'")
    for epsilon, colour in COLOURS.items():
        name = f"own_{column}_{int(10 * epsilon)}"
        points = curves[(method, epsilon)]["points"]
        blocks += block(name, [(p["passes"], p[what], p[what] - p[what + "_half"], p[what] + p[what + "_half"]) for p in points])
        title = f"{method}, epsilon {epsilon}" if column == 1 else ""
        parts.append(f"${name} using 1:3:4 with filledcurves fs transparent solid 0.2 noborder lc rgb '{colour}' notitle")
        parts.append(f"${name} using 1:2 with lines lw 2 lc rgb '{colour}' title '{title}'")
        if (method, epsilon) in PRINTED:
            passes, objective, norm = PRINTED[(method, epsilon)]
            blocks += block("printed_" + name, [(passes, objective if column == 1 else norm)])
            title = f"printed, epsilon {epsilon}" if column == 1 else ""
            parts.append(f"$printed_{name} with points pt 8 ps 1.2 lc rgb '{colour}' title '{title}'")
    if column == 1:
        parts.append(f"{NON_PRIVATE} with lines dt 3 lc rgb '#111827' title 'non-private optimum'")
    return blocks, f"set ylabel '{label}'\nplot " + ", \\\n  ".join(parts) + "\n"


def picture(method, curves):
    data1, plot1 = panel(method, curves, "objective", "test objective", 1)
    data2, plot2 = panel(method, curves, "gradient_norm", "gradient norm", 2)
    script = f"""
set terminal svg size 900,360 font 'sans-serif,13' background rgb 'white'
set output '{HERE / (method + ".svg")}'
{data1}{data2}
set multiplot layout 1,2
set border 3; set tics nomirror; set grid ytics lc rgb '#e5e7eb'
set logscale x; set xlabel 'passes over the data'
set key opaque top right samplen 1.5 spacing 1.1
set yrange [0.32:0.55]
{plot1}
set logscale y; set yrange [*:*]
{plot2}
unset multiplot
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def main():
    curves = {}
    for line in RESULTS.read_text().splitlines():
        result = json.loads(line)["result"]
        curves[(result["method"], result["epsilon"])] = result
    for method in {method for method, _ in curves}:
        picture(method, curves)


if __name__ == "__main__":
    main()
