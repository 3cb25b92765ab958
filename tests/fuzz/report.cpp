#include <stdexcept>

#include "assay/conformance/report/results.hpp"
#include "fuzz.hpp"

/// A text is a report, which is written as a report again, or std::invalid_argument.
int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace assay::conformance;
  const std::string text(reinterpret_cast<const char*>(bytes), size);
  try {
    results_from_json(to_json(results_from_json(text)));
  } catch (const std::invalid_argument&) {
  }
  try {
    report_from_json(to_json(report_from_json(text)));
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
