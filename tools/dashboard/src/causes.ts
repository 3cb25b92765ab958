// Causes: which fields separate what fails from what conforms. A report holds no causes, the page derives them.
//
// For each way of failing (a tensor that breaks a limit, or a verdict about the whole call) conditions on fields are
// learnt one after the other: each is grown term by term, holds for as many failing cases as it can and for as few
// others, and takes away the cases that it explains. Ways of failing with nearly the same cases become one cause.

import { type Case, figure, kindOf } from "./report";
import { term } from "./query";
import { CaseSet } from "./case_set";
import { short } from "./text";

export interface Cause {
  number: number;
  /** One line: what fails and how. */
  pattern: string;
  /** Terms of a query that separate its cases from those that conform; none: everything fails. */
  fields: string[];
  cases: Case[];
  /** Cases that meet the terms and do not fail so. */
  others: number;
  /** The smallest case to look at: shrunk where the sweep did that. */
  example: Case;
}

interface Condition {
  text: string;
  test: (c: Case) => boolean;
  mask: CaseSet;
}

interface Group {
  way: string;
  terms: string[];
  cases: Case[];
  others: number;
}

/** Fields that name a case and say nothing about what it asks for. */
const NAMES = new Set(["seed", "rows", "relation", "upstream"]);
const MOST_TERMS = 3;
/** Limits of a field of numbers that are tried. */
const MOST_LIMITS = 64;
/** Conditions are learnt from at most about so many cases that fail, and as many others; they are told of all. */
const MOST_LEARNT = 2500;
const MOST_GROUPS = 6;

/** Conditions `field=value`, and `field>=value` for fields of numbers, that split the cases. */
function conditionsOn(cases: Case[]): Condition[] {
  const fields = new Set(cases.flatMap((c) => Object.keys(c.fields)).filter((name) => !NAMES.has(name)));
  const conditions: Condition[] = [];
  const seen = new Set<string>();
  const add = (text: string, test: (c: Case) => boolean): void => {
    const mask = CaseSet.of(cases, test);
    const count = mask.size();
    // Of conditions that hold for the same cases the first is as good as all.
    if (count === 0 || count === cases.length || seen.has(mask.key())) return;
    seen.add(mask.key());
    conditions.push({ text, test, mask });
  };
  const operators = new Set(cases.map((c) => c.operator));
  for (const operator of operators) add("operator=" + operator, (c) => c.operator === operator);
  for (const field of fields) {
    const values = [...new Set(cases.map((c) => c.fields[field]).filter((v) => v !== undefined && v !== ""))] as string[];
    const numeric = values.every((v) => Number.isFinite(Number(v)));
    if (values.length <= 24)
      for (const value of values) add(term(field, value), (c) => c.fields[field] === value);
    if (!numeric || values.length < 3) continue;
    const sorted = values.map(Number).sort((a, b) => a - b);
    const step = Math.max(1, Math.floor(sorted.length / MOST_LIMITS));
    const limits = sorted.filter((_, k) => k > 0 && k % step === 0);
    // Of limits that are as good the tightest is kept: it comes first.
    for (const limit of limits)
      add(`${field}<${limit}`, (c) => c.fields[field] !== undefined && Number(c.fields[field]) < limit);
    for (const limit of limits.reverse())
      add(`${field}>=${limit}`, (c) => c.fields[field] !== undefined && Number(c.fields[field]) >= limit);
  }
  return conditions;
}

interface Rule {
  terms: Condition[];
  mask: CaseSet;
  hit: number;
  missed: number;
}

/** What rules are learnt from: cases that fail and are not explained yet, and cases that do not fail. */
interface Sample {
  open: CaseSet;
  passed: CaseSet;
  total: number;
}

const precision = (rule: Rule): number => rule.hit / (rule.hit + rule.missed + 0.5);
const share = (rule: Rule, sample: Sample): number => rule.hit / sample.total;

/** What a further term has to be worth: each of many terms divides a few cases by chance. */
const DOUBT = 0.15;

/** Sure of what it says, and about many: precision with a doubt of half a case, weighed with the share it explains. */
function worth(rule: Rule, sample: Sample): number {
  return precision(rule) ** 2 * share(rule, sample) ** 0.25 - DOUBT * rule.terms.length;
}

/** What a rule may become with more terms: about many first, sure later. */
const promise = (rule: Rule, sample: Sample): number => precision(rule) * share(rule, sample);

/** How many rules are grown at once: the surest, and as many of the most promising. */
const BEAM = 5;

function best(rules: Rule[], count: number, value: (rule: Rule) => number): Rule[] {
  return rules.map((rule) => ({ rule, value: value(rule) })).sort((a, b) => b.value - a.value).slice(0, count).map((x) => x.rule);
}

function grown(rule: Rule, conditions: Condition[], sample: Sample): Rule[] {
  const rules: Rule[] = [];
  const [open, passed] = [rule.mask.and(sample.open), rule.mask.and(sample.passed)];
  for (const condition of conditions) {
    const hit = open.common(condition.mask);
    const missed = passed.common(condition.mask);
    // A term that takes away no passing case says nothing.
    if (hit > 0 && missed < rule.missed) rules.push({ terms: [...rule.terms, condition], mask: condition.mask, hit, missed });
  }
  return best(rules, BEAM, (r) => worth(r, sample)).concat(best(rules, BEAM, (r) => promise(r, sample)))
    .map((r) => ({ ...r, mask: r.mask.and(rule.mask) }));
}

function learn(conditions: Condition[], all: CaseSet, sample: Sample): Rule {
  let beam: Rule[] = [{ terms: [], mask: all, hit: sample.total, missed: sample.passed.size() }];
  let found = beam[0]!;
  for (let length = 0; length < MOST_TERMS; length += 1) {
    const next = beam.filter((rule) => rule.missed > 0).flatMap((rule) => grown(rule, conditions, sample));
    beam = best(next, BEAM, (r) => worth(r, sample)).concat(best(next, BEAM, (r) => promise(r, sample)));
    for (const rule of beam) if (worth(rule, sample) > worth(found, sample) + 1e-9) found = rule;
  }
  return found;
}

/** One way of failing: which cases fail so, and which others count against a rule. */
interface Way {
  name: string;
  fails: (c: Case) => boolean;
  passes: (c: Case) => boolean;
}

function groupsOf(way: Way, cases: Case[], learnt: Case[], conditions: Condition[]): Group[] {
  const all = CaseSet.of(learnt, () => true);
  const passed = CaseSet.of(learnt, way.passes);
  let open = CaseSet.of(learnt, way.fails);
  let left = cases.filter(way.fails);
  const groups: Group[] = [];
  while (left.length > 0) {
    // The last group takes what is left, so that no failing case is without a cause.
    const last = groups.length === MOST_GROUPS - 1 || open.size() === 0;
    const { terms, mask } = last ? { terms: [], mask: all } : learn(conditions, all, { open, passed, total: open.size() });
    const meets = (c: Case): boolean => terms.every((condition) => condition.test(c));
    groups.push({ way: way.name, terms: terms.map((condition) => condition.text), cases: left.filter(meets),
      others: cases.filter((c) => way.passes(c) && meets(c)).length });
    left = left.filter((c) => !meets(c));
    open = open.without(mask);
  }
  return groups;
}

/** Some of the cases, evenly. */
function some(cases: Case[], most: number): Case[] {
  const step = Math.max(1, cases.length / most);
  return Array.from({ length: Math.min(most, cases.length) }, (_, k) => cases[Math.floor(k * step)]!);
}

/** Share of the cases of both that are cases of both. */
function likeness(a: Group, b: Group): number {
  const ids = new Set(a.cases.map((c) => c.id));
  const both = b.cases.filter((c) => ids.has(c.id)).length;
  return both / (ids.size + b.cases.length - both);
}

function merged(groups: Group[]): Group[][] {
  const result: Group[][] = [];
  for (const group of [...groups].sort((a, b) => b.cases.length - a.cases.length)) {
    const near = result.find((others) => likeness(others[0]!, group) > 0.6 || alike(others[0]!, group));
    if (near === undefined) result.push([group]);
    else near.push(group);
  }
  return result;
}

const alike = (a: Group, b: Group): boolean =>
  a.terms.length > 0 && a.terms.length === b.terms.length && a.terms.every((t) => b.terms.includes(t));

function range(cases: Case[], tensors: string[]): string {
  const errors = cases.flatMap((c) => c.tensors.filter((t) => tensors.includes(t.name)).map((t) => figure(t.worst)))
    .map((x) => (Number.isNaN(x) ? Infinity : x)).filter((x) => x > 1).sort((a, b) => a - b);
  if (errors.length === 0) return "";
  const [least, most] = [short(errors[0]!), short(errors[errors.length - 1]!)];
  return ", error " + (least === most ? least : least + " to " + most) + " times the bound";
}

function mostFrequent(texts: string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
}

function patternOf(groups: Group[], cases: Case[]): string {
  const tensors = groups.map((g) => g.way).filter((way) => !way.startsWith("!"));
  const verdict = mostFrequent(cases.map((c) => c.verdict));
  const rule = mostFrequent(cases.map((c) => c.decided_by));
  const what = tensors.length > 0 ? tensors.sort().join(", ") + ": " : "";
  return what + verdict + (rule && rule !== "unstated" ? " by " + rule : "") + range(cases, tensors) + output(cases, tensors);
}

/** What the failing elements of most cases have in common, as the suite found it: "where the output is 0". */
function output(cases: Case[], tensors: string[]): string {
  const found = cases.flatMap((c) => c.findings.filter((f) => tensors.includes(f.tensor)))
    .flatMap((f) => /the output is [^,;]*$/.exec(f.text)?.[0] ?? []);
  return found.length * 3 < cases.length ? "" : "; mostly " + mostFrequent(found);
}

/** Shrunk ones first, then the shortest line: what a person reads first. */
function exampleOf(cases: Case[]): Case {
  const cost = (c: Case): number => (c.shrunk ? 0 : 1e6) + (c.shrunk?.shrunk ?? c.command_line).length;
  return [...cases].sort((a, b) => cost(a) - cost(b))[0]!;
}

function causeOf(groups: Group[]): Cause {
  const cases = [...new Set(groups.flatMap((g) => g.cases))];
  return {
    number: 0, pattern: patternOf(groups, cases), fields: groups[0]!.terms, cases, others: groups[0]!.others,
    example: exampleOf(cases),
  };
}

function waysOf(failing: Case[]): Way[] {
  const tensors = new Set(failing.flatMap((c) => c.failed).filter((name) => name !== ""));
  const verdicts = new Set(failing.filter((c) => c.failed.includes("")).map((c) => c.verdict));
  return [...[...tensors].map((name): Way => ({
    name, fails: (c) => c.failed.includes(name),
    passes: (c) => c.value_case && !c.failed.includes(name) && c.tensors.some((t) => t.name === name),
  })), ...[...verdicts].map((verdict): Way => ({
    name: "!" + verdict, fails: (c) => c.verdict === verdict && c.failed.includes(""), passes: (c) => c.verdict !== verdict,
  }))];
}

/** Causes of all failing cases, the one with most cases first; each case learns the numbers of its causes. */
export function causesOf(cases: Case[]): Cause[] {
  const failing = cases.filter((c) => kindOf(c.verdict) === "fails");
  if (failing.length === 0) return [];
  const others = cases.filter((c) => kindOf(c.verdict) !== "fails");
  const learnt = [...some(failing, MOST_LEARNT), ...some(others, MOST_LEARNT)];
  const conditions = conditionsOn(learnt);
  const groups = waysOf(failing).flatMap((way) => groupsOf(way, cases, learnt, conditions));
  const causes = merged(groups).map(causeOf).sort((a, b) => b.cases.length - a.cases.length);
  causes.forEach((cause, k) => {
    cause.number = k + 1;
    for (const c of cause.cases) c.causes.push(k + 1);
  });
  return causes;
}
