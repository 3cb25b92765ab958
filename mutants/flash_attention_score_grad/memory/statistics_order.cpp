#include "flash_attention_score_grad/families.hpp"

/// Kernels that read the softmax statistics of TND in one of two memory orders. The vendor's
/// documents contradict each other about this order (requirement FAG-C83a).
namespace assay::mutants {
namespace {

using spec::DeclaredOrder;
using spec::StatisticsOrder;

/// Reads the statistics in `order` for every call, but does not declare this memory order.
template <StatisticsOrder order>
struct ReadsAlways : Kernel {
  std::int64_t statistics_element(const Op::Problem& p, const spec::Extents& e,
                                  const spec::RowPosition& at) const override {
    Op::Problem other = p;
    other.statistics_order = order;
    return Kernel::statistics_element(other, e, at);
  }
};

/// Follows the documentation page of entry point u4, which swaps the meanings of the two values of
/// softmaxInLayout. For the other entry points, reads the statistics token by token.
struct ReadsAsPages : Kernel {
  std::int64_t statistics_element(const Op::Problem& p, const spec::Extents& e,
                                  const spec::RowPosition& at) const override {
    Op::Problem other = p;
    other.statistics_order = p.softmax_in_layout == spec::SoftmaxInLayout::empty
                                 ? StatisticsOrder::tokens_first
                                 : StatisticsOrder::heads_first;
    return Kernel::statistics_element(other, e, at);
  }
};

/// Fault: reads the statistics token by token if a sequence is longer than a tile, else head by
/// head.
struct OrderByLength : Kernel {
  std::int64_t statistics_element(const Op::Problem& p, const spec::Extents& e,
                                  const spec::RowPosition& at) const override {
    constexpr std::int64_t tile = 16;
    Op::Problem other = p;
    other.statistics_order =
        p.seq_q > tile ? StatisticsOrder::tokens_first : StatisticsOrder::heads_first;
    return Kernel::statistics_element(other, e, at);
  }
};

/// Fault: reads the statistics as if each head stored the tokens of all sequences together.
struct HeadsOfAllTokens : Kernel {
  std::int64_t statistics_element(const Op::Problem& p, const spec::Extents& e,
                                  const spec::RowPosition& at) const override {
    if (!is_packed(p.input_layout)) return Kernel::statistics_element(p, e, at);
    return (at.n * e.tokens() + e.start(at.b) + at.s) * spec::statistics_replicas;
  }
};

/// A kernel that declares its order of the statistics separately for three kinds of calls: entry
/// points u1 to u3, u4 with softmaxInLayout "", and u4 with "same_as_input".
template <class Base, DeclaredOrder others, DeclaredOrder empty, DeclaredOrder same_as_input>
struct Declares : Base {
  spec::Numerics numerics(const Op::Problem& problem) const override {
    spec::Numerics declared = Base::numerics(problem);
    declared.statistics_order = others;
    declared.statistics_order_empty = empty;
    declared.statistics_order_same_as_input = same_as_input;
    return declared;
  }
};

constexpr auto heads_first = DeclaredOrder::heads_first;
constexpr auto tokens_first = DeclaredOrder::tokens_first;
using ReadsHeadsFirst = ReadsAlways<StatisticsOrder::heads_first>;
using ReadsTokensFirst = ReadsAlways<StatisticsOrder::tokens_first>;

}  // namespace

std::vector<Mutant> healthy_statistics_orders() {
  return {
      healthy_in<Op, ReadsTokensFirst>(
          "tokens_first", "reads statistics as [T,N,8], and declares no order", ascend_like),
      healthy_in<Op, Declares<ReadsTokensFirst, tokens_first, tokens_first, tokens_first>>(
          "tokens_first_declared",
          "reads statistics as [T,N,8], and declares this "
          "order",
          ascend_like),
      healthy_in<Op, ReadsHeadsFirst>(
          "heads_first", "reads statistics heads first, and declares no order", flash_like),
      healthy_in<Op, Declares<ReadsAsPages, tokens_first, tokens_first, heads_first>>(
          "orders_of_pages",
          "swaps the meanings of the two values of softmaxInLayout, as the page "
          "of u4 does",
          flash_like),
  };
}

std::vector<Mutant> statistics_order_mutants() {
  return {
      injected<Declares<ReadsHeadsFirst, heads_first, heads_first, tokens_first>>(
          "same_as_input_ignored", "statistics are always read heads first"),
      injected<Declares<ReadsTokensFirst, heads_first, heads_first, heads_first>>(
          "heads_first_not_read", "statistics are read as [T,N,8], but heads first is declared",
          ascend_like),
      injected<Declares<OrderByLength, heads_first, heads_first, heads_first>>(
          "order_by_length", "statistics of long sequences are read in another order", ascend_like),
      injected<OrderByLength>("order_by_length_undeclared",
                              "statistics of long and of short sequences are read in different "
                              "orders, and no order is declared",
                              ascend_like),
      injected<HeadsOfAllTokens>("heads_of_all_tokens",
                                 "statistics are read head by head over all sequences"),
  };
}

}  // namespace assay::mutants
