#include "flash_attention_score_grad_limits.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;
using spec::DType;
using spec::MaskShape;

[[noreturn]] void refuse(std::string_view name, const std::string& value,
                         const std::string& accepted) {
  throw std::invalid_argument("--" + std::string(name) + "=" + value + ": accepted: " + accepted);
}

std::string join(std::span<const InputProfile> named) {
  std::string joined;
  for (const auto& entry : named) {
    if (!joined.empty()) joined += ", ";
    joined += entry.name;
  }
  return joined;
}

void require_named(std::string_view field, const std::string& value,
                   std::span<const InputProfile> named) {
  const auto found = std::ranges::find(named, value, &InputProfile::name);
  if (found == named.end()) refuse(field, value, join(named));
}

void require_types(const Op::Problem& p) {
  if (!spec::is_fp16_bf16_fp32(p.dtype))
    refuse("dtype", std::string(to_string(p.dtype)), "fp16, bf16, fp32");
  if (p.mask_dtype != DType::boolean && p.mask_dtype != DType::uint8)
    refuse("mask_dtype", std::string(to_string(p.mask_dtype)), "bool, uint8");
}

void require_mask_of_mode(const Op::Problem& p) {
  if (p.atten_mask == MaskShape::absent) return;
  const bool compressed_mode = p.sparse_mode >= 2;
  if (compressed_mode != (p.atten_mask == MaskShape::compressed))
    refuse("atten_mask", std::string(to_string(p.atten_mask)),
           compressed_mode
               ? "none, compressed with sparse_mode " + std::to_string(p.sparse_mode)
               : "none, SS, 11SS, B1SS, BNSS with sparse_mode " + std::to_string(p.sparse_mode));
}

std::string gib(double bytes) {
  char text[64];
  const double value = bytes / (1024.0 * 1024 * 1024);
  return std::string(
             text,
             std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, 1).ptr) +
         " GiB";
}

void require_memory(const Op::Problem& p) {
  const double bytes = memory_estimate(p);
  if (bytes > memory_limit)
    throw std::invalid_argument("the case needs about " + gib(bytes) +
                                " for its tensors and their copies in double, the limit is " +
                                gib(memory_limit) + ": reduce batch, heads_q, seq_q or seq_kv");
}

double element_estimate(const spec::Extents& e) {
  return static_cast<double>(e.batch) * static_cast<double>(e.heads) * static_cast<double>(e.seq) *
         static_cast<double>(e.dim);
}

double mask_estimate(const Op::Problem& p) {
  if (p.atten_mask == MaskShape::absent) return 0;
  double bytes = 1;
  for (const std::int64_t extent : spec::mask_shape(p)) bytes *= static_cast<double>(extent);
  return bytes;
}

}  // namespace

std::span<const FieldRange> field_ranges(std::type_identity<Op>) {
  constexpr std::int64_t two_mebi = 2 * 1024 * 1024, mebi = 1024 * 1024;
  static constexpr FieldRange ranges[] = {
      {"batch", 0, two_mebi},
      {"heads_q", 1, 256},
      {"heads_kv", 1, 256},
      {"seq_q", 0, mebi},
      {"seq_kv", 0, mebi},
      {"lengths_q", 0, mebi},
      {"lengths_kv", 0, mebi},
      {"head_dim", 1, 768},
      {"head_dim_v", 1, 768},
      {"head_dim_rope", 0, 768},
      {"sparse_mode", 0, 8},
      {"pre_tokens", -spec::unbounded_tokens, spec::unbounded_tokens},
      {"next_tokens", -spec::unbounded_tokens, spec::unbounded_tokens},
      {"prefix", 0, mebi},
      {"pse_type", 0, 3},
      {"q_start_idx", -mebi, mebi},
      {"kv_start_idx", -mebi, mebi},
      {"rows", 0, mebi},
  };
  return ranges;
}

void imply_extents(const Op::Problem& given, Op::Problem& implied) {
  if (!given.lengths_q.empty()) implied.batch = given.batch, implied.seq_q = given.seq_q;
  if (!given.lengths_kv.empty()) implied.batch = given.batch, implied.seq_kv = given.seq_kv;
}

void settle_extents(Op::Problem& p, const std::function<bool(std::string_view)>& given) {
  const auto imply = [&](std::string_view name, std::int64_t& field, std::int64_t value,
                         std::string_view list) {
    if (given(name) && field != value)
      refuse(name, std::to_string(field), std::to_string(value) + ", which --" + std::string(list) +
                                              " implies; leave it out");
    field = value;
  };
  const auto settle = [&](std::string_view name, std::vector<std::int64_t>& lengths,
                          std::string_view seq_name, std::int64_t& seq) {
    if (lengths.empty()) return;
    imply("batch", p.batch, static_cast<std::int64_t>(lengths.size()), name);
    imply(seq_name, seq, std::ranges::max(lengths), name);
    if (std::ranges::all_of(lengths, [&](std::int64_t length) { return length == seq; }))
      lengths.clear();
  };
  if (!p.lengths_q.empty() && !p.lengths_kv.empty() && p.lengths_q.size() != p.lengths_kv.size())
    refuse("lengths_kv", std::to_string(p.lengths_kv.size()) + " numbers",
           "as many as lengths_q has, which are " + std::to_string(p.lengths_q.size()));
  settle("lengths_q", p.lengths_q, "seq_q", p.seq_q);
  settle("lengths_kv", p.lengths_kv, "seq_kv", p.seq_kv);
}

double memory_estimate(const Op::Problem& p) {
  const double elements =
      2 * (element_estimate(query_extents(p)) + element_estimate(dy_extents(p)) +
           element_estimate(key_extents(p)) + element_estimate(value_extents(p)));
  const double statistics =
      element_estimate({p.batch, p.heads_q, p.seq_q, 2 * spec::statistics_replicas});
  return elements * static_cast<double>(size_of(p.dtype) + size_of(DType::fp64)) +
         statistics * static_cast<double>(size_of(DType::fp32)) + mask_estimate(p);
}

void require_possible(const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  require_types(p);
  if (p.heads_q % p.heads_kv != 0)
    refuse("heads_kv", std::to_string(p.heads_kv),
           "divisors of heads_q, which is " + std::to_string(p.heads_q));
  if (p.head_dim_v > p.head_dim)
    refuse("head_dim_v", std::to_string(p.head_dim_v),
           "1 to head_dim, which is " + std::to_string(p.head_dim));
  require_mask_of_mode(p);
  require_named("profile", c.profile, profiles());
  require_named("mask", c.mask, mask_patterns());
  if (c.track != Track::phase1 && !c.violate.empty())
    refuse("violate", c.violate, "a violation only with --track=phase1");
  if (c.track != Track::phase1) require_memory(p);
}

}  // namespace assay::conformance
