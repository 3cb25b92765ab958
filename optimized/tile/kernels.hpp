#pragma once

#include <cstdint>

namespace assay::optimized::tile {

/// Lanes that every kernel works on at a time, whatever the machine: rows of tiles are readable and
/// writable up to the next multiple.
inline constexpr std::int64_t lanes = 16;

/// How far ahead rows of a tensor are fetched. Those of one head lie apart, which the hardware does
/// not foresee: measured a quarter faster with 64 heads.
inline constexpr std::int64_t rows_ahead = 8;

/// How an element of a product meets what its place holds.
/// start: the chain begins at zero; extend: it begins at the value there; add: the chain from zero
/// is added once.
enum class Sum : std::uint8_t { start, extend, add };

/// Types in which tensors are stored and in which P and dS enter the gradient products.
enum class Storage : std::uint8_t { fp32, fp16, bf16 };

/// Rows from `first` to before `last`.
struct RowRange {
  std::int64_t first, last;
};

/// c(i, j) = or += the chain over k, ascending, of fma(a(i, k), b(k, j), .).
struct Product {
  const float* a = nullptr;
  std::int64_t a_row = 0, a_depth = 0;  ///< strides of a
  const float* b = nullptr;
  std::int64_t b_row = 0;
  float* c = nullptr;
  std::int64_t c_row = 0;
  std::int64_t rows = 0, columns = 0, depth = 0;
  Sum sum = Sum::start;
  /// Of each group of lanes of the columns the rows that are asked for: others may hold anything
  /// afterwards; null: all are.
  const RowRange* asked = nullptr;
};

/// Position bias of one tile: score = scale * score + bias, each step rounded.
struct AddBias {
  float* scores = nullptr;
  std::int64_t row_stride = 0;
  const float* bias = nullptr;   ///< readable up to the next multiple of lanes of every row
  std::int64_t bias_stride = 0;  ///< may be 0 or negative
  std::int64_t rows = 0, columns = 0;
  float scale = 1;
};

/// Softmax gradient of one tile, in place: scores Q K^T become P, dP becomes dS, both rounded to
/// `stage`.
///
///
/// An excluded element gives zeros, whatever it held. With dropout dP is replaced by Z dP before,
/// and P by Z P once dS is known; Z is 0 where an element is dropped, else keep_factor.
struct SoftmaxGrad {
  float* scores = nullptr;
  float* dprob = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t rows = 0, columns = 0;
  const float* max = nullptr;  ///< one per row, as `sum` and `row_term`
  const float* sum = nullptr;
  const float* row_term = nullptr;
  /// Non-zero excludes; rows lie row_stride apart; null: none.
  const std::uint8_t* excluded = nullptr;
  /// The same of dropout.
  const std::uint8_t* dropped = nullptr;
  float keep_factor = 1;
  float scale = 1;
  Storage stage = Storage::fp32;
};

/// Both gradients of sums over windows, of consecutive rows that lie under the same windows.
/// Row i of input_grad is the chain over the windows j, ascending, of
/// fma(weights[i + j * window_step], output_grad(j, c), .), rounded to nearest, ties to even.
/// Of each pair (i, j) a group of `lanes` sums, at chains + (i + j * window_step) * lanes, goes on
/// from call to call: lane l of it is a chain over the c with c mod lanes = l, ascending, of
/// fma(input(i, c), output_grad(j, c), .). No two pairs have the same place.
struct WindowSums {
  const void* input = nullptr;
  void* input_grad = nullptr;
  std::int64_t input_row = 0, input_grad_row = 0;  ///< bytes between rows
  Storage storage = Storage::fp32;                 ///< of both
  /// input_grad goes past the caches, where its rows are aligned for that. Who tells another thread
  /// that it is there puts a fence before.
  bool streamed = false;
  const float* output_grad = nullptr;  ///< readable up to the next multiple of lanes, with zeros
  std::int64_t output_grad_row = 0;
  const float* weights = nullptr;
  float* chains = nullptr;
  std::int64_t window_step = 0;  ///< may be negative
  std::int64_t rows = 0, windows = 0, channels = 0;
};

/// One set of kernels; all sets give the same bits.
struct Kernels {
  void (*multiply)(const Product& product);
  void (*add_bias)(const AddBias& tile);
  void (*softmax_grad)(const SoftmaxGrad& tile);
  /// Widens `count` stored numbers; exact.
  void (*widen)(const void* stored, Storage storage, std::int64_t count, float* values);
  /// Multiplies by `scale` in fp32, rounds half away from zero and stores; beyond the largest
  /// finite value: infinity.
  void (*narrow)(const float* values, float scale, std::int64_t count, Storage storage,
                 void* stored);
  /// Rounds to nearest, ties to even, and stores; else as `narrow`.
  void (*narrow_even)(const float* values, std::int64_t count, Storage storage, void* stored);
  void (*add_windows)(const WindowSums& rows);
  /// The sum of a group: its lanes added pairwise, as `dot` does.
  float (*sum_of_lanes)(const float* group);
  /// values += more.
  void (*add)(const float* more, std::int64_t count, float* values);
  /// Sum of x * y: lane c mod 16 is one chain over c, then the lanes are added pairwise.
  float (*dot)(const float* x, const float* y, std::int64_t count);
  /// The exponential of softmax_grad: relative error below 2^-23 down to the smallest normal.
  void (*exponential)(const float* x, std::int64_t count, float* values);
};

extern const Kernels portable_kernels;
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;

}  // namespace assay::optimized::tile
