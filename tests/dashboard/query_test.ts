// The search field of the report page and the flag --only of the program must select the same cases. The tests of both
// read tests/tools/field_terms.json.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { compile, toggle } from "../../../tools/dashboard/src/query";
import type { Case } from "../../../tools/dashboard/src/report";

interface Table {
  cases: Record<string, string>[];
  terms: { term: string; holds: boolean[] }[];
}

test("a term of a field holds of the cases of which --only says so", () => {
  const table = JSON.parse(readFileSync(join(process.env["ROOT"]!, "tests/tools/field_terms.json"), "utf8")) as Table;
  const cases = table.cases.map(({ operator, ...fields }) => ({ operator, fields, metrics: [], tensors: [], text: "" }) as unknown as Case);
  const names = new Set(["operator", "strides", ...cases.flatMap((c) => Object.keys(c.fields))]);
  assert.ok(table.terms.length > 40);
  for (const { term, holds } of table.terms)
    assert.deepEqual(cases.map((c) => compile(term, names, cases).matches(c)), holds, term);
});

test("words join terms, and an added term holds together with a combination", () => {
  const one = { fields: { dtype: "bf16", seq_kv: "65" }, metrics: [], tensors: [], text: "rows of heads(5)" } as unknown as Case;
  const names = new Set(["dtype", "seq_kv"]);
  const holds = (query: string): boolean => compile(query, names, [one]).matches(one);
  const right = ["dtype=bf16 and seq_kv>=64", "not dtype=bf16 or seq_kv = 65", "not (dtype=fp16 or seq_kv<64) dtype=bf16", "rows heads(5)",
    "(rows)", "((dtype=fp16 or rows)) seq_kv=65", "dtype=bf16 and", '"rows of"', "", "not dtype=fp16"];
  const wrong = ["dtype=bf16 and not seq_kv>=64", "not (dtype=fp16 or seq_kv=65)", "dtype=fp16 or seq_kv=64", "(rows", "heads(6)", "not rows"];
  assert.deepEqual(right.filter((query) => !holds(query)), []);
  assert.deepEqual(wrong.filter(holds), []);
  for (const deep of ["(".repeat(100_000) + "rows" + ")".repeat(100_000), "not ".repeat(100_001) + "rows", "not", "a" + ")".repeat(100_000) + "x"]) holds(deep);
  assert.equal(holds("not not rows"), true);
  assert.equal(holds(toggle("dtype=fp16 or rows", ["seq_kv=64"])), false);
  assert.equal(toggle("dtype=fp16 or rows", ["seq_kv=64"]), "(dtype=fp16 or rows) seq_kv=64");
});
