#include <immintrin.h>

#include "tile/body.hpp"

namespace assay::optimized::tile {
namespace {

struct Avx512 {
  using Vector = __m512;
  using Bits = __m512i;
  static constexpr int block_rows = 8, block_vectors = 2, held_groups = 26;

  static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  static void store(float* to, Vector x) { _mm512_storeu_ps(to, x); }
  static Vector broadcast(float x) { return _mm512_set1_ps(x); }
  static Vector fma(Vector x, Vector y, Vector z) { return _mm512_fmadd_ps(x, y, z); }
  static Vector add(Vector x, Vector y) { return _mm512_add_ps(x, y); }
  static Vector subtract(Vector x, Vector y) { return _mm512_sub_ps(x, y); }
  static Vector multiply(Vector x, Vector y) { return _mm512_mul_ps(x, y); }
  static Vector divide(Vector x, Vector y) { return _mm512_div_ps(x, y); }
  static Vector min(Vector x, Vector y) { return _mm512_min_ps(x, y); }
  static Vector max(Vector x, Vector y) { return _mm512_max_ps(x, y); }

  static Bits bits(Vector x) { return _mm512_castps_si512(x); }
  static Vector number(Bits x) { return _mm512_castsi512_ps(x); }
  static Bits fill(std::uint32_t x) { return _mm512_set1_epi32(static_cast<int>(x)); }
  static Bits plus(Bits x, Bits y) { return _mm512_add_epi32(x, y); }
  static Bits minus(Bits x, Bits y) { return _mm512_sub_epi32(x, y); }
  static Bits both(Bits x, Bits y) { return _mm512_and_si512(x, y); }
  static Bits either(Bits x, Bits y) { return _mm512_or_si512(x, y); }
  static Bits half(Bits x) { return _mm512_srai_epi32(x, 1); }
  template <int count>
  static Bits shift_left(Bits x) {
    return _mm512_slli_epi32(x, count);
  }
  template <int count>
  static Bits shift_right(Bits x) {
    return _mm512_srli_epi32(x, count);
  }
  static Bits where_greater(Bits x, Bits y, Bits yes, Bits no) {
    return _mm512_mask_blend_epi32(_mm512_cmpgt_epi32_mask(x, y), no, yes);
  }
  static Bits load_bytes(const std::uint8_t* from) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static Bits load_words(const std::uint16_t* from) {
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static void store_words(std::uint16_t* to, Bits x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi32_epi16(x));
  }
  static void stream(float* to, Vector x) {
    _mm_stream_ps(to, _mm512_castps512_ps128(x));
    _mm_stream_ps(to + 4, _mm512_extractf32x4_ps(x, 1));
    _mm_stream_ps(to + 8, _mm512_extractf32x4_ps(x, 2));
    _mm_stream_ps(to + 12, _mm512_extractf32x4_ps(x, 3));
  }
  static void stream_words(std::uint16_t* to, Bits x) {
    const __m256i words = _mm512_cvtepi32_epi16(x);
    auto* const halves = reinterpret_cast<__m128i*>(to);
    _mm_stream_si128(halves, _mm256_castsi256_si128(words));
    _mm_stream_si128(halves + 1, _mm256_extracti128_si256(words, 1));
  }
  static Vector load_fp16(const std::uint16_t* from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
};

}  // namespace

constinit const Kernels avx512_kernels = kernels_of<Avx512>();

}  // namespace assay::optimized::tile
