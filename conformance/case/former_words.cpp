#include "assay/conformance/case/former_words.hpp"

#include <array>
#include <utility>

namespace assay::conformance {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 1> fields{
    {{"surface", "entry_point"}}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> words{
    {{"--track=a1", "--track=exact"},
     {"--track=a2", "--track=exact_staged"},
     {"--track=phase1", "--track=arguments"},
     {"--softmax_in_layout=packed", "--softmax_in_layout=empty"}}};

}  // namespace

std::string_view former_name(std::string_view field) {
  for (const auto& [former, now] : fields)
    if (now == field) return former;
  return {};
}

std::string spelt_today(const std::string& word) {
  for (const auto& [former, now] : words)
    if (word == former) return std::string(now);
  for (const auto& [former, now] : fields) {
    const std::string beginning = "--" + std::string(former) + "=";
    if (word.starts_with(beginning))
      return "--" + std::string(now) + "=" + word.substr(beginning.size());
  }
  return word;
}

}  // namespace assay::conformance
