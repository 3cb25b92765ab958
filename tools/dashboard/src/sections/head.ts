// What a reader sees first: whose report it is, how it ended, and its key numbers.

import { kindOf, type Case, type Kind, type Report } from "../report";
import { toggleTerms } from "../state";
import { element, plural, put, short } from "../text";

function tile(value: string, what: string, click?: () => void): HTMLElement {
  const inside = [element("b", {}, value), element("span", {}, what)];
  return click === undefined ? element("div", { class: "tile" }, ...inside) :
    element("button", { class: "tile", type: "button", click }, ...inside);
}

function conclusion({ summary }: Report): [string, string] {
  const count = (kind: Kind): number =>
    Object.entries(summary.verdicts).reduce((sum, [name, n]) => sum + (kindOf(name) === kind ? n : 0), 0);
  if (summary.interrupted) return ["unclear", `Stopped after ${summary.cases} of ${summary.planned} cases`];
  const [fails, unclear, aside] = [count("fails"), count("unclear"), count("not_applicable")];
  const judged = summary.cases - unclear - aside;
  const apart = aside > 0 ? `; ${plural(aside, "case")} not applicable` : "";
  if (fails > 0) return ["bad", `Does not conform: ${fails} of ${judged} judged cases fail${apart}`];
  if (judged === 0) return ["unclear", `Not conclusive: none of ${plural(summary.cases, "case")} was judged`];
  if (unclear > 0) return ["unclear", `Not conclusive: ${unclear} of ${plural(summary.cases - aside, "case")}${apart}`];
  return ["good", `Conforms: ${plural(judged, "case")}, ${summary.value_cases} judged numerically, 0 failures${apart}`];
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
    tile(String(summary.value_cases), "judged numerically", () => toggleTerms(["judged=yes"])),
    tile(`${requirements.accepted} + ${requirements.rejected}`, `requirements accepted + rejected, of ${requirements.total}`),
    pairs?.admissible ? tile(`${pairs.covered} / ${pairs.admissible}`, "pairs of values covered") : null,
    triples?.admissible ? tile(`${triples.covered} / ${triples.admissible}`, "triples of values covered") : null,
    ...worstTiles(report.cases));
  put("footer", environment.command_line);
}
