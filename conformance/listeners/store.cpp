#include "assay/conformance/listeners.hpp"
#include "assay/conformance/record.hpp"

namespace assay::conformance {

void StoreListener::on_case(const CaseReport& report, std::int64_t) {
  if (store_.finished().contains(report.id)) return;
  const bool failed = report.value_case && contribution(report.verdict) == ExitCode::nonconformant;
  fixtures::CaseRecord record;
  if (failed && evidence_ && evidence_left_ > 0) {
    --evidence_left_;
    record = evidence_(report);
  } else {
    record = recipe(report);
  }
  const std::string json = to_json(report);
  record.verdicts[report.implementation] = json;
  store_.add(record, json);
}

}  // namespace assay::conformance
