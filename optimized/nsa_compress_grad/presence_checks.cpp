#include "checks/refusals.hpp"
#include "nsa_compress_grad/checks.hpp"

namespace assay::optimized::compress {
namespace {

using Call = Check::Call;

Refusal tensors(const Call& call) {
  const auto& p = call.parameters;
  return first_missing({{"input", p.input.present},
                        {"weight", p.weight.present},
                        {"output_grad", p.output_grad.present},
                        {"input_grad", p.input_grad.present},
                        {"weight_grad", p.weight_grad.present}});
}

Refusal pointers(const Call& call) {
  return first_missing(
      {{"workspaceSize", call.parameters.workspace_size}, {"executor", call.parameters.executor}});
}

constexpr auto null = spec::Status::param_nullptr;
constexpr Check checks[] = {
    {"NSAC-C02", null, tensors},
    {"NSAC-C03", null, pointers},
};

}  // namespace

std::span<const Check> presence_checks() { return checks; }

}  // namespace assay::optimized::compress
