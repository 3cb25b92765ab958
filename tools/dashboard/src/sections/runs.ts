// Compares several reports: runs of one kernel over time, or runs of different kernels. The rest of the page shows only
// the first report.

import { scaleLog, scalePoint } from "d3-scale";

import { kindOf, type Case, type Change, type Kind, type Report } from "../report";
import { address, read, toggleTerms } from "../state";
import { byId, element, plural, put, short, svg, table } from "../text";
import { TENSOR_COLOURS } from "./overview";

/** The severity of a verdict in the exit code, as `assay report` compares it. */
const WEIGHT: Record<Kind, number> = { conforms: 0, not_applicable: 0, unclear: 1, fails: 2 };
const ORDER: Change[] = ["regression", "improvement", "other"];

/** Returns whether the verdict describes an answer of the implementation. */
const isDecided = (c: Case): boolean => ["conforms", "fails"].includes(kindOf(c.verdict));

/** Returns whether a case was judged before but is not judged now. For a failure this is not an improvement. */
function isLost(now: Case, before: Case): boolean {
  return isDecided(before) && (!isDecided(now) || (before.value_case && !now.value_case && kindOf(now.verdict) === "conforms"));
}

/** The change as `assay report NOW BEFORE` counts it; undefined if nothing changed. */
function changeOf(now: Case, before: Case | undefined): Change | undefined {
  if (before === undefined) return kindOf(now.verdict) === "fails" ? "regression" : undefined;
  const graver = WEIGHT[kindOf(now.verdict)] - WEIGHT[kindOf(before.verdict)];
  if (graver > 0 || isLost(now, before)) return "regression";
  if (now.verdict === before.verdict) return undefined;
  return graver < 0 ? "improvement" : "other";
}

interface Changed {
  now: Case;
  before: Case | undefined;
  change: Change;
}

/** The changes between two reports, regressions first. */
export function changes(now: Report, before: Report): Changed[] {
  const earlier = new Map(before.cases.map((c) => [c.id, c]));
  return now.cases.flatMap((c) => {
    const then = earlier.get(c.id), change = changeOf(c, then);
    return change === undefined ? [] : [{ now: c, before: then, change }];
  }).sort((a, b) => ORDER.indexOf(a.change) - ORDER.indexOf(b.change));
}

const counted = (all: Changed[], change: Change): number => all.filter((c) => c.change === change).length;

const nameOf = (report: Report): string =>
  report.environment.implementation + (report.environment.started ? ", " + report.environment.started : "");

function count(report: Report, kind: Kind): number {
  return report.cases.filter((c) => kindOf(c.verdict) === kind).length;
}

/** The largest finite error / bound of each tensor, of tolerance cases. */
function worst(report: Report): Map<string, number> {
  const result = new Map<string, number>();
  for (const c of report.cases) {
    if (c.exact_case) continue;
    for (const t of c.tensors)
      if (t.elements_judged > 0 && typeof t.worst === "number")
        result.set(t.name, Math.max(result.get(t.name) ?? 0, t.worst));
  }
  return result;
}

function sideBySide(runs: Report[]): HTMLElement {
  const errors = runs.map(worst);
  const tensors = [...new Set(errors.flatMap((e) => [...e.keys()]))];
  const row = (name: string, of: (report: Report, k: number) => string): string[] => [name, ...runs.map(of)];
  return table(["", ...runs.map(nameOf)], [
    row("cases", (r) => String(r.cases.length)),
    row("conform", (r) => `${count(r, "conforms")} of ${r.cases.filter(isDecided).length} judged`),
    row("fail", (r) => String(count(r, "fails"))),
    row("unclear", (r) => String(count(r, "unclear"))),
    row("not applicable", (r) => String(count(r, "not_applicable"))),
    row("regressions since the next column", (r, k) => {
      const next = runs[k + 1];
      return next === undefined ? "-" : String(counted(changes(r, next), "regression"));
    }),
    ...tensors.map((name) => row(`largest error / bound of ${name}`, (_, k) => (errors[k]!.has(name) ? short(errors[k]!.get(name)!) : "-"))),
    row("seconds", (r) => short(r.environment.seconds)),
  ], "Comparison of reports");
}

/** Largest error of each tensor over the runs, oldest first; a mark shows the number of regressions. */
function trend(newestFirst: Report[]): SVGElement {
  const runs = [...newestFirst].reverse();
  const errors = runs.map(worst);
  const tensors = [...new Set(errors.flatMap((e) => [...e.keys()]))];
  const values = errors.flatMap((e) => [...e.values()]).filter((v) => v > 0);
  const inARow = 6;
  const width = 720, left = 60, bottom = 76, top = 26 + 16 * Math.floor((tensors.length - 1) / inARow), height = 274 + top;
  const x = scalePoint(runs.map((_, k) => k), [left, width - 20]).padding(0.3);
  const y = scaleLog([Math.min(0.5, ...values), Math.max(2, ...values)], [height - bottom, top]).nice();
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Largest error over bound of each run" });
  for (const tick of y.ticks(5).filter((t) => Number.isInteger(Math.round(Math.log10(t) * 1e9) / 1e9)))
    picture.append(svg("line", { class: "grid", x1: String(left), x2: String(width - 20), y1: String(y(tick)), y2: String(y(tick)) }),
      svg("text", { x: String(left - 6), y: String(y(tick) + 4), "text-anchor": "end" }, short(tick)));
  picture.append(svg("line", { class: "bound", x1: String(left), x2: String(width - 20), y1: String(y(1)), y2: String(y(1)) }));
  tensors.forEach((name, k) => {
    const points = errors.flatMap((e, run) => (e.has(name) && e.get(name)! > 0 ? [[x(run)!, y(e.get(name)!)] as const] : []));
    const colour = TENSOR_COLOURS[k % TENSOR_COLOURS.length]!;
    picture.append(svg("polyline", { points: points.map((p) => p.join(",")).join(" "), stroke: colour, class: "trend" }),
      ...points.map(([px, py]) => svg("circle", { cx: String(px), cy: String(py), r: "4", fill: colour }, svg("title", {}, name))));
    picture.append(svg("rect", { x: String(left + 110 * (k % inARow)), y: String(5 + 16 * Math.floor(k / inARow)), width: "10", height: "10", fill: colour }),
      svg("text", { x: String(left + 14 + 110 * (k % inARow)), y: String(14 + 16 * Math.floor(k / inARow)) }, name));
  });
  const letters = Math.max(6, Math.floor(x.step() / 6.6) || 40);
  runs.forEach((run, k) => {
    const worse = k === 0 ? 0 : counted(changes(run, runs[k - 1]!), "regression");
    const line = (down: number, text: string, kind = ""): SVGElement =>
      svg("text", { x: String(x(k)), y: String(height - bottom + down), "text-anchor": "middle", class: kind },
        text.length > letters ? text.slice(0, letters - 1) + "." : text);
    const name = line(18, run.environment.implementation);
    name.append(svg("title", {}, nameOf(run)));
    picture.append(name, line(34, run.environment.started.slice(5, 16).replace("T", " ") || `run ${k + 1}`));
    if (worse > 0) picture.append(line(52, `${worse} worse`, "regression"));
  });
  return picture;
}

export function showRuns(runs: Report[]): void {
  byId("runs-section").hidden = runs.length < 2;
  const [now, before] = runs;
  if (now === undefined || before === undefined) return;
  const changed = changes(now, before);
  const earlier = new Map(before.cases.map((c) => [c.id, c]));
  for (const c of now.cases) c.before = earlier.get(c.id)?.verdict;
  for (const c of changed) c.now.change = c.change;
  const common = now.cases.filter((c) => c.before !== undefined).length;
  put("runs-summary", `Compared with ${nameOf(before)}: ${common} cases in both, ${now.cases.length - common} only now, ` +
    `${before.cases.length - common} only before; ${plural(counted(changed, "regression"), "regression")}, ` +
    `${plural(counted(changed, "improvement"), "improvement")}. `,
    changed.length > 0 ? element("button", { type: "button", class: "only", click: () => toggleTerms(["changed=yes"]) },
      `Show the ${plural(changed.length, "case")} that changed`) : null);
  put("runs-table", sideBySide(runs));
  put("runs-trend", trend(runs));
  put("changes", changed.length === 0 ? element("p", { class: "quiet" }, "Nothing changed.") :
    table(["case", "change", "before", "now"], changed.slice(0, 20).map((c) => [
      element("a", { href: address({ ...read(), case: c.now.id }) }, c.now.id),
      c.change, c.before?.verdict ?? "-", c.now.verdict]), "Changes"));
}
