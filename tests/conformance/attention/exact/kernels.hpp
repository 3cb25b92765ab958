#pragma once

#include <string>
#include <vector>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/spec/numerics.hpp"

namespace assay::conformance::exact_case_test {

using Op = spec::FlashAttentionScoreGrad;

enum class Exponential : std::uint8_t { plain, fused, log_sum, clamped };
enum class Masking : std::uint8_t { skip, replace };

/// Defects of a kernel.
enum class Bug : std::uint8_t {
  none,
  mask_off_by_one,
  scale_missing_on_dk,
  row_term_missing,
  wrong_kv_head,
  last_key_dropped,
  truncating_cast,
  ties_swapped,
  bf16_accumulation,
  customary_scale,
  stale_last_row,
  truncating_stage,
  mask_ignored,
  tf32_products,
  scale_magnitude,
  left_anchor,
  band_everywhere,
  longer_prefix,
  first_prefix,
  drop_bits_reversed,
  drop_bits_of_head_0,
  keep_missing_in_dp,
  bias_type_confused,
  bias_of_head_0,
  bias_ignored,
  slope_sign,
  start_ignored,
  rope_unscaled,
  rope_ignored,
  offset_after_empty,
  statistics_order,
};

inline constexpr Bug bugs[] = {
    Bug::mask_off_by_one,  Bug::scale_missing_on_dk, Bug::row_term_missing, Bug::wrong_kv_head,
    Bug::last_key_dropped, Bug::truncating_cast,     Bug::ties_swapped,     Bug::bf16_accumulation,
    Bug::customary_scale,  Bug::stale_last_row,      Bug::truncating_stage, Bug::mask_ignored,
    Bug::tf32_products,    Bug::scale_magnitude,
};

/// Those that need packed sequences, dropout, a position bias, a prefix or a rope to show.
inline constexpr Bug family_bugs[] = {
    Bug::left_anchor,        Bug::band_everywhere,    Bug::longer_prefix,
    Bug::first_prefix,       Bug::drop_bits_reversed, Bug::drop_bits_of_head_0,
    Bug::keep_missing_in_dp, Bug::bias_type_confused, Bug::bias_of_head_0,
    Bug::bias_ignored,       Bug::slope_sign,         Bug::start_ignored,
    Bug::rope_unscaled,      Bug::rope_ignored,       Bug::offset_after_empty,
    Bug::statistics_order,
};

/// A plain model of a gradient kernel in float.
struct Kernel {
  std::string name;
  spec::Numerics numerics;  ///< what it declares
  Exponential exponential = Exponential::plain;
  Masking masking = Masking::skip;
  std::int64_t tile = 16;  ///< keys per online softmax step
  bool backwards = false;  ///< sums run from the last row and key
  bool ties_away = false;  ///< what an `unknown` rounding does
  Bug bug = Bug::none;
};

/// `value` rounded by a route of its own: the neighbours are found in double and compared.
double cast(double value, spec::DType dtype, spec::Rounding rounding);

Op::Outputs run(const Kernel& kernel, const Case<Op>& c, const Op::Inputs& inputs);

/// Correct kernels for tensors of this type.
std::vector<Kernel> healthy_kernels(spec::DType io);

}  // namespace assay::conformance::exact_case_test
