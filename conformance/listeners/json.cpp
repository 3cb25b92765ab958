#include "assay/conformance/listeners.hpp"

namespace assay::conformance {

JsonListener::JsonListener(std::filesystem::path path, Environment environment)
    : path_(std::move(path)) {
  results_.environment = std::move(environment);
}

void JsonListener::on_case(const CaseReport& report, std::int64_t) {
  results_.cases.push_back(report);
}

void JsonListener::on_end(const Summary& summary) {
  results_.summary = summary;
  if (!path_.empty()) replace_file(path_, to_json(results_));
}

}  // namespace assay::conformance
