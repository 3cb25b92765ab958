#include "attention/checks/sink.hpp"

#include "flash_attention_score_grad/checks/checks.hpp"

namespace assay::optimized {
namespace {

using Call = Check::Call;
using namespace attention;
using spec::DType;

Refusal operand_types(const Call& call) {
  if (!spec::has_sink(call.entry_point)) return std::nullopt;
  return first_outside({{"query", &call.parameters.query}}, {DType::fp16, DType::bf16});
}

Refusal dsink_type(const Call& call) {
  return first_outside({{"dsink", &call.parameters.dsink}}, {DType::fp32});
}

/// Checks the shapes of sink and dsink. Without a sink, the kernel never writes dsink, so its shape
/// does not matter.
Refusal dsink_shape(const Call& call) {
  if (!has_elements(call.parameters.sink) || !has_elements(call.parameters.dsink))
    return std::nullopt;
  return shape_is({"dsink", &call.parameters.dsink}, {extents_of(call).heads_q});
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"SNK-C07", invalid, operand_types}, {"SNK-C03", invalid, sink_type},
    {"SNK-C04a", invalid, dsink_type},   {"SNK-C04", invalid, sink_shape},
    {"SNK-C04", invalid, dsink_shape},
};

}  // namespace

std::span<const Check> sink_checks() { return checks; }

}  // namespace assay::optimized
