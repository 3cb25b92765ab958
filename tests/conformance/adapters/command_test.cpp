#include "assay/adapters/command.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>

#include "assay/spec/operators/flash_attention_score_grad.hpp"
#include "build_paths.hpp"
#include "command/line.hpp"

namespace assay::adapters {
namespace {

using namespace std::chrono_literals;
using Op = spec::FlashAttentionScoreGrad;
using Kind = spec::ImplementationFault::Kind;
using Words = std::vector<std::string>;

const Op::Problem problem = {
    .dtype = spec::DType::bf16, .batch = 2, .seq_q = 3, .head_dim = 4, .head_dim_v = 4};
const std::string probe = tests::command_probe();

/// Makes a tensor in which the value of each element identifies its position.
spec::Tensor numbered(const spec::Extents& extents, double first) {
  spec::Tensor tensor =
      spec::contiguous_tensor(problem.dtype, spec::shape_of(problem.input_layout, extents));
  for (std::int64_t k = 0; k < extents.rows() * extents.dim; ++k)
    tensor.store(k, first + static_cast<double>(k % 64));
  return tensor;
}

Op::Inputs inputs() {
  const spec::Tensor query = numbered(spec::query_extents(problem), 1);
  const spec::Tensor statistics =
      spec::contiguous_tensor(spec::DType::fp32, spec::statistics_shape(problem));
  return {.query = query,
          .key = numbered(spec::key_extents(problem), 65),
          .value = numbered(spec::value_extents(problem), 129),
          .dy = query,
          .softmax_max = statistics,
          .softmax_sum = statistics,
          .attention_in = query};
}

Op::Outputs outputs() {
  const auto zeros = [](const spec::Extents& extents) {
    return spec::contiguous_tensor(problem.dtype, spec::shape_of(problem.input_layout, extents));
  };
  return {.dq = zeros(spec::query_extents(problem)),
          .dk = zeros(spec::key_extents(problem)),
          .dv = zeros(spec::value_extents(problem))};
}

spec::Call<Op> call() {
  return spec::call_of(problem, spec::FlashEntryPoint::g1, spec::Product::a2,
                       spec::Striding::contiguous, spec::Striding::contiguous);
}

Op::Outputs answer(spec::Implementation<Op>& kernel) {
  Op::Outputs made = outputs();
  kernel.run_call(call(), problem, inputs(), made);
  return made;
}

/// Returns the kind and text of the fault that `command` causes.
std::pair<Kind, std::string> fault(const std::string& command, const CommandLimits& limits = {}) {
  const auto kernel = open_command<Op>(command, limits);
  try {
    answer(*kernel);
  } catch (const spec::ImplementationFault& seen) {
    return {seen.kind(), seen.what()};
  }
  ADD_FAILURE() << command << " behaved";
  return {};
}

/// Returns a command that answers every case with `line`.
std::string answering(const std::string& line) {
  return "sh -c 'while read path; do echo \"" + line + "\"; done'";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void expect_copies(const Op::Outputs& made) {
  const Op::Inputs given = inputs();
  EXPECT_EQ(made.dq.bytes, given.query.bytes);
  EXPECT_EQ(made.dk.bytes, given.key.bytes);
  EXPECT_EQ(made.dv.bytes, given.value.bytes);
}

TEST(Command, RejectsViewsWhoseStorageExceedsAFile) {
  const auto kernel = open_command<Op>(answering("done"), {});
  EXPECT_EQ(kernel->unsupported(call()), std::nullopt);
  auto far = call();
  spec::apply_striding(far.parameters.dy, spec::Striding::far);
  EXPECT_PRED2(has, kernel->unsupported(far).value_or(""), "the storage of dy spans 42949");
}

TEST(CommandLine, WordsAreQuotedAsForAShell) {
  EXPECT_EQ(shell_words(R"(a  'b c' "d 'e'" f\ g "h\"i" '' x'y'z)"),
            (Words{"a", "b c", "d 'e'", "f g", "h\"i", "", "xyz"}));
  EXPECT_EQ(shell_words("  "), Words{});
  EXPECT_THROW(shell_words("a 'b"), std::invalid_argument);
}

TEST(CommandLine, AssignmentsPrecedeTheProgram) {
  const CommandLine command = parse_command_line("A=1 B2='x y' python k.py C=3");
  EXPECT_EQ(command.environment,
            (std::vector<std::pair<std::string, std::string>>{{"A", "1"}, {"B2", "x y"}}));
  EXPECT_EQ(command.words, (Words{"python", "k.py", "C=3"}));
  EXPECT_FALSE(command.one_shot);
}

TEST(CommandLine, BracesAreReplacedByTheFile) {
  const CommandLine command = parse_command_line("k --in={} {}");
  EXPECT_TRUE(command.one_shot);
  EXPECT_EQ(words_for(command, "/a/{}.h5"), (Words{"k", "--in=/a/{}.h5", "/a/{}.h5"}));
}

TEST(CommandLine, MissingProgramIsAnError) {
  EXPECT_THROW(parse_command_line("  "), std::invalid_argument);
  EXPECT_THROW(parse_command_line("A=1"), std::invalid_argument);
}

TEST(Command, AnswersNumericsAndManyCases) {
  const auto kernel = open_command<Op>(probe);
  EXPECT_EQ(kernel->name(), "command:" + probe);
  EXPECT_FALSE(kernel->checks_arguments());
  EXPECT_EQ(kernel->numerics(problem),
            spec::numerics_from_text("cuda_flash,order=fixed", problem.dtype));
  for (int k = 0; k < 3; ++k) expect_copies(answer(*kernel));
}

TEST(Command, OutputsAreWrittenIntoTheViews) {
  const auto kernel = open_command<Op>(probe);
  spec::Call<Op> strided = spec::call_of(problem, spec::FlashEntryPoint::g1, spec::Product::a2,
                                         spec::Striding::contiguous, spec::Striding::padded);
  Op::Outputs made = outputs();
  const spec::Parameter& dq = strided.parameters.dq;
  made.dq = {.dtype = dq.dtype, .shape = dq.shape, .strides = dq.strides, .offset = dq.offset};
  made.dq.bytes.resize(static_cast<std::size_t>(
      spec::storage_elements(dq.shape, dq.strides, dq.offset) * spec::size_of(dq.dtype)));
  kernel->run_call(strided, problem, inputs(), made);
  const Op::Inputs given = inputs();
  const auto elements = spec::viewed_elements(made.dq);
  for (std::size_t k = 0; k < elements.size(); ++k)
    EXPECT_EQ(made.dq.load(elements[k]), given.query.load(static_cast<std::int64_t>(k)));
  EXPECT_EQ(made.dq.load(0), 0);  // before the view
}

TEST(Command, AProgramThatEndsAfterAnAnswerIsStartedAgain) {
  const auto kernel = open_command<Op>(probe + " - 1");
  for (int k = 0; k < 3; ++k) expect_copies(answer(*kernel));
}

TEST(Command, EveryCaseGetsAProcessIfTheCommandHasBraces) {
  const auto kernel = open_command<Op>("ASSAY_NUMERICS='ascend_a2,order=fixed' " + probe + " {}");
  EXPECT_EQ(kernel->numerics(problem),
            spec::numerics_from_text("ascend_a2,order=fixed", problem.dtype));
  for (int k = 0; k < 2; ++k) expect_copies(answer(*kernel));
  EXPECT_EQ(open_command<Op>(probe + " {}")->numerics(problem), spec::Numerics{});
}

TEST(Command, AProgramWithoutNumericsAnswersDone) {
  EXPECT_EQ(open_command<Op>(answering("done"))->numerics(problem), spec::Numerics{});
}

TEST(Command, AnswersOtherThanDoneArePassedOn) {
  const auto kernel = open_command<Op>(answering("unsupported: no bf16"));
  try {
    answer(*kernel);
    FAIL() << "accepted";
  } catch (const spec::Unsupported& reason) {
    EXPECT_STREQ(reason.what(), "no bf16");
  }
  try {
    answer(*open_command<Op>(answering("rejected: 161001 query is null")));
    FAIL() << "accepted";
  } catch (const spec::Rejected& refusal) {
    EXPECT_EQ(refusal.status(), spec::Status::param_nullptr);
    EXPECT_STREQ(refusal.what(), "query is null");
  }
  try {
    answer(*open_command<Op>(answering("error: out of luck")));
    FAIL() << "accepted";
  } catch (const spec::ImplementationFault&) {
    FAIL() << "an exception of the program must not be reported as a fault of its process";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "out of luck");
  }
  EXPECT_THROW(answer(*open_command<Op>("sh -c 'echo loading; echo unsupported: x' {}")),
               spec::Unsupported);
}

TEST(Command, RegimesFollowDone) {
  const auto kernel = open_command<Op>(answering("done: key_tile.tail=3 key_tile.whole=0"));
  EXPECT_TRUE(kernel->metrics().empty());
  answer(*kernel);
  const auto regimes = kernel->metrics();
  ASSERT_EQ(regimes.size(), 2U);
  EXPECT_EQ(regimes[0].name, "key_tile.tail");
  EXPECT_EQ(regimes[0].value, 3);
  EXPECT_EQ(regimes[0].unit, spec::regime_unit);
  EXPECT_EQ(regimes[1].value, 0);
}

TEST(Command, InvalidRegimeIsReported) {
  for (const auto& [wrong, why] : {std::pair{"tail=3", "expected a name AXIS.VALUE"},
                                   {"=3", "expected a name AXIS.VALUE"},
                                   {"error.dq=3", "the axis must not be 'error'"},
                                   {"a..b=3", "expected a name AXIS.VALUE"},
                                   {"1.b=3", "expected a name AXIS.VALUE"},
                                   {"a.t!l=3", "expected a name AXIS.VALUE"},
                                   {"a.tail", "expected an integer count"},
                                   {"a.tail=", "expected an integer count"},
                                   {"a.tail=-1", "expected an integer count"},
                                   {"a.tail=3x", "expected an integer count"},
                                   {"a.tail=18446744073709551616", "expected an integer count"},
                                   {"a.whole=2", "it is reported twice"}}) {
    const auto [kind, text] = fault(answering(std::string("done: a.whole=1 ") + wrong));
    EXPECT_EQ(kind, Kind::crash);
    EXPECT_PRED2(has, text, "reported a regime '" + std::string(wrong) + "': ");
    EXPECT_PRED2(has, text, std::string(why));
  }
}

TEST(Command, RegimesInATooLongLineAreIgnored) {
  const auto [kind, text] =
      fault("sh -c 'printf \"done: a.b=1\"; head -c 70000 /dev/zero | tr \"\\0\" 0; echo' {}");
  EXPECT_EQ(kind, Kind::crash);
  EXPECT_PRED2(has, text, std::string("more than 64 KiB"));
}

TEST(Command, OtherOutputIsNotAnAnswer) {
  const auto [kind, text] = fault(answering("hello"));
  EXPECT_EQ(kind, Kind::crash);
  EXPECT_PRED2(has, text, std::string("answered 'hello'; expected: done, done: REGIME=COUNT ..."));
}

TEST(Command, AnEndWithoutAnAnswerIsACrashWithTheLastWords) {
  const auto [kind, text] = fault("sh -c 'read path; echo no memory for dq >&2; exit 7'");
  EXPECT_EQ(kind, Kind::crash);
  EXPECT_PRED2(has, text, std::string("exit status 7"));
  EXPECT_PRED2(has, text, std::string("no memory for dq"));
  EXPECT_PRED2(has, fault("sh -c 'kill -SEGV $$'").second, std::string("signal 11"));
  EXPECT_PRED2(has, fault("true").second, std::string("ended without an answer"));
  EXPECT_PRED2(has, fault("false {}").second, std::string("exit status 1"));
}

TEST(Command, ACrashInOneCaseSparesTheNext) {
  const auto kernel = open_command<Op>(
      "sh -c 'n=0; while read path; do n=$((n+1)); [ $n = 2 ] && kill -9 $$; echo unsupported: $n; "
      "done'");
  EXPECT_THROW(answer(*kernel), spec::Unsupported);
  EXPECT_THROW(answer(*kernel), spec::ImplementationFault);
  EXPECT_THROW(answer(*kernel), spec::Unsupported);
}

TEST(Command, AProgramThatTakesTooLongIsEnded) {
  const CommandLimits limits{.answer = 50ms};
  for (const std::string command : {"sh -c 'sleep 60'", "sh -c 'sleep 60' {}"}) {
    const auto start = std::chrono::steady_clock::now();
    const auto [kind, text] = fault(command, limits);
    EXPECT_EQ(kind, Kind::timeout) << command;
    EXPECT_PRED2(has, text, std::string("0.050 s"));
    EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  }
}

TEST(Command, AProgramThatWritesWithoutEndIsEndedAtTheLimit) {
  const auto [kind, text] = fault("yes {}", {.answer = 200ms});
  EXPECT_EQ(kind, Kind::timeout);
  EXPECT_PRED2(has, text, std::string("did not end within 0.200 s"));
}

TEST(Command, LineWithoutNewlineIsNotAnAnswer) {
  const std::string endless = "sh -c 'read path; head -c 100000 /dev/zero; sleep 60'";
  const auto start = std::chrono::steady_clock::now();
  const auto [kind, text] = fault(endless);
  EXPECT_EQ(kind, Kind::crash);
  EXPECT_PRED2(has, text, std::string("wrote a line of more than 64 KiB"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
  const std::string chatter = "sh -c 'head -c 100000 /dev/zero; echo; echo unsupported: x' {}";
  EXPECT_THROW(answer(*open_command<Op>(chatter)), spec::Unsupported);
}

/// Returns a command that prints `words`, then the letter x `letters` times, for every case.
std::string printing(const std::string& words, int letters) {
  return "sh -c 'printf \"" + words + "\"; head -c " + std::to_string(letters) +
         " /dev/zero | tr \"\\0\" x' {}";
}

/// The program's last line is its answer if it begins like one, whatever its length.
TEST(Command, ALongLastLineCountsByItsBeginning) {
  for (const int letters : {1'000, 60'000, 70'000, 200'000, 20'000'000}) {
    try {
      answer(*open_command<Op>(printing("loading\\nrejected: 161002 too ", letters)));
      FAIL() << letters << " letters were not accepted as an answer";
    } catch (const spec::Rejected& refusal) {
      EXPECT_EQ(refusal.status(), spec::Status::param_invalid);
      EXPECT_PRED2(has, refusal.what(), std::string("too xxxx"));
      EXPECT_LE(std::string(refusal.what()).size(), 1010u);
    }
  }
  EXPECT_THROW(answer(*open_command<Op>(printing("unsupported: ", 70'000))), spec::Unsupported);
  EXPECT_EQ(fault(printing("changed: ", 70'000)).first, Kind::inputs_modified);
  EXPECT_THROW(answer(*open_command<Op>(printing("error: ", 70'000))), std::runtime_error);
  EXPECT_NO_THROW(answer(*open_command<Op>(printing("", 70'000))))
      << "other output before status 0";
}

/// A second answer to a case must not be used as the answer to the next case.
TEST(Command, UnexpectedAnswerIsReported) {
  const auto kernel =
      open_command<Op>("sh -c 'while read path; do echo unsupported: a; echo done; done'");
  EXPECT_THROW(answer(*kernel), spec::Unsupported);
  std::this_thread::sleep_for(100ms);
  try {
    answer(*kernel);
    FAIL() << "accepted";
  } catch (const spec::ImplementationFault& seen) {
    EXPECT_PRED2(has, seen.what(), std::string("wrote 'done' after its answer"));
  }
  EXPECT_THROW(answer(*kernel), spec::Unsupported) << "a new process must answer";
}

/// Creates a temporary folder for this test only.
class OwnTemporaryFolder {
 public:
  OwnTemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "assay-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
    if (const char* const before = std::getenv("TMPDIR")) before_ = before;
    setenv("TMPDIR", path_.c_str(), 1);
  }
  ~OwnTemporaryFolder() {
    before_ ? setenv("TMPDIR", before_->c_str(), 1) : unsetenv("TMPDIR");
    std::filesystem::remove_all(path_);
  }
  OwnTemporaryFolder(const OwnTemporaryFolder&) = delete;
  OwnTemporaryFolder& operator=(const OwnTemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::set<std::string> names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      names.insert(entry.path().filename().string());
    return names;
  }

 private:
  std::filesystem::path path_;
  std::optional<std::string> before_;
};

TEST(Command, FoldersOfKilledOwnersAreRemoved) {
  const OwnTemporaryFolder temporary;
  const auto first = open_command<Op>(probe);
  const std::set<std::string> living = temporary.names();
  const pid_t child = fork();
  if (child == 0) {
    const auto kernel = open_command<Op>(probe);
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  ASSERT_EQ(temporary.names().size(), living.size() + 1);
  {
    const auto second = open_command<Op>(probe);
    EXPECT_EQ(temporary.names().size(), living.size() + 1) << "one folder removed, one created";
    expect_copies(answer(*first));
    expect_copies(answer(*second));
  }
  EXPECT_EQ(temporary.names(), living);
}

/// An owner file marks a folder as created by us. A similar file does not.
TEST(Command, FoldersOfOtherOwnersStay) {
  const OwnTemporaryFolder temporary;
  namespace fs = std::filesystem;
  const std::string text =
      "The process that holds the lock of this folder removes the folder and everything in it.\n";
  for (const char* name : {"tmp.abandoned", "tmp.thesis", "elsewhere"})
    fs::create_directory(temporary / name);
  std::ofstream(temporary / "tmp.abandoned/case.h5") << "mine";
  std::ofstream(temporary / "tmp.thesis/.owner") << text << "but mine";
  std::ofstream(temporary / "elsewhere/.owner") << text;
  fs::create_symlink(temporary / "elsewhere", temporary / "tmp.AbCdEf");
  std::ofstream(temporary / "tmp.file") << text;
  const std::set<std::string> before = temporary.names();
  { const auto kernel = open_command<Op>(probe); }
  EXPECT_EQ(temporary.names(), before);
  EXPECT_TRUE(fs::exists(temporary / "elsewhere/.owner"));
}

/// Returns the command for the probe program with the given change of the case file.
std::string probe_that(const std::string& manner) { return probe + " {} '" + manner + "'"; }

TEST(Command, OtherChangesOfTheFileAreIgnored) {
  for (const std::string manner :
       {"leaves out an input", "leaves out all inputs", "changes the texts", "empties the problem",
        "adds a case", "adds what the schema does not know"}) {
    SCOPED_TRACE(manner);
    expect_copies(answer(*open_command<Op>(probe_that(manner))));
  }
}

TEST(Command, AnInputThatIsStillInTheFileIsWhatItWas) {
  const auto [kind, text] = fault(probe_that("changes an input"));
  EXPECT_EQ(kind, Kind::inputs_modified);
  EXPECT_PRED2(has, text, std::string("modified the input key in its file, first at byte 2 of"));
}

TEST(Command, FileWithoutTheCaseIsACrash) {
  for (const auto& [manner, said] :
       {std::pair{"flattens an input", "/inputs/key has shape ("},
        {"gives an input another type", "/inputs/key has dtype fp16; expected bf16"},
        {"adds an input", "'other' is not a tensor of this case"},
        {"adds outputs of another", "holds outputs of 2 implementations"},
        {"renames the case", "contains no case case"},
        {"removes an attribute", "attribute command is missing"},
        {"removes the problem", "/problem is missing"}}) {
    const auto [kind, text] = fault(probe_that(manner));
    EXPECT_EQ(kind, Kind::crash) << manner;
    EXPECT_PRED2(has, text, std::string(said)) << manner;
  }
}

TEST(Command, DoneWithoutAFileIsNamed) {
  EXPECT_PRED2(has, fault("sh -c 'read path; echo > $path; echo done'").second,
               std::string("not an HDF5 file"));
}

TEST(Command, DoneWithoutOutputsLeavesThemAsTheyWere) {
  const auto kernel = open_command<Op>(answering("done"), {});
  Op::Outputs made = outputs();
  const auto before = made.dq.bytes;
  kernel->run_call(call(), problem, inputs(), made);
  EXPECT_EQ(made.dq.bytes, before);
}

std::string refusal(const std::string& command) {
  try {
    open_command<Op>(command, {});
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Command, ProgramThatCannotStartIsRefusedBeforeAnyCase) {
  EXPECT_PRED2(has, refusal("/no/such/program {}"),
               std::string("'/no/such/program' is not a program"));
  EXPECT_PRED2(has, refusal("no-such-program"), std::string("in any folder of PATH"));
  EXPECT_PRED2(has, refusal("/etc"), std::string("'/etc' is not a program that can be executed"));
  EXPECT_PRED2(has, refusal("PATH=/nowhere sh -c true"), std::string("'sh' is not a program"));
  EXPECT_PRED2(has, refusal("ASSAY_NUMERICS=nope sh {}"), std::string("nope"));
  EXPECT_EQ(refusal("ASSAY_NUMERICS=ascend_a2 sh {}"), "accepted");
}

TEST(Command, ChangedInputIsReported) {
  const auto [kind, text] = fault(answering("changed: query"));
  EXPECT_EQ(kind, Kind::inputs_modified);
  EXPECT_PRED2(has, text, std::string("changed its input query"));
}

/// Returns the message of the error that opening the program throws.
std::string refusal_of(const std::string& program) {
  try {
    open_command<Op>(program, {.greet = true});
  } catch (const std::invalid_argument& refusal) {
    return refusal.what();
  }
  return "it was opened";
}

TEST(Command, AProgramThatIsCalledWronglyOrCannotBeginIsWrongUsage) {
  EXPECT_PRED2(has, refusal_of("sh -c 'echo no such function >&2; exit 2'"),
               std::string("exit status 2; the end of its stderr: no such"));
  EXPECT_PRED2(has, refusal_of("sh -c 'echo no module >&2; exit 1'"),
               std::string("exit status 1; the end of its stderr: no module"));
  EXPECT_PRED2(has, refusal_of("true"), std::string("exit status 0 without an answer; a program"));
  EXPECT_PRED2(has, refusal_of("sh -c 'read question; echo numerics: stage=fp17; read rest'"),
               std::string("fp17"));
  EXPECT_EQ(fault("sh -c 'kill -9 $$'", {.greet = true}).first, Kind::crash)
      << "the first case must report the signal";
}

}  // namespace
}  // namespace assay::adapters
