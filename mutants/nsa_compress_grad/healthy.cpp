#include "nsa_compress_grad/families.hpp"

namespace assay::mutants::compress {
namespace {

/// Sums in double, more precise than fp32.
struct DoubleSums : Kernel {
  using Kernel::Kernel;
  double add_to_input(const Work&, double sum, double term) const override { return sum + term; }
  double add_to_weight(const Work&, double sum, double term) const override { return sum + term; }
};

/// Removes sequences without a window from the list of sequences, as a kernel does that packs its
/// work.
struct OwnSequenceList : Kernel {
  using Kernel::Kernel;
  std::vector<TokenWindow> windows(const Work& w) const override {
    std::vector<TokenWindow> all;
    std::int64_t row = 0;
    for (const Sequence& sequence : sequences(w))
      for (std::int64_t token = sequence.first;
           token + w.problem.compress_block_size <= sequence.first + sequence.length;
           token += stride(w), ++row)
        all.push_back({0, row, token, row});
    return all;
  }
};

template <class Variant = Kernel>
Mutant healthy(const std::string& name, std::string choice, const Plan& plan) {
  return healthy_in<Op, Variant>(name, std::move(choice), plan);
}

}  // namespace

std::vector<Mutant> healthy_kernels() {
  using spec::Order;
  using spec::Rounding;
  return {
      healthy("compress_device_like",
              "adds channels in groups of eight, windows in "
              "order",
              device_like),
      healthy("compress_one_core", "one sum per weight over all windows", {.cores = 1}),
      healthy("compress_descending", "processes the last window first, adds channels pairwise",
              {.window_order = WindowOrder::descending, .channel_sum = ChannelSum::tree}),
      healthy("compress_shuffled", "a different order of windows in every run",
              {.cores = 2, .window_order = WindowOrder::shuffled}),
      healthy("compress_fixed_order", "declares bit-identical reruns",
              {.cores = 48, .channel_sum = ChannelSum::tree, .order = Order::fixed}),
      healthy("compress_half_away", "rounds casts half away from zero, and declares this",
              {.round_out = Rounding::rna}),
      healthy("compress_truncating", "the cast truncates and saturates, as declared",
              {.round_out = Rounding::rtz}),
      healthy<DoubleSums>("compress_double_sums", "sums in 53 bits", {}),
      healthy<OwnSequenceList>("compress_own_list", "finds windows token by token",
                               {.cores = 7, .channel_sum = ChannelSum::groups}),
      healthy("compress_core_by_window", "has more cores than most calls have windows",
              {.cores = 1000, .order = Order::fixed}),
      healthy("compress_descending_chain", "one core, the last window first",
              {.cores = 1, .window_order = WindowOrder::descending}),
      healthy("compress_descending_away",
              "processes the last window first, casts round half away "
              "from zero",
              {.cores = 3,
               .window_order = WindowOrder::descending,
               .channel_sum = ChannelSum::groups,
               .round_out = Rounding::rna}),
      healthy("compress_shuffled_tree",
              "a different order of windows in every run, channels pairwise",
              {.cores = 5, .window_order = WindowOrder::shuffled, .channel_sum = ChannelSum::tree}),
      healthy("compress_shuffled_truncating",
              "adds windows in a different order in every run, and the cast truncates",
              {.window_order = WindowOrder::shuffled,
               .channel_sum = ChannelSum::groups,
               .round_out = Rounding::rtz}),
      healthy("compress_tree_truncating", "adds channels pairwise, and the cast truncates",
              {.cores = 24, .channel_sum = ChannelSum::tree, .round_out = Rounding::rtz}),
      healthy("compress_tree_away", "adds channels pairwise, casts round half away from zero",
              {.cores = 24, .channel_sum = ChannelSum::tree, .round_out = Rounding::rna}),
      healthy("compress_fixed_groups",
              "adds channels in groups of eight, the same bits in every "
              "run",
              {.channel_sum = ChannelSum::groups, .order = Order::fixed}),
      healthy<DoubleSums>("compress_double_sums_away",
                          "sums in 53 bits, casts round half away "
                          "from zero",
                          {.cores = 1, .round_out = Rounding::rna}),
      healthy<DoubleSums>("compress_double_sums_shuffled", "sums in 53 bits in any order",
                          {.window_order = WindowOrder::shuffled, .round_out = Rounding::rtz}),
      healthy<OwnSequenceList>("compress_own_list_descending",
                               "finds windows token by token, processes the last first",
                               {.cores = 2,
                                .window_order = WindowOrder::descending,
                                .channel_sum = ChannelSum::tree,
                                .order = Order::fixed}),
  };
}

}  // namespace assay::mutants::compress
