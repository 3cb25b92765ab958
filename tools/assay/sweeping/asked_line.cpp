#include "sweeping/asked_line.hpp"

#include <set>

#include "assay/conformance/case/shell_word.hpp"
#include "flags/values.hpp"

namespace assay::cli {

std::string asked_line(const CLI::App& app) {
  const std::set<std::string> elsewhere = {"store",   "report",   "html",           "junit",
                                           "resume",  "shard",    "require-judged", "quiet",
                                           "verbose", "baseline", "force"};
  std::string line = ' ' + app.get_name();
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    const bool is_flag = option->get_expected_max() == 0, is_named = !option->get_lnames().empty();
    if (is_named && elsewhere.contains(option->get_lnames().front())) continue;
    line += ' ';
    if (is_named) line += "--" + option->get_lnames().front() + (is_flag ? "" : "=");
    if (!is_flag) line += conformance::shell_word(joined(option->results()));
  }
  return line;
}

}  // namespace assay::cli
