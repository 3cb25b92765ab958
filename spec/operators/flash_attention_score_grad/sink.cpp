#include "operators/attention/sink.hpp"

#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;

/// Builds a requirement that is on the documentation pages of the entry points g3 and u5.
Stated<FlashOp> of_page(std::string_view id, std::string_view statement,
                        std::string_view section = "parameters") {
  return worded(by(Standing::page, id, {sink_page, section}, {}, {}, sink_pages), statement);
}
/// Builds a requirement that only the vendor's host code contains, or about which host code and
/// documentation page disagree.
Stated<FlashOp> of_host(Standing standing, std::string_view id, std::string_view statement) {
  return worded(by(standing, id, {upstream_entry, "optional tensors"}), statement);
}

FlashRequirement plain_sink_type() {
  FlashRequirement one = sink_type<FlashOp>(
      with_status(of_page("SNK-C03", "sinkIn is FLOAT and has storage format ND."),
                  Status::param_invalid, sink_pages));
  one.holds = [](const FlashCall& c) {
    return !has_given_sink(c) ||
           (c.parameters.sink.dtype == DType::fp32 && !is_private(c.parameters.sink.format));
  };
  one.violations.push_back({"private_format", [](FlashCall& c) {
                              if (has_checked_sink(c))
                                c.parameters.sink.format = Format::fractal_nz;
                            }});
  return one;
}

FlashRequirement shape_of_sink_and_dsink() {
  FlashRequirement one = sink_shape<FlashOp>(
      of_page("SNK-C04", "sinkIn and dsinkOut have one axis, with an element per query head."));
  one.violations.push_back({"dsink", [](FlashCall& c) {
                              if (has_given_sink(c) && given(c.parameters.dsink))
                                reshape(c.parameters.dsink, {c.attributes.head_num + 1});
                            }});
  return one;
}

FlashRequirement dsink_type() {
  return stated<FlashOp>(
      with_status(of_page("SNK-C04a", "dsinkOut is FLOAT."), Status::param_invalid, sink_pages),
      {.applies = has_given_sink,
       .holds =
           [](const FlashCall& c) {
             return !has_given_sink(c) || !given(c.parameters.dsink) ||
                    c.parameters.dsink.dtype == DType::fp32;
           },
       .violations = {{"fp16", [](FlashCall& c) {
                         if (has_given_sink(c) && given(c.parameters.dsink))
                           c.parameters.dsink.dtype = DType::fp16;
                       }}}});
}

/// Requires the output dsink if the call has a sink. The documentation page lists this output; if
/// it is missing, the vendor's host code writes nothing.
FlashRequirement dsink_given_with_sink() {
  return stated<FlashOp>(
      of_standing(Standing::disputed, of_page("SNK-C05", "If sinkIn is given, dsinkOut is given.")),
      {.sides = {Side::reject},
       .applies = has_given_sink,
       .holds =
           [](const FlashCall& c) {
             return !is_of_sink_page(c) || !has_elements(c.parameters.sink) ||
                    has_elements(c.parameters.dsink);
           },
       .violations = {{"null", remove<&P::dsink>}, {"empty", [](FlashCall& c) {
                                                      if (given(c.parameters.dsink))
                                                        reshape(c.parameters.dsink, {0});
                                                    }}}});
}

FlashRequirement no_dsink_without_sink() {
  return stated<FlashOp>(
      of_standing(Standing::disputed, of_page("SNK-C06",
                                              "If sinkIn is null, dsinkOut is null; no page "
                                              "defines the content of dsinkOut without a sink.")),
      {.sides = {Side::reject},
       .applies = is_of_sink_page,
       .holds =
           [](const FlashCall& c) {
             return !is_of_sink_page(c) || given(c.parameters.sink) || !given(c.parameters.dsink);
           },
       .violations = {{"dsink", [](FlashCall& c) {
                         if (!has_no_sink(c)) return;
                         c.parameters.dsink = {.present = true, .dtype = DType::fp32};
                         reshape(c.parameters.dsink, {c.attributes.head_num});
                       }}}});
}

FlashRequirement narrow_types() {
  return stated<FlashOp>(
      with_status(
          of_page("SNK-C07", "query, keyIn, value, dy and, on g3, attentionIn are not FLOAT32."),
          Status::param_invalid, sink_pages),
      {.applies = is_of_sink_page,
       .holds =
           [](const FlashCall& c) {
             return takes_fp32(c.entry_point) || !c.parameters.query.present ||
                    c.parameters.query.dtype != DType::fp32;
           },
       .violations = {{"fp32", [](FlashCall& c) {
                         if (!takes_fp32(c.entry_point) && !takes_ropes(c))
                           rewrite(c, [](AttentionProblem& p) { p.dtype = DType::fp32; });
                       }}}});
}

/// Requires the same head size of query and value on entry point u5. Another sentence of its
/// documentation page allows a smaller head size of value.
FlashRequirement one_width_on_u5() {
  return stated<FlashOp>(
      worded(by(Standing::disputed, "SNK-C08a", {packed_sink_page, "constraints"}),
             "On u5 value and query have the same head size: one sentence of the page says so, but "
             "another sentence allows a smaller head size of value."),
      {.sides = {Side::reject},
       .applies = is_u5,
       .holds =
           [](const FlashCall& c) {
             const auto value = value_as_given(c);
             return !is_u5(c) || !value || value->dim >= query_as_given(c)->dim;
           },
       .violations = {{"value", [](FlashCall& c) {
                         if (!is_u5(c)) return;
                         rewrite(c, [](AttentionProblem& p) {
                           p.head_dim = 16;
                           p.head_dim_v = 8;
                         });
                       }}}});
}

}  // namespace

std::vector<FlashRequirement> sink_requirements() {
  return {
      untested_of_sink<FlashOp>(
          of_page("SNK-C01",
                  "Arguments that must not be null on g2 and u2 must not be null here either.",
                  "constraints"),
          "FAG-C01 and FAG-C02 contain this requirement: their pages include those of g3 and u5"),
      sink_may_be_null<FlashOp>(
          of_page("SNK-C02", "sinkIn may be null: then no sink joins the softmax sum.")),
      sink_is_not_empty<FlashOp>(of_host(Standing::disputed, "SNK-C02a", {})),
      plain_sink_type(),
      shape_of_sink_and_dsink(),
      dsink_type(),
      dsink_given_with_sink(),
      no_dsink_without_sink(),
      narrow_types(),
      untested_of_sink<FlashOp>(
          of_page("SNK-C08",
                  "The other requirements are those of g2, and for u5 those of u2, u4 and, with "
                  "ropes, u3.",
                  "constraints"),
          "each of these requirements lists g3 and u5 among the entry points whose page states it"),
      one_width_on_u5(),
      untested_of_sink<FlashOp>(
          of_page("SNK-C09", "Results are deterministic only if the caller asks for it.",
                  "constraints"),
          "a kernel declares its order in its numerics; a second run is compared bit by bit only "
          "if the order is fixed"),
      untested_of_sink<FlashOp>(of_host(Standing::upstream, "SNK-C10", "sinkIn is finite."),
                                content_reason, Side::content)};
}

}  // namespace assay::spec::detail
