#include "attention/checks/attribute.hpp"

#include <algorithm>

#include "flash_attention_score_grad/checks/checks.hpp"

namespace assay::optimized {
namespace {

using Call = Check::Call;
using namespace attention;

Refusal prefix_modes(const Call& call) {
  const std::int64_t mode = call.attributes.sparse_mode;
  return unless(!takes_ropes(call) || (mode != 5 && mode != 6),
                "sparseMode is " + std::to_string(mode) + "; it must not be 5 or 6 on " +
                    name_with_ropes(call));
}

/// Checks that sparseMode is not 5. Only the documentation pages of these entry points exclude this
/// mode.
Refusal full_prefix_mode(const Call& call) {
  const bool excluded = call.entry_point == spec::FlashEntryPoint::u2 ||
                        call.entry_point == spec::FlashEntryPoint::u4 ||
                        call.entry_point == spec::FlashEntryPoint::u5;
  return unless(!excluded || call.attributes.sparse_mode != 5,
                "sparseMode is 5; it must not be 5 on " + std::string(to_string(call.entry_point)));
}

/// Checks preTokens and nextTokens. Both count from the upper-left corner in mode 0, and from the
/// lower-right corner in mode 4. For mode 0, the documentation page and the vendor's code limit the
/// values by different lengths; this check accepts both limits. Sequences without queries or keys
/// set no limit.
Refusal token_limits(const Call& call) {
  const std::int64_t mode = call.attributes.sparse_mode;
  if (!masked_in_mode(call, 0) && !masked_in_mode(call, 4)) return std::nullopt;
  for (const auto& [q, kv] : planned_sequences(call)) {
    if (q == 0 || kv == 0) continue;
    const Refusal refusal = mode == 0 ? edges_within(call, std::max(q - 1, kv), std::max(kv - 1, q))
                                      : edges_within(call, q, kv);
    if (refusal) return refusal;
  }
  return mode == 0 ? window_open(call) : std::nullopt;
}

/// Checks the prefix array. In sparseMode 5 the mask itself contains the prefixes, so the array may
/// be missing. The check accepts any number of keys, as the vendor's code does, although the
/// documentation page limits this number.
Refusal prefix_given(const Call& call) {
  if (call.attributes.sparse_mode != 6 || !is_given(call.parameters.atten_mask))
    return std::nullopt;
  const std::int64_t batch = extents_of(call).batch;
  const auto& prefix = call.parameters.prefix;
  if (!prefix) return "prefix is null; sparseMode 6 requires it";
  return unless(static_cast<std::int64_t>(prefix->size()) == batch,
                "prefix has " + std::to_string(prefix->size()) +
                    " entries; it needs one for each sequence, " + std::to_string(batch));
}

constexpr auto invalid = spec::Status::param_invalid;
constexpr Check checks[] = {
    {"FAG-C60", invalid, keep_prob},
    {"FAG-C12", spec::Status::param_nullptr, drop_mask_given},
    {"FAG-C62", invalid, drop_mask_size},
    {"FAG-C63", invalid, sparse_mode},
    {"FAG-C64", invalid, varlen_modes},
    {"FAG-C65", invalid, prefix_modes},
    {"FAG-C66a", invalid, full_prefix_mode},
    {"FAG-C67", invalid, mask_shape},
    {"FAG-C68", invalid, token_limits},
    {"FAG-C69", invalid, outer_split_limits},
    {"FAG-C71", invalid, band},
    {"FAG-C72", invalid, prefix_given},
};

}  // namespace

std::span<const Check> attribute_checks() { return checks; }

}  // namespace assay::optimized
