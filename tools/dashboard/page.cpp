#include <map>
#include <nlohmann/json.hpp>

#include "assets.hpp"
#include "dashboard.hpp"

namespace assay::cli {
namespace {

/// What the page shows of a report. `<` is escaped so that no text of a report can end the script
/// element.
std::string embedded(const conformance::Results& results) {
  auto json = nlohmann::ordered_json::parse(conformance::to_json(results));
  for (auto& report : json["cases"]) {
    report.erase("accepted_requirements");
    for (auto& tensor : report["tensors"]) tensor.erase("yardsticks");
  }
  std::string text;
  for (const char c : json.dump()) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  return text;
}

std::string page(std::string_view report, std::string_view before) {
  const std::map<std::string_view, std::string_view> parts = {{"STYLE", assets::style()},
                                                              {"REPORT", report},
                                                              {"BEFORE", before},
                                                              {"CHART", assets::chart()},
                                                              {"SCRIPT", assets::script()}};
  std::string html;
  std::string_view rest = assets::page();
  for (std::size_t mark = rest.find('@'); mark != std::string_view::npos; mark = rest.find('@')) {
    html += rest.substr(0, mark);
    rest.remove_prefix(mark + 1);
    const std::size_t end = rest.find('@');
    html += parts.at(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return html.append(rest);
}

}  // namespace

std::string dashboard_page(const conformance::Results& results) {
  return page(embedded(results), "null");
}

std::string dashboard_page(const conformance::Results& results,
                           const conformance::Results& before) {
  return page(embedded(results), embedded(before));
}

}  // namespace assay::cli
