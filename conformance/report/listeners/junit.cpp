#include <fmt/format.h>

#include "assay/conformance/report/listeners.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "assay/conformance/result/printable.hpp"

namespace assay::conformance {
namespace {

/// Escapes one line for an XML attribute or element.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string field(const CaseReport& report, std::string_view name) {
  for (const auto& [key, value] : report.fields)
    if (key == name) return value;
  return {};
}

/// Returns the text of the XML element about a case, one statement per line.
std::string details(const CaseReport& report, const std::string& program) {
  std::string text;
  const auto add = [&text](std::string_view line) { text += escaped(line) + "&#10;"; };
  add("replay: " + replay_command(report, program));
  if (const std::string reason = reason_of(report); !reason.empty()) add(reason);
  for (const Finding& finding : report.findings)
    add(fmt::format("{}{}{}: {}", spec::to_string(finding.rule), finding.tensor.empty() ? "" : " ",
                    finding.tensor, sentence_of(finding, report)));
  return text;
}

/// Returns the short message about a case: the text of its first finding.
std::string message_of(const CaseReport& report) {
  return report.findings.empty() ? std::string() : sentence_of(report.findings.front(), report);
}

std::string outcome(const CaseReport& report, std::string_view element,
                    const std::string& program) {
  return fmt::format("<{0} type=\"{1}\" message=\"{2}\">{3}</{0}>", element,
                     spec::to_string(report.verdict.value()), escaped(message_of(report)),
                     details(report, program));
}

}  // namespace

void JunitListener::on_case(const CaseReport& report, std::int64_t) {
  std::string inner;
  const ExitCode code = contribution(report.verdict);
  const std::string excuse = excuse_ ? excuse_(report) : std::string();
  if (!excuse.empty()) {
    ++skipped_;
    inner = fmt::format("<skipped message=\"{}\"/>", escaped(excuse));
  } else if (report.verdict == Verdict::not_applicable) {
    ++skipped_;
    inner = fmt::format("<skipped message=\"{}\"/>", escaped(message_of(report)));
  } else if (code == ExitCode::nonconformant) {
    ++failures_;
    inner = outcome(report, "failure", program_);
  } else if (code != ExitCode::conformant) {
    ++errors_;
    inner = outcome(report, "error", program_);
  }
  cases_ +=
      fmt::format("  <testcase classname=\"{}.{}\" name=\"{} {}\" time=\"{:.6f}\">{}</testcase>\n",
                  escaped(report.operator_name), escaped(field(report, "entry_point")),
                  escaped(report.id), escaped(report.command_line), report.seconds_total, inner);
}

void JunitListener::on_end(const Summary& summary) {
  sink_(
      fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                  " <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
                  "skipped=\"{}\" time=\"{:.3f}\">\n{} </testsuite>\n</testsuites>\n",
                  escaped(summary.implementation), summary.cases, failures_, errors_, skipped_,
                  summary.seconds, cases_));
}

}  // namespace assay::conformance
