#include "attention/features.hpp"

#include "model/block_planner.hpp"

namespace assay::optimized {
namespace {

using Problem = spec::AttentionProblem;
using device::VectorCosts;
using schedules::Features;

constexpr std::int64_t byte = 8;

/// Adds the modelled cost of the position bias. A slope is one number per tile; a bias with a
/// single row is loaded once per tile.
void add_bias(const Problem& p, Features& features) {
  if (p.pse_shift == spec::PseShape::absent) return;
  const std::int64_t stored = spec::size_of(pse_dtype(p));
  switch (p.pse_shift) {
    case spec::PseShape::slopes_n:
    case spec::PseShape::slopes_bn:
      features.tile_bytes = fp32_bytes;
      break;
    case spec::PseShape::bn1s:
    case spec::PseShape::packed_bn1s:
      features.column_bytes = stored;
      break;
    default:
      features.score_bits += byte * stored;
  }
  auto& operations = features.of_scores;
  features.held.push_back({"bias", byte * fp32_bytes});
  if (pse_dtype(p) != spec::DType::fp32) {
    operations.push_back(&VectorCosts::cast_to_fp32);
    features.held.push_back({"stored bias", byte * spec::size_of(p.dtype)});
  }
  // A slope costs three instructions: shift the table of distances, take absolute values, multiply
  // by the slope.
  if (p.pse_type >= 2) operations.insert(operations.end(), 3, &VectorCosts::muls);
  if (p.pse_type == 3) operations.push_back(&VectorCosts::sqrt);
  operations.push_back(&VectorCosts::add);
  features.tensors.count += spec::element_count(pse_shape(p)) * stored;
}

void add_mask(const Problem& p, Features& features) {
  if (p.atten_mask == spec::MaskShape::absent) return;
  features.score_bits += byte;
  features.of_scores.push_back(&VectorCosts::select);
  features.held.insert(features.held.begin(), {"mask", byte});
  features.tensors.count += spec::element_count(mask_shape(p));
}

/// Adds the modelled cost of dropout: one select and one division by keep_prob for dP, and the same
/// for the dropped P, from which dv is computed.
void add_dropout(const Problem& p, Features& features) {
  if (!p.has_dropout()) return;
  features.score_bits += 1;
  for (auto* operations : {&features.of_scores, &features.of_dprob})
    operations->insert(operations->end(), {&VectorCosts::select, &VectorCosts::muls});
  features.held.push_back({"drop bits", 1});
  features.held.push_back({"dropped prob", byte * fp32_bytes});
  features.tensors.count += device::ceil_divide(score_count(p), byte);
}

/// Adds the modelled cost of the sink gradients. Each tile computes P dP and adds its sum over the
/// keys to one number per row. A final pass reads these numbers and the softmax statistics.
void add_sink(const Problem& p, Features& features) {
  if (!p.has_sink()) return;
  features.of_dprob.insert(features.of_dprob.end(), {&VectorCosts::mul, &VectorCosts::row_sum});
  features.held.push_back({"P dP", byte * fp32_bytes});
  features.row_bytes_stored += fp32_bytes;
  features.tensors.count += 2 * p.heads_q * fp32_bytes;  // sink and dsink
  features.last_pass.count =
      dy_extents(p).rows() * (1 + 2 * spec::statistics_replicas) * fp32_bytes;
}

}  // namespace

Features features_of(const Problem& problem) {
  Features features;
  add_bias(problem, features);
  add_mask(problem, features);
  add_dropout(problem, features);
  add_sink(problem, features);
  return features;
}

}  // namespace assay::optimized
