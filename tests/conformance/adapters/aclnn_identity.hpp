#pragma once

#include <gtest/gtest.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "assay/adapters/aclnn.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "assay/spec/operators/flash_attention_score.hpp"
#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "build_paths.hpp"

/// Judges the same cases twice: with the kernel in this process, and with the same kernel through
/// the C API of the shared library. The results must be identical.
namespace assay::conformance::tests {

template <class Value>
std::string text_of(const Value& value) {
  std::ostringstream text;
  if constexpr (spec::Spelled<Value>)
    text << to_string(value);
  else
    text << std::boolalpha << std::hexfloat << value;
  return text.str();
}

/// Opens the library with options for data that the C API cannot pass: the declared arithmetic of
/// `kernel` where it differs from the default, and the memory order of the softmax statistics
/// (`kernel` reads either order).
template <class Op>
std::unique_ptr<spec::Implementation<Op>> through_the_c_api(
    const spec::Implementation<Op>& kernel) {
  std::vector<std::pair<std::string, std::string>> fields;
  spec::Numerics usual = spec::numerics_preset("ascend_a2", spec::DType::bf16, Op::name);
  visit_fields(usual, [&](const char* name, const auto& value) {
    fields.emplace_back(name, text_of(value));
  });
  std::string rest = assay::tests::aclnn_library();
  spec::Numerics own = kernel.numerics({.dtype = spec::DType::bf16});
  std::size_t k = 0;
  visit_fields(own, [&](const char* name, const auto& value) {
    if (text_of(value) != fields[k++].second)
      rest += std::string(",") + name + "=" + text_of(value);
  });
  if constexpr (std::same_as<Op, spec::FlashAttentionScoreGrad>)
    rest +=
        ",statistics_order=heads_first,statistics_order_empty=heads_first,"
        "statistics_order_same_as_input=tokens_first";
  return adapters::open_aclnn<Op>(rest);
}

/// Returns the status code of a refusal, e.g. 161002; nothing if no call was refused.
inline std::optional<std::int32_t> status_of(const CaseReport& report) {
  for (const Finding& finding : report.findings)
    if (finding.refusal) return finding.refusal->status;
  return {};
}

inline void expect_equal_judgement(const CaseReport& in_process, const CaseReport& through_api) {
  SCOPED_TRACE(in_process.command_line);
  EXPECT_EQ(in_process.verdict, through_api.verdict);
  EXPECT_EQ(in_process.digests, through_api.digests);
  EXPECT_EQ(status_of(in_process), status_of(through_api));
  ASSERT_EQ(in_process.tensors.size(), through_api.tensors.size());
  for (std::size_t k = 0; k < in_process.tensors.size(); ++k)
    EXPECT_EQ(in_process.tensors[k].worst, through_api.tensors[k].worst);
}

/// Judges the cases twice: with the kernel in this process, and through the C API. Returns the
/// additional time of the C API as a fraction of the sweep's time.
template <class Op>
double expect_equal_judgements(const std::vector<Case<Op>>& cases,
                               spec::Implementation<Op>& in_process) {
  const auto through_api = through_the_c_api(in_process);
  double sweep_seconds = 0, extra_seconds = 0;
  for (Case<Op> c : cases) {
    // The C API cannot pass the order in which a forward writes its statistics. Our library writes
    // all heads of a token together only if the call asks for the layout of the inputs.
    if constexpr (std::same_as<Op, spec::FlashAttentionScore>)
      c.problem.statistics_order =
          c.problem.softmax_in_layout == spec::SoftmaxInLayout::same_as_input
              ? spec::StatisticsOrder::tokens_first
              : spec::StatisticsOrder::heads_first;
    CaseReport direct, indirect;
    if (c.track == Track::relation) {
      direct = judge_case(c, in_process);
      indirect = judge_case(c, *through_api);
    } else {
      PreparedCase<Op> prepared(c);
      direct = judge_case(prepared, in_process);
      indirect = judge_case(prepared, *through_api);
    }
    expect_equal_judgement(direct, indirect);
    sweep_seconds += direct.seconds_total;
    extra_seconds += indirect.seconds_implementation - direct.seconds_implementation;
    if (testing::Test::HasFailure()) return 1;
  }
  return extra_seconds / sweep_seconds;
}

/// Returns the cases of a sweep that `wanted` selects. Excludes cascade cases (forward, then
/// gradient), because the documentation has no C prototype of the forward operator that they call.
template <class Op, class Wanted>
std::vector<Case<Op>> selected(Wanted&& wanted) {
  std::vector<Case<Op>> cases = sample<Op>({});
  std::erase_if(cases, [&](const Case<Op>& c) { return c.relation == "cascade" || !wanted(c); });
  return cases;
}

/// Judges every call of a sweep that violates a requirement, with the kernel in this process and
/// through the C API. Expects equal results.
template <class Op>
void expect_equal_refusals(spec::Implementation<Op>& kernel) {
  const auto cases = selected<Op>([](const Case<Op>& c) { return !c.violate.empty(); });
  ASSERT_GT(cases.size(), 30u);
  expect_equal_judgements(cases, kernel);
  EXPECT_TRUE(status_of(judge_case(cases.front(), kernel))) << "the finding must contain a status";
}

/// Judges every legal call that differs from the default form ("variant"), with the kernel in this
/// process and through the C API. Expects equal results.
template <class Op>
void expect_equal_variants(spec::Implementation<Op>& kernel) {
  const auto cases = selected<Op>([](const Case<Op>& c) { return !c.variant.empty(); });
  for (const auto& row : Op::requirements())
    EXPECT_FALSE(cases.empty() && !row.variants.empty()) << row.id;
  for (const Case<Op>& c : cases)
    EXPECT_EQ(judge_case(c, kernel).verdict, Verdict::conforms) << command_line(c);
  expect_equal_judgements(cases, kernel);
}

/// Returns whether the operator writes all rows of all outputs. A forward skips rows that belong to
/// no sequence, and the bytes in the skipped rows differ between the two runs.
template <class Op>
bool writes_every_row(const Case<Op>& c) {
  if constexpr (requires { c.problem.padding_q; }) return c.problem.padding_q == 0;
  return true;
}

/// Judges about 80 legal calls of a sweep, with the kernel in this process and through the C API.
/// Expects equal results.
template <class Op>
void expect_equal_outputs(spec::Implementation<Op>& kernel) {
  const auto all =
      selected<Op>([](const Case<Op>& c) { return c.violate.empty() && writes_every_row(c); });
  std::vector<Case<Op>> cases;
  for (std::size_t k = 0; k < all.size(); k += all.size() / 80 + 1) cases.push_back(all[k]);
  ASSERT_GT(cases.size(), 10u);
  expect_equal_judgements(cases, kernel);
}

}  // namespace assay::conformance::tests
