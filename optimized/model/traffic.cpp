#include "model/traffic.hpp"

#include <algorithm>
#include <sstream>

#include "assay/spec/attention.hpp"
#include "model/block_planner.hpp"

namespace assay::optimized {
namespace {

using device::Bytes;

constexpr std::int64_t vector_cores_per_cube = 2;

/// Returns the memory traffic of the vector cores for one block. Each vector core processes half of
/// the rows, `vector_rows` rows at a time.
Traffic softmax_of(const BlockOperands& of, const BlockPlan& plan) {
  Traffic all;
  const std::int64_t half = device::ceil_divide(plan.rows, vector_cores_per_cube);
  for (std::int64_t first = 0; first < half; first += plan.vector_rows) {
    const std::int64_t rows = std::min(plan.vector_rows, half - first);
    const std::int64_t scores = rows * plan.columns;
    const Bytes scores_and_dprob = {2 * scores * fp32_bytes};
    const Bytes statistics = {3 * rows * spec::statistics_replicas * fp32_bytes};
    all +=
        vector_cores_per_cube * Traffic{.read = scores_and_dprob + statistics + of.features(rows),
                                        .written = {2 * scores * of.element}};
  }
  return all;
}

double number(Bytes bytes) { return static_cast<double>(bytes.count); }

}  // namespace

/// Returns the memory traffic of the operations in the vendor's templates: scores and dP, softmax,
/// then dv, dk and dq.
BlockTraffic traffic_of(const BlockOperands& of, const BlockPlan& plan) {
  const std::int64_t channels = of.head_dim + of.head_dim_rope;
  const auto rows = [&](std::int64_t dim) { return Bytes{of.query_rows * dim * of.element}; };
  const auto keys = [&](std::int64_t dim) { return Bytes{plan.columns * dim * of.element}; };
  const Bytes scores = {plan.rows * plan.columns * fp32_bytes};
  const Bytes staged = {plan.rows * plan.columns * of.element};

  BlockTraffic all;
  all.block = softmax_of(of, plan);
  // Query and dy are read twice: first for scores and dP, then (together with P and dS) for dk and
  // dv.
  all.block.read += 2 * rows(channels) + 2 * rows(of.head_dim_v) + 2 * staged;
  all.block.written += 2 * scores + Bytes{plan.rows * channels * fp32_bytes};
  all.record.written += Bytes{plan.columns * (channels + of.head_dim_v) * fp32_bytes};
  (plan.keys_stay ? all.key_tile : all.block).read += keys(channels) + keys(of.head_dim_v);
  if (!plan.keys_stay) all.block.read += keys(channels);  // the keys are read again for dq
  return all;
}

Traffic operator*(const BlockCounts& counts, const BlockTraffic& traffic) {
  Traffic all = counts.blocks * traffic.block;
  all += counts.records * traffic.record;
  all += counts.key_tiles * traffic.key_tile;
  return all;
}

std::vector<spec::Metric> metrics_of(const Traffic& traffic) {
  return {{"gm_read", number(traffic.read), "B"}, {"gm_written", number(traffic.written), "B"}};
}

std::vector<spec::Metric> metrics_of(const Traffic& traffic, const BlockPlan& plan) {
  std::vector<spec::Metric> metrics = metrics_of(traffic);
  for (const auto& [name, peak] : {std::pair("l1_peak", plan.l1),
                                   {"l0a_peak", plan.l0a},
                                   {"l0b_peak", plan.l0b},
                                   {"l0c_peak", plan.l0c},
                                   {"ub_peak", plan.ub}})
    metrics.push_back({name, number(peak), "B"});
  return metrics;
}

std::string to_text(const Traffic& traffic) {
  std::ostringstream text;
  text << "global memory: " << traffic.read.count << " B read, " << traffic.written.count
       << " B written, including L2 hits\n";
  return text.str();
}

}  // namespace assay::optimized
