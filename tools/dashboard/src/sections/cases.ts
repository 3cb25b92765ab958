// The sorted list of all cases that match the search. At first it shows only some of them; a button shows more.

import { kindOf, type Case } from "../report";
import { address, change, read } from "../state";
import { badge, byId, element, put, short } from "../text";

const urgency = (c: Case): number => ({ fails: 2, unclear: 1, conforms: 0, not_applicable: 0 })[kindOf(c.verdict)];

type Order = (a: Case, b: Case) => number;
const byText = (of: (c: Case) => string): Order => (a, b) => of(a).localeCompare(of(b), "en", { numeric: true });

/** Infinite errors are equal: their difference is not a number. */
const byError: Order = (a, b) => (a.error === b.error ? 0 : b.error - a.error);

export const ORDERS: Record<string, [string, Order]> = {
  urgency: ["nonconforming first, then by error", (a, b) => urgency(b) - urgency(a) || byError(a, b)],
  error: ["largest error / bound first", byError],
  length: ["shortest sequence first", (a, b) => a.length - b.length],
  line: ["shortest replay line first", (a, b) => a.command_line.length - b.command_line.length],
  verdict: ["by verdict", byText((c) => c.verdict)],
  slowest: ["slowest implementation first", (a, b) => Number(b.seconds_implementation) - Number(a.seconds_implementation)],
  run: ["as they ran", () => 0],
};

const PART = 25;
let shown = PART;

/** The words of replay lines that every case of the list has: they say nothing about one of them. */
function sharedWords(cases: Case[]): Set<string> {
  const shared = new Set(cases.length < 2 ? [] : cases[0]!.command_line.split(" "));
  for (const c of cases) {
    const own = new Set(c.command_line.split(" "));
    for (const word of shared) if (!own.has(word)) shared.delete(word);
  }
  return shared;
}

/** The replay line with the fields that differ from other cases first. */
function differing(c: Case, shared: Set<string>): HTMLElement {
  const words = c.command_line.split(" ");
  const own = words.filter((word) => !shared.has(word)), rest = words.filter((word) => shared.has(word));
  return element("code", { class: "line", title: c.command_line }, element("span", { class: "own" }, own.join(" ")),
    own.length > 0 && rest.length > 0 ? " " : "", rest.join(" "));
}

/** The whole reason why a case was not judged; null for judged cases. */
function reason(c: Case): HTMLElement | null {
  const kind = kindOf(c.verdict);
  return c.evidence && (kind === "not_applicable" || kind === "unclear") ? element("span", { class: "unjudged-reason" }, c.evidence) : null;
}

function entry(c: Case, shared: Set<string>): HTMLElement {
  return element("li", {}, element("a", { class: "case", href: address({ ...read(), case: c.id }) },
    badge(c.verdict), element("span", { class: "rule" }, c.decided_by),
    element("span", { class: "ratio" }, c.error < 0 ? "" : short(c.error)),
    differing(c, shared), reason(c)));
}

export function sorted(matching: Case[], sort: string): Case[] {
  return [...matching].sort((ORDERS[sort] ?? ORDERS["urgency"]!)[1]);
}

export function showCases(cases: Case[], total: number): void {
  shown = PART;
  const shared = sharedWords(cases);
  const line = (c: Case): HTMLElement => entry(c, shared);
  put("cases", ...cases.slice(0, shown).map(line));
  byId("filter-count").textContent = `${cases.length} of ${total} cases`;
  const { q } = read();
  put("filter-on", ...(q === "" ? [] : [`A filter is on: ${cases.length} of ${total} cases match `, element("code", { class: "field" }, q), " ",
    element("button", { type: "button", class: "only", click: () => change({ q: "" }) }, "Show all cases")]));
  byId("more").hidden = cases.length <= shown;
  byId("more").onclick = () => {
    const next = cases.slice(shown, shown + 4 * PART);
    shown += next.length;
    byId("cases").append(...next.map(line));
    byId("more").hidden = cases.length <= shown;
  };
}
