#include "nsa_compress_grad/families.hpp"

namespace assay::mutants::compress::grad {
namespace {

/// A correct variant: adds in double, which is more precise than fp32.
struct DoubleSums : Kernel {
  double add_to_input(const WindowWork&, double sum, double term) const override {
    return sum + term;
  }
  double add_to_weight(const WindowWork&, double sum, double term) const override {
    return sum + term;
  }
};

}  // namespace

std::vector<Mutant> healthy_kernels() {
  using spec::Order;
  using spec::Rounding;
  return {
      inject.healthy("device_like", "adds channels in groups of eight, and windows in order",
                     device_like),
      inject.healthy("one_core", "each weight has one running sum over all windows", {.cores = 1}),
      inject.healthy("descending", "processes the last window first, adds channels pairwise",
                     {.term_order = TermOrder::descending, .summation = Summation::tree}),
      inject.healthy("shuffled", "a different order of windows in every run",
                     {.cores = 2, .term_order = TermOrder::shuffled}),
      inject.healthy("fixed_order", "declares that reruns are bit-identical",
                     {.cores = 48, .summation = Summation::tree, .order = Order::fixed}),
      inject.healthy("half_away", "rounds casts half away from zero, and declares this",
                     {.round_out = Rounding::rna}),
      inject.healthy("truncating", "the cast truncates and saturates, as declared",
                     {.round_out = Rounding::rtz}),
      inject.healthy<DoubleSums>("double_sums", "sums in 53 bits", {}),
      inject.healthy<OwnList<Kernel>>("own_list", "finds windows token by token",
                                      {.cores = 7, .summation = Summation::groups}),
      inject.healthy("core_by_window", "uses more cores than most calls have windows",
                     {.cores = 1000, .order = Order::fixed}),
      inject.healthy("descending_chain", "uses one core, which processes the last window first",
                     {.cores = 1, .term_order = TermOrder::descending}),
      inject.healthy("descending_away",
                     "processes the last window first, casts round half away "
                     "from zero",
                     {.cores = 3,
                      .term_order = TermOrder::descending,
                      .summation = Summation::groups,
                      .round_out = Rounding::rna}),
      inject.healthy("shuffled_tree",
                     "adds windows in a different order in every run, and channels pairwise",
                     {.cores = 5, .term_order = TermOrder::shuffled, .summation = Summation::tree}),
      inject.healthy("shuffled_truncating",
                     "adds windows in a different order in every run, and the cast truncates",
                     {.term_order = TermOrder::shuffled,
                      .summation = Summation::groups,
                      .round_out = Rounding::rtz}),
      inject.healthy("tree_truncating", "adds channels pairwise, and the cast truncates",
                     {.cores = 24, .summation = Summation::tree, .round_out = Rounding::rtz}),
      inject.healthy("tree_away", "adds channels pairwise, casts round half away from zero",
                     {.cores = 24, .summation = Summation::tree, .round_out = Rounding::rna}),
      inject.healthy("fixed_groups",
                     "adds channels in groups of eight, and gives the same bits in every run",
                     {.summation = Summation::groups, .order = Order::fixed}),
      inject.healthy<DoubleSums>("double_sums_away",
                                 "adds in double, casts round half away from zero",
                                 {.cores = 1, .round_out = Rounding::rna}),
      inject.healthy<DoubleSums>("double_sums_shuffled", "adds in double, in any order",
                                 {.term_order = TermOrder::shuffled, .round_out = Rounding::rtz}),
      inject.healthy<OwnList<Kernel>>(
          "own_list_descending",
          "finds windows token by token, and processes the last window first",
          {.cores = 2,
           .term_order = TermOrder::descending,
           .summation = Summation::tree,
           .order = Order::fixed}),
  };
}

}  // namespace assay::mutants::compress::grad
