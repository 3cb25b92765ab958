#include "flash_attention_score_grad/block_cost.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "assay/device/core.hpp"

namespace assay::optimized {
namespace {

using device::Bytes;
using device::ceil_divide;
using device::Cycles;
using device::Drain;
using device::Pipe;
using device::Region;
using Problem = spec::FlashAttentionScoreGrad::Problem;

constexpr std::int64_t vector_cores_per_cube = 2;
constexpr std::int64_t fp32_bytes = 4;

/// A product of one block: m x k by k x n, over one or two operands behind each other in k.
struct BlockProduct {
  std::int64_t m, n;
  std::array<std::int64_t, 2> k;
};

/// Sends one block through a cube core and a vector core. What each operation occupies is charged
/// to the block, its record or its key tile.
class BlockRun {
 public:
  BlockRun(const Problem& problem, const Tiling& tiling, const device::Spec& device)
      : p_(problem),
        t_(tiling),
        device_(device),
        element_{spec::size_of(problem.dtype)},
        cube_(device),
        vector_(device) {}

  /// The order of the vendor's templates: scores and dP, softmax, then dv, dk and dq.
  BlockCost run() {
    const std::int64_t r = t_.rows, c = t_.columns, d = p_.head_dim, dv = p_.head_dim_v;
    const Cycles handover = {device_.overheads.handover.value};
    Work& block = cost_.block;
    Work& keys = t_.keys_stay ? cost_.key_tile : block;

    const std::int64_t dr = p_.head_dim_rope;

    Cycles query_key = load(head_rows(r, d), {}, block, load(head_rows(c, d), {}, keys));
    if (dr > 0)
      query_key = load(head_rows(r, dr), {}, block, load(head_rows(c, dr), {}, keys, query_key));
    const Cycles scores = multiply({r, c, {d, dr}}, query_key, block, Drain::store);
    const Cycles dy_value = load(head_rows(r, dv), {}, block, load(head_rows(c, dv), {}, keys));
    const Cycles dprob = multiply({r, c, {dv}}, dy_value, block, Drain::store);
    const Cycles staged = softmax(std::max(scores, dprob) + handover) + handover;

    const Cycles prob_dy = load(head_rows(r, dv), {}, block, load(workspace_tile(), staged, block));
    const Cycles dv_done = multiply({c, dv, {r}}, prob_dy, cost_.record, Drain::atomic_add);
    const Cycles dscore = load(workspace_tile(), staged, block);
    Cycles dq_dk_done;
    for (const std::int64_t dim : {d, dr}) {
      if (dim == 0) continue;
      const Cycles dscore_query = load(head_rows(r, dim), {}, block, dscore);
      const Cycles dk_done = multiply({c, dim, {r}}, dscore_query, cost_.record, Drain::atomic_add);
      const Cycles dscore_key =
          t_.keys_stay ? dscore : load(head_rows(c, dim), {}, block, dscore);
      const Cycles dq_done = multiply({r, dim, {c}}, dscore_key, block, Drain::atomic_add);
      dq_dk_done = std::max({dq_dk_done, dk_done, dq_done});
    }
    cost_.alone = std::max(dv_done, dq_dk_done);
    return cost_;
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

  /// Charges what `issue` occupies; returns what it returns.
  template <class Issue>
  Cycles charge(Work& work, const Issue& issue) {
    const std::array<Cycles, device::pipe_count> before = busy();
    const Cycles end = issue();
    const std::array<Cycles, device::pipe_count> after = busy();
    for (std::size_t pipe = 0; pipe < after.size(); ++pipe)
      work.busy[pipe] += after[pipe] - before[pipe];
    return end;
  }

  std::array<Cycles, device::pipe_count> busy() const {
    std::array<Cycles, device::pipe_count> cycles;
    for (std::size_t pipe = 0; pipe < cycles.size(); ++pipe)
      cycles[pipe] = cube_.timeline().busy(static_cast<Pipe>(pipe)) +
                     vector_.timeline().busy(static_cast<Pipe>(pipe));
    return cycles;
  }

  /// Ends when the region and `other` are there.
  Cycles load(const Region& region, Cycles ready, Work& work, Cycles other = {}) {
    work.read += region.total();
    return std::max(other, charge(work, [&] { return cube_.load(region, ready); }));
  }

  /// The matrix steps are the block's; the drain may be its record's.
  Cycles multiply(const BlockProduct& product, Cycles loaded, Work& drained, Drain kind) {
    Cycles end;
    for (std::int64_t n = 0; n < product.n; n += t_.slice) {
      const std::int64_t columns = std::min(t_.slice, product.n - n);
      const Cycles summed = charge(cost_.block, [&] {
        Cycles at = loaded;
        for (const std::int64_t whole : product.k)
          for (std::int64_t k = 0; k < whole; k += t_.l0_depth)
            at = step(product.m, columns, std::min(t_.l0_depth, whole - k), loaded);
        return at;
      });
      const Bytes size = {product.m * columns * fp32_bytes};
      drained.written += size;
      end = charge(drained, [&] { return cube_.drain(size, kind, summed); });
    }
    return end;
  }

  Cycles step(std::int64_t m, std::int64_t n, std::int64_t k, Cycles loaded) {
    cube_.load_l0a(m * k * element_, loaded);
    const Cycles ready = cube_.load_l0b(n * k * element_, loaded);
    return cube_.multiply({.m = m, .n = n, .k = k, .element = element_}, ready);
  }

  /// One vector core does half of the rows; the other does as much at the same time.
  Cycles softmax(Cycles ready) {
    const std::int64_t rows = ceil_divide(t_.rows, vector_cores_per_cube);
    Cycles end;
    for (std::int64_t first = 0; first < rows; first += t_.vector_rows)
      end = charge(cost_.block,
                   [&] { return softmax_rows(std::min(t_.vector_rows, rows - first), ready); });
    return end;
  }

  Cycles softmax_rows(std::int64_t rows, Cycles ready) {
    const std::int64_t scores = rows * t_.columns;
    const Bytes fp32 = {scores * fp32_bytes};
    const std::int64_t statistics = 3 * rows * spec::statistics_replicas * fp32_bytes;
    Bytes in = {2 * fp32.count + statistics + bias_bytes(rows)};
    if (masked()) in.count += scores;
    if (p_.has_dropout()) in.count += ceil_divide(scores, 8);
    const Bytes out = 2 * (scores * element_);
    cost_.block.read += vector_cores_per_cube * in;
    cost_.block.written += vector_cores_per_cube * out;

    Cycles at = vector_.load(in, ready);
    for (const auto* operation : operations()) at = vector_.compute(*operation, fp32, at);
    return vector_.store(out, at);
  }

  bool masked() const { return p_.atten_mask != spec::MaskShape::absent; }

  /// Slopes are one number; a bias of one row is loaded once for all rows.
  std::int64_t bias_bytes(std::int64_t rows) const {
    const std::int64_t row = t_.columns * spec::size_of(pse_dtype(p_));
    switch (p_.pse_shift) {
      case spec::PseShape::absent:
        return 0;
      case spec::PseShape::slopes_n:
      case spec::PseShape::slopes_bn:
        return fp32_bytes;
      case spec::PseShape::bn1s:
      case spec::PseShape::packed_bn1s:
        return row;
      default:
        return rows * row;
    }
  }

  /// The vector instructions over a tile of scores.
  std::vector<const device::VectorCost*> operations() const {
    const auto& v = device_.vector;
    std::vector<const device::VectorCost*> all = {&v.muls, &v.sub, &v.exp, &v.div, &v.sub, &v.mul};
    if (p_.pse_shift != spec::PseShape::absent) {
      if (pse_dtype(p_) != spec::DType::fp32) all.push_back(&v.cast_to_fp32);
      // The table of distances is shifted, made absolute and multiplied by the slope.
      if (p_.pse_type >= 2) all.insert(all.end(), 3, &v.muls);
      if (p_.pse_type == 3) all.push_back(&v.sqrt);
      all.push_back(&v.add);
    }
    if (masked()) all.push_back(&v.select);
    if (p_.has_dropout())
      for (int factor = 0; factor < 2; ++factor) all.insert(all.end(), {&v.select, &v.muls});
    if (p_.dtype != spec::DType::fp32) all.insert(all.end(), 2, &v.cast_to_16bit);
    return all;
  }

  const Problem& p_;
  const Tiling& t_;
  const device::Spec& device_;
  Bytes element_;
  device::CubeCore cube_;
  device::VectorCore vector_;
  BlockCost cost_;
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
  return BlockRun(problem, tiling, device).run();
}

}  // namespace assay::optimized
