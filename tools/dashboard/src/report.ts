// The types of the report data (see tools/report_schema.md), and functions that derive values from them.

/** Numbers that JSON cannot represent are strings. */
export type Figure = number | "nan" | "inf" | "-inf";

/** tools/pattern_schema.md describes it. */
export interface Fact {
  kind: string;
  values: (number | string)[];
  parts: Fact[];
}

export interface Finding {
  rule: string;
  tensor: string;
  b: number;
  n: number;
  s: number;
  d: number;
  actual: Figure;
  expected: Figure;
  tolerance: Figure;
  /** The statement of `text` as data. */
  fact?: Fact;
  /** A sentence for people. */
  text: string;
}

/** The error map of a tensor; tools/errors_schema.md describes the letters. */
export interface ErrorMap {
  batch: number;
  heads: number;
  rows: number;
  channels: number;
  row_step: number;
  channel_step: number;
  head_step: number;
  cells: string;
  by_head: string;
  near_channel: number;
  near_rows: number[];
  actual: Figure[];
  expected: Figure[];
  tolerance: Figure[];
}

export interface Tensor {
  name: string;
  rows_judged: number;
  rows_total: number;
  rows_summed?: number;
  rows_blind?: number;
  elements_judged: number;
  worst: Figure;
  worst_at: Finding;
  terms: Record<string, Figure>;
  rms: Figure;
  rms_limit: Figure;
  bias: Figure;
  histogram: Figure[];
  controls: string;
  errors?: ErrorMap;
}

export interface Metric {
  name: string;
  value: Figure;
  unit: string;
}

export interface Shrunk {
  id: string;
  shrunk: string;
  verdict: string;
  runs: number;
  end: string;
}

/** A case as in the report. */
interface StoredCase {
  id: string;
  operator: string;
  command_line: string;
  note: string;
  implementation: string;
  outputs_file?: string;
  pair?: { forward: string; gradient: string };
  verdict: string;
  decided_by: string;
  evidence?: string;
  value_case: boolean;
  fields: Record<string, string>;
  violated_requirement?: string;
  accepted_requirements?: string[];
  findings: Finding[];
  tensors: Tensor[];
  metrics: Metric[];
  seconds_implementation: Figure;
  seconds_total: Figure;
}

export type Change = "regression" | "improvement" | "other";

/** A case with the values that the page derives from it. */
export interface Case extends StoredCase {
  program: string;
  /** Largest error / bound over the tensors; -1 if nothing was judged. */
  error: number;
  /** Tensors that exceed a limit; one empty name if the whole call fails. */
  failed: string[];
  exact_case: boolean;
  length: number;
  shrunk: Shrunk | undefined;
  causes: number[];
  /** Verdict in the report that this one is compared with. */
  before: string | undefined;
  /** The change since that report; undefined if there is none. */
  change: Change | undefined;
  /** The text that the words of a search must match. */
  text: string;
}

export interface Requirement {
  id: string;
  has_accept: boolean;
  has_reject: boolean;
  accepted: number;
  rejected: number;
}

export interface Environment {
  tool_version: string;
  compiler: string;
  command_line: string;
  implementation: string;
  program?: string;
  started: string;
  seed: number;
  seconds: number;
  numerics: Record<string, Record<string, unknown>>;
}

export interface Summary {
  planned: number;
  cases: number;
  value_cases: number;
  interrupted: boolean;
  verdicts: Record<string, number>;
  requirements: {
    total: number;
    accepted: number;
    rejected: number;
    unexercised: string[];
    requirements: Requirement[];
  };
  pairs?: { admissible: number; covered: number };
  triples?: { admissible: number; covered: number };
}

/** A fact that `cases` cases of a cause show, in these outputs. */
export interface Common<Fact> {
  fact: Fact;
  cases: number;
  outputs: string[];
}

/** A cause as the program writes it (tools/causes_schema.md): cases are given by their ids. */
export interface StoredCause {
  /** One line for people: what fails and how. */
  pattern: string;
  /** Outputs that fail; none: the whole call fails. */
  outputs: string[];
  refuses_nothing: boolean;
  /** The most frequent verdict of its cases, the rule that gave it, and the number of cases with both. */
  verdict: string;
  decided_by: string;
  decided: number;
  /** Errors over the bound, of those beyond it; 0: none. */
  least_error: Figure;
  largest_error: Figure;
  /** The stage of the computation whose outputs fail; empty: unknown. */
  stage: string;
  /** Terms of a query that separate its cases from those that conform; none: everything fails. */
  fields: string[];
  /** The most frequent deviation from the expected values, and the most frequent places (tools/pattern_schema.md). */
  deviation?: Common<Record<string, unknown>>;
  places?: Common<Record<string, unknown>[]>;
  /** Cases that have the fields and do not fail in this way. */
  others: number;
  /** The id of the case to look at first, and the line that runs it or what it was shrunk to. */
  example: string;
  line: string;
  cases: string[];
}

export interface Report {
  environment: Environment;
  summary: Summary;
  shrunk?: Shrunk[];
  causes: StoredCause[];
  cases: Case[];
  /** Sentence of each requirement, by its id. */
  statements?: Record<string, string>;
}

export function figure(value: Figure | undefined): number {
  if (value === undefined || value === "nan") return NaN;
  if (value === "inf") return Infinity;
  if (value === "-inf") return -Infinity;
  return value;
}

/** The kinds of verdicts. */
export type Kind = "conforms" | "fails" | "unclear" | "not_applicable";

/** Verdicts in drawing order: name, colour, kind. The colours suit colour-blind readers. */
const VERDICTS: [string, string, Kind][] = [
  ["conforms", "#009e73", "conforms"], ["conforms_weak", "#7fcfb6", "conforms"],
  ["rejected_as_specified", "#0072b2", "conforms"], ["rejected_other_code", "#56b4e9", "conforms"],
  ["not_applicable", "#a7b0ba", "not_applicable"],
  ["nonconformant_structural", "#d55e00", "fails"], ["nonconformant_proven", "#b03a00", "fails"],
  ["nonconformant_statistical", "#f08a4b", "fails"], ["statistical_unconfirmed", "#f6b48a", "fails"],
  ["nondeterministic", "#cc79a7", "fails"], ["rejected_wrongly", "#a0457c", "fails"],
  ["accepted_wrongly", "#7b2d5e", "fails"], ["crash", "#6b1d1d", "fails"],
  ["timeout", "#8c5a5a", "fails"],
  ["inconclusive", "#e0b400", "unclear"], ["vacuous", "#efdc82", "unclear"],
  ["usage_error", "#777777", "unclear"], ["tool_failure", "#444444", "unclear"],
];
export const VERDICT_NAMES = VERDICTS.map(([name]) => name);
const COLOURS = new Map(VERDICTS.map(([name, colour]) => [name, colour]));
const KINDS = new Map(VERDICTS.map(([name, , kind]) => [name, kind]));

/** Unknown verdicts of a later version are shown in grey, as unclear. */
export const colourOf = (verdict: string): string => COLOURS.get(verdict) ?? "#777777";
export const kindOf = (verdict: string): Kind => KINDS.get(verdict) ?? "unclear";

function errorOf(c: StoredCase): number {
  let worst = -1;
  for (const tensor of c.tensors) {
    const ratio = figure(tensor.worst);
    if (tensor.elements_judged > 0) worst = Math.max(worst, Number.isNaN(ratio) ? Infinity : ratio);
  }
  return worst;
}

/** Rules that do not exceed a limit: they only describe what happened. */
const REMARKS = new Set(["note", "repeat"]);

function failedTensors(c: StoredCase): string[] {
  if (kindOf(c.verdict) !== "fails") return [];
  const named = c.findings.filter((f) => f.tensor !== "" && !REMARKS.has(f.rule)).map((f) => f.tensor);
  return named.length > 0 ? [...new Set(named)] : [""];
}

function lengthOf(c: StoredCase): number {
  return Math.max(...["seq", "seq_q", "seq_kv"].map((name) => Number(c.fields[name] ?? 0)));
}

/** Adds to the cases the values that the page derives from them. */
export function derive(report: Report): Report {
  const shrunk = new Map((report.shrunk ?? []).map((s) => [s.id, s]));
  for (const c of report.cases) {
    c.program = report.environment.program ?? "assay";
    c.error = errorOf(c);
    c.failed = failedTensors(c);
    c.exact_case = c.fields["track"] === "exact" || c.fields["track"] === "exact_staged";
    c.length = lengthOf(c);
    c.shrunk = shrunk.get(c.id);
    c.causes = [];
    c.before = undefined;
    c.change = undefined;
    c.text = [c.id, c.command_line, c.note, c.verdict, c.decided_by, c.evidence ?? ""].join(" ").toLowerCase();
  }
  return report;
}

/** Unpacks an embedded text: zlib-compressed, in base64. */
export async function unpackText(base64: string): Promise<string> {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k += 1) bytes[k] = letters.charCodeAt(k);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

export const unpack = async (base64: string): Promise<Report> => derive(JSON.parse(await unpackText(base64)) as Report);
