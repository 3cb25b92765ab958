#include "nsa_compress_grad_rows.hpp"

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

/// Nothing to reject: the matrix is a fact of the documents, and the computation does not depend on it.
CompressRow not_offered() {
  return {.id = "NSAC-C01a",
          .statement = "Atlas A3 training products do not offer aclnnNsaCompressGrad.",
          .source = {compress_page, "products"},
          .standing = Standing::documented,
          .sides = {Side::none},
          .notes = "NSAC-Q11",
          .applies = is_on<Product::a3>,
          .holds = always<Op>,
          .violations = {}};
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
                return all_present<Op>(c, {&P::output_grad, &P::input, &P::weight, &P::input_grad,
                                           &P::weight_grad});
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

/// The numbers of a call without windows are 0; no document says what an operator makes of empty tensors.
CompressRow empty_tensors() {
  return protocol<Op>("NSAC-C21", "No tensor is empty.",
                      {upstream_compress_forward, "constraints"}, Standing::upstream);
}

CompressRow two_phases() {
  return protocol<Op>("NSAC-C24", "Phase 1 is called before phase 2, and its executor serves one phase 2.",
                      {upstream_interface, "phase 2"}, Standing::upstream);
}

}  // namespace

std::vector<CompressRow> compress_presence_rows() {
  return {offered(),           not_offered(),   required_tensors(),
          required_pointers(), empty_tensors(), two_phases()};
}

}  // namespace nsa

std::span<const Constraint<NsaCompressGrad>> NsaCompressGrad::constraints() {
  static const auto rows = nsa::sorted_rows<NsaCompressGrad>(
      {nsa::compress_presence_rows, nsa::compress_type_rows, nsa::compress_shape_rows,
       nsa::compress_window_rows});
  return rows;
}

bool supports(CompressSurface, Product product) { return product == Product::a2; }

std::string_view product_row(CompressSurface, Product product) {
  return product == Product::a2 ? "NSAC-C01" : "NSAC-C01a";
}

}  // namespace assay::spec
