#include <algorithm>
#include <utility>

#include "nsa_compress_grad/families.hpp"

namespace assay::mutants::compress {
namespace {

/// Returns whether the window before or after `window` also covers token k of `window`.
bool shared_with(const Work& w, const TokenWindow& window, std::int64_t k,
                 const TokenWindow& other) {
  const std::int64_t token = window.token + k;
  return other.token <= token && token < other.token + w.problem.compress_block_size;
}

/// Omits the first window over a token (side -1) or the last one (side 1) if several windows cover
/// the token.
template <int side>
struct OuterWindowMissed : Kernel {
  using Kernel::Kernel;
  bool reaches(const Work& w, const TokenWindow& window, std::int64_t k) const override {
    const std::vector<TokenWindow> all = windows(w);
    const auto covers = [&](const TokenWindow& other) { return shared_with(w, window, k, other); };
    if (std::ranges::count_if(all, covers) < 2) return true;
    const TokenWindow outer = side < 0 ? *std::ranges::find_if(all, covers)
                                       : *std::find_if(all.rbegin(), all.rend(), covers);
    return outer.row != window.row;
  }
};

struct LastWindowDropped : Kernel {
  using Kernel::Kernel;
  bool reaches(const Work& w, const TokenWindow& window, std::int64_t) const override {
    const std::int64_t count =
        window_count(w, sequences(w)[static_cast<std::size_t>(window.b)].length);
    return window.index + 1 < count;
  }
};

/// The fault of the upstream kernel: from one window to the next, it advances by at most one
/// sequence. After a sequence without windows, it therefore reads the next window at a wrong start.
struct MisplacedBehindShort : Kernel {
  using Kernel::Kernel;
  std::vector<TokenWindow> windows_of_core(const Work& w, const std::vector<TokenWindow>& all,
                                           std::size_t first, std::size_t last) const override {
    std::vector<TokenWindow> own = Kernel::windows_of_core(w, all, first, last);
    const std::vector<Sequence> every = sequences(w);
    const std::vector<TokenWindow> right = own;
    for (std::size_t k = 1; k < own.size(); ++k)
      for (std::int64_t b = right[k - 1].b + 1; b < right[k].b; ++b) {
        const std::size_t wrong = k + static_cast<std::size_t>(b - right[k - 1].b - 1);
        if (wrong < own.size()) own[wrong].token = every[static_cast<std::size_t>(b)].first;
      }
    return own;
  }
};

/// Takes sum b and sum b + 1 as the start and end of sequence b. This is correct only if the first
/// sum is 0.
struct BoundaryStyle : Kernel {
  using Kernel::Kernel;
  std::vector<Sequence> sequences(const Work& w) const override {
    std::vector<Sequence> all = Kernel::sequences(w);
    all.erase(all.begin());
    return all;
  }
};

struct EmptyCountsAsOne : Kernel {
  using Kernel::Kernel;
  std::vector<Sequence> sequences(const Work& w) const override {
    std::vector<Sequence> all = Kernel::sequences(w);
    std::int64_t empty = 0;
    for (Sequence& sequence : all) {
      sequence.first += empty;
      empty += sequence.length == 0;
    }
    return all;
  }
};

struct StopsAtShortSequence : Kernel {
  using Kernel::Kernel;
  std::vector<Sequence> sequences(const Work& w) const override {
    std::vector<Sequence> all = Kernel::sequences(w);
    const auto is_short = [&](const Sequence& s) { return window_count(w, s.length) == 0; };
    const auto begin = std::ranges::find_if_not(all, is_short);
    all.erase(std::find_if(begin, all.end(), is_short), all.end());
    return all;
  }
};

struct AcrossSequences : Kernel {
  using Kernel::Kernel;
  std::vector<Sequence> sequences(const Work& w) const override { return {{0, w.tokens}}; }
};

struct StrideOfBlock : Kernel {
  using Kernel::Kernel;
  std::vector<TokenWindow> windows(const Work& w) const override {
    std::vector<TokenWindow> all = Kernel::windows(w);
    const std::vector<Sequence> every = sequences(w);
    for (TokenWindow& window : all)
      window.token = every[static_cast<std::size_t>(window.b)].first +
                     window.index * w.problem.compress_block_size;
    return all;
  }
};

struct CountByCeil : Kernel {
  using Kernel::Kernel;
  std::int64_t window_count(const Work& w, std::int64_t length) const override {
    const std::int64_t size = w.problem.compress_block_size;
    return length < size ? 0 : (length - size + stride(w) - 1) / stride(w) + 1;
  }
};

struct FirstFitMissed : Kernel {
  using Kernel::Kernel;
  std::int64_t window_count(const Work& w, std::int64_t length) const override {
    return length <= w.problem.compress_block_size ? 0 : Kernel::window_count(w, length);
  }
};

/// If the window size is not a multiple of the stride, omits the tokens after the last full stride.
struct RestOfWindowDropped : Kernel {
  using Kernel::Kernel;
  bool reaches(const Work& w, const TokenWindow&, std::int64_t k) const override {
    return k < w.problem.compress_block_size / stride(w) * stride(w);
  }
};

/// If the number of windows is one more than a multiple of the core count, the last window is
/// skipped.
struct LastRoundMissed : Kernel {
  using Kernel::Kernel;
  std::vector<TokenWindow> windows(const Work& w) const override {
    std::vector<TokenWindow> all = Kernel::windows(w);
    if (all.size() > 24 && all.size() % 24 == 1) all.pop_back();
    return all;
  }
};

/// Omits the elements of a token from index 8,192 on.
struct TokenOf8192Numbers : Kernel {
  using Kernel::Kernel;
  bool reaches_weight(const Work& w, const TokenWindow&, std::int64_t n) const override {
    return n * w.problem.head_dim < 8192;
  }
};

}  // namespace

std::vector<Mutant> window_mutants() {
  return {
      planted<OuterWindowMissed<-1>>("compress_first_window_missed",
                                     "if several windows cover a token, the first one adds "
                                     "nothing"),
      planted<OuterWindowMissed<1>>("compress_last_window_missed",
                                    "if several windows cover a token, the last one adds nothing"),
      planted<LastWindowDropped>("compress_last_of_sequence",
                                 "the last window of every sequence adds nothing"),
      planted<MisplacedBehindShort>("compress_misplaced_behind_short",
                                    "in one core, the window after a sequence without windows is "
                                    "read at the start of that sequence"),
      planted<BoundaryStyle>("compress_boundary_style",
                             "the first sequence is dropped unless it is empty"),
      planted<EmptyCountsAsOne>("compress_empty_counts_as_one",
                                "after an empty sequence, windows begin one token too late"),
      planted<StopsAtShortSequence>("compress_stops_at_short",
                                    "sequences after a short one add nothing"),
      planted<AcrossSequences>("compress_across_sequences",
                               "windows continue from one sequence into the next"),
      planted<StrideOfBlock>("compress_stride_of_block",
                             "windows begin one block after each "
                             "other, not one stride"),
      planted<CountByCeil>("compress_count_by_ceil", "the number of windows is rounded up"),
      planted<FirstFitMissed>("compress_exact_fit_missed",
                              "a sequence as long as one window has no window"),
      planted<RestOfWindowDropped>("compress_rest_of_window",
                                   "tokens of a window after its last full stride add nothing"),
      planted<LastRoundMissed>(
          "compress_last_round_missed",
          "with one window more than a multiple of 24 cores, the last window adds nothing"),
      planted<TokenOf8192Numbers>("compress_token_of_8192",
                                  "heads at offset 8,192 or more in a token add nothing to "
                                  "weight_grad"),
  };
}

}  // namespace assay::mutants::compress
