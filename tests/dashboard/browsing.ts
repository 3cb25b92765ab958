// A browser for the tests of the report page. It opens pages from the file system, without a network, and performs the
// actions of a user.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { deflateSync, inflateSync } from "node:zlib";

import { chromium, type Browser, type Page } from "playwright-core";

export const FOLDER = process.env["FOLDER"]!;
export const PROGRAM = process.env["PROGRAM"]!;
/** A slow test: skipped, and reported as skipped, if BY_DAY is set. */
export const testAtNight = process.env["BY_DAY"] ? test.skip : test;

export interface Tensor {
  name: string;
  worst: number | string;
  worst_at: { s: number; d: number; actual: number };
  elements_judged: number;
  histogram: number[];
  errors?: { rows: number; channels: number; row_step: number; channel_step: number; cells: string; by_head: string; near_rows: number[]; actual: number[] };
}

export interface Case {
  id: string;
  command_line: string;
  implementation: string;
  outputs_file?: string;
  verdict: string;
  value_case: boolean;
  seconds_total: number;
  fields: Record<string, string>;
  findings: { rule: string; tensor: string }[];
  tensors: Tensor[];
  metrics: { name: string; value: number }[];
}

export interface Report {
  environment: { implementation: string; started: string; program: string };
  summary: { cases: number; verdicts: Record<string, number> };
  causes: { cases: string[]; example: string }[];
  cases: Case[];
}

export const report = (): Report => JSON.parse(readFileSync(join(FOLDER, "two_faults.json"), "utf8")) as Report;

const ELEMENT = /(<script type="application\/octet-stream" id="reports">)([^<]*)/;

/** Returns the first report in the page. */
export function embedded(): Report {
  const line = ELEMENT.exec(readFileSync(join(FOLDER, "two_faults.html"), "utf8"))![2]!.split("\n")[0]!;
  return JSON.parse(inflateSync(Buffer.from(line, "base64")).toString()) as Report;
}

/** Writes a page of the program with other reports in it. Returns its size in bytes. */
export function writePage(name: string, reports: Report[]): number {
  const page = readFileSync(join(FOLDER, "two_faults.html"), "utf8");
  const packed = reports.map((one) => deflateSync(JSON.stringify(one), { level: 9 }).toString("base64") + "\n").join("");
  const made = page.replace(ELEMENT, (_, element: string) => element + packed);
  writeFileSync(join(FOLDER, name), made);
  return made.length;
}

export interface Look {
  width?: number;
  scheme?: "light" | "dark";
  hash?: string;
}

export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: process.env["CHROMIUM"]!, args: ["--no-sandbox", "--disable-dev-shm-usage"] });

/** Opens a page of the folder. The test fails on any network request and on any error of the page's script. */
export async function open(browser: Browser, name: string, look: Look = {}): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: look.width ?? 1440, height: 900 }, colorScheme: look.scheme ?? "light",
  });
  const page = await context.newPage();
  page.on("pageerror", (error) => assert.fail(`error of the page: ${error.message}`));
  page.on("request", (request) => assert.match(request.url(), /^(file|data):/, "the page must not use the network"));
  await page.goto("file://" + join(FOLDER, name) + (look.hash ?? ""));
  await page.waitForSelector("body[data-ready]");
  return page;
}

/** Returns the number of cases that the search leaves, once the page shows the state of its address. */
export async function left(page: Page): Promise<number> {
  await page.waitForFunction(() => document.body.dataset["shown"] === location.hash);
  return Number(/^(\d+) of /.exec((await page.textContent("#filter-count")) ?? "")?.[1]);
}

/** Types a search, and waits until the page shows the result. Returns the number of cases. */
export async function search(page: Page, query: string): Promise<number> {
  await page.fill("#filter-text", query);
  await page.waitForFunction((wanted) => (new URLSearchParams(location.hash.slice(1)).get("q") ?? "") === wanted, query);
  return left(page);
}

export const queryOf = (page: Page): Promise<string> =>
  page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get("q") ?? "");

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Returns the faults that axe-core finds in the current page. */
export async function complaints(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> };
    }).axe.run();
    return violations.flatMap((v) => v.nodes.slice(0, 3).map((n) => `${v.id}: ${n.html.slice(0, 160)}: ${n.failureSummary}`));
  });
}
