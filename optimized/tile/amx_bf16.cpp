#include <immintrin.h>

#include "tile/pairs.hpp"

// This file is compiled for AVX-512 and AMX. As in body.hpp, everything is in an unnamed namespace,
// and no inline function of the standard library is called.

namespace assay::optimized::tile {
namespace {

/// Rows and columns of a tile register, in four-byte numbers. A block of a product consists of 2 x
/// 2 tile registers.
constexpr std::int64_t edge = 16, block = 2 * edge;
/// Largest depth at which a buffer contains the whole transposed left operand. For a deeper
/// product, the left operand is transposed again for every block of columns.
constexpr std::int64_t most_turned = 128;

/// A compiler barrier: the compiler must not move loads and stores across this call. The compiler
/// does not know that the AMX unit reads and writes memory.
void settle() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

/// Executes AMX instructions. Tile registers 0 to 3 contain sums, 4 and 5 rows of the left operand,
/// 6 and 7 columns of the right operand. The register numbers are part of an instruction, so every
/// register needs its own instruction.
class Unit {
 public:
  Unit() {
    alignas(64) unsigned char settings[64] = {1};  // byte 0: palette 1
    for (int t = 0; t < 8; ++t) {
      settings[16 + 2 * t] = edge * 4;  // bytes per row
      settings[48 + t] = edge;          // rows
    }
    settle();
    _tile_loadconfig(settings);
  }
  ~Unit() { _tile_release(); }
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;

  void clear() {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  void load_sums(const float* from, std::int64_t row) {
    settle();
    const std::int64_t step = row * 4;
    _tile_loadd(0, from, step);
    _tile_loadd(1, from + edge, step);
    _tile_loadd(2, from + edge * row, step);
    _tile_loadd(3, from + edge * row + edge, step);
  }
  void store_sums(float* to, std::int64_t row) {
    const std::int64_t step = row * 4;
    _tile_stored(0, to, step);
    _tile_stored(1, to + edge, step);
    _tile_stored(2, to + edge * row, step);
    _tile_stored(3, to + edge * row + edge, step);
    settle();
  }
  void multiply(const Pair* a, std::int64_t a_row, const Pair* b, std::int64_t b_row) {
    settle();
    const std::int64_t a_step = a_row * 4, b_step = b_row * 4;
    _tile_loadd(4, a, a_step);
    _tile_loadd(6, b, b_step);
    _tile_loadd(7, b + edge, b_step);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a + edge * a_row, a_step);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
};

/// Emulates the AMX unit with other instructions. Machines without AMX can then test the rest of
/// this file, and machines with AMX can compare the unit with the emulation.
class Emulation {
 public:
  void clear() {
    for (auto& row : sums_)
      for (float& sum : row) sum = 0;
  }
  void load_sums(const float* from, std::int64_t row) {
    for (std::int64_t i = 0; i < block; ++i)
      for (std::int64_t j = 0; j < block; ++j) sums_[i][j] = from[i * row + j];
  }
  void store_sums(float* to, std::int64_t row) {
    for (std::int64_t i = 0; i < block; ++i)
      for (std::int64_t j = 0; j < block; ++j) to[i * row + j] = sums_[i][j];
  }
  /// Adds the pairs of numbers in two separate chains that start at zero: one for the lower halves,
  /// one for the upper halves. At the end, the sum of both chains is added to the result.
  void multiply(const Pair* a, std::int64_t a_row, const Pair* b, std::int64_t b_row) {
    for (std::int64_t i = 0; i < block; ++i)
      for (std::int64_t j = 0; j < block; ++j) {
        float chains[2] = {};
        for (std::int64_t k = 0; k < edge; ++k) {
          const Pair left = a[i * a_row + k], right = b[k * b_row + j];
          chains[0] = kept(__builtin_fmaf(number(left << 16), number(right << 16), chains[0]));
          chains[1] = kept(__builtin_fmaf(number(left), number(right), chains[1]));
        }
        sums_[i][j] = kept(sums_[i][j] + kept(chains[0] + chains[1]));
      }
  }

 private:
  /// Returns `x`, or zero if `x` is subnormal.
  static float kept(float x) { return __builtin_fabsf(x) < 0x1p-126F ? 0 * x : x; }
  /// Converts the bf16 number in the upper half of a pair to fp32.
  static float number(Pair pair) {
    const Pair upper = pair & 0xFFFF0000U;
    float x;
    __builtin_memcpy(&x, &upper, sizeof x);
    return kept(x);
  }

  float sums_[block][block];
};

/// Transposes 16 columns of pairs into rows: to(i, k) = from(k, i). Elements from row `rows` or
/// depth `depth` on become zero.
void turn(const Pair* from, std::int64_t from_depth, std::int64_t rows, std::int64_t depth,
          Pair* to, std::int64_t to_row) {
  const auto wanted = static_cast<__mmask16>(rows < edge ? (1U << (rows < 0 ? 0 : rows)) - 1 : ~0U);
  __m512i lines[edge], turned[edge];
  for (std::int64_t k = 0; k < edge; ++k)
    lines[k] = k < depth ? _mm512_maskz_loadu_epi32(wanted, from + k * from_depth)
                         : _mm512_setzero_si512();
  for (int k = 0; k < edge; k += 2) {
    turned[k] = _mm512_unpacklo_epi32(lines[k], lines[k + 1]);
    turned[k + 1] = _mm512_unpackhi_epi32(lines[k], lines[k + 1]);
  }
  for (int k = 0; k < edge; k += 4)
    for (int half = 0; half < 2; ++half) {
      const __m512i x = turned[k + half], y = turned[k + 2 + half];
      lines[k + 2 * half] = _mm512_unpacklo_epi64(x, y);
      lines[k + 2 * half + 1] = _mm512_unpackhi_epi64(x, y);
    }
  // After this loop, each quarter of a register contains one column of four rows. Quarter p of
  // register 4 q + r contains column 4 p + r of the rows 4 q to 4 q + 3.
  for (int r = 0; r < 4; ++r) {
    const __m512i even0 = _mm512_shuffle_i32x4(lines[r], lines[4 + r], 0x88);
    const __m512i odd0 = _mm512_shuffle_i32x4(lines[r], lines[4 + r], 0xDD);
    const __m512i even1 = _mm512_shuffle_i32x4(lines[8 + r], lines[12 + r], 0x88);
    const __m512i odd1 = _mm512_shuffle_i32x4(lines[8 + r], lines[12 + r], 0xDD);
    turned[r] = _mm512_shuffle_i32x4(even0, even1, 0x88);
    turned[8 + r] = _mm512_shuffle_i32x4(even0, even1, 0xDD);
    turned[4 + r] = _mm512_shuffle_i32x4(odd0, odd1, 0x88);
    turned[12 + r] = _mm512_shuffle_i32x4(odd0, odd1, 0xDD);
  }
  for (std::int64_t i = 0; i < edge; ++i) _mm512_storeu_si512(to + i * to_row, turned[i]);
}

/// A buffer for rows [i, i + block) of the left operand at the depths [k, k + depth). The buffer
/// contains rows of pairs, zero-padded to full registers.
struct LeftSide {
  alignas(64) Pair pairs[block][most_turned];

  void take(const PairProduct& p, std::int64_t i, std::int64_t first, std::int64_t depth) {
    const std::int64_t rows = p.rows - i;
    for (std::int64_t k = 0; k < depth; k += edge) {
      const std::int64_t deep = depth - k;
      for (std::int64_t r = 0; r < block; r += edge) {
        const Pair* const from = p.a + (i + r) * p.a_row + (first + k) * p.a_depth;
        if (p.a_row == 1)
          turn(from, p.a_depth, rows - r, deep, &pairs[r][k], most_turned);
        else
          copy(from, p, rows - r, deep, &pairs[r][k]);
      }
    }
  }

 private:
  static void copy(const Pair* from, const PairProduct& p, std::int64_t rows, std::int64_t deep,
                   Pair* to) {
    for (std::int64_t r = 0; r < edge; ++r)
      for (std::int64_t k = 0; k < edge; ++k)
        to[r * most_turned + k] = r < rows && k < deep ? from[r * p.a_row + k * p.a_depth] : 0;
  }
};

/// Returns whether the caller needs a row of the block that starts at row i and column j. The block
/// has `groups` groups of lanes.
bool is_asked(const PairProduct& p, std::int64_t i, std::int64_t j, std::int64_t groups) {
  if (p.asked == nullptr) return true;
  for (std::int64_t g = 0; g < groups; ++g) {
    const RowRange rows = p.asked[j / lanes + g];
    if (rows.first < i + block && rows.last > i && rows.first < rows.last) return true;
  }
  return false;
}

/// A buffer for the sums of a block if they cannot be computed directly in c: for a block at the
/// edge of the product, or if the block is added to c at the end.
struct Sums {
  alignas(64) float of[block][block];

  void take(const float* c, std::int64_t c_row, std::int64_t rows, std::int64_t columns) {
    for (std::int64_t i = 0; i < block; ++i)
      for (std::int64_t j = 0; j < block; ++j)
        of[i][j] = i < rows && j < columns ? c[i * c_row + j] : 0;
  }
  void put(float* c, std::int64_t c_row, std::int64_t rows, std::int64_t columns, Sum sum) const {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j)
        c[i * c_row + j] = sum == Sum::add ? c[i * c_row + j] + of[i][j] : of[i][j];
  }
};

template <class Tiles>
class Multiplication {
 public:
  explicit Multiplication(const PairProduct& product) : p_(product) {}

  void run() {
    for (std::int64_t i = 0; i < p_.rows; i += block) {
      // The left operand is read directly if its rows of pairs fill full registers.
      in_place_ = p_.a_depth == 1 && i + block <= p_.rows && p_.depth % edge == 0;
      const bool at_once = !in_place_ && p_.depth <= most_turned;
      if (at_once) left_.take(p_, i, 0, p_.depth);
      for (std::int64_t j = 0; j < p_.columns; j += block) {
        const std::int64_t rest = p_.columns - j;
        if (is_asked(p_, i, j, rest > lanes ? 2 : 1)) multiply(i, j, at_once);
      }
    }
  }

 private:
  void multiply(std::int64_t i, std::int64_t j, bool at_once) {
    const std::int64_t rows = p_.rows - i < block ? p_.rows - i : block;
    const std::int64_t groups = (p_.columns - j + lanes - 1) / lanes;
    const std::int64_t columns = groups > 1 ? block : edge;
    float* const c = p_.c + i * p_.c_row + j;
    const bool is_whole = rows == block && columns == block && p_.sum != Sum::add;
    if (p_.sum == Sum::extend && is_whole) {
      tiles_.load_sums(c, p_.c_row);
    } else if (p_.sum == Sum::extend) {
      sums_.take(c, p_.c_row, rows, columns);
      tiles_.load_sums(sums_.of[0], block);
    } else {
      tiles_.clear();
    }
    for (std::int64_t k = 0; k < p_.depth; k += edge) multiply(i, j, k, columns, at_once);
    if (is_whole) return tiles_.store_sums(c, p_.c_row);
    tiles_.store_sums(sums_.of[0], block);
    sums_.put(c, p_.c_row, rows, columns, p_.sum);
  }

  void multiply(std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t columns,
                bool at_once) {
    const Pair* a = p_.a + i * p_.a_row + k;
    std::int64_t a_row = p_.a_row;
    if (!in_place_) {
      const std::int64_t deep = p_.depth - k < edge ? p_.depth - k : edge;
      if (!at_once) left_.take(p_, i, k, deep);
      a = &left_.pairs[0][at_once ? k : 0], a_row = most_turned;
    }
    const Pair* b = p_.b + k * p_.b_row + j;
    std::int64_t b_row = p_.b_row;
    if (k + edge > p_.depth || columns < block) {
      for (std::int64_t d = 0; d < edge; ++d)
        for (std::int64_t l = 0; l < block; ++l)
          right_[d][l] = k + d < p_.depth && l < columns ? b[d * b_row + l] : 0;
      b = right_[0], b_row = block;
    }
    tiles_.multiply(a, a_row, b, b_row);
  }

  const PairProduct& p_;
  Tiles tiles_;
  bool in_place_ = false;
  LeftSide left_;
  Sums sums_;
  alignas(64) Pair right_[edge][block];
};

template <class Tiles>
void multiply_with(const PairProduct& product) {
  Multiplication<Tiles>(product).run();
}

}  // namespace

void multiply_on_amx(const PairProduct& product) { multiply_with<Unit>(product); }
void multiply_as_amx(const PairProduct& product) { multiply_with<Emulation>(product); }

}  // namespace assay::optimized::tile
