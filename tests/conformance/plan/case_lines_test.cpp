#include "assay/conformance/plan/case_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <type_traits>

#include "../../each_operator.hpp"
#include "assay/conformance/inputs/inputs.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/fixtures/record.hpp"
#include "build_paths.hpp"
#include "plan/hand_made_cases.hpp"

namespace assay::conformance {
namespace {

const std::set<std::string> kinds = {"biases", "corners",   "exact", "heads",   "legal",
                                     "models", "relations", "sinks", "strides", "twins"};

/// Returns the part OPERATOR or KIND of a path "cases/OPERATOR/KIND.txt".
std::string operator_of(const CaseText& text) {
  return std::filesystem::path(text.name).parent_path().filename();
}
std::string kind_of(const CaseText& text) { return std::filesystem::path(text.name).stem(); }

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

template <class Op>
class ShippedCases : public ::testing::Test {
 protected:
  /// Calls visit(text, line) for every line in the operator's files of cases.
  template <class Visit>
  static void each(Visit&& visit) {
    for (const CaseText& text : shipped_case_texts())
      if (operator_of(text) == Op::name)
        for (const CaseLine& line : case_lines(text)) visit(text, line);
  }
};

TYPED_TEST_SUITE(ShippedCases, tests::EveryOperator, tests::ByOperator);

TYPED_TEST(ShippedCases, AreLegalAndWrittenAsReportsPrintThem) {
  this->each([&](const CaseText&, const CaseLine& line) {
    const auto c = case_of<TypeParam>(line);
    EXPECT_EQ(joined(line.words), command_line(c)) << line.place;
    EXPECT_EQ(c.violate, "") << line.place;
  });
}

TYPED_TEST(ShippedCases, AreDifferentFromEachOther) {
  std::map<std::string, std::string> places;
  this->each([&](const CaseText&, const CaseLine& line) {
    const auto [first, is_first] = places.emplace(joined(line.words), line.place);
    EXPECT_TRUE(is_first) << line.place << " is the same case as " << first->second;
  });
}

TYPED_TEST(ShippedCases, LieInTheFileOfTheirKind) {
  this->each([&](const CaseText& text, const CaseLine& line) {
    const Track track = case_of<TypeParam>(line).track;
    EXPECT_EQ(kind_of(text) == "relations", track == Track::relation) << line.place;
    EXPECT_EQ(kind_of(text) == "exact", track == Track::exact || track == Track::exact_staged)
        << line.place;
  });
}

/// Twins are two cases that differ in only one input tensor. For every tensor whose contents can be
/// chosen freely, the case files must contain twins that differ in this tensor.
TYPED_TEST(ShippedCases, HaveTwinsThatDifferInOneTensor) {
  const std::set<std::string> of_the_forward = {"attention_in", "attention_out", "out",
                                                "softmax_max", "softmax_sum"};
  // The contents of these tensors follow from the sequence lengths of the problem, so no two cases
  // with the same problem can differ in them.
  const std::set<std::string> of_the_problem = {"actual_seq_lengths_query",
                                                "actual_seq_lengths_kv"};
  using Digests = std::map<std::string, std::string>;
  std::map<std::string, std::vector<Digests>> of_call;
  std::set<std::string> chosen, alone;
  this->each([&](const CaseText& text, const CaseLine& line) {
    if (kind_of(text) != "twins") return;
    const auto c = case_of<TypeParam>(line);
    const auto inputs = make_inputs(c);
    Digests digests;
    visit_tensors(inputs, [&](const std::string& name, const spec::Tensor& tensor) {
      const bool is_fixed =
          name == "atten_mask" && joined(line.words).find("compressed") != std::string::npos;
      if (!of_the_forward.contains(name) && !of_the_problem.contains(name) && !is_fixed)
        digests[name] = fixtures::digest(tensor);
    });
    auto& others =
        of_call[command_line(Case<TypeParam>{.problem = c.problem, .entry_point = c.entry_point})];
    for (const Digests& other : others) {
      std::vector<std::string> differing;
      for (const auto& [name, digest] : digests)
        if (other.contains(name) && other.at(name) != digest) differing.push_back(name);
      if (differing.size() == 1) alone.insert(differing.front());
    }
    for (const auto& [name, digest] : digests) chosen.insert(name);
    others.push_back(digests);
  });
  // `value` contains the same elements as `key` (SFAG-C33), so no pair of cases can differ in
  // `value` only.
  if (std::is_same_v<TypeParam, spec::SparseFlashAttentionGrad>) chosen.erase("value");
  EXPECT_FALSE(chosen.empty());
  EXPECT_EQ(alone, chosen);
}

/// The attributes of a call that a kernel cannot derive from the shapes of the tensors.
template <class Op>
const std::set<std::string> attributes;
template <>
const std::set<std::string> attributes<spec::FlashAttentionScoreGrad> = {
    "lengths_q", "lengths_kv", "scale_value", "keep_prob",   "sparse_mode", "pre_tokens",
    "prefix",    "pse_type",   "next_tokens", "q_start_idx", "kv_start_idx"};
template <>
const std::set<std::string> attributes<spec::NsaSelectedAttentionGrad> = {
    "lengths_q", "lengths_kv", "scale_value", "selected_block_size", "sparse_mode"};
template <>
const std::set<std::string> attributes<spec::SparseFlashAttentionGrad> = {
    "lengths_q", "lengths_kv", "scale_value", "sparse_block_size", "sparse_mode"};
template <>
const std::set<std::string> attributes<spec::NsaCompressGrad> = {"lengths", "compress_stride"};

/// Twins (pairs of cases) differ in only one attribute. They detect a kernel that reuses prepared
/// data and compares only the shapes of the calls.
TYPED_TEST(ShippedCases, HaveTwinsThatDifferInOneAttribute) {
  std::vector<std::vector<std::pair<std::string, std::string>>> known;
  std::set<std::string> alone;
  this->each([&](const CaseText& text, const CaseLine& line) {
    if (kind_of(text) != "twins") return;
    const auto fields = field_texts(case_of<TypeParam>(line));
    for (const auto& others : known) {
      std::vector<std::string> differing;
      for (std::size_t k = 0; k < fields.size(); ++k)
        if (fields[k] != others[k]) differing.push_back(fields[k].first);
      if (differing.size() == 1) alone.insert(differing.front());
    }
    known.push_back(fields);
  });
  EXPECT_TRUE(std::ranges::includes(alone, attributes<TypeParam>));
}

/// Every line of the case files adds its case to the plan of the sweep. If the line is removed, the
/// case disappears.
TYPED_TEST(ShippedCases, AreInThePlansThatTheirSectionsName) {
  for (const bool full : {false, true}) {
    std::set<std::pair<std::string, std::string>> planned;
    for (const auto& c : sample<TypeParam>({.full = full, .random_cases = 0}))
      planned.emplace(command_line(c), c.note);
    this->each([&](const CaseText&, const CaseLine& line) {
      const bool wanted = full ? line.in_full_plan : line.in_ordinary_plan;
      EXPECT_EQ(planned.contains({joined(line.words), line.note}), wanted) << line.place;
    });
  }
}

TEST(ShippedCaseTexts, AreTheFilesOfTheRepository) {
  const std::filesystem::path root = tests::source_folder();
  std::map<std::string, std::string> files, texts;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root / "cases")) {
    if (entry.path().extension() != ".txt") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    files[std::filesystem::relative(entry.path(), root)] = {std::istreambuf_iterator<char>(file),
                                                            {}};
  }
  for (const CaseText& text : shipped_case_texts()) {
    texts[text.name] = text.text;
    EXPECT_TRUE(kinds.contains(kind_of(text))) << text.name << " is not a file that a plan reads";
  }
  EXPECT_GE(texts.size(), 11u);
  EXPECT_EQ(texts, files);
}

TEST(CaseLines, HavePlaceNoteAndPlan) {
  const auto lines = case_lines({"mine.txt",
                                 "op --a=1\n"
                                 "# one\n"
                                 "  op  --b=2\t\r\n"
                                 "\n"
                                 "op --c=3\n"
                                 "## heading\n"
                                 "op --d=4\n"
                                 "[full plan, fixed seed]\n"
                                 "#two\n"
                                 "op --e=5\n"
                                 "[ordinary plan]\n"
                                 "op --f=6\n"
                                 "[ every plan ]\n"
                                 "op"});
  ASSERT_EQ(lines.size(), 7u);
  const char* places[] = {"mine.txt:1",  "mine.txt:3",  "mine.txt:5", "mine.txt:7",
                          "mine.txt:10", "mine.txt:12", "mine.txt:14"};
  const char* notes[] = {"", "one", "one", "", "two", "", ""};
  for (std::size_t k = 0; k < lines.size(); ++k) {
    EXPECT_EQ(lines[k].place, places[k]);
    EXPECT_EQ(lines[k].note, notes[k]) << k;
    EXPECT_EQ(lines[k].in_ordinary_plan, k != 4) << k;
    EXPECT_EQ(lines[k].in_full_plan, k != 5) << k;
    EXPECT_EQ(lines[k].follows_seed, k != 4) << k;
  }
  EXPECT_EQ(lines[1].words, (std::vector<std::string>{"op", "--b=2"}));
}

/// A line of a case file may also be a complete replay command, copied from a report.
TEST(CaseLines, MayBeTheCommandsThatReplayThem) {
  const auto lines = case_lines({"mine.txt",
                                 "/opt/bin/assay run op --a=1 --implementation=mine\n"
                                 "assay run op\n"
                                 "op --a=1 --implementation=mine\n"
                                 "run op\n"
                                 "'/my path/assay' run op --b=2 "
                                 "--implementation='command:sh -c '\\''a b'\\'' {}'\n"
                                 "' run  --implementation='\n"
                                 "assay run op '--variant=formula:score=s*(1-s)' --c=3 "
                                 "--implementation='command:sh {}'\n"
                                 "op --c=3 '--variant=formula:score=s*(1-s)'\n"});
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_EQ(lines[0].words, (std::vector<std::string>{"op", "--a=1"}));
  EXPECT_EQ(lines[1].words, (std::vector<std::string>{"op"}));
  EXPECT_EQ(lines[2].words, (std::vector<std::string>{"op", "--a=1"}));
  EXPECT_EQ(lines[3].words, (std::vector<std::string>{"run", "op"}));
  EXPECT_EQ(lines[4].words, (std::vector<std::string>{"op", "--b=2"}));
  const std::string formula = "--variant=formula:score=s*(1-s)";
  EXPECT_EQ(lines[6].words, (std::vector<std::string>{"op", formula, "--c=3"}));
  EXPECT_EQ(lines[7].words, (std::vector<std::string>{"op", "--c=3", formula}));
}

/// Parses an empty line followed by `line`, and returns the error message.
std::string refusal(const std::string& line) {
  try {
    sample<spec::NsaCompressGrad>({.random_cases = 0, .own_cases = {{"mine.txt", "\n" + line}}});
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(CaseLines, BrokenLinesAreNamedByFileLineAndWord) {
  EXPECT_EQ(refusal("nsa_compress_grad --seq=100 --nonesuch=1").find("mine.txt:2: '--nonesuch=1'"),
            0u);
  EXPECT_EQ(refusal("nsa_compress_grad --seq=many")
                .find("mine.txt:2: --seq=many is not a number: accepted: "),
            0u);
  EXPECT_EQ(refusal("nsa_compress_grad 100").find("mine.txt:2: '100': accepted: --name=value"), 0u);
  const std::string illegal = refusal("nsa_compress_grad --seq=100 --compress_stride=48");
  EXPECT_EQ(illegal.find("mine.txt:2: the case breaks NSAC-"), 0u) << illegal;
  EXPECT_NE(illegal.find("by --compress_stride=48"), std::string::npos) << illegal;
  EXPECT_EQ(refusal("nsa_compress_grad --seq=100 --upstream=off").find("mine.txt:2: --upstream"),
            0u);
  for (const char* section : {"[whole plan]", "[full plan, whole seed]", "[full plan", "[]",
                              "[ordinary plan, full plan]"})
    EXPECT_EQ(refusal(section).find("mine.txt:2: '"), 0u) << section;
}

TEST(CaseLines, UserLinesJoinThePlanWithTheirSeed) {
  const auto seeds = [](std::uint64_t seed) {
    const CaseText text = {"mine.txt",
                           "# thought of by me\n"
                           "nsa_compress_grad --seq=1234 --seed=10\n"
                           "nsa_selected_attention_grad --seq_q=3\n"
                           "[every plan, fixed seed]\n"
                           "nsa_compress_grad --seq=1234 --seed=20\n"};
    std::set<std::uint64_t> found;
    for (const auto& c :
         sample<spec::NsaCompressGrad>({.seed = seed, .random_cases = 0, .own_cases = {text}}))
      if (c.problem.seq == 1234) found.insert(c.seed);
    return found;
  };
  EXPECT_EQ(seeds(1), (std::set<std::uint64_t>{10, 20}));
  EXPECT_EQ(seeds(5), (std::set<std::uint64_t>{14, 20}));
}

}  // namespace
}  // namespace assay::conformance
