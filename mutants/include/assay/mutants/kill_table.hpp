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

/// The cases on which every mutant of Op is judged. They are small, and for each injected fault at
/// least one case exposes it.
template <class Op>
std::vector<conformance::Case<Op>> kill_cases();

/// The number of cases of one track (kind of check) on which a mutant was judged, and how many of
/// them failed.
struct TrackCount {
  std::int64_t cases = 0, failed = 0;
};

/// The results of one mutant.
struct KillRow {
  MutantFacts mutant;
  std::int64_t cases = 0;   ///< judged cases; excludes cases that do not apply to the mutant
  std::int64_t failed = 0;  ///< cases with a verdict of nonconformance
  std::map<conformance::Verdict, std::int64_t> verdicts;
  /// Failed cases for each rule, if only this rule detected the failure; all others as "several".
  std::map<std::string, std::int64_t> caught_by;
  std::map<std::string, TrackCount> by_track;  ///< counts per track name
  /// Cases judged up to and including the first failure; 0: no case failed.
  std::int64_t cases_to_kill = 0;
  double seconds_to_kill = 0;  ///< time to judge these cases; excludes work that mutants share
  double worst = 0;            ///< largest |error| / tau
  std::string replay, text;    ///< replay line and first finding of the first failed case
  std::string cause;           ///< first cause found in its failed cases: pattern, fields
  /// For each rule (Assay's and those of other projects): does it report a failure in a case with
  /// ordinary values? Empty if no such case exists.
  std::vector<bool> fails = {};

  /// Returns whether an injected fault was found, or a correct variant conformed. False without
  /// cases.
  bool as_expected() const;
};

/// Results of an accuracy rule of another project on the same runs. `faults_detected` and
/// `correct_rejected`: the number of injected faults, and of correct variants, for which the rule
/// reports a failure. `*_asked`: the numbers of faults and of correct variants that the rule
/// judged.
struct YardstickRow {
  std::string name;
  std::int64_t faults_detected = 0, faults_judged = 0, correct_rejected = 0, correct_judged = 0;
};

/// A case, and the mutants that fail on it.
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
  /// Returns the results of each rule. Assay's own rule is first.
  std::vector<YardstickRow> yardsticks() const;
};

struct KillControl {
  std::int64_t threads = 0;  ///< 0: all host threads
  /// The table reads this between cases. If it is true, the table ends early and `interrupted` is
  /// set.
  const std::atomic<bool>* stop = nullptr;
  /// Called after each case, never concurrently, with the number of finished and of all cases.
  std::function<void(std::int64_t done, std::int64_t all)> progress;
};

/// Judges every mutant on every case that its `Subject` needs. The rows do not depend on the number
/// of threads.
template <class Op>
KillTable kill_table(const std::vector<MutantOf<Op>>& mutants,
                     const std::vector<conformance::Case<Op>>& cases,
                     const KillControl& control = {});

}  // namespace assay::mutants
