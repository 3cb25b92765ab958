#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "assay/reference/nsa_compress_grad.hpp"
#include "judge/relations/relation.hpp"

namespace assay::conformance {
namespace compress {

using Op = spec::NsaCompressGrad;

/// For each input row, window and weight of a trial, the position from which it is copied.
struct Origins {
  Origin input, window, weight;
};

}  // namespace compress

struct compress::RelationParts : PlainRelationParts<compress::Op> {
  using Op = compress::Op;
  using Rows = reference::CompressOperands<double>;
  using Origins = compress::Origins;

  static std::span<const Operand<Op>> operands();
  static std::span<const Gradient<Op>> gradients();
  static std::vector<const Relation<Op>*> relations();
  static Rows rows_of(const Op::Problem& problem, const Op::Inputs& inputs) {
    return reference::operands_of<double>(problem, inputs);
  }
  static Trial<Op> rearranged(const Trial<Op>& base, const Op::Problem& problem,
                              const Origins& origins);
  /// 0, because the bounds cost less than a run.
  static double cost_of_bounds(const Op::Problem&) { return 0; }
};

namespace compress {

using Trial = conformance::Trial<Op>;
using Experiment = conformance::Experiment<Op>;
using Relation = conformance::Relation<Op>;
using Piece = conformance::Piece<Op>;

/// Relations that scale or add the numbers.
std::span<const Relation> arithmetic_relations();
/// Relations that permute or omit parts of the call, or run them alone.
std::span<const Relation> rearranging_relations();

}  // namespace compress
}  // namespace assay::conformance
