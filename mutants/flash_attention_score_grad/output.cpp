#include <algorithm>
#include <limits>

#include "assay/spec/status.hpp"
#include "flash_attention_score_grad/families.hpp"

namespace assay::mutants {
namespace {

struct AllZeros : Kernel {
  void adjust(AttentionWork& w) const override {
    for (const Gradient which : all_gradients) std::ranges::fill(w.gradient(which).values, 0.0f);
  }
};

struct AllNan : Kernel {
  void adjust(AttentionWork& w) const override {
    for (const Gradient which : all_gradients)
      std::ranges::fill(w.gradient(which).values, std::numeric_limits<float>::quiet_NaN());
  }
};

struct DqNegated : Kernel {
  void adjust(AttentionWork& w) const override {
    for (float& value : w.dq.values) value = -value;
  }
};

struct OneDvElementHalfMore : Kernel {
  void adjust(AttentionWork& w) const override {
    if (!w.dv.values.empty()) *std::ranges::max_element(w.dv.values) *= 1.5f;
  }
};

struct TwoDkRowsSwapped : Kernel {
  void adjust(AttentionWork& w) const override {
    if (w.problem.length_kv(0) > 1) std::ranges::swap_ranges(w.dk.row(0, 0, 0), w.dk.row(0, 0, 1));
  }
};

struct OneDqRowZero : Kernel {
  void adjust(AttentionWork& w) const override {
    const std::int64_t last = w.problem.batch - 1, length = w.problem.length_q(last);
    if (length > 0) std::ranges::fill(w.dq.row(last, 0, length / 2), 0.0f);
  }
};

struct DkDvExchanged : Kernel {
  void adjust(AttentionWork& w) const override {
    if (w.dk.extents == w.dv.extents) std::swap(w.dk, w.dv);
  }
};

struct RefusesOddLengths : Kernel {
  void check(const spec::Call<Op>& call) const override {
    const spec::Shape& shape = call.parameters.softmax_max.shape;
    if (shape.size() == 4 && shape[2] % 2 != 0)
      throw spec::Rejected(spec::Status::param_invalid,
                           "seq_q is " + std::to_string(shape[2]) + ", it must be even");
  }
};

}  // namespace

std::vector<Mutant> output_mutants() {
  return {
      injected<AllZeros>("all_zeros", "every gradient is 0"),
      injected<AllNan>("all_nan", "every gradient is NaN"),
      injected<DqNegated>("dq_negated", "dq has the wrong sign", ascend_like),
      injected<OneDvElementHalfMore>("one_dv_element_half_more",
                                     "the largest element of dv is 50 % too large"),
      injected<TwoDkRowsSwapped>("two_dk_rows_swapped", "dk of keys 0 and 1 are swapped",
                                 ascend_like),
      injected<OneDqRowZero>("one_dq_row_zero", "one row of dq is 0"),
      injected<DkDvExchanged>("dk_dv_exchanged", "dk and dv are swapped"),
      injected<Crashes<Op, Kernel>>("crashes", "the run ends in an exception"),
      injected<RefusesOddLengths>("refuses_odd_lengths",
                                  "legal calls with an odd seq_q are refused"),
  };
}

}  // namespace assay::mutants
