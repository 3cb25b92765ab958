#include "case/part.hpp"

#include <charconv>
#include <system_error>

namespace assay::conformance {
namespace {

std::optional<std::int64_t> position_of(std::string_view text) {
  std::int64_t position = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), position);
  if (error != std::errc() || end != text.data() + text.size() || position < 0) return std::nullopt;
  return position;
}

}  // namespace

std::optional<GradientPart> part_of(std::string_view text) {
  const std::size_t colon = text.find(':'), dash = text.find('-');
  if (colon == text.npos || dash == text.npos || dash < colon) return std::nullopt;
  const auto axis = spec::spellings_of<PartAxis>.parse(text.substr(0, colon));
  const auto first = position_of(text.substr(colon + 1, dash - colon - 1));
  const auto last = position_of(text.substr(dash + 1));
  if (!axis || !first || !last || *first > *last) return std::nullopt;
  return GradientPart{*axis, *first, *last};
}

std::string text_of(const GradientPart& part) {
  return std::string(spec::to_string(part.axis)) + ":" + std::to_string(part.first) + "-" +
         std::to_string(part.last);
}

}  // namespace assay::conformance
