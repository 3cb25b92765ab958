// Tests how the report page shows the schedule of a kernel on the modelled device.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import type { Browser } from "playwright-core";

import { complaints, FOLDER, launch, open, testAtNight } from "./browsing";

interface Event {
  ph: string;
  tid: number;
  ts: number;
  dur: number;
  args: { name: string };
}

const trace = JSON.parse(readFileSync(join(FOLDER, "trace.json"), "utf8")) as { traceEvents: Event[] };
const turns = trace.traceEvents.filter((event) => event.ph === "X");
const end = Math.max(...turns.map((turn) => turn.ts + turn.dur));

let browser: Browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

test("each queue is drawn with the share of the time in which it is busy", async () => {
  const page = await open(browser, "plan.html");
  const said = await page.$$eval("#plan-pipes path", (paths) => paths.map((path) => path.textContent));
  const expected = trace.traceEvents.filter((event) => event.ph === "M").map((queue) => {
    const busy = turns.filter((turn) => turn.tid === queue.tid).reduce((sum, turn) => sum + turn.dur, 0);
    return `${queue.args.name}: busy ${(100 * busy / end).toFixed(1)} %`;
  });
  assert.equal(expected.length, 7);
  assert.deepEqual(said, expected);
});

test("the roofline says what is reached, and under which roof", async () => {
  const page = await open(browser, "plan.html");
  assert.match((await page.getAttribute("#plan-roofline svg", "aria-label")) ?? "", /^Roofline: [0-9.]+ of 353\.9 TFLOP\/s reached$/);
  assert.deepEqual(await page.$$eval("#plan-roofline tbody td:first-child", (cells) => cells.map((cell) => cell.textContent)), ["L2", "HBM"]);
});

for (const scheme of ["light", "dark"] as const)
  for (const width of [1440, 390])
    testAtNight(`axe finds nothing wrong with a plan at ${width} px, ${scheme}`, async () => {
      const page = await open(browser, "plan.html", { width, scheme });
      await page.screenshot({ path: join(FOLDER, `plan_${width}_${scheme}.png`) });
      assert.deepEqual(await complaints(page), []);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    });
