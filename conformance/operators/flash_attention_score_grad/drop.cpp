#include <stdexcept>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "attention/profiles.hpp"

namespace assay::conformance {
namespace {

using Op = spec::FlashAttentionScoreGrad;

/// Key j of a row of scores.
struct Bit {
  std::int64_t j, seq_kv;
  std::uint64_t chances;  ///< of 2^32: keep_prob, or one half where the bits must not count
  Random row;

  /// True with that probability, bit by bit.
  bool chance() const {
    const auto key = static_cast<std::uint64_t>(j);
    return ((row.bits(key / 2) >> (32 * (key % 2))) & 0xffffffffu) < chances;
  }
};

struct NamedDrop {
  std::string_view name, sentence;
  bool (*keeps)(const Bit& bit);
};

constexpr NamedDrop drops[] = {
    {"random",
     "each score is kept with probability keep_prob, or 1/2 where keep_prob 1 leaves the bits "
     "unused",
     [](const Bit& bit) { return bit.chance(); }},
    {"all_kept", "every score is kept", [](const Bit&) { return true; }},
    {"all_dropped", "every score is dropped", [](const Bit&) { return false; }},
    {"last_bits", "the last key of every row is dropped, the others are kept",
     [](const Bit& bit) { return bit.j != bit.seq_kv - 1; }},
};

const NamedDrop& drop_named(const std::string& name) {
  for (const NamedDrop& pattern : drops)
    if (pattern.name == name) return pattern;
  throw std::invalid_argument("no drop pattern '" + name + "'");
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

std::optional<spec::Tensor> make_drop_mask(const Case<Op>& c) {
  const Op::Problem& p = c.problem;
  if (p.drop_mask == spec::DropMask::absent) return std::nullopt;
  const auto call = spec::call_of(p, c.entry_point, c.product, c.inputs, c.outputs);
  spec::Tensor mask = guarded_tensor(call.parameters.drop_mask);
  const NamedDrop& pattern = drop_named(c.patterns.drop);
  const Places places(c.seed, Stream::drop);
  Bit bit{.j = 0,
          .seq_kv = 0,
          .chances = static_cast<std::uint64_t>((p.has_dropout() ? p.keep_prob : 0.5) * 0x1p32),
          .row = places.head(0, 0)};
  std::int64_t element = 0;
  for (std::int64_t b = 0; b < p.batch; ++b) {
    bit.seq_kv = p.length_kv(b);
    for (std::int64_t n = 0; n < p.heads_q; ++n)
      for (std::int64_t i = 0; i < p.length_q(b); ++i) {
        bit.row = places.row(b, n, i);
        for (bit.j = 0; bit.j < bit.seq_kv; ++bit.j, ++element)
          set_bit(mask, element, pattern.keeps(bit));
      }
  }
  return mask;
}

}  // namespace assay::conformance
