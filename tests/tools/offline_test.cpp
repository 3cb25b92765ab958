#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "assay/conformance/operators.hpp"
#include "assay/conformance/plan/sampling.hpp"
#include "assay/conformance/report/results.hpp"
#include "assay/fixtures/file.hpp"
#include "session.hpp"

namespace assay::tests {
namespace {

const std::vector<std::string> one_case = {"flash_attention_score_grad", "--heads_q=2", "--seq_q=6",
                                           "--seq_kv=9"};

/// Exports one case to a file. The flags of export come before the name of the operator.
std::string exported(const Folder& folder, const std::vector<std::string>& flags) {
  const std::string file = folder / "cases.h5";
  std::vector<std::string> line = {"export", file};
  line.insert(line.end(), flags.begin(), flags.end());
  line.insert(line.end(), one_case.begin(), one_case.end());
  const Answer result = answer(registry_of({"fixed_order", "all_zeros"}), line);
  EXPECT_EQ(result.code, 0) << result.err;
  return file;
}

/// Changes the only case of a file.
void rewrite(const std::string& file, const std::function<void(fixtures::CaseRecord&)>& change) {
  fixtures::CaseRecord record = [&] {
    const fixtures::Reader reader(file);
    return reader.read(reader.ids().front());
  }();
  change(record);
  fixtures::Writer writer(file);
  writer.write(record);
  writer.close();
}

Answer check(const std::string& file) {
  return answer(registry_of({"fixed_order"}), {"check", file});
}

TEST(Offline, AnExportedFileHoldsInputsAndReference) {
  const Folder folder;
  const fixtures::Reader reader(exported(folder, {}));
  ASSERT_EQ(reader.ids().size(), 1u);
  const fixtures::CaseRecord record = reader.read(reader.ids().front());
  EXPECT_EQ(record.inputs.size(), 7u);
  EXPECT_EQ(record.expected.size(), 3u);
  EXPECT_TRUE(record.actual.empty());
}

/// A kernel that saves only the log-sum-exp has no softmax_sum, so the file has no reference for
/// it.
TEST(Offline, AFileOfALogSumExpIsReadWithoutAReferenceOfTheSum) {
  const Folder folder;
  const std::string file = folder / "cases.h5";
  ASSERT_EQ(answer(registry_of({}), words("export " + file +
                                          " --numerics=fp32_staging,saves=lse "
                                          "flash_attention_score --seq_q=6 --seq_kv=9"))
                .code,
            0);
  const Answer whole = check(file);
  EXPECT_EQ(whole.code, 3) << whole.err;
  EXPECT_PRED2(has, whole.err, std::string("contains no outputs"));
  rewrite(file, [](fixtures::CaseRecord& record) {
    EXPECT_EQ(record.expected.size(), 2u);
    std::erase_if(record.expected, [](const auto& one) { return one.name == "attention_out"; });
  });
  const Answer damaged = check(file);
  EXPECT_EQ(damaged.code, 2);
  EXPECT_PRED2(has, damaged.err, std::string("expected/attention_out is missing"));
}

TEST(Offline, ARecipeHoldsDigestsOnly) {
  const Folder folder;
  const fixtures::Reader reader(exported(folder, {"--recipe-only"}));
  const fixtures::CaseRecord record = reader.read(reader.ids().front());
  EXPECT_TRUE(record.inputs.empty());
  EXPECT_EQ(record.digests.size(), 7u);
}

/// An exported file with reference values contains the same case, and says how the references were
/// certified (how their error was proven).
TEST(Offline, AGoldenFileSaysHowItsReferencesAreKnown) {
  const Folder folder;
  const std::string file = folder / "golden.h5";
  std::vector<std::string> line = {"golden", file};
  line.insert(line.end(), one_case.begin(), one_case.end());
  const Answer result = answer(registry_of({}), line);
  EXPECT_EQ(result.code, 0) << result.err;
  // The sizes of the gradients: dq has 2 x 6 x 10 elements, dk and dv have 2 x 9 x 10 each.
  EXPECT_NE(result.out.find("480 elements, 480 of them certified"), std::string::npos)
      << result.out;
  EXPECT_NE(result.out.find("; not certified: 0 with a known radius, 0 without"), std::string::npos)
      << result.out;
  const fixtures::Reader reader(file);
  EXPECT_EQ(reader.read(reader.ids().front()).expected.size(), 3u);
}

/// In this case the scores are so large that an evaluation in double cannot prove the error of any
/// reference value. The declared kernel computes its own row term.
TEST(Offline, AGoldenFileWithOpenElementsIsNotConclusive) {
  const Folder folder;
  std::vector<std::string> line = {"golden", folder / "open.h5", "--numerics=torch_fp32"};
  line.insert(line.end(), one_case.begin(), one_case.end());
  line.insert(line.end(), {"--dtype=fp32", "--scale_value=1e6"});
  const Answer result = answer(registry_of({}), line);
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_EQ(result.out.find(" 0 open"), std::string::npos) << result.out;
}

TEST(Offline, AGoldenFileHoldsReferencesAlone) {
  const Folder folder;
  for (const std::string flag : {"--recipe-only", "--implementation=fixed_order"}) {
    const Answer result = answer(registry_of({"fixed_order"}), {"golden", folder / "g.h5", flag});
    EXPECT_NE(result.code, 0);
    EXPECT_NE(result.err.find(flag), std::string::npos) << result.err;
  }
}

/// Exports a plan with limits that leave only a few small cases. Returns exit code and output.
Answer export_plan(const std::string& file, const std::vector<std::string>& flags) {
  std::vector<std::string> line = {"export", file, "--random=0", "--only=--dtype=fp32"};
  line.insert(line.end(), flags.begin(), flags.end());
  return answer(registry_of({"flash_like"}), line);
}

TEST(Offline, RecipesRespectTheLargestSize) {
  const Folder folder;
  const auto count = [&](const std::string& name, const std::vector<std::string>& flags) {
    const Answer result = export_plan(folder / name, flags);
    EXPECT_EQ(result.code, 0) << result.err;
    return fixtures::Reader(folder / name).ids().size();
  };
  const std::size_t tensors = count("t.h5", {"--largest=1000"});
  EXPECT_GT(tensors, 0U);
  EXPECT_EQ(count("r.h5", {"--largest=1000", "--recipe-only"}), tensors);
}

TEST(Offline, ExportPrintsItsSizeFirstAndItsProgressOffATerminal) {
  const Folder folder;
  const Answer result = export_plan(folder / "x.h5", {"--largest=1000"});
  std::smatch printed;
  ASSERT_TRUE(std::regex_search(result.err, printed, std::regex("cases, about ([0-9.]+) MB\n")))
      << result.err;
  const auto size = static_cast<double>(std::filesystem::file_size(folder / "x.h5"));
  EXPECT_NEAR(std::stod(printed[1]) * 1e6 / size, 1, 0.1) << size;
  EXPECT_PRED2(has, result.err, std::string("1 of "));
}

TEST(Offline, LinesAreTheCasesAndOneIsStoredOnce) {
  const Folder folder;
  const std::string lines = folder / "lines.txt", file = folder / "cases.h5";
  std::ofstream(lines) << "nsa_compress_grad --seq=40\nnsa_compress_grad --seq=48\n"
                          "nsa_compress_grad --heads=1 --seq=40\n";
  const auto export_with = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> line = {"export", file, "--lines", lines};
    line.insert(line.end(), flags.begin(), flags.end());
    return answer(registry_of({"fixed_order"}), line);
  };
  const Answer twice = export_with({});
  EXPECT_EQ(twice.code, 0) << twice.err;
  EXPECT_PRED2(has, twice.out, std::string(" contains 2 cases, "));
  std::ofstream(lines) << "## cases of mine\n# a note\nnsa_compress_grad --seq=40\nnsa 3\n";
  EXPECT_PRED2(has, export_with({}).err, std::string("lines.txt:4: no operator 'nsa'"));
  std::ofstream(lines) << "nsa_compress_grad --seq=40\n";
  for (const std::string& flag : std::vector<std::string>{"--only=seq", "--largest=9", "--random=0",
                                                          "--cases=" + lines, "--full"}) {
    const Answer both = export_with({flag});
    EXPECT_EQ(both.code, 2) << flag;
    EXPECT_PRED2(has, both.err, std::string("only one of the two")) << flag;
  }
}

TEST(Offline, MissingNumericsAreReportedBeforeTheSize) {
  const Folder folder;
  const Answer result =
      answer(registry_of({"fixed_order"}),
             {"export", folder / "cases.h5", "--numerics=nobodys", "--largest=300", "--random=0"});
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(result.err.starts_with("assay: --numerics is 'nobodys'")) << result.err;
}

TEST(Offline, CasesWithoutTensorsOfOneCallAreNotExported) {
  const Folder folder;
  const auto refused = [&](const std::string& flags) {
    auto line = words("export " + (folder / "x.h5") + " flash_attention_score_grad " + flags);
    const Answer result = answer(registry_of({"flash_like"}), line);
    EXPECT_EQ(result.code, 2) << flags;
    return result.err;
  };
  EXPECT_PRED2(has, refused("--track=arguments"), std::string("no tensors"));
  EXPECT_PRED2(has, refused("--batch=2 --track=relation --relation=split_batch"),
               std::string("compares several runs"));
  const Answer planned =
      answer(registry_of({"flash_like"}),
             {"export", folder / "x.h5", "--recipe-only", "--only=relation=split_batch"});
  EXPECT_EQ(planned.code, 2);
  std::smatch printed;
  const std::regex counts("leaves out ([0-9]+) of ([0-9]+) cases");
  ASSERT_TRUE(std::regex_search(planned.err, printed, counts)) << planned.err;
  const std::int64_t left = std::stoll(printed[2]) - std::stoll(printed[1]);
  using Op = spec::FlashAttentionScoreGrad;
  const auto planned_cases = conformance::sample<Op>({});
  const auto of_relation =
      std::ranges::count(planned_cases, "split_batch", &conformance::Case<Op>::relation);
  EXPECT_GT(of_relation, 0);
  EXPECT_GE(left, of_relation);
  EXPECT_PRED2(has, planned.err, " " + std::to_string(left) + " compare runs");
}

TEST(Offline, OutputsOfAHealthyKernelConformAndTheListOfUnconfirmedItemsIsStored) {
  const Folder folder;
  const std::string file = exported(folder, {"--implementation=fixed_order"});
  const Answer result = check(file);
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_PRED2(has, result.out, std::string("determinism (1 case)"));
  const fixtures::Reader reader(file);
  const auto verdict =
      nlohmann::json::parse(reader.read(reader.ids().front()).verdicts.at("fixed_order"));
  EXPECT_EQ(verdict["verdict"], "conforms");
  EXPECT_FALSE(verdict["unconfirmed"].empty());
}

TEST(Offline, OutputsOfAnInjectedFaultDoNotConform) {
  const Folder folder;
  const Answer result = check(exported(folder, {"--implementation=all_zeros"}));
  EXPECT_EQ(result.code, 1) << result.out;
  EXPECT_PRED2(has, result.out, std::string("nonconformant"));
}

/// Writes a file with one TND case and the outputs of the mutant (faulty kernel). The statistics of
/// the case are stored heads first.
std::string packed_case_by(const Folder& folder, const std::string& mutant) {
  const std::string file = folder / (mutant + ".h5");
  const Answer result =
      answer(registry_of({mutant}),
             {"export", file, "--implementation=" + mutant, "flash_attention_score_grad",
              "--layout=TND", "--entry_point=u1", "--heads_q=4", "--heads_kv=2", "--lengths_q=9,13",
              "--lengths_kv=11,14"});
  EXPECT_EQ(result.code, 0) << result.err;
  return file;
}

TEST(Offline, StatisticsReadInEitherOrderDoNotFail) {
  const Folder folder;
  for (const std::string mutant : {"heads_first", "tokens_first", "tokens_first_declared"}) {
    const Answer result = check(packed_case_by(folder, mutant));
    EXPECT_EQ(result.code, 0) << mutant << result.out << result.err;
    EXPECT_EQ(has(result.out, "conforms_weak"), mutant == "tokens_first") << result.out;
  }
  EXPECT_EQ(check(packed_case_by(folder, "heads_of_all_tokens")).code, 1);
}

TEST(Offline, InputsAreExportedAsTheKernelDeclaresToReadThem) {
  const Folder folder;
  const fixtures::Reader reader(packed_case_by(folder, "tokens_first_declared"));
  EXPECT_PRED2(has, reader.read(reader.ids().front()).command,
               std::string("--statistics_order=tokens_first"));
}

TEST(Offline, OutputsOfAKernelWithOtherStatisticsOrderAreNotJudged) {
  const Folder folder;
  const std::string file = packed_case_by(folder, "heads_first");
  rewrite(file, [](fixtures::CaseRecord& record) {
    record.actual.at("heads_first").profile = R"({"statistics_order": "tokens_first"})";
  });
  const Answer result = check(file);
  EXPECT_EQ(result.code, 3) << result.out << result.err;
  EXPECT_PRED2(has, result.out, std::string("not_applicable"));
  EXPECT_PRED2(has, result.out, std::string("export the case again with the --numerics"));
}

TEST(Offline, TwoDifferentRunsOfAFixedOrderAreNondeterministic) {
  const Folder folder;
  const std::string file = exported(folder, {"--implementation=fixed_order"});
  rewrite(file, [](fixtures::CaseRecord& record) {
    fixtures::Actual second = record.actual.at("fixed_order");
    spec::Tensor& dq = second.outputs.front().tensor;
    dq.store(0, -dq.load(0));
    record.actual["fixed_order@2"] = std::move(second);
  });
  const Answer result =
      answer(registry_of({"fixed_order"}), {"check", file, "--implementation=fixed_order"});
  EXPECT_EQ(result.code, 1);
  EXPECT_PRED2(has, result.out, std::string("nondeterministic"));
  EXPECT_FALSE(has(result.out, "determinism (1 case)"));
}

TEST(Offline, AFileWithoutOutputsJudgesNothing) {
  const Folder folder;
  const Answer result = check(exported(folder, {}));
  EXPECT_EQ(result.code, 3);
  EXPECT_PRED2(has, result.err, std::string("contains no outputs"));
}

TEST(Offline, AnOutputOfWrongShapeOrDtypeOrNameIsNamed) {
  const Folder folder;
  const auto message = [&](const std::function<void(std::vector<fixtures::NamedTensor>&)>& change) {
    const std::string file = exported(folder, {"--implementation=fixed_order"});
    rewrite(file,
            [&](fixtures::CaseRecord& record) { change(record.actual.at("fixed_order").outputs); });
    const Answer result = check(file);
    EXPECT_EQ(result.code, 2);
    return result.err;
  };
  const auto find = [](std::vector<fixtures::NamedTensor>& outputs,
                       const std::string& name) -> spec::Tensor& {
    for (auto& output : outputs)
      if (output.name == name) return output.tensor;
    throw std::logic_error(name);
  };
  const std::string shape = message([&](auto& outputs) {
    find(outputs, "dk") = spec::contiguous_tensor(spec::DType::bf16, {1, 1, 9, 8});
  });
  EXPECT_PRED2(has, shape, std::string("dk has shape (1, 1, 9, 8); expected (1, 1, 9, 16)"));
  const std::string dtype = message([&](auto& outputs) {
    find(outputs, "dq") = spec::contiguous_tensor(spec::DType::fp32, {1, 2, 6, 16});
  });
  for (const char* part : {"dq", "fp32", "bf16"}) EXPECT_PRED2(has, dtype, std::string(part));
  const std::string absent = message([](auto& outputs) { outputs.pop_back(); });
  EXPECT_PRED2(has, absent, std::string("is absent"));
}

TEST(Offline, AnEntryThatCannotBeJudgedLeavesTheOthersJudged) {
  const Folder folder;
  const std::string file = exported(folder, {"--implementation=fixed_order"});
  rewrite(file, [](fixtures::CaseRecord& record) {
    fixtures::Actual incomplete = record.actual.at("fixed_order");
    incomplete.outputs.pop_back();
    record.actual["incomplete"] = std::move(incomplete);
  });
  const Answer result = check(file);
  EXPECT_EQ(result.code, 2);
  EXPECT_PRED2(has, result.err, std::string("actual/incomplete"));
  EXPECT_PRED2(has, result.out, std::string("usage_error"));
  const fixtures::Reader reader(file);
  EXPECT_TRUE(reader.read(reader.ids().front()).verdicts.contains("fixed_order"));
}

TEST(Offline, ADamagedReplayLineIsNamedWithItsCase) {
  const Folder folder;
  const std::string file = exported(folder, {"--implementation=fixed_order"});
  rewrite(file, [](fixtures::CaseRecord& record) { record.command += " --seq_q=x"; });
  const Answer result = check(file);
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_PRED2(has, result.err, std::string("attribute command"));
}

TEST(Offline, AnUnknownFieldOfAProfileIsNamed) {
  const Folder folder;
  const std::string file = exported(folder, {"--implementation=fixed_order"});
  rewrite(file, [](fixtures::CaseRecord& record) {
    record.actual.at("fixed_order").profile = R"({"stagee": "bf16"})";
  });
  const Answer result = check(file);
  EXPECT_EQ(result.code, 2);
  EXPECT_PRED2(has, result.err, std::string("'stagee'"));
}

TEST(Offline, ATruncatedFileOrAnotherSchemaIsAUsageError) {
  const Folder folder;
  const std::string file = exported(folder, {"--implementation=fixed_order"});
  const std::string bytes = text_of(file);
  std::ofstream(folder / "half.h5", std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  EXPECT_EQ(check(folder / "half.h5").code, 2);
  std::string other = bytes;
  const std::size_t schema = other.find("assay-2");
  ASSERT_NE(schema, std::string::npos);
  other.replace(schema, 7, "assay-9");
  std::ofstream(folder / "other.h5", std::ios::binary) << other;
  const Answer result = check(folder / "other.h5");
  EXPECT_EQ(result.code, 2);
  EXPECT_PRED2(has, result.err, std::string("assay-9"));
}

TEST(Offline, AStoredCaseIsExplained) {
  const Folder folder;
  const std::string file = exported(folder, {"--implementation=fixed_order"});
  check(file);
  const std::string id = fixtures::Reader(file).ids().front();
  const Answer result = answer(registry_of({"fixed_order"}), {"explain", id, "--store", file});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_PRED2(has, result.out, std::string("assay run flash_attention_score_grad"));
  EXPECT_PRED2(has, result.out, std::string("conforms"));
  EXPECT_EQ(answer(registry_of({"fixed_order"}), {"explain", "012345678901", "--store", file}).code,
            2);
}

}  // namespace
}  // namespace assay::tests
