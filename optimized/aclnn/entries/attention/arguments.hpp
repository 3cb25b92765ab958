#pragma once

#include <cstdint>
#include <utility>

#include "aclnn/entries/arguments.hpp"
#include "assay/spec/attention.hpp"
#include "assay/spec/tensor.hpp"

/// Attributes and tensors that the calls of dense attention and of its gradient have in common.
namespace assay::aclnn {

/// Returns the attributes that the calls of dense attention and of its gradient have in common.
template <class Attributes>
Attributes attention_attributes(const Arguments& given) {
  Attributes attributes;
  attributes.scale_value = given.number("scaleValue");
  attributes.keep_prob = given.number("keepProb");
  attributes.pre_tokens = given.integer("preTokens");
  attributes.next_tokens = given.integer("nextTokens");
  attributes.head_num = given.integer("headNum");
  attributes.input_layout = given.text("inputLayout");
  attributes.inner_precise = given.integer("innerPrecise");
  attributes.sparse_mode = given.integer("sparseMode");
  attributes.pse_type = given.integer("pseType", 1);
  return attributes;
}

/// For the layout TND: hides the tokens after the last sequence from the kernel. Shortens the shape
/// of a tensor but keeps all its bytes. In an output tensor, the remaining bytes are zeros.
class TokensOfSequences {
 public:
  explicit TokensOfSequences(const spec::AttentionProblem& problem)
      : is_packed_(is_packed(problem.input_layout)),
        queries_(query_extents(problem).tokens()),
        keys_(key_extents(problem).tokens()) {}

  spec::Tensor queries(spec::Tensor tensor) const { return first(std::move(tensor), queries_); }
  spec::Tensor keys(spec::Tensor tensor) const { return first(std::move(tensor), keys_); }

 private:
  spec::Tensor first(spec::Tensor tensor, std::int64_t tokens) const {
    if (is_packed_) tensor.shape.front() = tokens;
    return tensor;
  }

  bool is_packed_;
  std::int64_t queries_, keys_;
};

}  // namespace assay::aclnn
