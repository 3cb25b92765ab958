#pragma once

#include <ostream>
#include <string>

#include "assay/cli/command.hpp"
#include "assay/conformance/report/results.hpp"
#include "assay/conformance/result/case_report.hpp"

namespace assay::cli {

/// Selects how the metrics of an implementation (for example modelled cycles) are printed: their
/// values, or only their number.
enum class Metrics { shown, counted };

/// Prints the verdict of one case, its table of tensors and its findings. The printed replay line
/// starts with `program`.
void print_case(const conformance::CaseReport& report, const std::string& program,
                std::ostream& out, Metrics metrics = Metrics::counted);

/// Formats the largest error divided by its tolerance tau. Prints "inf" if the error is infinite or
/// NaN.
std::string ratio_text(double ratio);

/// Returns the program name for replay lines. If this program wrote the results, this is the name
/// by which the user called the program; otherwise it is the name in the results.
inline std::string replay_program(const conformance::Results& results, const Context& context) {
  const std::string& program = results.environment.program;
  return program == context.program ? context.typed : program;
}

/// The amount of output: brief (about one screen), or everything.
enum class Detail : std::uint8_t { brief, whole };

inline Detail detail_of(const Context& context) {
  return context.verbose ? Detail::whole : Detail::brief;
}

/// Prints the results of a sweep: verdicts by entry point and dtype, reasons of cases that do not
/// apply, the worst error of each tensor, each fault with the replay line of its first case, the
/// smallest failing cases, and causes. `Detail::whole` adds the requirements, pairs of values and
/// tiling branches that cases exercised, replay lines of the worst errors, and longer lists.
void print_results(const conformance::Results& results, const std::string& program, Detail detail,
                   std::ostream& out);

/// Describes how the search for a smaller failing case ended: "after 34 runs nothing smaller fails
/// in the same way". If the smallest case does not always fail, adds how often it failed.
std::string end_text(const conformance::ShrunkCase& shrunk);
/// Describes numerics (rounding behaviour) with which the failing case would pass: "with numerics
/// declared as operand_scaled=true it would conform: is that what the kernel does?"
std::string declared_text(const conformance::ShrunkCase& shrunk);

}  // namespace assay::cli
