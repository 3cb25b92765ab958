#include "operators/attention/presence.hpp"

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;

/// The entry points whose documentation pages name the status code for a null pointer.
constexpr FlashEntryPoint null_pages[] = {FlashEntryPoint::u1, FlashEntryPoint::u3,
                                          FlashEntryPoint::g3, FlashEntryPoint::u5};

/// Returns whether the entry point's documentation page requires a null pointer for paddingMask.
/// The pages of the entry points u2 to u5 do.
bool requires_null_padding_mask(const FlashCall& c) { return is_u3(c) || is_of_public_page(c); }

/// Requires attentionIn. Its documented name and some pages say "optional", but the gradient cannot
/// be computed without this tensor. Requirement FAG-C32a checks rank 0, which the documentation
/// page of entry point u1 lists.
FlashRequirement attention_in_present() {
  return stated(
      by(Standing::upstream, "FAG-C03", {upstream_entry, "null checks"}, "FAG-Q21, FAG-Q39"),
      {.statement = "attentionIn is given, although its name ends in Optional; it is not a scalar.",
       .holds =
           [](const FlashCall& c) {
             const Parameter& attention_in = c.parameters.attention_in;
             return given(attention_in) || (attention_in.present && is_packed_but_u3(c));
           },
       .violations = {{"null", remove<&P::attention_in>}, {"scalar", [](FlashCall& c) {
                                                             if (!is_packed_but_u3(c))
                                                               make_scalar<&P::attention_in>(c);
                                                           }}}});
}

FlashRequirement statistics_present() {
  return stated(
      by(Standing::upstream, "FAG-C04", {upstream_tiling, "null checks"}, "FAG-Q21"),
      {.statement = "softmaxMax and softmaxSum are given, although their names end in Optional.",
       .holds =
           [](const FlashCall& c) {
             return given(c.parameters.softmax_max) && given(c.parameters.softmax_sum);
           },
       .violations = {{"softmax_max", remove<&P::softmax_max>},
                      {"softmax_sum", remove<&P::softmax_sum>}}});
}

}  // namespace

std::vector<FlashRequirement> presence_requirements() {
  return {
      tensors_present<FlashOp, always<FlashOp>, &P::query, &P::key, &P::value, &P::dy>(
          worded<FlashOp>(with_status(by("FAG-C01", {unpadding_page, "return values"}, "FAG-Q28",
                                         u_pages, g3_page),
                                      Status::param_nullptr, null_pages),
                          "query, keyIn, value and dy are not null.")),
      outputs_present<FlashOp, &P::dq, &P::dk, &P::dv>(worded<FlashOp>(
          with_status(by("FAG-C02", {unpadding_page, "return values"}, {}, u_pages, g3_page),
                      Status::param_nullptr, null_pages),
          "dqOut, dkOut, dvOut, workspaceSize and executor are not null; dpseOut may be null.")),
      attention_in_present(),
      statistics_present(),
      layout_present<FlashOp>(
          with_status(by("FAG-C07", {unpadding_page, "return values"}, "FAG-Q33", u_pages),
                      Status::param_nullptr)),
      mask_present<FlashOp>(by("FAG-C08", {rope_page, "constraints"}, {}, u3_page)),
      no_pse<FlashOp>(by("FAG-C09", {rope_page, "constraints"}, {}, u3_page)),
      no_drop_mask<FlashOp>(by("FAG-C10", {rope_page, "constraints"}, {}, u3_page)),
      no_padding_mask<FlashOp, requires_null_padding_mask>(
          by(Standing::open, "FAG-C11", {rope_page, "parameters"}, {}, u3_page, public_pages)),
      drop_mask_present<FlashOp>(
          by(Standing::upstream, "FAG-C12", {upstream_tiling, "dropMask checks"}, "FAG-Q39"))};
}

}  // namespace assay::spec::detail
