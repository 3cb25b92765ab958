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

/// Judges outputs while their expectations are made, part by part. It stores only those expected
/// rows for which double is not accurate enough. The result does not depend on threads: parts are
/// judged separately, and their results are combined in the order of the rows.
class PartsJudge {
 public:
  /// Returns the values of some rows of the output tensor that `of` describes.
  using ReadRows =
      std::function<std::vector<double>(const Expectation& of, std::span<const std::int64_t> rows)>;

  /// `frames` describe the output tensors; their lists of expected values are empty. Keeps
  /// references to `frames` and `arithmetic`. `certifier` may be null, as in `Certifier::certify`.
  PartsJudge(const std::vector<Expectation>& frames, ReadRows read, const Arithmetic& arithmetic,
             std::shared_ptr<Certifier> certifier);

  /// Judges a part. Pass this function as a `TakePart`.
  void take(Expectation& part);

  /// Call it after the last part. Calls the definition for one row of every tensor, if this takes
  /// at most `most_products` multiplications, and for all rows for which double is not accurate
  /// enough. Completes the reports of the tensors, and adds their findings and controls.
  /// Errors: as Certifier::require_agreement; std::logic_error if rows are missing.
  Decision finish(std::int64_t most_products, CaseReport& report,
                  std::vector<ControlResult>& controls);

 private:
  /// The results of consecutive judged rows.
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
  /// Judges the rows that do not need the definition, and keeps the others for finish().
  void add_certain(OfTensor& tensor, const Expectation& part, Judged& judged);
  /// Appends `judged` if it continues the rows judged so far. Otherwise stores it until the rows
  /// before it are judged.
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
