#include "operators/nsa_selected_attention_grad/limits.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "operators/nsa_selected_attention_grad/relations/relations.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaSelectedAttentionGrad;
using spec::DType;

void require_types(const Op::Problem& p) {
  if (p.dtype != DType::fp16 && p.dtype != DType::bf16)
    refuse("dtype", std::string(to_string(p.dtype)), "fp16, bf16");
  if (p.mask_dtype != DType::boolean && p.mask_dtype != DType::uint8)
    refuse("mask_dtype", std::string(to_string(p.mask_dtype)), "bool, uint8");
}

void require_heads(const Op::Problem& p) {
  if (p.heads_q % p.heads_kv != 0)
    refuse("heads_kv", std::to_string(p.heads_kv),
           "divisors of heads_q, which is " + std::to_string(p.heads_q));
}

/// scale_value is rounded to float before it is used.
void require_scale(const Op::Problem& p) {
  if (!std::isfinite(static_cast<float>(p.scale_value)))
    refuse("scale_value", number_text(p.scale_value), "a number that float can hold");
  // The forward applies the mask before it scales, so a scale of 0 or less would cancel the mask.
  if (p.sparse_mode == 2 && p.atten_mask != spec::SelectedMask::absent && !(p.scale_value > 0))
    refuse("scale_value", number_text(p.scale_value), "more than 0 with the causal mask");
}

/// Requires that the documents define the expected values, for a numerically judged case.
void require_meaning(const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  if (p.sparse_mode == 2 && p.atten_mask == spec::SelectedMask::absent)
    refuse_alone("sparse_mode", "2", "needs a mask; its meaning without one is open (NSAS-C33a)",
                 "add --atten_mask=compressed, or --track=arguments");
}

double largest_tensor(const Op::Problem& p) {
  double largest = 0;
  for (const spec::Extents& e : {query_extents(p), key_extents(p), value_extents(p),
                                 attention_out_extents(p), topk_extents(p)})
    largest = std::max(largest, static_cast<double>(e.heads) * static_cast<double>(e.dim) *
                                    static_cast<double>(e.tokens()));
  return largest;
}

}  // namespace

std::span<const FieldRange> Suite<Op>::field_ranges() {
  constexpr std::int64_t two_mebi = 2 * 1024 * 1024, longest = 128 * 1024;
  static constexpr FieldRange ranges[] = {
      {"batch", 1, two_mebi, "NSAS-C24"},
      {"heads_q", 1, 128, "NSAS-C25"},
      {"heads_kv", 1, 128, "NSAS-C26"},
      {"seq_q", 1, longest, "NSAS-C28"},
      {"seq_kv", 1, longest, "NSAS-C28"},
      {"lengths_q", 1, longest},
      {"lengths_kv", 1, longest},
      {"head_dim", 128, 192, "NSAS-C21", 64},
      {"head_dim_v", 128, 192, "NSAS-C21", 64},
      {"selected_block_size", 16, 128, "NSAS-C34", 16},
      {"selected_block_count", 1, 128, "NSAS-C35"},
      {"sparse_mode", 0, 2, "NSAS-C33", 2},
      {"rows", 0, longest},
  };
  return ranges;
}

void Suite<Op>::require_possible(const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  require_types(p);
  require_heads(p);
  require_scale(p);
  if (c.track != Track::arguments) require_meaning(c);
  require_relation(c, RelationParts::relations());
  require_size({.largest_tensor = largest_tensor(p),
                .bytes = memory_estimate(p),
                .with_numbers = c.track != Track::arguments},
               "batch, heads_q, seq_q or seq_kv");
}

}  // namespace assay::conformance
