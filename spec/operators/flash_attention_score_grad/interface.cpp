#include <algorithm>

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

constexpr std::string_view protocol_reason =
    "a rule of the C interface, which a call as data has no room for; the tests of our C API have "
    "it";

/// A rule of the C interface.
FlashRequirement protocol(std::string_view id, std::string_view statement, Source source,
                          Standing standing, std::span<const FlashEntryPoint> pages = {}) {
  return {.id = id,
          .statement = statement,
          .source = source,
          .standing = standing,
          .stated_for = pages,
          .sides = {Side::none},
          .applies = always,
          .holds = always,
          .reason = protocol_reason};
}

bool is_strided(const Parameter& parameter) {
  return given(parameter) &&
         (parameter.strides != contiguous_strides(parameter.shape) || parameter.offset != 0);
}

/// FAG-C28 and FAG-C28a have the private formats. S-V1 ticks every tensor; S-V3 all but those that
/// are null or unused.
FlashRequirement strided_views() {
  return {.id = "API-7",
          .statement = "Any strided view of a tensor in a plain format is an input or an output.",
          .source = {unpadding_page, "parameters"},
          .standing = Standing::documented,
          .stated_for = u_pages,
          .sides = {Side::accept},
          .applies =
              [](const FlashCall& c) {
                return std::ranges::any_of(every_tensor, [&](FlashMember member) {
                  return is_strided(c.parameters.*member);
                });
              },
          .holds = always};
}

}  // namespace

std::vector<FlashRequirement> interface_requirements() {
  return {
      protocol("API-1",
               "workspaceSize may be 0, and the workspace of phase 2 is then a null pointer.",
               {upstream_interface, "phase 2"}, Standing::upstream),
      protocol("API-2",
               "An executor serves one phase 2 and ends with it, unless it was made repeatable.",
               {upstream_interface, "executor"}, Standing::upstream),
      protocol(
          "API-3",
          "What phase 1 was given stays valid until phase 2 has returned, device memory until the "
          "stream was synchronised.",
          {upstream_interface, "lifetimes"}, Standing::upstream),
      protocol("API-4", "Results are visible once the stream was synchronised.",
               {upstream_interface, "phase 2"}, Standing::upstream),
      protocol("API-5",
               "After a failed phase 1 the executor and workspaceSize say nothing and phase 2 is "
               "not called.",
               {upstream_interface, "phase 1"}, Standing::upstream),
      strided_views(),
      // No document says so.
      protocol("API-8", "Outputs share no memory with inputs.", {unpadding_page, "parameters"},
               Standing::derived),
      protocol("API-9", "Phase 1 is called before phase 2, and says the size of the workspace.",
               {unpadding_page, "prototypes"}, Standing::documented, u_pages)};
}

}  // namespace assay::spec::detail
