#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "assay/cli/command.hpp"
#include "assay/conformance/report/results.hpp"
#include "assay/fixtures/store.hpp"

/// The store of a sweep: the file with its finished cases. A later run can resume an interrupted
/// sweep from it.
namespace assay::cli {

/// The location of the store, as the command line gives it.
struct StorePlace {
  std::string name;            ///< as the user wrote it
  std::filesystem::path path;  ///< absolute
  bool must_exist = false;     ///< --resume
};

/// Opens the store (file of finished cases) of a sweep, and reads the results of an earlier run.
/// The text `plan` identifies the sweep. Errors: UsageError if --resume is given and there is no
/// interrupted sweep, or if the store must not use the path.
fixtures::Store own_store(const StorePlace& place, const std::string& plan, const Context& context);

/// Returns the reports of the cases that an interrupted sweep with the same plan finished, by case
/// id.
std::map<std::string, conformance::CaseReport> taken_up(const fixtures::Store& store);

/// Returns the description of a part of a sweep, as the store contains it: the report of the part
/// without its cases.
std::string description(conformance::Results results, const fixtures::Store& store);

/// Merges the files of the store into one file at the end. Returns false if the merged file lacks
/// cases.
bool is_stored(fixtures::Store& store, const conformance::Summary& summary, const std::string& name,
               const Context& context);

}  // namespace assay::cli
