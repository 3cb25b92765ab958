#pragma once

#include <cstdint>

#include "tile/kernels.hpp"
#include "tile/storing.hpp"

namespace assay::optimized::tile {
// This file is compiled once for each instruction set, like body.hpp.
namespace {

/// Loads and stores elements of a tensor, one group of lanes at a time. If `streamed` is true,
/// stores bypass the caches.
template <class Isa, Storage storage, bool streamed>
struct Words {
  using Word = std::uint16_t;

  static typename Isa::Vector load(const Word* from) {
    if constexpr (storage == Storage::bf16)
      return Isa::number(Isa::template shift_left<16>(Isa::load_words(from)));
    else
      return Isa::load_fp16(from);
  }
  static void store(Word* to, typename Isa::Vector x) {
    typename Isa::Bits code;
    if constexpr (storage == Storage::bf16)
      code = even_code_bf16<Isa>(x);
    else
      code = even_code_fp16<Isa>(x);
    if constexpr (streamed)
      Isa::stream_words(to, code);
    else
      Isa::store_words(to, code);
  }
};

template <class Isa, bool streamed>
struct Words<Isa, Storage::fp32, streamed> {
  using Word = float;

  static typename Isa::Vector load(const Word* from) { return Isa::load(from); }
  static void store(Word* to, typename Isa::Vector x) {
    if constexpr (streamed)
      Isa::stream(to, x);
    else
      Isa::store(to, x);
  }
};

/// The largest number of windows per row for which all sums fit in registers. The documentation
/// does not allow more windows per token.
constexpr int windows_at_once = 8;
inline void fetch(const char* row, std::int64_t size) {
  for (std::int64_t at = 0; at < size; at += 64) __builtin_prefetch(row + at);
}

/// Processes the rows i to i + rows - 1, except for channels after the last full group of lanes.
/// Reads each group once, uses it for both gradients, and writes it before the next group. `p` is a
/// copy, so that stores cannot change it.
template <class Isa, Storage storage, bool streamed, int rows, int windows>
void add_windows_of_rows(const WindowSums p, std::int64_t i) {
  using Vector = typename Isa::Vector;
  using Numbers = Words<Isa, storage, streamed>;
  using Word = typename Numbers::Word;
  constexpr auto word = static_cast<std::int64_t>(sizeof(Word));
  constexpr int held = windows > 0 ? windows : 1;
  const char* const inputs = static_cast<const char*>(p.input) + i * p.input_row;
  char* const gradients = static_cast<char*>(p.input_grad) + i * p.input_grad_row;
  float* const sums = p.chains + i * lanes;
  for (int r = 0; r < rows; ++r) {
    fetch(inputs + (r + rows_ahead) * p.input_row, p.channels * word);
    if (!streamed) fetch(gradients + (r + rows_ahead) * p.input_grad_row, p.channels * word);
  }
  float weights[rows][held];
  Vector chains[rows][held];
  for (int r = 0; r < rows; ++r)
    for (int w = 0; w < windows; ++w) {
      weights[r][w] = p.weights[i + r + w * p.window_step];
      chains[r][w] = Isa::load(sums + (r + w * p.window_step) * lanes);
    }
  for (std::int64_t c = 0; c + lanes <= p.channels; c += lanes) {
    Vector output_grad[held];
    for (int w = 0; w < windows; ++w)
      output_grad[w] = Isa::load(p.output_grad + w * p.output_grad_row + c);
    for (int r = 0; r < rows; ++r) {
      const Vector input =
          Numbers::load(reinterpret_cast<const Word*>(inputs + r * p.input_row) + c);
      Vector gradient = Isa::broadcast(0);
      for (int w = 0; w < windows; ++w) {
        gradient = Isa::fma(Isa::broadcast(weights[r][w]), output_grad[w], gradient);
        chains[r][w] = Isa::fma(input, output_grad[w], chains[r][w]);
      }
      Numbers::store(reinterpret_cast<Word*>(gradients + r * p.input_grad_row) + c, gradient);
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int w = 0; w < windows; ++w)
      Isa::store(sums + (r + w * p.window_step) * lanes, chains[r][w]);
}

/// Processes one row in any number of windows. Unlike in add_windows_of_rows, the sums are in
/// memory, not in registers.
template <class Isa, Storage storage, bool streamed>
void add_windows_of_row(const WindowSums p, std::int64_t i) {
  using Vector = typename Isa::Vector;
  using Numbers = Words<Isa, storage, streamed>;
  using Word = typename Numbers::Word;
  const auto* const inputs =
      reinterpret_cast<const Word*>(static_cast<const char*>(p.input) + i * p.input_row);
  auto* const gradients =
      reinterpret_cast<Word*>(static_cast<char*>(p.input_grad) + i * p.input_grad_row);
  for (std::int64_t c = 0; c + lanes <= p.channels; c += lanes) {
    const Vector input = Numbers::load(inputs + c);
    Vector gradient = Isa::broadcast(0);
    for (std::int64_t w = 0; w < p.windows; ++w) {
      const Vector output_grad = Isa::load(p.output_grad + w * p.output_grad_row + c);
      const std::int64_t pair = i + w * p.window_step;
      float* const chain = p.chains + pair * lanes;
      gradient = Isa::fma(Isa::broadcast(p.weights[pair]), output_grad, gradient);
      Isa::store(chain, Isa::fma(input, output_grad, Isa::load(chain)));
    }
    Numbers::store(gradients + c, gradient);
  }
}

template <class Isa, Storage storage, bool streamed, int windows>
void add_so_many_windows(const WindowSums& p) {
  constexpr int held = windows > 0 ? windows : 1;
  // The registers hold output_grad for each window, and for each row of the window one partial sum
  // (chain) and one weight.
  constexpr int fitting = (Isa::held_groups - held) / (2 * held);
  constexpr int rows = fitting < 1 ? 1 : fitting > 4 ? 4 : fitting;
  std::int64_t i = 0;
  for (; i + rows <= p.rows; i += rows)
    add_windows_of_rows<Isa, storage, streamed, rows, windows>(p, i);
  for (; i < p.rows; ++i) add_windows_of_rows<Isa, storage, streamed, 1, windows>(p, i);
}

/// Calls the kernel for this number of windows. If no window covers the rows, sets the rows to
/// zero.
template <class Isa, Storage storage, bool streamed, int windows = 0>
void add_windows_in(const WindowSums& p) {
  if (p.windows == windows) return add_so_many_windows<Isa, storage, streamed, windows>(p);
  if constexpr (windows < windows_at_once)
    add_windows_in<Isa, storage, streamed, windows + 1>(p);
  else
    for (std::int64_t i = 0; i < p.rows; ++i) add_windows_of_row<Isa, storage, streamed>(p, i);
}

/// Processes the channels after the last full group of lanes: each row is copied to one padded
/// group.
template <class Isa, Storage storage>
void add_windows_to_rest(const WindowSums& p, std::int64_t first) {
  using Word = typename Words<Isa, storage, false>::Word;
  constexpr auto word = static_cast<std::int64_t>(sizeof(Word));
  const auto rest = static_cast<unsigned long>((p.channels - first) * word);
  for (std::int64_t i = 0; i < p.rows; ++i) {
    Word input[lanes] = {}, gradient[lanes];
    __builtin_memcpy(input, static_cast<const char*>(p.input) + i * p.input_row + first * word,
                     rest);
    WindowSums row = p;
    row.input = input, row.input_grad = gradient;
    row.output_grad += first, row.weights += i, row.chains += i * lanes;
    row.rows = 1, row.channels = lanes;
    add_windows_in<Isa, storage, false>(row);
    __builtin_memcpy(static_cast<char*>(p.input_grad) + i * p.input_grad_row + first * word,
                     gradient, rest);
  }
}

/// The alignment (bytes) that streaming stores need. Allocated memory has this alignment.
constexpr std::int64_t streamed_alignment = 16;

template <class Isa, Storage storage>
void add_windows_stored(const WindowSums& p) {
  const auto place = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p.input_grad));
  if (p.streamed && (place | p.input_grad_row) % streamed_alignment == 0)
    add_windows_in<Isa, storage, true>(p);
  else
    add_windows_in<Isa, storage, false>(p);
  const std::int64_t first = p.channels & -lanes;
  if (first < p.channels) add_windows_to_rest<Isa, storage>(p, first);
}

template <class Isa>
void add_windows(const WindowSums& p) {
  switch (p.storage) {
    case Storage::fp32:
      return add_windows_stored<Isa, Storage::fp32>(p);
    case Storage::fp16:
      return add_windows_stored<Isa, Storage::fp16>(p);
    case Storage::bf16:
      return add_windows_stored<Isa, Storage::bf16>(p);
  }
}

}  // namespace
}  // namespace assay::optimized::tile
