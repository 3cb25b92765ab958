#pragma once

#include <cstdint>

namespace assay::optimized::tile {

/// The number of lanes that every kernel processes at a time, on every machine. Rows of tiles can
/// be read and written up to the next multiple of this number.
inline constexpr std::int64_t lanes = 16;

/// How many rows of a tensor to prefetch. The rows of one head are far apart, so the hardware does
/// not prefetch them. Measured: 25 % faster with 64 heads.
inline constexpr std::int64_t rows_ahead = 8;

/// How a chain uses the old value of an element. A chain is a sum of fused multiply-adds, each
/// added to the previous result. start: the chain starts at zero and replaces the old value.
/// extend: the chain starts at the old value. add: the chain starts at zero, and its result is
/// added to the old value.
enum class Sum : std::uint8_t { start, extend, add };

/// The types in which tensors are stored. P and dS are also rounded to one of these types before
/// the gradient products.
enum class Storage : std::uint8_t { fp32, fp16, bf16 };

/// The half-open range of rows [first, last).
struct RowRange {
  std::int64_t first, last;
};

/// A matrix product in fp32. Each element c(i, j) is a chain of fused multiply-adds of a(i, k) and
/// b(k, j) with ascending k; the chain replaces c(i, j) or is added to it.
struct Product {
  const float* a = nullptr;
  std::int64_t a_row = 0, a_depth = 0;  ///< strides of a
  const float* b = nullptr;
  std::int64_t b_row = 0;
  float* c = nullptr;
  std::int64_t c_row = 0;
  std::int64_t rows = 0, columns = 0, depth = 0;
  Sum sum = Sum::start;
  /// For each group of `lanes` columns: the range of rows that the caller needs. The other rows may
  /// contain any value afterwards. If the pointer is null, the caller needs all rows.
  const RowRange* asked = nullptr;
};

/// Adds the position bias to a tile: score = scale * score + bias. The product and the sum are each
/// rounded.
struct AddBias {
  float* scores = nullptr;
  std::int64_t row_stride = 0;
  const float* bias = nullptr;   ///< readable up to the next multiple of lanes of every row
  std::int64_t bias_stride = 0;  ///< may be 0 or negative
  std::int64_t rows = 0, columns = 0;
  float scale = 1;
};

/// Computes the softmax gradient of one tile, in place: replaces the scores Q K^T by P, and dP by
/// dS. P and dS are rounded to the type `stage`.
///
/// A masked element becomes zero, whatever its old value is. With dropout, dP is first multiplied
/// by Z, and P is multiplied by Z after dS is computed. Z is 0 for a dropped element, otherwise
/// keep_factor.
struct SoftmaxGrad {
  float* scores = nullptr;
  float* dprob = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t rows = 0, columns = 0;
  const float* max = nullptr;  ///< one number per row, as in `sum` and `row_term`
  const float* sum = nullptr;
  const float* row_term = nullptr;
  /// A non-zero byte masks the element. The rows of bytes have the stride row_stride. Null: no
  /// mask.
  const std::uint8_t* excluded = nullptr;
  /// A non-zero byte drops the element. The rows of bytes have the stride row_stride. Null: no
  /// dropout.
  const std::uint8_t* dropped = nullptr;
  float keep_factor = 1;
  float scale = 1;
  Storage stage = Storage::fp32;
  /// For each row: the sum of P dP over the unmasked columns, before P and dS are rounded. Each of
  /// `lanes` lanes sums its columns, then the lanes are added pairwise. If the pointer is null, the
  /// sums are not computed.
  float* dprob_sums = nullptr;
};

/// For sums over windows, computes the gradients of the input and of the weights, for consecutive
/// rows (tokens) that are in the same windows. Input: element c of row i of input_grad is the sum
/// of weights[i + j * window_step] * output_grad(j, c) over the windows j, ascending, with one fma
/// for each; the sum is rounded to nearest, ties to even. Weights: each pair (i, j) has its own
/// `lanes` sums at chains + (i + j * window_step) * lanes. Sum l adds input(i, c) * output_grad(j,
/// c) for the channels c with c mod lanes = l, ascending, with one fma for each; later calls
/// continue these sums.
struct WindowSums {
  const void* input = nullptr;
  void* input_grad = nullptr;
  std::int64_t input_row = 0, input_grad_row = 0;  ///< bytes between rows
  Storage storage = Storage::fp32;                 ///< of input and input_grad
  /// If true, input_grad is written with streaming stores, which bypass the caches. Only possible
  /// if its rows are aligned. The caller must issue a fence before it signals another thread.
  bool streamed = false;
  const float* output_grad = nullptr;  ///< readable up to the next multiple of lanes, with zeros
  std::int64_t output_grad_row = 0;
  const float* weights = nullptr;
  float* chains = nullptr;
  std::int64_t window_step = 0;  ///< may be negative
  std::int64_t rows = 0, windows = 0, channels = 0;
};

/// The kernel functions for one instruction set. All sets give bit-identical results.
struct Kernels {
  void (*multiply)(const Product& product);
  void (*add_bias)(const AddBias& tile);
  void (*softmax_grad)(const SoftmaxGrad& tile);
  /// Converts `count` stored numbers to fp32, which is exact.
  void (*widen)(const void* stored, Storage storage, std::int64_t count, float* values);
  /// Multiplies by `scale` in fp32, rounds to nearest (ties away from zero) and stores the results.
  /// Values above the largest finite number become infinity.
  void (*narrow)(const float* values, float scale, std::int64_t count, Storage storage,
                 void* stored);
  /// Stores values like `narrow`, but without a scale; ties are rounded to even.
  void (*narrow_even)(const float* values, std::int64_t count, Storage storage, void* stored);
  void (*add_windows)(const WindowSums& rows);
  /// Adds the lanes of a group pairwise, in the same order as `dot`.
  float (*sum_of_lanes)(const float* group);
  /// values += more.
  void (*add)(const float* more, std::int64_t count, float* values);
  /// Returns the sum of x * y: each of 16 lanes sums every 16th product, then the lanes are added
  /// pairwise.
  float (*dot)(const float* x, const float* y, std::int64_t count);
  /// Computes the exponential with the same code as softmax_grad. The relative error is below 2^-23
  /// if the result is a normal number.
  void (*exponential)(const float* x, std::int64_t count, float* values);
};

extern const Kernels portable_kernels;
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;

}  // namespace assay::optimized::tile
