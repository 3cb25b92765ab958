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

/// The stream of an input that an input profile fills element by element; nothing of what is
/// computed from others, staged, or chosen in another way.
std::optional<conformance::Stream> drawn_stream(std::string_view input);

/// Lengths as replay lines have them: "2x33,7" are two sequences of 33 rows and one of 7.
std::string sequences_of(const spec::Extents& extents);

/// The drawing with the index of its sequences among those of the case, which it may add to:
/// tensors share them, and they can be many.
nlohmann::ordered_json with_shared_sequences(nlohmann::ordered_json drawing,
                                             nlohmann::ordered_json& of_case);

/// What the recipe says of one tensor: dtype, shape, and strides and offset where it is a view.
nlohmann::ordered_json described_tensor(const spec::Tensor& tensor);

template <class Op>
std::string layout_of(const typename Op::Problem& problem) {
  if constexpr (requires { problem.input_layout; })
    return std::string(to_string(problem.input_layout));
  else
    return std::string(to_string(spec::Layout::tnd));
}

/// How an input is drawn, for a reader who draws it again; null where it has to be stored.
template <class Op>
nlohmann::ordered_json drawing_of(const conformance::Case<Op>& c, std::string_view input) {
  const auto stream = drawn_stream(input);
  if (!stream || c.track != conformance::Track::bound) return nullptr;
  // A factor that follows from the whole problem is not told, so that these are stored.
  if (*stream == conformance::Stream::input && c.problem.dtype == spec::DType::fp16) return nullptr;
  const auto extents = conformance::extents_of_input<Op>(c.problem, input);
  // Tokens after the last sequence are not drawn.
  if (!extents || extents->padding != 0) return nullptr;
  return {{"stream", static_cast<std::uint64_t>(*stream)},
          {"heads", extents->heads},
          {"dim", extents->dim},
          {"sequences", sequences_of(*extents)}};
}

/// Every attribute of the problem, defaults included: numbers and words; lists as replay lines have
/// them, "2x33,7".
nlohmann::ordered_json attributes_of(const fixtures::CaseRecord& record);

/// The line of a case: the call, all that draws its inputs, and what each output is.
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
