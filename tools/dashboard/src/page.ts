// Builds the page: reads the embedded reports, and draws the page again whenever the URL changes.

import { causesOf, type Cause } from "./causes";
import { compile, fieldNames } from "./query";
import { unpack, type Case, type Report } from "./report";
import { showCase } from "./sections/case_page";
import { ORDERS, showCases, sorted } from "./sections/cases";
import { prepareKills, showKills, unpackKills, type Kills } from "./sections/kills";
import { showCauses } from "./sections/causes";
import { showHead } from "./sections/head";
import { prepareAccuracy, prepareDevice, showAccuracy, showDevice, showVerdicts } from "./sections/overview";
import { showNumerics, showRequirements } from "./sections/requirements";
import { showRuns } from "./sections/runs";
import { showTimeline, unpackTimeline, type Timeline } from "./sections/timeline";
import { choice } from "./charts";
import { listenToKeys } from "./keyboard";
import { change, onChange, read } from "./state";
import { byId, put } from "./text";

interface Page {
  report: Report;
  kills: Kills | undefined;
  causes: Cause[];
  names: Set<string>;
  /** Cases that match the search, in the order of the list. */
  list: Case[];
}

function showList(page: Page): void {
  showCauses(page.causes);
  showVerdicts(page.report, page.list);
  showAccuracy(page.list);
  showDevice(page.list);
  showKills(page.kills);
  showCases(page.list, page.report.cases.length);
}

function render(page: Page): void {
  const state = read();
  const query = compile(state.q, page.names, page.report.cases);
  page.list = sorted(page.report.cases.filter((c) => query.matches(c)), state.sort);
  const search = byId("filter-text") as HTMLInputElement;
  if (document.activeElement !== search) search.value = state.q;
  (byId("sort") as HTMLSelectElement).value = state.sort in ORDERS ? state.sort : "urgency";
  byId("clear").hidden = state.q === "";
  put("filter-complaint", query.complaint);
  const chosen = page.report.cases.find((c) => c.id === state.case);
  byId("overview").hidden = chosen !== undefined;
  byId("case-page").hidden = chosen === undefined;
  put("lost-case", state.case !== "" && chosen === undefined ? `The report has no case ${state.case}.` : "");
  if (chosen !== undefined) showCase(chosen, page.report, page.list);
  else showList(page);
  // Programs that control the page, such as tests, wait for this attribute.
  document.body.dataset["shown"] = location.hash;
}

function listen(page: Page): void {
  const redraw = (): void => render(page);
  const search = byId("filter-text") as HTMLInputElement;
  let pause = 0;
  search.addEventListener("input", () => {
    // With many cases, drawing a chart takes longer than a key press. The page is therefore redrawn only when the user
    // stops typing for a moment.
    clearTimeout(pause);
    pause = setTimeout(() => change({ q: search.value.trim(), case: "" }, true), 120);
  });
  byId("clear").addEventListener("click", () => {
    search.value = "";
    change({ q: "" });
  });
  const sort = byId("sort") as HTMLSelectElement;
  choice("sort", Object.keys(ORDERS), "urgency", () => change({ sort: sort.value }));
  for (const option of sort.options) option.textContent = ORDERS[option.value]![0];
  prepareAccuracy(page.report, redraw);
  prepareDevice(page.report, redraw);
  prepareKills(page.kills);
  listenToKeys(() => page.list);
  onChange(redraw);
}

/** For a page without a report: hides all other parts. */
function showWithoutReport(kills: Kills | undefined, timeline: Timeline | undefined): void {
  for (const part of byId("overview").children) (part as HTMLElement).hidden = true;
  const what = [kills === undefined ? [] : ["Injected faults and healthy variants"], timeline === undefined ? [] : ["A plan on the modelled device"]].flat();
  document.title = "Assay: " + what.join(", ");
  put("implementation", what.join(", "));
  put("conclusion");
  showTimeline(timeline);
  prepareKills(kills);
  const redraw = (): void => {
    showKills(kills);
    document.body.dataset["shown"] = location.hash;
  };
  onChange(redraw);
  redraw();
  document.body.dataset["ready"] = "yes";
}

async function show(): Promise<void> {
  const packed = byId("reports").textContent!.split("\n").filter((line) => line !== "");
  const runs = await Promise.all(packed.map(unpack));
  const kills = await unpackKills();
  const timeline = await unpackTimeline();
  const report = runs[0];
  if (report === undefined) {
    if (kills === undefined && timeline === undefined) throw new Error("the page contains no report");
    showWithoutReport(kills, timeline);
    return;
  }
  const page: Page = { report, kills, causes: causesOf(report), names: fieldNames(report.cases), list: [] };
  showHead(report);
  showRuns(runs);
  showRequirements(report);
  showTimeline(timeline);
  showNumerics(report);
  listen(page);
  render(page);
  document.body.dataset["ready"] = "yes";
}

show().catch((error: unknown) => put("conclusion", "This page could not be shown: " + String(error)));
