#include <sstream>
#include <stdexcept>

#include "assay/conformance/report/listeners.hpp"
#include "assay/conformance/report/results.hpp"
#include "fuzz.hpp"
#include "printing/print_case.hpp"

namespace {

/// Prints the results in the same format as the command `assay report`.
void tell(const assay::conformance::Results& results) {
  std::ostringstream printed;
  assay::cli::print_results(results, results.environment.program, assay::cli::Detail::whole,
                            printed);
  assay::conformance::JunitListener junit([](std::string_view) {}, results.environment.program);
  for (std::size_t k = 0; k < results.cases.size(); ++k)
    junit.on_case(results.cases[k], static_cast<std::int64_t>(k));
  junit.on_end(results.summary);
}

}  // namespace

/// The bytes are the text of a report. Either the report can be read, printed and written again, or
/// reading throws std::invalid_argument.
int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace assay::conformance;
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  try {
    const Results results = results_from_json(text);
    tell(results);
    results_from_json(to_json(results));
  } catch (const std::invalid_argument&) {
  }
  try {
    report_from_json(to_json(report_from_json(text)));
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
