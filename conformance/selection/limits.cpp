#include "selection/limits.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "case/limits.hpp"

namespace assay::conformance::selection {
namespace {

using spec::DType;

void require_types(const Problem& p) {
  if (p.dtype != DType::fp16 && p.dtype != DType::bf16)
    refuse("dtype", std::string(to_string(p.dtype)), "fp16, bf16");
  if (p.mask_dtype != DType::boolean && p.mask_dtype != DType::uint8)
    refuse("mask_dtype", std::string(to_string(p.mask_dtype)), "bool, uint8");
}

void require_heads(const Problem& p) {
  if (p.heads_q % p.heads_kv != 0)
    refuse("heads_kv", std::to_string(p.heads_kv),
           "divisors of heads_q, which is " + std::to_string(p.heads_q));
}

/// The kernel rounds scale_value to float, so its float value must be finite.
void require_scale(const Problem& p) {
  if (!std::isfinite(static_cast<float>(p.scale_value)))
    refuse("scale_value", number_text(p.scale_value), "a number in the range of fp32");
  // The forward applies the mask before it scales the scores. With a scale of 0 or less, the mask
  // would have no effect.
  if (p.sparse_mode == 2 && p.atten_mask != spec::SelectedMask::absent && !(p.scale_value > 0))
    refuse("scale_value", number_text(p.scale_value), "more than 0 with the causal mask");
}

}  // namespace

double largest_tensor(const Problem& p) {
  double largest = 0;
  for (const spec::Extents& e : {query_extents(p), key_extents(p), value_extents(p),
                                 attention_out_extents(p), topk_extents(p)})
    largest = std::max(largest, static_cast<double>(e.heads) * static_cast<double>(e.dim) *
                                    static_cast<double>(e.tokens()));
  return largest;
}

void require_sensible(const Problem& p) {
  require_types(p);
  require_heads(p);
  require_scale(p);
}

}  // namespace assay::conformance::selection
