// The top of the page: the name of the implementation, the result, and the most important numbers.

import { figure, kindOf, type Case, type Kind, type Report } from "../report";
import { toggleTerms } from "../state";
import { element, plural, put, short } from "../text";

/** A key number and the rest of its sentence. */
function tile(value: string, sentence: string, click?: () => void): HTMLElement {
  const inside = [element("b", {}, value), " ", element("span", {}, sentence)];
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

/** The largest finite error over the bound, and the number of cases that it leaves out: those with an infinite error, which
    hides all others, and exact cases, in which any difference is a failure. */
function worstTile(cases: Case[]): HTMLElement | null {
  let name = "", largest = -1;
  const infinite = new Set<string>();
  for (const c of cases) {
    if (c.exact_case) continue;
    for (const t of c.tensors) {
      if (t.elements_judged === 0) continue;
      const ratio = figure(t.worst);
      if (!(Math.abs(ratio) < Number.MAX_VALUE)) infinite.add(c.id);
      else if (ratio > largest) [name, largest] = [t.name, ratio];
    }
  }
  if (largest < 0) return null;
  const exact = cases.filter((c) => c.exact_case).length;
  return tile(short(largest), `is the largest error over the bound, in ${name}` +
    (infinite.size > 0 ? `; ${plural(infinite.size, "case")} with an infinite error not counted` : "") +
    (exact > 0 ? `; ${plural(exact, "exact case")}, without a bound, not counted` : ""),
    () => toggleTerms([`error.${name}>=${Number((largest * 0.999).toPrecision(4))}`]));
}

export function showHead(report: Report): void {
  const { environment, summary } = report;
  document.title = "Assay: " + environment.implementation;
  put("implementation", environment.implementation);
  const [kind, text] = conclusion(report);
  put("conclusion", element("span", { class: kind }, text));
  const skipped = !summary.interrupted && summary.planned > summary.cases ?
    `, ${summary.planned - summary.cases} more did not fit the budget` : "";
  put("circumstances", [environment.started, short(environment.seconds) + " s", `seed ${environment.seed}${skipped}`,
    "assay " + environment.tool_version, environment.compiler].filter((x) => x !== "").join(" | "));
  const { requirements, pairs, triples } = summary;
  const side = (count: number, how: string): HTMLElement | null =>
    count === 0 ? null : tile(`${count} of ${requirements.total}`, `requirements are exercised by calls that ${how} them`);
  put("tiles", tile(`${summary.value_cases} of ${summary.cases}`, "cases are judged numerically", () => toggleTerms(["judged=yes"])),
    side(requirements.accepted, "satisfy"), side(requirements.rejected, "break"),
    pairs?.admissible ? tile(`${pairs.covered} of ${pairs.admissible}`, "pairs of field values occur together in a case") : null,
    triples?.admissible ? tile(`${triples.covered} of ${triples.admissible}`, "triples of field values occur together in a case") : null,
    worstTile(report.cases));
  put("footer", environment.command_line);
}
