#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "assay/engine/blocks/operand.hpp"
#include "assay/spec/layout.hpp"
#include "assay/spec/tensor.hpp"

namespace assay::conformance::attention {

using engine::FloatRow;

/// Reads the rows of an input tensor as float, which represents the numbers of all input types
/// exactly. With rope, the channels of the rope tensor follow those of the main tensor, because
/// every formula sums over both. Keeps references to the tensors.
class InputRows {
 public:
  InputRows(const spec::Tensor& tensor, spec::Layout layout, const spec::Extents& extents);
  InputRows(spec::Tensor&& tensor, spec::Layout layout, const spec::Extents& extents) = delete;
  void add_rope(const spec::Tensor& rope, spec::Layout layout, const spec::Extents& extents);

  /// Returns the number of channels of a row: main channels and rope channels.
  std::int64_t width() const { return width_; }
  std::int64_t length(std::int64_t b) const { return main_.extents().length(b); }
  void read(const spec::RowPosition& row, float* to) const;
  FloatRow row(const spec::RowPosition& row) const;

 private:
  spec::HeadView main_;
  std::optional<spec::HeadView> rope_;
  std::int64_t width_;
};

/// Rows of consecutive heads of one sequence, ordered by head, then by position, as the engine
/// reads them. Keeps a reference to `from`.
class HeadRows final : public engine::RowSource {
 public:
  /// All rows of `heads` heads, beginning with head `first` (b, n).
  HeadRows(const InputRows& from, const spec::RowPosition& first, std::int64_t heads);
  /// The rows with the numbers `chosen` of these heads. Keeps a reference to the numbers.
  HeadRows(const InputRows& from, const spec::RowPosition& first,
           std::span<const std::int64_t> chosen);
  HeadRows(const HeadRows&) = delete;  // rows() refers to the object

  void read(std::int64_t first, std::int64_t count, float* to) const final;
  engine::Rows rows() const;

 private:
  const InputRows& from_;
  spec::RowPosition first_;
  std::int64_t count_;
  std::optional<std::span<const std::int64_t>> chosen_;
};

}  // namespace assay::conformance::attention
