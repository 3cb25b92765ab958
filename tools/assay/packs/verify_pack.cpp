#include "packs/verify_pack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "assay/conformance/report/record.hpp"
#include "assay/conformance/result/printable.hpp"
#include "flags/choose.hpp"
#include "packs/pack_files.hpp"
#include "packs/recipe.hpp"
#include "stored/json_members.hpp"
#include "stored/reading.hpp"

namespace assay::cli {

namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

/// Limits for reading a pack, which may come from an untrusted source (bytes). A pack of all cases
/// needs a fifth of these limits.
constexpr std::int64_t most_manifest = 1 << 24, most_recipes = 1 << 26;
constexpr std::size_t longest_excerpt = 100;

std::string quoted(const std::string& text) {
  return '\'' + conformance::excerpt(text, longest_excerpt) + '\'';
}

/// Returns a member of a JSON object. Errors: UsageError if the member is missing or has another
/// type.
template <class Value>
Value member(const Json& object, const char* name, const std::string& where) {
  try {
    return object.at(name).get<Value>();
  } catch (const Json::exception&) {
    throw UsageError(where + ": no member '" + name + "' of the schema " + pack_schema);
  }
}

/// The recipe line of a case, generated again from its replay line, and the digests of the
/// generated inputs.
struct Remade {
  Json line;
  std::vector<std::pair<std::string, std::string>> digests;
};

/// The rounding behaviour (numerics) that a manifest declares. `of` throws std::invalid_argument if
/// the text is invalid.
struct Declared {
  std::string text, manifest;

  template <class Op>
  spec::Numerics of(spec::DType io) const {
    try {
      return spec::numerics_from_text(text, io, Op::name);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(manifest + ": numerics is " + quoted(text) + ": " + error.what());
    }
  }
};

/// Generates the recipe line of a case and its inputs again from the replay line. Errors:
/// UsageError for an invalid replay line or unknown numerics.
Remade remade(const std::string& command, const Declared& numerics, const std::string& where) {
  Remade again;
  conformance::CaseLine words{.place = where, .words = {}, .note = {}};
  std::istringstream stream(command);
  for (std::string word; stream >> word;) words.words.push_back(word);
  with_operators(command.substr(0, command.find(' ')), [&]<class Op> {
    try {
      const auto c = conformance::case_of<Op>(words);
      conformance::PreparedCase<Op> prepared(c);
      const auto inputs =
          conformance::named_tensors(prepared.inputs(numerics.template of<Op>(c.problem.dtype)));
      again.line = recipe_line(c, conformance::recipe(c), inputs);
      for (const auto& [name, tensor] : inputs)
        again.digests.emplace_back(name, fixtures::digest(tensor));
    } catch (const std::invalid_argument& error) {
      throw UsageError(error.what());
    }
  });
  return again;
}

/// Checks that the folder is a pack. Errors: UsageError.
void require_pack(const fs::path& folder) {
  std::error_code error;
  const char* const fault = !fs::exists(folder, error)         ? "does not exist"
                            : !fs::is_directory(folder, error) ? "is a file"
                            : !fixtures::is_unfinished(folder) &&
                                    !fs::exists(fs::symlink_status(folder / manifest_name, error))
                                ? "contains no manifest.json"
                                : nullptr;
  if (fault != nullptr)
    throw UsageError(
        fmt::format("--verify is '{}', which {}; expected the folder of a pack, such as "
                    "'assay pack SET --to FOLDER' writes it",
                    folder.string(), fault));
}

/// Verifies one pack and counts the differences.
class Verification {
 public:
  Verification(const std::string& folder, const Context& context)
      : folder_(folder), context_(context), where_((folder_ / manifest_name).string()) {
    require_pack(folder_);
    if (fixtures::is_unfinished(folder_))
      throw UsageError(folder + " is incomplete: its writer was stopped, or still runs");
    manifest_ = parse_pack_text(text_of(manifest_name, most_manifest), where_);
    if (const auto schema = member<std::string>(manifest_, "schema", where_); schema != pack_schema)
      throw UsageError(where_ + ": the schema is " + quoted(schema) + "; expected '" + pack_schema +
                       "'");
  }

  ExitCode run() {
    verify_files();
    verify_recipes();
    using conformance::counted;
    context_.out << fmt::format("{} {}: {}, {} made again, {}\n", folder_.string(),
                                differences_ == 0 ? "is unchanged" : "was changed",
                                counted(std::ssize(ids_), "case"), counted(inputs_, "input"),
                                counted(differences_, "difference"));
    return differences_ == 0 ? ExitCode::conformant : ExitCode::usage;
  }

 private:
  void report(const std::string& difference) {
    ++differences_;
    context_.out << difference << '\n';
  }

  /// Errors: UsageError, fixtures::OutOfResources.
  std::string text_of(const char* name, std::int64_t most) const {
    return reading([&] { return fixtures::PackMember(folder_, name).text(most); });
  }

  fixtures::PackFormat format() const {
    const auto word = member<std::string>(manifest_, "format", where_);
    if (const auto format = pack_format(word)) return *format;
    throw UsageError(where_ + ": the format is " + quoted(word) +
                     "; it must be hdf5, npz or safetensors");
  }

  void verify_files() {
    const auto wanted = pack_files(format());
    const Json listed = member<Json>(manifest_, "files", where_);
    for (const auto& [name, facts] : listed.items())
      if (std::ranges::find(wanted, name) == wanted.end())
        report(fmt::format("{}: the member files lists {}; a pack has {}", where_, quoted(name),
                           fmt::join(wanted, ", ")));
    for (const std::string& name : wanted)
      if (fs::is_symlink(fs::symlink_status(folder_ / name)))
        report(fmt::format("{} is a symbolic link; a pack must contain the file itself",
                           (folder_ / name).string()));
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename().string();
      if (name != manifest_name && std::ranges::find(wanted, name) == wanted.end())
        report(fmt::format("{}: {} is not a file of the pack; remove it", folder_.string(),
                           quoted(name)));
    }
    for (const std::string& name : wanted)
      verify_file(name, member<Json>(listed, name.c_str(), where_ + ", files"));
  }

  void verify_file(const std::string& name, const Json& expected) {
    reading([&] {
      const fixtures::PackMember file(folder_, name);
      const std::string path = (folder_ / name).string();
      if (const auto bytes = member<std::int64_t>(expected, "bytes", where_); file.bytes() != bytes)
        return report(fmt::format("{}: it has {} bytes; expected {}", path, file.bytes(), bytes));
      const auto wanted = member<std::string>(expected, "sha256", where_);
      if (const std::string digest = file.facts().sha256; digest != wanted)
        report(fmt::format("{}: the digest is {}; expected {}", path, digest,
                           conformance::excerpt(wanted, longest_excerpt)));
    });
  }

  void verify_recipes() {
    numerics_ = {.text = member<std::string>(manifest_, "numerics", where_), .manifest = where_};
    const Json digests = member<Json>(manifest_, "inputs", where_);
    std::istringstream recipes(text_of(recipes_name, most_recipes));
    std::int64_t number = 0;
    for (std::string text; std::getline(recipes, text);) {
      if (context_.stop) throw std::runtime_error(folder_.string() + ": stopped");
      verify_recipe(text, fmt::format("{}:{}", (folder_ / recipes_name).string(), ++number),
                    digests);
    }
    for (const auto& [id, names] : digests.items())
      if (!ids_.contains(id))
        report(fmt::format(
            "{}: its member \"inputs\" lists the case {}, but the pack has no recipe of this case",
            where_, quoted(id)));
    if (const auto cases = member<std::int64_t>(manifest_, "cases", where_); cases != number)
      report(fmt::format("{}: its member \"cases\" is {}; it must be {}, the number of recipes",
                         where_, cases, number));
  }

  void verify_recipe(const std::string& text, const std::string& place, const Json& digests) {
    if (text.size() > longest_recipe)
      throw UsageError(fmt::format("{} has {} bytes; a recipe has at most {}", place, text.size(),
                                   longest_recipe));
    const Json line = parse_pack_text(text, place);
    const Remade again = remade(member<std::string>(line, "command", place), numerics_, place);
    report_changed_members(line, again.line, place);
    const auto id = again.line["id"].get<std::string>();
    if (!ids_.insert(id).second) report(fmt::format("{}: a second recipe of case {}", place, id));
    const Json expected = member<Json>(digests, id.c_str(), where_ + ", inputs");
    for (const auto& [name, digest] : again.digests)
      if (member<std::string>(expected, name.c_str(), where_) != digest)
        report(fmt::format("{}: {}, generated again, has another digest", place, name));
    if (expected.size() != again.digests.size())
      report(fmt::format("{}: the manifest has {} digests; expected {}", place, expected.size(),
                         again.digests.size()));
    inputs_ += std::ssize(again.digests);
  }

  /// Reports every member of a stored recipe line that differs from the generated one.
  void report_changed_members(const Json& line, const Json& wanted, const std::string& place) {
    // Convert to a type with sorted members, because the order of the members does not matter.
    const nlohmann::json given(line), expected(wanted);
    for (const auto& change : nlohmann::json::diff(expected, given)) {
      const nlohmann::json::json_pointer at(change["path"].get<std::string>());
      const auto value = [&](const nlohmann::json& of) {
        return of.contains(at) ? conformance::excerpt(of[at].dump(), longest_excerpt)
                               : std::string("absent");
      };
      report(fmt::format("{}: {} is {}; the replay line gives {}", place,
                         conformance::excerpt(at.to_string(), longest_excerpt), value(given),
                         value(expected)));
    }
  }

  fs::path folder_;
  const Context& context_;
  std::string where_;
  Declared numerics_;
  Json manifest_;
  std::set<std::string> ids_;
  std::int64_t inputs_ = 0, differences_ = 0;
};

}  // namespace

ExitCode verify_pack(const std::string& folder, const Context& context) {
  return Verification(folder, context).run();
}

}  // namespace assay::cli
