// Causes of a failing kernel, one line each: what fails how, the fields that separate it, a small case to run.

import type { Cause } from "../causes";
import { has, words } from "../query";
import { address, read, toggleTerms } from "../state";
import { byId, copyLine, element, plural, put, runLine } from "../text";

function causeLine(cause: Cause): HTMLElement {
  const q = read().q;
  const fields = cause.fields.map((field) => element("code", { class: "field" }, field));
  const only = element("button", { type: "button", class: "only", "aria-pressed": String(has(q, ["cause=" + cause.number])),
    click: () => toggleTerms(["cause=" + cause.number]) }, `Show its ${plural(cause.cases.length, "case")}`);
  const counted = plural(cause.others, "other case"), fail = `${cause.others === 1 ? "does" : "do"} not fail so`;
  const others = cause.others === 0 ? (fields.length === 0 ? "in every case that has it" : "no other case has these fields") :
    fields.length === 0 ? `no condition found: ${counted} ${fail}` : `${counted} with these fields ${fail}`;
  return element("li", { class: "cause" },
    element("p", {}, element("strong", {}, cause.pattern), ...(fields.length === 0 ? [] : [" where "]), ...fields.flatMap((f, k) => (k === 0 ? [f] : [" and ", f])),
      element("span", { class: "quiet" }, ` (${others})`)),
    ...(cause.stage === "" ? [] : [element("p", { class: "stage" }, "Stage: ", cause.stage)]),
    copyLine(runLine(cause.example, cause.line)),
    element("p", { class: "actions" }, only,
      element("a", { href: address({ ...read(), case: cause.example.id }) }, "Open case " + cause.example.id)));
}

export function showCauses(causes: Cause[]): void {
  byId("causes-section").hidden = causes.length === 0;
  put("causes-summary", causes.length === 1 ? "One cause explains every failing case." :
    `${causes.length} causes explain the failing cases, derived from the fields that failing and conforming cases have.`);
  put("causes", ...causes.map(causeLine));
}

/** The number that the query asks for, if it asks for one cause. */
export function chosenCause(query: string): string {
  return words(query).find((word) => word.startsWith("cause="))?.slice(6) ?? "";
}
