#include "guide/guide.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>
#include <utility>

namespace assay::cli {
namespace {

FlagGuide guide_of(const CLI::Option& option) {
  FlagGuide guide{.summary = option.get_description(),
                  .takes_value = option.get_expected_max() > 0,
                  .positional = option.get_positional(),
                  .required = option.get_required()};
  if (guide.positional) return guide.names = {option.get_name()}, guide;
  for (const std::string& name : option.get_snames()) guide.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) guide.names.push_back("--" + name);
  return guide;
}

void append(std::vector<CommandGuide>& all, const CLI::App& app, std::vector<std::string> words) {
  CommandGuide guide{
      .words = words, .summary = app.get_description(), .flags = {}, .subcommands = {}};
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) guide.flags.push_back(guide_of(*option));
  const std::vector<const CLI::App*> subcommands = app.get_subcommands(nullptr);
  for (const CLI::App* sub : subcommands)
    if (!sub->get_group().empty()) guide.subcommands.push_back(sub->get_name());
  all.push_back(std::move(guide));
  for (const CLI::App* sub : subcommands) {
    if (sub->get_group().empty()) continue;
    words.push_back(sub->get_name());
    append(all, *sub, words);
    words.pop_back();
  }
}

/// Letters that are put in, left out or exchanged between two words, and between the first and the
/// beginning of the second that is most like it.
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

std::vector<CommandGuide> guides(const CLI::App& app) {
  std::vector<CommandGuide> all;
  append(all, app, {});
  return all;
}

std::vector<std::string> accepted(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands(nullptr))
    if (!sub->get_group().empty()) names.push_back(sub->get_name());
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) names.push_back(option->get_name());
  return names;
}

std::string meant(std::string_view word, const std::vector<std::string>& others) {
  constexpr std::size_t most_letters = 2;
  word = word.substr(0, word.find('='));
  constexpr std::size_t shortest_beginning = 5;  // "--ver"
  std::size_t least = std::min(most_letters, word.size() / 3) + 1, least_beginning = most_letters;
  std::string nearest, begun;
  for (const std::string& other : others) {
    const auto [whole, beginning] = distance(word, other);
    if (whole < least) least = whole, nearest = other;
    if (beginning < least_beginning) least_beginning = beginning, begun = other;
  }
  if (nearest.empty() && word.size() >= shortest_beginning) nearest = begun;
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

}  // namespace assay::cli
