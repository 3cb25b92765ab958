#include <algorithm>

#include "operators/nsa_compress_grad/table.hpp"

namespace assay::spec {
namespace nsa {
namespace {

using Op = CompressOp;
using P = Op::Parameters;

template <Product product>
bool is_on(const CompressCall& c) {
  return c.product == product;
}

CompressRow offered() {
  return {.id = "NSAC-C01",
          .statement = "Atlas A2 training products offer aclnnNsaCompressGrad.",
          .source = {compress_page, "products"},
          .standing = Standing::documented,
          .sides = {Side::accept},
          .applies = is_on<Product::a2>,
          .holds = always<Op>,
          .violations = {}};
}

/// A call cannot break these requirements: the table of products is a fact of the documents, and
/// the computation does not depend on it.
CompressRow not_offered() {
  return {
      .id = "NSAC-C01a",
      .statement = "Atlas A3 training and inference products do not offer aclnnNsaCompressGrad.",
      .source = {compress_page, "products"},
      .standing = Standing::documented,
      .sides = {Side::none},
      .notes = "NSAC-Q11",
      .applies = is_on<Product::a3>,
      .holds = always<Op>,
      .violations = {},
      .reason = refused_product_reason};
}

CompressRow not_listed() {
  return unexercised<Op>(
      "NSAC-C01b",
      "Ascend 910_95, Atlas 800I A2, A200I A2 Box, Atlas 200I/500 A2 inference, Atlas "
      "inference, Atlas training and Atlas 200I/300/500 inference products do not offer "
      "aclnnNsaCompressGrad.",
      {compress_page, "products"}, Standing::documented, other_products_reason);
}

CompressRow required_tensors() {
  return {.id = "NSAC-C02",
          .statement = "input, weight, outputGrad, inputGrad and weightGrad are not null.",
          .source = {compress_page, "return values"},
          .standing = Standing::documented,
          .sides = {Side::accept, Side::reject},
          .notes = "NSAC-Q1, NSAC-Q2",
          .status = exactly(Status::param_nullptr),
          .applies = always<Op>,
          .holds =
              [](const CompressCall& c) {
                return all_present<Op>(
                    c, {&P::output_grad, &P::input, &P::weight, &P::input_grad, &P::weight_grad});
              },
          .violations = {{"output_grad", remove<Op, &P::output_grad>},
                         {"input", remove<Op, &P::input>},
                         {"weight", remove<Op, &P::weight>},
                         {"input_grad", remove<Op, &P::input_grad>},
                         {"weight_grad", remove<Op, &P::weight_grad>}}};
}

CompressRow required_pointers() {
  return {.id = "NSAC-C03",
          .statement = "workspaceSize and executor are not null.",
          .source = {compress_page, "parameters"},
          .standing = Standing::derived,
          .sides = {Side::accept, Side::reject},
          .applies = always<Op>,
          .holds =
              [](const CompressCall& c) {
                return c.parameters.workspace_size && c.parameters.executor;
              },
          .violations = {
              {"workspace_size", [](CompressCall& c) { c.parameters.workspace_size = false; }},
              {"executor", [](CompressCall& c) { c.parameters.executor = false; }}}};
}

/// The page does not mention empty tensors. The page of the forward refuses them. The gradients
/// would be 0.
CompressRow empty_tensors() {
  static constexpr auto is_empty = [](const Parameter& p) {
    return std::ranges::count(p.shape, 0) > 0;
  };
  return {.id = "NSAC-C21",
          .statement = "No tensor is empty; the documents do not say how an empty one is handled.",
          .source = {upstream_compress_forward, "constraints"},
          .standing = Standing::disputed,
          .sides = {Side::reject},
          .applies = always<Op>,
          .holds =
              [](const CompressCall& c) {
                const P& p = c.parameters;
                return !is_empty(p.output_grad) && !is_empty(p.input) && !is_empty(p.weight);
              },
          .violations = {
              {"no_heads",
               [](CompressCall& c) { rewrite(c, [](CompressProblem& p) { p.heads = 0; }); }},
              {"no_head_dim",
               [](CompressCall& c) { rewrite(c, [](CompressProblem& p) { p.head_dim = 0; }); }},
              {"no_window", [](CompressCall& c) {
                 rewrite(c, [](CompressProblem& p) { p.seq = p.compress_block_size - 1; });
               }}}};
}

CompressRow first_phase() {
  return unexercised<Op>("NSAC-C24", "Phase 1 is called before phase 2.",
                         {compress_page, "prototypes"}, Standing::documented, first_phase_reason);
}

CompressRow one_second_phase() {
  return unexercised<Op>("NSAC-C24a",
                         "The executor that phase 1 returns is valid for one call of "
                         "phase 2.",
                         {upstream_interface, "phase 2"}, Standing::upstream, executor_reason);
}

}  // namespace

std::vector<CompressRow> compress_presence_requirements() {
  return {offered(),           not_offered(),   not_listed(),  required_tensors(),
          required_pointers(), empty_tensors(), first_phase(), one_second_phase()};
}

}  // namespace nsa

std::span<const Requirement<NsaCompressGrad>> NsaCompressGrad::requirements() {
  static const auto requirements = nsa::sorted_requirements<NsaCompressGrad>(
      {nsa::compress_presence_requirements, nsa::compress_type_requirements,
       nsa::compress_shape_requirements, nsa::compress_window_requirements});
  return requirements;
}

bool supports(CompressEntryPoint, Product product) { return product == Product::a2; }

std::string_view product_requirement(CompressEntryPoint, Product product) {
  return product == Product::a2 ? "NSAC-C01" : "NSAC-C01a";
}

}  // namespace assay::spec
