#include "causes/cause_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

namespace assay::conformance {

std::string error_text(const Cause& cause) {
  if (!(cause.largest_error > 0)) return {};
  return cause.least_error == cause.largest_error
             ? fmt::format("error {:.4g} times the bound", cause.least_error)
             : fmt::format("error {:.4g} to {:.4g} times the bound", cause.least_error,
                           cause.largest_error);
}

std::string decision_text(const Cause& cause) {
  return fmt::format("{} by {}", spec::to_string(cause.verdict), spec::to_string(cause.rule));
}

std::string where_text(const Cause& cause) {
  const std::string others =
      fmt::format("{} other case{}", cause.others, cause.others == 1 ? "" : "s");
  if (cause.fields.empty())
    return cause.others == 0 ? "in every case that has it"
                             : fmt::format("no condition found: {} {} not fail in this way", others,
                                           cause.others == 1 ? "does" : "do");
  const std::string fields = fmt::format("where {}", fmt::join(cause.fields, " and "));
  if (cause.others == 0) return fields + " (no other case has these fields)";
  return fields + fmt::format(" ({} with these fields {} not fail in this way)", others,
                              cause.others == 1 ? "does" : "do");
}

std::string judged_text(const Cause& cause) {
  std::string text = error_text(cause);
  if (!text.empty()) text += "; ";
  text += decision_text(cause);
  const auto all = std::ssize(cause.cases);
  return cause.decided == all ? text : text + fmt::format(" in {} of {} cases", cause.decided, all);
}

}  // namespace assay::conformance
