// Error maps of a tensor: the largest error, divided by the tolerance tau, over rows and channels and over heads. Also
// shows the numbers around the worst element. The report contains error maps only for failing cases.

import { scaleLinear } from "d3-scale";

import { figure, type Case, type ErrorMap, type Tensor } from "../report";
import { element, short, svg } from "../text";

const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** The index of the letter for an error of at most tau. */
const BOUND = 24;

/** Upper bound of the largest error / tau in a cell; -1: no element of it was judged. */
function ratioOf(letter: string): number {
  if (letter === ".") return -1;
  const level = LETTERS.indexOf(letter);
  return level < 0 ? Infinity : Math.pow(2, (level - BOUND) / 2);
}

interface Shade {
  class: string;
  "fill-opacity": string;
}

/** Blue up to the bound, orange beyond it; both darker for larger errors. */
function shadeOf(ratio: number): Shade {
  if (ratio < 0) return { class: "unjudged", "fill-opacity": "1" };
  if (ratio === Infinity) return { class: "endless", "fill-opacity": "1" };
  const level = 2 * Math.log2(ratio);
  if (level <= 0) return { class: "cell", "fill-opacity": (0.04 + 0.56 * (1 + level / BOUND)).toFixed(3) };
  return { class: "cell beyond", "fill-opacity": (0.4 + 0.6 * Math.min(1, level / 16)).toFixed(3) };
}

const ratioText = (ratio: number): string =>
  ratio < 0 ? "nothing judged" : ratio === Infinity ? "infinite" : `at most ${short(ratio)}`;

const span = (first: number, step: number, extent: number): string => {
  const last = Math.min(extent, first + step) - 1;
  return last === first ? String(first) : `${first} to ${last}`;
};

/** Hatching for cells that were not judged. Every picture has its own, since a hidden picture may be removed. */
function hatching(id: string): SVGElement {
  return svg("defs", {}, svg("pattern", { id, width: "6", height: "6", patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svg("line", { class: "hatch", x1: "0", y1: "0", x2: "0", y2: "6" })));
}

/** Size of the tiles that are drawn: that of the case if it has one, of a matrix product, or of a fractal. */
function tileOf(c: Case, extent: number, fields: string[]): number {
  const own = Math.max(0, ...fields.map((field) => Number(c.fields[field] ?? 0) || 0));
  if (own > 0 && own < extent) return own;
  return extent > 128 ? 128 : 16;
}

const TILE_FIELDS = ["selected_block_size", "compress_block_size"];

function tiles(edge: number, extent: number): number[] {
  // Draw at most about 32 grid lines, because more lines would hide the cells.
  const step = edge * Math.max(1, Math.ceil(extent / edge / 32));
  return Array.from({ length: Math.floor((extent - 1) / step) }, (_, k) => (k + 1) * step);
}

function heatMap(c: Case, t: Tensor, map: ErrorMap, tell: (text: string) => void): SVGElement {
  const columns = Math.ceil(map.channels / map.channel_step);
  const width = 560, height = 300, left = 52, top = 8, bottom = 40, right = 10;
  const x = scaleLinear([0, map.channels], [left, width - right]).clamp(true);
  const y = scaleLinear([0, map.rows], [top, height - bottom]).clamp(true);
  const hatch = "hatch-" + t.name;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "heat",
    "aria-label": `Largest error / tau of ${t.name} over ${map.rows} rows and ${map.channels} channels, over all heads` }, hatching(hatch));
  [...map.cells].forEach((letter, k) => {
    const [s, d] = [Math.floor(k / columns) * map.row_step, (k % columns) * map.channel_step];
    if (s >= map.rows) return;
    const ratio = ratioOf(letter);
    const says = `s = ${span(s, map.row_step, map.rows)}, d = ${span(d, map.channel_step, map.channels)}: ${ratioText(ratio)}`;
    const cell = svg("rect", { ...shadeOf(ratio), x: String(x(d)), y: String(y(s)), width: String(x(d + map.channel_step) - x(d)),
      height: String(y(s + map.row_step) - y(s)), "data-ratio": String(ratio), mouseenter: () => tell(says), click: () => tell(says) },
      svg("title", {}, says));
    if (ratio < 0) cell.style.fill = `url(#${hatch})`;
    picture.append(cell);
  });
  const [across, down] = [tileOf(c, map.channels, []), tileOf(c, map.rows, TILE_FIELDS)];
  for (const d of tiles(across, map.channels))
    picture.append(svg("line", { class: "tile-line", x1: String(x(d)), x2: String(x(d)), y1: String(y(0)), y2: String(y(map.rows)) }));
  for (const s of tiles(down, map.rows))
    picture.append(svg("line", { class: "tile-line", x1: String(x(0)), x2: String(x(map.channels)), y1: String(y(s)), y2: String(y(s)) }));
  const { s, d } = t.worst_at;
  if (s >= 0 && d >= 0)
    picture.append(svg("circle", { class: "worst", cx: String(x(d + 0.5)), cy: String(y(s + 0.5)), r: "6" },
      svg("title", {}, `the worst element: s = ${s}, d = ${d}`)));
  const text = (at: number, down_: number, anchor: string, what: string): SVGElement =>
    svg("text", { x: String(at), y: String(down_), "text-anchor": anchor }, what);
  picture.append(text(left - 6, top + 10, "end", "s = 0"), text(left - 6, height - bottom, "end", String(map.rows)),
    text(left, height - 24, "start", "d = 0"), text(width - right, height - 24, "end", String(map.channels)),
    text(left, height - 6, "start", `lines: tiles of ${down} rows and ${across} channels; circle: the worst element`));
  return picture;
}

/** One cell for each head, or for several adjacent heads. */
function headStrip(t: Tensor, map: ErrorMap, tell: (text: string) => void): SVGElement | null {
  const heads = map.batch * map.heads;
  if (heads < 2) return null;
  const width = 560, left = 52, right = 10, height = 40;
  const x = scaleLinear([0, heads], [left, width - right]).clamp(true);
  const hatch = "hatch-heads-" + t.name;
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "heat",
    "aria-label": `Largest error / tau of ${t.name} over ${heads} heads of all batches` }, hatching(hatch));
  const name = (head: number): string => `b = ${Math.floor(head / map.heads)}, n = ${head % map.heads}`;
  [...map.by_head].forEach((letter, k) => {
    const first = k * map.head_step;
    if (first >= heads) return;
    const last = Math.min(heads, first + map.head_step) - 1;
    const ratio = ratioOf(letter);
    const says = (last === first ? name(first) : `${name(first)} to ${name(last)}`) + ": " + ratioText(ratio);
    const cell = svg("rect", { ...shadeOf(ratio), x: String(x(first)), y: "4", width: String(Math.max(1, x(last + 1) - x(first) - 1)), height: "18",
      "data-ratio": String(ratio), mouseenter: () => tell(says), click: () => tell(says) }, svg("title", {}, says));
    if (ratio < 0) cell.style.fill = `url(#${hatch})`;
    picture.append(cell);
  });
  picture.append(svg("text", { x: String(left - 6), y: "17", "text-anchor": "end" }, "heads"),
    svg("text", { x: String(left), y: "36" }, name(0)), svg("text", { x: String(width - right), y: "36", "text-anchor": "end" }, name(heads - 1)));
  return picture;
}

function legend(): HTMLElement {
  const steps: [number, string][] = [[Math.pow(2, -12), "0"], [Math.pow(2, -6), "1/64"], [Math.pow(2, -2), "1/4"], [1, "1, the bound"], [2, "2"],
    [16, "16"], [256, "256 and more"], [Infinity, "infinite"]];
  const entry = (ratio: number, text: string): HTMLElement => {
    const swatch = svg("svg", { viewBox: "0 0 14 14", class: "heat-swatch", "aria-hidden": "true" },
      ratio < 0 ? hatching("hatch-legend") : null, svg("rect", { ...shadeOf(ratio), width: "14", height: "14" }));
    if (ratio < 0) (swatch.lastChild as SVGElement).style.fill = "url(#hatch-legend)";
    return element("span", {}, swatch, text);
  };
  return element("p", { class: "quiet heat-legend" }, element("span", {}, "error / tau:"), ...steps.map(([ratio, text]) => entry(ratio, text)),
    entry(-1, "not judged"));
}

/** Describes the cells beyond the bound, worst first, for users who do not see the picture. */
function worstCells(map: ErrorMap): string {
  const columns = Math.ceil(map.channels / map.channel_step);
  const cells = [...map.cells].map((letter, k) => ({ k, ratio: ratioOf(letter) })).filter(({ ratio }) => ratio >= 0);
  const beyond = cells.filter(({ ratio }) => ratio > 1).sort((a, b) => (a.ratio === b.ratio ? a.k - b.k : b.ratio - a.ratio));
  if (beyond.length === 0) return `No cell of ${cells.length} judged ones is beyond the bound.`;
  const { k } = beyond[0]!;
  return `${beyond.length} of ${cells.length} judged cells are beyond the bound, the worst at s = ` +
    `${span(Math.floor(k / columns) * map.row_step, map.row_step, map.rows)}, d = ${span((k % columns) * map.channel_step, map.channel_step, map.channels)}.`;
}

/** Actual, expected and tau of the elements around the worst one, in its head. */
function neighbours(t: Tensor, map: ErrorMap): HTMLElement | null {
  if (map.near_rows.length === 0) return null;
  const columns = map.actual.length / map.near_rows.length;
  const cell = (k: number, s: number, d: number): HTMLElement => {
    const [actual, expected, tau] = [figure(map.actual[k]), figure(map.expected[k]), figure(map.tolerance[k])];
    const error = Math.abs(actual - expected);
    const kinds = [Number.isNaN(error) || error > tau ? "over" : "", s === t.worst_at.s && d === t.worst_at.d ? "is-worst" : ""];
    return element("td", { class: kinds.join(" ").trim() }, element("div", {}, digits(actual)), element("div", { class: "quiet" }, digits(expected)),
      element("div", { class: "quiet" }, "\u00b1 " + short(tau)));
  };
  const channels = Array.from({ length: columns }, (_, k) => map.near_channel + k);
  const head = [element("th", { scope: "col" }, "row"), ...channels.map((d) => element("th", { scope: "col" }, `d = ${d}`))];
  const rows = map.near_rows.map((s, r) => element("tr", {}, element("th", { scope: "row" }, `s = ${s}`),
    ...channels.map((d, k) => cell(r * columns + k, s, d))));
  return element("div", { class: "table near", tabindex: "0", role: "region", "aria-label": `Elements of ${t.name} around the worst one` },
    element("table", {}, element("caption", { class: "quiet" },
      `Around the worst element, b = ${t.worst_at.b}, n = ${t.worst_at.n}: actual value, expected value, and tau; framed: the worst; bold: beyond tau`),
      element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)));
}

const digits = (value: number): string => (Number.isFinite(value) ? String(Number(value.toPrecision(7))) : short(value));

/** Map, heads, and neighbourhood of a tensor for which the report contains them. */
export function errorMap(c: Case, t: Tensor, map: ErrorMap): HTMLElement {
  const line = element("p", { class: "quiet cell-text", role: "status" }, "Point at a cell for its rows, channels and error.");
  const tell = (text: string): void => { line.textContent = text; };
  if (figure(t.worst) === 0)
    return element("div", { class: "places" }, element("h3", {}, t.name), element("p", { class: "quiet" }, "No judged element has an error."));
  return element("div", { class: "places" }, element("h3", {}, t.name), element("p", {}, worstCells(map)),
    element("div", { class: "map-and-values" },
      element("div", {}, heatMap(c, t, map, tell), headStrip(t, map, tell), line, legend()), neighbours(t, map)));
}
