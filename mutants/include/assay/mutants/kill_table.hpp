#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "assay/conformance/operators.hpp"
#include "assay/conformance/result/verdict.hpp"
#include "assay/mutants/mutant.hpp"

namespace assay::mutants {

/// Returns the cases on which every mutant of Op is judged. The cases are small. For each injected
/// fault, at least one case detects it.
template <class Op>
std::vector<conformance::Case<Op>> kill_cases();

/// The number of cases of one track (kind of check) on which a mutant was judged, and how many of
/// them failed.
struct TrackCount {
  std::int64_t cases = 0, failed = 0;
};

/// The results of one mutant (kernel with an injected fault, or correct variant) in the kill table.
struct KillRow {
  MutantFacts mutant;
  std::int64_t cases = 0;   ///< judged cases; excludes cases that do not apply to the mutant
  std::int64_t failed = 0;  ///< cases with a verdict of nonconformance
  std::map<conformance::Verdict, std::int64_t> verdicts;
  /// For each rule of the judge: the number of failed cases that only this rule detected. Cases
  /// that several rules detected count under "several".
  std::map<std::string, std::int64_t> caught_by;
  std::map<std::string, TrackCount> by_track;  ///< counts per track name
  /// Number of cases judged up to and including the first failure; 0: no case failed.
  std::int64_t cases_to_kill = 0;
  double seconds_to_kill = 0;  ///< time to judge these cases; excludes work that mutants share
  double worst = 0;            ///< largest |error| / tau
  std::string replay, text;    ///< replay line and first finding of the first failed case
  std::string cause;           ///< first cause found in its failed cases: pattern, fields
  /// For each rule (Assay's and those of other projects): true if the rule reports a failure in a
  /// case with ordinary values. Empty if no such case exists.
  std::vector<bool> fails = {};

  /// Returns whether the judge found the injected fault, or accepted the correct variant. Returns
  /// false if no case was judged.
  bool as_expected() const;
};

/// Results of an accuracy rule of another project on the same runs. `faults_detected` and
/// `correct_rejected`: the numbers of injected faults, and of correct variants, for which the rule
/// reports a failure. The members that end in `_asked`: the numbers of faults, and of correct
/// variants, to which the rule was applied.
struct YardstickRow {
  std::string name;
  std::int64_t faults_detected = 0, faults_judged = 0, correct_rejected = 0, correct_judged = 0;
};

/// A case, and the mutants (kernels with a fault) that fail on it.
struct Detection {
  std::string operator_name, replay;
  double expected_seconds = 0;  ///< expected cost of the case, on one processor
  std::vector<std::string> mutants;
};

struct KillTable {
  std::vector<KillRow> rows;
  std::vector<Detection> detections;  ///< one for each judged case
  std::int64_t cases = 0, threads = 0;
  double seconds = 0;
  bool interrupted = false;

  bool as_expected() const;
  /// Returns the results of each accuracy rule. Assay's own rule is first.
  std::vector<YardstickRow> yardsticks() const;
};

struct KillControl {
  std::int64_t threads = 0;  ///< 0: all host threads
  /// A stop flag, which is read between cases. If it is true, the table ends early and
  /// `interrupted` is set.
  const std::atomic<bool>* stop = nullptr;
  /// Called after each case, never concurrently. Arguments: the number of finished cases and the
  /// total number of cases.
  std::function<void(std::int64_t done, std::int64_t all)> progress;
};

/// Judges every mutant on every case for its `Subject` (the part of the kernel that its fault
/// affects). The rows of the table do not depend on the number of threads.
template <class Op>
KillTable kill_table(const std::vector<MutantOf<Op>>& mutants,
                     const std::vector<conformance::Case<Op>>& cases,
                     const KillControl& control = {});

}  // namespace assay::mutants
