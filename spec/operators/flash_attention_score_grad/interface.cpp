#include "operators/attention/interface.hpp"

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

constexpr std::string_view protocol_reason =
    "this is a rule of the C interface, which a case cannot express; the tests of our C API check "
    "it";

/// Builds a requirement about the C interface.
FlashRequirement protocol(std::string_view id, std::string_view statement, Source source,
                          Standing standing, std::span<const FlashEntryPoint> pages = {}) {
  return stated(by(standing, id, source, {}, pages),
                {.statement = statement, .sides = {Side::none}, .reason = protocol_reason});
}

}  // namespace

std::vector<FlashRequirement> interface_requirements() {
  return {
      protocol("API-1",
               "workspaceSize may be 0; the workspace that phase 2 receives is then a "
               "null pointer.",
               {upstream_interface, "phase 2"}, Standing::upstream),
      protocol("API-2",
               "An executor is valid for one call of phase 2, unless it was made repeatable.",
               {upstream_interface, "executor"}, Standing::upstream),
      protocol("API-3",
               "The arguments of phase 1 stay valid until phase 2 has returned, and device memory "
               "stays valid until the stream was synchronised.",
               {upstream_interface, "lifetimes"}, Standing::upstream),
      protocol("API-4", "Results are visible after the stream was synchronised.",
               {upstream_interface, "phase 2"}, Standing::upstream),
      protocol("API-5",
               "After a failed phase 1 the executor and workspaceSize are invalid and phase 2 is "
               "not called.",
               {upstream_interface, "phase 1"}, Standing::upstream),
      // Requirements FAG-C28 and FAG-C28a check the private formats. The documentation page of
      // entry point u1 says that every tensor may be a strided view; the page of u3 says this about
      // all tensors except null or unused ones.
      strided_views<FlashOp>(by("API-7", {unpadding_page, "parameters"}, {}, u_pages)),
      // No documentation page contains the next requirement.
      protocol("API-8", "Outputs share no memory with inputs.", {unpadding_page, "parameters"},
               Standing::derived),
      protocol("API-9", "Phase 1 is called before phase 2 and returns the size of the workspace.",
               {unpadding_page, "prototypes"}, Standing::documented, u_pages)};
}

}  // namespace assay::spec::detail
