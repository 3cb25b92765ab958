#include <optional>
#include <stdexcept>
#include <vector>

#include "attention/bound/bound.hpp"
#include "attention/exact/exact_case.hpp"
#include "judge/decide.hpp"

namespace assay::conformance::exact {
namespace {

enum class Side : std::uint8_t { query, key, value };

/// Describes one exact tensor: the output tensor that contains it, and its channels there.
struct Place {
  const spec::Tensor* output;
  spec::Extents extents;
  Side side;
  std::int64_t first_channel = 0;  ///< among the channels of the product
};

/// Returns for each exact tensor its output tensor and channels, in the order of `exact_tensors`.
std::vector<Place> places_of(const Op::Problem& p, const attention::GradientTensors& outputs) {
  std::vector<Place> places = {{outputs.dq, query_extents(p), Side::query},
                               {outputs.dk, key_extents(p), Side::key},
                               {outputs.dv, value_extents(p), Side::value}};
  if (p.head_dim_rope == 0) return places;
  if (outputs.dq_rope == nullptr || outputs.dk_rope == nullptr)
    throw std::invalid_argument("compare_exact: the outputs have no rope gradients");
  places.push_back({outputs.dq_rope, query_rope_extents(p), Side::query, p.head_dim});
  places.push_back({outputs.dk_rope, key_rope_extents(p), Side::key, p.head_dim});
  return places;
}

/// Equation E23. Computes residues: the small numbers that a kernel may write where the exact
/// gradient is 0. They come from masked pairs, which may have probabilities up to numerics.floor
/// instead of 0. Each pair is multiplied by the largest number of times that a query can attend to
/// a key.
class Residues {
 public:
  Residues(const Op::Problem& p, const Op::Inputs& inputs, const spec::Numerics& numerics,
           std::int64_t most_times)
      : phi_(numerics.floor * cast_slack * static_cast<double>(most_times)) {
    if (phi_ == 0) return;
    dense_.emplace(p, inputs);
    floor_ = attention::floor_of(*dense_);
  }

  double at(Side side, const spec::RowPosition& row, std::int64_t channel) const {
    if (phi_ == 0) return 0;
    if (side == Side::query) return phi_ * floor_.dq(*dense_, row, channel);
    const Op::Problem& p = dense_->problem;
    const std::int64_t head = row.b * p.heads_kv + row.n;
    const auto of_head = [&](const std::vector<double>& sums, std::int64_t width) {
      return phi_ * sums[static_cast<std::size_t>(head * width + channel)];
    };
    return side == Side::key ? of_head(floor_.dk, dense_->width())
                             : of_head(floor_.dv, p.head_dim_v);
  }

 private:
  /// The kernel rounds a residue (a small number instead of 0) two more times: to the type of its
  /// intermediates, and to the type of the output. The residue may then be slightly larger than its
  /// exact bound.
  static constexpr double cast_slack = 1 + 0x1p-5;

  double phi_;  ///< 0: no residue is computed
  std::optional<attention::Dense> dense_;
  attention::Floor floor_;
};

ExactOutput exact_output(const ExactTensor& tensor, const Place& place, spec::Layout layout,
                         const Residues& residues) {
  const spec::HeadIndex index(*place.output, layout, place.extents);
  const auto element = [index](const spec::RowPosition& row, std::int64_t d) {
    return index(row.b, row.n, row.s, d);
  };
  const auto floor_at = [&residues, side = place.side, first = place.first_channel](
                            const spec::RowPosition& row, std::int64_t d) {
    return residues.at(side, row, first + d);
  };
  return {tensor, place.output, place.extents, element, floor_at};
}

}  // namespace

std::vector<ExactTensor> exact_tensors(const AttentionExactCase& exact_case, const Op::Problem& p) {
  std::vector<ExactTensor> tensors = {{"dq", exact_case.dq, exact_case.query_rows, p.head_dim},
                                      {"dk", exact_case.dk, exact_case.key_rows, p.head_dim},
                                      {"dv", exact_case.dv, exact_case.key_rows, p.head_dim_v}};
  if (p.head_dim_rope == 0) return tensors;
  tensors.push_back({"dq_rope", exact_case.dq_rope, exact_case.query_rows, p.head_dim_rope});
  tensors.push_back({"dk_rope", exact_case.dk_rope, exact_case.key_rows, p.head_dim_rope});
  return tensors;
}

void compare_exact(const AttentionExactCase& exact_case, const Op::Problem& problem,
                   const attention::GradientTensors& outputs, std::int64_t most_times,
                   const spec::Numerics& numerics, CaseReport& report) {
  const Residues residues(problem, exact_case.inputs, numerics, most_times);
  const std::vector<ExactTensor> tensors = exact_tensors(exact_case, problem);
  const std::vector<Place> places = places_of(problem, outputs);
  std::vector<ExactOutput> exact;
  for (std::size_t k = 0; k < tensors.size(); ++k)
    exact.push_back(exact_output(tensors[k], places[k], problem.input_layout, residues));
  judge_exact(exact, numerics, report);
}

}  // namespace assay::conformance::exact
