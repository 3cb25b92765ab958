#pragma once

#include <cstdint>
#include <vector>

#include "assay/conformance/attention/exact_case.hpp"
#include "attention/exact/group.hpp"

namespace assay::conformance::exact {

/// Writes the input tensors of an exact case, one key head at a time. Errors: NoExactCase if the
/// element type cannot represent a number.
class Writer {
 public:
  Writer(const AttentionCase& c, const ExactPlan& plan, const Sides& sides);

  void write(const Group& group);
  /// Returns the input tensors, without the mask.
  Op::Inputs take() && { return std::move(inputs_); }

 private:
  struct Place {
    std::int64_t b, n, s;
  };
  /// A tensor, and the function that returns the storage index of an element.
  struct Target {
    spec::Tensor* tensor;
    spec::HeadIndex index;
  };
  Target target(spec::Tensor& tensor, const spec::Extents& extents) const;
  void write_row(const Target& target, const Place& place, std::span<const std::int32_t> row,
                 double unit);
  /// Writes row_.
  void write_row(const Target& target, const Place& place);
  void write_split(const Target& main, std::size_t rope, const Place& place,
                   std::span<const std::int32_t> row, double unit);
  void write_statistics(const Place& place, const Choice& choice);
  void write_output(const Place& place, const Row& row, const Matrix& value);
  std::int64_t statistics_element(const spec::Tensor& tensor, const Place& place) const;

  const ExactPlan* plan_;
  std::uint64_t seed_;
  const Dropout* dropout_;
  double query_unit_, kept_factor_;
  Op::Inputs inputs_;
  spec::Extents queries_;
  Target query_, key_, value_, dy_, output_;
  std::vector<Target> rope_;          ///< of query and key, if there are any
  std::vector<double> row_, stored_;  ///< the row that is written, and the same row as read back
};

}  // namespace assay::conformance::exact
