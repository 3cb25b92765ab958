// Tests how the report page shows the positions of errors in a failing case.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { Browser } from "playwright-core";

import { embedded, launch, open, report } from "./browsing";

let browser: Browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

const PAGE = "two_faults.html";
const failing = embedded().cases.filter((c) => c.verdict.startsWith("nonconformant"));
const mapped = failing.filter((c) => c.tensors.some((t) => t.errors !== undefined));
/** Counts the letters of cells beyond the bound: those after O, which is 1. */
const beyond = (cells: string): number => [...cells].filter((letter) => letter === "*" || /[P-Za-z]/.test(letter)).length;

test("the report has a map of each failing case, the page of the first of each fault", () => {
  for (const c of report().cases)
    for (const t of c.tensors)
      assert.equal(t.errors !== undefined, !c.verdict.startsWith("conforms"), `${c.id} ${c.verdict} ${t.name}`);
  assert.ok(mapped.length >= 2 && mapped.length < failing.length, `${mapped.length} of ${failing.length} failing cases`);
});

test("the injected fault shows in the map: dq is wrong in its later half", async () => {
  const late = mapped.find((c) => c.fields["sparse_mode"] === "3" && c.fields["batch"] === "1" && Number(c.fields["seq_q"]) >= 8 &&
    c.tensors.some((t) => t.name === "dq" && t.errors !== undefined && beyond(t.errors.cells) > 0));
  assert.ok(late, "there must be a case of one batch with the injected fault");
  const errors = late.tensors.find((t) => t.name === "dq")!.errors!;
  const columns = Math.ceil(errors.channels / errors.channel_step);
  const sound = Math.floor(errors.rows / 2 / errors.row_step) * columns;
  assert.ok(sound > 0);
  assert.equal(beyond(errors.cells.slice(0, sound)), 0, errors.cells);
  const page = await open(browser, PAGE, { hash: "#case=" + late.id });
  const said = (await page.locator(".places", { has: page.locator("h3", { hasText: /^dq$/ }) }).locator("> p").textContent()) ?? "";
  assert.equal(Number(/^(\d+) of/.exec(said)?.[1]), beyond(errors.cells), said);
  assert.ok(Number(/at s = (\d+)/.exec(said)?.[1]) >= Math.floor(errors.rows / 2 / errors.row_step) * errors.row_step, said);
});

test("cells, heads and the neighbourhood of the worst element are those of the report", async () => {
  const c = mapped.find((one) => one.tensors.some((t) => t.errors !== undefined && beyond(t.errors.cells) > 0))!;
  const page = await open(browser, PAGE, { hash: "#case=" + c.id });
  for (const t of c.tensors) {
    const place = page.locator(".places", { has: page.locator("h3", { hasText: new RegExp(`^${t.name}$`) }) });
    if (t.worst === 0) {
      assert.match((await place.textContent()) ?? "", /No judged element has an error/);
      continue;
    }
    const ratios = await place.locator(".heat").first().locator("[data-ratio]")
      .evaluateAll((cells) => cells.map((cell) => Number((cell as SVGElement).dataset["ratio"])));
    assert.equal(ratios.length, t.errors!.cells.length);
    assert.equal(ratios.filter((ratio) => ratio > 1).length, beyond(t.errors!.cells));
    const worst = place.locator(".is-worst");
    assert.equal(await worst.count(), 1);
    assert.equal(Number(await worst.locator("div").first().textContent()), Number(t.worst_at.actual.toPrecision(7)));
    assert.equal(await place.locator(".near td").count(), t.errors!.actual.length);
    const cell = place.locator(".heat rect[data-ratio]").first();
    await cell.hover();
    assert.match((await place.locator(".cell-text").textContent()) ?? "", /^s = 0.*d = 0.*: (at most|nothing|without)/);
  }
});

test("a failing case without a map on the page says of which there is one", async () => {
  const c = failing.find((one) => one.tensors.some((t) => t.worst !== 0) && one.tensors.every((t) => t.errors === undefined))!;
  const page = await open(browser, PAGE, { hash: "#case=" + c.id });
  assert.match((await page.textContent("#case-page")) ?? "", /a map of errors of the first cases of each fault/);
});
