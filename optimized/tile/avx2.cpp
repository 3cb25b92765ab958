#include <immintrin.h>

#include "tile/body.hpp"

namespace assay::optimized::tile {
namespace {

struct Avx2 {
  struct Vector {
    __m256 low, high;
  };
  struct Bits {
    __m256i low, high;
  };
  static constexpr int block_rows = 6, block_vectors = 1, held_groups = 7;

  static Vector load(const float* from) {
    return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)};
  }
  static void store(float* to, Vector x) {
    _mm256_storeu_ps(to, x.low);
    _mm256_storeu_ps(to + 8, x.high);
  }
  static Vector broadcast(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  static Vector fma(Vector x, Vector y, Vector z) {
    return {_mm256_fmadd_ps(x.low, y.low, z.low), _mm256_fmadd_ps(x.high, y.high, z.high)};
  }
  static Vector add(Vector x, Vector y) {
    return {_mm256_add_ps(x.low, y.low), _mm256_add_ps(x.high, y.high)};
  }
  static Vector subtract(Vector x, Vector y) {
    return {_mm256_sub_ps(x.low, y.low), _mm256_sub_ps(x.high, y.high)};
  }
  static Vector multiply(Vector x, Vector y) {
    return {_mm256_mul_ps(x.low, y.low), _mm256_mul_ps(x.high, y.high)};
  }
  static Vector divide(Vector x, Vector y) {
    return {_mm256_div_ps(x.low, y.low), _mm256_div_ps(x.high, y.high)};
  }
  static Vector min(Vector x, Vector y) {
    return {_mm256_min_ps(x.low, y.low), _mm256_min_ps(x.high, y.high)};
  }
  static Vector max(Vector x, Vector y) {
    return {_mm256_max_ps(x.low, y.low), _mm256_max_ps(x.high, y.high)};
  }

  static Bits bits(Vector x) { return {_mm256_castps_si256(x.low), _mm256_castps_si256(x.high)}; }
  static Vector number(Bits x) { return {_mm256_castsi256_ps(x.low), _mm256_castsi256_ps(x.high)}; }
  static Bits fill(std::uint32_t x) {
    const __m256i all = _mm256_set1_epi32(static_cast<int>(x));
    return {all, all};
  }
  static Bits plus(Bits x, Bits y) {
    return {_mm256_add_epi32(x.low, y.low), _mm256_add_epi32(x.high, y.high)};
  }
  static Bits minus(Bits x, Bits y) {
    return {_mm256_sub_epi32(x.low, y.low), _mm256_sub_epi32(x.high, y.high)};
  }
  static Bits both(Bits x, Bits y) {
    return {_mm256_and_si256(x.low, y.low), _mm256_and_si256(x.high, y.high)};
  }
  static Bits either(Bits x, Bits y) {
    return {_mm256_or_si256(x.low, y.low), _mm256_or_si256(x.high, y.high)};
  }
  static Bits half(Bits x) { return {_mm256_srai_epi32(x.low, 1), _mm256_srai_epi32(x.high, 1)}; }
  template <int count>
  static Bits shift_left(Bits x) {
    return {_mm256_slli_epi32(x.low, count), _mm256_slli_epi32(x.high, count)};
  }
  template <int count>
  static Bits shift_right(Bits x) {
    return {_mm256_srli_epi32(x.low, count), _mm256_srli_epi32(x.high, count)};
  }
  static Bits where_greater(Bits x, Bits y, Bits yes, Bits no) {
    return {_mm256_blendv_epi8(no.low, yes.low, _mm256_cmpgt_epi32(x.low, y.low)),
            _mm256_blendv_epi8(no.high, yes.high, _mm256_cmpgt_epi32(x.high, y.high))};
  }
  static Bits load_bytes(const std::uint8_t* from) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return {_mm256_cvtepu8_epi32(bytes), _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8))};
  }
  static Bits load_words(const std::uint16_t* from) {
    const auto* const words = reinterpret_cast<const __m128i*>(from);
    return {_mm256_cvtepu16_epi32(_mm_loadu_si128(words)),
            _mm256_cvtepu16_epi32(_mm_loadu_si128(words + 1))};
  }
  static void store_words(std::uint16_t* to, Bits x) {
    const __m256i halves = _mm256_packus_epi32(x.low, x.high);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permute4x64_epi64(halves, 0xD8));
  }
  static void stream(float* to, Vector x) {
    _mm_stream_ps(to, _mm256_castps256_ps128(x.low));
    _mm_stream_ps(to + 4, _mm256_extractf128_ps(x.low, 1));
    _mm_stream_ps(to + 8, _mm256_castps256_ps128(x.high));
    _mm_stream_ps(to + 12, _mm256_extractf128_ps(x.high, 1));
  }
  static void stream_words(std::uint16_t* to, Bits x) {
    const __m256i packed = _mm256_packus_epi32(x.low, x.high);
    const __m256i words = _mm256_permute4x64_epi64(packed, 0xD8);
    auto* const halves = reinterpret_cast<__m128i*>(to);
    _mm_stream_si128(halves, _mm256_castsi256_si128(words));
    _mm_stream_si128(halves + 1, _mm256_extracti128_si256(words, 1));
  }
  static Vector load_fp16(const std::uint16_t* from) {
    const auto* const words = reinterpret_cast<const __m128i*>(from);
    return {_mm256_cvtph_ps(_mm_loadu_si128(words)), _mm256_cvtph_ps(_mm_loadu_si128(words + 1))};
  }
};

}  // namespace

constinit const Kernels avx2_kernels = kernels_of<Avx2>();

}  // namespace assay::optimized::tile
