#include <stdexcept>

#include "assay/conformance/attention/flash.hpp"
#include "attention/profiles.hpp"

namespace assay::conformance::attention::flash {
namespace {

/// Describes one dropout bit: key j in one row of scores.
struct Bit {
  std::int64_t j, seq_kv;
  double keep_prob;
  Random row;

  /// Returns true with probability `share`, independently for each key.
  bool chance(double share) const {
    const auto key = static_cast<std::uint64_t>(j);
    return ((row.bits(key / 2) >> (32 * (key % 2))) & 0xffffffffu) < chances(share);
  }
  /// Returns true with probability `share`, with the same result for all keys of the row.
  bool chance_of_row(double share) const {
    constexpr std::uint64_t beyond_every_key = ~std::uint64_t{0};
    return (row.bits(beyond_every_key) & 0xffffffffu) < chances(share);
  }

 private:
  static std::uint64_t chances(double share) { return static_cast<std::uint64_t>(share * 0x1p32); }
};

struct NamedDrop {
  std::string_view name, sentence;
  bool (*keeps)(const Bit& bit);
};

/// Returns whether dropout keeps the key. On average a row drops (1 - keep_prob) Skv keys. The last
/// key has priority: if this average is 1 or more, it is always dropped.
bool keeps_but_last(const Bit& bit) {
  const double dropped = (1 - bit.keep_prob) * static_cast<double>(bit.seq_kv);
  if (bit.j == bit.seq_kv - 1) return dropped < 1 && bit.chance(1 - dropped);
  return dropped <= 1 || bit.chance(1 - (dropped - 1) / static_cast<double>(bit.seq_kv - 1));
}

constexpr NamedDrop drops[] = {
    {"random", "each score is kept with probability keep_prob",
     [](const Bit& bit) { return bit.chance(bit.keep_prob); }},
    {"whole_rows",
     "with probability keep_prob all scores of a query are kept; otherwise all its scores are "
     "dropped",
     [](const Bit& bit) { return bit.chance_of_row(bit.keep_prob); }},
    {"last_bits", "the last key of a row is dropped first, others as keep_prob requires",
     keeps_but_last},
    {"all_kept", "every score is kept, for any keep_prob", [](const Bit&) { return true; }},
    {"all_dropped", "every score is dropped, for any keep_prob below 1",
     [](const Bit&) { return false; }},
};

const NamedDrop& drop_named(const std::string& name) {
  for (const NamedDrop& pattern : drops)
    if (pattern.name == name) return pattern;
  throw std::invalid_argument("unknown drop pattern '" + name + "'");
}

void set_bit(spec::Tensor& mask, std::int64_t element, bool kept) {
  std::byte& byte = mask.bytes[static_cast<std::size_t>(mask.offset + element / 8)];
  const auto bit = std::byte{1} << (element % 8);
  byte = kept ? byte | bit : byte & ~bit;
}

}  // namespace

std::span<const InputProfile> drop_patterns() {
  static const auto named = [] {
    std::vector<InputProfile> entries;
    for (const NamedDrop& pattern : drops) entries.push_back({pattern.name, pattern.sentence});
    return entries;
  }();
  return named;
}

std::optional<spec::Tensor> drop_mask_of(const spec::Parameter& parameter,
                                         const spec::AttentionProblem& p, const std::string& name,
                                         std::uint64_t seed) {
  if (p.drop_mask == spec::DropMask::absent) return std::nullopt;
  spec::Tensor mask = guarded_tensor(parameter);
  const NamedDrop& pattern = drop_named(name);
  const DrawnPlaces places(seed, Stream::drop);
  Bit bit{.j = 0, .seq_kv = 0, .keep_prob = p.keep_prob, .row = places.head(0, 0)};
  std::int64_t element = 0;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    bit.seq_kv = p.length_kv(b);
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i) {
        bit.row = places.row(b, n, i);
        for (bit.j = 0; bit.j < bit.seq_kv; ++bit.j, ++element)
          set_bit(mask, element, !p.has_dropout() || pattern.keeps(bit));
      }
  }
  return mask;
}

}  // namespace assay::conformance::attention::flash
