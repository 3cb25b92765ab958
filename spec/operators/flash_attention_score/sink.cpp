#include "operators/attention/sink.hpp"

#include "operators/attention/attributes.hpp"
#include "operators/flash_attention_score/table.hpp"

namespace assay::spec::detail {
namespace {

using Op = ForwardOp;

Stated<Op> of_page(std::string_view id, std::string_view statement) {
  return worded(on_page(id, {slopes_page, "parameters"}, pages_with_sink), statement);
}

}  // namespace

std::vector<ForwardRow> forward_sink_requirements() {
  return {known_statistics_layout<Op, &Op::Attributes::softmax_out_layout>(
              worded(on_page("SNKF-C71", {fifth_varlen_page, "parameters"}, page_of_l5),
                     "softmaxOutLayout is empty or same_as_input.")),
          sink_may_be_null<Op>(
              of_page("SNKF-C02", "sink may be null: then no sink joins the softmax sum.")),
          sink_is_not_empty<Op>(of_standing(Standing::disputed, of_page("SNKF-C02a", {}))),
          sink_type<Op>(with_status(of_page("SNKF-C03", "sink is FLOAT."), Status::param_invalid,
                                    pages_with_sink)),
          sink_shape<Op>(of_page("SNKF-C04", "sink has one axis, with an element per query head.")),
          untested_of_sink<Op>(worded(in_host_code("SNKF-C10", "sink"), "sink is finite."),
                               content_reason, Side::content)};
}

}  // namespace assay::spec::detail
