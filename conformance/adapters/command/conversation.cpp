#include "command/conversation.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "assay/fixtures/file.hpp"
#include "assay/spec/regime.hpp"

namespace assay::adapters {
namespace {

using Kind = spec::ImplementationFault::Kind;
using Clock = std::chrono::steady_clock;

constexpr std::string_view answers =
    "done, done: REGIME=COUNT ..., unsupported: REASON, rejected: STATUS TEXT, changed: INPUT, "
    "error: TEXT";
constexpr std::size_t shown = 200;            // characters of an answer that a message quotes
constexpr std::size_t longest_answer = 1000;  // characters of an answer that a report contains
constexpr std::size_t most_regimes = 100;     // regimes of a case that a report contains
constexpr std::streamoff last_words_size = 800;
constexpr int wrong_usage = 2;  // exit status, by convention
constexpr std::chrono::seconds greeting_time{20};
constexpr std::string_view without_answer =
    " without an answer; a program must answer each line that it reads. To start it once for "
    "each file, put {} among its arguments: conformance/adapters/command.md";
constexpr std::chrono::milliseconds settling_time{100};  // wait time for output after an answer

std::string without_blanks_in_front(const std::string& text) {
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

/// Returns the text after "word:"; nothing if the program's answer does not begin with that word.
std::optional<std::string> text_after(const std::string& answer, std::string_view word) {
  if (!answer.starts_with(word) || answer.size() <= word.size() || answer[word.size()] != ':')
    return std::nullopt;
  return without_blanks_in_front(answer.substr(word.size() + 1));
}

/// Returns the program's answer, truncated to `longest_answer` characters for the report.
std::string for_reports(std::string answer) {
  if (answer.size() > longest_answer) answer.replace(longest_answer, std::string::npos, " ...");
  return answer;
}

bool is_answer(const std::string& line) {
  return line == "done" || text_after(line, "done") || text_after(line, "unsupported") ||
         text_after(line, "rejected") || text_after(line, "changed") || text_after(line, "error") ||
         text_after(line, "numerics");
}

/// Parses a report such as "key_tile.tail=3": a regime (branch of the kernel's tiling) and how
/// often it ran. The value is NaN if the count is invalid.
spec::Metric regime(const std::string& text) {
  const std::size_t name = std::min(text.find('='), text.size());
  spec::Metric metric = {text.substr(0, name), NAN, std::string(spec::regime_unit)};
  std::uint64_t times = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] =
      std::from_chars(text.data() + std::min(name + 1, text.size()), end, times);
  if (error == std::errc() && stop == end) metric.value = static_cast<double>(times);
  return metric;
}

/// Parses an answer with which the program rejects a call, such as "161002 text". An unknown status
/// code is kept unchanged.
spec::Rejected rejection(const std::string& text) {
  std::int32_t code = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  const bool stated = error == std::errc();
  if (!stated) return {spec::Status::param_invalid, text};
  return {static_cast<spec::Status>(code),
          without_blanks_in_front(text.substr(static_cast<std::size_t>(end - text.data())))};
}

std::string seconds_text(std::chrono::milliseconds time) {
  std::string text = std::to_string(time.count() / 1000);
  if (time.count() % 1000 != 0) text += "." + std::to_string(1000 + time.count() % 1000).substr(1);
  return text + " s";
}

}  // namespace

Conversation::Conversation(CommandLine command, CommandLimits limits)
    : command_(std::move(command)), limits_(limits) {
  if (std::string declared = declared_numerics(command_); !declared.empty() || command_.one_shot)
    numerics_ = std::move(declared);
}

const std::string& Conversation::numerics() {
  if (numerics_) return *numerics_;
  const std::filesystem::path question = folder_ / "numerics.h5";
  fixtures::Writer(question).close(fixtures::Durability::renamed);
  const std::string answer = ask(question);
  std::filesystem::remove(question);
  return numerics_.emplace(text_after(answer, "numerics").value_or(""));
}

std::string Conversation::greet() {
  const CommandLimits limits = limits_;
  limits_.answer = std::min<std::chrono::milliseconds>(limits.answer, greeting_time);
  is_greeting_ = true;
  try {
    numerics();
  } catch (const spec::ImplementationFault&) {  // the first case reports the failure again
  }
  is_greeting_ = false;
  limits_ = limits;
  return numerics_.value_or("");
}

std::vector<spec::Metric> Conversation::work_on(const std::filesystem::path& file) {
  const std::string whole = ask(file), answer = for_reports(whole);
  if (answer == "done") return {};
  if (text_after(whole, "done")) return regimes_of(whole);
  if (const auto reason = text_after(answer, "unsupported")) throw spec::Unsupported(*reason);
  if (const auto text = text_after(answer, "rejected")) throw rejection(*text);
  if (const auto input = text_after(answer, "changed"))
    throw spec::ImplementationFault(Kind::inputs_modified, "changed its input " + *input);
  if (const auto text = text_after(answer, "error")) throw std::runtime_error(*text);
  give_up(Kind::crash, "answered '" + answer + "' to a case; expected: " + std::string(answers));
}

std::vector<spec::Metric> Conversation::regimes_of(const std::string& answer) {
  if (answer.size() >= Process::longest_line)
    give_up(Kind::crash, "sent more than 64 KiB of regime reports: " + answer.substr(0, shown));
  std::vector<spec::Metric> regimes;
  std::istringstream words(answer.substr(answer.find(':') + 1));
  for (std::string word; words >> word;) {
    const auto refuse = [&](const std::string& why) {
      give_up(Kind::crash, "reported a regime '" + word.substr(0, shown) + "': " + why);
    };
    regimes.push_back(regime(word));
    if (const std::string fault = spec::fault_of_regime(regimes.back()); !fault.empty())
      refuse(fault);
    const auto is_same = [&](const spec::Metric& one) { return one.name == regimes.back().name; };
    if (std::ranges::count_if(regimes, is_same) > 1) refuse("it is reported twice");
    if (regimes.size() > most_regimes) refuse("one run may report at most 100");
  }
  return regimes;
}

std::string Conversation::ask(const std::filesystem::path& file) {
  return command_.one_shot ? ask_once(file) : ask_process(file);
}

std::string Conversation::ask_process(const std::filesystem::path& file) {
  const auto deadline = Clock::now() + limits_.answer;
  for (;;) {
    if (process_) require_quiet();
    if (!process_ || process_->ended(Clock::now())) start(file);
    std::string line;
    const bool is_said = process_->say(file.string());
    const Process::Heard heard = process_->hear(line, deadline);
    if (heard == Process::Heard::nothing)
      give_up(Kind::timeout, "gave no answer within " + seconds_text(limits_.answer));
    if (heard == Process::Heard::line) {
      if (!is_answer(line) && is_greeting_)
        throw std::invalid_argument(
            "answered '" + line.substr(0, shown) +
            "' to the query for numerics; accepted: " + std::string(answers));
      if (!is_answer(line))
        give_up(Kind::crash,
                "answered '" + line.substr(0, shown) + "'; expected: " + std::string(answers));
      has_answered_ = true;
      require_unchanged();
      return line;
    }
    if (heard == Process::Heard::no_line) give_up(Kind::crash, "wrote a line of more than 64 KiB");
    const auto end = process_->ended(deadline);
    if (!end) give_up(Kind::crash, "closed its standard output");
    if (!has_answered_ && (end->status == wrong_usage || (is_greeting_ && end->signal == 0)))
      throw std::invalid_argument("ended with " + end->text() +
                                  (end->orderly() ? std::string(without_answer) : "") +
                                  last_words());
    const bool is_read = is_said && process_->has_read_all();
    if (has_answered_ && !is_read && !end->orderly())
      give_up(Kind::crash, "ended with " + end->text() + " after its answer");
    if (!end->orderly() || !has_answered_)
      give_up(Kind::crash, "ended without an answer, with " + end->text());
    process_.reset();  // it ended after the previous case; the next one starts a fresh process
  }
}

void Conversation::settle() {
  if (!process_ || !has_answered_) return;
  if (!has_settled_) process_->rest(Clock::now() + settling_time);
  has_settled_ = true;
  require_quiet();
}

void Conversation::require_quiet() {
  const std::string when = has_answered_ ? "after its answer" : "before it received a case";
  std::string line;
  const Process::Heard heard = process_->hear(line, Clock::now(), Process::LongLine::cut);
  const std::string said = heard == Process::Heard::line ? line : process_->begun_line();
  if (heard == Process::Heard::line || !said.empty())
    give_up(Kind::crash, "wrote '" + said.substr(0, shown) + "' " + when);
  const auto end = process_->ended(Clock::now());
  if (end && !end->orderly() && has_answered_)
    give_up(Kind::crash, "ended with " + end->text() + " " + when);
}

/// Changes of the process state (limits, folder, umask) before the first answer are allowed,
/// because a start script may set limits.
void Conversation::require_unchanged() {
  const auto state = process_->state();
  if (!state) return;
  if (!state_) state_ = state;
  if (const std::string changes = difference(*state_, *state); !changes.empty())
    give_up(Kind::mode_changed, "left " + changes);
}

std::string Conversation::ask_once(const std::filesystem::path& file) {
  const auto deadline = Clock::now() + limits_.answer;
  start(file);
  process_->hang_up();
  std::string line, last;
  while (Clock::now() < deadline) {  // a program may write forever
    const Process::Heard heard = process_->hear(line, deadline, Process::LongLine::cut);
    if (heard != Process::Heard::line) break;
    last = line;
  }
  const auto end = process_->ended(deadline);
  if (!end) give_up(Kind::timeout, "did not end within " + seconds_text(limits_.answer));
  if (!end->orderly()) give_up(Kind::crash, "ended with " + end->text());
  process_.reset();
  return is_answer(last) ? last : "done";
}

void Conversation::start(const std::string& path) {
  process_.reset();
  has_answered_ = has_settled_ = false;
  state_.reset();
  std::error_code ignored;
  std::filesystem::remove(folder_ / "stderr", ignored);
  try {
    process_ = std::make_unique<Process>(words_for(command_, path), command_.environment,
                                         folder_ / "stderr");
  } catch (const std::system_error& error) {
    throw spec::ImplementationFault(Kind::crash, error.what());
  }
}

void Conversation::give_up(Kind kind, const std::string& what) {
  if (process_) process_->kill();
  process_.reset();
  throw spec::ImplementationFault(kind, "'" + command_.text + "' " + what + last_words());
}

std::string Conversation::last_words() const {
  std::ifstream file(folder_ / "stderr", std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? static_cast<std::streamoff>(file.tellg()) : 0;
  if (size <= 0) return {};
  file.seekg(std::max<std::streamoff>(0, size - last_words_size));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return "; the end of its stderr: " + text;
}

}  // namespace assay::adapters
