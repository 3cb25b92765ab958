#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../tiled_operators.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/spec/requirement.hpp"
#include "plan/breaking_calls.hpp"

/// Runs the argument checks of our implementation (phase 1) on the planned calls.
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

/// Calls visit(case, call, answer) for every case of the default plan. The plan contains legal
/// calls up to the limits of every requirement. For each requirement it also contains calls that
/// break it, one for each listed violation.
template <class Op, class Visit>
void each_planned_answer(const Visit& visit) {
  const auto kernel = tests::tiled_kernel<Op>();
  for (const auto& c : conformance::sample<Op>({})) {
    const spec::Call<Op> call = conformance::call_of(c);
    visit(c, call, answer(*kernel, call));
  }
}

}  // namespace assay::test
