#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../../printed.hpp"
#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators/nsa_compress.hpp"
#include "bilinear/basis.hpp"
#include "operators/nsa_compress/traits.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaCompress;
using Problem = Op::Problem;
using spec::DType;
using testing::printed;

/// Options of the kernel in these tests. Each option makes the kernel differ from one that adds in
/// fp32 without special features.
struct Choices {
  bool descending = false;  ///< adds the last token first
  bool exact_sums = false;  ///< sums in double
  spec::Numerics numerics = {.order = spec::Order::fixed};
  std::function<float(float)> stage = [](float x) { return x; };  ///< rounds every product
  std::int64_t left_out = 0;  ///< tokens of a window that are not added, from its end
  std::int64_t late = 0;      ///< tokens by which every window starts too late
};

class SmallKernel final : public spec::Implementation<Op> {
 public:
  explicit SmallKernel(Choices choices = {}) : choices_(std::move(choices)) {}

  std::string name() const override { return "small"; }
  spec::Numerics numerics(const Problem&) const override { return choices_.numerics; }
  void run(const Problem& p, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    const spec::HeadView tokens(inputs.input, spec::Layout::tnd, input_extents(p));
    const spec::Extents windows = output_extents(p);
    const spec::HeadIndex to(outputs.output, spec::Layout::tnd, windows);
    for (std::int64_t row = 0; row < windows.rows(); ++row) {
      const auto [b, n, i] = windows.position(row);
      for (std::int64_t c = 0; c < p.head_dim; ++c) {
        const auto term = [&](std::int64_t w) {
          const std::int64_t last = p.length(b) - 1;
          const std::int64_t token = std::min(i * p.compress_stride + w + choices_.late, last);
          const double weight = inputs.weight.load(
              inputs.weight.offset + w * inputs.weight.strides[0] + n * inputs.weight.strides[1]);
          return choices_.stage(static_cast<float>(weight) *
                                static_cast<float>(tokens(b, n, token, c)));
        };
        outputs.output.store(to(b, n, i, c), sum(p.compress_block_size - choices_.left_out, term));
      }
    }
  }

 private:
  template <class Term>
  double sum(std::int64_t count, const Term& term) const {
    float chain = 0;
    double exact = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      const float x = term(choices_.descending ? count - 1 - k : k);
      chain += x;
      exact += x;
    }
    return choices_.exact_sums ? exact : chain;
  }

  Choices choices_;
};

std::vector<Choices> healthy_choices() { return {{}, {.descending = true}, {.exact_sums = true}}; }

Case<Op> ragged(DType dtype, std::uint64_t seed) {
  Case<Op> c{.problem = {.dtype = dtype,
                         .batch = 5,
                         .heads = 2,
                         .seq = 130,
                         .lengths = {0, 130, 20, 48, 64},
                         .head_dim = 32,
                         .compress_block_size = 48},
             .seed = seed};
  return c;
}

void expect_healthy(const Case<Op>& c) {
  for (const Choices& choices : healthy_choices()) {
    SmallKernel kernel(choices);
    const CaseReport report = judge_case(c, kernel);
    EXPECT_EQ(report.verdict, Verdict::conforms) << printed(report);
    EXPECT_TRUE(report.value_case);
  }
}

void expect_caught(const Case<Op>& c, const Choices& choices) {
  SmallKernel kernel(choices);
  const Verdict verdict = judge_case(c, kernel).verdict;
  EXPECT_NE(verdict, Verdict::conforms) << command_line(c);
}

/// Sixteen tokens and weights of 1: the sum is 16. tau_det (the rigorous tolerance) is half a unit
/// of bf16 at 16, which is 2^-4, plus 20 roundings in fp32 before the cast, each at most 16 *
/// 2^-24. The roundings may enlarge the number that is cast.
TEST(CompressForward, ToleranceAgreesWithHandComputation) {
  const Problem p = {.seq = 16, .head_dim = 1, .compress_block_size = 16};
  Case<Op> c{.problem = p, .profile = "ones"};
  Op::Inputs inputs = make_inputs(c);
  for (const std::int64_t e : spec::viewed_elements(inputs.input)) inputs.input.store(e, 1);
  const Arithmetic arithmetic({}, DType::bf16);
  const bilinear::Operands operands(bilinear::form_of<Op>(p), bilinear::tensor_list(inputs));
  const Expectation e =
      bilinear::expected_rows(operands, arithmetic, 0, std::vector{int64_t{0}}, 1);
  EXPECT_EQ(e.value[0], 16);
  const double before = 20 * 16 * 0x1p-24;
  EXPECT_GE(e.tau_det[0], 0x1p-4 + before);
  EXPECT_LE(e.tau_det[0], (0x1p-4 + before) * (1 + 0x1p-8));
}

TEST(CompressForward, HealthyKernelsConformInEveryProfileAndTrack) {
  for (const DType dtype : {DType::fp16, DType::bf16}) {
    for (const InputProfile& profile : Suite<Op>::profiles()) {
      Case<Op> c = ragged(dtype, 3);
      c.profile = profile.name;
      expect_healthy(c);
    }
    for (const Track track : {Track::exact, Track::exact_staged}) {
      Case<Op> c = ragged(dtype, 4);
      c.track = track;
      expect_healthy(c);
    }
  }
}

TEST(CompressForward, HealthyKernelsFulfilEveryRelation) {
  for (const RelationText& relation : Suite<Op>::relations()) {
    Case<Op> c = ragged(DType::bf16, 5);
    c.track = Track::relation;
    c.relation = relation.name;
    expect_healthy(c);
  }
}

TEST(CompressForward, SimpleFaultsAreCaughtOnEveryTrack) {
  for (const Track track : {Track::bound, Track::exact, Track::exact_staged})
    for (const DType dtype : {DType::fp16, DType::bf16}) {
      Case<Op> c = ragged(dtype, 6);
      c.track = track;
      expect_caught(c, {.left_out = 1});
      expect_caught(c, {.late = 1});
    }
}

/// A product of two bf16 numbers has 16 bits. The kernel rounds it to 8 bits without declaring
/// this. The rounding is visible only in exact cases, in which all sums are exact.
TEST(CompressForward, UndeclaredStagingIsCaughtOnTheTrackForIt) {
  Case<Op> c = ragged(DType::bf16, 7);
  c.track = Track::exact_staged;
  const auto to_bf16 = [](float x) {
    return static_cast<float>(spec::round_to(x, spec::format_of(DType::bf16)));
  };
  expect_caught(c, {.stage = to_bf16});
  SmallKernel declared(
      {.numerics = {.stage = DType::bf16, .order = spec::Order::fixed}, .stage = to_bf16});
  const CaseReport report = judge_case(c, declared);
  EXPECT_EQ(report.verdict, Verdict::conforms) << printed(report);
}

}  // namespace
}  // namespace assay::conformance
