// Draws the charts. Each mark represents several cases; a click on the mark shows only these cases. Each mark has a
// name that describes its contents.

import { scaleBand, scaleLinear, scaleLog } from "d3-scale";

import { colourOf, kindOf, VERDICT_NAMES, type Case } from "./report";
import { has, term, valuesOf } from "./query";
import { read, toggleTerms } from "./state";
import { byId, element, plural, short, svg } from "./text";

/** Makes the element a filter: for a click, and on the keyboard for Enter and the space bar. */
function filtering(node: SVGElement | HTMLElement, terms: string[], name: string): void {
  node.setAttribute("role", "button");
  node.setAttribute("tabindex", "0");
  node.setAttribute("aria-label", name + ", filter");
  node.setAttribute("aria-pressed", String(has(read().q, terms)));
  node.append(node instanceof SVGElement ? svg("title", {}, name) : "");
  if (node instanceof HTMLElement) node.title = name;
  node.addEventListener("click", () => toggleTerms(terms));
  node.addEventListener("keydown", (event) => {
    const key = (event as KeyboardEvent).key;
    if (key !== "Enter" && key !== " ") return;
    event.preventDefault();
    toggleTerms(terms);
  });
}

const naturally = (a: string, b: string): number => a.localeCompare(b, "en", { numeric: true });

/** Rows of verdicts, one for each value of the field: a frame for `all`, a bar for `cases`. */
export function verdictRows(all: Case[], cases: Case[], field: string, title: string): HTMLElement | null {
  const rows = new Map<string, Map<string, number>>();
  for (const c of all) for (const value of valuesOf(c, field)) if (!rows.has(String(value))) rows.set(String(value), new Map());
  if (rows.size === 0) return null;
  for (const c of cases)
    for (const value of valuesOf(c, field)) {
      const row = rows.get(String(value))!;
      row.set(c.verdict, (row.get(c.verdict) ?? 0) + 1);
    }
  const most = Math.max(1, ...[...rows.values()].map((row) => [...row.values()].reduce((a, b) => a + b, 0)));
  const lines = [...rows].sort((a, b) => naturally(a[0], b[0])).map(([value, row]) => verdictRow(field, value, row, most));
  return element("figure", { class: "rows-of-verdicts" }, element("figcaption", {}, title), ...lines);
}

function verdictRow(field: string, value: string, row: Map<string, number>, most: number): HTMLElement {
  const total = [...row.values()].reduce((a, b) => a + b, 0);
  const failing = [...row].reduce((sum, [verdict, count]) => sum + (kindOf(verdict) === "fails" ? count : 0), 0);
  const label = element("button", { type: "button", class: "row-label" }, value === "" ? "(empty)" : value);
  const says = `${field} ${value}: ${plural(total, "case")}, ${failing} failing`;
  filtering(label, [term(field, value)], says);
  label.removeAttribute("role");
  const bar = element("span", { class: "bar" });
  for (const verdict of VERDICT_NAMES.filter((name) => row.has(name))) {
    const part = element("span", { class: "part", title: `${value}, ${verdict}: ${row.get(verdict)}`,
      click: () => toggleTerms([term(field, value), term("verdict", verdict)]) });
    part.style.width = (100 * row.get(verdict)!) / most + "%";
    part.style.background = colourOf(verdict);
    bar.append(part);
  }
  const count = element("span", { class: "count" }, failing > 0 ? `${failing} / ${total}` : String(total));
  return element("div", { class: "verdict-row" }, label, bar, count);
}

interface Dot {
  x: string;
  y: number;
}

/** Steps of the logarithmic axis: four for each factor of ten. */
const STEPS = 4;

/** A cell includes its upper end: an error equal to the bound is below the line. */
const stepOf = (y: number): number => (Number.isFinite(y) ? Math.ceil(Math.log10(y) * STEPS - 1e-9) - 1 : Infinity);
const edge = (step: number): number => Number(Math.pow(10, step / STEPS).toPrecision(4));

/** Letters of a label; a longer one is cut, and whole where it is pointed at. */
const LONGEST_LABEL = 16;

/** Errors below this share a cell at the bottom, with zero. */
const LEAST = 1e-3;

function cellTerms(field: string, group: string, step: number, lowest: number): string[] {
  const terms = group === "" ? [] : [group];
  if (step === Infinity) return [...terms, `${field}>=inf`];
  if (step > lowest) terms.push(`${field}>${edge(step)}`);
  return [...terms, `${field}<=${edge(step + 1)}`];
}

/**
 * Density of errors: columns are values of a field, rows are errors as a fraction of the bound, logarithmic.
 * Infinite errors have a row of their own above all others.
 */
export function errorDensity(dots: Dot[], columns: string[], fieldOf: (column: string) => string,
                             termOf: (column: string) => string, label: string): Node {
  if (dots.length === 0) return element("p", { class: "quiet" }, "The search leaves no case with a tolerance.");
  const lowest = stepOf(LEAST);
  const counts = new Map<string, number>();
  let highest = 0;
  for (const dot of dots) {
    const step = Math.max(lowest, stepOf(dot.y));
    if (step !== Infinity) highest = Math.max(highest, step);
    const key = dot.x + "\n" + step;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const width = 560, left = 58, top = 30, height = 330;
  const x = scaleBand(columns, [left, width - 8]).paddingInner(0.06);
  // Draw the labels at an angle if they are wider than their columns.
  const letter = 6.6, longest = Math.min(LONGEST_LABEL, Math.max(...columns.map((column) => column.length)));
  const slopes = longest * letter > x.step();
  const bottom = slopes ? 34 + longest * letter * 0.5 : 44;
  const y = scaleLog([edge(lowest), edge(highest + 1)], [height - bottom, top]);
  const most = Math.max(...counts.values());
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label });
  for (let power = Math.ceil(lowest / STEPS); power <= (highest + 1) / STEPS; power += 1) {
    const at = y(Math.pow(10, power));
    picture.append(svg("line", { class: "grid", x1: String(left), x2: String(width - 8), y1: String(at), y2: String(at) }),
      svg("text", { x: String(left - 6), y: String(at + 4), "text-anchor": "end" }, short(Math.pow(10, power))));
  }
  picture.append(svg("text", { x: String(left - 6), y: "18", "text-anchor": "end" }, "infinite"));
  for (const [key, count] of counts) {
    const [column, text] = key.split("\n") as [string, string];
    const step = Number(text);
    const above = step === Infinity ? 6 : y(edge(step + 1));
    const cell = svg("rect", {
      class: step >= 0 ? "cell beyond" : "cell", x: String(x(column)), width: String(x.bandwidth()), y: String(above),
      height: String(step === Infinity ? 16 : y(edge(step)) - above - 0.5), "fill-opacity": String(shade(count, most)),
    });
    const says = `${column}: ${count} with error / bound ` +
      (step === Infinity ? "infinite" : `above ${step === lowest ? 0 : edge(step)}, to ${edge(step + 1)}`);
    filtering(cell, cellTerms(fieldOf(column), termOf(column), step, lowest), says);
    picture.append(cell);
  }
  const bound = y(1);
  picture.append(svg("line", { class: "bound", x1: String(left), x2: String(width - 8), y1: String(bound), y2: String(bound) }));
  const every = Math.max(1, Math.ceil(14 / x.step()));
  columns.forEach((column, k) => {
    if (k % every !== 0) return;
    const [across, down] = [x(column)! + x.bandwidth() / 2, height - bottom + 16];
    picture.append(svg("text", slopes ?
      { transform: `translate(${across + 4}, ${down - 4}) rotate(-30)`, "text-anchor": "end" } :
      { x: String(across), y: String(down), "text-anchor": "middle" },
      column.length > LONGEST_LABEL ? column.slice(0, LONGEST_LABEL - 1) + "." : column, svg("title", {}, column)));
  });
  picture.append(svg("text", { x: String(left), y: String(height - 6) }, "Darker: more. Dashed: the bound."));
  return picture;
}

const shade = (count: number, most: number): number => 0.25 + (0.75 * Math.log(1 + count)) / Math.log(1 + most);

/** Bars on a logarithmic axis, next to each other for each group: shares of elements in each tenth of the bound. */
export function tenths(shares: Map<string, number[]>, colours: string[]): Node {
  const width = 560, left = 58, bottom = 44, top = 10, height = 330, least = 1e-7;
  const bins = Math.max(0, ...[...shares.values()].map((b) => b.length));
  if (bins === 0) return element("p", { class: "quiet" }, "The search leaves no case with a tolerance.");
  const x = scaleBand(Array.from({ length: bins }, (_, k) => k), [left, width - 8]).paddingInner(0.15);
  const inner = scaleBand([...shares.keys()], [0, x.bandwidth()]);
  const y = scaleLog([least, 1], [height - bottom, top]).clamp(true);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Share of elements in each tenth of the bound" });
  for (let power = -7; power <= 0; power += 1) {
    const at = y(Math.pow(10, power));
    picture.append(svg("line", { class: "grid", x1: String(left), x2: String(width - 8), y1: String(at), y2: String(at) }),
      svg("text", { x: String(left - 6), y: String(at + 4), "text-anchor": "end" }, short(Math.pow(10, power))));
  }
  [...shares].forEach(([name, values], group) => values.forEach((share, k) => {
    if (share <= 0) return;
    const bar = svg("rect", { x: String(x(k)! + inner(name)!), width: String(inner.bandwidth()), y: String(y(share)),
      height: String(Math.max(1, y(least) - y(share))), fill: colours[group % colours.length]! });
    const where = k === bins - 1 ? "above the bound" : `from ${k / 10} to ${(k + 1) / 10} of the bound`;
    filtering(bar, [term("tenth", name + ":" + k)], `${name}: ${short(100 * share)}% of elements ${where}`);
    picture.append(bar);
  }));
  for (let k = 0; k < bins; k += 1)
    picture.append(svg("text", { x: String(x(k)! + x.bandwidth() / 2), y: String(height - bottom + 16), "text-anchor": "middle" },
      k === bins - 1 ? ">1" : (k / 10).toFixed(1)));
  return picture;
}

/** A density chart of two figures of each case; logarithmic if the values span a wide range. */
export function density(points: { x: number; y: number }[], across: string, up: string): Node {
  const finite = points.filter((p) => Number.isFinite(p.x) && Number.isFinite(p.y));
  if (finite.length === 0) return element("p", { class: "quiet" }, "The search leaves no case with both numbers.");
  const width = 720, height = 360, left = 70, bottom = 42, top = 10, columns = 48, rows = 28;
  const scaled = (values: number[], from: number, to: number) => {
    const [least, most] = values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity] as [number, number]);
    const wide = least > 0 && most > 50 * least;
    const domain: [number, number] = most > least ? [least, most] : [least - 0.5, least + 0.5];
    return wide ? scaleLog(domain, [from, to]) : scaleLinear(domain, [from, to]);
  };
  const x = scaled(finite.map((p) => p.x), left, width - 12);
  const y = scaled(finite.map((p) => p.y), height - bottom, top);
  const [w, h] = [(width - 12 - left) / columns, (height - bottom - top) / rows];
  const counts = new Map<string, number>();
  for (const p of finite) {
    const column = Math.min(columns - 1, Math.floor((x(p.x) - left) / w));
    const row = Math.min(rows - 1, Math.floor((y(p.y) - top) / h));
    counts.set(column + "," + row, (counts.get(column + "," + row) ?? 0) + 1);
  }
  const most = Math.max(...counts.values());
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${up} against ${across}` });
  for (const tick of x.ticks(6).filter((t) => sparse(t, x)))
    picture.append(svg("text", { x: String(x(tick)), y: String(height - bottom + 16), "text-anchor": "middle" }, short(tick)));
  for (const tick of y.ticks(6).filter((t) => sparse(t, y)))
    picture.append(svg("text", { x: String(left - 6), y: String(y(tick) + 4), "text-anchor": "end" }, short(tick)));
  for (const [key, count] of counts) {
    const [column, row] = key.split(",").map(Number) as [number, number];
    const from = (scale: typeof x, at: number): string => scale.invert(at).toPrecision(6);
    // The limits of a cell are rounded outwards to six digits, so a value at a limit belongs to this cell.
    const terms = [`${across}>=${low(from(x, left + column * w))}`, `${across}<=${high(from(x, left + (column + 1) * w))}`,
      `${up}>=${low(from(y, top + (row + 1) * h))}`, `${up}<=${high(from(y, top + row * h))}`];
    const cell = svg("rect", { class: "cell", x: String(left + column * w), y: String(top + row * h), width: String(w - 0.5),
      height: String(h - 0.5), "fill-opacity": String(shade(count, most)) });
    filtering(cell, terms, `${plural(count, "case")} near ${across} ${short(Number(from(x, left + (column + 0.5) * w)))}, ` +
      `${up} ${short(Number(from(y, top + (row + 0.5) * h)))}`);
    picture.append(cell);
  }
  picture.append(svg("text", { x: String(left), y: String(height - 6) }, `across: ${across}, up: ${up}`));
  return picture;
}

const low = (text: string): string => String(Number((Number(text) - Math.abs(Number(text)) * 1e-5).toPrecision(6)));
const high = (text: string): string => String(Number((Number(text) + Math.abs(Number(text)) * 1e-5).toPrecision(6)));

/** On a logarithmic scale, only powers of ten get labels. */
function sparse(tick: number, scale: { ticks: unknown }): boolean {
  if (!("base" in scale)) return true;
  return Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-9;
}

/** A drop-down list above a chart; calls `chosen` at once and whenever the selection changes. */
export function choice(id: string, names: string[], initial: string, chosen: () => void): void {
  const select = byId(id) as HTMLSelectElement;
  select.replaceChildren(...names.map((name) => element("option", { value: name }, name)));
  select.value = initial;
  select.addEventListener("input", chosen);
}

export const chosen = (id: string): string => (byId(id) as HTMLSelectElement).value;
