#include <bit>
#include <cmath>

#include "tile/body.hpp"

namespace assay::optimized::tile {
namespace {

struct Portable {
  struct Vector {
    float lane[lanes];
  };
  struct Bits {
    std::uint32_t lane[lanes];
  };
  static constexpr int block_rows = 4, block_vectors = 1, held_groups = 2;

  template <class Result, class Function, class... Operands>
  static Result each(const Function& function, const Operands&... operands) {
    Result result;
    for (std::int64_t l = 0; l < lanes; ++l) result.lane[l] = function(operands.lane[l]...);
    return result;
  }
  template <class Result, class Function>
  static Result made(const Function& function) {
    Result result;
    for (std::int64_t l = 0; l < lanes; ++l) result.lane[l] = function(l);
    return result;
  }

  static Vector load(const float* from) {
    return made<Vector>([&](std::int64_t l) { return from[l]; });
  }
  static void store(float* to, const Vector& x) {
    for (std::int64_t l = 0; l < lanes; ++l) to[l] = x.lane[l];
  }
  static Vector broadcast(float x) {
    return made<Vector>([&](std::int64_t) { return x; });
  }
  static Vector fma(const Vector& x, const Vector& y, const Vector& z) {
    return each<Vector>([](float a, float b, float c) { return std::fma(a, b, c); }, x, y, z);
  }
  static Vector add(const Vector& x, const Vector& y) {
    return each<Vector>([](float a, float b) { return a + b; }, x, y);
  }
  static Vector subtract(const Vector& x, const Vector& y) {
    return each<Vector>([](float a, float b) { return a - b; }, x, y);
  }
  static Vector multiply(const Vector& x, const Vector& y) {
    return each<Vector>([](float a, float b) { return a * b; }, x, y);
  }
  static Vector divide(const Vector& x, const Vector& y) {
    return each<Vector>([](float a, float b) { return a / b; }, x, y);
  }
  static Vector min(const Vector& x, const Vector& y) {
    return each<Vector>([](float a, float b) { return a < b ? a : b; }, x, y);
  }
  static Vector max(const Vector& x, const Vector& y) {
    return each<Vector>([](float a, float b) { return a > b ? a : b; }, x, y);
  }

  static Bits bits(const Vector& x) {
    return each<Bits>([](float a) { return std::bit_cast<std::uint32_t>(a); }, x);
  }
  static Vector number(const Bits& x) {
    return each<Vector>([](std::uint32_t a) { return std::bit_cast<float>(a); }, x);
  }
  static Bits fill(std::uint32_t x) {
    return made<Bits>([&](std::int64_t) { return x; });
  }
  static Bits plus(const Bits& x, const Bits& y) {
    return each<Bits>([](std::uint32_t a, std::uint32_t b) { return a + b; }, x, y);
  }
  static Bits minus(const Bits& x, const Bits& y) {
    return each<Bits>([](std::uint32_t a, std::uint32_t b) { return a - b; }, x, y);
  }
  static Bits both(const Bits& x, const Bits& y) {
    return each<Bits>([](std::uint32_t a, std::uint32_t b) { return a & b; }, x, y);
  }
  static Bits either(const Bits& x, const Bits& y) {
    return each<Bits>([](std::uint32_t a, std::uint32_t b) { return a | b; }, x, y);
  }
  static Bits half(const Bits& x) {
    return each<Bits>([](std::uint32_t a) { return a >> 1 | (a & 0x80000000U); }, x);
  }
  template <int count>
  static Bits shift_left(const Bits& x) {
    return each<Bits>([](std::uint32_t a) { return a << count; }, x);
  }
  template <int count>
  static Bits shift_right(const Bits& x) {
    return each<Bits>([](std::uint32_t a) { return a >> count; }, x);
  }
  static Bits where_greater(const Bits& x, const Bits& y, const Bits& yes, const Bits& no) {
    return each<Bits>(
        [](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
          return static_cast<std::int32_t>(a) > static_cast<std::int32_t>(b) ? c : d;
        },
        x, y, yes, no);
  }
  static Bits load_bytes(const std::uint8_t* from) {
    return made<Bits>([&](std::int64_t l) { return std::uint32_t{from[l]}; });
  }
  static Bits load_words(const std::uint16_t* from) {
    Bits words;
    for (std::int64_t l = 0; l < lanes; ++l) {
      std::uint16_t word;
      __builtin_memcpy(&word, from + l, sizeof word);
      words.lane[l] = word;
    }
    return words;
  }
  static void store_words(std::uint16_t* to, const Bits& x) {
    for (std::int64_t l = 0; l < lanes; ++l) {
      const auto word = static_cast<std::uint16_t>(x.lane[l]);
      __builtin_memcpy(to + l, &word, sizeof word);
    }
  }
  static void stream(float* to, const Vector& x) { store(to, x); }
  static void stream_words(std::uint16_t* to, const Bits& x) { store_words(to, x); }
  static Vector load_fp16(const std::uint16_t* from) {
    return each<Vector>(
        [](std::uint32_t code) {
          const std::uint32_t sign = (code & 0x8000U) << 16, magnitude = code & 0x7FFFU;
          if (magnitude > 0x7C00U)
            return std::bit_cast<float>(sign | 0x7FC00000U | magnitude << 13);
          if (magnitude == 0x7C00U) return std::bit_cast<float>(sign | 0x7F800000U);
          if (magnitude >= 0x0400U)
            return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000U));
          const float value = static_cast<float>(magnitude) * 0x1p-24F;
          return sign == 0 ? value : -value;
        },
        load_words(from));
  }
};

}  // namespace

constinit const Kernels portable_kernels = kernels_of<Portable>();

}  // namespace assay::optimized::tile
