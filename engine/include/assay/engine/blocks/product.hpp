#pragma once

#include <cstdint>
#include <vector>

namespace assay::engine {

/// The instruction sets for which the matrix product is compiled. All of them give the same bits.
enum class Instructions : std::uint8_t { fastest, avx512, avx2, portable };

/// Returns the instruction sets that this machine supports, the fastest first.
std::vector<Instructions> available_instructions();

/// Returns the first of available_instructions().
Instructions fastest_instructions();

/// Number of columns in one panel of a right operand. The order in memory is panel, row, column.
template <class T>
inline constexpr std::int64_t panel_columns = 128 / static_cast<std::int64_t>(sizeof(T));

/// A matrix product c(i, j) = a(i, *) b(*, j), which can also be added to c(i, j). Each element is
/// a chain of fma(a(i, k), b(k, j), sum), with ascending k. The chain starts at sum = 0.
template <class T>
struct Product {
  const T* a = nullptr;
  std::int64_t a_row = 0, a_depth = 1;  ///< strides of a
  const T* b = nullptr;                 ///< in panels, each of `b_depth` rows
  std::int64_t b_depth = 0;
  T* c = nullptr;
  std::int64_t c_row = 0;
  std::int64_t rows = 0, columns = 0, depth = 0;  ///< columns: a multiple of panel_columns
  bool add = false;
};

/// Computes the product. Errors: std::invalid_argument for instructions that this machine lacks.
void multiply(const Product<double>& product, Instructions instructions = Instructions::fastest);
void multiply(const Product<float>& product, Instructions instructions = Instructions::fastest);

}  // namespace assay::engine
