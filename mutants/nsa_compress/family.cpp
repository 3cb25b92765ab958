#include <algorithm>

#include "compression/arguments.hpp"
#include "compression/grown_steps.hpp"
#include "nsa_compress/families.hpp"

namespace assay::mutants {
namespace compress::forward {
namespace {

/// Sums in double, more precise than fp32.
struct DoubleSums : Kernel {
  double add(const WindowWork&, double sum, double term) const override { return sum + term; }
};

struct GrownTerm : Grown<Kernel> {
  using Grown::Grown;
  double term(const WindowWork& w, const TokenWindow& window, std::int64_t k, std::int64_t n,
              std::int64_t c) const override {
    return grown_value(Step::term, w, window, k, n,
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
      plant.healthy("device_like", "adds tokens in order, casts round half away from zero",
                    device_like),
      plant.healthy("ties_to_even", "adds tokens in order, casts round to even", {}),
      plant.healthy("truncating", "the cast truncates and saturates, as declared",
                    {.round_out = Rounding::rtz}),
      plant.healthy("descending", "adds the last token first", {.term_order = descending}),
      plant.healthy("pairwise", "adds tokens pairwise", {.summation = tree}),
      plant.healthy("groups", "adds tokens in groups of eight",
                    {.cores = 24, .summation = groups, .order = Order::fixed}),
      plant.healthy("shuffled", "a different order of tokens in every run",
                    {.term_order = shuffled, .round_out = Rounding::rna}),
      plant.healthy("shuffled_pairwise", "adds tokens pairwise, in a different order in every run",
                    {.cores = 2, .term_order = shuffled, .summation = tree}),
      plant.healthy("descending_truncating", "adds the last token first, and the cast truncates",
                    {.term_order = descending, .round_out = Rounding::rtz}),
      plant.healthy("one_core", "one core, and declares that reruns are bit-identical",
                    {.cores = 1, .order = Order::fixed}),
      plant.healthy("core_by_window", "has more cores than most calls have windows",
                    {.cores = 1000, .summation = groups, .round_out = Rounding::rna}),
      plant.healthy<DoubleSums>("double_sums", "sums in 53 bits", {}),
      plant.healthy<DoubleSums>("double_sums_shuffled", "adds in double, in any order",
                                {.term_order = shuffled, .round_out = Rounding::rtz}),
      plant.healthy<OwnList<Kernel>>("own_list", "finds windows token by token",
                                     {.cores = 7, .round_out = Rounding::rna}),
      plant.healthy<OwnList<Kernel>>("own_list_descending",
                                     "finds windows token by token, processes the last first",
                                     {.cores = 2, .term_order = descending, .summation = tree}),
  };
}

std::vector<Mutant> argument_mutants() {
  return argument_mutants_of<Op, Kernel>(
      plant.plan,
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
std::vector<MutantOf<spec::NsaCompress>> grown_mutants() {
  using namespace compress;
  return planted_by_turns<spec::NsaCompress, forward::GrownTerm>(grown_bugs(Step::term),
                                                                 {forward::plant.plan});
}

}  // namespace assay::mutants
