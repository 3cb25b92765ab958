#pragma once

#include <cstdint>
#include <string_view>

namespace assay::conformance {

/// A counter-based generator: every value is a pure function of (seed, stream, index), without libm
/// and without state, so that it does not depend on threads, order, layout or machine.
class Random {
 public:
  constexpr Random(std::uint64_t seed, std::uint64_t stream)
      : key_(mix(seed + 0x9e3779b97f4a7c15u * (stream + 1))) {}

  constexpr std::uint64_t bits(std::uint64_t index) const {
    return mix(key_ + 0x9e3779b97f4a7c15u * (index + 1));
  }
  /// Uniform in [0, 1), a multiple of 2^-53.
  constexpr double uniform(std::uint64_t index) const {
    return static_cast<double>(bits(index) >> 11) * 0x1p-53;
  }
  /// Uniform in first..last.
  constexpr std::int64_t integer(std::uint64_t index, std::int64_t first, std::int64_t last) const {
    const auto span = static_cast<std::uint64_t>(last - first) + 1;
    return first + static_cast<std::int64_t>(bits(index) % span);
  }
  /// Close to normal (mean 0, deviation 1): the centred sum of twelve 16-bit uniforms; a multiple
  /// of 2^-16.
  constexpr double normal(std::uint64_t index) const {
    std::int64_t sum = 0;
    for (std::uint64_t word = 0; word < 3; ++word)
      for (std::uint64_t b = bits(3 * index + word), k = 0; k < 4; ++k, b >>= 16)
        sum += static_cast<std::int64_t>(b & 0xffff);
    return static_cast<double>(sum - 12 * 32768 + 6) * 0x1p-16;
  }

 private:
  static constexpr std::uint64_t mix(std::uint64_t x) {  // splitmix64's finaliser
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  std::uint64_t key_;
};

/// Streams of the tensors: the same in every profile.
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

/// The stream of a tensor that the list above does not know.
constexpr Stream stream_named(std::string_view tensor) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char letter : tensor)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  return static_cast<Stream>(hash | 1u << 31);  // none of those listed
}

/// Random numbers that no other stream of the seed shares.
constexpr Random stream(std::uint64_t seed, Stream which) {
  return {seed, static_cast<std::uint64_t>(which)};
}

}  // namespace assay::conformance
