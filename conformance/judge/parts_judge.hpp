#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "assay/conformance/judge/expectation.hpp"
#include "assay/conformance/result/decision.hpp"
#include "judge/certainty.hpp"
#include "judge/elements/controls.hpp"
#include "judge/elements/tally.hpp"

namespace assay::conformance {

/// Judges the outputs part by part while their expected values are computed. It stores only the
/// expected rows that need more than double precision. The result does not depend on threads,
/// because parts are judged separately and their results are combined in the order of the rows.
class PartsJudge {
 public:
  /// Returns the values of some rows of the output tensor that `of` describes.
  using ReadRows =
      std::function<std::vector<double>(const Expectation& of, std::span<const std::int64_t> rows)>;

  /// `frames`: one description per output tensor, still without expected values. Keeps references
  /// to `frames` and `arithmetic`. `certifier` may be null, as in `Certifier::certify`.
  PartsJudge(const std::vector<Expectation>& frames, ReadRows read, const Arithmetic& arithmetic,
             std::shared_ptr<Certifier> certifier);

  /// Judges one part. Pass this function as the callback `TakePart`.
  void take(Expectation& part);

  /// Must be called after the last part. Compares one row of every tensor with the definition (the
  /// reference in high precision), if this takes at most `most_products` multiplications. Also uses
  /// the definition for all rows that need more than double precision. Completes the reports of the
  /// tensors, and adds their findings and negative controls. Errors: the errors of
  /// Certifier::require_agreement; std::logic_error if rows are missing.
  Decision finish(std::int64_t most_products, CaseReport& report,
                  std::vector<ControlResult>& controls);

 private:
  /// The results of a range of consecutive rows.
  struct Judged {
    Tally tally;
    Controls controls = {};
    std::int64_t rows = 0;
  };
  struct OfTensor {
    const Expectation* whole;
    Judged judged;                                 ///< results of rows 0, 1, ... without gaps
    std::map<std::int64_t, Judged> ahead;          ///< results of later rows; key: first row
    std::map<std::int64_t, Expectation> deferred;  ///< rows that need the definition
    std::vector<Expectation> middle;               ///< the row that is compared with the definition
  };

  OfTensor& of(const Expectation& part);
  void add(const OfTensor& tensor, const Expectation& part, Judged& judged) const;
  /// Judges the rows that do not need the definition (the reference in high precision), and stores
  /// the other rows for finish().
  void add_certain(OfTensor& tensor, const Expectation& part, Judged& judged);
  /// Appends the results `judged` if their rows directly follow the rows that are already judged.
  /// Otherwise stores them until the rows between are judged.
  void append(OfTensor& tensor, std::int64_t place, Judged&& judged);
  void keep_middle(OfTensor& tensor, const Expectation& part);

  ReadRows read_;
  /// Returns the arithmetic for the type of a tensor.
  const Arithmetic& of_type(const Expectation& e) const {
    return e.is_fp32 ? of_fp32_ : arithmetic_;
  }

  const Arithmetic& arithmetic_;
  const Arithmetic of_fp32_;
  std::shared_ptr<Certifier> certifier_;
  std::vector<OfTensor> tensors_;
  std::mutex mutex_;
};

}  // namespace assay::conformance
