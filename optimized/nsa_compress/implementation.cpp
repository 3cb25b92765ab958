#include <algorithm>

#include "assay/optimized/nsa_compress.hpp"
#include "assay/parallel/loop.hpp"
#include "host/threads.hpp"
#include "model/compression.hpp"
#include "nsa_compress/checks.hpp"
#include "operands/rows.hpp"
#include "tile/dispatch.hpp"

namespace assay::optimized {
namespace {

using Op = spec::NsaCompress;

/// Returns the cumulative lengths of the sequences, one number for each sequence.
std::vector<std::int64_t> sums_of(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> sums;
  for (const std::int64_t length : lengths)
    sums.push_back(length + (sums.empty() ? 0 : sums.back()));
  return sums;
}

/// One run of the compression. A unit of work is one head of one sequence.
class Windowed {
 public:
  Windowed(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs,
           const tile::Kernels& kernels)
      : problem_(problem),
        counts_(counts_of(problem)),
        weight_(inputs.weight),
        output_(outputs.output),
        tokens_(inputs.input, spec::Layout::tnd, extents_of(problem, lengths_of(problem)), kernels),
        windows_(outputs.output, spec::Layout::tnd, extents_of(problem, counts_), kernels) {}

  std::int64_t units() const { return problem_.batch * problem_.heads; }
  std::int64_t windows() const { return sums_of(counts_).back(); }

  void compute(std::int64_t unit) {
    const std::int64_t b = unit / problem_.heads, n = unit % problem_.heads,
                       size = problem_.compress_block_size, dim = problem_.head_dim;
    const std::vector<float> weights = weights_of(n);
    Floats storage;
    const Tile tokens = {.at = storage.reserve((size + 1) * padded(dim)), .stride = padded(dim)};
    float* sums = tokens.row(size);
    for (std::int64_t i = 0; i < counts_[static_cast<std::size_t>(b)]; ++i) {
      tokens_.read({.b = b, .n = n, .first = i * problem_.compress_stride, .count = size}, tokens);
      std::fill_n(sums, dim, 0.0F);
      for (std::int64_t w = 0; w < size; ++w) {
        const float weight = weights[static_cast<std::size_t>(w)];
        const float* token = tokens.row(w);
        for (std::int64_t c = 0; c < dim; ++c) sums[c] += weight * token[c];
      }
      windows_.write({.b = b, .n = n, .first = i, .count = 1}, {.at = sums, .stride = padded(dim)},
                     1, output_);
    }
  }

 private:
  static std::vector<std::int64_t> lengths_of(const Op::Problem& p) {
    std::vector<std::int64_t> lengths;
    for (std::int64_t b = 0; b < p.batch; ++b) lengths.push_back(p.length(b));
    return lengths;
  }
  static std::vector<std::int64_t> counts_of(const Op::Problem& p) {
    std::vector<std::int64_t> counts;
    for (const std::int64_t length : lengths_of(p))
      counts.push_back(length < p.compress_block_size
                           ? 0
                           : (length - p.compress_block_size) / p.compress_stride + 1);
    return counts;
  }
  static spec::Extents extents_of(const Op::Problem& p, const std::vector<std::int64_t>& lengths) {
    return {.batch = p.batch,
            .heads = p.heads,
            .seq = *std::ranges::max_element(lengths),
            .dim = p.head_dim,
            .ends = sums_of(lengths)};
  }
  std::vector<float> weights_of(std::int64_t n) const {
    std::vector<float> weights;
    for (std::int64_t w = 0; w < problem_.compress_block_size; ++w)
      weights.push_back(static_cast<float>(
          weight_.load(weight_.offset + w * weight_.strides[0] + n * weight_.strides[1])));
    return weights;
  }

  const Op::Problem& problem_;
  std::vector<std::int64_t> counts_;  ///< of windows, one for each sequence
  const spec::Tensor& weight_;
  spec::Tensor& output_;
  Rows tokens_, windows_;
};

class NsaCompress final : public spec::Implementation<Op> {
 public:
  NsaCompress(const device::Spec& device, const Options& options)
      : name_("optimized-" + device.name),
        threads_(options.threads),
        kernels_(tile::kernels_of_any_cpu(options)) {}

  std::string name() const override { return name_; }

  spec::Numerics numerics(const Op::Problem&) const override {
    return {.stage = spec::DType::fp32,
            .round_out = spec::Rounding::rna,
            .overflow = spec::Overflow::inf,
            .accumulator = spec::Accumulator::fp32,
            .order = spec::Order::fixed};
  }

  void check(const spec::Call<Op>& call) const override {
    forward_compression::refuse_unless_legal(call);
  }

  void run(const Op::Problem& problem, const Op::Inputs& inputs, Op::Outputs& outputs) override {
    if (outputs.output.empty()) return;
    Windowed windowed(problem, inputs, outputs, kernels_);
    const double flop =
        2.0 * static_cast<double>(windowed.windows()) *
        static_cast<double>(problem.compress_block_size * problem.heads * problem.head_dim);
    parallel::for_each(
        windowed.units(), [&](std::int64_t unit) { windowed.compute(unit); },
        optimized::threads_for(threads_, slower_than_products * flop, windowed.units()));
  }

 private:
  /// Cost of a multiply-add in memory-bound code, relative to a multiply-add in a matrix product.
  static constexpr double slower_than_products = 10;

  std::string name_;
  int threads_;
  const tile::Kernels& kernels_;
};

/// Returns the problem in the terms of the model. Errors: NothingToCut.
schedules::Compression modelled(const Op::Problem& problem) {
  const auto compression = compression_of(problem, schedules::Direction::forward);
  if (compression.windows() == 0) throw NothingToCut("the problem has no full window");
  return compression;
}

}  // namespace

std::unique_ptr<spec::Implementation<Op>> nsa_compress(const device::Spec& device,
                                                       Options options) {
  return std::make_unique<NsaCompress>(device, options);
}

std::string Tiled<Op>::plan(const Op::Problem& problem, const device::Spec& device) {
  return schedules::report(modelled(problem), device);
}

std::string Tiled<Op>::trace(const Op::Problem& problem, const device::Spec& device) {
  return schedules::trace(modelled(problem), device);
}

}  // namespace assay::optimized
