#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/conformance/inputs/random.hpp"
#include "assay/conformance/judge/places.hpp"
#include "assay/conformance/operators.hpp"
#include "stored/stored_case.hpp"

namespace assay::cli {

/// Returns the random number stream of an input if its elements are independent random numbers.
/// Returns nothing for other inputs, for example inputs that are computed from other inputs.
std::optional<conformance::Stream> drawn_stream(std::string_view input);

/// Returns sequence lengths in the format of replay lines: "2x33,7" means two sequences of 33 rows
/// and one of 7.
std::string sequences_of(const spec::Extents& extents);

/// Shortens the description of a random input. Its list of sequence lengths can be long, so all
/// tensors of a case share a table of such lists. This function replaces the list by its index in
/// the table, and appends a new list to the table.
nlohmann::ordered_json with_shared_sequences(nlohmann::ordered_json drawing,
                                             nlohmann::ordered_json& of_case);

/// Returns the description of a tensor in a recipe: dtype and shape. A view also has strides and an
/// offset.
nlohmann::ordered_json described_tensor(const spec::Tensor& tensor);

template <class Op>
std::string layout_of(const typename Op::Problem& problem) {
  if constexpr (requires { problem.input_layout; })
    return std::string(to_string(problem.input_layout));
  else
    return std::string(to_string(spec::Layout::tnd));
}

/// Describes how the random elements of an input are generated, so that a reader of the pack can
/// generate the same elements. Returns null if the pack must store the input.
template <class Op>
nlohmann::ordered_json drawing_of(const conformance::Case<Op>& c, std::string_view input) {
  const auto stream = drawn_stream(input);
  if (!stream || c.track != conformance::Track::bound) return nullptr;
  // fp16 inputs are multiplied by a factor that depends on the whole problem. The recipe of a case
  // does not contain this factor, so the pack stores the inputs themselves.
  if (*stream == conformance::Stream::input && c.problem.dtype == spec::DType::fp16) return nullptr;
  const auto extents = conformance::extents_of_input<Op>(c.problem, input);
  // The description cannot express tokens after the last sequence (padding), so the pack stores
  // inputs with such tokens.
  if (!extents || extents->padding != 0) return nullptr;
  return {{"stream", static_cast<std::uint64_t>(*stream)},
          {"heads", extents->heads},
          {"dim", extents->dim},
          {"sequences", sequences_of(*extents)}};
}

/// Returns every attribute of the problem, also if it has its default value. Lists have the format
/// of replay lines, such as "2x33,7".
nlohmann::ordered_json attributes_of(const fixtures::CaseRecord& record);

/// Returns the recipe of a case as one JSON line: the call, a description from which the inputs can
/// be generated, and a description of each output.
template <class Op>
nlohmann::ordered_json recipe_line(const conformance::Case<Op>& c,
                                   const fixtures::CaseRecord& record,
                                   const std::vector<fixtures::NamedTensor>& inputs) {
  nlohmann::ordered_json line = {{"id", record.id},
                                 {"command", record.command},
                                 {"entry_point", record.entry_point},
                                 {"product", record.product},
                                 {"attributes", attributes_of(record)},
                                 {"track", record.track},
                                 {"profile", record.profile},
                                 {"seed", record.seed},
                                 {"layout", layout_of<Op>(c.problem)},
                                 {"sequences", nlohmann::ordered_json::array()},
                                 {"inputs", nlohmann::ordered_json::object()},
                                 {"outputs", nlohmann::ordered_json::object()}};
  for (const auto& [name, tensor] : inputs) {
    nlohmann::ordered_json& input = line["inputs"][name] = described_tensor(tensor);
    if (auto drawing = drawing_of(c, name); !drawing.is_null())
      input["drawn"] = with_shared_sequences(std::move(drawing), line["sequences"]);
  }
  auto contiguous = c;
  contiguous.outputs = spec::Striding::contiguous;
  for (const auto& [name, tensor] :
       conformance::named_tensors(conformance::make_outputs(contiguous)))
    line["outputs"][name] = described_tensor(tensor);
  return line;
}

}  // namespace assay::cli
