#include <algorithm>

#include "operators/nsa_compress/traits.hpp"

namespace assay::conformance {
namespace compression {
namespace {

using Op = spec::NsaCompress;
using Rows = Traits<Op>::Rows;
using Trial = conformance::Trial<Op>;
using Experiment = conformance::Experiment<Op>;

Experiment scale_weight(const Trial& base) { return scaled(base, &Rows::weight); }
Experiment scale_input(const Trial& base) { return scaled(base, &Rows::input); }
Experiment zero_weight(const Trial& base) { return zeroed(base, &Rows::weight); }
Experiment linear_weight(const Trial& base) { return cut_in_two(base, &Rows::weight); }
Experiment linear_input(const Trial& base) { return cut_in_two(base, &Rows::input); }

/// Sets one weight of every head to 1 and all other weights to 0. The position of this weight
/// differs between heads.
Experiment copy_token(const Trial& base) {
  const Op::Problem& p = base.problem;
  const spec::Extents inputs = input_extents(p), windows = output_extents(p);
  const auto chosen_token = [&](std::int64_t n) { return (7 * n + 3) % p.compress_block_size; };
  Trial trial = base;
  std::ranges::fill(trial.rows.weight, 0.0);
  for (std::int64_t n = 0; n < p.heads; ++n)
    trial.rows.weight[static_cast<std::size_t>(chosen_token(n) * p.heads + n)] = 1;
  std::vector<double> copies;
  for (std::int64_t row = 0; row < windows.rows(); ++row) {
    const auto [b, n, i] = windows.position(row);
    const auto from = trial.rows.input.begin() +
                      inputs.row(b, n, i * p.compress_stride + chosen_token(n)) * p.head_dim;
    copies.insert(copies.end(), from, from + p.head_dim);
  }
  return known(std::move(trial), {{"output", std::move(copies)}});
}

/// Sets all inputs to 1 and all weights to 1/16.
Experiment count_tokens(const Trial& base) {
  Trial trial = base;
  std::ranges::fill(trial.rows.input, 1.0);
  std::ranges::fill(trial.rows.weight, 0x1p-4);
  const auto elements =
      static_cast<std::size_t>(output_extents(base.problem).rows() * base.problem.head_dim);
  const double sum = static_cast<double>(base.problem.compress_block_size) * 0x1p-4;
  return known(std::move(trial), {{"output", std::vector<double>(elements, sum)}});
}

Experiment strided_view(const Trial& base) {
  return strided(base, spec::Striding::transposed, spec::Striding::padded);
}

constexpr std::string_view all_problems = "everything",
                           far_from_limits =
                               "bf16, if all values are far from overflow and underflow";
constexpr Relation<Op> own_relations[] = {
    {"scale_weight", "If weight is multiplied by a power of two, so is the output.",
     Agreement::bits, is_not_fp16, far_from_limits, scale_weight},
    {"scale_input", "If input is multiplied by a power of two, so is the output.", Agreement::bits,
     is_not_fp16, far_from_limits, scale_input},
    {"zero_weight", "If weight is zero, the output is zero.", Agreement::bits, is_anything,
     all_problems, zero_weight},
    {"linear_weight",
     "If weight is the sum of two tensors, the output is the sum of the two outputs.",
     Agreement::bound, is_anything, all_problems, linear_weight},
    {"linear_input",
     "If input is the sum of two tensors, the output is the sum of the two outputs.",
     Agreement::bound, is_anything, all_problems, linear_input},
    {"copy_token",
     "If one weight of a head is 1 and the others are 0, the output is the token of that weight.",
     Agreement::bits, is_anything, all_problems, copy_token},
    {"count_tokens",
     "If every token is 1 and every weight is 1/16, the output is the window size divided by 16.",
     Agreement::bits, is_anything, all_problems, count_tokens},
    {"strided_view", "Strided views give the same output as contiguous copies.", Agreement::bits,
     is_anything, all_problems, strided_view}};

}  // namespace

std::span<const Relation<Op>> Traits<Op>::own_relations() { return compression::own_relations; }

}  // namespace compression
}  // namespace assay::conformance
