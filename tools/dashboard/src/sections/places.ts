// Draws the positions of tensor elements with large errors, over rows and channels. The report contains these elements.
// All heads are drawn into one picture.

import { scaleLinear } from "d3-scale";

import { figure, type Case, type Finding, type Tensor } from "../report";
import { place, short, svg } from "../text";

/** The worst element and those of the findings, each once. */
export function placesOf(c: Case, t: Tensor): Finding[] {
  const points = new Map<string, Finding>();
  if (t.elements_judged > 0 && t.worst_at.s >= 0) points.set(place(t.worst_at), t.worst_at);
  for (const f of c.findings)
    if (f.tensor === t.name && f.s >= 0 && f.d >= 0 && !points.has(place(f))) points.set(place(f), f);
  return [...points.values()];
}

function ratioOf(f: Finding): number {
  const [error, tau] = [Math.abs(figure(f.actual) - figure(f.expected)), figure(f.tolerance)];
  if (Number.isNaN(error)) return Infinity;
  return tau > 0 ? error / tau : error > 0 ? Infinity : 0;
}

/** Rows and channels of the tensor: from fields if they state them, else up to the last point. */
function extents(c: Case, points: Finding[]): [number, number] {
  const field = (...names: string[]): number => Math.max(0, ...names.map((name) => Number(c.fields[name] ?? 0)));
  const rows = Math.max(...points.map((f) => f.s + 1), c.length);
  const channels = Math.max(...points.map((f) => f.d + 1), field("head_dim", "head_dim_v"));
  return [rows, channels];
}

/** Size of the tiles that are drawn: the block that the fixed pipe of the device computes at once. */
const TILE = 16;

function tiles(rows: number, channels: number, x: (d: number) => number, y: (s: number) => number): SVGElement[] {
  const lines: SVGElement[] = [];
  // Draw at most about 32 grid lines, because more lines would hide the elements.
  const step = (extent: number): number => TILE * Math.max(1, Math.ceil(extent / TILE / 32));
  for (let d = 0; d <= channels; d += step(channels))
    lines.push(svg("line", { class: "grid", x1: String(x(d)), x2: String(x(d)), y1: String(y(0)), y2: String(y(rows)) }));
  for (let s = 0; s <= rows; s += step(rows))
    lines.push(svg("line", { class: "grid", x1: String(x(0)), x2: String(x(channels)), y1: String(y(s)), y2: String(y(s)) }));
  return lines;
}

export function placesPicture(c: Case, t: Tensor, points: Finding[]): SVGElement {
  const [rows, channels] = extents(c, points);
  const width = 560, height = 260, left = 46, bottom = 36, top = 8;
  const x = scaleLinear([0, channels], [left, width - 10]);
  const y = scaleLinear([0, rows], [top, height - bottom]);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Elements of ${t.name} over ${rows} rows and ${channels} channels` }, ...tiles(rows, channels, x, y));
  const side = (scale: (at: number) => number): number => Math.max(5, Math.abs(scale(1) - scale(0)));
  for (const f of points) {
    const ratio = ratioOf(f);
    const heat = Math.min(1, Math.log10(1 + ratio) / 3);
    picture.append(svg("rect", { class: ratio > 1 ? "cell beyond" : "cell", x: String(x(f.d)), y: String(y(f.s)),
      width: String(side(x)), height: String(side(y)), "fill-opacity": String(0.35 + 0.65 * heat) },
      svg("title", {}, `${place(f)}: error / tau ${short(ratio)}`)));
  }
  picture.append(
    svg("text", { x: String(left), y: String(height - 18) }, "0"),
    svg("text", { x: String(width - 10), y: String(height - 18), "text-anchor": "end" }, String(channels)),
    svg("text", { x: String(left - 6), y: String(top + 10), "text-anchor": "end" }, "0"),
    svg("text", { x: String(left - 6), y: String(height - bottom), "text-anchor": "end" }, String(rows)),
    svg("text", { x: String(left), y: String(height - 4) }, `across: channel, down: row; lines every ${TILE} or a multiple; orange: beyond tau`));
  return picture;
}
