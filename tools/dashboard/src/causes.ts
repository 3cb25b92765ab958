// Causes: what failing cases have in common and conforming ones have not, as the program derived them for the report.

import type { Case, Report } from "./report";

export interface Cause {
  number: number;
  /** One line: what fails and how. */
  pattern: string;
  /** The stage of the computation whose outputs are those that fail; empty where none is known. */
  stage: string;
  /** Terms of a query that separate its cases from those that conform; none: everything fails. */
  fields: string[];
  cases: Case[];
  /** Cases that meet the terms and do not fail so. */
  others: number;
  /** The case to look at first, and the line that runs it or what it was shrunk to. */
  example: Case;
  line: string;
}

/** The causes of a report, the one with most cases first; each case learns the numbers of its causes. */
export function causesOf(report: Report): Cause[] {
  const byId = new Map(report.cases.map((c) => [c.id, c]));
  return report.causes.map((stored, k) => {
    const cause: Cause = { ...stored, number: k + 1, cases: stored.cases.map((id) => byId.get(id)!), example: byId.get(stored.example)! };
    for (const c of cause.cases) c.causes.push(cause.number);
    return cause;
  });
}
