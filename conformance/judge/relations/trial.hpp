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
#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/judge/relations.hpp"
#include "assay/spec/call.hpp"
#include "assay/spec/layout.hpp"
#include "assay/spec/numerics.hpp"
#include "assay/spec/tensor.hpp"

/// The runs of a kernel that relations compare. Each run has a problem and the values of its
/// inputs. The values are stored in plain rows that can be moved to other positions.
namespace assay::conformance {

/// Every operator with relations (statements about several runs) must provide a type RelationParts
/// in Suite<Op>, defined in the folder of the operator. It derives from PlainRelationParts<Op> and
/// adds:
///
///   using Rows = ...;     /// the values of the inputs, comparable; `operands` lists its members
///   using Origins = ...;  /// an Origin for each kind of rows that are moved together
///   static std::span<const Operand<Op>> operands();
///   static std::span<const ComparedOutput<Op>> outputs();
///   static std::vector<const Relation<Op>*> relations();
///   static Rows rows_of(const Op::Problem&, const Op::Inputs&);
///   /// Returns a run of `problem`; its rows are rows of `base` at other positions.
///   static Trial<Op> rearranged(const Trial<Op>& base, const Op::Problem&, const Origins&);
///   /// Returns about how many multiply-adds the tolerances of all elements of a run take.
///   static double cost_of_bounds(const Op::Problem&);
template <class Op>
using RelationParts = typename Suite<Op>::RelationParts;

/// A function that returns the row from which a given row is copied; nothing if the given row is
/// filled with zeros.
using Origin = std::function<std::optional<spec::RowPosition>(const spec::RowPosition&)>;
inline std::optional<spec::RowPosition> same_row(const spec::RowPosition& row) { return row; }

/// An input with rows that may be moved to other positions.
template <class Op>
struct Operand {
  using Problem = typename Op::Problem;
  using Rows = typename RelationParts<Op>::Rows;
  using Origins = typename RelationParts<Op>::Origins;

  std::string_view name;  ///< name of the input
  std::vector<double> Rows::*rows;
  spec::Extents (*extents)(const Problem&);  ///< dim 0: the problem has no such input
  Origin Origins::*origin;
  /// Returns a tensor with these row values. `parameter` describes its shape and strides.
  spec::Tensor (*tensor)(const spec::Parameter&, const Problem&, const spec::Extents&,
                         const std::vector<double>&);
};

/// A function that returns the storage index of element (b, n, s, d) of an output.
using ElementIndex =
    std::function<std::int64_t(std::int64_t b, std::int64_t n, std::int64_t s, std::int64_t d)>;

/// An output that relations compare element by element.
template <class Op>
struct ComparedOutput {
  using Problem = typename Op::Problem;
  using Origins = typename RelationParts<Op>::Origins;

  std::string_view name;                     ///< name of the output
  spec::Extents (*extents)(const Problem&);  ///< dim 0: the problem has no such output
  Origin Origins::*origin;
  /// Returns a function that finds the storage index of each element of the output.
  ElementIndex (*index)(const Problem&, const spec::Tensor&, const spec::Extents&);
};

/// The elements of each output, by name; also used for other data with one number per element. Rows
/// are in the order of Extents::row.
using OutputValues = std::map<std::string, std::vector<double>, std::less<>>;

/// One run: a problem and its inputs. The element type of the problem can represent all input
/// values.
template <class Op>
struct Trial {
  typename Op::Problem problem;
  typename RelationParts<Op>::Rows rows;
  typename RelationParts<Op>::Side side = {};  ///< inputs that do not consist of rows
  spec::Strides inputs, outputs;

  /// Returns whether both trials give a kernel the same call and the same inputs.
  friend bool operator==(const Trial&, const Trial&) = default;
};

/// Default definitions that fit most operators.
template <class Op>
struct PlainRelationParts {
  using Side = std::monostate;
  static Side side_of(const typename Op::Inputs&) { return {}; }
  /// Copies those inputs of a trial that do not consist of rows into `Inputs`.
  static void add_side(const Trial<Op>&, const typename Op::Parameters&, typename Op::Inputs&) {}
  /// offers(): returns whether the entry point has all parameters that the problem needs.
  /// entry_point_of(): returns an entry point that has all of them.
  static bool offers(typename Op::EntryPoint, const typename Op::Problem&) { return true; }
  static typename Op::EntryPoint entry_point_of(const typename Op::Problem&) { return {}; }
  /// Converts the outputs of a run to the values that are compared with other runs.
  static OutputValues compared_values(OutputValues values, const spec::Numerics&) { return values; }
  /// Returns whether this output is compared bit by bit in exact cases.
  static bool has_exact_bits(std::string_view, const spec::Numerics&) { return true; }
  /// Name and description of a check of the track `relation` that does not compare several runs,
  /// such as `cascade` (a forward followed by its gradient). Empty if the operator has no such
  /// check.
  static constexpr RelationText other = {};
};

/// Returns the input tensors of a trial (one run of the kernel), with the strides of the trial.
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

/// Copies rows from `values` to other positions. `own` describes the order of `values`, `to` the
/// order of the result.
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

/// Returns the rows of a trial (one run of the kernel), moved to their positions in `problem`.
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

/// Calls visit(output, its extents) for every output of the problem.
template <class Op, class Visitor>
void visit_outputs(const typename Op::Problem& problem, Visitor&& visit) {
  for (const ComparedOutput<Op>& output : RelationParts<Op>::outputs())
    if (const spec::Extents extents = output.extents(problem); extents.dim > 0)
      visit(output, extents);
}

/// Returns the values of the outputs. Errors: std::runtime_error if an output is missing.
template <class Op>
OutputValues output_values(const typename Op::Problem& problem,
                           const typename Op::Outputs& outputs) {
  OutputValues all;
  visit_outputs<Op>(problem, [&](const ComparedOutput<Op>& output, const spec::Extents& extents) {
    const spec::Tensor* written = find_tensor(outputs, output.name);
    if (!written) throw std::runtime_error("it returned no " + std::string(output.name));
    const ElementIndex index = output.index(problem, *written, extents);
    std::vector<double>& values = all[std::string(output.name)];
    for (std::int64_t row = 0; row < extents.rows(); ++row)
      for (std::int64_t d = 0; d < extents.dim; ++d) {
        const auto [b, n, s] = extents.position(row);
        values.push_back(written->load(index(b, n, s, d)));
      }
  });
  return all;
}

/// Returns outputs in which every element is 0.
template <class Op>
OutputValues zero_outputs(const typename Op::Problem& problem) {
  OutputValues all;
  visit_outputs<Op>(problem, [&](const ComparedOutput<Op>& output, const spec::Extents& e) {
    all[std::string(output.name)].assign(static_cast<std::size_t>(e.rows() * e.dim), 0.0);
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

/// Returns the sum a + b for each output that both contain. All other outputs are those of a.
inline OutputValues plus(OutputValues a, const OutputValues& b) {
  for (const auto& [name, values] : b) a[name] = plus(std::move(a[name]), values);
  return a;
}

/// Returns channels `first` to `first + count - 1` of every row. Each row has `dim` channels.
inline std::vector<double> channels(const std::vector<double>& rows, std::int64_t dim,
                                    std::int64_t first, std::int64_t count) {
  std::vector<double> some;
  for (auto row = rows.begin(); row != rows.end(); row += dim)
    some.insert(some.end(), row + first, row + first + count);
  return some;
}

/// Joins the channels of two inputs: each row of a is followed by the same row of b.
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
