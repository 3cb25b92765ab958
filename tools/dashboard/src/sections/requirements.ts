// Lists the requirements of the documentation, with the number of legal calls and of forbidden calls. A requirement
// that no case exercises is grey: this is not a failure.

import type { Report, Requirement } from "../report";
import { toggleTerms } from "../state";
import { element, byId, plural, put } from "../text";

function side(count: number, has: boolean, name: string, field: string, id: string): HTMLElement {
  if (!has) return element("span", { class: "none" }, "-");
  if (count === 0) return element("span", { class: "none" }, "not exercised");
  return element("button", { type: "button", class: "only", "aria-label": `${count} cases ${name}: ${id}`,
    click: () => toggleTerms([`${field}=${id}`]) }, String(count));
}

function line(row: Requirement, statement: string): HTMLElement {
  return element("tr", {}, element("th", { scope: "row" }, row.id), element("td", {}, statement),
    element("td", { class: "number" }, side(row.accepted, row.has_accept, "that accept it", "accepted", row.id)),
    element("td", { class: "number" }, side(row.rejected, row.has_reject, "that break it", "violated", row.id)));
}

export function showRequirements(report: Report): void {
  const { requirements } = report.summary;
  byId("requirements-section").hidden = requirements.total === 0;
  const left = requirements.unexercised;
  put("requirements-summary", `Of ${requirements.total} requirements, ${requirements.accepted} are exercised by calls that satisfy them, ` +
    `${requirements.rejected} by calls that break them.`);
  byId("unexercised").hidden = left.length === 0;
  put("unexercised-count", `${plural(left.length, "requirement")} for which no legal or no forbidden call was tested`);
  put("unexercised-list", left.join(", "));
  const head = ["requirement", "sentence", "accepted in", "rejected in"].map((text) => element("th", { scope: "col" }, text));
  put("requirements", element("table", {}, element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...requirements.requirements.map((row) => line(row, report.statements?.[row.id] ?? "")))));
}

export function showNumerics(report: Report): void {
  const { numerics } = report.environment;
  const dtypes = Object.keys(numerics);
  const first = dtypes[0];
  if (first === undefined) {
    put("numerics", "none recorded");
    return;
  }
  const fields = [...new Set(dtypes.flatMap((dtype) => Object.keys(numerics[dtype]!)))];
  const head = ["field", ...dtypes].map((text) => element("th", { scope: "col" }, text));
  const rows = fields.map((field) => element("tr", {}, element("th", { scope: "row" }, field),
    ...dtypes.map((dtype) => element("td", {}, String(numerics[dtype]![field] ?? "-")))));
  put("numerics", element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)));
}
