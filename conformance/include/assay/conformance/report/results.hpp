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

/// The schema of report.json. tools/report_schema.md describes it.
inline constexpr std::string_view report_schema = "assay-report-2";

/// The conditions under which a sweep ran.
struct Environment {
  std::string tool_version, compiler, command_line, implementation;
  std::string program = "assay";  ///< the command at the start of replay lines
  std::string started;            ///< ISO 8601, UTC
  std::uint64_t seed = 0;
  /// The seed that was drawn for this sweep: one case in ten uses it for its data. 0: all data have
  /// fixed seeds.
  std::uint64_t fresh_seed = 0;
  std::map<std::string, std::string> numerics;  ///< dtype -> JSON of its declared numerics
};

/// A name for the kind of failure: verdict, requirement, rule, tensor. Cases that fail in the same
/// way have the same name.
std::string fault_of(const CaseReport& report);

/// Selects at most `most` failing cases to reduce. First the first case of each kind of failure.
/// Then cases of the same kind whose outputs deviate in another way from the expected values: two
/// bugs may show in one tensor. Cases that break a requirement on purpose are left out: their calls
/// are small and have only one violation. Cases that do not fail each time are left out: they
/// cannot be reduced.
std::vector<const CaseReport*> first_faults(const std::vector<CaseReport>& cases,
                                            std::int64_t most);

/// The other numerically judged failing cases that have the same operator and cause as `failing`,
/// the cheapest first.
std::vector<const CaseReport*> others_of_cause(const std::vector<CaseReport>& cases,
                                               const std::vector<Cause>& causes,
                                               const CaseReport& failing);

/// The command "PROGRAM run LINE --implementation=NAME", quoted for a shell.
std::string replay_command(const CaseReport& report, const std::string& program);

/// The contents of report.json.
struct Results {
  Environment environment;
  Summary summary;
  std::vector<CaseReport> cases;
  std::vector<ShrunkCase> shrunk = {};
  std::optional<Shard> shard = {};  ///< nothing: results of a whole sweep
};

/// For one output: the largest |error| / tau over all cases.
struct WorstError {
  std::string tensor;
  double ratio = 0;
  std::string case_id, command_line, implementation;
  Finding where;
};
/// One entry for each output, in the order in which the cases first have this output.
std::vector<WorstError> worst_errors(const std::vector<CaseReport>& cases);

/// Writes JSON on one line. Non-finite numbers become the strings "nan", "inf", "-inf".
std::string to_json(const CaseReport& report);
std::string to_json(const spec::Numerics& numerics);
std::string to_json(const Results& results);

/// Errors of these three functions: std::invalid_argument with the member, its value and the
/// accepted values.
CaseReport report_from_json(const std::string& json);
Results results_from_json(const std::string& json);
/// Missing members keep their default. If the JSON has the member "preset", missing members get the
/// value of this preset for `io` and the operator.
spec::Numerics numerics_from_json(const std::string& json, spec::DType io,
                                  std::string_view operator_name = {});

}  // namespace assay::conformance
