#include <gtest/gtest.h>

#include <iterator>
#include <vector>

#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/inputs/random.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/mutants/kill_table.hpp"
#include "assay/mutants/mutant.hpp"

namespace assay {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using Case = conformance::Case<Op>;
using spec::DType;
using spec::MaskShape;

/// Gives the problem one of eight properties, for example a causal mask. Rounding errors add up
/// differently with each of them.
void shape(std::uint64_t kind, Op::Problem& p) {
  switch (kind) {
    case 1:
      p.sparse_mode = 3, p.atten_mask = MaskShape::compressed;
      break;
    case 2:
      p.sparse_mode = 4, p.atten_mask = MaskShape::compressed;
      p.pre_tokens = 40, p.next_tokens = 3;
      break;
    case 3:
      p.heads_q = 4, p.heads_kv = 1;
      break;
    case 4:
      p.keep_prob = 0.7, p.drop_mask = spec::DropMask::exact;
      break;
    case 5:
      p.pse_type = 0, p.pse_shift = spec::PseShape::bnss;
      break;
    case 6:
      p.scale_value = -p.scale_value;
      break;
    case 7:
      p.scale_value = 0;
      break;
    default:
      break;
  }
}

/// Makes a random case in which three rows of each head are judged. Data type, distribution of the
/// inputs, lengths, and the property that `shape` sets are random.
Case drawn(std::uint64_t seed) {
  const conformance::Random lot = conformance::stream(seed, conformance::Stream::sampling);
  constexpr DType dtypes[] = {DType::bf16, DType::fp16, DType::fp32};
  constexpr std::int64_t dims[] = {8, 16, 24, 40};
  const auto profiles = conformance::Suite<Op>::profiles();
  Case c{.rows = 3, .seed = seed};
  Op::Problem& p = c.problem;
  p.dtype = dtypes[lot.integer(0, 0, 2)];
  p.seq_q = lot.integer(1, 4, 200), p.seq_kv = lot.integer(2, 4, 200);
  p.head_dim = p.head_dim_v = dims[lot.integer(3, 0, std::ssize(dims) - 1)];
  p.scale_value = 0.25;
  shape(lot.bits(4) % 8, p);
  c.entry_point = spec::FlashEntryPoint::g2;
  c.profile = profiles[lot.bits(5) % profiles.size()].name;
  return c;
}

TEST(TileSumsFuzz, HealthyKernelsPass) {
  constexpr std::uint64_t cases = 300;
  auto healthy = mutants::mutants<Op>();
  std::erase_if(healthy, [](const auto& mutant) {
    return !mutant.healthy || mutant.subject != mutants::Subject::numbers;
  });
  ASSERT_GT(healthy.size(), 10u);
  std::vector<Case> drawn_cases;
  for (std::uint64_t seed = 1; seed <= cases; ++seed) drawn_cases.push_back(drawn(seed));
  const mutants::KillTable table = mutants::kill_table(healthy, drawn_cases);
  std::int64_t judged = 0;
  for (const mutants::KillRow& row : table.rows) {
    judged += row.cases;
    EXPECT_EQ(row.failed, 0) << row.mutant.name << ": " << row.text << "\n  " << row.replay;
  }
  EXPECT_GT(judged, 4000);
}

}  // namespace
}  // namespace assay
