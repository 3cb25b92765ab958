#include "packs/recipe.hpp"

#include <algorithm>
#include <concepts>
#include <iterator>
#include <variant>

#include "assay/conformance/case/case.hpp"

namespace assay::cli {

std::optional<conformance::Stream> drawn_stream(std::string_view input) {
  using conformance::Stream;
  static constexpr std::pair<std::string_view, Stream> all[] = {{"query", Stream::query},
                                                                {"key", Stream::key},
                                                                {"value", Stream::value},
                                                                {"dy", Stream::dy},
                                                                {"attention_out_grad", Stream::dy},
                                                                {"output_grad", Stream::dy},
                                                                {"query_rope", Stream::query_rope},
                                                                {"key_rope", Stream::key_rope},
                                                                {"input", Stream::input}};
  const auto* const found =
      std::ranges::find(all, input, &std::pair<std::string_view, Stream>::first);
  if (found == std::end(all)) return std::nullopt;
  return found->second;
}

std::string sequences_of(const spec::Extents& extents) {
  std::string text;
  for (std::int64_t b = 0, next; b < extents.batch; b = next) {
    for (next = b + 1; next < extents.batch && extents.length(next) == extents.length(b);) ++next;
    text += (b == 0 ? "" : ",") + (next - b > 1 ? std::to_string(next - b) + "x" : std::string()) +
            std::to_string(extents.length(b));
  }
  return text;
}

nlohmann::ordered_json with_shared_sequences(nlohmann::ordered_json drawing,
                                             nlohmann::ordered_json& of_case) {
  auto found = std::find(of_case.begin(), of_case.end(), drawing["sequences"]);
  if (found == of_case.end()) {
    of_case.push_back(drawing["sequences"]);
    found = std::prev(of_case.end());
  }
  drawing["sequences"] = found - of_case.begin();
  return drawing;
}

nlohmann::ordered_json attributes_of(const fixtures::CaseRecord& record) {
  nlohmann::ordered_json attributes = nlohmann::ordered_json::object();
  for (const auto& [name, value] : record.problem)
    std::visit(
        [&]<class Value>(const Value& held) {
          if constexpr (std::same_as<Value, std::vector<std::int64_t>>)
            attributes[name] = conformance::list_text(held);
          else
            attributes[name] = held;
        },
        value);
  return attributes;
}

nlohmann::ordered_json described_tensor(const spec::Tensor& tensor) {
  nlohmann::ordered_json described = {{"dtype", to_string(tensor.dtype)}, {"shape", tensor.shape}};
  if (tensor.offset != 0 || tensor.strides != spec::contiguous_strides(tensor.shape)) {
    described["strides"] = tensor.strides;
    described["offset"] = tensor.offset;
  }
  return described;
}

}  // namespace assay::cli
