#include "model/block_cost.hpp"

#include <algorithm>
#include <cmath>

#include "assay/device/core.hpp"
#include "assay/spec/attention.hpp"
#include "model/block_planner.hpp"

namespace assay::optimized {
namespace {

using device::Bytes;
using device::ceil_divide;
using device::Cycles;
using device::Drain;
using device::Pipe;
using device::Region;

constexpr std::int64_t vector_cores_per_cube = 2;

/// A product of one block: m x k by k x n, over one or two operands behind each other in k.
struct BlockProduct {
  std::int64_t m, n;
  std::array<std::int64_t, 2> k;
};

/// Sends one block through a cube core and a vector core. What each operation occupies is charged
/// to the block, its record or its key tile.
class BlockRun {
 public:
  BlockRun(const BlockTraffic& traffic, const BlockPlan& plan, const device::Spec& device)
      : traffic_(traffic),
        t_(plan),
        device_(device),
        element_(traffic.element),
        cube_(device),
        vector_(device) {}

  /// The order of the vendor's templates: scores and dP, softmax, then dv, dk and dq.
  BlockCost run() {
    const std::int64_t r = t_.rows, c = t_.columns;
    const std::int64_t d = traffic_.head_dim, dr = traffic_.head_dim_rope, dv = traffic_.head_dim_v;
    const Cycles handover = {device_.overheads.handover.value};
    Work& block = cost_.block;
    Work& keys = t_.keys_stay ? cost_.key_tile : block;

    Cycles query_key = load(queries(d), {}, block, load(key_rows(d), {}, keys));
    if (dr > 0) query_key = load(queries(dr), {}, block, load(key_rows(dr), {}, keys, query_key));
    const Cycles scores = multiply({r, c, {d, dr}}, query_key, block, Drain::store);
    const Cycles dy_value = load(queries(dv), {}, block, load(key_rows(dv), {}, keys));
    const Cycles dprob = multiply({r, c, {dv}}, dy_value, block, Drain::store);
    const Cycles staged = softmax(std::max(scores, dprob) + handover) + handover;

    const Cycles prob_dy = load(queries(dv), {}, block, load(workspace_tile(), staged, block));
    const Cycles dv_done = multiply({c, dv, {r}}, prob_dy, cost_.record, Drain::atomic_add);
    const Cycles dscore = load(workspace_tile(), staged, block);
    Cycles dq_dk_done;
    for (const std::int64_t dim : {d, dr}) {
      if (dim == 0) continue;
      const Cycles dscore_query = load(queries(dim), {}, block, dscore);
      const Cycles dk_done = multiply({c, dim, {r}}, dscore_query, cost_.record, Drain::atomic_add);
      const Cycles dscore_key = t_.keys_stay ? dscore : load(key_rows(dim), {}, block, dscore);
      const Cycles dq_done = multiply({r, dim, {c}}, dscore_key, block, Drain::atomic_add);
      dq_dk_done = std::max({dq_dk_done, dk_done, dq_done});
    }
    cost_.alone = std::max(dv_done, dq_dk_done);
    return cost_;
  }

 private:
  Region queries(std::int64_t dim) const { return traffic_.query_rows(dim); }
  Region key_rows(std::int64_t dim) const { return traffic_.key_rows(dim); }
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
    const Bytes statistics = {3 * rows * spec::statistics_replicas * fp32_bytes};
    const Bytes in = 2 * fp32 + statistics + traffic_.features(rows);
    const Bytes out = 2 * (scores * element_);
    cost_.block.read += vector_cores_per_cube * in;
    cost_.block.written += vector_cores_per_cube * out;

    Cycles at = vector_.load(in, ready);
    for (const auto* operation : operations()) at = vector_.compute(*operation, fp32, at);
    return vector_.store(out, at);
  }

  /// The vector instructions over a tile of scores.
  std::vector<const device::VectorCost*> operations() const {
    const auto& v = device_.vector;
    std::vector<const device::VectorCost*> all = {&v.muls, &v.sub, &v.exp, &v.div, &v.sub, &v.mul};
    all.insert(all.end(), traffic_.operations.begin(), traffic_.operations.end());
    if (element_.count != fp32_bytes) all.insert(all.end(), 2, &v.cast_to_16bit);
    return all;
  }

  const BlockTraffic& traffic_;
  const BlockPlan& t_;
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

BlockCost block_cost(const BlockTraffic& traffic, const BlockPlan& plan,
                     const device::Spec& device) {
  return BlockRun(traffic, plan, device).run();
}

}  // namespace assay::optimized
