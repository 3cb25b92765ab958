#include <optional>

#include "assay/optimized/nsa_compress_grad/tiling.hpp"
#include "checks/refusals.hpp"
#include "nsa_compress_grad/checks.hpp"

namespace assay::optimized::compress {
namespace {

using Call = Check::Call;
using Sums = std::vector<std::int64_t>;

/// Returns the cumulative lengths. Returns nothing if the array is missing, because the
/// documentation does not say whether a missing array means one sequence or several of equal
/// length. With actSeqLenType 1, the lengths are added up; a decreasing sum then indicates a
/// negative length.
std::optional<Sums> sums_of(const Call& call) {
  const auto& given = call.parameters.act_seq_len;
  if (!given || given->empty()) return std::nullopt;
  if (call.attributes.act_seq_len_type != 1) return given;
  Sums sums;
  std::int64_t end = 0;
  for (const std::int64_t length : *given) {
    const bool is_length = length >= 0 && length <= call.parameters.input.shape[0];
    end = is_length ? end + length : -1;
    sums.push_back(end);
  }
  return sums;
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
  const auto sums = sums_of(call);
  std::int64_t before = 0;
  for (std::size_t b = 0; sums && b < sums->size(); ++b) {
    const std::int64_t sum = (*sums)[b];
    if (sum < before && call.attributes.act_seq_len_type == 1)
      return "entry " + std::to_string(b) + " of act_seq_len is " +
             std::to_string((*call.parameters.act_seq_len)[b]) +
             "; it must be a length, from 0 to the number of tokens";
    if (sum < before)
      return "entry " + std::to_string(b) + " of act_seq_len is " + std::to_string(sum) +
             "; it must be at least the previous sum, which is " + std::to_string(before);
    before = sum;
  }
  return std::nullopt;
}

Refusal sums_end_with_tokens(const Call& call) {
  const auto sums = sums_of(call);
  if (!sums) return std::nullopt;
  const std::int64_t tokens = call.parameters.input.shape[0];
  return unless(sums->back() == tokens,
                std::string(call.attributes.act_seq_len_type == 1 ? "sum" : "last entry") +
                    " of act_seq_len is " + std::to_string(sums->back()) +
                    "; it must be the number of tokens of input, which is " +
                    std::to_string(tokens));
}

Refusal output_grad_shape(const Call& call) {
  const auto& p = call.parameters;
  const auto& a = call.attributes;
  spec::Shape expected = p.input.shape;
  expected[0] = p.output_grad.shape[0];
  if (const auto sums = sums_of(call)) {
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
