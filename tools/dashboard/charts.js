"use strict";

// Pictures. Colours of text and lines follow the page's scheme; charts are made anew when it changes.

const charts = new Map();

function style(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function draw(id, config) {
  if (charts.has(id)) charts.get(id).destroy();
  Chart.defaults.color = style("--quiet");
  Chart.defaults.borderColor = style("--line");
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  config.options = Object.assign({responsive: true, maintainAspectRatio: false, animation: false}, config.options);
  charts.set(id, new Chart(document.getElementById(id), config));
}

function axis(title, extra) {
  return Object.assign({title: {display: title !== "", text: title}}, extra);
}

function isPowerOfTen(value) {
  return value > 0 && Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;
}

/** A logarithmic axis with labels and lines at powers of ten only. */
function logarithmic(title, extra) {
  return axis(title, Object.assign({
    type: "logarithmic",
    ticks: {callback: (value) => (isPowerOfTen(value) ? short(value) : ""), autoSkip: false, maxRotation: 0},
    grid: {color: (line) => (line.tick && isPowerOfTen(line.tick.value) ? style("--line") : "transparent")},
  }, extra));
}

function drawVerdicts(report, field) {
  const counts = countBy(report.cases, field);
  const present = VERDICTS.filter(([name]) => report.summary.verdicts[name]);
  draw("chart-" + field, {
    type: "bar",
    data: {
      labels: [...counts.keys()],
      datasets: present.map(([name, colour]) => ({
        label: name, backgroundColor: colour, data: [...counts.values()].map((row) => row[name] || 0),
      })),
    },
    options: {
      indexAxis: "y",
      scales: {x: axis("cases", {stacked: true, ticks: {precision: 0}}), y: axis("", {stacked: true, grid: {display: false}, ticks: {autoSkip: false}})},
      plugins: {legend: {display: false}},
    },
  });
}

function drawHistogram(report) {
  const bins = histograms(report.cases);
  const count = Math.max(0, ...[...bins.values()].map((b) => b.length));
  const labels = Array.from({length: count}, (_, k) => (k === count - 1 ? "above 1" : (k / 10).toFixed(1)));
  draw("chart-histogram", {
    type: "bar",
    data: {
      labels,
      datasets: [...bins].map(([name, shares], k) => ({
        label: name, backgroundColor: TENSOR_COLOURS[k], data: shares.map((x) => (x > 0 ? x : null)),
      })),
    },
    options: {
      scales: {
        x: axis("error / bound, from", {grid: {display: false}}),
        y: logarithmic("share of elements", {max: 1}),
      },
    },
  });
}

/** A dashed line at y = 1: the bound. */
function limitLine(last) {
  return {
    type: "line", label: "the bound", data: [{x: 0, y: 1}, {x: last, y: 1}], borderColor: style("--bad"),
    borderDash: [6, 4], borderWidth: 1.5, pointRadius: 0, pointStyle: "line",
  };
}

function caseTooltip(items) {
  return {
    callbacks: {
      label: (item) => {
        const c = items(item);
        return c === undefined ? item.dataset.label : [c.verdict + ", " + short(item.parsed.y), c.id].concat(wrapped(c.command_line));
      },
    },
  };
}

function wrapped(line) {
  const lines = [""];
  for (const word of line.split(" ")) {
    if ((lines[lines.length - 1] + word).length > 60) lines.push("");
    lines[lines.length - 1] += word + " ";
  }
  return lines;
}

function drawWorst(report) {
  const judged = report.cases.filter((c) => !c.exact_case && c.worst >= 0).sort((a, b) => a.size - b.size);
  const dtypes = [...new Set(judged.map((c) => c.fields.dtype))].sort();
  const cap = 2;
  const datasets = dtypes.map((dtype, k) => ({
    label: dtype, backgroundColor: TENSOR_COLOURS[k], pointRadius: 3, clip: 8, pointStyle: ["circle", "triangle", "rect"][k % 3],
    data: judged.map((c, x) => ({x, y: Math.min(c.worst, cap), c})).filter((p) => p.c.fields.dtype === dtype),
  }));
  draw("chart-worst", {
    type: "scatter",
    data: {datasets: datasets.concat([limitLine(Math.max(1, judged.length - 1))])},
    options: {
      scales: {x: axis("case, smallest first", {ticks: {precision: 0}}), y: axis("error / bound", {min: 0, max: judged.some((c) => c.worst > 1) ? cap : 1.1})},
      plugins: {tooltip: caseTooltip((item) => item.raw.c), legend: {labels: {usePointStyle: true}}},
    },
  });
}

function drawMetrics(report, across, up) {
  const points = report.cases.map((c) => ({x: metric(c, across), y: metric(c, up), c}))
      .filter((p) => Number.isFinite(p.x) && Number.isFinite(p.y));
  const dtypes = [...new Set(points.map((p) => p.c.fields.dtype))].sort();
  const scale = (name, values) => {
    const positive = values.every((v) => v > 0);
    const wide = positive && Math.max(...values) > 50 * Math.min(...values);
    return wide ? logarithmic(name) : axis(name, {type: "linear"});
  };
  draw("chart-metrics", {
    type: "scatter",
    data: {
      datasets: dtypes.map((dtype, k) => ({
        label: dtype, backgroundColor: TENSOR_COLOURS[k], pointRadius: 3.5,
        pointStyle: ["circle", "triangle", "rect"][k % 3], data: points.filter((p) => p.c.fields.dtype === dtype),
      })),
    },
    options: {
      scales: {x: scale(across, points.map((p) => p.x)), y: scale(up, points.map((p) => p.y))},
      plugins: {tooltip: caseTooltip((item) => item.raw.c), legend: {labels: {usePointStyle: true}}},
    },
  });
}

function drawBeforeNow(both) {
  const least = 1e-3;
  const points = both.filter((p) => p.now.worst >= 0 && p.before.worst >= 0)
      .map((p) => ({x: Math.max(least, p.before.worst), y: Math.max(least, p.now.worst), c: p.now}));
  const most = Math.max(1, ...points.filter((p) => Number.isFinite(p.y)).map((p) => Math.max(p.x, p.y)));
  const log = (title) => logarithmic(title, {min: least, max: most * 1.2});
  draw("chart-before-now", {
    type: "scatter",
    data: {
      datasets: [
        {label: "cases", data: points, backgroundColor: points.map((p) => COLOUR[p.c.verdict]), pointRadius: 3.5},
        {type: "line", label: "unchanged", data: [{x: least, y: least}, {x: most, y: most}], borderColor: style("--quiet"),
         borderDash: [6, 4], borderWidth: 1.5, pointRadius: 0},
      ],
    },
    options: {
      scales: {x: log("before"), y: log("now")},
      plugins: {tooltip: caseTooltip((item) => item.raw.c), legend: {display: false}},
    },
  });
}
