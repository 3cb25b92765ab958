#include "assay/conformance/case/nearest.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <utility>

namespace assay::conformance {
namespace {

/// Names of element types in machine-learning frameworks, and the names that Assay uses for them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> elsewhere{
    {{"float32", "fp32"},
     {"float", "fp32"},
     {"float16", "fp16"},
     {"half", "fp16"},
     {"bfloat16", "bf16"},
     {"float64", "fp64"},
     {"double", "fp64"},
     {"boolean", "bool"}}};

std::string in_small_letters(std::string_view word) {
  std::string small(word);
  for (char& letter : small)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return small;
}

/// Edit distances of two words: `whole` for the complete words; `beginning` for the first word and
/// the most similar prefix of the second.
struct Distance {
  std::size_t whole, beginning;
};

Distance distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return {row.back(), std::ranges::min(row)};
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& others) {
  const std::string small = in_small_letters(word);
  const auto usual =
      std::ranges::find(elsewhere, small, &std::pair<std::string_view, std::string_view>::first);
  for (const std::string& other : others)
    if (in_small_letters(other) == small || (usual != elsewhere.end() && other == usual->second))
      return other;
  constexpr std::size_t most_letters = 2;
  constexpr std::size_t shortest_beginning = 5;  // "--ver"
  std::size_t least = std::min(most_letters, word.size() / 3) + 1, least_beginning = most_letters;
  std::string found, begun;
  for (const std::string& other : others) {
    const auto [whole, beginning] = distance(word, other);
    if (whole < least) least = whole, found = other;
    if (beginning < least_beginning) least_beginning = beginning, begun = other;
  }
  return found.empty() && word.size() >= shortest_beginning ? begun : found;
}

}  // namespace assay::conformance
