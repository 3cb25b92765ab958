#include <fmt/format.h>

#include <string_view>

#include "guide/guide.hpp"

namespace assay::cli {
namespace {

std::string path_of(const CommandGuide& guide) {
  std::string path;
  for (const std::string& word : guide.words) path += " " + word;
  return path;
}

/// The text as a word of a shell, in apostrophes.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char letter : text)
    word += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return word + "'";
}

/// The name that is offered: the first long one.
const std::string& offered(const FlagGuide& flag) {
  for (const std::string& name : flag.names)
    if (name.starts_with("--")) return name;
  return flag.names.front();
}

/// Which words lead to a command: a pattern of `case` for the path and the word behind it.
std::string patterns(const std::vector<CommandGuide>& all) {
  std::string found;
  for (const CommandGuide& guide : all)
    if (!guide.words.empty()) found += (found.empty() ? "" : "|") + quoted(path_of(guide));
  return found;
}

/// A word that zsh describes: a colon ends it.
std::string described(const std::string& name, const std::string& summary) {
  std::string word;
  for (const char letter : name)
    word += letter == ':' ? std::string("\\:") : std::string(1, letter);
  return quoted(word + ":" + summary);
}

const std::string& summary_of(const std::vector<CommandGuide>& all, const CommandGuide& guide,
                              const std::string& name) {
  static const std::string none;
  for (const CommandGuide& sub : all)
    if (path_of(sub) == path_of(guide) + " " + name) return sub.summary;
  return none;
}

}  // namespace

std::string bash_completion(const std::vector<CommandGuide>& all) {
  std::string script = fmt::format(
      "# Completes assay in bash: made by 'assay help --as=bash'.\n"
      "_assay() {{\n"
      "  local path= word found\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    case \"$path $word\" in {}) path=\"$path $word\" ;; esac\n"
      "  done\n"
      "  case \"$path\" in\n",
      patterns(all));
  for (const CommandGuide& guide : all) {
    std::string words;
    for (const std::string& name : guide.subcommands) words += name + " ";
    for (const FlagGuide& flag : guide.flags)
      if (!flag.positional) words += offered(flag) + " ";
    if (!words.empty()) words.pop_back();
    script += fmt::format("    {}) found={} ;;\n", quoted(path_of(guide)), quoted(words));
  }
  script +=
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$found\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
      "}\n"
      "complete -o default -F _assay assay\n";
  return script;
}

std::string zsh_completion(const std::vector<CommandGuide>& all) {
  std::string script = fmt::format(
      "#compdef assay\n"
      "# Completes assay in zsh: made by 'assay help --as=zsh'.\n"
      "_assay() {{\n"
      "  local at= word\n"
      "  local -a found\n"
      "  for word in ${{words[2,CURRENT-1]}}; do\n"
      "    case \"$at $word\" in ({}) at=\"$at $word\" ;; esac\n"
      "  done\n"
      "  case \"$at\" in\n",
      patterns(all));
  for (const CommandGuide& guide : all) {
    script += fmt::format("    ({}) found=(\n", quoted(path_of(guide)));
    for (const std::string& name : guide.subcommands)
      script += "      " + described(name, summary_of(all, guide, name)) + "\n";
    for (const FlagGuide& flag : guide.flags)
      if (!flag.positional) script += "      " + described(offered(flag), flag.summary) + "\n";
    script += "    ) ;;\n";
  }
  script +=
      "  esac\n"
      "  _describe assay found || _files\n"
      "}\n"
      "_assay \"$@\"\n";
  return script;
}

}  // namespace assay::cli
