#include "assay/fixtures/pack.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "assay/conformance/judge/exact.hpp"
#include "assay/conformance/result/printable.hpp"
#include "assay/fixtures/destination.hpp"
#include "build_facts.hpp"
#include "commands/commands.hpp"
#include "flags/choose.hpp"
#include "flags/destinations.hpp"
#include "flags/numerics.hpp"
#include "packs/goldens.hpp"
#include "packs/pack_files.hpp"
#include "packs/recipe.hpp"
#include "packs/sets.hpp"
#include "packs/verify_pack.hpp"
#include "printing/waiting.hpp"
#include "signals.hpp"
#include "stored/reading.hpp"

namespace assay::cli {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* schema_family = "assay-pack-";

struct PackOptions {
  std::string set, to, verified, format = "hdf5";
  DeclaredNumerics numerics{"ascend_a2"};
  bool list = false, whole = false;
};

/// The pack (a folder of test vectors) that is being written.
struct Pack {
  fixtures::PackWriter& writer;
  std::string recipes = {};
  Json digests = Json::object();  ///< case -> input -> digest
  std::int64_t cases = 0, inexact = 0, long_recipes = 0;
};

template <class Op>
void add_case(const PackOptions& options, const conformance::Case<Op>& c, Pack& pack) {
  const spec::Numerics numerics = options.numerics.of<Op>(c.problem.dtype);
  conformance::PreparedCase<Op> prepared(c);
  fixtures::CaseRecord record = conformance::recipe(c);
  const auto inputs = conformance::named_tensors(prepared.inputs(numerics));
  for (const auto& [name, tensor] : inputs) record.digests[name] = fixtures::digest(tensor);
  const Json line = recipe_line(c, record, inputs);
  if (line.dump().size() > longest_recipe) {
    ++pack.long_recipes;
    return;
  }
  pack.digests[record.id] = record.digests;
  for (const auto& [name, tensor] : inputs)
    if (options.whole || !line["inputs"][name].contains("drawn"))
      pack.writer.write_input(tensor, record.digests[name]);
  for (const conformance::Expected& expected : prepared.expected(numerics)) {
    const spec::DType dtype = conformance::dtype_of_output(c, expected.name);
    const auto goldens = goldens_of(expected, conformance::rounded_rows(expected, dtype, numerics),
                                    conformance::places_of(c, expected), c.seed, options.whole);
    pack.writer.write_golden(record.id, expected.name, dtype, goldens);
  }
  pack.recipes += line.dump() + '\n';
  ++pack.cases;
}

template <class Op>
void add_cases(const PackOptions& options, Pack& pack, Waiting& waiting, const Context& context) {
  for (const auto& c : cases_of_set<Op>(options.set)) {
    if (context.stop) throw std::runtime_error(options.to + ": stopped; the pack is incomplete");
    try {
      add_case(options, c, pack);
    } catch (const conformance::NoExactCase&) {
      ++pack.inexact;
    }
    waiting.done(pack.cases + pack.inexact + pack.long_recipes);
  }
}

bool is_manifest(const std::string& text) {
  const Json manifest = parse_pack_text(text, manifest_name);
  return manifest.is_object() && manifest.contains("schema") && manifest["schema"].is_string() &&
         manifest["schema"].get<std::string>().starts_with(schema_family);
}

fixtures::PackFolder folder_for_pack(const std::string& folder) {
  require_place_of_folder({"--to", folder});
  try {
    return reading([&] { return fixtures::PackFolder(folder, is_manifest); });
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--to is '{}': {}", folder, error.what()));
  }
}

void require_set(const std::string& name) {
  std::vector<std::string> names;
  for (const PackSet& set : pack_sets()) names.push_back(set.name);
  if (std::ranges::find(names, name) == names.end())
    throw UsageError("no set '" + name + "'" +
                     one_of(name, names, "'assay pack --list' describes the sets:"));
}

ExitCode write_pack(const PackOptions& options, const Context& context) {
  const auto format = pack_format(options.format);
  if (!format)
    throw UsageError("--format is '" + options.format + "'; it must be hdf5, npz or safetensors");
  stop_on_signals();
  fixtures::PackFolder folder = folder_for_pack(options.to);
  fixtures::PackWriter writer(options.to, *format);
  Pack pack{.writer = writer};
  std::int64_t cases = 0;
  for_each_operator([&]<class Op> { cases += std::ssize(cases_of_set<Op>(options.set)); });
  {
    Waiting waiting(context, {.what = "pack", .cases = cases});
    for_each_operator([&]<class Op> { add_cases<Op>(options, pack, waiting, context); });
  }
  writer.close();
  fixtures::replace_file(fs::path(options.to) / recipes_name, pack.recipes);
  Json manifest = {{"schema", pack_schema},
                   {"set", options.set},
                   {"tool", build_facts().version},
                   {"format", options.format},
                   {"numerics", options.numerics.text()},
                   {"goldens", options.whole ? "whole" : "sampled"},
                   {"cases", pack.cases},
                   {"files", Json::object()},
                   {"inputs", pack.digests}};
  std::int64_t bytes = 0;
  for (const std::string& name : pack_files(*format)) {
    const fixtures::PackFile file = fixtures::PackMember(options.to, name).facts();
    manifest["files"][name] = {{"bytes", file.bytes}, {"sha256", file.sha256}};
    bytes += file.bytes;
  }
  folder.finish(manifest.dump(1) + '\n');
  context.out << fmt::format(
      "{}: {}, {:.1f} MB; left out: {} without exact inputs for {}, "
      "{} with a recipe of more than {} B\n",
      options.to, conformance::counted(pack.cases, "case"), static_cast<double>(bytes) / 1e6,
      pack.inexact, options.numerics.text(), pack.long_recipes, longest_recipe);
  return ExitCode::conformant;
}

ExitCode run_pack(const PackOptions& options, const Context& context) {
  const bool writes = !options.set.empty() || !options.to.empty();
  if (int{options.list} + int{!options.verified.empty()} + int{writes} != 1)
    throw UsageError("pack takes one of: --list, SET --to FOLDER, --verify FOLDER");
  if (!options.verified.empty()) return verify_pack(options.verified, context);
  if (options.list) {
    for (const PackSet& set : pack_sets())
      context.out << fmt::format("{:<40} {}\n", set.name, set.sentence);
    context.out << fmt::format("{} sets; 'pack SET --to FOLDER' writes one.\n", pack_sets().size());
    return ExitCode::conformant;
  }
  if (options.set.empty()) throw UsageError("pack needs a set; 'assay pack --list' lists them");
  require_set(options.set);
  if (options.to.empty())
    throw UsageError("pack " + options.set + " needs --to FOLDER: a new or an empty folder");
  return write_pack(options, context);
}

Action declare(CLI::App& app) {
  const auto options = std::make_shared<PackOptions>();
  app.add_option("set", options->set, "named set of cases");
  app.add_option("--to", options->to,
                 "folder for the pack: a new or an empty folder, or an older "
                 "pack");
  CLI::Option* const list = app.add_flag("--list", options->list, "the named sets");
  CLI::Option* const verify =
      app.add_option("--verify", options->verified,
                     "folder of a pack: check the digests of its files, and of its inputs after "
                     "generating them again");
  CLI::Option* const of_writing[] = {
      app.add_flag("--whole", options->whole,
                   "store every judged element and every input; without this flag, the pack "
                   "contains only some elements, and omits inputs that a seed can generate again"),
      app.add_option("--format", options->format,
                     "format of the files of goldens and inputs: hdf5, npz or safetensors [hdf5]"),
      add_numerics(app, options->numerics,
                   "numerics whose tolerances are stored: a preset of 'list presets', or "
                   "PRESET,field=value")};
  for (CLI::Option* const option : of_writing) option->excludes(list)->excludes(verify);
  return [options](const Context& context) { return run_pack(*options, context); };
}

}  // namespace

Command pack_command() {
  return {.name = "pack",
          .summary =
              "write a folder of inputs (or recipes for them) and expected values, for use without "
              "Assay",
          .declare = [](CLI::App& app, const Registry&) { return declare(app); }};
}

}  // namespace assay::cli
