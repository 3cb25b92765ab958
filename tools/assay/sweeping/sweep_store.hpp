#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "assay/cli/command.hpp"
#include "assay/conformance/report/results.hpp"
#include "assay/fixtures/store.hpp"

/// The store of a sweep, from which an interrupted one is taken up.
namespace assay::cli {

/// Where the store of a sweep lies, as its flags say.
struct StorePlace {
  std::string name;            ///< as the user wrote it
  std::filesystem::path path;  ///< absolute
  bool must_exist = false;     ///< --resume
};

/// The store of the sweep whose plan this text is, with what an earlier start of it left.
/// Errors: UsageError where --resume finds nothing of it, and for a place that is not the store's
/// to take.
fixtures::Store own_store(const StorePlace& place, const std::string& plan, const Context& context);

/// The reports of an interrupted sweep of the same plan.
std::map<std::string, conformance::CaseReport> taken_up(const fixtures::Store& store);

/// What the store of one part of a sweep holds besides its cases: its report, without the cases.
std::string description(conformance::Results results, const fixtures::Store& store);

/// Makes one file of the store at the end; false where it lacks cases.
bool is_stored(fixtures::Store& store, const conformance::Summary& summary, const std::string& name,
               const Context& context);

}  // namespace assay::cli
