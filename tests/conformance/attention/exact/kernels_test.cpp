#include "kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "assay/conformance/attention/exact_case.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "cases.hpp"

namespace assay::conformance {
namespace {

using exact_case_test::configuration;
using exact_case_test::configurations;
using exact_case_test::family;
using exact_case_test::kernel_named;
using exact_case_test::Op;
using exact_case_test::outputs_of;
using spec::DType;
using spec::MaskShape;
using spec::PseShape;

CaseReport judged(spec::Implementation<Op>& kernel, const Case<Op>& c,
                  const AttentionExactCase& exact_case) {
  CaseReport report;
  Suite<Op>::compare_exact(exact_case, c.problem, outputs_of(kernel, c, exact_case.inputs),
                           kernel.numerics(c.problem), report);
  return report;
}

std::string first_finding(const CaseReport& report) {
  return report.findings.empty() ? "no finding" : sentence_of(report.findings.front(), report);
}

std::vector<Case<Op>> plain_cases(std::uint64_t seed, Track track) {
  std::vector<Case<Op>> cases;
  for (std::int64_t k = 0; k < configurations; ++k) cases.push_back(configuration(k, seed, track));
  return cases;
}

/// Returns the exact case (all correct kernels give the same bits) for the declared arithmetic of a
/// kernel. Such a case does not exist if the kernel stores partial results in 16 bits, or if it
/// computes exp(score - lse) and no later cast absorbs the error. Then the function returns
/// nothing.
std::optional<AttentionExactCase> exact_case_of(const spec::Implementation<Op>& kernel,
                                                const Case<Op>& c,
                                                const std::optional<spec::Tensor>& mask) {
  try {
    return make_exact_case_with_mask(c, kernel.numerics(c.problem), mask);
  } catch (const NoExactCase&) {
    return std::nullopt;
  }
}

/// Runs the correct kernels of mutants/ that declare their own arithmetic. Each case runs a third
/// of these kernels.
void expect_healthy_kernels_exact(const std::vector<Case<Op>>& cases) {
  std::vector<mutants::Mutant> healthy = mutants::mutants<Op>();
  std::erase_if(healthy, [](const mutants::Mutant& mutant) {
    // This variant reads the statistics in an order that it does not declare. Another test,
    // StatisticsOrder.AnUndeclaredOneIsFound, covers it.
    if (mutant.name == "tokens_first") return true;
    return !mutant.healthy || mutant.subject != mutants::Subject::numbers;
  });
  ASSERT_GE(healthy.size(), 17u);
  std::size_t runs = 0, asked = 0;
  for (std::size_t at = 0; at < cases.size(); ++at) {
    const std::optional<spec::Tensor> mask = make_mask(cases[at]);
    for (std::size_t k = at % 3; k < healthy.size(); k += 3) {
      const mutants::Mutant& mutant = healthy[k];
      const auto kernel = mutant.make();
      Case<Op> c = cases[at];
      c.problem = Suite<Op>::as_declared(c.problem, c.entry_point, kernel->numerics(c.problem));
      ++asked;
      const auto exact_case = exact_case_of(*kernel, c, mask);
      if (!exact_case) continue;
      const CaseReport report = judged(*kernel, c, *exact_case);
      ++runs;
      ASSERT_EQ(report.verdict, Verdict::conforms)
          << mutant.name << ": " << first_finding(report) << "\n"
          << command_line(c);
    }
  }
  EXPECT_GE(runs * 10, 9 * asked);
}

TEST(ExactCaseKernels, HealthyOnesAreBitExactWithExactStaging) {
  expect_healthy_kernels_exact(plain_cases(1, Track::exact));
}

TEST(ExactCaseKernels, HealthyOnesAreBitExactWithRoundedStaging) {
  expect_healthy_kernels_exact(plain_cases(2, Track::exact_staged));
}

TEST(ExactCaseKernels, HealthyOnesAreBitExactThroughoutTheFamily) {
  expect_healthy_kernels_exact(family(6, Track::exact));
  expect_healthy_kernels_exact(family(8, Track::exact_staged));
}

/// An injected fault, the cases in which it can have an effect, and the percentage of these cases
/// in which it must be detected.
struct Injected {
  const char* name;
  bool (*can_show)(const Case<Op>& c);
  std::int64_t percent = 90;
};

bool is_narrow(const Case<Op>& c) { return c.problem.dtype != DType::fp32; }

bool is_roomy(const Case<Op>& c) {
  return c.problem.head_dim >= 8 && c.problem.seq_kv > 1 && c.problem.seq_q > 1;
}

bool is_masked(const Case<Op>& c) { return c.problem.atten_mask != MaskShape::absent; }

bool has_mode(const Case<Op>& c, std::int64_t mode) {
  return is_masked(c) && c.problem.sparse_mode == mode;
}

bool has_bias(const Case<Op>& c, bool slopes) {
  return c.problem.pse_shift != PseShape::absent && (c.problem.pse_type >= 2) == slopes;
}

/// Returns whether some ALiBi slopes are negative, which requires at least 8 heads.
bool has_negative_slopes(const Case<Op>& c) {
  return has_bias(c, true) && c.problem.pse_type == 2 && c.problem.heads_q >= 8;
}

constexpr Injected plain_bugs[] = {
    {"causal_edge_right", [](const Case<Op>& c) { return is_roomy(c) && has_mode(c, 2); }},
    {"user_mask_row_below", [](const Case<Op>& c) { return is_roomy(c) && has_mode(c, 1); }},
    {"scale_missing_on_dk", is_roomy},
    {"row_term_missing", is_roomy},
    {"kv_head_modulo",
     [](const Case<Op>& c) { return c.problem.heads_kv > 1 && c.problem.group() > 1; }},
    {"last_key_dropped",
     [](const Case<Op>& c) {
       return is_roomy(c) && (c.problem.sparse_mode != 2 || c.problem.seq_q >= c.problem.seq_kv);
     }},
    {"truncating_cast", [](const Case<Op>& c) { return is_narrow(c) && is_roomy(c); }},
    {"ties_away_in_cast", [](const Case<Op>& c) { return is_narrow(c) && is_roomy(c); }},
    {"low_accumulator_dq", [](const Case<Op>& c) { return is_narrow(c) && is_roomy(c); }},
    {"scale_from_head_dim", is_roomy},
    {"one_dq_row_zero", [](const Case<Op>& c) { return is_roomy(c) && !is_masked(c); }},
    // The final cast of the sum often hides the error of a truncated operand.
    {"truncating_staging",
     [](const Case<Op>& c) {
       return is_narrow(c) && is_roomy(c) && c.track == Track::exact_staged;
     },
     75},
    {"mask_ignored", [](const Case<Op>& c) { return is_roomy(c) && is_masked(c); }},
    {"tf32_operands",
     [](const Case<Op>& c) { return !is_narrow(c) && is_roomy(c) && c.seed % 2 == 0; }},
    {"scale_without_sign",
     [](const Case<Op>& c) { return c.problem.scale_value < 0 && is_roomy(c); }},
};

constexpr Injected family_bugs[] = {
    {"mode3_left_up",
     [](const Case<Op>& c) {
       return has_mode(c, 3) && !has_bias(c, true) &&
              (is_packed(c.problem.input_layout) || c.problem.seq_q != c.problem.seq_kv);
     },
     75},
    {"mode8_band_everywhere", [](const Case<Op>& c) { return has_mode(c, 8); }, 75},
    {"mode7_band_first", [](const Case<Op>& c) { return has_mode(c, 7); }, 75},
    {"prefix_one_more", [](const Case<Op>& c) { return has_mode(c, 6); }, 75},
    {"prefix_of_first", [](const Case<Op>& c) { return has_mode(c, 6); }, 75},
    {"drop_bits_reversed", [](const Case<Op>& c) { return c.problem.has_dropout(); }, 75},
    {"drop_bits_of_first_head", [](const Case<Op>& c) { return c.problem.has_dropout(); }, 75},
    {"drop_scale_missing_on_dp", [](const Case<Op>& c) { return c.problem.has_dropout(); }, 75},
    {"pse_type_0_as_1",
     [](const Case<Op>& c) { return has_bias(c, false) && c.problem.pse_type == 0; }, 75},
    {"pse_type_1_as_0",
     [](const Case<Op>& c) { return has_bias(c, false) && c.problem.pse_type == 1; }, 75},
    {"pse_of_first_head", [](const Case<Op>& c) { return has_bias(c, false); }, 75},
    {"pse_ignored", [](const Case<Op>& c) { return has_bias(c, false) || has_bias(c, true); }, 75},
    {"slope_sign", [](const Case<Op>& c) { return has_bias(c, true); }, 75},
    {"slope_of_next_head",
     [](const Case<Op>& c) { return has_bias(c, true) && c.problem.heads_q > 1; }, 75},
    {"slope_magnitude", has_negative_slopes, 75},
    {"slope_positive_part", has_negative_slopes, 75},
    {"start_ignored", [](const Case<Op>& c) { return !c.problem.q_start_idx.empty(); }, 75},
    {"rope_not_scaled", [](const Case<Op>& c) { return c.problem.head_dim_rope > 0; }, 75},
    {"rope_missing_in_score", [](const Case<Op>& c) { return c.problem.head_dim_rope > 0; }, 75},
    {"stops_at_empty_sequence",
     [](const Case<Op>& c) { return std::ranges::count(c.problem.lengths_kv, 0) > 0; }, 75},
    {"heads_first_not_read",
     [](const Case<Op>& c) {
       return is_packed(c.problem.input_layout) && c.problem.batch > 1 &&
              c.problem.statistics_order == spec::StatisticsOrder::heads_first;
     },
     75},
    {"same_as_input_ignored",
     [](const Case<Op>& c) {
       return c.problem.statistics_order == spec::StatisticsOrder::tokens_first;
     },
     75},
};

struct Share {
  std::int64_t flagged = 0, all = 0;
};

/// Expects that every injected fault in `bugs` is detected in most of the cases in which it can
/// have an effect.
void expect_flagged(std::span<const Injected> bugs, const std::vector<Case<Op>>& cases) {
  std::vector<Share> shares(bugs.size());
  for (const Case<Op>& c : cases) {
    const std::optional<spec::Tensor> mask = make_mask(c);
    for (std::size_t k = 0; k < bugs.size(); ++k) {
      if (!bugs[k].can_show(c)) continue;
      const auto kernel = kernel_named(bugs[k].name);
      const auto exact_case = exact_case_of(*kernel, c, mask);
      if (!exact_case) continue;
      ++shares[k].all;
      if (judged(*kernel, c, *exact_case).verdict == Verdict::nonconformant_structural)
        ++shares[k].flagged;
    }
  }
  const bool staged = cases.back().track == Track::exact_staged;
  for (std::size_t k = 0; k < bugs.size(); ++k) {
    const auto& [flagged, all] = shares[k];
    EXPECT_GE(flagged * 100, all * bugs[k].percent)
        << bugs[k].name << ": " << flagged << " of " << all;
    EXPECT_TRUE(all > 0 || (!staged && std::string_view(bugs[k].name) == "truncating_staging"))
        << bugs[k].name;
  }
}

TEST(ExactCaseKernels, InjectedFaultsFailMostCasesWithExactStaging) {
  expect_flagged(plain_bugs, plain_cases(2, Track::exact));
}

TEST(ExactCaseKernels, InjectedFaultsFailMostCasesWithRoundedStaging) {
  expect_flagged(plain_bugs, plain_cases(2, Track::exact_staged));
}

TEST(ExactCaseKernels, InjectedFaultsOfTheFamilyFail) {
  std::vector<Case<Op>> cases = family(3, Track::exact);
  for (Case<Op>& c : family(4, Track::exact_staged)) cases.push_back(std::move(c));
  expect_flagged(family_bugs, cases);
}

}  // namespace
}  // namespace assay::conformance
