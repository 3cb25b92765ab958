#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/conformance/result/case_report.hpp"
#include "assay/conformance/result/shrunk_case.hpp"
#include "assay/conformance/sweep/shard.hpp"
#include "assay/conformance/sweep/sweep.hpp"
#include "assay/spec/numerics.hpp"

namespace assay::conformance {

struct Cause;

/// Schema of report.json, see tools/report_schema.md.
inline constexpr std::string_view report_schema = "assay-report-2";

/// How a sweep came about.
struct Environment {
  std::string tool_version, compiler, command_line, implementation;
  std::string program = "assay";  ///< with which replay lines start
  std::string started;            ///< ISO 8601, UTC
  std::uint64_t seed = 0;
  /// Of the data of a tenth of the cases, drawn for this sweep; 0: all data are of fixed seeds.
  std::uint64_t fresh_seed = 0;
  std::map<std::string, std::string> numerics;  ///< dtype -> JSON of the numerics declared for it
};

/// What failed, in the same words for cases that failed alike: verdict, requirement, rule, tensor.
std::string fault_of(const CaseReport& report);

/// The first failing case of each of the first `most` faults that can be reduced; behind them, of
/// those that fail alike, the first that relates otherwise to what is due: two bugs may show in one
/// tensor. A call that
/// breaks a requirement on purpose is one violation of a small call already, and what does not fail
/// each time has no smaller neighbour: they are left alone.
std::vector<const CaseReport*> first_faults(const std::vector<CaseReport>& cases,
                                            std::int64_t most);

/// The other cases of its operator that fail for the same cause and whose numbers were judged, the
/// cheapest first.
std::vector<const CaseReport*> others_of_cause(const std::vector<CaseReport>& cases,
                                               const std::vector<Cause>& causes,
                                               const CaseReport& failing);

/// "PROGRAM run LINE --implementation=NAME", as a shell takes it.
std::string replay_command(const CaseReport& report, const std::string& program);

/// Everything that report.json holds.
struct Results {
  Environment environment;
  Summary summary;
  std::vector<CaseReport> cases;
  std::vector<ShrunkCase> shrunk = {};
  std::optional<Shard> shard = {};  ///< nothing: they are of a whole sweep
};

/// The largest |error| / tau of one output over all cases.
struct WorstError {
  std::string tensor;
  double ratio = 0;
  std::string case_id, command_line, implementation;
  Finding where;
};
/// One entry per output, in the order in which the cases name them.
std::vector<WorstError> worst_errors(const std::vector<CaseReport>& cases);

/// JSON on one line. Non-finite numbers are the strings "nan", "inf", "-inf".
std::string to_json(const CaseReport& report);
std::string to_json(const spec::Numerics& numerics);
std::string to_json(const Results& results);

/// Errors (all three): std::invalid_argument naming the member, its value and what is accepted.
CaseReport report_from_json(const std::string& json);
Results results_from_json(const std::string& json);
/// Members that are absent keep their default, or that of the preset which the member "preset"
/// names for `io` and the operator.
spec::Numerics numerics_from_json(const std::string& json, spec::DType io,
                                  std::string_view operator_name = {});

}  // namespace assay::conformance
