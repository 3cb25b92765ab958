#include <fmt/format.h>

#include <algorithm>

#include "guide/guide.hpp"

namespace assay::cli {
namespace {

std::string joined_by(const std::vector<std::string>& words, std::string_view between) {
  return fmt::format("{}", fmt::join(words, between));
}

std::string replaced(std::string text, std::string_view part, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += by.size())
    text.replace(at, part.size(), by);
  return text;
}

std::string command_line(const CommandGuide& guide) {
  return guide.words.empty() ? "assay" : "assay " + joined_by(guide.words, " ");
}

/// Returns the names of a flag and the kind of its value, such as "-q, --quiet", "--seed <number>"
/// or "file".
std::string spelled(const FlagGuide& flag) {
  return joined_by(flag.names, ", ") +
         (flag.takes_value && !flag.positional ? " " + flag.kind : "");
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text + (text.ends_with('.') ? "" : ".");
}

/// Escapes a text, so that it can stand in a table cell of a Markdown page.
std::string cell(const std::string& text) { return replaced(text, "|", "\\|"); }

/// Returns the flags of a command that the other command does not have.
std::vector<FlagGuide> extra_flags(const CommandGuide& guide, const CommandGuide& other) {
  std::vector<FlagGuide> own;
  for (const FlagGuide& flag : guide.flags)
    if (std::ranges::find(other.flags, flag.names, &FlagGuide::names) == other.flags.end())
      own.push_back(flag);
  return own;
}

std::string table_of(const std::vector<FlagGuide>& flags) {
  std::string table = flags.empty() ? "" : "\n| | |\n|---|---|\n";
  for (const FlagGuide& flag : flags)
    table += fmt::format("| `{}` | {}{} |\n", cell(spelled(flag)), cell(flag.summary),
                         flag.required ? " (required)" : "");
  return table;
}

const CommandGuide* find(const std::vector<CommandGuide>& all,
                         const std::vector<std::string>& words) {
  const auto found = std::ranges::find(all, words, &CommandGuide::words);
  return found == all.end() ? nullptr : &*found;
}

/// Escapes a line of text for the program man. Without this, man would read a line that starts with
/// a dot or an apostrophe as a command.
std::string man_text(const std::string& text) {
  std::string safe = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
  return safe.starts_with('.') || safe.starts_with('\'') ? "\\&" + safe : safe;
}

}  // namespace

std::string markdown_page(const std::vector<CommandGuide>& all, const CommandGuide& guide) {
  std::string page = fmt::format("# `{}`\n\n{}\n", command_line(guide), capitalised(guide.summary));
  page += table_of(guide.flags);
  if (guide.words.size() == 2 && guide.words[0] == "run") page += table_of_tensors(guide.words[1]);
  if (!guide.subcommands.empty()) page += "\n| subcommand | |\n|---|---|\n";
  std::string of_each;
  for (const std::string& name : guide.subcommands) {
    std::vector<std::string> words = guide.words, as_run = {"run", name};
    words.push_back(name);
    const CommandGuide& sub = *find(all, words);
    // A subcommand for a single case, such as `dump OPERATOR`, accepts the flags of `run OPERATOR`.
    // Its table row therefore links to the page of `run OPERATOR`.
    const CommandGuide* const run = find(all, as_run);
    const auto& shown = run != nullptr ? as_run : words;
    if (run != nullptr) of_each = table_of(extra_flags(sub, *run));
    page += fmt::format("| [`{}`]({}.md) | {} |\n", name, joined_by(shown, "_"), cell(sub.summary));
  }
  if (!of_each.empty())
    page +=
        "\nIn addition to the flags of its case, each subcommand "
        "accepts:\n" +
        of_each;
  return page;
}

std::string man_page(const std::vector<CommandGuide>& all, std::string_view version) {
  std::string page = fmt::format(
      ".TH ASSAY 1 \"\" \"assay {}\" \"User commands\"\n.SH NAME\nassay \\- judge "
      "implementations "
      "of attention operators by what their documents promise\n.SH SYNOPSIS\n.B assay\n.I command\n"
      "[\\fIflag\\fR ...]\n.SH DESCRIPTION\n{}\n.SH COMMANDS\n",
      version, man_text(all.front().summary));
  for (const CommandGuide& guide : all) {
    page += fmt::format(".SS {}\n{}\n", man_text(command_line(guide)),
                        man_text(capitalised(guide.summary)));
    for (const FlagGuide& flag : guide.flags)
      page += fmt::format(".TP\n.B {}\n{}\n", man_text(spelled(flag)), man_text(flag.summary));
  }
  page +=
      ".SH EXIT STATUS\n.TP\n.B 0\nconforms\n.TP\n.B 1\ndoes not conform\n.TP\n.B 2\nwrong "
      "usage\n.TP\n.B 3\nnot conclusive\n.SH ENVIRONMENT\n.TP\n.B NO_COLOR\nno colours on a "
      "terminal, if it is set and not empty\n";
  return page;
}

}  // namespace assay::cli
