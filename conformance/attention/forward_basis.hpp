#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/conformance/judge/expectation.hpp"
#include "attention/bound/forward.hpp"
#include "attention/dense.hpp"
#include "judge/basis.hpp"
#include "judge/decide.hpp"
#include "judge/definition.hpp"

namespace assay::conformance {

/// The outputs of a forward case: attention_out, and the two statistics of each row. Each statistic
/// has eight equal copies.
struct ForwardTensors {
  const spec::Tensor &softmax_max, &softmax_sum, &attention_out;
};

/// Base class with the data and functions that judge a forward case. The class works for any rule
/// that decides which query attends to which key. judge/basis.hpp describes the members. Each
/// operator derives its own Basis from this class and adds the other members.
class ForwardBasis {
 public:
  /// Keeps a reference to the arithmetic. `judged`: the row numbers of the judged queries, in
  /// ascending order.
  ForwardBasis(attention::Dense dense, std::vector<std::int64_t> judged,
               const Arithmetic& arithmetic, std::uint64_t seed);

  /// Returns the expectations (expected values and tolerances) of softmax_max, softmax_sum and
  /// attention_out. The expected softmax_sum belongs to the exact maximum, so `values` must convert
  /// the kernel's sum (see `transported`). For saves=lse there is only one expected statistic, m +
  /// ln z (row maximum plus logarithm of the softmax sum), under the name softmax_max.
  std::vector<Expectation> expectations() const;
  std::vector<TileSums> tile_sums(bool averages) const;
  bool consistent() const { return true; }  ///< no input is the result of another one

 protected:
  const attention::Dense& dense() const { return dense_; }
  const spec::Numerics& numerics() const { return arithmetic_.numerics; }
  /// `definition` computes the statistics and the output with high precision. Returns a definition
  /// of the judged outputs; these differ with saves=lse, because the judge then compares m + ln z
  /// (the log-sum-exp).
  std::unique_ptr<Definition> definition_from(std::unique_ptr<Definition> of_statistics) const;

  /// Checks every element of all outputs, including rows that are not judged: storage, equal copies
  /// of statistics, finite values, and zeros in rows without an unmasked key.
  std::vector<Finding> check_structure(const ForwardTensors& outputs) const;
  /// Returns the values of some rows of an output. For a statistic, returns the first of the eight
  /// copies.
  std::vector<double> values(const RowsOf& rows, const ForwardTensors& outputs) const;
  /// Equation E48. Converts softmax_sum of a judged row. The kernel's sum belongs to the maximum
  /// that the kernel found; the result belongs to the exact maximum.
  double transported(std::int64_t row, double softmax_max, double softmax_sum) const;

 private:
  /// A function that returns a statistic of a row and the bounds of its error.
  using Value =
      std::function<std::pair<double, attention::Limits>(const attention::ForwardRow& row)>;

  /// Returns the statistics of the judged rows. The first call computes them, so no other thread
  /// may use the object during this call. Exact cases need no statistics.
  const std::vector<attention::ForwardRow>& rows() const;
  const attention::ForwardRow& row(std::int64_t number) const;
  spec::Extents statistics_extents() const;
  Expectation of_statistic(const std::string& name, const Value& value_of) const;
  std::vector<Expectation> of_statistics() const;
  Expectation of_output(std::span<const std::int64_t> rows) const;
  void add_channels(Expectation& e) const;
  void add_tiles(const std::vector<std::int64_t>& rows, const std::vector<std::size_t>& tile_of,
                 bool averages, TileSums& sums) const;
  void check_rows(const spec::Tensor& output, std::vector<Finding>& findings) const;
  bool attends(const spec::RowPosition& query, std::vector<std::uint8_t>& times) const;
  std::vector<double> statistics(const spec::Tensor& tensor,
                                 std::span<const std::int64_t> rows) const;

  attention::Dense dense_;
  std::vector<std::int64_t> judged_;
  const Arithmetic& arithmetic_;
  std::uint64_t seed_;
  mutable std::optional<std::vector<attention::ForwardRow>> rows_;  ///< see rows()
};

}  // namespace assay::conformance
