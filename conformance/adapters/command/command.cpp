#include "assay/adapters/command.hpp"

#include <algorithm>
#include <concepts>
#include <cstring>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "assay/fixtures/file.hpp"
#include "assay/fixtures/named.hpp"
#include "assay/spec/not_asked.hpp"
#include "assay/spec/operators.hpp"
#include "assay/spec/striding.hpp"
#include "assay/spec/takes_formulas.hpp"
#include "command/conversation.hpp"

namespace assay::adapters {
namespace {

using Kind = spec::ImplementationFault::Kind;

constexpr const char* case_id = "case";

/// The entry point and the product (chip) of a call; both are empty if unknown.
struct Entry {
  std::string entry_point, product;
};

bool has_geometry_of(const spec::Tensor& a, const spec::Tensor& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides &&
         a.offset == b.offset && a.bytes.size() == b.bytes.size();
}

/// Returns whether two tensors have equal elements. If the program changed the offset or the
/// strides of the view, only the elements are compared, not the other bytes of the storage.
bool is_same(const spec::Tensor& given, const spec::Tensor& now) {
  if (has_geometry_of(given, now))
    return given.bytes.empty() ||
           std::memcmp(given.bytes.data(), now.bytes.data(), given.bytes.size()) == 0;
  return fixtures::digest(given) == fixtures::digest(now);
}

/// Returns the first position at which two tensors differ, as text such as ", first at byte 4 of
/// its storage". Empty if they differ in shape, offset or strides.
std::string first_change(const spec::Tensor& given, const spec::Tensor& now) {
  if (!has_geometry_of(given, now)) return "";
  const auto first = std::mismatch(given.bytes.begin(), given.bytes.end(), now.bytes.begin()).first;
  return ", first at byte " + std::to_string(first - given.bytes.begin()) + " of its storage";
}

/// Removes the path of the temporary case file from a message, because the reader of a report
/// cannot open that file.
std::string without_path(const std::string& text, const std::filesystem::path& file) {
  const std::string path = file.string() + ":";
  if (!text.starts_with(path)) return text;
  return "in the case file: " + text.substr(path.size());
}

template <class Op>
class Command final : public spec::Implementation<Op>, public spec::TakesFormulas {
 public:
  using Problem = typename Op::Problem;
  using Inputs = typename Op::Inputs;
  using Outputs = typename Op::Outputs;

  Command(CommandLine command, const CommandLimits& limits)
      : talk_(std::make_unique<Conversation>(std::move(command), limits)) {
    // Queries and parses the program's numerics (its declared arithmetic) when the program is
    // opened, so that an error is reported before any case runs.
    if (limits.greet) spec::numerics_from_text(talk_->greet(), {}, Op::name);
  }

  std::string name() const override { return "command:" + talk_->command().text; }
  bool checks_arguments() const override { return false; }
  bool has_formula_gradients() const override { return true; }  // take_outputs() looks for them
  void set_formula(const std::string& variant) override { formula_ = variant; }
  bool takes_parts() const override { return true; }
  void set_part(const std::string& part) override { part_ = part; }
  std::optional<std::string> unsupported(const spec::Call<Op>& call) const override {
    std::optional<std::string> reason;
    visit_fields(call.parameters, [&]<class Member>(std::string_view name, const Member& member) {
      if constexpr (std::same_as<Member, spec::Parameter>)
        if (!reason && spec::is_sparse(member))
          reason =
              "a file for a program would contain the whole storage of each tensor, and the "
              "storage of " +
              std::string(name) + " spans " + std::to_string(spec::storage_bytes(member)) +
              " bytes";
    });
    return reason;
  }
  spec::Numerics numerics(const Problem& problem) const override {
    return spec::numerics_from_text(talk_->numerics(), problem.dtype, Op::name);
  }
  void run(const Problem& problem, const Inputs& inputs, Outputs& outputs) override {
    work({}, {}, problem, inputs, outputs);
  }
  void run_call(const spec::Call<Op>& call, const Problem& problem, const Inputs& inputs,
                Outputs& outputs) override {
    work({.entry_point = std::string(spec::to_string(call.entry_point)),
          .product = std::string(spec::to_string(call.product))},
         fixtures::call_fields(
             call, call_of(problem, call.entry_point, call.product, spec::Striding::contiguous,
                           spec::Striding::contiguous)),
         problem, inputs, outputs);
  }
  std::vector<spec::Metric> metrics() const override { return regimes_; }
  void settle() override { talk_->settle(); }

 private:
  using Fields = std::vector<std::pair<std::string, fixtures::Field>>;

  void work(const Entry& entry, const Fields& call_fields, const Problem& problem,
            const Inputs& inputs, Outputs& outputs) {
    regimes_.clear();
    const std::filesystem::path file = talk_->folder() / "case.h5";
    write_case(file, entry, call_fields, problem, inputs);
    regimes_ = talk_->work_on(file);
    try {
      take_outputs(file, inputs, outputs);
    } catch (const fixtures::StoreError& error) {
      throw spec::ImplementationFault(Kind::crash, without_path(error.what(), file));
    } catch (const std::invalid_argument& error) {
      throw spec::ImplementationFault(
          Kind::crash, std::string("in the case file: /cases/") + case_id + " " + error.what());
    }
  }

  /// Writes the case file. Errors: spec::NotAsked if the file cannot be written. The program is not
  /// at fault then, because it has not received the case yet.
  void write_case(const std::filesystem::path& file, const Entry& entry, const Fields& call_fields,
                  const Problem& problem, const Inputs& inputs) const try {
    std::filesystem::remove(
        file);  // replacing an existing file costs a flush, removing it does not
    fixtures::Writer writer(file);
    writer.write({.id = case_id,
                  .operator_name = std::string(Op::name),
                  .entry_point = entry.entry_point,
                  .product = entry.product,
                  .command = std::string(Op::name) +
                             (formula_.empty() ? "" : " --variant=" + formula_) +
                             (part_.empty() ? "" : " --part=" + part_),
                  .problem = fixtures::fields_of(problem),
                  .call = call_fields,
                  .inputs = fixtures::named_tensors(inputs)});
    writer.close(fixtures::Durability::renamed);
  } catch (const std::runtime_error& failure) {
    throw spec::NotAsked(std::string("the file of the case cannot be written: ") + failure.what());
  }

  /// Reads the outputs of the program from the case file. The file may contain anything, because
  /// the program wrote it.
  void take_outputs(const std::filesystem::path& file, const Inputs& inputs,
                    Outputs& outputs) const {
    const fixtures::Reader reader(file, fixtures::Origin::foreign_unlinked);
    const fixtures::CaseRecord record = reader.read(case_id, [&](const fixtures::CaseRecord&) {
      return fixtures::Expectation{.inputs = facts_of(inputs), .outputs = facts_of(outputs)};
    });
    require_unchanged(inputs, record.inputs);
    if (record.actual.empty()) return;  // the judge reports unwritten outputs
    if (record.actual.size() != 1)
      throw std::invalid_argument("holds outputs of " + std::to_string(record.actual.size()) +
                                  " implementations in the group 'actual'; only one is accepted");
    const fixtures::Actual& actual = record.actual.begin()->second;
    if (!actual.fault.empty()) throw fixtures::StoreError(actual.fault);
    if constexpr (requires { outputs.dformula; }) {
      const auto is_written = std::ranges::any_of(
          actual.outputs, [](const auto& output) { return output.name == "dformula"; });
      if (outputs.dformula && !is_written)
        throw spec::Unsupported("'" + talk_->command().text +
                                "' does not write dformula, the gradients of the formula");
    }
    fixtures::fill(outputs, actual.outputs);
  }

  /// Errors: spec::ImplementationFault if the program modified an input in the case file. A program
  /// that creates the file itself may omit the inputs.
  void require_unchanged(const Inputs& inputs,
                         const std::vector<fixtures::NamedTensor>& found) const {
    const auto compare = [&](std::string_view name, const spec::Tensor& given) {
      for (const fixtures::NamedTensor& now : found)
        if (now.name == name && !is_same(given, now.tensor))
          throw spec::ImplementationFault(Kind::inputs_modified,
                                          "'" + talk_->command().text + "' modified the input " +
                                              now.name + " in its file" +
                                              first_change(given, now.tensor));
    };
    fixtures::detail::for_each_tensor(inputs, compare);
  }

  template <class Tensors>
  static std::vector<fixtures::TensorFacts> facts_of(const Tensors& tensors) {
    std::vector<fixtures::TensorFacts> facts;
    fixtures::detail::for_each_tensor(
        tensors, [&](std::string_view name, const spec::Tensor& tensor) {
          facts.push_back({std::string(name), tensor.dtype, tensor.shape});
        });
    return facts;
  }

  std::unique_ptr<Conversation> talk_;
  std::vector<spec::Metric> regimes_;  ///< of the last run
  std::string formula_, part_;         ///< of the next run, as in a replay line; empty: none
};

}  // namespace

template <class Op>
std::unique_ptr<spec::Implementation<Op>> open_command(const std::string& rest,
                                                       const CommandLimits& limits) {
  const CommandLine command = parse_command_line(rest);
  require_program(command);
  spec::numerics_from_text(declared_numerics(command), spec::DType::bf16,
                           Op::name);  // throws for invalid numerics
  return std::make_unique<Command<Op>>(command, limits);
}

namespace {

/// Instantiates the function template for every operator.
template <class... Ops>
auto open_command_of(spec::TypeList<Ops...>) {
  return std::tuple(&open_command<Ops>...);
}

}  // namespace

extern const auto every_open_command = open_command_of(spec::Operators{});

}  // namespace assay::adapters
