#pragma once

#include <string>
#include <vector>

#include "assay/conformance/report/record.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "assay/fixtures/named.hpp"
#include "judge/run_kernel.hpp"

namespace assay::conformance {

template <class Op>
fixtures::CaseRecord recipe(const Case<Op>& c) {
  const std::string command = command_line(c);
  fixtures::CaseRecord record{
      .id = case_id(command),
      .operator_name = std::string(Op::name),
      .entry_point = std::string(spec::to_string(c.entry_point)),
      .product = std::string(spec::to_string(c.product)),
      .command = command,
      .profile = c.profile,
      .track = std::string(spec::to_string(c.track)),
      .seed = c.seed,
      .open_question = sentence_of(Fact(FactKind::several, open_questions(c, call_of(c))))};
  record.problem = fixtures::fields_of(c.problem);
  Case<Op> plain = c;
  plain.variant.clear();
  plain.violate.clear();
  record.call = fixtures::call_fields(call_of(c), call_of(plain));
  return record;
}

template <class Tensors>
std::vector<fixtures::NamedTensor> named_tensors(const Tensors& tensors) {
  std::vector<fixtures::NamedTensor> named;
  visit_tensors(tensors, [&](const char* name, const spec::Tensor& tensor) {
    named.push_back({name, tensor});
  });
  return named;
}

template <class Op>
typename Op::Outputs outputs_from(const Case<Op>& c,
                                  const std::vector<fixtures::NamedTensor>& tensors) {
  typename Op::Outputs outputs = make_outputs(c);
  fixtures::fill(outputs, tensors);
  return outputs;
}

}  // namespace assay::conformance
