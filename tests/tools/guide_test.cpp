#include "guide/guide.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "printing/coloured.hpp"
#include "session.hpp"

namespace assay::tests {
namespace {

using cli::CommandGuide;

Answer said(const std::string& line) { return answer(registry_of({"flash_like"}), words(line)); }

TEST(Help, HelpCommandPrintsTheSameAsTheFlag) {
  for (const std::string command :
       {"sweep", "run flash_attention_score_grad", "export", "report", "help"}) {
    const Answer asked = said("help " + command), flag = said(command + " --help");
    EXPECT_EQ(asked.code, 0) << command;
    EXPECT_EQ(asked.out, flag.out) << command;
    EXPECT_PRED2(has, asked.out, "Usage: assay " + command) << command;
  }
  EXPECT_EQ(said("help").out, said("--help").out);
}

TEST(Help, UnknownCommandIsRefused) {
  EXPECT_PRED2(has, said("help swep").err,
               std::string("no command 'swep'; did you mean 'sweep'? 'assay' takes"));
  EXPECT_PRED2(has, said("help run flash").err, std::string("? 'assay run' takes flash_"));
  EXPECT_PRED2(has, said("help --as=html").err, std::string("--as is 'html'; it must be text"));
  EXPECT_EQ(said("help swep").code, 2);
  EXPECT_EQ(said("help --as=html").code, 2);
}

TEST(Help, GuessesWhatWasMeant) {
  const auto expect = [](const std::string& line, const std::string& guess) {
    const Answer answered = said(line);
    EXPECT_EQ(answered.code, 2) << line;
    const std::string asked = "; did you mean '" + guess + "'?";
    EXPECT_EQ(has(answered.err, "did you mean"), !guess.empty()) << answered.err;
    if (!guess.empty()) {
      EXPECT_PRED2(has, answered.err, asked) << line;
    }
  };
  expect("swep", "sweep");
  expect("sweep --sed=3", "--seed");
  expect("sweep --reprot=x.json", "--report");
  expect("run flash_attention_score_grad --hed_dim=3", "--head_dim");
  expect("run flash_attention_scor_grad", "flash_attention_score_grad");
  expect("completely", "");
  expect("sweep --zzzzzz=3", "");
  expect("--vers", "--version");
  expect("sweep --vers", "--verbose");
  expect("sweep --requ=3", "--require-judged");
}

TEST(Help, TheNearestOfSeveralIsMeantAndNoneThatIsFar) {
  EXPECT_EQ(cli::meant("--seed=3", {"--speed", "--seed"}), "; did you mean '--seed'?");
  EXPECT_EQ(cli::meant("abcdef", {"abcxyz"}), "");
  EXPECT_EQ(cli::meant("abcdefghi", {"abcdefgxx"}), "; did you mean 'abcdefgxx'?");
  EXPECT_EQ(cli::meant("ab", {"xb"}), "");
  EXPECT_EQ(cli::meant("--seed", {"--seedless", "--sed"}), "; did you mean '--sed'?");
  EXPECT_EQ(cli::meant("--see", {"--sum", "--seedless"}), "; did you mean '--seedless'?");
  EXPECT_EQ(cli::meant("--s", {"--seed"}), "");
}

TEST(Help, QuietSaysNothingButErrors) {
  const std::string line = "sweep flash_attention_score_grad --random=0 --only=seq_q=1 --budget=1s";
  const Answer loud = said(line), quiet = said(line + " -q");
  EXPECT_NE(loud.err, "");
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(said("--quiet " + line).err, "");
  EXPECT_EQ(quiet.code, loud.code);
  EXPECT_NE(quiet.out, "");
  EXPECT_PRED2(has, said("sweep -q --seed=x").err, std::string("--seed"));
  EXPECT_PRED2(has, said("sweep -q -v").err, std::string("--quiet and --verbose exclude"));
}

TEST(Help, VerbosePrintsEachCase) {
  const std::string line =
      "sweep flash_attention_score_grad --random=0 --only=--track=exact --budget=1s";
  const std::string brief = said(line).err, printed = said(line + " -v").err;
  EXPECT_FALSE(has(brief, "conforms  flash_attention_score_grad --"));
  EXPECT_PRED2(has, printed, std::string("conforms  flash_attention_score_grad --"));
}

TEST(Help, VerbosityDoesNotChangeTheStoreKey) {
  const Folder folder;
  const std::string line =
      "sweep flash_attention_score_grad --random=0 --only=seq_q=1 --budget=1s --report=";
  said(line + (folder / "a.json"));
  said(line + (folder / "b.json") + " --quiet");
  const auto asked = [&](const std::string& name) {
    const std::string text = text_of(folder / name);
    return text.substr(text.find("command_line"), 120);
  };
  EXPECT_EQ(asked("a.json"), asked("b.json"));
}

TEST(Help, VerdictsHaveColoursOnATerminalThatHasSome) {
  EXPECT_EQ(cli::coloured("conforms  (x)\n"), "\x1b[32mconforms\x1b[0m  (x)\n");
  EXPECT_EQ(cli::coloured("a crash."), "a \x1b[31mcrash\x1b[0m.");
  EXPECT_EQ(cli::coloured("vacuous"), "\x1b[33mvacuous\x1b[0m");
  EXPECT_EQ(cli::coloured("crashes, conforms_not"), "crashes, conforms_not");
  std::ostringstream to;
  {
    cli::ColouredLines lines(to);
    std::ostream out(&lines);
    out << "con"
        << "forms\ncra"
        << "sh";
  }
  EXPECT_EQ(to.str(), "\x1b[32mconforms\x1b[0m\n\x1b[31mcrash\x1b[0m");
  unsetenv("NO_COLOR");
  setenv("TERM", "xterm", 1);
  EXPECT_TRUE(cli::wants_colour(true));
  EXPECT_FALSE(cli::wants_colour(false));
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(cli::wants_colour(true));
  setenv("TERM", "xterm", 1);
  setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(cli::wants_colour(true));
  setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(cli::wants_colour(true));
}

/// Expects that the help, the manual page and the shell completions contain every command and every
/// flag.
TEST(Help, ManAndCompletionsLeaveNothingOut) {
  const std::string commands = said("help --as=commands").out;
  EXPECT_PRED2(has, commands, std::string("run flash_attention_score_grad\n"));
  const std::string man = said("help --as=man").out, bash = said("help --as=bash").out,
                    zsh = said("help --as=zsh").out;
  std::istringstream lines(commands);
  std::size_t flags = 0;
  for (std::string command; std::getline(lines, command);) {
    EXPECT_PRED2(has, man, ".SS assay " + command + "\n");
    EXPECT_PRED2(has, bash, "    ' " + command + "') found=");
    EXPECT_PRED2(has, zsh, "    (' " + command + "') found=(");
    const std::string text = said("help --as=markdown " + command).out;
    std::istringstream help(said("help " + command).out);
    for (std::string line; std::getline(help, line);) {
      const std::size_t at = line.find("--");
      if (at == std::string::npos || at > 6) continue;
      const std::string name = line.substr(at, line.find_first_of(" ,", at) - at);
      EXPECT_PRED2(has, text, name) << command;
      EXPECT_PRED2(has, bash, name) << command;
      EXPECT_PRED2(has, zsh, "'" + name + ":") << command;
      ++flags;
    }
  }
  EXPECT_GT(flags, 100U);
}

TEST(Help, ThePageOfAnOperatorListsItsTensors) {
  const std::string page = said("help --as=markdown run sparse_flash_attention_grad").out;
  EXPECT_PRED2(has, page, "| `d_out` | input | bf16 | (1, 4, 1, 512) |\n");
  EXPECT_PRED2(has, page, "| `sparse_indices` | input | int32 | (1, 4, 1, 1024) |\n");
  EXPECT_PRED2(has, page, "| `actual_seq_lengths_kv` | input | none by default | |\n");
  EXPECT_PRED2(has, page, "| `d_key_rope` | output | bf16 | (1, 16, 1, 64) |\n");
  EXPECT_PRED2(has, said("help --as=markdown run nsa_compress_grad").out,
               "| `weight_grad` | output");
  EXPECT_FALSE(has(said("help --as=markdown run").out, "| tensor |"));
}

}  // namespace
}  // namespace assay::tests
