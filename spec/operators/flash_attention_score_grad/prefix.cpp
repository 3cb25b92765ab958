#include <algorithm>

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

/// u3 accepts no prefix; FAG-C65 covers that.
bool needs_prefix(const FlashCall& c) {
  return !is_u3(c) && masked_in_mode(c, 6) && query_as_given(c);
}

/// Returns whether the call's mode reads a prefix and the prefix has an entry for every sequence.
bool prefix_can_be_judged(const FlashCall& c) {
  const auto key = key_as_given(c);
  return !is_u3(c) && (masked_in_mode(c, 5) || masked_in_mode(c, 6)) && key &&
         c.parameters.prefix &&
         static_cast<std::int64_t>(c.parameters.prefix->size()) == key->batch;
}

bool prefix_is_in_range(const FlashCall& c) {
  if (!prefix_can_be_judged(c)) return true;
  const Extents query = *query_as_given(c), key = *key_as_given(c);
  for (std::int64_t b = 0; b < key.batch; ++b) {
    const std::int64_t visible = (*c.parameters.prefix)[static_cast<std::size_t>(b)];
    const std::int64_t least = std::max<std::int64_t>(0, key.length(b) - query.length(b));
    if (visible < least || visible > key.length(b)) return false;
  }
  return true;
}

/// In mode 5 without a usable prefix the mask is a plain user mask, with the same result.
FlashRequirement prefix_per_batch() {
  return {.id = "FAG-C72",
          .statement = "Sparse mode 6 needs a prefix of one entry per sequence.",
          .source = {upstream_tiling, "prefix checks"},
          .standing = Standing::upstream,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q31",
          .applies = needs_prefix,
          .holds =
              [](const FlashCall& c) {
                const auto& prefix = c.parameters.prefix;
                return !needs_prefix(c) || (prefix && static_cast<std::int64_t>(prefix->size()) ==
                                                          query_as_given(c)->batch);
              },
          .violations = {{"null",
                          [](FlashCall& c) {
                            attach_prefix(c);
                            c.parameters.prefix.reset();
                          }},
                         {"short", [](FlashCall& c) {
                            attach_prefix(c);
                            if (masked_in_mode(c, 6) && c.parameters.prefix)
                              c.parameters.prefix->pop_back();
                          }}}};
}

/// An upstream test passes a value out of range and expects success. u3 has no mode with a prefix.
FlashRequirement prefix_range() {
  return {.id = "FAG-C73",
          .statement =
              "In sparse modes 5 and 6 every prefix entry is at least max(0, Skv - Sq) and at most "
              "Skv.",
          .source = {unpadding_page, "constraints"},
          .standing = Standing::open,
          .stated_for = g_u1_pages,
          .page_for = public_pages,
          .sides = {Side::accept, Side::reject},
          .notes = "FAG-Q24",
          .applies = prefix_can_be_judged,
          .holds = prefix_is_in_range,
          .violations = {
              {"above",
               [](FlashCall& c) {
                 attach_prefix(c);
                 if (prefix_can_be_judged(c)) ++c.parameters.prefix->back();
               }},
              {"below",
               [](FlashCall& c) {
                 attach_prefix(c);
                 if (!prefix_can_be_judged(c)) return;
                 const Extents query = *query_as_given(c), key = *key_as_given(c);
                 const auto least = [&](std::int64_t b) { return key.length(b) - query.length(b); };
                 std::int64_t broken = 0;
                 for (std::int64_t b = 1; b < key.batch; ++b)
                   if (least(b) > least(broken)) broken = b;
                 if (least(broken) > 0)
                   (*c.parameters.prefix)[static_cast<std::size_t>(broken)] = least(broken) - 1;
               }},
              {"negative", [](FlashCall& c) {
                 attach_prefix(c);
                 if (prefix_can_be_judged(c)) c.parameters.prefix->back() = -1;
               }}}};
}

}  // namespace

std::vector<FlashRequirement> prefix_requirements() { return {prefix_per_batch(), prefix_range()}; }

}  // namespace assay::spec::detail
