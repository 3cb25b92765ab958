// What a person types into the search, and what a click on a chart adds to it: words and terms that all must hold. The terms of
// fields are those of `assay sweep --only`; tests/tools/field_terms.json has examples that both answer alike.
//   tile bf16            both words are in the replay line, note, verdict, rule or evidence
//   dtype=fp16|bf16      the field has one of the values
//   head_dim>=128        as numbers: <, <=, >, >=
//   heads_q>heads_kv     two fields; of packed sequences, in some of them (= in all)
//   seq>2*stride         a field and a multiple of another one
//   heads_q/heads_kv>=2  one field divided by another one
//   seq_kv%64>0          what is left of a division
//   lengths_q=0          of the lengths of sequences (of sequences that are equally long, of seq_q) some
//   lengths_q=1..7       the same from a number to another one
//   strides=columns      some tensor, an input or an output, lies so
//   -sparse_mode=3       not, as sparse_mode!=3; the first before a word, too
//   head_dim >= 64       the same as head_dim>=64; sparse_mode==4 as sparse_mode=4
//   "two words"          one phrase
//   a or b, not (a or b) one of them, neither; `and` is what a blank says; a | b, !a, a & b with blanks as well

import { type Case, figure, kindOf } from "./report";

type Comparison = "=" | "<" | "<=" | ">" | ">=";

interface Term {
  text: string;
  negated: boolean;
  field: string;
  /** By which the field is divided; empty: by none. */
  below: string;
  /** Of what is left by it the term is; 0: of the field itself. */
  divisor: number;
  comparison: Comparison;
  values: string[];
}

/** Lengths are many: they are grouped by powers of two. */
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

/** Values of a field of a case; none where the case has no such field. */
export function valuesOf(c: Case, field: string): (string | number)[] {
  // Every object has a member "constructor", which is no field.
  if (Object.hasOwn(derived, field)) return derived[field]!(c);
  if (Object.hasOwn(c.fields, field)) return [c.fields[field]!];
  if (field.startsWith("error.")) {
    const tensor = c.tensors.find((t) => t.name === field.slice(6) && t.elements_judged > 0);
    const ratio = figure(tensor?.worst);
    return tensor === undefined ? [] : [Number.isNaN(ratio) ? Infinity : ratio];
  }
  return c.metrics.filter((m) => m.name === field).map((m) => figure(m.value));
}

/** A name with its comparison, with or without spaces around the sign; what is quoted stays as it is. */
const SPACED = /"[^"]*"?|(?<=^|[\s(!])(-?[A-Za-z_][\w.]*(?:\/[A-Za-z_]\w*)?(?:\s*%\s*\d+)?)\s*(<=|>=|!=|==?|<|>)\s*/g;

/** Splits at spaces outside double quotes and beside no comparison. */
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

/** The numbers of a field, where it tells the longest of packed sequences those of each: "2x7,3" is 7, 7, 3. */
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
  /** What is wrong with it, as a sentence; empty if nothing is. */
  complaint: string;
}

/** Edits between two words. */
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

/** Why no case has the value that is asked for; empty where some has, or values are too many to name. */
function unknownValue(term: Term, cases: Case[]): string {
  if (term.field === "" || term.comparison !== "=" || term.divisor > 0 || term.values.includes("")) return "";
  if (cases.some((c) => holds(term, c))) return "";
  const values = [...new Set(cases.flatMap((c) => valuesOf(c, term.field)).map(String))].filter((value) => value !== "");
  const most = 24;
  if (values.length > most) return "";
  return `No case has ${term.field}=${term.values.join("|")}; its values: ${values.sort().join(", ") || "none"}.`;
}

/** Replay lines leave out what is at its default, so that a search for such a word finds nothing. */
function missingWord(term: Term, cases: Case[], names: Set<string>): string {
  const flag = /^--([A-Za-z_]\w*)=(.+)$/.exec(term.values[0] ?? "");
  if (term.field !== "" || flag === null || !names.has(flag[1]!) || cases.some((c) => holds(term, c))) return "";
  return `No replay line holds ${term.text}: lines leave out defaults. Search for ${flag[1]}=${flag[2]}.`;
}

type Test = (c: Case) => boolean;

const DEEPEST = 64;  // an address may be anybody's

/** "dtype=fp16|seq_q=3" are two terms, "dtype=fp16|bf16" one. */
function alternatives(word: string): string[] {
  const parts = word.includes('"') ? [word] : word.split(/\|(?=-?[A-Za-z_][\w.]*(?:\/\w+)?(?:%\d+)?(?:<|>|!?=))/);
  return parts.flatMap((part, k) => (k === 0 ? [part] : ["or", part]));
}

/** Words with the parentheses at their ends apart, if each has its other one and they nest no deeper; else as they are. */
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
    // Of a text with a pair of its own, "heads(5)", nothing is taken.
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

/** What tokens ask of a case: terms side by side must all hold; `or` binds less. A sign without a term asks nothing. */
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

const SIGNS = new Set(["and", "or", "not", "(", ")"]);

export function compile(query: string, names: Set<string>, cases: Case[]): Query {
  const all = tokens(query);
  const terms = all.filter((token) => !SIGNS.has(token)).map(parse);
  const byText = new Map(terms.map((one) => [one.text, one]));
  const missing = (name: string): boolean => name !== "" && !names.has(name);
  const unknown = terms.find((term) => missing(term.field) || missing(term.below));
  const complaints = terms.flatMap((term) => [unknownValue(term, cases), missingWord(term, cases, names)]);
  return {
    matches: combined(all, (text, c) => {
      const term = byText.get(text);
      return term === undefined || holds(term, c) !== term.negated;
    }),
    complaint: unknown === undefined ? complaints.find((text) => text !== "") ?? ""
      : unknownField(missing(unknown.field) ? unknown.field : unknown.below, names),
  };
}

/** A term of a field and a value, quoted where the value asks for it. */
export function term(field: string, value: string | number): string {
  const text = String(value);
  return field + "=" + (/[\s"]/.test(text) ? `"${text}"` : text);
}

export const has = (query: string, terms: string[]): boolean => {
  const present = words(query);
  return terms.every((t) => present.includes(t));
};

/** Adds the terms, or takes them away where all are there. A new value of a field replaces its old one, but in a combination. */
export function toggle(query: string, terms: string[]): string {
  const present = words(query);
  if (tokens(query).some((token) => SIGNS.has(token)) && !has(query, terms)) return [`(${query})`, ...terms].join(" ");
  if (has(query, terms)) return present.filter((t) => !terms.includes(t)).join(" ");
  const head = (t: string): string => /^-?[\w.%/]+(?:<|>|=)/.exec(t)?.[0] ?? t;
  const heads = new Set(terms.map(head));
  return [...present.filter((t) => !heads.has(head(t))), ...terms].join(" ");
}
