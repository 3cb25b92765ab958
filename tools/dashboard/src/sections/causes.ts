// Shows the causes of failures: what fails, under which condition, what was observed, and a command that reproduces it.

import type { Cause } from "../causes";
import { has, words } from "../query";
import { figure, type Case, type StoredCause } from "../report";
import { address, read, toggleTerms } from "../state";
import { byId, copyLine, element, plural, put, runLine, short } from "../text";

/** The cases in which the failure was looked for, if all of them fail. */
function everywhere(cause: Cause): string {
  if (cause.refuses_nothing) return "In every case that breaks a requirement on purpose.";
  if (cause.outputs.length === 0) return "In every case that the kernel supports.";
  return `In every case in which ${cause.outputs.join(" or ")} is judged and not expected to be 0.`;
}

/** The cases that the cause is found in, and those that have its fields and do not fail in this way. */
function whereLine(cause: Cause): HTMLElement {
  const fields = cause.fields.map((field) => element("code", { class: "field" }, field));
  const counted = plural(cause.others, "other case"), fail = `${cause.others === 1 ? "does" : "do"} not fail in this way`;
  if (fields.length === 0)
    return element("p", { class: "where" }, cause.others === 0 ? everywhere(cause) : `No condition found: ${counted} ${fail}.`);
  return element("p", { class: "where" }, "Where ", ...fields.flatMap((f, k) => (k === 0 ? [f] : [" and ", f])),
    element("span", { class: "quiet" }, cause.others === 0 ? " (no other case has these fields)" : ` (${counted} with these fields ${fail})`));
}

/** The errors, the verdict and its rule, in small print. */
export function judgedText(cause: Omit<StoredCause, "cases" | "example"> & { cases: unknown[] }): string {
  const [least, largest] = [figure(cause.least_error), figure(cause.largest_error)];
  const error = largest > 0 ? `Error ${least === largest ? short(largest) : `${short(least)} to ${short(largest)}`} times the bound. ` : "";
  const share = cause.decided === cause.cases.length ? "" : ` in ${cause.decided} of ${cause.cases.length} cases`;
  return `${error}Verdict ${cause.verdict}, by the rule "${cause.decided_by}"${share}.`;
}

/** The fact that the console prints for a cause: "Seen in 1f3b: 640 of 640 judged elements of dk fail". */
export function seenText(example: Case): string {
  const text = example.findings[0]?.text || example.evidence;
  return text ? `Seen in ${example.id}: ${text}` : "";
}

/** Filters the list by the cause and leads the reader there. */
function showCasesOf(cause: Cause): void {
  toggleTerms(["cause=" + cause.number]);
  byId("cases-section").scrollIntoView();
}

function causeLine(cause: Cause): HTMLElement {
  const pressed = has(read().q, ["cause=" + cause.number]);
  const only = element("button", { type: "button", class: "only", "aria-pressed": String(pressed),
    click: () => showCasesOf(cause) }, pressed ? "Show all cases again" : `Show its ${plural(cause.cases.length, "case")}`);
  return element("li", { class: "cause" },
    element("p", {}, element("strong", {}, cause.pattern)), whereLine(cause),
    element("p", { class: "seen" }, seenText(cause.example)),
    element("p", { class: "quiet stage" }, ...(cause.stage === "" ? [] : [`Stage: ${cause.stage}. `]), judgedText(cause)),
    copyLine(runLine(cause.example, cause.line)),
    element("p", { class: "actions" }, only,
      element("a", { href: address({ ...read(), case: cause.example.id }) }, "Open case " + cause.example.id)));
}

export function showCauses(causes: Cause[]): void {
  byId("causes-section").hidden = causes.length === 0;
  put("causes-summary", causes.length === 1 ? "One cause explains every failing case." :
    `${causes.length} causes explain the failing cases. Their conditions are fields that failing cases have and conforming cases do not have.`);
  put("causes", ...causes.map(causeLine));
}

/** The number of the cause that the query selects, if it selects one cause. */
export function chosenCause(query: string): string {
  return words(query).find((word) => word.startsWith("cause="))?.slice(6) ?? "";
}
