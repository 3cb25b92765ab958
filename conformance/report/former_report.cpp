#include "report/former_report.hpp"

#include "assay/conformance/case/former_words.hpp"

namespace assay::conformance::detail {
namespace {

void rename(Json& object, const char* former, const char* now) {
  if (!object.is_object() || !object.contains(former)) return;
  object[now] = std::move(object[former]);
  object.erase(former);
}

/// The field as a flag of a replay line has it, and back.
void rename_fields(Json& fields) {
  if (!fields.is_object()) return;
  Json renamed = Json::object();
  for (const auto& [name, value] : fields.items()) {
    if (!value.is_string()) return;
    const std::string word = spelt_today("--" + name + "=" + value.get<std::string>());
    const std::size_t equals = word.find('=');
    renamed[word.substr(2, equals - 2)] = word.substr(equals + 1);
  }
  fields = std::move(renamed);
}

}  // namespace

void rename_members(Json& report) {
  if (report.contains("summary")) {
    rename(report["summary"], "rows", "requirements");
    if (report["summary"].is_object() && report["summary"].contains("requirements"))
      rename(report["summary"]["requirements"], "rows", "requirements");
  }
  if (!report.contains("cases") || !report["cases"].is_array()) return;
  for (Json& one : report["cases"]) {
    rename(one, "violated_row", "violated_requirement");
    rename(one, "accepted_rows", "accepted_requirements");
    if (one.is_object() && one.contains("fields")) rename_fields(one["fields"]);
  }
}

}  // namespace assay::conformance::detail
