"use strict";
(() => {
  const specs = JSON.parse(document.querySelector("script#charts").textContent);
  const figures = document.querySelectorAll("figure.chart");
  const variable = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const print_palette = { text: "#1c2126", soft: "#444c54", line: "#d5dade",
    series: ["#0072b2", "#d55e00", "#007a5a", "#b5479b", "#8a6100", "#3b8fc4", "#5b5bd6", "#4d4d4d"] };
  const screen_palette = () => ({ text: variable("--text"), soft: variable("--soft"), line: variable("--line"),
    series: variable("--series").split(/\s+/) });

  const short = value => {
    const number = Number(Number(value).toPrecision(6));
    const size = Math.abs(number);
    if (number !== 0 && (size >= 1e6 || size < 1e-3)) return number.toExponential().replace("e+", "e");
    return size >= 1e4 ? number.toLocaleString("en") : String(number);
  };

  // On a logarithmic axis of more than a decade only 1, 2, 5 (or 1 alone, if there are many) have room.
  function log_tick(value) {
    const decades = Math.log10(this.max / this.min);
    const lead = Math.round(value / 10 ** Math.floor(Math.log10(value) + 1e-9));
    if (decades > 3 ? lead === 1 : decades > 1 ? [1, 2, 5].includes(lead) : true) return short(value);
    return null;
  }

  const axis = (title, log, min, max, most = Infinity) => ({
    min, max,
    afterDataLimits: scale => { scale.max = Math.min(scale.max, most); },
    type: log ? "logarithmic" : "linear",
    title: { display: true, text: title },
    ticks: { maxRotation: 0, autoSkipPadding: 12, callback: log ? log_tick : short },
    grid: {}, border: {},
  });

  // One line a series, and with a band two more that nobody sees in legend or tooltip.
  function datasets(spec) {
    const list = [];
    spec.series.forEach((series, k) => {
      const few = series.points.length <= 16;
      list.push({ label: series.name || spec.y, data: series.points, series: k, band: false,
        borderWidth: 2, borderDash: series.dashed ? [6, 5] : [], showLine: !series.markers, tension: 0,
        pointRadius: series.markers ? 4 : few && !series.dashed ? 3 : 0, pointHitRadius: 8, fill: false });
      if (!series.lower) return;
      const edge = { series: k, band: true, borderWidth: 0, pointRadius: 0, pointHitRadius: 0 };
      list.push({ ...edge, label: "", data: series.lower, fill: false });
      list.push({ ...edge, label: "", data: series.upper, fill: "-1" });
    });
    return list;
  }

  function paint(chart, palette) {
    for (const set of chart.data.datasets) {
      const colour = palette.series[set.series % palette.series.length];
      set.borderColor = colour;
      set.backgroundColor = set.band ? colour + "33" : colour;
    }
    for (const scale of Object.values(chart.options.scales)) {
      scale.ticks.color = palette.soft;
      scale.title.color = palette.soft;
      scale.grid.color = palette.line;
      scale.grid.borderColor = palette.line;
    }
    chart.update("none");
    if (chart.legend_marks)
      chart.legend_marks.forEach((mark, k) => {
        mark.style.borderTopColor = palette.series[k % palette.series.length];
      });
  }

  function legend(chart, spec, figure) {
    if (spec.series.length < 2 && !spec.series[0].name) return;
    const list = document.createElement("ul");
    list.className = "legend";
    chart.legend_marks = spec.series.map((series, k) => {
      const button = document.createElement("button");
      const mark = document.createElement("i");
      if (series.dashed) mark.className = "dashed";
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      button.append(mark, series.name || spec.y);
      button.addEventListener("click", () => {
        const shows = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(shows));
        chart.data.datasets.forEach((set, i) => { if (set.series === k) chart.setDatasetVisibility(i, shows); });
        chart.update("none");
      });
      const item = document.createElement("li");
      item.append(button);
      list.append(item);
      return mark;
    });
    figure.append(list);
  }

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12;
  const charts = specs.map((spec, i) => {
    const chart = new Chart(figures[i].querySelector("canvas"), {
      type: "line",
      data: { datasets: datasets(spec) },
      options: {
        parsing: false, animation: false, maintainAspectRatio: false, spanGaps: false,
        interaction: { mode: "nearest", intersect: false },
        plugins: {
          legend: { display: false },
          tooltip: {
            filter: item => !item.dataset.band,
            callbacks: {
              title: items => items.length ? spec.x + " " + short(items[0].parsed.x) : "",
              label: item => item.dataset.label + ": " + short(item.parsed.y),
            },
          },
        },
        scales: { x: axis(spec.x, spec.log_x, spec.x_min, spec.x_max), y: axis(spec.y, spec.log_y, spec.y_min, spec.y_max, spec.y_most) },
      },
    });
    legend(chart, spec, figures[i]);
    paint(chart, screen_palette());
    return chart;
  });
  window.sotto_charts = charts;

  const repaint = () => charts.forEach(chart => paint(chart, screen_palette()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  addEventListener("beforeprint", () => charts.forEach(chart => { chart.resize(); paint(chart, print_palette); }));
  addEventListener("afterprint", () => { charts.forEach(chart => chart.resize()); repaint(); });
})();
