#pragma once

#include <ostream>
#include <string>

#include "assay/cli/command.hpp"
#include "assay/conformance/report/results.hpp"
#include "assay/conformance/result/case_report.hpp"

namespace assay::cli {

/// How to print the metrics that an implementation reports about its run, such as modelled cycles:
/// the values, or only their number.
enum class Metrics { shown, counted };

/// Prints the verdict, the table of tensors and the findings of one case. Its replay line starts
/// with `program`.
void print_case(const conformance::CaseReport& report, const std::string& program,
                std::ostream& out, Metrics metrics = Metrics::counted);

/// Formats the largest error / tau; "inf" if it is larger than every number, as for an error that
/// is infinite or NaN.
std::string ratio_text(double ratio);

/// Returns the first word of replay lines on this terminal: the name by which the user called this
/// program, if this program wrote the results.
inline std::string replay_program(const conformance::Results& results, const Context& context) {
  const std::string& program = results.environment.program;
  return program == context.program ? context.typed : program;
}

/// The amount of output: brief (about one screen), or everything.
enum class Detail : std::uint8_t { brief, whole };

inline Detail detail_of(const Context& context) {
  return context.verbose ? Detail::whole : Detail::brief;
}

/// Prints verdicts by entry point and dtype, why cases were not applicable, the worst error of each
/// tensor, each fault with the replay line of its first case, the smallest failing cases, and
/// causes. `Detail::whole` adds the requirements, pairs of values and regimes that cases exercised,
/// replay lines of the worst errors, and longer lists.
void print_results(const conformance::Results& results, const std::string& program, Detail detail,
                   std::ostream& out);

/// Describes how a search for a smaller case ended: "after 34 runs nothing smaller fails in the
/// same way". If the case that was found does not always fail, adds how often it fails.
std::string end_text(const conformance::ShrunkCase& shrunk);
/// Returns for example "with numerics declared as operand_scaled=true it would conform: is that
/// what the kernel does?"
std::string declared_text(const conformance::ShrunkCase& shrunk);

}  // namespace assay::cli
