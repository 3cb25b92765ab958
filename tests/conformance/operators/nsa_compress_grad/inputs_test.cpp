#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "assay/fixtures/record.hpp"
#include "assay/reference/nsa_compress_grad.hpp"
#include "compression/problem.hpp"

namespace assay::conformance {
namespace {

using Op = spec::NsaCompressGrad;
using CompressCase = Case<Op>;

CompressCase small_case(spec::DType dtype, std::string profile) {
  CompressCase c{.problem = {.dtype = dtype, .heads = 3, .head_dim = 32},
                 .profile = std::move(profile)};
  compression::set_lengths(c.problem, {0, 130, 20, 64});
  return c;
}

TEST(CompressInputs, DoNotDependOnStrides) {
  CompressCase c = small_case(spec::DType::bf16, "normal");
  const Op::Inputs plain = make_inputs(c);
  for (const auto striding : {spec::Striding::padded, spec::Striding::transposed}) {
    c.inputs = striding;
    const Op::Inputs strided = make_inputs(c);
    EXPECT_EQ(fixtures::digest(strided.input), fixtures::digest(plain.input));
    EXPECT_EQ(fixtures::digest(strided.output_grad), fixtures::digest(plain.output_grad));
    EXPECT_EQ(fixtures::digest(strided.weight), fixtures::digest(plain.weight));
    EXPECT_NE(strided.weight.strides, plain.weight.strides);
  }
}

TEST(CompressInputs, EveryProfileIsNamedAndDiffers) {
  std::set<std::string> digests;
  for (const InputProfile& profile : Suite<Op>::profiles()) {
    const Op::Inputs inputs = make_inputs(small_case(spec::DType::bf16, std::string(profile.name)));
    digests.insert(fixtures::digest(inputs.output_grad) + fixtures::digest(inputs.input) +
                   fixtures::digest(inputs.weight));
  }
  EXPECT_EQ(digests.size(), Suite<Op>::profiles().size());
  EXPECT_THROW(make_inputs(small_case(spec::DType::bf16, "peaked")), std::invalid_argument);
}

TEST(CompressInputs, OneHotHasOneElementOfEachSequenceAndHead) {
  const CompressCase c = small_case(spec::DType::bf16, "one_hot");
  const Op::Inputs inputs = make_inputs(c);
  double sum = 0;
  for (const std::int64_t e : spec::viewed_elements(inputs.output_grad))
    sum += inputs.output_grad.load(e);
  EXPECT_EQ(sum, 2 * 3);
}

TEST(CompressInputs, GradientsOfFp16StayFinite) {
  for (const InputProfile& profile : Suite<Op>::profiles()) {
    CompressCase c{.problem = {.dtype = spec::DType::fp16,
                               .batch = 1,
                               .heads = 1,
                               .seq = 2000,
                               .head_dim = 64},
                   .profile = std::string(profile.name)};
    const auto oracle = reference::NsaCompressGrad<double>::from(c.problem, make_inputs(c));
    double largest = 0;
    for (std::int64_t w = 0; w < 32; ++w)
      largest = std::max(largest, std::abs(oracle.weight_grad(w, 0)));
    EXPECT_LT(largest, 65504) << profile.name;
    EXPECT_GT(largest, 0) << profile.name;
  }
}

TEST(CompressInputs, OutputsArePoisoned) {
  CompressCase c = small_case(spec::DType::fp16, "normal");
  c.outputs = spec::Striding::padded;
  const Op::Outputs outputs = make_outputs(c);
  for (const spec::Tensor* tensor : {&outputs.input_grad, &outputs.weight_grad})
    for (std::size_t byte = 0; byte < tensor->bytes.size(); ++byte)
      EXPECT_EQ(tensor->bytes[byte], byte % 2 == 0 ? std::byte{0x25} : std::byte{0x7e});
}

}  // namespace
}  // namespace assay::conformance
