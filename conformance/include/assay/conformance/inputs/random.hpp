#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay::conformance {

/// The random generator Philox4x64-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as
/// easy as 1, 2, 3", 2011) with the key (seed, stream). Block i encrypts the counter (i + 1,
/// place), as numpy's Philox(key, counter=[0, *place]) does. Every value depends only on seed,
/// stream, place and i, not on threads, order, layout or machine.
class Random {
 public:
  using Block = std::array<std::uint64_t, 4>;
  /// The three upper words of the counter of the generator. They encode a position in a tensor.
  using Place = std::array<std::uint64_t, 3>;

  constexpr Random(std::uint64_t seed, std::uint64_t stream, Place place = {})
      : key_{seed, stream}, place_(place) {}

  /// Returns a generator with the same key for another position in the tensor. Generators of
  /// different positions share no numbers.
  constexpr Random at(Place place) const { return {key_[0], key_[1], place}; }

  constexpr Block block(std::uint64_t index) const {
    Block x = {index + 1, place_[0], place_[1], place_[2]};
    std::uint64_t k0 = key_[0], k1 = key_[1];
    for (int round = 0; round < 10; ++round) {
      const Product a = product(0xd2e7470ee14c6c93u, x[0]), b = product(0xca5a826395121157u, x[2]);
      x = {b.high ^ x[1] ^ k0, b.low, a.high ^ x[3] ^ k1, a.low};
      k0 += 0x9e3779b97f4a7c15u;
      k1 += 0xbb67ae8584caa73bu;
    }
    return x;
  }
  /// Returns the first 64-bit word of block `index`.
  constexpr std::uint64_t bits(std::uint64_t index) const { return block(index)[0]; }
  /// Returns a uniform random number in [0, 1), a multiple of 2^-53.
  constexpr double uniform(std::uint64_t index) const {
    return static_cast<double>(bits(index) >> 11) * 0x1p-53;
  }
  /// Uniform in first..last.
  constexpr std::int64_t integer(std::uint64_t index, std::int64_t first, std::int64_t last) const {
    const auto span = static_cast<std::uint64_t>(last - first) + 1;
    return first + static_cast<std::int64_t>(bits(index) % span);
  }
  /// Returns a nearly normal random number (mean 0, standard deviation 1): the sum of the twelve
  /// 16-bit numbers in the first three words of the block, minus the mean of such a sum, times
  /// 2^-16.
  [[gnu::always_inline]] constexpr double normal(std::uint64_t index) const {
    const Block words = block(index);
    constexpr std::uint64_t every_other = 0x0000ffff0000ffff;
    std::uint64_t sums = 0;  // each half sums six numbers
    for (std::size_t word = 0; word < 3; ++word)
      sums += (words[word] & every_other) + (words[word] >> 16 & every_other);
    const auto sum = static_cast<std::int64_t>((sums & 0xffffffff) + (sums >> 32));
    return static_cast<double>(sum - 12 * 32768 + 6) * 0x1p-16;
  }

 private:
  struct Product {
    std::uint64_t high, low;
  };
  static constexpr Product product(std::uint64_t a, std::uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide both = static_cast<Wide>(a) * b;
    return {static_cast<std::uint64_t>(both >> 64), static_cast<std::uint64_t>(both)};
  }

  std::array<std::uint64_t, 2> key_;
  Place place_;
};

/// The random streams: one for each tensor. All input profiles (distributions of values) use the
/// same streams.
enum class Stream : std::uint64_t {
  query,
  key,
  value,
  dy,
  mask,
  exact_case,
  sampling,
  query_rope,
  key_rope,
  pse,
  drop,
  input,
  weight,
  lists,
  statistics
};

/// Returns the number of the random stream for a tensor that is not in the enumeration `Stream`.
constexpr Stream stream_named(std::string_view tensor) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : tensor)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  return static_cast<Stream>(hash | 1u << 31);  // not in the list
}

/// Returns the random generator of one stream. Different streams of a seed share no numbers.
constexpr Random stream(std::uint64_t seed, Stream which) {
  return {seed, static_cast<std::uint64_t>(which)};
}

}  // namespace assay::conformance
