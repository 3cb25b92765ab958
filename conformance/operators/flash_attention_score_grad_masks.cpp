#include <algorithm>
#include <stdexcept>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/conformance/random.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;

/// Query i and key j of one slice of a mask of seq_q x seq_kv.
struct Cell {
  std::int64_t i, j, seq_q, seq_kv;
  Random row;    ///< of this row of this slice
  Random slice;  ///< of this slice

  std::int64_t diagonal() const { return i + seq_kv - seq_q; }
  /// True with probability chances / 256, cell by cell.
  bool chance(std::uint64_t chances) const {
    const auto column = static_cast<std::uint64_t>(j);
    return ((row.bits(column / 8) >> (8 * (column % 8))) & 0xff) < chances;
  }
};

struct Pattern {
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

constexpr Pattern patterns[] = {
    {"random", "each key is excluded with probability 1/4", random_cells},
    {"open", "nothing is excluded", [](const Cell&) { return false; }},
    {"causal", "keys after the diagonal that starts left-up are excluded",
     [](const Cell& c) { return c.j > c.i; }},
    {"causal_right", "keys after the diagonal that ends right-down are excluded",
     [](const Cell& c) { return c.j > c.diagonal(); }},
    {"band", "keys within seq_kv / 8 + 1 of the right-down diagonal take part",
     [](const Cell& c) {
       const std::int64_t distance = c.j - c.diagonal(), reach = c.seq_kv / 8 + 1;
       return distance > reach || distance < -reach;
     }},
    {"dead_rows", "every third row, on average, excludes all keys, the others a quarter",
     [](const Cell& c) {
       return c.slice.bits(static_cast<std::uint64_t>(c.i) + 1) % 3 == 0 || c.chance(64);
     }},
    {"all_dead", "every key is excluded from every row", [](const Cell&) { return true; }},
    {"checker", "keys take part where i + j is even",
     [](const Cell& c) { return (c.i + c.j) % 2 != 0; }},
    {"sparse", "a key takes part with probability 1/16, and one key of every row for certain",
     sparse_cells},
    {"documents", "packed sequences: keys of the same block of 5 to 48 tokens take part",
     outside_document},
    {"padding", "a tail of up to half of the keys is excluded from every row",
     [](const Cell& c) { return c.j >= c.slice.integer(0, (c.seq_kv + 1) / 2, c.seq_kv); }},
};

const Pattern& pattern_of(const std::string& name) {
  for (const Pattern& pattern : patterns)
    if (pattern.name == name) return pattern;
  throw std::invalid_argument("no mask pattern '" + name + "'");
}

/// Slices are numbered over the batches and heads that the mask tells apart.
void fill_slice(spec::Tensor& mask, std::int64_t first_element, std::uint64_t slice,
                const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  const Pattern& pattern = pattern_of(c.mask);
  const std::int64_t row_stride = mask.strides[mask.strides.size() - 2];
  const std::int64_t column_stride = mask.strides.back();
  const Random random = stream(c.seed, Stream::mask);
  const auto substream = [&](std::uint64_t index) {
    return Random(random.bits(slice << 32 | index), static_cast<std::uint64_t>(Stream::mask));
  };
  Cell cell{.i = 0,
            .j = 0,
            .seq_q = p.seq_q,
            .seq_kv = p.seq_kv,
            .row = substream(0),
            .slice = substream(0)};
  for (cell.i = 0; cell.i < p.seq_q; ++cell.i) {
    cell.row = substream(static_cast<std::uint64_t>(cell.i) + 1);
    for (cell.j = 0; cell.j < p.seq_kv; ++cell.j) {
      const bool outside =
          p.sparse_mode == 0 && (cell.j < cell.i - p.pre_tokens || cell.j > cell.i + p.next_tokens);
      const auto at = first_element + cell.i * row_stride + cell.j * column_stride;
      mask.bytes[static_cast<std::size_t>(at)] = std::byte{outside || pattern.excludes(cell)};
    }
  }
}

void fill_compressed(spec::Tensor& mask) {
  for (std::int64_t i = 0; i < spec::compressed_mask_edge; ++i)
    for (std::int64_t j = 0; j < spec::compressed_mask_edge; ++j) {
      const auto at = mask.offset + i * mask.strides[0] + j * mask.strides[1];
      mask.bytes[static_cast<std::size_t>(at)] = std::byte{j > i};
    }
}

}  // namespace

std::span<const InputProfile> mask_patterns() {
  static const auto named = [] {
    std::vector<InputProfile> entries;
    for (const Pattern& pattern : patterns) entries.push_back({pattern.name, pattern.sentence});
    return entries;
  }();
  return named;
}

std::optional<spec::Tensor> make_mask(const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  if (p.atten_mask == spec::MaskShape::absent) return std::nullopt;
  const auto call = spec::call_of(p, c.surface, c.product, c.inputs, c.outputs);
  spec::Tensor mask = guarded_tensor(call.parameters.atten_mask);
  if (p.atten_mask == spec::MaskShape::compressed) {
    fill_compressed(mask);
    return mask;
  }
  const bool rank_two = mask.shape.size() == 2;
  const std::int64_t batches = rank_two ? 1 : mask.shape[0], heads = rank_two ? 1 : mask.shape[1];
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t n = 0; n < heads; ++n) {
      const std::int64_t first =
          rank_two ? mask.offset : mask.offset + b * mask.strides[0] + n * mask.strides[1];
      fill_slice(mask, first, static_cast<std::uint64_t>(b * 256 + n), c);
    }
  return mask;
}

}  // namespace assay::conformance
