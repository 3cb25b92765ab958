#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

inline constexpr std::string_view kills_schema = "assay-kills-1";

/// The results of `assay mutants` (a "kill table"), as tools/kills_schema.md describes them.
struct Kills {
  struct Track {
    std::int64_t cases = 0, failed = 0;
  };
  struct Row {
    std::string operator_name;  ///< empty in tables of older versions
    std::string name, bug;
    bool healthy = false, as_expected = false;
    std::int64_t cases = 0, failed = 0, cases_to_kill = 0;
    double seconds_to_kill = 0;
    std::map<std::string, Track> tracks;
    std::string replay;  ///< replay line of the first failed case
  };
  struct Yardstick {
    std::string rule;
    std::int64_t faults_detected = 0, faults_judged = 0, correct_rejected = 0, correct_judged = 0;
  };
  std::int64_t cases = 0, threads = 0;
  double seconds = 0;
  bool interrupted = false;
  std::vector<Row> rows;
  std::vector<Yardstick> yardsticks;
};

/// Returns whether the text contains results of `assay mutants`, which its schema member shows.
bool holds_kills(const std::string& text);

/// Parses the results of `assay mutants`. Errors: std::invalid_argument that names a missing member
/// or a member of the wrong type.
Kills kills_from_json(const std::string& text);

/// Returns the results of `assay mutants` as JSON for the HTML page.
std::string to_json(const Kills& kills);

}  // namespace assay::cli
