#include "flash_attention_score_grad/block_cost.hpp"

#include <algorithm>
#include <cmath>

namespace assay::optimized {
namespace {

using device::Bytes;
using device::ceil_divide;
using device::Drain;
using device::Mmad;
using device::Pipe;
using device::Region;
using Problem = spec::FlashAttentionScoreGrad::Problem;

constexpr std::int64_t vector_cores_per_cube = 2;
constexpr std::int64_t fp32_bytes = 4;

/// A product of one block: m x k by k x n.
struct BlockProduct {
  std::int64_t m, n, k;
};

class Costs {
 public:
  Costs(const Problem& problem, const Tiling& tiling, const device::Spec& device)
      : p_(problem), t_(tiling), device_(device), element_{spec::size_of(problem.dtype)} {}

  BlockCost all() const {
    const std::int64_t r = t_.rows, c = t_.columns;
    BlockCost cost;
    Work& block = cost.block;
    for (const BlockProduct& product : {BlockProduct{r, c, p_.head_dim},
                                        {r, c, p_.head_dim_v},
                                        {c, p_.head_dim_v, r},
                                        {c, p_.head_dim, r},
                                        {r, p_.head_dim, c}})
      multiply(product, block);
    // Scores: query and dy against key and value. Gradients: P and dy, dS and query, the same dS
    // and key.
    Work& keys = t_.keys_stay ? cost.key_tile : block;
    load(head_rows(r, p_.head_dim), block);
    load(head_rows(c, p_.head_dim), keys);
    load(head_rows(r, p_.head_dim_v), block);
    load(head_rows(c, p_.head_dim_v), keys);
    load(workspace_tile(), block);
    load(head_rows(r, p_.head_dim_v), block);
    load(workspace_tile(), block);
    load(head_rows(r, p_.head_dim), block);
    if (!t_.keys_stay) load(head_rows(c, p_.head_dim), block);
    drain(2 * r * c, Drain::store, block);
    drain(r * p_.head_dim, Drain::atomic_add, block);
    drain(c * (p_.head_dim + p_.head_dim_v), Drain::atomic_add, cost.record);
    softmax(block);
    return cost;
  }

 private:
  /// Rows of one head in global memory: adjacent in BNSD, and in any layout of a single head.
  Region head_rows(std::int64_t rows, std::int64_t dim) const {
    const bool single = p_.heads_q == 1 && (p_.input_layout != spec::Layout::sbh || p_.batch == 1);
    return {.rows = rows,
            .row = dim * element_,
            .contiguous = p_.input_layout == spec::Layout::bnsd || single};
  }
  Region workspace_tile() const { return {.rows = t_.rows, .row = t_.columns * element_}; }

  void multiply(const BlockProduct& product, Work& work) const {
    for (std::int64_t n = 0; n < product.n; n += t_.slice)
      for (std::int64_t k = 0; k < product.k; k += t_.l0_depth) {
        const std::int64_t columns = std::min(t_.slice, product.n - n);
        const std::int64_t depth = std::min(t_.l0_depth, product.k - k);
        work.on(Pipe::mte1) += l1_to_l0a(device_, product.m * depth * element_) +
                               l1_to_l0b(device_, columns * depth * element_);
        work.on(Pipe::cube) +=
            mmad(device_, {.m = product.m, .n = columns, .k = depth, .element = element_});
      }
  }

  void load(const Region& region, Work& work) const {
    work.on(Pipe::cube_mte2) += gm_to_l1_transfer(device_, region);
    work.read += region.total();
  }

  void drain(std::int64_t numbers, Drain kind, Work& work) const {
    const Bytes size = {numbers * fp32_bytes};
    work.on(Pipe::fixpipe) += fixpipe(device_, size, kind);
    work.written += size;
  }

  void softmax(Work& work) const {
    const std::int64_t rows = ceil_divide(t_.rows, vector_cores_per_cube);
    for (std::int64_t first = 0; first < rows; first += t_.vector_rows)
      softmax_rows(std::min(t_.vector_rows, rows - first), work);
  }

  /// One vector core; the other does as much at the same time.
  void softmax_rows(std::int64_t rows, Work& work) const {
    const std::int64_t scores = rows * t_.columns;
    const Bytes fp32 = {scores * fp32_bytes};
    const bool masked = p_.atten_mask != spec::MaskShape::absent;
    const auto& v = device_.vector;
    const auto compute = [&](const device::VectorCost& operation) {
      work.on(Pipe::vector) += vector(device_, operation, fp32);
    };
    for (const auto* operation : {&v.muls, &v.sub, &v.exp, &v.div, &v.sub, &v.mul})
      compute(*operation);
    if (masked) compute(v.select);
    if (p_.dtype != spec::DType::fp32)
      for (int staged = 0; staged < 2; ++staged) compute(v.cast_to_16bit);
    const std::int64_t statistics = 3 * rows * spec::statistics_replicas * fp32_bytes;
    const Bytes in = {2 * fp32.count + statistics + (masked ? scores : 0)};
    const Bytes out = 2 * (scores * element_);
    work.on(Pipe::vector_mte2) += gm_to_ub_transfer(device_, in);
    work.on(Pipe::mte3) += ub_to_gm_transfer(device_, out);
    work.read += vector_cores_per_cube * in;
    work.written += vector_cores_per_cube * out;
  }

  const Problem& p_;
  const Tiling& t_;
  const device::Spec& device_;
  Bytes element_;
};

Bytes scaled(double times, Bytes size) {
  return {static_cast<std::int64_t>(std::llround(times * static_cast<double>(size.count)))};
}

}  // namespace

Work& Work::operator+=(const Work& other) {
  for (std::size_t pipe = 0; pipe < busy.size(); ++pipe) busy[pipe] += other.busy[pipe];
  read += other.read;
  written += other.written;
  return *this;
}

Work operator*(double times, const Work& work) {
  Work product;
  for (std::size_t pipe = 0; pipe < work.busy.size(); ++pipe)
    product.busy[pipe] = times * work.busy[pipe];
  product.read = scaled(times, work.read);
  product.written = scaled(times, work.written);
  return product;
}

BlockCost block_cost(const Problem& problem, const Tiling& tiling, const device::Spec& device) {
  return Costs(problem, tiling, device).all();
}

}  // namespace assay::optimized
