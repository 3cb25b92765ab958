#pragma once

#include <optional>

#include "operands/rows.hpp"

namespace assay::optimized {

/// Reads rows with channels in two tensors: first the channels of query or key (or of their
/// gradients), then the rope channels, if present. In a tile, both parts form one row, so that one
/// chain of fused multiply-adds adds all their products.
class JoinedRows {
 public:
  JoinedRows(Rows rows, std::optional<Rows> rope) : rows_(rows), rope_(rope) {}

  void read(const RowSpan& rows, const Tile& to) const;
  void read_stored(const RowSpan& rows, const TileOf<std::uint32_t>& to) const;

  struct Destination {
    spec::Tensor* rows;
    std::optional<spec::Tensor>* rope;
  };
  /// As Rows::write.
  void write(const RowSpan& rows, const Tile& from, float scale, const Destination& to) const;

 private:
  Tile rope_part(const Tile& tile) const { return {tile.at + rows_.dim(), tile.stride}; }

  Rows rows_;
  std::optional<Rows> rope_;
};

}  // namespace assay::optimized
