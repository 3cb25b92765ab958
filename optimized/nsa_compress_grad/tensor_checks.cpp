#include "checks/refusals.hpp"
#include "nsa_compress_grad/checks.hpp"

namespace assay::optimized::compress {
namespace {

using Call = Check::Call;
using Named = NamedParameter;

constexpr auto sixteen_bit = {spec::DType::fp16, spec::DType::bf16};

Refusal operand_types(const Call& call) {
  const auto& p = call.parameters;
  return first_outside({{"input", &p.input}, {"weight", &p.weight}}, sixteen_bit);
}

Refusal gradient_types(const Call& call) {
  const auto& p = call.parameters;
  return first_outside({{"output_grad", &p.output_grad},
                        {"input_grad", &p.input_grad},
                        {"weight_grad", &p.weight_grad}},
                       sixteen_bit);
}

Refusal equal_types(const Call& call) {
  const auto& p = call.parameters;
  return first_unlike(
      {"input", &p.input},
      {{"weight", &p.weight}, {"input_grad", &p.input_grad}, {"weight_grad", &p.weight_grad}});
}

Refusal type_of_output_grad(const Call& call) {
  const auto& p = call.parameters;
  return first_unlike({"input", &p.input}, {{"output_grad", &p.output_grad}});
}

std::vector<Named> tensors(const Call& call) {
  const auto& p = call.parameters;
  return {{"output_grad", &p.output_grad},
          {"input", &p.input},
          {"weight", &p.weight},
          {"input_grad", &p.input_grad},
          {"weight_grad", &p.weight_grad}};
}

Refusal formats(const Call& call) { return first_private(tensors(call)); }

Refusal ranks(const Call& call) {
  for (const Named& tensor : tensors(call)) {
    const bool per_weight = tensor.name.starts_with("weight");
    const std::size_t expected = per_weight ? 2 : 3, rank = tensor.parameter->shape.size();
    if (rank != expected)
      return "rank of " + std::string(tensor.name) + " is " + std::to_string(rank) +
             "; it must be " + std::to_string(expected);
  }
  return std::nullopt;
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"NSAC-C04", invalid, operand_types}, {"NSAC-C05", invalid, gradient_types},
    {"NSAC-C06", invalid, equal_types},   {"NSAC-C06a", invalid, type_of_output_grad},
    {"NSAC-C22", invalid, formats},       {"NSAC-C07", invalid, ranks},
};

}  // namespace

std::span<const Check> tensor_checks() { return checks; }

}  // namespace assay::optimized::compress
