#include "assay/conformance/report/listeners.hpp"

namespace assay::conformance {

void StoreListener::on_case(const CaseReport& report, std::int64_t) {
  if (store_.finished().contains(report.id)) return;
  const std::string json = to_json(report);
  fixtures::CaseRecord record = record_of_(report);
  record.verdicts[report.implementation] = json;
  store_.add(record, json);
}

}  // namespace assay::conformance
