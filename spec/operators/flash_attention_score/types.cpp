#include "operators/attention/types.hpp"

#include <concepts>

#include "operators/attention/presence.hpp"
#include "operators/attention/pse_types.hpp"
#include "operators/attention/rope.hpp"
#include "operators/flash_attention_score/table.hpp"

namespace assay::spec::detail {
namespace {

using Op = ForwardOp;
using P = Op::Parameters;

bool is_never_spared(const ForwardCall&, DType) { return false; }

bool has_some_ropes(const ForwardCall& c) {
  return c.parameters.query_rope.present || c.parameters.key_rope.present;
}

bool has_all_or_no_ropes(const ForwardCall& c) {
  return c.parameters.query_rope.present == c.parameters.key_rope.present;
}

void remove_ropes(ForwardCall& c) { c.parameters.query_rope = c.parameters.key_rope = {}; }

/// Allows a softmaxOut tensor. This output is reserved: no kernel writes it.
ForwardRow softmax_out() {
  return stated<Op>(worded(on_page("FAS-C03", {third_varlen_page, "return values"}), {}, "FAS-Q10"),
                    {.statement = "softmaxOut may be null or given; it is not written.",
                     .sides = {Side::accept},
                     .variants = {{"given", [](ForwardCall& c) {
                                     c.parameters.softmax_out = {.present = true,
                                                                 .dtype = DType::fp32};
                                     reshape(c.parameters.softmax_out, {8, 8, 8});
                                   }}}});
}

bool is_output_like_query(const ForwardCall& c) {
  const Parameter& query = c.parameters.query;
  const Parameter& out = c.parameters.attention_out;
  return !query.present || !is_fp16_bf16_fp32(query.dtype) || !out.present ||
         out.dtype == query.dtype;
}

ForwardRow plain_formats() {
  return stated<Op>(
      with_status(on_page("FAS-C24", {dense_page, "return values"}), Status::param_invalid),
      {.statement = "No tensor has a private storage format.",
       .holds =
           [](const ForwardCall& c) {
             bool plain = true;
             visit_fields(c.parameters, [&]<class Field>(std::string_view, const Field& field) {
               if constexpr (std::same_as<Field, Parameter>)
                 plain = plain && (!given(field) || !is_private(field.format));
             });
             return plain;
           },
       .violations = {{"query", reformat<&P::query, Format::fractal_nz>},
                      {"key", reformat<&P::key, Format::nc1hwc0>},
                      {"value", reformat<&P::value, Format::fractal_z>},
                      {"atten_mask",
                       [](ForwardCall& c) {
                         attach_mask(c);
                         c.parameters.atten_mask.format = Format::fractal_nz;
                       }},
                      {"softmax_max", reformat<&P::softmax_max, Format::fractal_nz>},
                      {"softmax_sum", reformat<&P::softmax_sum, Format::nc1hwc0>},
                      {"attention_out", reformat<&P::attention_out, Format::fractal_nz>}}});
}

}  // namespace

/// The documentation names the status code 161002 only for the types of query, key, value and
/// realShift. The vendor's code checks the types of the other tensors late or never.
std::vector<ForwardRow> forward_type_requirements() {
  const Source codes = {dense_page, "return values"}, types = {dense_page, "parameters"},
               rope = {third_varlen_page, "constraints"};
  const Status null = Status::param_nullptr, invalid = Status::param_invalid;
  return {tensors_present<Op, always<Op>, &P::query, &P::key, &P::value>(with_status(
              worded(on_page("FAS-C01", codes), "query, key and value are not null."), null)),
          outputs_present<Op, &P::softmax_max, &P::softmax_sum, &P::attention_out>(with_status(
              worded(on_page("FAS-C02", codes),
                     "softmaxMax, softmaxSum, attentionOut, workspaceSize and executor are "
                     "not null."),
              null)),
          softmax_out(),
          layout_present<Op>(with_status(on_page("FAS-C04", codes), null)),
          demanded<Op, takes_ropes<Op>, has_all_or_no_ropes, remove<&P::query_rope, Op>,
                   remove<&P::key_rope, Op>>(worded(in_host_code("FAS-C06", "rope checks"),
                                                    "queryRope and keyRope are both given."),
                                             {"query_rope", "key_rope"}),
          demanded<Op, takes_ropes<Op>, has_some_ropes, remove_ropes>(
              of_standing(Standing::disputed,
                          worded(on_page("FAS-C06a", {third_varlen_page, "parameters"}),
                                 "queryRope and keyRope are not both null; no document says what "
                                 "happens then.")),
              {"both"}),
          mask_present<Op>(on_page("FAS-C07", rope, pages_with_ropes)),
          no_pse<Op>(on_page("FAS-C08", rope, pages_with_ropes)),
          no_drop_mask<Op>(on_page("FAS-C08a", rope, pages_with_ropes)),
          drop_mask_present<Op>(in_host_code("FAS-C10", "dropMask checks")),
          no_padding_mask<Op, always<Op>>(of_standing(
              Standing::disputed,
              worded(on_page("FAS-C11", types),
                     "paddingMask, which is reserved, is null: no page says what happens "
                     "otherwise."))),
          operand_types<Op, is_never_spared>(
              with_status(on_page("FAS-C20", types), invalid, pages_with_pse)),
          types_like_query<Op, &P::key, &P::value>(
              worded(on_page("FAS-C20a", types), "query, key and value have the same type.")),
          rope_types<Op>(on_page("FAS-C21", rope, pages_with_ropes)),
          query_of_rope_type<Op>(on_page("FAS-C21a", rope, pages_with_ropes)),
          pse_types<Op>(
              with_status(on_page("FAS-C22", types, pages_with_pse), invalid, pages_with_pse)),
          pse_of_fitting_type<Op>(on_page("FAS-C22a", types, pages_with_pse, {"FAS-C22b"})),
          slopes_of_float32<Op, takes_slopes<Op>>(
              on_page("FAS-C22b", {slopes_page, "pseType"}, pages_with_slopes)),
          mask_types<Op>(on_page("FAS-C23", types)),
          drop_mask_type<Op>(on_page("FAS-C23a", types, pages_with_pse)),
          statistics_type<Op>(on_page("FAS-C23b", types)),
          demanded<Op, always<Op>, is_output_like_query, retype_unlike_query<&P::attention_out, Op>,
                   retype<&P::attention_out, DType::int8, Op>>(
              worded(on_page("FAS-C23c", types), "attentionOut has the type of query."),
              {"unlike_query", "int8"}),
          plain_formats()};
}

}  // namespace assay::spec::detail
