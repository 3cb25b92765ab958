// Tests the table of mutants (kernels with injected faults) and the cases that detect them, on the report page and on
// its own page.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import type { Browser, Page } from "playwright-core";

import { complaints, FOLDER, launch, open, testAtNight } from "./browsing";

interface Bug {
  name: string;
  healthy: boolean;
  as_expected: boolean;
  replay: string;
  cases_to_kill: number;
  tracks: Record<string, { cases: number; failed: number }>;
}

const kills = JSON.parse(readFileSync(join(FOLDER, "kills.json"), "utf8")) as { rows: Bug[]; yardsticks: { rule: string }[] };
const injected = kills.rows.filter((bug) => !bug.healthy);

let browser: Browser;
before(async () => { browser = await launch(); });
after(async () => { await browser.close(); });

const count = async (page: Page): Promise<number> => {
  await page.waitForFunction(() => document.body.dataset["shown"] === location.hash);
  return Number(/^(\d+) of /.exec((await page.textContent("#kills-count")) ?? "")?.[1]);
};

test("the page of a report has the kill table, and both are searched apart", async () => {
  assert.ok(injected.length >= 3, `${injected.length} injected faults`);
  const page = await open(browser, "kills.html");
  const said = (await page.textContent("#kills-summary")) ?? "";
  assert.match(said, new RegExp(`^${injected.filter((bug) => bug.as_expected).length} of ${injected.length} injected faults caught`));
  assert.equal(await count(page), kills.rows.length);
  const [first] = injected;
  await page.fill("#kills-text", first!.name);
  await page.waitForFunction((name) => location.hash.includes(name), first!.name);
  assert.equal(await count(page), kills.rows.filter((bug) => bug.name.includes(first!.name)).length);
  assert.ok(((await page.textContent("#kills")) ?? "").includes(first!.name));
  const line = injected.find((bug) => bug.replay !== "" && bug.name.includes(first!.name))!;
  assert.ok(((await page.textContent("#kills")) ?? "").includes(`assay run ${line.replay} --implementation=mutant-${line.name}`));
  assert.equal(await page.inputValue("#filter-text"), "");
  assert.ok((await page.$$("#cases a.case")).length > 0);
});

test("a bar and a track filter, a second click takes the filter away, and the address holds it", async () => {
  const page = await open(browser, "kills_alone.html");
  for (const mark of ["#kills-picture [role=button]", "#kills-tracks button"]) {
    await page.locator(mark).first().focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.hash.includes("bugs="));
    const some = await count(page);
    const name = (await page.locator(mark).first().getAttribute("aria-label")) ?? "";
    assert.equal(some, Number(/(\d+) (bug|of)/.exec(name)?.[1]), name);
    const other = await open(browser, "kills_alone.html", { hash: await page.evaluate(() => location.hash) });
    assert.equal(await count(other), some);
    await page.locator(mark).first().click();
    await page.waitForFunction(() => !location.hash.includes("bugs="));
    assert.equal(await count(page), kills.rows.length);
  }
});

test("a kill table alone is all that the page shows, sorted by cases to kill", async () => {
  const page = await open(browser, "kills_alone.html");
  assert.deepEqual(await page.$$eval("#overview > *", (all) => all.filter((part) => !(part as HTMLElement).hidden).map((part) => part.id)),
    ["kills-section"]);
  await page.fill("#kills-text", "cases=1-1000000");
  await page.waitForFunction(() => location.hash.includes("bugs="));
  await count(page);
  const column = (await page.$$eval("#kills th", (all) => all.map((th) => th.textContent))).indexOf("cases to kill");
  const shown = await page.$$eval("#kills tbody tr", (rows, k) => rows.map((row) => Number(row.children[k]!.textContent)), column);
  assert.deepEqual(shown, injected.map((bug) => bug.cases_to_kill).filter((n) => n > 0).sort((a, b) => b - a).slice(0, shown.length));
  for (const rule of kills.yardsticks.slice(0, 1))
    assert.ok(((await page.textContent("#kills-section")) ?? "").includes(rule.rule));
});

for (const scheme of ["light", "dark"] as const)
  for (const width of [1440, 390])
    testAtNight(`axe finds nothing wrong with a kill table at ${width} px, ${scheme}`, async () => {
      const page = await open(browser, "kills_alone.html", { width, scheme });
      await page.screenshot({ path: join(FOLDER, `kills_${width}_${scheme}.png`) });
      await page.$$eval("details", (all) => all.forEach((d) => { d.open = true; }));
      assert.deepEqual(await complaints(page), []);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    });
