#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/causes/causes.hpp"

/// Makes failing cases for the tests that explain failures (find their causes).
namespace assay::conformance {

using Names = std::vector<std::string>;

/// Returns the report of a case with these fields. The errors of the tensors `failed` exceed their
/// bounds.
inline CaseReport report(const std::string& dtype, int seq, int mode,
                         std::vector<std::string> failed) {
  CaseReport one;
  one.operator_name = "toy";
  one.command_line = "toy --dtype=" + dtype + " --seq_q=" + std::to_string(seq) +
                     " --sparse_mode=" + std::to_string(mode);
  one.id = "id of " + one.command_line;
  one.fields = {{"dtype", dtype},
                {"seq_q", std::to_string(seq)},
                {"sparse_mode", std::to_string(mode)},
                {"seed", std::to_string(seq * 7 + mode)}};
  one.value_case = true;
  one.verdict = no_objection();
  for (const char* name : {"dq", "dk", "dv"}) {
    one.tensors.emplace_back();
    one.tensors.back().name = name;
  }
  for (const std::string& name : failed) {
    one.verdict = {Rule::bound, Ground::certain, {FactKind::quoted, "too far"}};
    one.findings.push_back({.rule = FindingRule::bound,
                            .tensor = name,
                            .pattern = Pattern{.failing = 4,
                                               .judged = 8,
                                               .places = {{"s", PlaceKind::range, {4}}},
                                               .deviation = {}}});
    std::ranges::find(one.tensors, name, &TensorReport::name)->worst = 2 + mode;
  }
  return one;
}

/// Returns reports for 2 types, 12 lengths and 4 modes. The function `failed` returns the failing
/// tensors of a case.
template <class Failed>
std::vector<CaseReport> reports(const Failed& failed) {
  std::vector<CaseReport> all;
  for (const char* dtype : {"bf16", "fp32"})
    for (int seq = 1; seq <= 12; ++seq)
      for (int mode = 0; mode < 4; ++mode)
        all.push_back(report(dtype, seq, mode, failed(dtype, seq, mode)));
  return all;
}

/// Returns reports for several lengths and numbers of heads. The function `fails` decides which
/// cases fail.
template <class Fails>
std::vector<CaseReport> sized_reports(const Fails& fails) {
  std::vector<CaseReport> all;
  for (const int seq : {16, 24, 48, 65, 96, 112, 128, 200, 256})
    for (const int heads_kv : {1, 2, 4})
      for (const int heads_q : {1, 4, 16}) {
        const bool is_failing = heads_q >= heads_kv && fails(seq, heads_q, heads_kv);
        if (heads_q < heads_kv) continue;
        all.push_back(
            report("bf16", seq, heads_q * heads_kv % 3, is_failing ? Names{"dk"} : Names{}));
        CaseReport& one = all.back();
        one.id += " " + std::to_string(heads_q) + " " + std::to_string(heads_kv);
        one.fields.emplace_back("heads_q", std::to_string(heads_q));
        one.fields.emplace_back("heads_kv", std::to_string(heads_kv));
      }
  return all;
}

/// Returns a shrunk form of a failing case, which has another value in one field.
inline ShrunkCase shrunk(const CaseReport& one, std::size_t field, const std::string& value) {
  ShrunkCase result{.id = one.id, .command_line = one.command_line, .verdict = one.verdict.value()};
  result.fields = one.fields;
  result.fields[field].second = value;
  result.failed = failed_tensors(one);
  return result;
}

/// The output is `factor` times the expected value, which these quantities may explain.
inline Deviation times(double factor, Names quantities = {}) {
  return {.kind = DeviationKind::multiple, .factor = factor, .quantities = std::move(quantities)};
}

}  // namespace assay::conformance
