#include "operators/attention/types.hpp"
#include "operators/flash_attention_score_grad/table.hpp"

namespace assay::spec::detail {
namespace {

using P = FlashParameters;

constexpr FlashEntryPoint pages[] = {FlashEntryPoint::g3};

bool is_of_sink_page(const FlashCall& c) { return has_sink(c.entry_point); }
bool has_given_sink(const FlashCall& c) { return is_of_sink_page(c) && given(c.parameters.sink); }
bool has_no_sink(const FlashCall& c) { return is_of_sink_page(c) && !c.parameters.sink.present; }

bool has_elements(const Parameter& parameter) {
  return given(parameter) && element_count(parameter.shape) != 0;
}

/// A requirement on calls with a sink, of the entry point's page.
FlashRequirement of_page(std::string_view id, std::string_view statement,
                         std::string_view section) {
  return {.id = id,
          .statement = statement,
          .source = {sink_page, section},
          .standing = Standing::page,
          .page_for = pages,
          .applies = has_given_sink,
          .holds = always};
}

/// Returns whether sink and dsink, as far as they are given, have one element per query head.
bool sink_shapes_fit(const FlashCall& c) {
  const auto query = query_as_given(c);
  if (!has_given_sink(c) || !query) return true;
  const Shape per_head = {query->heads};
  const auto fits = [&](const Parameter& parameter) {
    return !has_elements(parameter) || parameter.shape == per_head;
  };
  return fits(c.parameters.sink) && fits(c.parameters.dsink);
}

FlashRequirement sink_may_be_null() {
  FlashRequirement one = of_page(
      "SNK-C02", "sinkIn may be null: then no sink joins the softmax sum, as on g2.", "parameters");
  one.sides = {Side::accept};
  one.applies = has_no_sink;
  return one;
}

FlashRequirement sink_is_not_empty() {
  return {.id = "SNK-C02a",
          .statement = "sinkIn has elements; only the host code treats shape [0] as no sink.",
          .source = {upstream_entry, "optional tensors"},
          .standing = Standing::disputed,
          .sides = {Side::reject},
          .applies = is_of_sink_page,
          .holds =
              [](const FlashCall& c) {
                return !has_given_sink(c) || element_count(c.parameters.sink.shape) != 0;
              },
          .violations = {{"empty", [](FlashCall& c) {
                            if (!has_given_sink(c)) return;
                            reshape(c.parameters.sink, {0});
                            c.parameters.dsink = {};
                          }}}};
}

FlashRequirement sink_type() {
  FlashRequirement one =
      of_page("SNK-C03", "sinkIn is FLOAT and has storage format ND.", "parameters");
  one.status = exactly(Status::param_invalid);
  one.status_for = pages;
  one.holds = [](const FlashCall& c) {
    return !has_given_sink(c) ||
           (c.parameters.sink.dtype == DType::fp32 && !is_private(c.parameters.sink.format));
  };
  // With pseType 2 and 3 the host code does not reach this check.
  one.violations = {{"bf16",
                     [](FlashCall& c) {
                       if (has_given_sink(c) && c.attributes.pse_type < 2)
                         c.parameters.sink.dtype = DType::bf16;
                     }},
                    {"private_format", [](FlashCall& c) {
                       if (has_given_sink(c) && c.attributes.pse_type < 2)
                         c.parameters.sink.format = Format::fractal_nz;
                     }}};
  return one;
}

FlashRequirement sink_shape() {
  FlashRequirement one =
      of_page("SNK-C04", "sinkIn and dsinkOut have one axis, with an element per query head.",
              "parameters");
  one.holds = sink_shapes_fit;
  one.violations = {{"sink",
                     [](FlashCall& c) {
                       if (!has_given_sink(c)) return;
                       reshape(c.parameters.sink, {c.attributes.head_num + 1});
                     }},
                    {"sink_of_rank_2",
                     [](FlashCall& c) {
                       if (has_given_sink(c)) add_axis<&P::sink>(c);
                     }},
                    {"dsink", [](FlashCall& c) {
                       if (has_given_sink(c) && given(c.parameters.dsink))
                         reshape(c.parameters.dsink, {c.attributes.head_num + 1});
                     }}};
  return one;
}

FlashRequirement dsink_type() {
  FlashRequirement one = of_page("SNK-C04a", "dsinkOut is FLOAT.", "parameters");
  one.status = exactly(Status::param_invalid);
  one.status_for = pages;
  one.holds = [](const FlashCall& c) {
    return !has_given_sink(c) || !given(c.parameters.dsink) ||
           c.parameters.dsink.dtype == DType::fp32;
  };
  one.violations = {{"fp16", [](FlashCall& c) {
                       if (has_given_sink(c) && given(c.parameters.dsink))
                         c.parameters.dsink.dtype = DType::fp16;
                     }}};
  return one;
}

/// The page lists the output, and the host code then writes nothing.
FlashRequirement dsink_given_with_sink() {
  return {.id = "SNK-C05",
          .statement = "dsinkOut is given if sinkIn is.",
          .source = {sink_page, "parameters"},
          .standing = Standing::disputed,
          .sides = {Side::reject},
          .applies = has_given_sink,
          .holds =
              [](const FlashCall& c) {
                return !is_of_sink_page(c) || !has_elements(c.parameters.sink) ||
                       has_elements(c.parameters.dsink);
              },
          .violations = {{"null", remove<&P::dsink>}, {"empty", [](FlashCall& c) {
                                                         if (given(c.parameters.dsink))
                                                           reshape(c.parameters.dsink, {0});
                                                       }}}};
}

FlashRequirement no_dsink_without_sink() {
  return {.id = "SNK-C06",
          .statement = "dsinkOut is null if sinkIn is; no page defines its content.",
          .source = {sink_page, "parameters"},
          .standing = Standing::disputed,
          .sides = {Side::reject},
          .applies = is_of_sink_page,
          .holds =
              [](const FlashCall& c) {
                return !is_of_sink_page(c) || given(c.parameters.sink) ||
                       !given(c.parameters.dsink);
              },
          .violations = {{"dsink", [](FlashCall& c) {
                            if (!has_no_sink(c)) return;
                            c.parameters.dsink = {.present = true, .dtype = DType::fp32};
                            reshape(c.parameters.dsink, {c.attributes.head_num});
                          }}}};
}

FlashRequirement narrow_types() {
  FlashRequirement one =
      of_page("SNK-C07", "query, keyIn, value, dy and attentionIn are not FLOAT32.", "parameters");
  one.status = exactly(Status::param_invalid);
  one.status_for = pages;
  one.applies = is_of_sink_page;
  one.holds = [](const FlashCall& c) {
    const DType dtype = c.parameters.query.dtype;
    return !is_of_sink_page(c) || !c.parameters.query.present || dtype != DType::fp32;
  };
  one.violations = {{"fp32", [](FlashCall& c) {
                       if (is_of_sink_page(c))
                         rewrite(c, [](AttentionProblem& p) { p.dtype = DType::fp32; });
                     }}};
  return one;
}

FlashRequirement untested(std::string_view id, std::string_view statement, Standing standing,
                          std::string_view reason, Side side = Side::none) {
  return {.id = id,
          .statement = statement,
          .source = {standing == Standing::page ? sink_page : upstream_entry, "constraints"},
          .standing = standing,
          .page_for = standing == Standing::page ? std::span<const FlashEntryPoint>(pages)
                                                 : std::span<const FlashEntryPoint>(),
          .sides = {side},
          .applies = is_of_sink_page,
          .holds = always,
          .reason = reason};
}

}  // namespace

std::vector<FlashRequirement> sink_requirements() {
  return {
      untested("SNK-C01", "What g2 requires is not null, is not null here either.", Standing::page,
               "FAG-C01 and FAG-C02 contain it: their pages include that of g3"),
      sink_may_be_null(),
      sink_is_not_empty(),
      sink_type(),
      sink_shape(),
      dsink_type(),
      dsink_given_with_sink(),
      no_dsink_without_sink(),
      narrow_types(),
      untested("SNK-C08", "The other requirements are those of g2.", Standing::page,
               "each requirement of g2 lists g3 among the entry points whose page states it"),
      untested("SNK-C09", "Results are deterministic only if the caller asks for it.",
               Standing::page,
               "a kernel declares its order in its numerics; a second run is compared bit by "
               "bit only if the order is fixed"),
      untested("SNK-C10", "sinkIn is finite.", Standing::upstream, content_reason, Side::content)};
}

}  // namespace assay::spec::detail
