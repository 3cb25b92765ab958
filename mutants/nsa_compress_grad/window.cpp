#include <algorithm>

#include "nsa_compress_grad/families.hpp"

namespace assay::mutants::compress::grad {
namespace {

/// Fault: if several windows cover a token, omits the first of them (side -1) or the last (side 1).
template <int side>
struct OuterWindowMissed : Kernel {
  bool reaches(const WindowWork& w, const TokenWindow& window, std::int64_t k) const override {
    const std::vector<TokenWindow> all = windows(w);
    const std::int64_t token = window.token + k;
    const auto covers = [&](const TokenWindow& other) {
      return other.token <= token && token < other.token + w.problem.compress_block_size;
    };
    if (std::ranges::count_if(all, covers) < 2) return true;
    const TokenWindow outer = side < 0 ? *std::ranges::find_if(all, covers)
                                       : *std::find_if(all.rbegin(), all.rend(), covers);
    return outer.row != window.row;
  }
};

/// Fault: omits the elements of a token from index 8,192 on.
struct TokenOf8192Numbers : Kernel {
  bool reaches_weight(const WindowWork& w, const TokenWindow&, std::int64_t n) const override {
    return n * w.problem.head_dim < 8192;
  }
};

}  // namespace

std::vector<Mutant> window_mutants() {
  return concatenated<Mutant>(
      {{inject.injected<OuterWindowMissed<-1>>(
            "first_window_missed",
            "if several windows cover a token, the first window adds nothing"),
        inject.injected<OuterWindowMissed<1>>(
            "last_window_missed",
            "if several windows cover a token, the last window adds nothing")},
       inject.changed(window_faults()),
       {inject.injected<TokenOf8192Numbers>(
           "token_of_8192",
           "heads at offset 8,192 or more in a token add nothing to "
           "weight_grad")}});
}

}  // namespace assay::mutants::compress::grad
