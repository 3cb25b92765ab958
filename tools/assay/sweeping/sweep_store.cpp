#include "sweeping/sweep_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "assay/conformance/result/printable.hpp"

namespace assay::cli {
namespace {

/// Opens the case file of a sweep and reads the results of an earlier run. Errors: UsageError if
/// `--resume` is given and there is no interrupted sweep.
fixtures::Store opened_store(const StorePlace& place, const std::string& plan,
                             const Context& context) {
  using Leftover = fixtures::Store::Leftover;
  const Leftover leftover = fixtures::Store::leftover(place.path, plan);
  if (place.must_exist && leftover == Leftover::none)
    throw UsageError(fmt::format("--resume: found no interrupted sweep for {}{}", place.name,
                                 std::filesystem::exists(place.name) ? ", which is complete" : ""));
  const std::string another = fmt::format(
      "the interrupted sweep in {} differs from this sweep: other cases, another implementation, "
      "other limits, or another version of this program",
      place.name);
  if (place.must_exist && leftover == Leftover::other_plan)
    throw UsageError("--resume: " + another + "; without --resume it is discarded");
  if (leftover == Leftover::other_plan)
    context.err << conformance::printable(another) << "; it is discarded\n";
  const std::string damaged =
      fmt::format("the journal of the sweep in {} is completely damaged", place.name);
  if (place.must_exist && leftover == Leftover::damaged)
    throw UsageError("--resume: " + damaged + "; without --resume the sweep starts again");
  if (leftover == Leftover::damaged)
    context.err << conformance::printable(damaged) << "; the sweep starts again\n";
  fixtures::Store store(place.path, plan);
  const auto [records, parts] = store.damage();
  if (records > 0 || parts > 0)
    context.err << fmt::format(
        "{} records and {} parts of the sweep in {} are damaged; their cases "
        "are run again\n",
        records, parts, conformance::printable(place.name));
  return store;
}

}  // namespace

fixtures::Store own_store(const StorePlace& place, const std::string& plan,
                          const Context& context) {
  try {
    return opened_store(place, plan, context);
  } catch (const fixtures::StoreRefused& error) {
    throw UsageError(fmt::format("--store: {}", error.what()));
  }
}

bool is_stored(fixtures::Store& store, const conformance::Summary& summary, const std::string& name,
               const Context& context) {
  const std::vector<std::string> left_out =
      summary.cases < summary.planned ? store.snapshot() : store.merge();
  if (left_out.empty()) return true;
  context.err << fmt::format(
      "{} lacks {} cases, the first is {}: another program changed their stored results; to run "
      "these cases again, repeat the same command\n",
      conformance::printable(name), left_out.size(), conformance::printable(left_out.front()));
  return false;
}

std::map<std::string, conformance::CaseReport> taken_up(const fixtures::Store& store) {
  std::map<std::string, conformance::CaseReport> reports;
  for (const auto& [id, json] : store.finished()) reports[id] = conformance::report_from_json(json);
  return reports;
}

std::string description(conformance::Results results, const fixtures::Store& store) {
  std::erase_if(results.cases, [&](const conformance::CaseReport& report) {
    return store.finished().contains(report.id);
  });
  std::string text = conformance::to_json(results);
  std::ranges::replace(text, '\n', ' ');  // each text in our files must be one line
  return text;
}

}  // namespace assay::cli
