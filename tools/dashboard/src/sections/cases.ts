// The list of cases that the search leaves, sorted, in parts.

import { kindOf, type Case } from "../report";
import { address, read } from "../state";
import { badge, byId, element, put, short } from "../text";

const urgency = (c: Case): number => ({ fails: 2, unclear: 1, conforms: 0, not_applicable: 0 })[kindOf(c.verdict)];

type Order = (a: Case, b: Case) => number;
const byText = (of: (c: Case) => string): Order => (a, b) => of(a).localeCompare(of(b), "en", { numeric: true });

/** Cases without end are equal: their difference is no number. */
const byError: Order = (a, b) => (a.error === b.error ? 0 : b.error - a.error);

export const ORDERS: Record<string, [string, Order]> = {
  urgency: ["what does not conform first, then by error", (a, b) => urgency(b) - urgency(a) || byError(a, b)],
  error: ["largest error / bound first", byError],
  length: ["shortest sequence first", (a, b) => a.length - b.length],
  line: ["shortest replay line first", (a, b) => a.command_line.length - b.command_line.length],
  verdict: ["by verdict", byText((c) => c.verdict)],
  slowest: ["slowest implementation first", (a, b) => Number(b.seconds_implementation) - Number(a.seconds_implementation)],
  run: ["as they ran", () => 0],
};

const PART = 25;
let shown = PART;

function entry(c: Case): HTMLElement {
  return element("li", {}, element("a", { class: "case", href: address({ ...read(), case: c.id }) },
    badge(c.verdict), element("span", { class: "rule" }, c.decided_by),
    element("span", { class: "ratio" }, c.error < 0 ? "" : short(c.error)),
    element("code", { class: "line" }, c.command_line)));
}

export function sorted(matching: Case[], sort: string): Case[] {
  return [...matching].sort((ORDERS[sort] ?? ORDERS["urgency"]!)[1]);
}

export function showCases(cases: Case[], total: number): void {
  shown = PART;
  put("cases", ...cases.slice(0, shown).map(entry));
  byId("filter-count").textContent = `${cases.length} of ${total} cases`;
  byId("more").hidden = cases.length <= shown;
  byId("more").onclick = () => {
    const next = cases.slice(shown, shown + 4 * PART);
    shown += next.length;
    byId("cases").append(...next.map(entry));
    byId("more").hidden = cases.length <= shown;
  };
}
