#include <fmt/format.h>
#include <nettle/base64.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "assay/spec/operators.hpp"
#include "assets.hpp"
#include "dashboard.hpp"
#include "printing/print_case.hpp"

namespace assay::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Rounds all numbers in a JSON value to the given number of digits. Used only for statistics,
/// because the page does not compare them with limits.
void shorten(Json& value, int digits) {
  if (value.is_number_float())
    // std::stod would throw an exception for subnormal numbers; std::strtod does not.
    value = std::strtod(fmt::format("{:.{}g}", value.get<double>(), digits).c_str(), nullptr);
  if (value.is_structured())
    for (Json& part : value) shorten(part, digits);
}

/// Removes data that the page does not show, and rounds statistics. Errors keep all digits, because
/// an error slightly below the bound must stay below it.
void shorten_tensor(Json& tensor) {
  for (const char* hidden :
       {"yardsticks", "certainty", "median_tau_over_ref", "nu", "bias_t", "worst_tile"})
    tensor.erase(hidden);
  for (const char* share : {"terms", "histogram"}) shorten(tensor[share], 3);
  for (const char* statistic : {"rms", "rms_limit", "bias"}) shorten(tensor[statistic], 4);
}

/// Returns the sentence of the documentation for each requirement in the report.
Json statements_of(const Json& requirements) {
  Json known = Json::object();
  spec::for_each_operator([&]<class Op> {
    for (const auto& requirement : Op::requirements())
      known[std::string(requirement.id)] = std::string(requirement.statement);
  });
  Json statements = Json::object();
  for (const Json& requirement : requirements)
    if (const auto id = requirement.at("id").get<std::string>(); known.contains(id))
      statements[id] = known[id];
  return statements;
}

/// Selects the cases for which the page shows an error map: the first few cases of each fault. A
/// page with thousands of failing cases therefore needs only a few megabytes.
class Mapped {
 public:
  bool takes(const conformance::CaseReport& report) {
    constexpr int of_a_fault = 4, of_all = 60;
    const auto has_map = [](const conformance::TensorReport& t) { return t.errors.has_value(); };
    if (std::ranges::none_of(report.tensors, has_map)) return false;
    if (all_ >= of_all || ++of_fault_[conformance::fault_of(report)] > of_a_fault) return false;
    ++all_;
    return true;
  }

 private:
  std::map<std::string, int> of_fault_;
  int all_ = 0;
};

/// Removes the shell quoting that `shell_word` added to a word.
std::string unquoted(std::string word) {
  if (!word.starts_with('\'')) return word;
  word = word.substr(1, word.size() - 2);
  constexpr std::string_view apostrophe = "'\\''";
  for (std::size_t at = 0; (at = word.find(apostrophe, at)) != std::string::npos; ++at)
    word.replace(at, apostrophe.size(), "'");
  return word;
}

/// Returns a report as JSON that contains only the data on the page.
std::string text_of(const conformance::Results& results, const Context& context) {
  Json json = Json::parse(conformance::to_json(results));
  json["environment"]["program"] = unquoted(replay_program(results, context));
  Mapped mapped;
  for (std::size_t k = 0; k < results.cases.size(); ++k) {
    Json& report = json["cases"][k];
    const bool has_maps = mapped.takes(results.cases[k]);
    for (Json& tensor : report["tensors"]) {
      shorten_tensor(tensor);
      if (!has_maps) tensor.erase("errors");
    }
    for (const char* time : {"seconds_implementation", "seconds_total"}) shorten(report[time], 4);
    shorten(report["metrics"], 5);
  }
  json["statements"] = statements_of(json["summary"]["requirements"]["requirements"]);
  return json.dump();
}

/// Compresses a text with zlib and encodes it in base64. A report of 20,000 cases then needs only a
/// few megabytes. The encoded text also cannot close the HTML element that contains it.
std::string packed(const std::string& text) {
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::string bytes(size, '\0');
  const int status =
      compress2(reinterpret_cast<Bytef*>(bytes.data()), &size,
                reinterpret_cast<const Bytef*>(text.data()), static_cast<uLong>(text.size()), 9);
  if (status != Z_OK)
    throw std::runtime_error(
        fmt::format("zlib: {} bytes of a report: status {}", text.size(), status));
  std::string letters(BASE64_ENCODE_RAW_LENGTH(size), '\0');
  base64_encode_raw(letters.data(), size, reinterpret_cast<const std::uint8_t*>(bytes.data()));
  return letters;
}

/// `reports` contains one compressed report per line. `kills` (results of `assay mutants`) and
/// `plan` (trace of `assay device plan`) are compressed, too.
std::string page_of(const std::string& reports, const std::string& kills, const std::string& plan) {
  const std::map<std::string_view, std::string_view> parts = {{"STYLE", assets::style()},
                                                              {"REPORTS", reports},
                                                              {"KILLS", kills},
                                                              {"PLAN", plan},
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

std::string dashboard_page(const Shown& shown, const Context& context) {
  std::string reports;
  for (const conformance::Results& run : shown.runs)
    reports += packed(text_of(run, context)) + '\n';
  return page_of(reports, shown.kills ? packed(to_json(*shown.kills)) : "",
                 shown.timeline ? packed(to_json(*shown.timeline)) : "");
}

std::string dashboard_page(const conformance::Results& results, const Context& context) {
  return page_of(packed(text_of(results, context)) + '\n', "", "");
}

}  // namespace assay::cli
