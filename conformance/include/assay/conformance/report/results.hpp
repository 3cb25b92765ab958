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

/// The name of the report.json schema, which tools/report_schema.md describes.
inline constexpr std::string_view report_schema = "assay-report-2";

/// The conditions under which a sweep ran.
struct Environment {
  std::string tool_version, compiler, command_line, implementation;
  std::string program = "assay";  ///< the command at the start of replay lines
  std::string started;            ///< ISO 8601, UTC
  std::uint64_t seed = 0;
  /// The random seed that the program chose for this sweep; one case in ten uses it for its data.
  /// 0: all data have fixed seeds.
  std::uint64_t fresh_seed = 0;
  std::map<std::string, std::string> numerics;  ///< dtype -> JSON of its declared numerics
};

/// Returns a name for how a case fails: verdict, requirement, rule, tensor. Cases that fail in the
/// same way have the same name.
std::string fault_of(const CaseReport& report);

/// Selects at most `most` failing cases to shrink. Cases with equal verdict, requirement, rule and
/// tensor form a group. The first case of each group comes first. Next come cases of the same
/// groups with another deviation from the expected values, because one tensor may show two bugs.
/// Leaves out cases that violate a requirement on purpose: their calls are small and have only one
/// violation. Leaves out cases that do not fail each time, because these cannot be shrunk.
std::vector<const CaseReport*> first_faults(const std::vector<CaseReport>& cases,
                                            std::int64_t most);

/// Returns the other numerically judged failing cases with the same operator and cause as
/// `failing`, the cheapest first.
std::vector<const CaseReport*> others_of_cause(const std::vector<CaseReport>& cases,
                                               const std::vector<Cause>& causes,
                                               const CaseReport& failing);

/// Returns the command "PROGRAM run LINE --implementation=NAME", quoted for a shell.
std::string replay_command(const CaseReport& report, const std::string& program);

/// The contents of report.json.
struct Results {
  Environment environment;
  Summary summary;
  std::vector<CaseReport> cases;
  std::vector<ShrunkCase> shrunk = {};
  std::optional<Shard> shard = {};  ///< nothing: results of a whole sweep
};

/// The largest |error| / tau (the tolerance) of one output over all cases.
struct WorstError {
  std::string tensor;
  double ratio = 0;
  std::string case_id, command_line, implementation;
  Finding where;
};
/// Returns one entry for each output, in the order in which the outputs first occur in the cases.
std::vector<WorstError> worst_errors(const std::vector<CaseReport>& cases);

/// Converts to JSON on one line. Non-finite numbers become the strings "nan", "inf", "-inf".
std::string to_json(const CaseReport& report);
std::string to_json(const spec::Numerics& numerics);
std::string to_json(const Results& results);

/// Parse JSON. Errors: std::invalid_argument with the member, its value and the accepted values.
CaseReport report_from_json(const std::string& json);
Results results_from_json(const std::string& json);
/// Parses numerics (a kernel's declared arithmetic) from JSON. Missing members keep their default.
/// If the JSON has the member "preset", missing members get the value of this preset for `io` and
/// the operator.
spec::Numerics numerics_from_json(const std::string& json, spec::DType io,
                                  std::string_view operator_name = {});

}  // namespace assay::conformance
