#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "../each_operator.hpp"
#include "assay/conformance/inputs/random.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "assay/mutants/mutant.hpp"

namespace assay {
namespace {

using conformance::Case;
using conformance::PreparedCase;
using conformance::Verdict;
using spec::DType;
using Flash = spec::FlashAttentionScoreGrad;
using Selected = spec::NsaSelectedAttentionGrad;

/// Provides the random numbers for one case. Each number is used only once.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed, 0x6865616c746879) {}

  std::int64_t integer(std::int64_t first, std::int64_t last) {
    return random_.integer(next_++, first, last);
  }
  bool one_in(std::int64_t many) { return integer(1, many) == 1; }
  template <class Choices>
  auto one_of(const Choices& choices) {
    return *(std::begin(choices) + integer(0, static_cast<std::int64_t>(std::size(choices)) - 1));
  }
  /// Returns a number of tokens, often a very small one. With one token, all rows are equal or the
  /// gradients consist only of rounding errors.
  std::int64_t tokens(std::int64_t most) {
    return one_in(5) ? integer(1, 3) : integer(1, one_in(4) ? 8 * most : most);
  }

 private:
  conformance::Random random_;
  std::uint64_t next_ = 0;
};

constexpr DType types[] = {DType::fp16, DType::bf16, DType::fp32};

/// Returns a random scale: 0 or a tiny scale, which gives nearly equal probabilities, an ordinary
/// scale, or a large one.
double scale(Draws& draws, std::int64_t head_dim) {
  const double ordinary = 1 / std::sqrt(static_cast<double>(head_dim));
  const double scales[] = {0,      0x1p-20,  0x1p-12,  0x1p-8, 0x1p-5,
                           0.0625, ordinary, ordinary, -0.25,  1};
  return static_cast<double>(static_cast<float>(draws.one_of(scales)));
}

template <class Op>
std::string profile(Draws& draws) {
  if (draws.one_in(6)) return "equal_values";
  return std::string(draws.one_of(conformance::Suite<Op>::profiles()).name);
}

void mask(Draws& draws, Case<Flash>& c) {
  Flash::Problem& p = c.problem;
  if (draws.one_in(2)) return;
  p.sparse_mode = draws.integer(1, 4);
  p.atten_mask = p.sparse_mode == 1 ? spec::MaskShape::ss : spec::MaskShape::compressed;
  if (p.sparse_mode == 1) c.patterns.mask = draws.one_in(2) ? "random" : "dead_rows";
  if (p.sparse_mode == 4) p.pre_tokens = draws.integer(0, 20), p.next_tokens = draws.integer(0, 20);
}

void bias_and_dropout(Draws& draws, Flash::Problem& p) {
  if (draws.one_in(5)) {
    p.pse_type = draws.integer(0, 3);
    p.pse_shift = p.pse_type < 2 ? spec::PseShape::bnss : spec::PseShape::slopes_n;
    if (p.pse_type >= 2) p.seq_kv = p.seq_q;
  }
  if (!draws.one_in(5)) return;
  const double kept[] = {0.5, 0.8, 0.3};
  p.keep_prob = draws.one_of(kept);
  p.drop_mask = spec::DropMask::exact;
}

void sequences(Draws& draws, Case<Flash>& c) {
  Flash::Problem& p = c.problem;
  p.input_layout = spec::Layout::tnd;
  c.entry_point = spec::FlashEntryPoint::u2;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    p.lengths_q.push_back(draws.one_in(6) ? 0 : draws.integer(1, 20));
    p.lengths_kv.push_back(draws.one_in(4) ? draws.integer(0, 1) : draws.integer(1, 30));
  }
  p.seq_q = std::ranges::max(p.lengths_q), p.seq_kv = std::ranges::max(p.lengths_kv);
}

/// Returns a small case of a sweep plan, with other random data.
template <class Op>
Case<Op> drawn_case(std::uint64_t seed) {
  static const std::vector<Case<Op>> planned = [] {
    std::vector<Case<Op>> cases = conformance::sample<Op>({.seed = 7});
    std::erase_if(cases, [](const Case<Op>& c) {
      return c.track != conformance::Track::bound || c.rows != 0 || !c.violate.empty() ||
             conformance::Suite<Op>::multiply_adds(c.problem) > 1e6;
    });
    return cases;
  }();
  Case<Op> c = planned.at(seed % planned.size());
  c.seed = seed;
  return c;
}

template <>
Case<Flash> drawn_case(std::uint64_t seed) {
  Draws draws(seed);
  Case<Flash> c = {
      .entry_point = spec::FlashEntryPoint::g2, .profile = profile<Flash>(draws), .seed = seed};
  Flash::Problem& p = c.problem;
  p.dtype = draws.one_of(types);
  p.batch = draws.integer(1, 3);
  p.heads_kv = draws.integer(1, 2);
  p.heads_q = p.heads_kv * draws.integer(1, 3);
  p.seq_q = draws.tokens(20), p.seq_kv = draws.tokens(30);
  p.head_dim = draws.one_in(4) ? draws.integer(1, 3) : draws.integer(4, 40);
  p.head_dim_v = draws.one_in(2) ? p.head_dim : draws.integer(1, p.head_dim);
  p.scale_value = scale(draws, p.head_dim);
  mask(draws, c);
  bias_and_dropout(draws, p);
  if (p.pse_shift == spec::PseShape::absent && draws.one_in(3)) sequences(draws, c);
  return c;
}

template <>
Case<Selected> drawn_case(std::uint64_t seed) {
  Draws draws(seed);
  Case<Selected> c = {.profile = profile<Selected>(draws), .seed = seed};
  Selected::Problem& p = c.problem;
  p.dtype = draws.one_of(types);
  p.batch = draws.integer(1, 2);
  p.heads_kv = draws.integer(1, 2);
  p.heads_q = p.heads_kv * draws.integer(1, 4);
  p.seq_q = draws.tokens(12);
  p.selected_block_size = draws.one_in(3) ? 1 : 16;
  const std::int64_t blocks = draws.integer(1, 5);
  p.seq_kv = p.selected_block_size * blocks;
  p.selected_block_count = draws.integer(1, blocks);
  p.head_dim = draws.integer(1, 24), p.head_dim_v = draws.integer(1, p.head_dim);
  p.scale_value = scale(draws, p.head_dim);
  if (p.selected_block_count > 1 && draws.one_in(3)) c.patterns.lists = "duplicates";
  return c;
}

/// The number of judged runs and of false positives.
struct Tally {
  std::int64_t runs = 0, false_positives = 0;
};

/// Runs the kernel on the case once. Returns the judge's report.
template <class Op>
conformance::CaseReport report_of(PreparedCase<Op>& prepared, const Case<Op>& c,
                                  spec::Implementation<Op>& kernel,
                                  const spec::Numerics& numerics) {
  typename Op::Outputs outputs = make_outputs(c);
  kernel.run(c.problem, prepared.inputs(numerics), outputs);
  return prepared.judge(outputs, numerics);
}

/// Returns the report on the case when the softmax statistics are passed in the memory order that
/// the kernel declares. If the kernel declares no order, tries all orders until the kernel
/// conforms.
template <class Op>
conformance::CaseReport report_where_read(PreparedCase<Op>& prepared, const Case<Op>& c,
                                          spec::Implementation<Op>& kernel) {
  using Suite = conformance::Suite<Op>;
  const auto moved_to = [&](const spec::Numerics& declared) {
    Case<Op> moved = c;
    moved.problem = Suite::as_declared(c.problem, c.entry_point, declared);
    if (moved.problem == c.problem) return report_of(prepared, c, kernel, declared);
    PreparedCase<Op> of_moved(moved, make_inputs(moved));
    return report_of(of_moved, moved, kernel, declared);
  };
  const spec::Numerics numerics = kernel.numerics(c.problem);
  conformance::CaseReport report = moved_to(numerics);
  for (const auto& other : Suite::other_readings(c, numerics)) {
    if (contribution(report.verdict) != conformance::ExitCode::nonconformant) break;
    report = moved_to(other.numerics);
  }
  return report;
}

/// Judges some correct kernels on the case. A failure is not repeated here, although a sweep would
/// repeat it with other data to confirm it.
template <class Op>
void judge(const Case<Op>& c, const std::vector<mutants::MutantOf<Op>>& healthy, Tally& tally) {
  constexpr std::int64_t mutants_a_case = 5;
  Draws draws(~c.seed);
  PreparedCase<Op> prepared(c, make_inputs(c));  // in double, much faster than 113 bits
  for (std::int64_t k = 0; k < mutants_a_case; ++k) {
    const auto& mutant =
        healthy[static_cast<std::size_t>(draws.integer(0, std::ssize(healthy) - 1))];
    const auto kernel = mutant.make();
    if (kernel->unsupported(call_of(c))) continue;
    const conformance::CaseReport report = report_where_read(prepared, c, *kernel);
    if (report.verdict == Verdict::not_applicable) continue;
    ++tally.runs;
    if (contribution(report.verdict) != conformance::ExitCode::nonconformant) continue;
    ++tally.false_positives;
    ADD_FAILURE() << mutant.name << " on " << report.command_line << "\n  "
                  << sentence_of(report.findings.front(), report);
  }
}

/// Judges random cases until there are `runs` runs.
template <class Op>
Tally fuzz(std::int64_t runs) {
  auto healthy = mutants::mutants<Op>();
  std::erase_if(healthy, [](const auto& mutant) {
    return !mutant.healthy || mutant.subject != mutants::Subject::numbers;
  });
  if constexpr (std::is_same_v<Op, Flash>)
    std::ranges::move(mutants::preset_kernels(), std::back_inserter(healthy));
  Tally tally;
  for (std::uint64_t seed = 1; tally.runs < runs && !healthy.empty(); ++seed)
    judge(drawn_case<Op>(seed), healthy, tally);
  std::cout << tally.runs << " healthy runs of " << Op::name << ", " << tally.false_positives
            << " false positives\n";
  return tally;
}

/// If several rows have the same statistics, their m + ln z has the same rounding error. Such
/// errors do not average out, and the judge must not report them as a bias.
TEST(HealthyFuzz, RowsWithOneShiftAreNotAFalsePositive) {
  Case<Flash> few_keys = {.entry_point = spec::FlashEntryPoint::g2,
                          .profile = "foreign_statistics"};
  few_keys.problem = {.dtype = DType::fp32,
                      .batch = 3,
                      .heads_q = 3,
                      .heads_kv = 3,
                      .seq_q = 141,
                      .seq_kv = 7,
                      .head_dim = 7,
                      .head_dim_v = 6,
                      .scale_value = 0x1p-8};
  Case<Flash> biased = {.entry_point = spec::FlashEntryPoint::g2, .profile = "peaked"};
  biased.problem = {.dtype = DType::fp32,
                    .batch = 3,
                    .heads_q = 6,
                    .heads_kv = 2,
                    .seq_q = 1,
                    .seq_kv = 169,
                    .head_dim = 3,
                    .head_dim_v = 3,
                    .scale_value = 0,
                    .pse_shift = spec::PseShape::bnss};
  Tally tally;
  for (Case<Flash> c : {few_keys, biased})
    for (c.seed = 1; c.seed <= 10; ++c.seed) judge(c, mutants::preset_kernels(), tally);
  EXPECT_GE(tally.runs, 50);
}

/// The number of runs on random cases: more for attention than for other operators.
template <class Op>
constexpr std::int64_t wanted_runs = ASSAY_HEALTHY_RUNS / (Op::has_softmax ? 4 : 8);
template <>
constexpr std::int64_t wanted_runs<Flash> = ASSAY_HEALTHY_RUNS;

template <class Op>
class HealthyKernels : public ::testing::Test {};
TYPED_TEST_SUITE(HealthyKernels, tests::EveryOperator, tests::ByOperator);

TYPED_TEST(HealthyKernels, Pass) {
  EXPECT_GE(fuzz<TypeParam>(wanted_runs<TypeParam>).runs, wanted_runs<TypeParam>);
}

}  // namespace
}  // namespace assay
