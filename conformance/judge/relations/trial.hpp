#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "assay/conformance/case/case.hpp"
#include "assay/conformance/judge/relations.hpp"
#include "assay/spec/call.hpp"
#include "assay/spec/layout.hpp"
#include "assay/spec/tensor.hpp"

/// Runs of a kernel as relations see them: problems with their numbers in plain rows, which may
/// change places, and the gradients that come out.
namespace assay::conformance {

/// What relations need to know of an operator: the member of Suite<Op>, a type of its room as Basis
/// is. It derives from PlainRelationParts<Op> and has besides:
///
///   using Rows = ...;     /// the numbers of the inputs, comparable; `operands` lists its members
///   using Origins = ...;  /// an Origin for each kind of rows that change places together
///   static std::span<const Operand<Op>> operands();
///   static std::span<const Gradient<Op>> gradients();
///   static std::vector<const Relation<Op>*> relations();
///   static Rows rows_of(const Op::Problem&, const Op::Inputs&);
///   /// The trial of `problem` whose rows are those of `base` at other places.
///   static Trial<Op> rearranged(const Trial<Op>& base, const Op::Problem&, const Origins&);
///   /// Multiply-adds of the tolerances of all elements of a run, roughly.
///   static double cost_of_bounds(const Op::Problem&);
template <class Op>
using RelationParts = typename Suite<Op>::RelationParts;

/// Where a row comes from, told by where it goes to; nothing: a row of zeros.
using Origin = std::function<std::optional<spec::RowPosition>(const spec::RowPosition&)>;
inline std::optional<spec::RowPosition> same_row(const spec::RowPosition& row) { return row; }

/// An input whose rows may change places.
template <class Op>
struct Operand {
  using Problem = typename Op::Problem;
  using Rows = typename RelationParts<Op>::Rows;
  using Origins = typename RelationParts<Op>::Origins;

  std::string_view name;  ///< that of the input
  std::vector<double> Rows::*rows;
  spec::Extents (*extents)(const Problem&);  ///< without channels: the problem has no such input
  Origin Origins::*origin;
  /// The tensor that a parameter describes, with the numbers of the rows.
  spec::Tensor (*tensor)(const spec::Parameter&, const Problem&, const spec::Extents&,
                         const std::vector<double>&);
};

/// An output whose elements relations compare.
template <class Op>
struct Gradient {
  using Problem = typename Op::Problem;
  using Origins = typename RelationParts<Op>::Origins;

  std::string_view name;                     ///< that of the output
  spec::Extents (*extents)(const Problem&);  ///< without channels: the problem has no such output
  Origin Origins::*origin;
  /// Where its elements lie.
  spec::HeadIndex (*index)(const Problem&, const spec::Tensor&, const spec::Extents&);
};

/// Numbers of gradients by their names, or something else that each of their elements has; rows in
/// the order of Extents::row.
using Gradients = std::map<std::string, std::vector<double>, std::less<>>;

/// One run: a problem and what it is given. Numbers are values of their type.
template <class Op>
struct Trial {
  typename Op::Problem problem;
  typename RelationParts<Op>::Rows rows;
  typename RelationParts<Op>::Side side = {};  ///< inputs that are no rows
  spec::Strides inputs, outputs;

  /// Whether both ask a kernel for the very same thing.
  friend bool operator==(const Trial&, const Trial&) = default;
};

/// What the parts of most operators have in common.
template <class Op>
struct PlainRelationParts {
  using Side = std::monostate;
  static Side side_of(const typename Op::Inputs&) { return {}; }
  /// Adds the inputs that are no rows.
  static void add_side(const Trial<Op>&, const typename Op::Parameters&, typename Op::Inputs&) {}
  /// Whether an entry point has all parameters that a problem needs, and one that has them.
  static bool offers(typename Op::EntryPoint, const typename Op::Problem&) { return true; }
  static typename Op::EntryPoint entry_point_of(const typename Op::Problem&) { return {}; }
  /// What is judged in the track of relations without being one.
  static constexpr RelationText other = {};
};

/// The tensors of a trial, strided as it says.
template <class Op>
typename Op::Inputs inputs_of(const Trial<Op>& t) {
  using Parts = RelationParts<Op>;
  const auto call =
      call_of(t.problem, Parts::entry_point_of(t.problem), spec::Product::a2, t.inputs, t.outputs);
  typename Op::Inputs inputs;
  for (const Operand<Op>& operand : Parts::operands()) {
    const spec::Extents extents = operand.extents(t.problem);
    if (extents.dim == 0) continue;
    const spec::Parameter* described = nullptr;
    visit_fields(call.parameters, [&](std::string_view name, const auto& parameter) {
      if constexpr (std::is_same_v<decltype(parameter), const spec::Parameter&>)
        if (name == operand.name) described = &parameter;
    });
    visit_fields(inputs, [&](std::string_view name, auto& tensor) {
      if (name == operand.name)
        tensor = operand.tensor(*described, t.problem, extents, t.rows.*operand.rows);
    });
  }
  Parts::add_side(t, call.parameters, inputs);
  return inputs;
}

/// Rows of `to` copied from those of `values`, which `own` numbers.
template <class Number>
std::vector<Number> gathered(const std::vector<Number>& values, const spec::Extents& own,
                             const spec::Extents& to, const Origin& origin) {
  std::vector<Number> rows(static_cast<std::size_t>(to.rows() * to.dim));
  for (std::int64_t row = 0; row < to.rows(); ++row)
    if (const auto from = origin(to.position(row)))
      std::copy_n(values.begin() + own.row(from->b, from->n, from->s) * to.dim, to.dim,
                  rows.begin() + row * to.dim);
  return rows;
}

/// The rows of a trial at the places of `problem`.
template <class Op>
typename RelationParts<Op>::Rows moved_rows(const Trial<Op>& base,
                                            const typename Op::Problem& problem,
                                            const typename RelationParts<Op>::Origins& origins) {
  typename RelationParts<Op>::Rows rows;
  for (const Operand<Op>& operand : RelationParts<Op>::operands())
    if (const spec::Extents to = operand.extents(problem); to.dim > 0)
      rows.*operand.rows = gathered(base.rows.*operand.rows, operand.extents(base.problem), to,
                                    origins.*operand.origin);
  return rows;
}

/// Calls visit(gradient, its extents) for every gradient that the problem has.
template <class Op, class Visitor>
void visit_gradients(const typename Op::Problem& problem, Visitor&& visit) {
  for (const Gradient<Op>& gradient : RelationParts<Op>::gradients())
    if (const spec::Extents extents = gradient.extents(problem); extents.dim > 0)
      visit(gradient, extents);
}

/// What an output holds. Errors: std::runtime_error where it is no longer there.
template <class Op>
Gradients gradients_of(const typename Op::Problem& problem, const typename Op::Outputs& outputs) {
  Gradients all;
  visit_gradients<Op>(problem, [&](const Gradient<Op>& gradient, const spec::Extents& extents) {
    const spec::Tensor* written = nullptr;
    visit_fields(outputs, [&](std::string_view name, const auto& tensor) {
      if (name != gradient.name) return;
      if constexpr (std::is_same_v<decltype(tensor), const spec::Tensor&>)
        written = &tensor;
      else if (tensor)
        written = &*tensor;
    });
    if (!written) throw std::runtime_error("it left no " + std::string(gradient.name));
    const spec::HeadIndex index = gradient.index(problem, *written, extents);
    std::vector<double>& values = all[std::string(gradient.name)];
    for (std::int64_t row = 0; row < extents.rows(); ++row)
      for (std::int64_t d = 0; d < extents.dim; ++d) {
        const auto [b, n, s] = extents.position(row);
        values.push_back(written->load(index(b, n, s, d)));
      }
  });
  return all;
}

/// Every element 0.
template <class Op>
Gradients zero_gradients(const typename Op::Problem& problem) {
  Gradients all;
  visit_gradients<Op>(problem, [&](const Gradient<Op>& gradient, const spec::Extents& e) {
    all[std::string(gradient.name)].assign(static_cast<std::size_t>(e.rows() * e.dim), 0.0);
  });
  return all;
}

inline std::vector<double> times(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

inline std::vector<double> plus(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] += b[k];
  return a;
}

/// a + b, of those that b has.
inline Gradients plus(Gradients a, const Gradients& b) {
  for (const auto& [name, values] : b) a[name] = plus(std::move(a[name]), values);
  return a;
}

/// Channels [first, first + count) of rows of `dim` channels.
inline std::vector<double> channels(const std::vector<double>& rows, std::int64_t dim,
                                    std::int64_t first, std::int64_t count) {
  std::vector<double> some;
  for (auto row = rows.begin(); row != rows.end(); row += dim)
    some.insert(some.end(), row + first, row + first + count);
  return some;
}

/// Rows of a with those of b behind them: [a | b].
inline std::vector<double> joined(const std::vector<double>& a, std::int64_t dim_a,
                                  const std::vector<double>& b, std::int64_t dim_b) {
  std::vector<double> wide;
  for (auto low = a.begin(), high = b.begin(); low != a.end(); low += dim_a, high += dim_b) {
    wide.insert(wide.end(), low, low + dim_a);
    wide.insert(wide.end(), high, high + dim_b);
  }
  return wide;
}

}  // namespace assay::conformance
