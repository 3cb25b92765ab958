#include "assay/conformance/report/listeners.hpp"

namespace assay::conformance {

JsonListener::JsonListener(Sink sink, Environment environment) : sink_(std::move(sink)) {
  results_.environment = std::move(environment);
}

void JsonListener::on_case(const CaseReport& report, std::int64_t) {
  results_.cases.push_back(report);
}

void JsonListener::on_end(const Summary& summary) {
  results_.summary = summary;
  if (sink_) sink_(to_json(results_));
}

}  // namespace assay::conformance
