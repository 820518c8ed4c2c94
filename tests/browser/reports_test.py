"""Reports in a real browser: charts are drawn, nothing is fetched, nothing overflows, in light and dark.

usage: reports_test.py --sotto PROGRAM --work FOLDER [--screenshots FOLDER]
Exit code 77: no browser here, nothing was tested.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

from devtools import Browser, find_browser

WIDTHS = [375, 1440]

# How many series each chart of each page must have, in order.
EXPECTED = {
    "run.html": [2, 1, 1, 1],
    "unsafe.html": [2, 1],
    "plain.html": [1],
    "filter.html": [2, 1],
    "comparison.html": [3, 3, 3, 3],
    "audit.html": [3],
    "curve.html": [2, 2],
    "evaluation.html": [2, 2, 2],
    "timid.html": [2, 2, 2],
}

LOOK = """(() => {
  const luminance = text => {
    const [r, g, b] = text.match(/[0-9.]+/g).map(Number).map(v => {
      v /= 255;
      return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/rgba\\(.*, 0(\\.\\d+)?\\)/.test(colour)) return luminance(colour);
    }
    return 1;
  };
  const colours = canvas => {
    const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4)
      if (data[i + 3] > 0) seen.add(data[i] + "," + data[i + 1] + "," + data[i + 2]);
    return seen.size;
  };
  const charts = window.sotto_charts || [];
  const faint = [];
  for (const element of document.querySelectorAll("p, li, td, th, dt, dd, h1, h2, h3, figcaption *, .figure *, nav a, " +
                                                  ".banner *, pre code, button")) {
    if (!element.textContent.trim()) continue;
    const value = contrast(luminance(getComputedStyle(element).color), behind(element));
    if (value < 4.5) faint.push(element.tagName + " " + element.textContent.slice(0, 40) + " " + value.toFixed(2));
  }
  const wide = [];
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest(".scroll") && !element.matches(".scroll")) continue;
    const box = element.getBoundingClientRect();
    if (box.width > 0 && (box.right > innerWidth + 0.5 || box.left < -0.5))
      wide.push(element.tagName + "." + element.className + " " + box.left + ".." + box.right);
  }
  // A caption is read before the table is scrolled.
  for (const text of document.querySelectorAll(".scroll caption")) {
    const seen = text.closest(".scroll").getBoundingClientRect();
    const range = document.createRange();
    range.selectNodeContents(text);
    for (const line of range.getClientRects())
      if (line.right > seen.right + 0.5) wide.push("caption " + text.textContent.slice(0, 40));
  }
  return {
    shares: charts.filter(c => c.options.scales.y.title.text.endsWith("%")).map(c => c.scales.y.max),
    figures: document.querySelectorAll("figure.chart").length,
    series: charts.map(c => c.data.datasets.filter(d => !d.band).length),
    drawn: charts.map(c => c.getDatasetMeta(0).data.filter(p => !p.skip && isFinite(p.x) && isFinite(p.y)).length),
    legends: [...document.querySelectorAll("figure.chart")].map(f => f.querySelectorAll(".legend button").length),
    colours: charts.map(c => colours(c.canvas)),
    sizes: charts.map(c => [c.canvas.clientWidth, c.canvas.clientHeight]),
    overflow: document.documentElement.scrollWidth - innerWidth,
    background: luminance(getComputedStyle(document.body).backgroundColor),
    faint, wide,
    danger: document.querySelectorAll(".banner.danger").length,
    small: [...document.querySelectorAll("body *")].filter(
      e => e.childElementCount === 0 && e.textContent.trim() && parseFloat(getComputedStyle(e).fontSize) < 11).length,
  };
})()"""


def problems(browser, path, width, dark, series):
    """What is wrong with the page, in words."""
    url = pathlib.Path(path).resolve().as_uri()
    errors, requests = browser.open(url, width, dark)
    seen = browser.evaluate(LOOK)
    found = ["console: " + error for error in errors]
    found += ["request: " + r for r in requests if r != url and not r.startswith("data:")]
    if seen["series"] != series:
        found.append(f"series {seen['series']} instead of {series}")
    if seen["figures"] != len(series):
        found.append(f"{seen['figures']} charts instead of {len(series)}")
    for k, (count, legend) in enumerate(zip(seen["series"], seen["legends"])):
        if legend not in (count, 0) or (count > 1 and legend == 0):
            found.append(f"chart {k} has {count} series but {legend} legend entries")
    found += [f"chart {k} is blank" for k, n in enumerate(seen["drawn"]) if n < 2]
    found += [f"chart {k} has {n} colours only" for k, n in enumerate(seen["colours"]) if n < 4]
    found += [f"chart {k} is {w} x {h}" for k, (w, h) in enumerate(seen["sizes"]) if w < 250 or h < 180]
    found += [f"an axis in % goes up to {most}" for most in seen["shares"] if most > 100]
    if seen["overflow"] > 0:
        found.append(f"{seen['overflow']} px wider than the window")
    found += ["sticks out: " + text for text in seen["wide"][:5]]
    found += ["hard to read: " + text for text in seen["faint"][:5]]
    if seen["small"]:
        found.append(f"{seen['small']} texts below 11 px")
    if (seen["background"] < 0.2) != dark:
        found.append("dark page asked for in light, or the other way round")
    return found, seen


def run(sotto, *arguments):
    done = subprocess.run([sotto, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"sotto {' '.join(arguments)} failed with {done.returncode}: {done.stderr}")


def make_pages(sotto, work):
    for name in ["train.svm", "test.svm"]:
        with open(name, "w") as file:
            for i in range(400):
                x = 0.1 * (i % 10)
                file.write(f"{'+1' if i % 2 else '-1'} 1:{0.8 if i % 2 else -0.7} 2:{x:.3f} 3:{0.3 - x:.3f}\n")
    common = ["--again", "--dim", "3", "--row-norm", "1", "-q", "train.svm", "model.json"]
    budget = ["--epsilon", "1", "--delta", "1e-4"]
    test = ["--test", "test.svm"]
    run(sotto, "train", *budget, *test, "--record", "run.json", "--report", "run.html", *common)
    run(sotto, "train", *budget, "--unsafe-diagnostics", "--seed", "1", "--report", "unsafe.html", *common)
    run(sotto, "train", "--method", "gd", *test, "--record", "plain.json", *common)
    run(sotto, "train", "--method", "gd", "--report", "plain.html", *common)
    run(sotto, "train", "--method", "dp-agd", *budget, "--report", "filter.html", *common)
    run(sotto, "train", "--method", "dp-sgd", *budget, *test, "--record",
        "a-run-with-a-very-long-name-that-must-not-stick-out-of-a-phone.json", *common)
    run(sotto, "report", "run.json", "a-run-with-a-very-long-name-that-must-not-stick-out-of-a-phone.json",
        "plain.json", "--out", "comparison.html")
    run(sotto, "audit", "--epsilon", "4", "--delta", "1e-5", "--runs", "500", "-q", "--report", "audit.html")
    with open("overlap.svm", "w") as file:
        for i in range(600):
            file.write(f"{'+1' if (7 * i) % 30 < i % 10 else '-1'} 1:{0.1 * (i % 10):.3f} 2:{0.05 * (i % 13):.3f}\n")
    for page, weight in [("evaluation", 0), ("timid", -9)]:
        run(sotto, "train", "--method", "gd", "--bias", "--dim", "2", "-q", "overlap.svm", f"{page}.json")
        with open(f"{page}.json") as file:
            model = json.load(file)
        model["weights"][-1] += weight  # a class that is never predicted
        with open(f"{page}.json", "w") as file:
            json.dump(model, file)
        run(sotto, "evaluate", "overlap.svm", f"{page}.json", "--report", f"{page}.html")
    run(sotto, "account", "--event", "repeat(100, gaussian(20))", "--neighbours", "zero-out",
        "--curve", "--html", "curve.html")


def check_the_checks(browser):
    """A page with every defect; each must be seen."""
    with open("broken.html", "w") as file:
        file.write("<!doctype html><body style='background:#fff;color:#ccc'><p style='font-size:6px'>faint</p>"
                   "<div style='width:3000px'>wide</div><img src='http://127.0.0.1:9/x.png'>"
                   "<figure class=chart></figure><script>console.error('x'); undefined_name();</script>")
    found, _ = problems(browser, "broken.html", 375, True, [1])
    for defect in ["console:", "request:", "series", "wider than", "sticks out", "hard to read", "below 11", "dark page"]:
        if not any(defect in text for text in found):
            sys.exit(f"the test does not notice: {defect} (it found {found})")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sotto", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--screenshots")
    arguments = parser.parse_args()
    program = find_browser()
    if not program:
        print("browser.reports: Skipped\nno chromium here (Debian: apt install chromium)")
        sys.exit(77)
    shutil.rmtree(arguments.work, ignore_errors=True)
    os.makedirs(arguments.work)
    if arguments.screenshots:
        os.makedirs(arguments.screenshots, exist_ok=True)
        arguments.screenshots = os.path.abspath(arguments.screenshots)
    sotto = os.path.abspath(arguments.sotto)
    os.chdir(arguments.work)
    make_pages(sotto, arguments.work)
    browser = Browser(program)
    failures = 0
    try:
        check_the_checks(browser)
        for page, series in EXPECTED.items():
            for width in WIDTHS:
                for dark in [False, True]:
                    found, seen = problems(browser, page, width, dark, series)
                    if (seen["danger"] > 0) != (page in ("unsafe.html", "plain.html", "comparison.html")):
                        found.append(f"{seen['danger']} red banners")
                    shade = "dark" if dark else "light"
                    for text in found:
                        print(f"{page} at {width} px, {shade}: {text}")
                    failures += len(found)
                    if arguments.screenshots:
                        name = f"{pathlib.Path(page).stem}-{width}-{shade}.png"
                        browser.screenshot(os.path.join(arguments.screenshots, name))
            if not browser.pdf().startswith(b"%PDF"):
                print(f"{page}: does not print")
                failures += 1
            if arguments.screenshots:
                with open(os.path.join(arguments.screenshots, pathlib.Path(page).stem + ".pdf"), "wb") as file:
                    file.write(browser.pdf())
    finally:
        browser.close()
    print(f"{len(EXPECTED)} pages, {failures} problems")
    sys.exit(1 if failures else 0)


main()
