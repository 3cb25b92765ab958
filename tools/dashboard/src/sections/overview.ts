// Charts of the verdicts by field value, and of errors as a fraction of their bound.

import { choice, chosen, density, errorDensity, tenths, verdictRows } from "../charts";
import { term, valuesOf } from "../query";
import { figure, VERDICT_NAMES, type Case, type Report } from "../report";
import { read, toggleTerms } from "../state";
import { badge, byId, element, put } from "../text";

export const TENSOR_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6bb1", "#b8a100", "#5b7f95", "#a0522d"];

const OVERVIEWS: [string, string][] = [["operator", "by operator"], ["entry_point", "by entry point"], ["product", "by product"],
  ["dtype", "by element type"], ["sparse_mode", "by sparse mode"], ["layout", "by layout"], ["rule", "by rule that decided"]];

export function showVerdicts(report: Report, matching: Case[]): void {
  const counts = new Map<string, number>();
  for (const c of matching) counts.set(c.verdict, (counts.get(c.verdict) ?? 0) + 1);
  const names = [...VERDICT_NAMES, ...Object.keys(report.summary.verdicts).filter((v) => !VERDICT_NAMES.includes(v))];
  put("verdict-legend", ...names.filter((name) => report.summary.verdicts[name]).map((name) =>
    element("button", { type: "button", class: "chip", "aria-pressed": String(read().q.includes(term("verdict", name))),
      click: () => toggleTerms([term("verdict", name)]) }, badge(name), ` ${counts.get(name) ?? 0}`)));
  put("verdicts", ...OVERVIEWS.map(([field, title]) => verdictRows(report.cases, matching, field, title)));
}

const GROUPINGS = ["tensor", "head_dim", "length_group", "dtype", "operator", "entry_point", "sparse_mode", "profile"];

function drawErrors(cases: Case[]): void {
  const grouping = chosen("error-by");
  const judged = cases.filter((c) => !c.exact_case && c.error >= 0);
  const dots = grouping === "tensor" ?
    judged.flatMap((c) => c.tensors.filter((t) => t.elements_judged > 0).map((t) => ({ x: t.name, y: endless(figure(t.worst)) }))) :
    judged.flatMap((c) => valuesOf(c, grouping).map((x) => ({ x: String(x), y: c.error })));
  const columns = [...new Set(dots.map((dot) => dot.x))].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  put("chart-errors", errorDensity(dots, columns, (column) => (grouping === "tensor" ? "error." + column : "error"),
    (column) => (grouping === "tensor" ? "" : term(grouping, column)), "Worst error over bound of each case by " + grouping));
}

const endless = (x: number): number => (Number.isNaN(x) ? Infinity : x);

/** Share of judged elements in each tenth of the bound, by tensor; tolerance cases only. */
function histograms(cases: Case[]): Map<string, number[]> {
  const sums = new Map<string, { total: number; bins: number[] }>();
  for (const c of cases) {
    if (c.exact_case) continue;
    for (const t of c.tensors) {
      if (t.elements_judged === 0 || t.histogram.length === 0) continue;
      const sum = sums.get(t.name) ?? { total: 0, bins: t.histogram.map(() => 0) };
      sum.total += t.elements_judged;
      t.histogram.forEach((share, k) => { sum.bins[k]! += figure(share) * t.elements_judged; });
      sums.set(t.name, sum);
    }
  }
  return new Map([...sums].map(([name, { total, bins }]) => [name, bins.map((x) => x / total)]));
}

export function showAccuracy(matching: Case[]): void {
  drawErrors(matching);
  const shares = histograms(matching);
  put("chart-tenths", tenths(shares, TENSOR_COLOURS));
  put("tensor-legend", ...[...shares.keys()].map((name, k) => {
    const swatch = element("span", { class: "swatch" });
    swatch.style.background = TENSOR_COLOURS[k % TENSOR_COLOURS.length]!;
    return element("span", { class: "badge" }, swatch, name);
  }));
}

/** Charts with drop-down lists; `redraw` is called when another entry is selected. */
export function prepareAccuracy(report: Report, redraw: () => void): void {
  const known = GROUPINGS.filter((name) => report.cases.some((c) => valuesOf(c, name).length > 0));
  choice("error-by", known, known[0] ?? "dtype", redraw);
}

export function prepareDevice(report: Report, redraw: () => void): void {
  const names = [...new Set(report.cases.flatMap((c) => c.metrics.map((m) => m.name)))];
  byId("device-section").hidden = names.length === 0;
  if (names.length === 0) return;
  choice("metric-x", ["length", ...names], names.find((n) => n === "makespan") ?? "length", redraw);
  choice("metric-y", names, names.find((n) => /utili[sz]ation/.test(n)) ?? names[0]!, redraw);
}

export function showDevice(matching: Case[]): void {
  if (byId("device-section").hidden) return;
  const [across, up] = [chosen("metric-x"), chosen("metric-y")];
  const one = (c: Case, name: string): number => Number(valuesOf(c, name)[0] ?? NaN);
  put("chart-metrics", density(matching.map((c) => ({ x: one(c, across), y: one(c, up) })), across, up));
}
