// Parses the search text of the page; clicks on charts also produce such texts. A case is shown if it matches all words
// and terms. Terms on fields have the syntax of `assay sweep --only`: for the examples in tests/tools/field_terms.json,
// the page and --only must give the same result.
//   tile bf16            each word is in the replay line, note, verdict, rule or evidence
//   dtype=fp16|bf16      the field has one of these values
//   head_dim>=128        numeric comparison: <, <=, >, >=
//   heads_q>heads_kv     compares two fields; packed sequences: in at least one sequence (for =: in all)
//   seq>2*stride         compares a field with a multiple of another field
//   heads_q/heads_kv>=2  compares a quotient of two fields
//   seq_kv%64>0          compares the remainder of a division
//   lengths_q=0          at least one sequence has this length (if all lengths are equal: seq_q)
//   lengths_q=1..7       at least one sequence has a length in this range
//   strides=columns      at least one tensor, an input or an output, has this memory layout
//   -sparse_mode=3       negation, the same as sparse_mode!=3; the minus also works before a word
//   head_dim >= 64       the same as head_dim>=64; sparse_mode==4 is the same as sparse_mode=4
//   "two words"          searches for the whole phrase
//   a or b, not (a or b) either term, neither term; a blank means `and`; signs also work: a | b, !a, a & b

import { type Case, figure, kindOf } from "./report";

type Comparison = "=" | "<" | "<=" | ">" | ">=";

interface Term {
  text: string;
  negated: boolean;
  field: string;
  /** The field that is the divisor; empty: none. */
  below: string;
  /** The term compares the remainder of this divisor; 0: the field itself. */
  divisor: number;
  comparison: Comparison;
  values: string[];
}

/** There are many lengths, so they are grouped by powers of two. */
export function lengthGroup(length: number): string {
  const least = Math.pow(2, Math.floor(Math.log2(Math.max(1, length))));
  return `${least}..${2 * least - 1}`;
}

const derived: Record<string, (c: Case) => (string | number)[]> = {
  id: (c) => [c.id],
  operator: (c) => [c.operator],
  implementation: (c) => [c.implementation],
  verdict: (c) => [c.verdict],
  kind: (c) => [kindOf(c.verdict)],
  rule: (c) => [c.decided_by],
  error: (c) => (c.error < 0 ? [] : [c.error]),
  failed: (c) => c.failed,
  tensor: (c) => c.tensors.map((t) => t.name),
  length: (c) => [c.length],
  length_group: (c) => [lengthGroup(c.length)],
  strides: (c) => ["inputs", "outputs"].flatMap((name) => (c.fields[name] ?? "").split(",")
    .filter((item) => item !== "").map((item) => item.slice(item.indexOf(":") + 1))),
  cause: (c) => c.causes,
  accepted: (c) => c.accepted_requirements ?? [],
  violated: (c) => (c.violated_requirement ? [c.violated_requirement] : []),
  tenth: (c) => (c.exact_case ? [] : c.tensors.flatMap((t) =>
    t.histogram.flatMap((share, k) => (figure(share) > 0 ? [t.name + ":" + k] : [])))),
  judged: (c) => [c.value_case ? "yes" : "no"],
  changed: (c) => [c.change === undefined ? "no" : "yes"],
  change: (c) => (c.change === undefined ? [] : [c.change]),
  before: (c) => (c.before === undefined ? [] : [c.before]),
  seconds: (c) => [figure(c.seconds_total)],
};

/** Every name that a term may use. */
export function fieldNames(cases: Case[]): Set<string> {
  const names = new Set(Object.keys(derived));
  for (const c of cases) {
    for (const name of Object.keys(c.fields)) names.add(name);
    for (const metric of c.metrics) names.add(metric.name);
    for (const tensor of c.tensors) names.add("error." + tensor.name);
  }
  return names;
}

/** Values of a field of a case; empty if the case does not have the field. */
export function valuesOf(c: Case, field: string): (string | number)[] {
  // Object.hasOwn is needed: every object has a member "constructor", which must not count as a field.
  if (Object.hasOwn(derived, field)) return derived[field]!(c);
  if (Object.hasOwn(c.fields, field)) return [c.fields[field]!];
  if (field.startsWith("error.")) {
    const tensor = c.tensors.find((t) => t.name === field.slice(6) && t.elements_judged > 0);
    const ratio = figure(tensor?.worst);
    return tensor === undefined ? [] : [Number.isNaN(ratio) ? Infinity : ratio];
  }
  return c.metrics.filter((m) => m.name === field).map((m) => figure(m.value));
}

/** A name with its comparison, with or without spaces around the sign; quoted text is unchanged. */
const SPACED = /"[^"]*"?|(?<=^|[\s(!])(-?[A-Za-z_][\w.]*(?:\/[A-Za-z_]\w*)?(?:\s*%\s*\d+)?)\s*(<=|>=|!=|==?|<|>)\s*/g;

/** Splits at spaces that are outside double quotes and not next to a comparison. */
export function words(query: string): string[] {
  const joined = query.replace(SPACED, (whole: string, name: string | undefined, sign: string | undefined) =>
    (name === undefined ? whole : name.replaceAll(" ", "") + (sign === "==" ? "=" : sign)));
  return joined.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? [];
}

const plain = (text: string): string => text.replaceAll('"', "");

function parse(text: string): Term {
  const negated = text.length > 1 && text.startsWith("-") && !text.startsWith("--");
  const rest = negated ? text.slice(1) : text;
  const parts = /^([A-Za-z_][\w.]*)(\/[A-Za-z_]\w*)?(%0*[1-9]\d*)?(<=|>=|!=|=|<|>)(.*)$/.exec(rest);
  if (parts === null)
    return { text, negated, field: "", below: "", divisor: 0, comparison: "=", values: [plain(rest).toLowerCase()] };
  const differs = parts[4] === "!=";
  return {
    text, negated: negated !== differs, field: parts[1]!, below: parts[2]?.slice(1) ?? "",
    divisor: Number(parts[3]?.slice(1) ?? 0), comparison: differs ? "=" : parts[4] as Comparison,
    values: plain(parts[5]!).toLowerCase().split("|"),
  };
}

/** A decimal number, or "inf". */
const number = (text: string): number =>
  (text === "inf" ? Infinity : /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : NaN);

function compares(value: number, comparison: Comparison, limit: number): boolean {
  switch (comparison) {
    case "<": return value < limit;
    case "<=": return value <= limit;
    case ">": return value > limit;
    case ">=": return value >= limit;
    case "=": return value === limit;
  }
}

function equals(value: string | number, wanted: string): boolean {
  if (typeof value === "number") return value === number(wanted);
  return value.toLowerCase() === wanted || number(value) === number(wanted);
}

/** The numbers of a field. For a field with the longest of packed sequences, the lengths of all: "2x7,3" is 7, 7, 3. */
function numbersOf(c: Case, field: string): number[] {
  const each = field.startsWith("seq") ? c.fields[field.replace("seq", "lengths")] :
    field.startsWith("lengths") ? c.fields[field] || c.fields[field.replace("lengths", "seq")] : undefined;
  const all = String(each || valuesOf(c, field)[0] || "").split(",").filter((text) => text !== "").flatMap((text) => {
    const [times, one] = text.includes("x") ? text.split("x", 2).map(Number) : [1, Number(text)];
    return Array<number>(Math.min(4096, Math.max(1, times || 1))).fill(one ?? NaN);
  });
  return all.some(Number.isNaN) ? [] : all;
}

/** Calls visit(a, b) with the numbers of two lists at each place; a list of one number is broadcast. */
function eachPair(some: number[], others: number[], visit: (a: number, b: number) => void): void {
  if (some.length === 0 || others.length === 0) return;
  const places = some.length === 1 || others.length === 1 ? Math.max(some.length, others.length) : Math.min(some.length, others.length);
  for (let k = 0; k < places; k += 1) visit(some[some.length === 1 ? 0 : k]!, others[others.length === 1 ? 0 : k]!);
}

function holdsOf(term: Term, wanted: string, c: Case): boolean {
  let own = numbersOf(c, term.field);
  const within = (n: number): boolean => compares(n, term.comparison, number(wanted));
  if (term.below !== "") {
    const quotients: number[] = [];
    eachPair(own, numbersOf(c, term.below), (above, below) => quotients.push(above / below));
    own = quotients;
  }
  if (term.divisor > 0) own = own.map((n) => n % term.divisor);
  if (term.below !== "" || term.divisor > 0) return own.some(within);
  const times = /^(\d+)\*(\w+)$/.exec(wanted);
  const other = times?.[2] ?? wanted;
  if (Object.hasOwn(c.fields, other)) {
    const fits: boolean[] = [];
    eachPair(own, numbersOf(c, other), (n, limit) => fits.push(compares(n, term.comparison, limit * Number(times?.[1] ?? 1))));
    if (fits.length > 0) return term.comparison === "=" ? fits.every(Boolean) : fits.some(Boolean);
  }
  const range = /^([-+.\deE]+)\.\.([-+.\deE]+)$/.exec(wanted);
  if (range !== null && term.comparison === "=") return own.some((n) => n >= number(range[1]!) && n <= number(range[2]!));
  if (term.field.startsWith("lengths") && own.some(within)) return true;
  const values = valuesOf(c, term.field);
  if (term.comparison === "=") return values.length === 0 ? wanted === "" : values.some((value) => equals(value, wanted));
  return values.some((value) => value !== "" && within(Number(value)));
}

function holds(term: Term, c: Case): boolean {
  return term.field === "" ? c.text.includes(term.values[0]!) : term.values.some((wanted) => holdsOf(term, wanted, c));
}

export interface Query {
  matches(c: Case): boolean;
  /** The error in the query, as a sentence; empty if there is none. */
  complaint: string;
}

/** Edit distance of two words. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1)
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}

function unknownField(field: string, names: Set<string>): string {
  const known = [...names].sort();
  const [guess] = known.filter((name) => distance(field, name) <= Math.min(2, Math.floor(field.length / 3)))
    .sort((a, b) => distance(field, a) - distance(field, b));
  return `No case has a field ${field}` + (guess === undefined ? "; known" : `; did you mean ${guess}? Known`) +
    `: ${known.join(", ")}.`;
}

/** Why no case has the requested value; empty if some case has it, or if there are too many values to list. */
function unknownValue(term: Term, cases: Case[]): string {
  if (term.field === "" || term.comparison !== "=" || term.divisor > 0 || term.values.includes("")) return "";
  if (cases.some((c) => holds(term, c))) return "";
  const values = [...new Set(cases.flatMap((c) => valuesOf(c, term.field)).map(String))].filter((value) => value !== "");
  const most = 24;
  if (values.length > most) return "";
  return `No case has ${term.field}=${term.values.join("|")}; its values: ${values.sort().join(", ") || "none"}.`;
}

/** Explains an unmatched word "--field=value": replay lines omit fields at their defaults. */
function missingWord(term: Term, cases: Case[], names: Set<string>): string {
  const flag = /^--([A-Za-z_]\w*)=(.+)$/.exec(term.values[0] ?? "");
  if (term.field !== "" || flag === null || !names.has(flag[1]!) || cases.some((c) => holds(term, c))) return "";
  return `No replay line contains ${term.text}: lines omit defaults. Search for ${flag[1]}=${flag[2]}.`;
}

type Test = (c: Case) => boolean;

const DEEPEST = 64;  // the URL may come from anyone

/** "dtype=fp16|seq_q=3" are two terms, "dtype=fp16|bf16" one. */
function alternatives(word: string): string[] {
  const parts = word.includes('"') ? [word] : word.split(/\|(?=-?[A-Za-z_][\w.]*(?:\/\w+)?(?:%\d+)?(?:<|>|!?=))/);
  return parts.flatMap((part, k) => (k === 0 ? [part] : ["or", part]));
}

/** Words with the parentheses at their ends split off, if these are balanced and not nested too deeply; else unchanged. */
function tokens(query: string): string[] {
  const found = words(query);
  const apart = found.flatMap((word) => {
    if (word === "&" || word === "|") return [word === "&" ? "and" : "or"];
    if (/^(and|or|not)$/i.test(word)) return [word.toLowerCase()];
    let from = 0, to = word.length;
    const opening: string[] = [], closing: string[] = [];
    if (/^not\(/i.test(word)) opening.push("not"), from = 3;
    for (; word[from] === "(" || (word[from] === "!" && word[from + 1] !== "=" && from + 1 < to); from += 1)
      opening.push(word[from] === "(" ? "(" : "not");
    for (; to > from && word[to - 1] === ")"; to -= 1) closing.push(")");
    const inner = word.slice(from, to);
    // A text that contains its own parentheses, such as "heads(5)", is not split.
    if (inner.includes("(")) return [word];
    return [...opening, ...(inner === "" ? [] : alternatives(inner)), ...closing];
  });
  let depth = 0;
  for (const token of apart) {
    depth += token === "(" ? 1 : token === ")" ? -1 : 0;
    if (depth < 0 || depth > DEEPEST) return found;
  }
  return depth === 0 ? apart : found;
}

/** The condition of the tokens: adjacent terms must all match; `or` binds less. An operator without a term matches all. */
function combined(all: string[], holdsTerm: (text: string, c: Case) => boolean): Test {
  let at = 0;
  const factor = (): Test => {
    let negated = false;
    for (; all[at] === "not"; at += 1) negated = !negated;
    const token = all[at];
    if (token === undefined || token === "or" || token === "and" || token === ")") return () => true;
    at += 1;
    let inner: Test = (c) => holdsTerm(token, c);
    if (token === "(") {
      inner = alternatives();
      at += 1;  // the parenthesis that closes
    }
    return (c) => inner(c) !== negated;
  };
  const combination = (): Test => {
    const parts: Test[] = [];
    while (at < all.length && all[at] !== "or" && all[at] !== ")") {
      if (all[at] === "and") at += 1;
      else parts.push(factor());
    }
    return (c) => parts.every((part) => part(c));
  };
  const alternatives = (): Test => {
    const parts = [combination()];
    while (all[at] === "or") {
      at += 1;
      parts.push(combination());
    }
    return (c) => parts.some((part) => part(c));
  };
  return alternatives();
}

/** The word of the cases' texts that is nearest to one that no case has; empty where none is near. */
function nearestWord(text: string, cases: Case[]): string {
  const wanted = text.toLowerCase();
  const near = Math.min(2, Math.floor(wanted.length / 3));
  let best = "", least = near + 1;
  const seen = new Set<string>();
  for (const c of cases.slice(0, 2000))
    for (const word of c.text.split(/[^\w.]+/)) {
      if (seen.has(word) || Math.abs(word.length - wanted.length) >= least) continue;
      seen.add(word);
      const edits = distance(wanted, word);
      if (edits < least) [best, least] = [word, edits];
    }
  return best;
}

/** Why a query of terms that must all hold leaves no case: the word that no case has, or the term to leave out. */
function whyNothing(query: string, terms: Term[], cases: Case[]): string {
  if (cases.length === 0 || terms.length === 0) return "";
  const holdsOne = (term: Term, c: Case): boolean => holds(term, c) !== term.negated;
  const unmet = terms.find((term) => !cases.some((c) => holdsOne(term, c)));
  if (unmet !== undefined && unmet.field === "") {
    const guess = nearestWord(unmet.values[0]!, cases);
    return `No case contains the word "${unmet.values[0]}"` + (guess === "" ? "." : `; did you mean ${guess}?`);
  }
  if (unmet !== undefined) return `No case has ${unmet.text}.`;
  if (tokens(query).some((token) => SIGNS.has(token))) return "No case matches this combination.";
  const left = terms.map((out) => ({ out, count: cases.filter((c) => terms.every((term) => term === out || holdsOne(term, c))).length }))
    .sort((a, b) => b.count - a.count)[0]!;
  return "No case matches all of these terms" + (left.count === 0 ? "." : `; without ${left.out.text} there ${left.count === 1 ? "is" : "are"} ${left.count}.`);
}

const SIGNS = new Set(["and", "or", "not", "(", ")"]);

export function compile(query: string, names: Set<string>, cases: Case[]): Query {
  const all = tokens(query);
  // If the search text is the name of an operator, show only the cases of this operator. The name may also be a part of
  // another operator's name.
  const operators = new Set(cases.map((c) => c.operator));
  const named = (term: Term): Term => (term.field === "" && operators.has(term.values[0]!) ? { ...term, field: "operator" } : term);
  const terms = all.filter((token) => !SIGNS.has(token)).map(parse).map(named);
  const byText = new Map(terms.map((one) => [one.text, one]));
  const missing = (name: string): boolean => name !== "" && !names.has(name);
  const unknown = terms.find((term) => missing(term.field) || missing(term.below));
  const complaints = terms.flatMap((term) => [unknownValue(term, cases), missingWord(term, cases, names)]);
  const matches = combined(all, (text, c) => {
    const term = byText.get(text);
    return term === undefined || holds(term, c) !== term.negated;
  });
  const why = (): string => (cases.some(matches) ? "" : whyNothing(query, terms, cases));
  return {
    matches,
    complaint: unknown === undefined ? complaints.find((text) => text !== "") ?? why()
      : unknownField(missing(unknown.field) ? unknown.field : unknown.below, names),
  };
}

/** A term of a field and a value, quoted if the value needs it. */
export function term(field: string, value: string | number): string {
  const text = String(value);
  return field + "=" + (/[\s"]/.test(text) ? `"${text}"` : text);
}

export const has = (query: string, terms: string[]): boolean => {
  const present = words(query);
  return terms.every((t) => present.includes(t));
};

/** Adds the terms, or removes them if all are present. A new value of a field replaces its old one, except in a combination. */
export function toggle(query: string, terms: string[]): string {
  const present = words(query);
  if (tokens(query).some((token) => SIGNS.has(token)) && !has(query, terms)) return [`(${query})`, ...terms].join(" ");
  if (has(query, terms)) return present.filter((t) => !terms.includes(t)).join(" ");
  const head = (t: string): string => /^-?[\w.%/]+(?:<|>|=)/.exec(t)?.[0] ?? t;
  const heads = new Set(terms.map(head));
  return [...present.filter((t) => !heads.has(head(t))), ...terms].join(" ");
}
