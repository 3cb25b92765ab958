#include "attention/joined_rows.hpp"

namespace assay::optimized {

void JoinedRows::read(const RowSpan& rows, const Tile& to) const {
  rows_.read(rows, to);
  if (rope_) rope_->read(rows, rope_part(to));
}

void JoinedRows::read_stored(const RowSpan& rows, const TileOf<std::uint32_t>& to) const {
  rows_.read_stored(rows, to, 0);
  if (rope_) rope_->read_stored(rows, to, rows_.dim());
}

void JoinedRows::write(const RowSpan& rows, const Tile& from, float scale,
                       const Destination& to) const {
  rows_.write(rows, from, scale, *to.rows);
  if (rope_) rope_->write(rows, rope_part(from), scale, **to.rope);
}

}  // namespace assay::optimized
