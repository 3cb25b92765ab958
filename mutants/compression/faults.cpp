#include "compression/faults.hpp"

#include <algorithm>
#include <utility>

namespace assay::mutants::compress {
namespace {

std::int64_t window_count_of(const WindowWork& w, std::int64_t length) {
  return spec::window_count(length, w.problem.compress_block_size, w.problem.compress_stride);
}

/// The fault of the vendor's original kernel: between two windows, the kernel advances by at most
/// one sequence. After a sequence without windows, it therefore reads the next window at a wrong
/// start.
void misplace_after_short(const WindowWork& w, std::vector<TokenWindow>& own) {
  const std::vector<TokenWindow> right = own;
  for (std::size_t k = 1; k < own.size(); ++k)
    for (std::int64_t b = right[k - 1].b + 1; b < right[k].b; ++b) {
      const std::size_t wrong = k + static_cast<std::size_t>(b - right[k - 1].b - 1);
      if (wrong >= own.size()) continue;
      own[wrong].token = 0;
      for (std::int64_t before = 0; before < b; ++before)
        own[wrong].token += w.problem.length(before);
    }
}

void begin_late_after_empty(const WindowWork&, std::vector<Sequence>& all) {
  std::int64_t empty = 0;
  for (Sequence& sequence : all) {
    sequence.first += empty;
    empty += sequence.length == 0;
  }
}

void stop_at_short(const WindowWork& w, std::vector<Sequence>& all) {
  const auto is_short = [&](const Sequence& s) { return window_count_of(w, s.length) == 0; };
  const auto begin = std::ranges::find_if_not(all, is_short);
  all.erase(std::find_if(begin, all.end(), is_short), all.end());
}

}  // namespace

void join_sequences(const WindowWork& w, std::vector<Sequence>& all) { all = {{0, w.tokens}}; }

void exchange_rows(const WindowWork&, std::vector<TokenWindow>& all) {
  if (all.size() > 1) std::swap(all[0].row, all[1].row);
}

std::vector<Fault> window_faults() {
  return {
      {"last_of_sequence",
       "the last window of every sequence adds nothing",
       {.reaches =
            [](const WindowWork& w, const TokenWindow& window, std::int64_t) {
              return window.index + 1 < window_count_of(w, w.problem.length(window.b));
            }}},
      {"misplaced_after_short",
       "in one core, the window after a sequence without windows is read at the start of that "
       "sequence",
       {.windows_of_core = misplace_after_short}},
      // Fault: uses cumulative sums b and b + 1 as the start and end of sequence b, which is
      // correct only if the first sum is 0.
      {"boundary_style",
       "the first sequence is dropped unless it is empty",
       {.sequences = [](const WindowWork&,
                        std::vector<Sequence>& all) { all.erase(all.begin()); }}},
      {"empty_counts_as_one",
       "after an empty sequence, windows begin one token too late",
       {.sequences = begin_late_after_empty}},
      {"stops_at_short",
       "sequences after a sequence without windows add nothing",
       {.sequences = stop_at_short}},
      {"across_sequences",
       "windows continue from one sequence into the next",
       {.sequences = join_sequences}},
      {"stride_of_block",
       "each window begins compress_block_size tokens after the previous one, not compress_stride "
       "tokens",
       {.windows = each_window<[](const Problem& p, TokenWindow& one) {
          one.token += one.index * (p.compress_block_size - p.compress_stride);
        }>}},
      {"count_by_ceil",
       "the number of windows is rounded up",
       {.window_count =
            [](const WindowWork& w, std::int64_t length) {
              const std::int64_t beyond = length - w.problem.compress_block_size,
                                 stride = w.problem.compress_stride;
              return beyond < 0 ? 0 : (beyond + stride - 1) / stride + 1;
            }}},
      {"exact_fit_missed",
       "a sequence whose length equals the window size gets no window",
       {.window_count =
            [](const WindowWork& w, std::int64_t length) {
              return length <= w.problem.compress_block_size ? 0 : window_count_of(w, length);
            }}},
      {"rest_of_window",
       "tokens after the last full stride of a window add nothing",
       {.reaches =
            [](const WindowWork& w, const TokenWindow&, std::int64_t k) {
              const std::int64_t stride = w.problem.compress_stride;
              return k < w.problem.compress_block_size / stride * stride;
            }}},
      {"last_round_missed",
       "if the number of windows is a multiple of 24 (the cores) plus 1, the last window adds "
       "nothing",
       {.windows =
            [](const WindowWork&, std::vector<TokenWindow>& all) {
              if (all.size() > 24 && all.size() % 24 == 1) all.pop_back();
            }}},
  };
}

}  // namespace assay::mutants::compress
