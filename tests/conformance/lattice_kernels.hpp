#pragma once

#include <string>
#include <vector>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/spec/numerics.hpp"

namespace assay::conformance::lattice_test {

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
};

inline constexpr Bug bugs[] = {
    Bug::mask_off_by_one,  Bug::scale_missing_on_dk, Bug::row_term_missing, Bug::wrong_kv_head,
    Bug::last_key_dropped, Bug::truncating_cast,     Bug::ties_swapped,     Bug::bf16_accumulation,
    Bug::customary_scale,  Bug::stale_last_row,      Bug::truncating_stage, Bug::mask_ignored,
    Bug::tf32_products,    Bug::scale_magnitude,
};

/// A plain model of a gradient kernel in float.
struct Kernel {
  std::string name;
  spec::NumericsProfile numerics;  ///< what it declares
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

}  // namespace assay::conformance::lattice_test
