#include "guide/guide.hpp"

#include <CLI/CLI.hpp>
#include <utility>

#include "assay/conformance/case/nearest.hpp"
#include "flags/values.hpp"

namespace assay::cli {
namespace {

FlagGuide guide_of(const CLI::Option& option) {
  FlagGuide guide{.summary = option.get_description(),
                  .kind = option.get_type_name(),
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
  const std::string guess = conformance::nearest(word.substr(0, word.find('=')), others);
  return guess.empty() ? "" : "; did you mean '" + guess + "'?";
}

std::string one_of(std::string_view word, const std::vector<std::string>& names,
                   std::string_view intro) {
  return guessed(meant(word, names), names, intro);
}

std::string guessed(const std::string& guess, const std::vector<std::string>& names,
                    std::string_view intro) {
  std::string text(intro);
  const bool is_new_sentence = guess.ends_with('?');
  if (is_new_sentence && text.front() >= 'a' && text.front() <= 'z')
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
  return guess + (is_new_sentence ? " " : "; ") + text + " " + joined(names);
}

}  // namespace assay::cli
