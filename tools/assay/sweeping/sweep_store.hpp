#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "assay/cli/command.hpp"
#include "assay/conformance/report/results.hpp"
#include "assay/fixtures/store.hpp"

/// The store of a sweep: the file with its finished cases, from which an interrupted sweep can be
/// resumed.
namespace assay::cli {

/// The location of the store of a sweep, from its flags.
struct StorePlace {
  std::string name;            ///< as the user wrote it
  std::filesystem::path path;  ///< absolute
  bool must_exist = false;     ///< --resume
};

/// Opens the store of the sweep with this plan text, and reads the results of an earlier run.
/// Errors: UsageError if --resume is given and no interrupted sweep is found, and for a path that
/// the store must not use.
fixtures::Store own_store(const StorePlace& place, const std::string& plan, const Context& context);

/// Returns the reports of the finished cases of an interrupted sweep with the same plan.
std::map<std::string, conformance::CaseReport> taken_up(const fixtures::Store& store);

/// Returns the description in the store of one part of a sweep: the report of the part, without the
/// cases.
std::string description(conformance::Results results, const fixtures::Store& store);

/// Merges the store into one file at the end. Returns false if the file lacks cases.
bool is_stored(fixtures::Store& store, const conformance::Summary& summary, const std::string& name,
               const Context& context);

}  // namespace assay::cli
