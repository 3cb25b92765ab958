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

/// Judges outputs while their expectations are made, part for part: of these no more is kept than
/// rows that double does not know well enough. What threads do does not change a bit: parts are
/// judged apart and put together in the order of their rows.
class PartsJudge {
 public:
  /// Values of some rows of the output that an expectation is about.
  using ReadRows =
      std::function<std::vector<double>(const Expectation& of, std::span<const std::int64_t> rows)>;

  /// `frames` are the expectations without their entries; they and the arithmetic are referred to.
  /// `certifier` may be null, as of `Certifier::certify`.
  PartsJudge(const std::vector<Expectation>& frames, ReadRows read, const Arithmetic& arithmetic,
             std::shared_ptr<Certifier> certifier);

  /// Judges a part; a `TakePart`.
  void take(Expectation& part);

  /// All parts were taken. The definition is asked for a row of every tensor, if that takes
  /// `most_products` multiplications at most, and for rows that are not known well enough.
  /// Completes the reports of the tensors and adds their findings and controls.
  /// Errors: as of Certifier::require_agreement; std::logic_error where rows are missing.
  Decision finish(std::int64_t most_products, CaseReport& report,
                  std::vector<ControlResult>& controls);

 private:
  /// Consecutive judged rows.
  struct Judged {
    Tally tally;
    Controls controls = {};
    std::int64_t rows = 0;
  };
  struct OfTensor {
    const Expectation* whole;
    Judged judged;                                 ///< the first rows
    std::map<std::int64_t, Judged> ahead;          ///< by the place of their first row: others
    std::map<std::int64_t, Expectation> deferred;  ///< rows of which the definition is asked
    std::vector<Expectation> middle;               ///< the row that has to agree with it
  };

  OfTensor& of(const Expectation& part);
  void add(const OfTensor& tensor, const Expectation& part, Judged& judged) const;
  /// Adds the rows that need no definition and puts aside the others.
  void add_certain(OfTensor& tensor, const Expectation& part, Judged& judged);
  /// What is next to what was judged of the tensor is put together with it.
  void append(OfTensor& tensor, std::int64_t place, Judged&& judged);
  void keep_middle(OfTensor& tensor, const Expectation& part);

  ReadRows read_;
  const Arithmetic& arithmetic_;
  std::shared_ptr<Certifier> certifier_;
  std::vector<OfTensor> tensors_;
  std::mutex mutex_;
};

}  // namespace assay::conformance
