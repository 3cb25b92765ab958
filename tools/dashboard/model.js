"use strict";

// Reading the embedded reports. Everything below works on plain objects and touches no page.

/** Verdicts in the order in which they are drawn: name, colour, weight (0 conforms, 1 fails, 2 says nothing). */
const VERDICTS = [
  ["conforms", "#009e73", 0], ["conforms_weak", "#7fcfb6", 0],
  ["rejected_as_specified", "#0072b2", 0], ["rejected_other_code", "#56b4e9", 0],
  ["not_applicable", "#a7b0ba", 0],
  ["nonconformant_structural", "#d55e00", 1], ["nonconformant_proven", "#b03a00", 1],
  ["nonconformant_statistical", "#f08a4b", 1], ["statistical_unconfirmed", "#f6b48a", 1],
  ["nondeterministic", "#cc79a7", 1], ["rejected_wrongly", "#a0457c", 1],
  ["accepted_wrongly", "#7b2d5e", 1], ["crash", "#6b1d1d", 1], ["timeout", "#8c5a5a", 1],
  ["inconclusive", "#e0b400", 2], ["vacuous", "#efdc82", 2],
  ["usage_error", "#777777", 2], ["tool_failure", "#444444", 2],
];
const COLOUR = Object.fromEntries(VERDICTS.map(([name, colour]) => [name, colour]));
const WEIGHT = Object.fromEntries(VERDICTS.map(([name, , weight]) => [name, weight]));
const TENSOR_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#b8a100", "#5b7f95", "#a0522d"];

/** Numbers that JSON cannot hold are strings. */
function number(value) {
  if (value === "nan") return NaN;
  if (value === "inf") return Infinity;
  if (value === "-inf") return -Infinity;
  return value;
}

/** Largest error / bound over the tensors of a case; -1 where nothing was judged. */
function worstOf(report) {
  let worst = -1;
  for (const tensor of report.tensors) {
    const ratio = number(tensor.worst);
    if (tensor.elements_judged > 0) worst = Math.max(worst, Number.isNaN(ratio) ? Infinity : ratio);
  }
  return worst;
}

/**
 * Multiply-adds of one product as a measure of size: every token of every head with what it meets, the keys of its
 * list, the windows over it, or all keys. Of extents that an operator has not, none counts.
 */
function sizeOf(report) {
  const f = (...names) => Number(report.fields[names.find((name) => name in report.fields)] || 1);
  const listed = f("selected_block_size") * f("selected_block_count");
  const met = listed > 1 ? listed : f("seq_kv") * f("compress_block_size") / f("compress_stride");
  return f("batch") * f("heads_q", "heads") * f("seq_q", "seq") * f("head_dim") * met;
}

/** Cases with what the page derives from them. */
function readReport(text) {
  if (text.trim() === "null") return null;
  const report = JSON.parse(text);
  const shrunk = new Map((report.shrunk || []).map((s) => [s.id, s]));
  for (const c of report.cases) {
    c.program = report.environment.program || "assay";
    c.worst = worstOf(c);
    c.size = sizeOf(c);
    c.shrunk = shrunk.get(c.id) || null;
    c.exact_case = ["exact", "exact_staged"].includes(c.fields.track);
  }
  return report;
}

/** field value -> verdict -> number of cases. */
function countBy(cases, field) {
  const counts = new Map();
  for (const c of cases) {
    const value = c.fields[field] === undefined ? "-" : c.fields[field];
    if (!counts.has(value)) counts.set(value, {});
    const row = counts.get(value);
    row[c.verdict] = (row[c.verdict] || 0) + 1;
  }
  return new Map([...counts].sort((a, b) => String(a[0]).localeCompare(String(b[0]), "en", {numeric: true})));
}

/** Share of judged elements in each tenth of the bound, by tensor; tolerance cases only. */
function histograms(cases) {
  const sums = new Map();
  for (const c of cases) {
    if (c.exact_case) continue;
    for (const t of c.tensors) {
      if (t.elements_judged === 0 || t.histogram.length === 0) continue;
      if (!sums.has(t.name)) sums.set(t.name, {total: 0, bins: t.histogram.map(() => 0)});
      const sum = sums.get(t.name);
      sum.total += t.elements_judged;
      t.histogram.forEach((share, k) => { sum.bins[k] += number(share) * t.elements_judged; });
    }
  }
  return new Map([...sums].map(([name, {total, bins}]) => [name, bins.map((x) => x / total)]));
}

/** metric name -> unit, of all cases. */
function metricNames(cases) {
  const names = new Map();
  for (const c of cases) for (const m of c.metrics) names.set(m.name, m.unit);
  return names;
}

function metric(c, name) {
  if (name === "multiply-adds") return c.size;
  const found = c.metrics.find((m) => m.name === name);
  return found === undefined ? NaN : number(found.value);
}

/** Pairs of the same case in two reports. */
function pairs(now, before) {
  const earlier = new Map(before.cases.map((c) => [c.id, c]));
  return now.cases.filter((c) => earlier.has(c.id)).map((c) => ({now: c, before: earlier.get(c.id)}));
}

function short(value) {
  if (!Number.isFinite(value)) return {"Infinity": "inf", "-Infinity": "-inf"}[value] || "nan";
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e5))
    return value.toExponential(2).replace(/\.?0*e\+?/, "e");
  return String(Number(value.toPrecision(4)));
}
