// What a report holds, as tools/report_schema.md describes it, and what the page derives from it.

/** Numbers that JSON cannot hold are strings. */
export type Figure = number | "nan" | "inf" | "-inf";

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
  text: string;
}

/** Where the errors of a tensor lie; letters as tools/errors_schema.md says. */
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

/** A case as the report holds it. */
interface StoredCase {
  id: string;
  operator: string;
  command_line: string;
  note: string;
  implementation: string;
  outputs_file?: string;
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

/** A case with what the page derives from it. */
export interface Case extends StoredCase {
  program: string;
  /** Largest error / bound over the tensors; -1 where nothing was judged. */
  error: number;
  /** Tensors that break a limit; one empty name where the call as a whole does. */
  failed: string[];
  exact_case: boolean;
  length: number;
  shrunk: Shrunk | undefined;
  causes: number[];
  /** Verdict in the report that this one is compared with. */
  before: string | undefined;
  /** What became of it since; undefined where nothing did. */
  change: Change | undefined;
  /** What words of a search are looked for in. */
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

/** A cause as the program writes it: cases by their ids. */
export interface StoredCause {
  pattern: string;
  stage: string;
  fields: string[];
  others: number;
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

/** What a verdict amounts to. */
export type Kind = "conforms" | "fails" | "unclear" | "not_applicable";

/** Verdicts in the order in which they are drawn: name, colour, kind. Fit for the colour-blind. */
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

/** Verdicts of a later version are shown, too: in grey, as unclear. */
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

/** Rules that break no limit: they say what happened. */
const REMARKS = new Set(["note", "repeat"]);

function failedTensors(c: StoredCase): string[] {
  if (kindOf(c.verdict) !== "fails") return [];
  const named = c.findings.filter((f) => f.tensor !== "" && !REMARKS.has(f.rule)).map((f) => f.tensor);
  return named.length > 0 ? [...new Set(named)] : [""];
}

function lengthOf(c: StoredCase): number {
  return Math.max(...["seq", "seq_q", "seq_kv"].map((name) => Number(c.fields[name] ?? 0)));
}

/** Adds to the cases what the page derives from them. */
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

/** Unpacks what the program embedded: base64 of a text that zlib compressed. */
export async function unpackText(base64: string): Promise<string> {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k += 1) bytes[k] = letters.charCodeAt(k);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

export const unpack = async (base64: string): Promise<Report> => derive(JSON.parse(await unpackText(base64)) as Report);
