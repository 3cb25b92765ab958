#include "assay/conformance/result/printable.hpp"

#include <gtest/gtest.h>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "session.hpp"

namespace assay::tests {
namespace {

using conformance::printable;
using Compress = spec::NsaCompressGrad;

TEST(Printable, TextStaysAsItIs) {
  for (const std::string text : {"", "plain", "\xc3\xa9\xe2\x82\xac", "\xe4\xb8\xad\xe6\x96\x87",
                                 "\xf0\x9f\x98\x80", "C:\\x1b"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, ControlCharactersAreEscaped) {
  const auto bytes = [](std::string_view text) { return printable(text); };
  EXPECT_EQ(bytes("\x1b[31mred\a\b\r\x7f"), "\\x1b[31mred\\x07\\x08\\x0d\\x7f");
  EXPECT_EQ(bytes(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(bytes("two\nlines\tand a tab"), "two\\nlines\\tand a tab")
      << "the result must be one line";
  EXPECT_EQ(bytes("\xc2\x9b"
                  "31m"),
            "\\u009b31m")
      << "a single character with the meaning of ESC [";
  EXPECT_EQ(bytes("\xe2\x80\xae"
                  "drow"),
            "\\u202edrow");
  EXPECT_EQ(bytes("\xe2\x81\xa6\xef\xbb\xbf\xef\xbf\xbe\xe2\x80\xa8"),
            "\\u2066\\ufeff\\ufffe\\u2028");
  EXPECT_EQ(bytes("\xf3\xa0\x81\x81"), "\\ue0041") << "an invisible character";
}

TEST(Printable, InvalidUtf8IsEscapedByteByByte) {
  const auto bytes = [](std::string_view text) { return printable(text); };
  EXPECT_EQ(bytes("\xff\x80"), "\\xff\\x80");
  EXPECT_EQ(bytes("\xc3"), "\\xc3") << "cut off";
  EXPECT_EQ(bytes("\xe2\x82x"), "\\xe2\\x82x");
  EXPECT_EQ(bytes("\xc0\xaf"), "\\xc0\\xaf") << "an overlong encoding";
  EXPECT_EQ(bytes("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a surrogate pair";
  EXPECT_EQ(bytes("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last code point";
}

TEST(Printable, AnExcerptIsNoLongerThanItMayBe) {
  using conformance::excerpt;
  const std::string hundred(100, 'x');
  EXPECT_EQ(excerpt(hundred, 100), hundred);
  EXPECT_EQ(excerpt(hundred + "y", 100), hundred.substr(0, 84) + " ... (101 bytes)");
  EXPECT_EQ(excerpt(std::string(50, '\x1b'), 100).size(), 100u)
      << "escapes must count for the limit";
  std::string letters;
  for (int k = 0; k < 60; ++k) letters += "\xc3\xa9";
  const std::string half = excerpt(letters, 101);
  EXPECT_EQ(half, letters.substr(0, 84) + " ... (120 bytes)");
  EXPECT_EQ(excerpt(half, 101), half);
}

/// A text with all kinds of terminal control sequences.
const std::string loud = std::string("\x1b]0;title\a\x1b[2J\r\b") + '\0' +
                         "\xc2\x9b"
                         "1m\xe2\x80\xae\xff\xfe<&\">\nforged\tline\n";

/// A kernel that returns the text `loud` from every function that returns text.
class Shouting final : public spec::Implementation<Compress> {
 public:
  std::string name() const override { return "shouting " + loud; }
  void check(const spec::Call<Compress>&) const override {
    throw spec::Rejected(spec::Status::param_invalid, "no: " + loud);
  }
  void run(const Compress::Problem&, const Compress::Inputs&, Compress::Outputs&) override {
    throw spec::ImplementationFault(spec::ImplementationFault::Kind::crash, "dead: " + loud);
  }
  std::vector<spec::Metric> metrics() const override {
    return {{.name = "m" + loud, .value = 1, .unit = "u" + loud}};
  }
};

/// Returns endless lists.
class Garrulous : public spec::Implementation<Compress> {
 public:
  std::string name() const override { return tale; }
  void check(const spec::Call<Compress>&) const override {
    throw spec::Rejected(spec::Status::param_invalid, tale);
  }
  void run(const Compress::Problem&, const Compress::Inputs&, Compress::Outputs&) override {}
  std::vector<spec::Metric> metrics() const override {
    return std::vector<spec::Metric>(10'000,
                                     {.name = tale.substr(0, 100), .value = 1, .unit = "u"});
  }

 private:
  std::string tale = std::string(1'000'000, 'a');
};

/// A kernel that accepts every call, so that the report contains its very long metrics.
class Measuring final : public Garrulous {
  void check(const spec::Call<Compress>&) const override {}
};

template <class Kernel>
cli::Registry registry_of(const std::string& name) {
  cli::Registry registry;
  registry.add<Compress>({.name = name,
                          .summary = "says much",
                          .make = [] { return std::make_unique<Kernel>(); },
                          .in_process = true});
  return registry;
}

cli::Registry shouting() { return registry_of<Shouting>("shouting"); }

/// Expects printable text without control characters, in which all line breaks come from the
/// program itself.
void expect_quiet(const std::string& text, const std::string& what) {
  EXPECT_FALSE(text.empty()) << what;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_EQ(printable(line), line) << what;
    EXPECT_FALSE(line.starts_with("forged")) << what;
  }
}

TEST(Printable, KernelTextIsEscaped) {
  const Folder folder;
  const Answer sweep =
      answer(shouting(), {"sweep", "--only=--violate=NSAC-C0", "--random=0", "--shrink=1",
                          "--report", folder / "r.json", "--html", folder / "p.html", "--junit",
                          folder / "j.xml", "--store", folder / "s.h5"});
  EXPECT_EQ(sweep.code, 1) << sweep.err;
  expect_quiet(sweep.out, "output");
  expect_quiet(sweep.err, "errors");
  EXPECT_PRED2(has, sweep.err + sweep.out, std::string("\\x1b]0;title\\x07"));
  for (const char* name : {"r.json", "p.html", "j.xml"}) expect_quiet(text_of(folder / name), name);
  EXPECT_GT(nlohmann::json::parse(text_of(folder / "r.json"))["cases"].size(), 0u);
  boost::property_tree::ptree junit;
  std::istringstream xml(text_of(folder / "j.xml"));
  EXPECT_NO_THROW(boost::property_tree::read_xml(xml, junit));
  const Answer run = answer(shouting(), {"run", "nsa_compress_grad"});
  expect_quiet(run.out + run.err, "run");
  const Answer again = answer(shouting(), {"report", folder / "r.json"});
  expect_quiet(again.out + again.err, "report");
}

TEST(Printable, AKernelWithoutEndIsCutShort) {
  const Folder folder;
  const cli::Registry kernels = registry_of<Garrulous>("garrulous");
  const Answer sweep = answer(
      kernels, {"sweep", "--only=--violate=NSAC-C02:", "--random=0", "--report", folder / "r.json",
                "--html", folder / "p.html", "--junit", folder / "j.xml"});
  EXPECT_EQ(sweep.code, 1);
  EXPECT_LT(sweep.out.size() + sweep.err.size(), 100'000u);
  for (const char* name : {"r.json", "p.html", "j.xml"})
    EXPECT_LT(text_of(folder / name).size(), 1'000'000u) << name;
  EXPECT_PRED2(has, text_of(folder / "r.json"), std::string("aaa ... (10000"));
  const Answer run = answer(registry_of<Measuring>("measuring"), {"run", "nsa_compress_grad"});
  EXPECT_LT(run.out.size() + run.err.size(), 100'000u);
  EXPECT_PRED2(has, run.out, std::string("100 of 10000 metrics are listed"));
}

TEST(Printable, ForeignReportIsEscaped) {
  const Folder folder;
  answer(shouting(),
         {"sweep", "--only=--violate=NSAC-C02:", "--random=0", "--report", folder / "r.json"});
  auto report = nlohmann::json::parse(text_of(folder / "r.json"));
  for (auto& one : report["cases"]) {
    one["findings"][0]["text"] = "\x1b[2J\xe2\x80\xae";
    one["command_line"] = "nsa_compress_grad \x1b[2J";
    for (auto& field : one["fields"]) field = "\x1b[2J";
    one["accepted_requirements"] = {"\x1b[2J"};
  }
  report["summary"]["requirements"]["requirements"][0]["id"] = "\x1b[2J";
  report["environment"]["implementation"] = "\x1b[2J";
  std::ofstream(folder / "loud.json") << report;
  const Answer printed = answer(shouting(), {"report", folder / "loud.json"});
  expect_quiet(printed.out + printed.err, "report");
}

TEST(Printable, TheSmallestAndTheLargestNumberHaveAPage) {
  const Folder folder;
  const auto kernel = registry_of<Measuring>("measuring");
  std::ofstream(folder / "l.txt") << "nsa_compress_grad\n";
  ASSERT_NE(
      answer(kernel, {"sweep", "--lines", folder / "l.txt", "--report", folder / "r.json"}).code,
      2);
  auto report = nlohmann::json::parse(text_of(folder / "r.json"));
  report["cases"][0]["metrics"] = {
      {{"name", "least"}, {"value", 5e-324}, {"unit", "ms"}},
      {{"name", "most"}, {"value", 1.7976931348623157e308}, {"unit", "ms"}}};
  std::ofstream(folder / "far.json") << report;
  const Answer printed =
      answer(kernel, {"report", folder / "far.json", "--html", folder / "p.html"});
  EXPECT_EQ(printed.err, "");
  EXPECT_GT(text_of(folder / "p.html").size(), 1000u);
}

/// A user may paste the lines of another user's report into a shell. The shell must then see only
/// quoted words, and must not run a command that they contain.
TEST(Printable, ForeignReplayLinesAreSafeToPaste) {
  const Folder folder;
  answer(shouting(),
         {"sweep", "--only=--violate=NSAC-C02:", "--random=0", "--report", folder / "r.json"});
  const auto report = nlohmann::json::parse(text_of(folder / "r.json"));
  const std::string mine = folder / "mine";
  for (const std::string& command :
       {"; touch " + mine, "\n touch " + mine, "$(touch " + mine + ")", "`touch " + mine + "`",
        "'; touch " + mine + "; '", "\\'; touch " + mine, "& touch " + mine, "> " + mine}) {
    auto other = report;
    other["environment"]["program"] = "true" + command;
    other["summary"]["verdicts"] = {{"crash", other["cases"].size()}};
    for (auto& one : other["cases"])
      one["verdict"] = "crash", one["decided_by"] = "conduct",
      one["command_line"] = "nsa_compress_grad " + command;
    std::ofstream(folder / "other.json") << other;
    const Answer printed = answer(shouting(), {"report", folder / "other.json"});
    EXPECT_PRED2(has, printed.out, std::string(" run nsa_compress_grad ")) << printed.err;
    std::istringstream lines(printed.out);
    for (std::string line; std::getline(lines, line);)
      if (has(line, " run nsa_compress_grad ")) [[maybe_unused]]
        const int code = std::system((line + " 2> /dev/null").c_str());
    EXPECT_FALSE(std::filesystem::exists(mine)) << command;
  }
}

/// A folder with results has a name that another user chose. The program must quote this name.
TEST(Printable, NamesOfFilesAreQuoted) {
  const Folder folder;
  const std::string mark = "\x1b[2J\nforged\t\xe2\x80\xae";
  std::filesystem::create_directory(folder / mark);
  const auto file = [&](const std::string& name) { return folder / (mark + "/" + name + mark); };
  const std::vector<std::string> sweep = {"sweep", "--only=--violate=NSAC-C02:", "--random=0"};
  const auto expect_quiet_after = [](const std::vector<std::string>& words) {
    const Answer printed = answer(shouting(), words);
    expect_quiet(printed.out + printed.err, words.front() + " " + words.back());
    EXPECT_PRED2(has, printed.out + printed.err, std::string("\\u202e"));
  };
  auto all = sweep;
  for (const char* flag : {"--report", "--html", "--junit", "--store"})
    all.insert(all.end(), {flag, file(flag)});
  expect_quiet_after(all);
  for (const char* flag : {"--resume", "--lines", "--last-failed", "--baseline", "--cases"}) {
    expect_quiet_after({"sweep", "--only=--violate=NSAC-C02:", flag + ("=" + file("none"))});
  }
  expect_quiet_after({"sweep", "--random=0", "--store", folder / mark});
  expect_quiet_after({"report", file("--report"), "--html", file("page")});
  expect_quiet_after({"report", file("none")});
  expect_quiet_after({"merge", file("none")});
  expect_quiet_after({"list", "--coverage", "--report", file("none")});
  expect_quiet_after({"export", "--recipe-only", "nsa_compress_grad", file("cases")});
  expect_quiet_after({"check", file("cases")});
  expect_quiet_after({"pack", "--verify", file("none")});
}

TEST(Printable, RefusedTextIsEscaped) {
  const Answer refused = answer(shouting(), {"run", "nsa_compress_grad", "--heads=\x1b[2J\xff"});
  EXPECT_EQ(refused.code, 2);
  expect_quiet(refused.err, "refusal");
}

}  // namespace
}  // namespace assay::tests
