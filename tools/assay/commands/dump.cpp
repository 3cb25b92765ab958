#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "assay/conformance/judge/places.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/conformance/result/printable.hpp"
#include "assay/conformance/suite.hpp"
#include "assay/fixtures/npy.hpp"
#include "commands/commands.hpp"
#include "flags/destinations.hpp"
#include "flags/one_case.hpp"
#include "printing/waiting.hpp"
#include "stored/recorder.hpp"
#include "stored/stored_case.hpp"

namespace assay::cli {
namespace {

struct DumpOptions : OneCaseOptions {
  std::string folder;

  void declare(CLI::App& sub) {
    implementation.declare(sub);
    sub.add_option("--npy", folder, "folder for the arrays, one .npy file each; created if missing")
        ->required();
  }
};

/// Writes arrays as files into a folder and prints the name of each file.
class Dump {
 public:
  Dump(std::filesystem::path folder, std::ostream& out) : folder_(std::move(folder)), out_(out) {}

  std::int64_t count() const { return count_; }

  /// Checks that the folder contains no arrays of another dump that would remain next to the new
  /// files. Errors: UsageError.
  void require_no_other_than(const std::set<std::string>& names) const {
    std::set<std::string> others;
    for (const char* const part : {"inputs", "actual", "expected", "radius", "tau", "stages"}) {
      std::error_code absent;
      for (const auto& entry : std::filesystem::directory_iterator(folder_ / part, absent)) {
        const std::filesystem::path name = std::filesystem::path(part) / entry.path().filename();
        if (name.extension() == ".npy" && !names.contains(name.string()))
          others.insert(name.string());
      }
    }
    if (!others.empty())
      throw UsageError(
          fmt::format("--npy is '{}', which contains {} of another dump: this case has no such "
                      "array; name another folder, or remove the files in this one",
                      folder_.string(), *others.begin()));
  }
  void add(const std::string& name, const spec::Tensor& tensor) {
    const std::filesystem::path file = file_of(name);
    fixtures::write_npy(file, tensor);
    report(file, tensor.shape);
  }
  void add(const std::string& name, const spec::Shape& shape, std::span<const double> values) {
    const std::filesystem::path file = file_of(name);
    fixtures::write_npy(file, shape, values);
    report(file, shape);
  }

 private:
  std::filesystem::path file_of(const std::string& name) const {
    std::filesystem::path file = folder_ / (name + ".npy");
    std::filesystem::create_directories(file.parent_path());
    return file;
  }
  void report(const std::filesystem::path& file, const spec::Shape& shape) {
    ++count_;
    out_ << fmt::format("{} ({})\n", conformance::printable(file.string()), fmt::join(shape, ", "));
  }

  std::filesystem::path folder_;
  std::ostream& out_;
  std::int64_t count_ = 0;
};

/// Adds the expected values, error bounds and tolerances of one output to the dump, in the shape of
/// the output. Elements that are not judged become NaN.
template <class Op>
void add_expected(const conformance::Case<Op>& c, const conformance::Expected& expected,
                  const spec::Shape& shape, Dump& dump) {
  const std::vector<std::int64_t> places = conformance::places_of(c, expected);
  const auto placed = [&](const std::string& name, const auto& numbers) {
    std::vector<double> values(static_cast<std::size_t>(spec::element_count(shape)), std::nan(""));
    for (std::size_t k = 0; k < places.size(); ++k)
      values[static_cast<std::size_t>(places[k])] = numbers[k];
    dump.add(name + "/" + expected.name, shape, values);
  };
  placed("expected", expected.value);
  placed("radius", expected.radius);
  placed("tau", expected.tau);
}

template <class Op>
ExitCode dump_case(const DumpOptions& options, const CLI::App& app, const Context& context) {
  const conformance::Case<Op> c = options.fields.parsed<Op>(app);
  if (const auto reason = without_tensors(c)) throw UsageError(*reason);
  require_place_of_folder({"--npy", options.folder});
  std::error_code failure;
  std::filesystem::create_directories(options.folder, failure);
  if (failure)
    throw UsageError(fmt::format("--npy is '{}': the folder cannot be created: {}", options.folder,
                                 failure.message()));
  tell_in_process(options.implementation, context.err);
  const auto implementation = make_implementation<Op>(context.registry, options.implementation);
  const spec::Call<Op> call = conformance::call_of(c);
  if (const auto reason = implementation->unsupported(call))
    throw UsageError(
        fmt::format("{} does not support this call: {}", implementation->name(), *reason));

  std::optional<Waiting> waiting;
  if (!options.implementation.in_process)
    waiting.emplace(context,
                    Task{.what = "dump",
                         .expected_seconds = conformance::Suite<Op>::expected_cost(c),
                         .is_foreign = !runs_here<Op>(context.registry, options.implementation)});
  if (c.variant.starts_with("formula:"))
    throw UsageError(
        "dump cannot compute the stages of a case with a formula: leave out --variant");
  if (!c.part.empty())
    throw UsageError("dump cannot compute the stages of a part of a gradient: leave out --part");
  const spec::Numerics numerics = implementation->numerics(c.problem);
  conformance::PreparedCase<Op> prepared(c);
  const typename Op::Inputs inputs = prepared.inputs(numerics);
  auto outputs = conformance::make_outputs(c);
  implementation->run_call(call, c.problem, inputs, outputs);

  const auto given = conformance::named_tensors(inputs),
             actual = conformance::named_tensors(outputs);
  const auto all_expected = prepared.expected(numerics);
  const auto stages = conformance::Suite<Op>::intermediates(c.problem, inputs);
  std::set<std::string> files;
  const auto announce = [&](const std::string& part, const auto& arrays) {
    for (const auto& array : arrays) files.insert(part + "/" + array.name + ".npy");
  };
  announce("inputs", given);
  announce("actual", actual);
  for (const char* const part : {"expected", "radius", "tau"}) announce(part, all_expected);
  announce("stages", stages.arrays);

  Dump dump(options.folder, context.out);
  dump.require_no_other_than(files);
  for (const auto& [name, tensor] : given) dump.add("inputs/" + name, tensor);
  for (const auto& [name, tensor] : actual) dump.add("actual/" + name, tensor);
  for (const conformance::Expected& expected : all_expected) {
    const auto tensor = std::ranges::find(actual, expected.name, &fixtures::NamedTensor::name);
    add_expected(c, expected, tensor->tensor.shape, dump);
  }
  for (const auto& [name, shape, values] : stages.arrays) dump.add("stages/" + name, shape, values);
  if (!stages.left_out.empty()) context.out << "no stages: " << stages.left_out << '\n';
  context.out << fmt::format(
      "Case {} of {}: wrote {} to {}.\n", conformance::case_id(conformance::command_line(c)),
      conformance::printable(implementation->name()), conformance::counted(dump.count(), "array"),
      conformance::printable(options.folder));
  return ExitCode::conformant;
}

}  // namespace

Command dump_command() {
  return one_case_command<DumpOptions>(
      "dump",
      "write a case's arrays for numpy: inputs, expected values, tolerances, outputs of an "
      "implementation, and the definition's S, P, dP, delta (the row term) and dS",
      []<class Op>(const DumpOptions& options, const CLI::App& app, const Context& context) {
        return dump_case<Op>(options, app, context);
      });
}

}  // namespace assay::cli
