#include <algorithm>
#include <stdexcept>
#include <vector>

#include "assay/conformance/attention/flash.hpp"
#include "assay/conformance/inputs/random.hpp"
#include "assay/spec/attention.hpp"
#include "attention/mask_ends.hpp"
#include "attention/profiles.hpp"

namespace assay::conformance::attention::flash {
namespace {

using Problem = spec::AttentionProblem;

/// One element of a mask with seq_q rows and seq_kv columns: query i and key j.
struct Cell {
  std::int64_t i, j, seq_q, seq_kv;
  Random row;    ///< for this row of this slice
  Random slice;  ///< for this slice
  static constexpr std::uint64_t no_columns = ~std::uint64_t{0};
  mutable std::uint64_t eight = no_columns, bits = 0;  ///< the last eight columns, and their bits

  std::int64_t diagonal() const { return i + seq_kv - seq_q; }
  /// Returns true with probability chances / 256, independently for each mask element.
  bool chance(std::uint64_t chances) const {
    const auto column = static_cast<std::uint64_t>(j);
    if (column / 8 != eight) bits = row.bits(column / 8);
    eight = column / 8;
    return ((bits >> (8 * (column % 8))) & 0xff) < chances;
  }
  void move_to(std::int64_t to_row, const Random& of_row) {
    i = to_row, row = of_row, eight = no_columns;
  }
};

struct NamedMask {
  std::string_view name, sentence;
  bool (*excludes)(const Cell& cell);
};

bool random_cells(const Cell& c) { return c.chance(64); }

bool sparse_cells(const Cell& c) {
  constexpr std::uint64_t beyond_every_column = ~std::uint64_t{0};
  return c.j != c.row.integer(beyond_every_column, 0, c.seq_kv - 1) && !c.chance(16);
}

bool outside_document(const Cell& c) {
  const std::int64_t length = c.slice.integer(0, 5, 48);
  return c.i / length != c.j / length;
}

constexpr NamedMask masks[] = {
    {"random", "each key is excluded with probability 1/4", random_cells},
    {"open", "nothing is excluded", [](const Cell&) { return false; }},
    {"causal",
     "keys after the diagonal that starts at the first query and the first key are excluded",
     [](const Cell& c) { return c.j > c.i; }},
    {"causal_right",
     "keys after the diagonal that ends at the last query and the last key are excluded",
     [](const Cell& c) { return c.j > c.diagonal(); }},
    {"band",
     "keys at most seq_kv / 8 + 1 away from the diagonal that ends at the last query and the last "
     "key are visible",
     [](const Cell& c) {
       const std::int64_t distance = c.j - c.diagonal(), reach = c.seq_kv / 8 + 1;
       return distance > reach || distance < -reach;
     }},
    {"dead_rows",
     "on average every third row excludes all keys; the other rows exclude a quarter of them",
     [](const Cell& c) {
       return c.slice.bits(static_cast<std::uint64_t>(c.i) + 1) % 3 == 0 || c.chance(64);
     }},
    {"all_dead", "every key is excluded from every row", [](const Cell&) { return true; }},
    {"checker", "keys are visible where i + j is even",
     [](const Cell& c) { return (c.i + c.j) % 2 != 0; }},
    {"sparse", "a key is visible with probability 1/16; one key of every row is always visible",
     sparse_cells},
    {"documents", "packed sequences: keys of the same block of 5 to 48 tokens are visible",
     outside_document},
    {"padding", "a tail of up to half of the keys is excluded from every row",
     [](const Cell& c) { return c.j >= c.slice.integer(0, (c.seq_kv + 1) / 2, c.seq_kv); }},
};

const NamedMask& mask_named(const std::string& name) {
  for (const NamedMask& pattern : masks)
    if (pattern.name == name) return pattern;
  throw std::invalid_argument("unknown mask pattern '" + name + "'");
}

/// Gives access to the elements of a mask tensor by slice (b, n), query i and key j.
class Cells {
 public:
  explicit Cells(spec::Tensor& mask) : mask_(mask), rank_(mask.shape.size()) {}

  std::int64_t batches() const { return rank_ == 2 ? 1 : mask_.shape[0]; }
  std::int64_t heads() const { return rank_ == 2 ? 1 : mask_.shape[1]; }
  /// Sets every mask element (i, j) of the slice (b, n) to `excluded(i, j)`.
  template <class Excluded>
  void fill(std::int64_t b, std::int64_t n, Excluded&& excluded) {
    const spec::Shape& stride = mask_.strides;
    const std::int64_t first = place(b, n);
    for (std::int64_t i = 0; i < mask_.shape[rank_ - 2]; ++i)
      for (std::int64_t j = 0; j < mask_.shape[rank_ - 1]; ++j)
        mask_.bytes[static_cast<std::size_t>(first + i * stride[rank_ - 2] +
                                             j * stride[rank_ - 1])] = std::byte{excluded(i, j)};
  }

  /// In every row i, masks the keys from index `closed(i)` on and leaves the keys before it
  /// visible.
  template <class Closed>
  void fill_ends(std::int64_t b, std::int64_t n, const Closed& closed) {
    std::vector<std::int64_t> ends;
    for (std::int64_t i = 0; i < mask_.shape[rank_ - 2]; ++i) ends.push_back(closed(i));
    conformance::fill_ends({mask_.bytes.data() + place(b, n), mask_.shape[rank_ - 1],
                            mask_.strides[rank_ - 2], mask_.strides[rank_ - 1]},
                           ends);
  }

 private:
  std::int64_t place(std::int64_t b, std::int64_t n) const {
    const spec::Shape& stride = mask_.strides;
    return mask_.offset + (rank_ == 2 ? 0 : b * stride[0] + n * stride[1]);
  }

  spec::Tensor& mask_;
  std::size_t rank_;
};

/// Fills the mask with the pattern. In sparse mode 0 it also masks all elements outside the window.
void fill_pattern(Cells& cells, std::int64_t b, std::int64_t n, const Problem& p,
                  const NamedMask& pattern, std::uint64_t seed) {
  const DrawnPlaces places(seed, Stream::mask);
  Cell cell{.i = -1,
            .j = 0,
            .seq_q = p.seq_q,
            .seq_kv = p.seq_kv,
            .row = places.head(b, n),
            .slice = places.head(b, n)};
  cells.fill(b, n, [&](std::int64_t i, std::int64_t j) {
    if (i != cell.i) cell.move_to(i, places.row(b, n, i));
    cell.j = j;
    const bool outside = p.sparse_mode == 0 && (j < i - p.pre_tokens || j > i + p.next_tokens);
    return outside || pattern.excludes(cell);
  });
}

/// Fills the mask of a call in mode 5 that also has a prefix. Mask and prefix describe the same
/// visible keys: row i sees the keys of the prefix, and the keys up to the diagonal that ends at
/// the last query and the last key.
void fill_prefix(Cells& cells, std::int64_t b, std::int64_t n, const Problem& p) {
  const std::int64_t visible = p.prefix[static_cast<std::size_t>(b)];
  const std::int64_t diagonal = p.length_kv(b) - p.length_q(b);
  cells.fill_ends(b, n, [&](std::int64_t i) { return std::max(visible, i + diagonal + 1); });
}

/// The number of visible columns in the mask rows that serve the prefix of mode 6.
constexpr std::int64_t open_columns = 1024;

/// Fills a compressed mask: the causal triangle of the sparse modes, and after it the rows that
/// mode 6 uses for the prefix.
void fill_compressed(Cells& cells, std::int64_t b, std::int64_t n) {
  cells.fill_ends(
      b, n, [](std::int64_t i) { return i < spec::compressed_mask_edge ? i + 1 : open_columns; });
}

}  // namespace

std::span<const InputProfile> mask_patterns() {
  static const auto named = [] {
    std::vector<InputProfile> entries;
    for (const NamedMask& pattern : masks) entries.push_back({pattern.name, pattern.sentence});
    return entries;
  }();
  return named;
}

std::optional<spec::Tensor> mask_of(const spec::Parameter& parameter, const Problem& p,
                                    const std::string& pattern, std::uint64_t seed) {
  if (p.atten_mask == spec::MaskShape::absent) return std::nullopt;
  spec::Tensor mask = guarded_tensor(parameter);
  Cells cells(mask);
  for (std::int64_t b = 0; b < cells.batches(); ++b)
    for (std::int64_t n = 0; n < cells.heads(); ++n) {
      if (is_compressed(p.atten_mask))
        fill_compressed(cells, b, n);
      else if (p.sparse_mode == 5 && !p.prefix.empty())
        fill_prefix(cells, b, n, p);
      else
        fill_pattern(cells, b, n, p, mask_named(pattern), seed);
    }
  return mask;
}

}  // namespace assay::conformance::attention::flash
