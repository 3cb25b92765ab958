#include <algorithm>

#include "compression/arguments.hpp"
#include "compression/generated_steps.hpp"
#include "nsa_compress/families.hpp"

namespace assay::mutants {
namespace compress::forward {
namespace {

/// A correct variant: adds in double, which is more precise than fp32.
struct DoubleSums : Kernel {
  double add(const WindowWork&, double sum, double term) const override { return sum + term; }
};

struct GeneratedTerm : Generated<Kernel> {
  using Generated::Generated;
  double term(const WindowWork& w, const TokenWindow& window, std::int64_t k, std::int64_t n,
              std::int64_t c) const override {
    return generated_value(Step::term, w, window, k, n,
                           [&](const TokenWindow& at, std::int64_t token, std::int64_t head) {
                             return Kernel::term(w, at, token, head, c);
                           });
  }
};

}  // namespace

std::vector<Mutant> healthy_kernels() {
  using enum TermOrder;
  using enum Summation;
  using spec::Order;
  using spec::Rounding;
  return {
      inject.healthy("device_like", "adds tokens in order, casts round half away from zero",
                     device_like),
      inject.healthy("ties_to_even", "adds tokens in order, casts round to even", {}),
      inject.healthy("truncating", "the cast truncates and saturates, as declared",
                     {.round_out = Rounding::rtz}),
      inject.healthy("descending", "adds the last token first", {.term_order = descending}),
      inject.healthy("pairwise", "adds tokens pairwise", {.summation = tree}),
      inject.healthy("groups", "adds tokens in groups of eight",
                     {.cores = 24, .summation = groups, .order = Order::fixed}),
      inject.healthy("shuffled", "a different order of tokens in every run",
                     {.term_order = shuffled, .round_out = Rounding::rna}),
      inject.healthy("shuffled_pairwise", "adds tokens pairwise, in a different order in every run",
                     {.cores = 2, .term_order = shuffled, .summation = tree}),
      inject.healthy("descending_truncating", "adds the last token first, and the cast truncates",
                     {.term_order = descending, .round_out = Rounding::rtz}),
      inject.healthy("one_core", "uses one core, and declares that reruns are bit-identical",
                     {.cores = 1, .order = Order::fixed}),
      inject.healthy("core_by_window", "uses more cores than most calls have windows",
                     {.cores = 1000, .summation = groups, .round_out = Rounding::rna}),
      inject.healthy<DoubleSums>("double_sums", "sums in 53 bits", {}),
      inject.healthy<DoubleSums>("double_sums_shuffled", "adds in double, in any order",
                                 {.term_order = shuffled, .round_out = Rounding::rtz}),
      inject.healthy<OwnList<Kernel>>("own_list", "finds windows token by token",
                                      {.cores = 7, .round_out = Rounding::rna}),
      inject.healthy<OwnList<Kernel>>("own_list_descending",
                                      "finds windows token by token, and adds the last token first",
                                      {.cores = 2, .term_order = descending, .summation = tree}),
  };
}

std::vector<Mutant> argument_mutants() {
  return argument_mutants_of<Op, Kernel>(
      inject.plan,
      {{"refuses_adjacent_windows", "refuses legal calls whose stride equals the window size",
        "the stride must be less than the window size", [](const spec::Call<Op>& c) {
          return c.attributes.compress_stride != c.attributes.compress_block_size;
        }}});
}

}  // namespace compress::forward

template <>
std::vector<MutantOf<spec::NsaCompress>> mutants() {
  using namespace compress::forward;
  auto all = compress::concatenated(
      {healthy_kernels(), number_mutants(), argument_mutants(), public_faults()});
  std::ranges::stable_partition(all, &MutantOf<Op>::healthy);
  return all;
}

template <>
std::vector<MutantOf<spec::NsaCompress>> generated_mutants() {
  using namespace compress;
  return injected_by_turns<spec::NsaCompress, forward::GeneratedTerm>(generated_faults(Step::term),
                                                                      {forward::inject.plan});
}

}  // namespace assay::mutants
