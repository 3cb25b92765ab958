#include "assay/optimized/nsa_compress_grad/tiling.hpp"
#include "checks/refusals.hpp"
#include "nsa_compress_grad/checks.hpp"

namespace assay::optimized::compress {
namespace {

using Call = Check::Call;
using Sums = std::vector<std::int64_t>;

/// Null if the caller gave none; whether one sequence or several of equal length are meant then is
/// open.
const Sums* sums_of(const Call& call) {
  const auto& sums = call.parameters.act_seq_len;
  return sums && !sums->empty() ? &*sums : nullptr;
}

Refusal weight_shape(const Call& call) {
  const auto& p = call.parameters;
  return shape_is({"weight", &p.weight}, {call.attributes.compress_block_size, p.input.shape[1]});
}

Refusal input_grad_shape(const Call& call) {
  return shape_is({"input_grad", &call.parameters.input_grad}, call.parameters.input.shape);
}

Refusal weight_grad_shape(const Call& call) {
  return shape_is({"weight_grad", &call.parameters.weight_grad}, call.parameters.weight.shape);
}

Refusal sums_do_not_decrease(const Call& call) {
  const Sums* const sums = sums_of(call);
  if (sums == nullptr) return std::nullopt;
  std::int64_t before = 0;
  for (std::size_t b = 0; b < sums->size(); ++b) {
    const std::int64_t sum = (*sums)[b];
    if (sum < before)
      return "entry " + std::to_string(b) + " of act_seq_len is " + std::to_string(sum) +
             "; it must be at least the sum before it, which is " + std::to_string(before);
    before = sum;
  }
  return std::nullopt;
}

Refusal sums_end_with_tokens(const Call& call) {
  const Sums* const sums = sums_of(call);
  const std::int64_t tokens = call.parameters.input.shape[0];
  return unless(
      sums == nullptr || sums->back() == tokens,
      "last entry of act_seq_len is " + std::to_string(sums == nullptr ? 0 : sums->back()) +
          "; it must be the number of tokens of input, which is " + std::to_string(tokens));
}

Refusal output_grad_shape(const Call& call) {
  const auto& p = call.parameters;
  const auto& a = call.attributes;
  spec::Shape expected = p.input.shape;
  expected[0] = p.output_grad.shape[0];
  if (const Sums* const sums = sums_of(call)) {
    std::int64_t before = 0, windows = 0;
    for (const std::int64_t sum : *sums) {
      windows += windows_in(sum - before, a.compress_block_size, a.compress_stride);
      before = sum;
    }
    expected[0] = windows;
  }
  return shape_is({"output_grad", &p.output_grad}, expected);
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"NSAC-C08", invalid, weight_shape},         {"NSAC-C17", invalid, input_grad_shape},
    {"NSAC-C18", invalid, weight_grad_shape},    {"NSAC-C14", invalid, sums_do_not_decrease},
    {"NSAC-C15", invalid, sums_end_with_tokens}, {"NSAC-C16", invalid, output_grad_shape},
};

}  // namespace

std::span<const Check> shape_checks() { return checks; }

}  // namespace assay::optimized::compress
