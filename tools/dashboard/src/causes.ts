// Causes of failures: values of fields that failing cases share and passing cases do not have. The program `assay`
// derives them when it writes the report.

import type { Case, Report, StoredCause } from "./report";

/** A cause with its cases, not their ids, and its number on the page. */
export interface Cause extends Omit<StoredCause, "cases" | "example"> {
  number: number;
  cases: Case[];
  example: Case;
}

/** The causes of a report, the one with most cases first; sets the numbers of its causes in each case. */
export function causesOf(report: Report): Cause[] {
  const byId = new Map(report.cases.map((c) => [c.id, c]));
  return report.causes.map((stored, k) => {
    const cause: Cause = { ...stored, number: k + 1, cases: stored.cases.map((id) => byId.get(id)!), example: byId.get(stored.example)! };
    for (const c of cause.cases) c.causes.push(cause.number);
    return cause;
  });
}
