#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "../session.hpp"

namespace assay::tests {
namespace {

const std::string attention = "run flash_attention_score_grad";

/// Returns the flags that a message suggests after its first "add ". For example, "add
/// --layout=TND, or ..." suggests --layout=TND.
std::vector<std::string> offered_flags(const std::string& message) {
  std::smatch found;
  if (!std::regex_search(message, found, std::regex("add ((--[^ ;,()\n]+ ?)+)"))) return {};
  return words(found[1]);
}

cli::Registry kernels() {
  cli::Registry registry = registry_of({"flash_like"});
  for (const auto& mutant : mutants::mutants<spec::NsaSelectedAttentionGrad>())
    if (mutant.healthy && registry.implementations<spec::NsaSelectedAttentionGrad>().empty())
      registry.add<spec::NsaSelectedAttentionGrad>(
          {.name = mutant.name, .summary = "", .make = mutant.make, .in_process = true});
  return registry;
}

/// Adds the flags that the messages suggest, until the command line runs.
TEST(Messages, TheFlagsThatTheyOfferMakeTheLineRun) {
  const cli::Registry registry = kernels();
  for (const std::string& line :
       {attention + " --layout=TND", attention + " --entry_point=u1",
        attention + " --entry_point=u3 --layout=TND", attention + " --entry_point=u2",
        attention + " --keep_prob=0.5", attention + " --sparse_mode=6 --atten_mask=compressed",
        attention + " --sparse_mode=6 --atten_mask=compressed --batch=3",
        attention + " --head_dim=8", attention + " --pse_type=2 --pse_shift=N",
        attention + " --q_start_idx=3", attention + " --kv_start_idx=3",
        attention + " --lengths_q=3,4 --lengths_kv=5,6",
        attention + " --softmax_in_layout=same_as_input", attention + " --head_dim_rope=8",
        std::string("run nsa_selected_attention_grad --sparse_mode=2")}) {
    std::vector<std::string> all = words(line);
    Answer result = answer(registry, all);
    EXPECT_EQ(result.code, 2) << line;
    for (int tries = 0; tries < 4 && result.code == 2; ++tries) {
      const std::vector<std::string> more = offered_flags(result.err);
      ASSERT_FALSE(more.empty()) << line << '\n' << result.err;
      all.insert(all.end(), more.begin(), more.end());
      result = answer(registry, all);
    }
    EXPECT_EQ(result.code, 0) << line << '\n' << result.out << result.err;
  }
}

/// A replay line may set a field that the computation of this case does not use. A kernel that
/// ignores the field then conforms, too. So the program must print a note about the field.
TEST(Messages, AFieldThatNothingReadsIsNamedWithWhatItNeeds) {
  const cli::Registry registry = kernels();
  for (const std::string& line :
       {attention + " --sparse_mode=3", attention + " --sparse_mode=1",
        attention + " --pre_tokens=3", attention + " --prefix=3 --atten_mask=SS",
        attention + " --mask_dtype=uint8", attention + " --drop_mask=exact",
        attention + " --entry_point=g2 --pse_type=0", attention + " --mask=band",
        attention + " --entry_point=g2 --pse_type=3", attention + " --drop=all",
        attention + " --entry_point=g2 --pse_type=2 --pse_shift=N --q_start_idx=3",
        std::string("run nsa_selected_attention_grad --atten_mask=compressed")}) {
    const Answer silent = answer(registry, words(line));
    if (silent.code == 2) continue;  // a name that this version does not have
    EXPECT_PRED2(has, silent.err, std::string("note: --")) << line;
    const std::vector<std::string> more = offered_flags(silent.err);
    ASSERT_FALSE(more.empty()) << silent.err;
    // A suggested flag replaces the flag for the same field in the line.
    std::vector<std::string> all = words(line);
    for (const std::string& flag : more)
      std::erase_if(all, [&](const std::string& word) {
        return word.starts_with(flag.substr(0, flag.find('=') + 1));
      });
    all.insert(all.end(), more.begin(), more.end());
    const Answer heard = answer(registry, all);
    EXPECT_EQ(heard.code, 0) << heard.out << heard.err;
    EXPECT_FALSE(has(heard.err, "note: ")) << line << '\n' << heard.err;
  }
  EXPECT_EQ(answer(registry, words(attention)).err, "");
  EXPECT_EQ(answer(registry, words(attention + " --sparse_mode=3 --quiet")).err, "");
}

TEST(Messages, AWordOfOtherLibrariesIsGuessed) {
  const auto expect = [](const std::string& line, const std::string& part) {
    const Answer result = answer(registry_of({"flash_like"}), words(line));
    EXPECT_EQ(result.code, 2) << line;
    EXPECT_PRED2(has, result.err, part) << line;
  };
  expect(attention + " --dtype=float32", "--dtype=float32: did you mean 'fp32'? accepted: fp16,");
  expect(attention + " --dtype=BFLOAT16", "did you mean 'bf16'?");
  expect(attention + " --layout=tnd", "did you mean 'TND'?");
  expect(attention + " --atten_mask=compresed", "did you mean 'compressed'?");
  expect("sweep --product=a1", "(Atlas A2 and A3 training products), or no --product for both");
  expect(attention + " --seq_q=abc", "--seq_q=abc is not a number: accepted: 0 to 1048576");
  expect("list --budget=3", "; 'assay sweep' accepts it");
  expect("check none.h5", "accepted: a file that 'assay export' or --store wrote");
  expect("report none.json", "'assay sweep --report=report.json' writes one");
  expect("explain FAG-C020", "did you mean 'FAG-C");
  expect("explain c20", "did you mean 'FAG-C20' or 'NSAS-C20'");
  expect("explain nothing_like_it",
         "rule or verdict is called 'nothing_like_it'. 'assay list requirements' and ");
  expect("explain aclnnFlashAttentionScoreGrad", "is entry point g1");
  expect("sweep --implementation=mine.py:f", "'command:python3 -m assay serve mine.py:f'");
  expect("sweep --only=headdim>=64",
         "no planned case has a field 'headdim' (character 1); did you mean 'head_dim'?");
  expect("list requirement", "no list of 'requirement'; did you mean 'requirements'? There are ");
  expect("pack modell-bert-base --to x", "; did you mean 'model-bert-base'? ");
}

/// The message contains only the best guess. A list of all flags would be several lines long, so
/// the message refers to the help.
TEST(Messages, TheGuessComesFirst) {
  const Answer result = answer(registry_of({"flash_like"}), words(attention + " --hed_dim=3"));
  EXPECT_PRED2(has, result.err,
               std::string("unknown flag '--hed_dim=3'; did you mean '--head_dim'? "
                           "'assay help run flash_attention_score_grad' lists the flags\n"));
}

TEST(Messages, IdsAreTakenInSmallLetters) {
  const auto registry = registry_of({"flash_like"});
  EXPECT_EQ(answer(registry, words("explain fag-c20")).out,
            answer(registry, words("explain FAG-C20")).out);
  EXPECT_EQ(answer(registry, words("explain Split_Batch")).out,
            answer(registry, words("explain split_batch")).out);
  EXPECT_EQ(answer(registry, words("explain BOUND")).code, 0);
}

/// Tests the documented name of every entry point, and the name of its GetWorkspaceSize function.
TEST(Messages, ANameOfTheDocumentsIsTranslatedIntoALineThatRuns) {
  const cli::Registry registry = kernels();
  const Answer listed = answer(registry, words("list entry_points"));
  std::istringstream lines(listed.out);
  std::int64_t translated = 0, known = 0;
  std::set<std::string> judged;  // operators with a registered kernel
  spec::for_each_operator([&]<class Op> {
    known += std::ssize(spec::spellings_of<typename Op::EntryPoint>.entries);
    if (!registry.implementations<Op>().empty()) judged.emplace(Op::name);
  });
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> cells = words(line);
    if (cells.size() != 3 || !cells[2].starts_with("aclnn")) continue;
    for (const std::string end : {"", "GetWorkspaceSize"}) {
      const Answer refused = answer(registry, {"run", cells[2] + end, "--seq_q=3"});
      EXPECT_EQ(refused.code, 2);
      std::smatch hint;
      const std::regex wanted(" is entry point " + cells[0] + ": (" + cells[1] + "( --[^ ;]+)+)");
      ASSERT_TRUE(std::regex_search(refused.err, hint, wanted)) << refused.err;
      if (judged.contains(cells[1])) {
        EXPECT_EQ(answer(registry, words("run " + hint[1].str())).code, 0) << hint[1];
      }
    }
    ++translated;
  }
  EXPECT_EQ(translated, known) << listed.out;
  EXPECT_PRED2(has, answer(registry, words("sweep aclnnNsaCompressGrad")).err,
               std::string("aclnnNsaCompressGrad is entry point c1: nsa_compress_grad"));
}

TEST(Messages, ALineInQuotationMarksIsNamedAsSuch) {
  const auto registry = registry_of({"flash_like"});
  const Answer typed = answer(registry, {"run", "flash_attention_score_grad --seq_q=3"});
  EXPECT_EQ(typed.code, 2);
  EXPECT_PRED2(
      has, typed.err,
      std::string("is one word because it is in quotation marks: remove the quotation marks"));
  const Folder folder;
  std::ofstream(folder / "lines.txt") << "\"flash_attention_score_grad --seq_q=3\"\n";
  const Answer read = answer(registry, {"sweep", "--lines=" + (folder / "lines.txt")});
  EXPECT_PRED2(has, read.err, std::string("lines.txt:1: the line is in quotation marks"));
}

TEST(Messages, AFileOfAnotherKindIsNamedWithTheOneThatIsWanted) {
  const auto registry = registry_of({"flash_like"});
  const Folder folder;
  ASSERT_EQ(
      answer(registry, {"export", folder / "cases.h5", "--recipe-only", "nsa_compress_grad"}).code,
      0);
  const Answer report = answer(registry, {"report", folder / "cases.h5"});
  EXPECT_EQ(report.code, 2);
  EXPECT_PRED2(has, report.err,
               std::string("is an HDF5 file of cases, not a report; expected the report.json"));
  std::filesystem::create_directory(folder / "lines");
  std::ofstream(folder / "lines/a.lst") << "nsa_compress_grad\n";
  const Answer lines = answer(registry, {"sweep", "--lines=" + (folder / "lines")});
  EXPECT_EQ(lines.code, 2);
  EXPECT_PRED2(has, lines.err, std::string("a folder without a .txt file"));
  for (const std::string& path : {folder / "none", folder / "cases.h5", folder / "lines"}) {
    const Answer pack = answer(registry, {"pack", "--verify=" + path});
    EXPECT_EQ(pack.code, 2);
    EXPECT_PRED2(
        has, pack.err,
        std::string("expected the folder of a pack, such as 'assay pack SET --to FOLDER'"));
  }
}

}  // namespace
}  // namespace assay::tests
