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

/// The cases on which every mutant of Op is judged: small, and chosen so that each planted bug
/// meets one that shows it.
template <class Op>
std::vector<conformance::Case<Op>> kill_cases();

/// Cases of one track on which a mutant was judged, and those of them that failed.
struct TrackCount {
  std::int64_t cases = 0, failed = 0;
};

/// What the judge said of one mutant.
struct KillRow {
  MutantFacts mutant;
  std::int64_t cases = 0;   ///< judged; a case that does not apply to it is not counted
  std::int64_t failed = 0;  ///< with a verdict of nonconformance
  std::map<conformance::Verdict, std::int64_t> verdicts;
  std::map<std::string, std::int64_t>
      caught_by;  ///< rule to the failed cases that it alone decides; "several" to the others
  std::map<std::string, TrackCount> by_track;  ///< name of the track to its cases
  std::int64_t cases_to_kill = 0;  ///< judged until the first failed, that one too; 0: none failed
  double seconds_to_kill = 0;      ///< judging those took; what mutants share is not in it
  double worst = 0;                ///< largest |error| / tau
  std::string replay, text;        ///< of the first failed case: its line and its first finding
  std::string cause;               ///< the first that is derived from its cases: pattern, fields
  /// Of our rules and of each of another stack's whether they accuse the mutant in a case of
  /// ordinary numbers; empty where there was none.
  std::vector<bool> accused = {};

  /// Caught if a bug is planted, spotless if not; never without a case.
  bool as_expected() const;
};

/// What a rule of another stack says of the same runs: accused are a planted bug that it notices
/// and a healthy variant that it convicts. `asked` are those with a case of ordinary numbers.
struct YardstickRow {
  std::string name;
  std::int64_t planted_accused = 0, planted_asked = 0, healthy_accused = 0, healthy_asked = 0;
};

struct KillTable {
  std::vector<KillRow> rows;
  std::int64_t cases = 0, threads = 0;
  double seconds = 0;
  bool interrupted = false;

  bool as_expected() const;
  /// Our own rules first.
  std::vector<YardstickRow> yardsticks() const;
};

struct KillControl {
  std::int64_t threads = 0;                 ///< 0: all of the host
  const std::atomic<bool>* stop = nullptr;  ///< checked between cases; the table says `interrupted`
  /// Called after each case, one call at a time, with the cases done and all cases.
  std::function<void(std::int64_t done, std::int64_t all)> progress;
};

/// Judges every mutant on every case of its subject. The rows do not depend on the number of
/// threads.
template <class Op>
KillTable kill_table(const std::vector<MutantOf<Op>>& mutants,
                     const std::vector<conformance::Case<Op>>& cases,
                     const KillControl& control = {});

}  // namespace assay::mutants
