#pragma once

#include <ostream>
#include <string>

#include "assay/cli/command.hpp"
#include "assay/conformance/report/results.hpp"
#include "assay/conformance/result/case_report.hpp"

namespace assay::cli {

/// Whether what an implementation reports of its run (modelled cycles, bytes) is printed, or how
/// many of these numbers there are.
enum class Metrics { shown, counted };

/// Verdict, table of the tensors and findings of one case. Its replay line starts with `program`.
void print_case(const conformance::CaseReport& report, const std::string& program,
                std::ostream& out, Metrics metrics = Metrics::counted);

/// A largest error / tau; "inf" where no number is large enough, as of an error that is infinite or
/// NaN.
std::string ratio_text(double ratio);

/// With what replay lines of results start on this terminal: as this program was typed, if it was
/// the one that wrote them.
inline std::string replay_program(const conformance::Results& results, const Context& context) {
  const std::string& program = results.environment.program;
  return program == context.program ? context.typed : program;
}

/// How much of a result is printed: a screen, or all.
enum class Detail : std::uint8_t { brief, whole };

inline Detail detail_of(const Context& context) {
  return context.verbose ? Detail::whole : Detail::brief;
}

/// Verdicts by entry point and dtype, why cases were not applicable, the worst error of each
/// tensor, each fault with the replay line of its first case, the smallest failing neighbours, and
/// causes. Whole: requirements, pairs of values and regimes that were exercised, replay lines of
/// the worst errors, and more of what it lists.
void print_results(const conformance::Results& results, const std::string& program, Detail detail,
                   std::ostream& out);

/// How a search for a smaller case ended: "after 34 runs nothing smaller fails in the same way",
/// and how often what it found fails where that is not always.
std::string end_text(const conformance::ShrunkCase& shrunk);
/// "with numerics declared as operand_scaled=true it would conform: is that what the kernel does?"
std::string declared_text(const conformance::ShrunkCase& shrunk);

}  // namespace assay::cli
