// Shows the plan of a problem on the modelled device: when each queue of a core is busy, and the shortest time that
// each memory bandwidth permits.

import { scaleLinear, scaleLog } from "d3-scale";

import { unpackText } from "../report";
import { byId, element, put, short, svg, table } from "../text";

interface Queue {
  name: string;
  busy_microseconds: number;
  turns: [number, number][];
}

interface Roof {
  name: string;
  intensity: number;
  bandwidth: number;
}

/** The data of a trace of `assay device plan`, as the program writes it. */
export interface Timeline {
  schedule: string;
  microseconds: number;
  queues: Queue[];
  cube_flops: number;
  reached_flops: number;
  roofs: Roof[];
}

export async function unpackTimeline(): Promise<Timeline | undefined> {
  const packed = byId("plan-data").textContent!.trim();
  return packed === "" ? undefined : JSON.parse(await unpackText(packed)) as Timeline;
}

const busy = (queue: Queue, timeline: Timeline): string => (100 * queue.busy_microseconds / timeline.microseconds).toFixed(1) + " %";

function pipes(timeline: Timeline): SVGElement {
  const width = 1000, left = 96, right = 62, row = 30, bottom = 26;
  const height = timeline.queues.length * row + bottom;
  const x = scaleLinear([0, timeline.microseconds], [left, width - right]);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "pipes-over-time",
    "aria-label": `When each of ${timeline.queues.length} queues is busy, over ${short(timeline.microseconds)} microseconds` });
  for (const tick of x.ticks(8))
    picture.append(svg("line", { class: "grid", x1: String(x(tick)), x2: String(x(tick)), y1: "0", y2: String(height - bottom) }),
      svg("text", { x: String(x(tick)), y: String(height - 8), "text-anchor": "middle" }, short(tick) + (tick === 0 ? " us" : "")));
  timeline.queues.forEach((queue, k) => {
    // Draw one SVG path per queue. A queue has thousands of busy intervals, and a separate SVG element for each
    // interval would be slow.
    const drawn = queue.turns.map(([start, end]) => `M${x(start).toFixed(2)} ${k * row + 6}H${Math.max(x(end), x(start) + 0.3).toFixed(2)}v18H${x(start).toFixed(2)}z`);
    picture.append(svg("text", { x: String(left - 8), y: String(k * row + 20), "text-anchor": "end" }, queue.name),
      svg("path", { class: "cell", d: drawn.join("") }, svg("title", {}, `${queue.name}: busy ${busy(queue, timeline)}`)),
      svg("text", { x: String(width - right + 8), y: String(k * row + 20) }, busy(queue, timeline)));
  });
  return picture;
}

const tera = (flops: number): string => short(flops * 1e-12);

function roofline(timeline: Timeline): SVGElement | null {
  const { cube_flops: cube, reached_flops: reached, roofs } = timeline;
  if (!(cube > 0) || !(reached > 0) || roofs.length === 0) return null;
  const width = 560, height = 300, left = 56, bottom = 44, top = 24, right = 14;
  const knees = roofs.map((roof) => cube / roof.bandwidth);
  const all = [...knees, ...roofs.map((roof) => roof.intensity)];
  const x = scaleLog([Math.min(...all) / 3, Math.max(...all) * 3], [left, width - right]);
  const y = scaleLog([Math.min(reached, ...roofs.map((roof) => roof.bandwidth * x.domain()[0]!)) / 2, cube * 2], [height - bottom, top]).clamp(true);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Roofline: ${tera(reached)} of ${tera(cube)} TFLOP/s reached` });
  const power = (tick: number): boolean => Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-9;
  for (const tick of x.ticks().filter(power))
    picture.append(svg("line", { class: "grid", x1: String(x(tick)), x2: String(x(tick)), y1: String(top), y2: String(height - bottom) }),
      svg("text", { x: String(x(tick)), y: String(height - bottom + 16), "text-anchor": "middle" }, short(tick)));
  for (const tick of y.ticks().filter(power))
    picture.append(svg("line", { class: "grid", x1: String(left), x2: String(width - right), y1: String(y(tick)), y2: String(y(tick)) }),
      svg("text", { x: String(left - 6), y: String(y(tick) + 4), "text-anchor": "end" }, tera(tick)));
  roofs.forEach((roof, k) => {
    const [from, to] = x.domain() as [number, number];
    const knee = knees[k]!;
    const allowed = Math.min(cube, roof.bandwidth * roof.intensity);
    picture.append(svg("path", { class: k === 0 ? "roof" : "roof other",
      d: `M${x(from)} ${y(roof.bandwidth * from)}L${x(knee)} ${y(cube)}H${x(to)}` }),
      svg("line", { class: "drop", x1: String(x(roof.intensity)), x2: String(x(roof.intensity)), y1: String(y(allowed)), y2: String(y(reached)) }),
      svg("circle", { class: "cell", cx: String(x(roof.intensity)), cy: String(y(reached)), r: "5" },
        svg("title", {}, `${roof.name}: ${short(roof.intensity)} FLOP/B, ${tera(reached)} of ${tera(allowed)} TFLOP/s that it allows`)),
      svg("text", { x: String(x(roof.intensity) + 8), y: String(y(reached) + 4) }, roof.name));
  });
  picture.append(svg("text", { x: String(left), y: String(height - 8) }, "across: FLOP per byte; up: TFLOP/s; dots: reached"));
  return picture;
}

export function showTimeline(timeline: Timeline | undefined): void {
  byId("plan-section").hidden = timeline === undefined;
  if (timeline === undefined) return;
  put("plan-name", timeline.schedule);
  put("plan-pipes", pipes(timeline));
  const picture = roofline(timeline);
  const { cube_flops: cube, roofs, reached_flops: reached } = timeline;
  put("plan-roofline", picture === null ? null : element("div", { class: "two" }, picture,
    table(["memory", "FLOP/B", "allows TFLOP/s", "reached"], roofs.map((roof) => {
      const allowed = Math.min(cube, roof.bandwidth * roof.intensity);
      return [roof.name, short(roof.intensity), tera(allowed), (100 * reached / allowed).toFixed(1) + " %"];
    }), "Limits of the memories")));
}
