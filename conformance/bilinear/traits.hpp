#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/spec/table.hpp"
#include "bilinear/definition.hpp"
#include "bilinear/form.hpp"
#include "inputs/input_profiles.hpp"
#include "judge/relations/relation.hpp"

/// Traits: what an operator adds to the shared suite of operators with sums of products.
namespace assay::conformance::bilinear {

/// An input profile: a distribution of the input values.
struct Profile {
  std::string_view name, sentence;
  ProfileValue value;
};

/// An operator must provide the following: a specialisation of Traits. It derives from
/// PlainTraits<Op> and adds:
///
///   /// Describes the products of every output row; `form_of_table` writes most of it.
///   static Form form(const Op::Problem&);
///   /// The definition: made from a problem with one head and the rows of each input.
///   using Oracle = ...;
///   /// Returns a row of output number `sum` of the only head.
///   static std::vector<reference::Wide> row(const Oracle&, std::size_t sum, const RowPosition&);
///   /// The sizes and attributes of the problem.
///   static constexpr Field<Op::Problem> fields[] = ...;
template <class Op>
struct Traits;

/// The members that an operator may add, too.
template <class Op>
struct PlainTraits {
  static constexpr std::span<const Profile> profiles = {};  ///< in addition to the common ones
  static constexpr std::span<const Relation<Op>> relations = {};
  /// Rejects a problem for which no tensors exist. Errors: std::invalid_argument, see `refuse`.
  static void require_possible(const typename Op::Problem&) {}
};

/// Values of a field that kernels may handle in the same way: first, first + step, ... last.
struct Values {
  std::string_view name;
  std::int64_t first = 0, last = 0, step = 1;

  bool has(std::int64_t value) const {
    return value >= first && value <= last && (value - first) % step == 0;
  }
};

/// An integer field of a problem: the accepted values `first` to `last`, and the values of random
/// cases. If it has several groups of values, the field is a factor: coverage counts these groups.
template <class Problem>
struct Field {
  static constexpr std::size_t most_groups = 8;

  std::int64_t Problem::*member;
  std::int64_t first, last;
  Values groups[most_groups];               ///< unused ones have no name
  std::string_view limit_requirement = {};  ///< id of the requirement that sets the limits

  std::span<const Values> drawn() const {
    std::size_t count = 0;
    while (count < most_groups && !groups[count].name.empty()) ++count;
    return {groups, count};
  }
  /// Returns the index of the group of `value`. A value in no group counts for the last group.
  std::size_t group_of(std::int64_t value) const {
    std::size_t k = 0;
    while (k + 1 < drawn().size() && !groups[k].has(value)) ++k;
    return k;
  }
};

/// Describes an output by its tokens: the sum of products is the same for all heads.
struct TokenSum {
  std::size_t left, right;  ///< numbers of its two inputs, see Sum
  std::int64_t products;    ///< of an element, at most
  /// Writes the pairs of tokens (one of each input) whose products are added to output token
  /// `token`.
  std::function<void(std::int64_t token, std::vector<RowPair>& pairs)> pairs;
  bool few = false;  ///< see Sum
};

/// Returns the extents of a tensor (tokens, heads, channels) or (tokens, heads).
inline spec::Extents extents_of(const spec::Shape& shape) {
  return {.batch = 1, .heads = shape[1], .seq = shape[0], .dim = shape.size() > 2 ? shape[2] : 1};
}

/// Returns the form of an operator whose tensors are (tokens, heads, channels) or (tokens, heads):
/// inputs and outputs as in `table_of`. `sums`: one entry for each output. Exact cases thin out the
/// right input of the first output.
template <class Op>
Form form_of_table(const typename Op::Problem& problem, const std::vector<TokenSum>& sums) {
  Form form{.operands = {}, .thinned = sums.front().right, .sums = {}};
  spec::visit_table<Op>([&](const auto& tensor) {
    if constexpr (requires(typename Op::Inputs & inputs) { inputs.*tensor.member; }) {
      form.operands.push_back({extents_of(tensor.shape(problem)), stream_named(tensor.name)});
    } else if constexpr (requires { tensor.shape; }) {
      const spec::Shape shape = tensor.shape(problem);
      const TokenSum& sum = sums[form.sums.size()];
      form.sums.push_back(
          {.name = tensor.name,
           .extents = extents_of(shape),
           .left = sum.left,
           .right = sum.right,
           .contracts = shape.size() == 2,
           .few = sum.few,
           .products = sum.products,
           .pairs = [left = form.operands[sum.left].extents,
                     right = form.operands[sum.right].extents, tokens = sum.pairs](
                        const spec::RowPosition& row, std::vector<RowPair>& pairs) {
             std::size_t k = pairs.size();
             for (tokens(row.s, pairs); k < pairs.size(); ++k)
               pairs[k] = {left.row(0, row.n, pairs[k].left), right.row(0, row.n, pairs[k].right)};
           }});
    }
  });
  return form;
}

}  // namespace assay::conformance::bilinear
