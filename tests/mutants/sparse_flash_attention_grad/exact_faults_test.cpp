#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators/sparse_flash_attention_grad.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "assay/conformance/result/verdict.hpp"
#include "assay/mutants/mutant.hpp"

/// Tests exact cases, in which every correct kernel computes the same bits. They have no tolerance:
/// every difference is a fault.
namespace assay::conformance {
namespace {

using Op = spec::SparseFlashAttentionGrad;

/// The names of faults in the choice of keys and rows.
const std::set<std::string> index_faults = {
    "last_entry_lost",     "half_of_long_list",      "sentinel_is_first_block",
    "list_ignored",        "list_of_first_token",    "blocks_are_tokens",
    "first_key_of_block",  "blocks_of_32",           "keys_of_first_sequence",
    "mask_shows_one_more", "mask_shows_one_less",    "mask_upper_left",
    "whole_blocks",        "row_without_key_is_nan", "rope_of_first_head",
    "merge_forgotten",     "merge_always",           "sum_of_next_head",
    "first_head_only",     "last_token_lost"};

std::vector<Case<Op>> exact_cases() {
  std::vector<Case<Op>> cases;
  for (const Case<Op>& c : sample<Op>({}))
    if (c.track == Track::exact || c.track == Track::exact_staged) cases.push_back(c);
  return cases;
}

TEST(SparseFlashExactCases, ProveEveryFaultInIndices) {
  const std::vector<Case<Op>> cases = exact_cases();
  EXPECT_GE(cases.size(), 50U);
  std::size_t faults = 0;
  for (const auto& mutant : mutants::mutants<Op>()) {
    if (!index_faults.contains(mutant.name)) continue;
    const auto kernel = mutant.make();
    EXPECT_TRUE(std::ranges::any_of(cases, [&](const Case<Op>& c) {
      return judge_case(c, *kernel).verdict == Verdict::nonconformant_structural;
    })) << mutant.name;
    ++faults;
  }
  EXPECT_EQ(faults, index_faults.size());
}

TEST(SparseFlashExactCases, PassEveryCorrectKernel) {
  const std::vector<Case<Op>> cases = exact_cases();
  for (std::size_t k = 0; k < cases.size(); k += 3) {
    PreparedCase<Op> prepared(cases[k]);
    for (const auto& mutant : mutants::mutants<Op>()) {
      if (!mutant.healthy || mutant.subject != mutants::Subject::numbers) continue;
      const auto kernel = mutant.make();
      EXPECT_EQ(contribution(judge_case(prepared, *kernel).verdict), ExitCode::conformant)
          << mutant.name << ": " << command_line(cases[k]);
    }
  }
}

}  // namespace
}  // namespace assay::conformance
