#include <cstdint>
#include <string>
#include <vector>

#include "assay/optimized/nsa_compress_grad.hpp"
#include "benchmarks.hpp"
#include "limits.hpp"

namespace assay::bench {
namespace {

using Op = spec::NsaCompressGrad;

/// Returns the measured shapes of NSA compression. The first two are published configurations for
/// keys and for values: windows of 32 tokens, one every 16 tokens, 4 groups of heads. In the last
/// shape, eight windows cover each token.
std::vector<Op::Problem> shapes(std::int64_t seq) {
  std::vector<Op::Problem> all;
  for (const auto& [head_dim, size] : {std::pair{192, 32}, {128, 32}, {128, 128}})
    all.push_back({.heads = 4, .seq = seq, .head_dim = head_dim, .compress_block_size = size});
  return all;
}

std::string name_of(const Op::Problem& p) {
  return std::string(to_string(p.dtype)) + " TND N" + std::to_string(p.heads) + " S" +
         std::to_string(p.seq) + " D" + std::to_string(p.head_dim) + " windows of " +
         std::to_string(p.compress_block_size) + " by " + std::to_string(p.compress_stride);
}

/// Returns the number of floating-point operations of both matrix products. Each pair of a token
/// and a window that covers it needs one multiply-add per channel.
double flop_of(const Op::Problem& p) {
  return 4.0 * static_cast<double>(output_extents(p).rows() * p.compress_block_size * p.head_dim);
}

/// Returns the size of all tensors together (bytes). Each tensor is counted once.
double bytes_of(const Op::Problem& p) {
  const std::int64_t rows = 2 * input_extents(p).rows() + output_extents(p).rows();
  return static_cast<double>(rows * p.head_dim * size_of(p.dtype));
}

spec::Tensor random_tensor(const spec::Parameter& parameter, std::uint32_t seed) {
  spec::Tensor tensor = spec::contiguous_tensor(parameter.dtype, parameter.shape);
  for (std::int64_t k = 0; k < spec::element_count(tensor.shape); ++k) {
    seed = seed * 1664525U + 1013904223U;
    tensor.store(k, static_cast<std::int32_t>(seed) * 0x1p-30);
  }
  return tensor;
}

}  // namespace

void compress_speed(Recorder& recorder, std::size_t runs) {
  const auto implementation = optimized::nsa_compress_grad(device::a2());
  HostLimits limits;
  for (const Op::Problem& p : shapes(65536)) {
    const auto call = call_of(p, spec::CompressEntryPoint::c1, spec::Product::a2,
                              spec::Striding::contiguous, spec::Striding::contiguous);
    const Op::Parameters& t = call.parameters;
    const Op::Inputs inputs = {random_tensor(t.output_grad, 1), random_tensor(t.input, 2),
                               random_tensor(t.weight, 3)};
    Op::Outputs outputs = {random_tensor(t.input_grad, 4), random_tensor(t.weight_grad, 5)};
    const Subject subject{"optimized.nsa_compress_grad", name_of(p)};
    const auto seconds = limits.measure(
        recorder, subject, [&] { implementation->run(p, inputs, outputs); }, flop_of(p),
        bytes_of(p), runs);
    recorder.host_rate(subject, {"rate", "GFLOP/s"}, flop_of(p) * 1e-9, seconds);
    recorder.host_rate(subject, {"tensors", "GB/s"}, bytes_of(p) * 1e-9, seconds);
  }
}

}  // namespace assay::bench
