#include "assay/fixtures/pack.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "assay/conformance/judge/exact.hpp"
#include "assay/conformance/report/printable.hpp"
#include "assay/fixtures/destination.hpp"
#include "build_facts.hpp"
#include "commands/commands.hpp"
#include "flags/choose.hpp"
#include "flags/numerics.hpp"
#include "packs/goldens.hpp"
#include "packs/recipe.hpp"
#include "packs/sets.hpp"
#include "signals.hpp"
#include "stored/json_members.hpp"
#include "stored/reading.hpp"

namespace assay::cli {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* pack_schema = "assay-pack-1";
constexpr const char* schema_family = "assay-pack-";
constexpr const char* manifest_name = "manifest.json";
constexpr const char* recipes_name = "recipes.jsonl";
constexpr std::size_t longest_recipe = 2048, longest_excerpt = 100;
/// What is read of a pack from elsewhere; a set of all cases needs a fifth of that.
constexpr std::int64_t most_manifest = 1 << 24, most_recipes = 1 << 26;

struct PackOptions {
  std::string set, to, verified, numerics = "ascend_a2", format = "hdf5";
  bool list = false, whole = false;
};

/// The files of a pack beside its manifest.
std::array<std::string, 3> file_names(fixtures::PackFormat format) {
  const auto [goldens, inputs] = fixtures::array_files(format);
  return {recipes_name, goldens, inputs};
}

/// Nothing for a word that names none.
std::optional<fixtures::PackFormat> format_of(const std::string& word) {
  if (word == "hdf5") return fixtures::PackFormat::hdf5;
  if (word == "npz") return fixtures::PackFormat::npz;
  if (word == "safetensors") return fixtures::PackFormat::safetensors;
  return std::nullopt;
}

/// What a pack grows to.
struct Pack {
  fixtures::PackWriter& writer;
  std::string recipes = {};
  Json digests = Json::object();  ///< of every input, by case and name
  std::int64_t cases = 0, inexact = 0, long_recipes = 0;
};

template <class Op>
void add_case(const PackOptions& options, const conformance::Case<Op>& c, Pack& pack) {
  const spec::Numerics numerics = numerics_value<Op>(options.numerics, c.problem.dtype);
  conformance::Examination<Op> examination(c);
  fixtures::CaseRecord record = conformance::recipe(c);
  const auto inputs = conformance::named_tensors(examination.inputs(numerics));
  for (const auto& [name, tensor] : inputs) record.digests[name] = fixtures::digest(tensor);
  Json line = recipe_line(c, record, inputs);
  auto contiguous = c;
  contiguous.outputs = spec::Striding::contiguous;
  for (const auto& [name, tensor] :
       conformance::named_tensors(conformance::make_outputs(contiguous)))
    line["outputs"][name] = described_tensor(tensor);
  if (line.dump().size() > longest_recipe) {
    ++pack.long_recipes;
    return;
  }
  pack.digests[record.id] = record.digests;
  for (const auto& [name, tensor] : inputs)
    if (options.whole || !line["inputs"][name].contains("drawn"))
      pack.writer.write_input(tensor, record.digests[name]);
  for (const conformance::Expected& expected : examination.expected(numerics)) {
    const auto goldens =
        goldens_of(expected, conformance::rounded_rows(expected, c.problem.dtype, numerics),
                   conformance::places_of(c, expected), c.seed, options.whole);
    pack.writer.write_golden(record.id, expected.name, goldens);
  }
  pack.recipes += line.dump() + '\n';
  ++pack.cases;
}

template <class Op>
void add_cases(const PackOptions& options, Pack& pack, const Context& context) {
  for (const auto& c : cases_of_set<Op>(options.set)) {
    if (context.stop) throw std::runtime_error(options.to + ": stopped; there is no whole pack");
    try {
      add_case(options, c, pack);
    } catch (const conformance::NoExactCase&) {
      ++pack.inexact;
    }
  }
}

/// Errors: UsageError.
Json parsed(const std::string& text, const std::string& where) {
  try {
    return parse_shallow(text, where);
  } catch (const Json::exception& error) {
    throw UsageError(where + ": " + error.what());
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

bool is_manifest(const std::string& text) {
  const Json manifest = parsed(text, manifest_name);
  return manifest.is_object() && manifest.contains("schema") && manifest["schema"].is_string() &&
         manifest["schema"].get<std::string>().starts_with(schema_family);
}

fixtures::PackFolder folder_for_pack(const std::string& folder) {
  try {
    return reading([&] { return fixtures::PackFolder(folder, is_manifest); });
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--to is '{}': {}", folder, error.what()));
  }
}

ExitCode write_pack(const PackOptions& options, const Context& context) {
  const auto sets = pack_sets();
  if (std::ranges::find(sets, options.set, &PackSet::name) == sets.end())
    throw UsageError("no set '" + options.set + "'; 'assay pack --list' has them");
  require_numerics(options.numerics);
  const auto format = format_of(options.format);
  if (!format)
    throw UsageError("--format is '" + options.format + "'; it must be hdf5, npz or safetensors");
  stop_on_signals();
  fixtures::PackFolder folder = folder_for_pack(options.to);
  fixtures::PackWriter writer(options.to, *format);
  Pack pack{.writer = writer};
  for_each_operator([&]<class Op> { add_cases<Op>(options, pack, context); });
  writer.close();
  fixtures::replace_file(fs::path(options.to) / recipes_name, pack.recipes);
  Json manifest = {
      {"schema", pack_schema},         {"set", options.set},
      {"tool", build_facts().version}, {"format", options.format},
      {"numerics", options.numerics},  {"goldens", options.whole ? "whole" : "sampled"},
      {"cases", pack.cases},           {"files", Json::object()},
      {"inputs", pack.digests}};
  std::int64_t bytes = 0;
  for (const std::string& name : file_names(*format)) {
    const fixtures::PackFile file = fixtures::PackMember(options.to, name).facts();
    manifest["files"][name] = {{"bytes", file.bytes}, {"sha256", file.sha256}};
    bytes += file.bytes;
  }
  folder.finish(manifest.dump(1) + '\n');
  context.out << fmt::format(
      "{}: {}, {:.1f} MB; left out: {} without exact inputs for {}, "
      "{} with a recipe of more than {} B\n",
      options.to, conformance::counted(pack.cases, "case"), static_cast<double>(bytes) / 1e6,
      pack.inexact, options.numerics, pack.long_recipes, longest_recipe);
  return ExitCode::conformant;
}

/// What a file of a pack says. Errors: UsageError, fixtures::OutOfResources.
std::string text_of(const fs::path& folder, const char* name, std::int64_t most) {
  return reading([&] { return fixtures::PackMember(folder, name).text(most); });
}

/// What a pack's member says, or why it cannot be taken.
template <class Value>
Value member(const Json& object, const char* name, const std::string& where) {
  try {
    return object.at(name).get<Value>();
  } catch (const Json::exception&) {
    throw UsageError(where + ": no member '" + name + "' of the schema " + pack_schema);
  }
}

/// The inputs of a recipe that, made anew, have not the digests that are due.
template <class Op>
std::vector<std::string> changed_inputs(const Json& line, const Json& due,
                                        const std::string& numerics, const std::string& where) {
  conformance::CaseLine words{.place = where, .words = {}, .note = {}};
  std::istringstream command(member<std::string>(line, "command", where));
  for (std::string word; command >> word;) words.words.push_back(word);
  std::vector<std::string> changed;
  const Json digests = member<Json>(due, member<std::string>(line, "id", where).c_str(), where);
  try {
    conformance::Examination<Op> examination(conformance::case_of<Op>(words));
    const auto& problem = examination.examined().problem;
    for (const auto& [name, tensor] : conformance::named_tensors(
             examination.inputs(numerics_value<Op>(numerics, problem.dtype))))
      if (member<std::string>(digests, name.c_str(), where) != fixtures::digest(tensor))
        changed.push_back(name);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
  return changed;
}

/// What is not as the manifest has it of a file; nothing where it is as it was written.
std::optional<std::string> changed_file(const fs::path& folder, const char* name, const Json& due,
                                        const std::string& where) {
  return reading([&]() -> std::optional<std::string> {
    const fixtures::PackMember file(folder, name);
    const std::string path = (folder / name).string();
    if (const auto bytes = member<std::int64_t>(due, "bytes", where); file.bytes() != bytes)
      return fmt::format("{}: it has {} bytes, wanted {}", path, file.bytes(), bytes);
    const auto wanted = member<std::string>(due, "sha256", where);
    const std::string digest = file.facts().sha256;
    if (digest == wanted) return std::nullopt;
    return fmt::format("{}: the digest is {}, wanted {}", path, digest,
                       conformance::excerpt(wanted, longest_excerpt));
  });
}

Json read_manifest(const fs::path& folder, const std::string& where) {
  if (fixtures::is_unfinished(folder))
    throw UsageError(folder.string() + " is no whole pack: its writer was stopped, or is at work");
  const Json manifest = parsed(text_of(folder, manifest_name, most_manifest), where);
  if (const auto schema = member<std::string>(manifest, "schema", where); schema != pack_schema)
    throw UsageError(where + ": the schema is '" + conformance::excerpt(schema, longest_excerpt) +
                     "', wanted '" + pack_schema + "'");
  return manifest;
}

/// What the recipe's inputs are, made anew; what is not as it was is told, and counted.
std::int64_t verify_recipe(const std::string& text, const std::string& place, const Json& digests,
                           const std::string& numerics, std::int64_t& inputs, std::ostream& out) {
  if (text.size() > longest_recipe)
    throw UsageError(fmt::format("{} has {} bytes; a recipe has at most {}", place, text.size(),
                                 longest_recipe));
  const Json line = parsed(text, place);
  inputs += std::ssize(member<Json>(line, "inputs", place));
  const auto command = member<std::string>(line, "command", place);
  std::int64_t faults = 0;
  with_operators(command.substr(0, command.find(' ')), [&]<class Op> {
    for (const std::string& name : changed_inputs<Op>(line, digests, numerics, place)) {
      ++faults;
      out << fmt::format("{}: {} is made anew with another digest\n", place, name);
    }
  });
  return faults;
}

ExitCode verify_pack(const PackOptions& options, const Context& context) {
  const fs::path folder(options.verified);
  const std::string where = (folder / manifest_name).string();
  const Json manifest = read_manifest(folder, where);
  std::int64_t faults = 0, cases = 0, inputs = 0;
  const Json files = member<Json>(manifest, "files", where);
  const auto word = manifest.contains("format") ? member<std::string>(manifest, "format", where)
                                                : PackOptions().format;  // older packs had one
  const auto format = format_of(word);
  if (!format)
    throw UsageError(where + ": the format is '" + conformance::excerpt(word, longest_excerpt) +
                     "'; it must be hdf5, npz or safetensors");
  for (const std::string& name : file_names(*format))
    if (const auto fault =
            changed_file(folder, name.c_str(), member<Json>(files, name.c_str(), where), where)) {
      ++faults;
      context.out << conformance::printable(*fault) << '\n';
    }
  const auto numerics = member<std::string>(manifest, "numerics", where);
  const Json digests = member<Json>(manifest, "inputs", where);
  std::istringstream recipes(text_of(folder, recipes_name, most_recipes));
  for (std::string text; std::getline(recipes, text);) {
    if (context.stop) throw std::runtime_error(options.verified + ": stopped");
    const std::string place = fmt::format("{}:{}", (folder / recipes_name).string(), ++cases);
    faults += verify_recipe(text, place, digests, numerics, inputs, context.out);
  }
  using conformance::counted;
  context.out << fmt::format("{}: {}, {} made anew, {} {}\n",
                             conformance::printable(options.verified), counted(cases, "case"),
                             counted(inputs, "input"), counted(faults, "digest"),
                             faults == 1 ? "differs" : "differ");
  return faults == 0 ? ExitCode::conformant : ExitCode::usage;
}

ExitCode run_pack(const PackOptions& options, const Context& context) {
  const bool writes = !options.set.empty() || !options.to.empty();
  if (int{options.list} + int{!options.verified.empty()} + int{writes} != 1)
    throw UsageError("pack takes one of: --list, SET --to FOLDER, --verify FOLDER");
  if (!options.verified.empty()) return verify_pack(options, context);
  if (options.list) {
    for (const PackSet& set : pack_sets())
      context.out << fmt::format("{:<40} {}\n", set.name, set.sentence);
    return ExitCode::conformant;
  }
  if (options.set.empty()) throw UsageError("pack needs a set; 'assay pack --list' has them");
  if (options.to.empty()) throw UsageError("pack " + options.set + " needs --to FOLDER");
  return write_pack(options, context);
}

Action declare(CLI::App& app) {
  const auto options = std::make_shared<PackOptions>();
  app.add_option("set", options->set, "named set of cases");
  app.add_option("--to", options->to, "folder that is written: made, empty, or an older pack");
  CLI::Option* const list = app.add_flag("--list", options->list, "the named sets");
  CLI::Option* const verify =
      app.add_option("--verify", options->verified,
                     "a pack's folder: compares digests of its files, and of all inputs made anew");
  CLI::Option* const of_writing[] = {
      app.add_flag("--whole", options->whole,
                   "every judged element and every input, instead of samples and recipes"),
      app.add_option("--format", options->format,
                     "files of goldens and inputs: hdf5, npz or safetensors [hdf5]"),
      app.add_option("--numerics", options->numerics,
                     "numerics whose tolerances are stored: a preset of 'list presets', or "
                     "PRESET,field=value")};
  for (CLI::Option* const option : of_writing) option->excludes(list)->excludes(verify);
  return [options](const Context& context) { return run_pack(*options, context); };
}

}  // namespace

Command pack_command() {
  return {.name = "pack",
          .summary = "write a folder of recipes and goldens that needs no Assay to be used",
          .declare = [](CLI::App& app, const Registry&) { return declare(app); }};
}

}  // namespace assay::cli
