#include "operators/nsa_selected_attention_grad/table.hpp"

namespace assay::spec {
namespace nsa::selection {
namespace {

using Op = SelectedOp;
using P = Op::Parameters;

template <Product product>
bool is_on(const SelectedCall& c) {
  return c.product == product;
}

SelectedRow offered() {
  return {.id = "NSAS-C01",
          .statement = "Atlas A2 training products offer aclnnNsaSelectedAttentionGrad.",
          .source = {selected_page, "products"},
          .standing = Standing::documented,
          .sides = {Side::accept},
          .applies = is_on<Product::a2>,
          .holds = always<Op>,
          .violations = {}};
}

/// No call can break these requirements, because a call does not contain the product on which it
/// runs.
SelectedRow not_offered() {
  return {
      .id = "NSAS-C01a",
      .statement =
          "Atlas A3 training and inference products do not offer aclnnNsaSelectedAttentionGrad.",
      .source = {selected_page, "products"},
      .standing = Standing::documented,
      .sides = {Side::none},
      .notes = "NSAS-Q11",
      .applies = is_on<Product::a3>,
      .holds = always<Op>,
      .violations = {},
      .reason = refused_product_reason};
}

SelectedRow required_tensors() {
  return {.id = "NSAS-C02",
          .statement =
              "query, key, value, attentionOut, attentionOutGrad, softmaxMax, softmaxSum, "
              "topkIndices, dqOut, "
              "dkOut and dvOut are not null.",
          .source = {selected_page, "return values"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .notes = "NSAS-Q1, NSAS-Q2, NSAS-Q12, NSAS-Q17, NSAS-Q21",
          .status = exactly(Status::param_nullptr),
          .applies = always<Op>,
          .holds =
              [](const SelectedCall& c) {
                return all_present<Op>(c, {&P::query, &P::key, &P::value, &P::attention_out,
                                           &P::attention_out_grad, &P::softmax_max, &P::softmax_sum,
                                           &P::topk_indices, &P::dq, &P::dk, &P::dv});
              },
          .violations = {{"query", remove<Op, &P::query>},
                         {"key", remove<Op, &P::key>},
                         {"value", remove<Op, &P::value>},
                         {"attention_out", remove<Op, &P::attention_out>},
                         {"attention_out_grad", remove<Op, &P::attention_out_grad>},
                         {"softmax_max", remove<Op, &P::softmax_max>},
                         {"softmax_sum", remove<Op, &P::softmax_sum>},
                         {"topk_indices", remove<Op, &P::topk_indices>},
                         {"dq", remove<Op, &P::dq>},
                         {"dk", remove<Op, &P::dk>},
                         {"dv", remove<Op, &P::dv>}}};
}

SelectedRow required_pointers() {
  return {.id = "NSAS-C03",
          .statement = "inputLayout, workspaceSize and executor are not null.",
          .source = {selected_page, "return values"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .status = exactly(Status::param_nullptr),
          .applies = always<Op>,
          .holds =
              [](const SelectedCall& c) {
                return c.attributes.input_layout && c.parameters.workspace_size &&
                       c.parameters.executor;
              },
          .violations = {
              {"input_layout", [](SelectedCall& c) { c.attributes.input_layout.reset(); }},
              {"workspace_size", [](SelectedCall& c) { c.parameters.workspace_size = false; }},
              {"executor", [](SelectedCall& c) { c.parameters.executor = false; }}}};
}

}  // namespace

std::vector<SelectedRow> selected_presence_requirements() {
  return {offered(), not_offered(),
          unexercised<Op>(
              "NSAS-C01b",
              "Ascend 910_95, Atlas 800I A2, A200I A2 Box, Atlas 200I/500 A2 inference, Atlas "
              "inference, Atlas training and Atlas 200I/300/500 inference products do not offer "
              "aclnnNsaSelectedAttentionGrad.",
              {selected_page, "products"}, Standing::documented, other_products_reason),
          required_tensors(), required_pointers()};
}

std::vector<SelectedRow> selected_content_requirements() {
  return {
      content<Op>("NSAS-C38",
                  "Every index names a block whose keys are all in the query's sequence.",
                  {selected_page, "formulas"}, Standing::derived),
      content<Op>("NSAS-C39",
                  "With the mask, every query still sees at least one key of the "
                  "blocks that it lists.",
                  {selected_page, "formulas"}, Standing::derived),
      content<Op>("NSAS-C40",
                  "The 8 replicas of a statistic are equal, and softmaxSum is positive.",
                  {upstream_selected_kernels, "softmax statistics"}, Standing::upstream),
      unexercised<Op>("NSAS-C41",
                      "query, key, value, attentionOut and attentionOutGrad have one inputLayout.",
                      {selected_page, "constraints"}, Standing::documented,
                      "a single argument names the layout of all tensors, so it cannot differ"),
      unexercised<Op>("NSAS-C42", "Phase 1 is called before phase 2.",
                      {selected_page, "prototypes"}, Standing::documented, first_phase_reason),
      unexercised<Op>("NSAS-C42a",
                      "The executor that phase 1 returns is valid for one call of "
                      "phase 2.",
                      {upstream_interface, "phase 2"}, Standing::upstream, executor_reason),
      unexercised<Op>("NSAS-C43",
                      "If PyTorch calls the operator, the versions of the CANN "
                      "packages and of PyTorch's packages match.",
                      {selected_page, "constraints"}, Standing::documented,
                      "this suite does not call the vendor's PyTorch")};
}

}  // namespace nsa::selection

std::span<const Requirement<NsaSelectedAttentionGrad>> NsaSelectedAttentionGrad::requirements() {
  static const auto requirements = nsa::sorted_requirements<NsaSelectedAttentionGrad>(
      {nsa::selection::selected_presence_requirements, nsa::selection::selected_type_requirements,
       nsa::selection::selected_shape_requirements, nsa::selection::selected_length_requirements,
       nsa::selection::selected_size_requirements, nsa::selection::selected_attribute_requirements,
       nsa::selection::selected_content_requirements});
  return requirements;
}

bool supports(SelectedEntryPoint, Product product) { return product == Product::a2; }

std::string_view product_requirement(SelectedEntryPoint, Product product) {
  return product == Product::a2 ? "NSAS-C01" : "NSAS-C01a";
}

}  // namespace assay::spec
