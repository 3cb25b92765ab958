#include "operators/nsa_compress_grad/plan/sampling.hpp"
#include "plan/breaking_calls.hpp"
#include "plan/varied_calls.hpp"

namespace assay::conformance::compress {
namespace {

using Op = spec::NsaCompressGrad;

/// Returns legal calls that cover all conditions of requirements.
std::vector<CompressCase> legal_calls() {
  std::vector<CompressCase> calls;
  const auto add = [&](spec::DType dtype, std::int64_t size, std::int64_t stride,
                       std::vector<std::int64_t> lengths) {
    CompressCase c{.track = Track::arguments};
    c.problem = {.dtype = dtype,
                 .heads = 3,
                 .head_dim = 32,
                 .compress_block_size = size,
                 .compress_stride = stride};
    set_lengths(c.problem, std::move(lengths));
    calls.push_back(std::move(c));
  };
  add(spec::DType::bf16, 32, 16, {100, 100});
  add(spec::DType::fp16, 64, 16, {0, 128, 144});
  add(spec::DType::bf16, 48, 32, {200});
  add(spec::DType::fp16, 32, 16, {33, 7, 70});
  return calls;
}

}  // namespace

std::vector<CompressCase> violation_cases() { return breaking_cases<Op>({legal_calls()}); }

std::vector<CompressCase> variant_cases() { return varied_cases<Op>({legal_calls()}); }

}  // namespace assay::conformance::compress
