#include <gtest/gtest.h>

#include <sstream>

#include "../../spec/problems.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"
#include "flash_entries.hpp"
#include "refusals.hpp"

namespace {

using namespace assay;
using namespace assay::test;
using Op = spec::FlashAttentionScoreGrad;
using Call = spec::Call<Op>;
using spec::Asked;
using spec::FlashSurface;
using spec::Striding;

class Flash : public Session {
 protected:
  std::unique_ptr<spec::Implementation<Op>> own =
      optimized::flash_attention_score_grad(device::a2());

  void expect_same_bits(const Asked& asked) {
    std::ostringstream shown;
    showValue(asked, shown);
    SCOPED_TRACE(shown.str());
    test::expect_same_bits(asked.call(), asked.problem, *own, phase_2_of(asked.surface), stream);
  }
};

bool is_small(const Op::Problem& p) {
  return spec::score_count(p) * p.head_dim < 1 << 23 && p.seq_q * p.seq_kv < 1 << 21;
}

class FlashSurfaces : public Flash, public testing::WithParamInterface<FlashSurface> {};

TEST_P(FlashSurfaces, GivesTheBitsOfTheImplementation) {
  constexpr Striding stridings[] = {Striding::contiguous, Striding::padded, Striding::transposed};
  std::size_t compared = 0;
  for (Asked asked : spec::plain_calls(GetParam())) {
    if (!is_small(asked.problem)) continue;
    asked.inputs = stridings[compared % 3];
    asked.outputs = stridings[compared / 3 % 3];
    expect_same_bits(asked);
    ++compared;
  }
  EXPECT_GE(compared, 6U);
}

bool takes(const spec::Implementation<Op>& implementation, const Call& call) {
  try {
    implementation.check(call);
    return true;
  } catch (const spec::Rejected&) {
    return false;
  }
}

/// Some calls of disputed combinations are refused.
TEST_F(Flash, GivesTheBitsOrTheRefusalOfTheImplementationForAnyLegalCall) {
  EXPECT_TRUE(rc::check([&] {
    const Asked asked = *spec::legal_call();
    RC_PRE(is_small(asked.problem));
    if (takes(*own, asked.call()))
      expect_same_bits(asked);
    else
      expect_same_answer(asked.call(), *own, phase_1_name(asked.surface));
    RC_ASSERT(!HasFailure());
  }));
}

TEST_P(FlashSurfaces, AnswersEveryBrokenRowAsTheImplementationDoes) {
  std::vector<Call> calls;
  for (const Asked& asked : spec::plain_calls(GetParam())) calls.push_back(asked.call());
  EXPECT_GE(expect_same_refusals(calls, *own, phase_1_name(GetParam())), 30U);
}

std::string name_of(const testing::TestParamInfo<FlashSurface>& surface) {
  return std::string(to_string(surface.param));
}

INSTANTIATE_TEST_SUITE_P(, FlashSurfaces,
                         testing::Values(FlashSurface::g1, FlashSurface::g2, FlashSurface::u1,
                                         FlashSurface::u2, FlashSurface::u3, FlashSurface::u4),
                         name_of);

}  // namespace
