#include "operators/attention/attributes.hpp"

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

FlashRequirement order_of_statistics() {
  return stated(
      by(Standing::disputed, "FAG-C83a",
         {rope_page, "softmaxMaxOptional, which the constraints contradict"}, "FAG-Q3, FAG-Q4"),
      {.statement =
           "In TND softmaxMax and softmaxSum have the shape (T, N, 8) and one of two memory "
           "orders. "
           "heads_first: sequence by sequence, heads before tokens; the vendor's code reads them "
           "so, on u4 for \"\". tokens_first: tokens before heads, as the shape says; the "
           "constraints of u1 to u3 say so, and the vendor's code of u4 reads them so for "
           "\"same_as_input\". The table of u3 has [N,T,8]; the page of u4 exchanges the meanings "
           "of the two values. Either order is right: a kernel declares its order with the "
           "numerics "
           "statistics_order, statistics_order_empty and statistics_order_same_as_input.",
       .sides = {Side::content},
       .applies = [](const FlashCall& c) { return is_packed(c); },
       .reason = content_reason});
}

FlashRequirement start_indices() {
  return stated(
      by(Standing::upstream, "FAG-C84", {upstream_tiling, "start indices"}),
      {.statement = "Only the first entries of qStartIdx and kvStartIdx are used, and only if both "
                    "arrays are given.",
       .sides = {Side::content},
       .applies = [](const FlashCall& c) { return has_pse_type(c.entry_point); },
       .reason = content_reason});
}

FlashRequirement single_layout() {
  return stated(
      by("FAG-C87", {operator_page, "constraints"}, {}, all_pages),
      {.statement = "query, keyIn, value and dy share one layout, which a single attribute names.",
       .sides = {Side::none},
       .reason =
           "a single argument names the layout of all tensors, so their layouts cannot differ"});
}

FlashRequirement matching_packages() {
  return stated(
      by("FAG-C88", {unpadding_page, "constraints"}, {}, u_pages),
      {.statement = "If PyTorch calls the operator, the versions of the CANN packages and of "
                    "PyTorch's packages match.",
       .sides = {Side::none},
       .reason = "this suite does not call the vendor's PyTorch"});
}

FlashRequirement time_limit() {
  return stated(
      by(Standing::advice, "FAG-C89", {operator_page, "constraints"}),
      {.statement = "A computation that takes too long may time out on the device: split an axis.",
       .sides = {Side::none},
       .reason = "no page gives a time limit; the limit that this suite uses is its own choice"});
}

FlashRequirement default_mode() {
  return stated(
      by(Standing::advice, "FAG-C90", {unpadding_page, "constraints"}),
      {.statement = "sparseMode 0 is recommended if no other mode is needed. To save memory, it is "
                    "also recommended if all attenMasks have the same shape, smaller than 2048.",
       .sides = {Side::none},
       .reason = "the sentence is advice, which no call can break; the planned cases also use all "
                 "the other modes"});
}

/// Builds a requirement that no call can test, because a call contains only its arguments.
FlashRequirement untried(std::string_view id, std::string_view statement, Source source,
                         std::span<const FlashEntryPoint> pages, Side side,
                         bool (*applies)(const FlashCall&), std::string_view reason) {
  return stated(by(id, source, {}, pages),
                {.statement = statement, .sides = {side}, .applies = applies, .reason = reason});
}

/// The requirement of a fixed order of accumulation is tested differently: the judge runs a kernel
/// twice.
std::vector<FlashRequirement> rows_with_calls() {
  return {
      untried("FAG-C91",
              "Results may differ between runs unless aclrtCtxSetSysParamOpt asks for determinism.",
              {rope_page, "constraints"}, u3_page, Side::content, is_u3,
              "no case can fail, because equal results in every run are allowed; if a kernel "
              "declares a fixed order, the results of two runs are compared"),
      untried("FAG-C92", "scaleValue and keepProb default to 1.", {operator_page, "parameters"},
              g_pages, Side::none, is_padded,
              "the C interface has no defaults: every call passes scaleValue and keepProb"),
      untried("FAG-C93", "keepProb is the share of ones in dropMask.",
              {unpadding_page, "parameters"}, u_pages, Side::content, drops_by_mask,
              "the dropMask of every planned case has that share of ones, see FAG-Q29; no expected "
              "value depends on the share")};
}

}  // namespace

std::vector<FlashRequirement> attribute_requirements() {
  std::vector<FlashRequirement> requirements = {
      keep_prob_range<FlashOp>(by("FAG-C60", {operator_page, "constraints"}, "FAG-Q27", all_pages)),
      no_dropout<FlashOp>(by("FAG-C61", {rope_page, "constraints"}, {}, u3_page)),
      drop_mask_size<FlashOp>(
          by(Standing::upstream, "FAG-C62", {upstream_tiling, "dropMask checks"}, "FAG-Q29")),
      known_statistics_layout<FlashOp, &FlashOp::Attributes::softmax_in_layout>(
          worded<FlashOp>(by(Standing::page, "FAG-C83",
                             {upstream_fourth_unpadding_page, "parameters"}, "FAG-Q4", {}, u4_page),
                          "softmaxInLayout is empty or same_as_input.")),
      order_of_statistics(),
      start_indices(),
      single_layout(),
      matching_packages(),
      time_limit(),
      default_mode()};
  const auto rows = rows_with_calls();
  requirements.insert(requirements.end(), rows.begin(), rows.end());
  return requirements;
}

}  // namespace assay::spec::detail
