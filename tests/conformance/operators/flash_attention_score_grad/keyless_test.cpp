#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/device/ascend.hpp"
#include "assay/mutants/mutant.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;
constexpr double largest = std::numeric_limits<float>::max();

/// Makes a case with three sequences. The second one has queries but no keys.
Case<Op> keyless_case(Track track, std::uint64_t seed) {
  Case<Op> c = {.entry_point = spec::FlashEntryPoint::u2, .track = track, .seed = seed};
  c.problem = {.input_layout = spec::Layout::tnd,
               .dtype = spec::DType::bf16,
               .batch = 3,
               .seq_q = 5,
               .seq_kv = 6,
               .lengths_q = {4, 3, 5},
               .lengths_kv = {6, 0, 5},
               .scale_value = 0.0625};
  return c;
}

/// Returns the values of softmax_max and softmax_sum in the rows of the sequence without keys.
std::set<std::pair<double, double>> keyless_statistics(const Op::Inputs& inputs) {
  std::set<std::pair<double, double>> kinds;
  for (std::int64_t element = 8 * 4; element < 8 * 7; ++element)
    kinds.emplace(inputs.softmax_max.load(element), inputs.softmax_sum.load(element));
  return kinds;
}

/// For queries without keys the vendor's software writes the statistics (0, 0). Other kernels write
/// the same statistics as for fully masked rows.
TEST(Keyless, SeedsDrawBothKindsOfStatisticsAndKernelsTakeBoth) {
  const auto numerics = spec::numerics_preset("ascend_a2", spec::DType::bf16);
  const auto kernel = optimized::flash_attention_score_grad(device::a2());
  for (const Track track : {Track::bound, Track::exact}) {
    std::set<std::pair<double, double>> kinds;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      PreparedCase<Op> prepared(keyless_case(track, seed));
      kinds.merge(keyless_statistics(prepared.inputs(numerics)));
      EXPECT_EQ(judge_case(prepared, *kernel).verdict, Verdict::conforms) << seed;
    }
    EXPECT_EQ(kinds, (std::set<std::pair<double, double>>{{0, 0}, {-largest, largest}}));
  }
}

TEST(Keyless, AQuotientByTheSumOfNoKeysIsCaught) {
  auto mutants = mutants::mutants<Op>();
  const auto found = std::ranges::find(mutants, "divides_by_no_sum", &mutants::Mutant::name);
  ASSERT_NE(found, mutants.end());
  const auto kernel = found->make();
  std::set<Verdict> verdicts;
  for (std::uint64_t seed = 1; seed <= 12; ++seed)
    verdicts.insert(judge_case(keyless_case(Track::bound, seed), *kernel).verdict);
  EXPECT_EQ(verdicts, (std::set{Verdict::conforms, Verdict::nonconformant_structural}));
}

}  // namespace
}  // namespace assay::conformance
