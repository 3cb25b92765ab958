#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assay/conformance/operators.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"
#include "assay/optimized/nsa_compress_grad.hpp"
#include "assay/optimized/nsa_selected_attention_grad.hpp"
#include "assay/spec/requirement.hpp"
#include "plan/breaking_calls.hpp"

/// Runs the phase 1 checks of our implementation on the planned calls.
namespace assay::test {

struct Answer {
  spec::Status status = spec::Status::success;
  std::string message;  ///< empty if the call is accepted

  std::string id() const { return message.substr(0, message.find(':')); }
};

template <class Op>
Answer answer(spec::Implementation<Op>& kernel, const spec::Call<Op>& call) {
  try {
    kernel.check(call);
  } catch (const spec::Rejected& rejected) {
    return {rejected.status(), rejected.what()};
  }
  return {};
}

/// The kernel of an operator for the modelled A2.
inline auto kernel_of(spec::FlashAttentionScoreGrad) {
  return optimized::flash_attention_score_grad(device::a2());
}
inline auto kernel_of(spec::NsaSelectedAttentionGrad) {
  return optimized::nsa_selected_attention_grad(device::a2());
}
inline auto kernel_of(spec::NsaCompressGrad) { return optimized::nsa_compress_grad(device::a2()); }

/// Calls visit(case, call, answer) for every case of the default plan. The plan contains legal
/// calls up to the limits of every requirement. For each requirement it also contains the calls
/// that break it, one for each listed way.
template <class Op, class Visit>
void each_planned_answer(const Visit& visit) {
  const auto kernel = kernel_of(Op{});
  for (const auto& c : conformance::sample<Op>({})) {
    const spec::Call<Op> call = conformance::call_of(c);
    visit(c, call, answer(*kernel, call));
  }
}

}  // namespace assay::test
