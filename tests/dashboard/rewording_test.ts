// The report page must read the data members of a report and never parse its sentences, so that a changed wording does
// not change the page.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { causesOf } from "../../../tools/dashboard/src/causes";
import { derive, type Report } from "../../../tools/dashboard/src/report";

const WORDS = ["judged", "elements of", "fail", "the output is NaN", "FAG-C20:", "crash", "dq", "Z.", "accepted", "flower"];
const isSentence = (name: string, member: unknown): boolean =>
  typeof member === "string" && ["text", "evidence", "note", "pattern"].includes(name);

/** Replaces each sentence by one of other words, in an order that depends on `seed`. */
function reworded(value: unknown, seed: number): unknown {
  let state = seed;
  const sentence = (): string => Array.from({ length: 8 }, () => WORDS[(state = (state * 48271) % 2147483647) % WORDS.length]).join(" ");
  const walk = (one: unknown): unknown => {
    if (Array.isArray(one)) return one.map(walk);
    if (typeof one !== "object" || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([name, member]) => [name, isSentence(name, member) ? sentence() : walk(member)]));
  };
  return walk(value);
}

/** The values that the page shows or searches, without sentences. */
function factsOf(report: Report): string {
  const causes = causesOf(derive(report)).map((cause) => ({ ...cause, cases: cause.cases.map((c) => c.id), example: cause.example.id }));
  return JSON.stringify([report.cases, causes], (name, member: unknown) => (isSentence(name, member) ? undefined : member));
}

test("a reworded report gives the same values", () => {
  const text = readFileSync(join(process.env["FOLDER"]!, "two_faults.json"), "utf8");
  const facts = factsOf(JSON.parse(text) as Report);
  assert.ok((JSON.parse(text) as Report).causes.length > 0);
  for (const seed of [1, 20261128]) {
    const other = reworded(JSON.parse(text), seed) as Report;
    assert.notEqual(other.cases.map((c) => c.evidence).join(), (JSON.parse(text) as Report).cases.map((c) => c.evidence).join());
    assert.equal(factsOf(other), facts);
  }
});
