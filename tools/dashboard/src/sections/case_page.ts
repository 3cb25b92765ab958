// The page of one case: its findings, how to reproduce it, its error maps, and all of its fields.

import { figure, kindOf, type Case, type Finding, type Report, type Tensor } from "../report";
import { address, read } from "../state";
import { badge, byId, copyLine, dumpLine, element, place, plural, put, explainLine, runLine, short, table } from "../text";
import { judgedText } from "./causes";
import { errorMap } from "./errors";
import { placesOf, placesPicture } from "./places";

const percent = (x: number): string => (100 * x).toFixed(0) + "%";

/** The meaning of the letters of the controls. */
const CONTROLS = "Controls: would the judge have noticed zeros (Z), the negated output (N), a missing last row (L), " +
  "a factor of 1.02 (S), one row of zeros (W)? + noticed, in every head, - missed in one, . all expected values are zero.";

/** The number of rows whose elements were all judged, of rows judged by sums of their tiles, and of rows where zeros would pass. */
function rowsText(t: Tensor): string {
  const sums = t.rows_summed ? `, sums of ${t.rows_summed}` : "";
  const blind = t.rows_blind ? `, zeros would pass in ${t.rows_blind}` : "";
  return `${t.rows_judged} of ${t.rows_total}${sums}${blind}`;
}

function tensorTable(c: Case): HTMLElement {
  const rows = c.tensors.map((t) => [
    t.name, rowsText(t), short(figure(t.worst)), place(t.worst_at),
    `${short(figure(t.rms))} / ${short(figure(t.rms_limit))}`, short(figure(t.bias)), t.controls,
    Object.entries(t.terms).sort((a, b) => figure(b[1]) - figure(a[1])).slice(0, 4)
      .map(([name, share]) => `${name} ${percent(figure(share))}`).join(", "),
  ]);
  return table(["tensor", "rows judged", "worst error/bound", "at", "R / R_max", "bias", "controls", "bound consists of"],
    rows, "Tensors");
}

function section(title: string, ...children: (Node | null)[]): HTMLElement | null {
  const present = children.filter((child) => child !== null);
  return present.length === 0 ? null : element("section", {}, element("h2", {}, title), ...present);
}

/** The smallest case that fails in the same way, if it is smaller than this case. */
function neighbour(c: Case): HTMLElement | null {
  if (c.shrunk === undefined || c.shrunk.shrunk === c.command_line) return null;
  const end = c.shrunk.end === "smallest" ? "no smaller one fails" : "the search ended early: " + c.shrunk.end;
  return element("div", {}, element("h3", {}, "Smallest case that fails in the same way"),
    element("p", { class: "quiet" }, `Shrunk in ${c.shrunk.runs} runs (${end}), ${c.shrunk.verdict}:`),
    copyLine(runLine(c, c.shrunk.shrunk)));
}

function reproduce(c: Case, report: Report): HTMLElement | null {
  const { environment } = report;
  const made = `Written by assay ${environment.tool_version}, ${environment.compiler}, seed ${environment.seed}: `;
  return section("More commands", neighbour(c),
    ...(explainLine(c) === "" ? [] : [
      element("p", { class: "quiet" }, c.violated_requirement ? "The requirement that the call breaks:" : "The rule that decided:"),
      copyLine(explainLine(c))]),
    ...(c.value_case && c.fields["track"] !== "relation" ? [element("p", { class: "quiet" }, "Its tensors, and the values of the definition in every stage, as .npy files:"), copyLine(dumpLine(c))] : []),
    element("p", { class: "quiet" }, made), element("code", { class: "sweep-line" }, environment.command_line));
}

/** The properties that it shares with other failing cases, and the stage that they point to. */
function causes(c: Case, report: Report): HTMLElement | null {
  if (c.causes.length === 0) return null;
  const lines = c.causes.map((number) => report.causes[number - 1]!).map((cause) => element("li", {},
    element("strong", {}, cause.pattern), cause.fields.length === 0 ? "" : " where " + cause.fields.join(" and "),
    element("p", { class: "quiet stage" }, ...(cause.stage === "" ? [] : [`Stage: ${cause.stage}. `]), judgedText(cause))));
  return section("Why it fails", element("ul", { class: "findings" }, ...lines));
}

function nearest(worst: Finding, points: Finding[]): Finding[] {
  const distance = (f: Finding): number =>
    1e6 * (Number(f.b !== worst.b) + Number(f.n !== worst.n)) + Math.hypot(f.s - worst.s, f.d - worst.d);
  return [...points].sort((a, b) => distance(a) - distance(b)).slice(0, 24);
}

function elementsTable(t: Tensor, points: Finding[]): HTMLElement {
  const rows = nearest(t.worst_at, points).map((f) => {
    const [actual, expected, tau] = [figure(f.actual), figure(f.expected), figure(f.tolerance)];
    const error = Math.abs(actual - expected);
    return [place(f), f === t.worst_at ? "worst" : f.rule, short(actual), short(expected), short(error), short(tau),
      tau > 0 ? short(error / tau) : error === 0 ? "0" : "inf"];
  });
  return table(["element", "rule", "actual", "expected", "error", "tau", "error / tau"], rows, "Elements of " + t.name);
}

function tensorPlaces(c: Case, t: Tensor): HTMLElement | null {
  if (t.errors !== undefined) return errorMap(c, t, t.errors);
  const points = placesOf(c, t);
  if (points.length === 0) return null;
  const said = points.length === 1 ? "the element with the largest error" : `${points.length} elements`;
  return element("div", { class: "places" }, element("h3", {}, t.name),
    element("p", { class: "quiet" }, `The page contains ${said} of ${t.elements_judged} judged ones` +
      (kindOf(c.verdict) === "conforms" ? "" : ", and a map of errors of the first cases of each fault") + "; the others are not drawn."),
    placesPicture(c, t, points), elementsTable(t, points));
}

function facts(c: Case): HTMLElement {
  const rows = Object.entries(c.fields).filter(([, value]) => value !== "").map(([name, value]) => [name, value]);
  return element("details", {}, element("summary", {}, plural(rows.length, "field")), table(["field", "value"], rows, "Fields"));
}

/** Share of the makespan in which each pipe is busy, if the implementation reports it. */
function pipes(c: Case): HTMLElement | null {
  const whole = figure(c.metrics.find((m) => m.name === "makespan")?.value);
  const busy = c.metrics.filter((m) => m.name.endsWith("_busy"));
  if (!(whole > 0) || busy.length === 0) return null;
  return element("div", { class: "pipes" }, ...busy.map((m) => {
    const share = figure(m.value) / whole;
    const bar = element("span", { class: "part" });
    bar.style.width = Math.min(100, 100 * share) + "%";
    return element("div", { class: "verdict-row" }, element("span", { class: "row-name" }, m.name.replace(/_busy$/, "")),
      element("span", { class: "bar" }, bar), element("span", { class: "count" }, percent(share)));
  }));
}

function metrics(c: Case): HTMLElement | null {
  if (c.metrics.length === 0) return null;
  return table(["metric", "value", "unit"], c.metrics.map((m) => [m.name, short(figure(m.value)), m.unit]), "Metrics");
}

/** Shows the case, with links to the previous and next case in the list. */
export function showCase(c: Case, report: Report, list: Case[]): void {
  const at = list.indexOf(c);
  const link = (to: Case | undefined, text: string): HTMLElement | null =>
    to === undefined ? null : element("a", { href: address({ ...read(), case: to.id }) }, text);
  const findings = c.findings.map((f) => element("li", {}, f.rule + (f.tensor ? " " + f.tensor : "") + ": " + f.text));
  put("case-page",
    element("nav", { class: "steps", "aria-label": "Cases" }, element("a", { href: address({ ...read(), case: "" }), id: "back" }, "All cases"),
      link(list[at - 1], "Previous"), at < 0 ? null : link(list[at + 1], "Next")),
    element("h2", { id: "case-title", tabindex: "-1" }, "Case " + c.id), element("p", {}, badge(c.verdict)),
    c.evidence ? element("p", { class: "reason" }, `Decided by ${c.decided_by}: ${c.evidence}`) : null,
    copyLine(runLine(c)),
    c.before !== undefined && c.before !== c.verdict ? element("p", { class: "reason" }, `Before: ${c.before}`) : null,
    c.note ? element("p", { class: "quiet" }, "Note: " + c.note) : null,
    section("Where the errors are", ...c.tensors.map((t) => tensorPlaces(c, t))),
    causes(c, report),
    reproduce(c, report),
    section("Findings", findings.length > 0 ? element("ul", { class: "findings" }, ...findings) : null),
    section("Tensors", c.tensors.length > 0 ? tensorTable(c) : null,
      c.tensors.some((t) => t.controls) ? element("p", { class: "quiet" }, CONTROLS) : null),
    section("Modelled device", pipes(c), metrics(c)),
    section("Fields of the case", facts(c), element("p", { class: "quiet" },
      `${short(figure(c.seconds_implementation))} s in the implementation, ${short(figure(c.seconds_total))} s in total`)));
  byId("case-title").focus();
}
