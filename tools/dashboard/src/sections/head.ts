// What a reader sees first: whose report it is, how it ended, and its key numbers.

import { kindOf, type Case, type Kind, type Report } from "../report";
import { toggleTerms } from "../state";
import { element, put, short } from "../text";

function tile(value: string, what: string, click?: () => void): HTMLElement {
  const inside = [element("b", {}, value), element("span", {}, what)];
  return click === undefined ? element("div", { class: "tile" }, ...inside) :
    element("button", { class: "tile", type: "button", click }, ...inside);
}

function conclusion({ summary }: Report): [string, string] {
  const count = (kind: Kind): number =>
    Object.entries(summary.verdicts).reduce((sum, [name, n]) => sum + (kindOf(name) === kind ? n : 0), 0);
  if (summary.interrupted) return ["unclear", `Stopped after ${summary.cases} of ${summary.planned} cases`];
  if (count("fails") > 0) return ["bad", `Does not conform: ${count("fails")} of ${summary.cases} cases`];
  if (count("unclear") > 0 || summary.cases === 0)
    return ["unclear", `Not conclusive: ${count("unclear")} of ${summary.cases} cases`];
  return ["good", `Conforms: nothing found in ${summary.cases} cases`];
}

/** The largest finite error of each tensor; cases without end are counted beside it, since they hide all others. */
function worstTiles(cases: Case[]): HTMLElement[] {
  const errors = new Map<string, { finite: number; endless: number }>();
  for (const c of cases) {
    if (c.exact_case) continue;
    for (const t of c.tensors) {
      if (t.elements_judged === 0) continue;
      const entry = errors.get(t.name) ?? { finite: 0, endless: 0 };
      if (typeof t.worst === "number") entry.finite = Math.max(entry.finite, t.worst);
      else entry.endless += 1;
      errors.set(t.name, entry);
    }
  }
  return [...errors].map(([name, { finite, endless }]) => tile(short(finite),
    `largest error / bound of ${name}` + (endless > 0 ? `, beside ${endless} without end` : ""),
    () => toggleTerms([`error.${name}>=${Number((finite * 0.999).toPrecision(4))}`])));
}

export function showHead(report: Report): void {
  const { environment, summary } = report;
  document.title = "Assay: " + environment.implementation;
  put("implementation", environment.implementation);
  const [kind, text] = conclusion(report);
  put("conclusion", element("span", { class: kind }, text));
  const skipped = !summary.interrupted && summary.planned > summary.cases ?
    `, ${summary.planned - summary.cases} more were beyond the budget` : "";
  put("circumstances", [environment.started, short(environment.seconds) + " s", `seed ${environment.seed}${skipped}`,
    "assay " + environment.tool_version, environment.compiler].filter((x) => x !== "").join(" | "));
  const { requirements, pairs, triples } = summary;
  put("tiles", tile(String(summary.cases), "cases"),
    tile(String(summary.value_cases), "judged by their numbers", () => toggleTerms(["judged=yes"])),
    tile(`${requirements.accepted} + ${requirements.rejected}`, `requirements accepted + rejected, of ${requirements.total}`),
    pairs?.admissible ? tile(`${pairs.covered} / ${pairs.admissible}`, "pairs of values covered") : null,
    triples?.admissible ? tile(`${triples.covered} / ${triples.admissible}`, "triples of values covered") : null,
    ...worstTiles(report.cases));
  put("footer", environment.command_line);
}
