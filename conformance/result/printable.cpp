#include "assay/conformance/result/printable.hpp"

#include <cstdint>
#include <utility>

#include "assay/conformance/result/regimes.hpp"

namespace assay::conformance {
namespace {

constexpr std::string_view digits = "0123456789abcdef";

/// A UTF-8 character, and how many bytes it has. The number is 0 if the character is invalid.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};

Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t k) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[k]));
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 && lead < 0xf8 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc0 || lead >= 0xf8 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0x7fu >> bytes);
  for (std::size_t k = 1; k < bytes; ++k) {
    if ((byte(k) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(k) & 0x3f);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, bytes};
}

/// Returns whether a character affects a terminal or the text around it, or is forbidden in XML
/// 1.0. For example, a line feed in a name would look like a new line of the report.
bool acts(std::uint32_t code) {
  const auto within = [code](std::uint32_t first, std::uint32_t last) {
    return code >= first && code <= last;
  };
  return code < 0x20 || within(0x7f, 0x9f) || code == 0x61c || within(0x200b, 0x200f) ||
         within(0x2028, 0x202e) || within(0x2060, 0x206f) || code == 0xfeff ||
         within(0xfdd0, 0xfdef) || within(0xe0000, 0xe007f) || (code & 0xfffe) == 0xfffe;
}

/// Returns the letter of the escape sequence (such as 'n' for a line feed); 0 if there is none.
char letter_of(std::uint32_t code) { return code == '\n' ? 'n' : code == '\t' ? 't' : '\0'; }

void append_escape(std::string& text, char letter, std::uint32_t code, int least) {
  std::string reversed;
  for (; code != 0 || std::ssize(reversed) < least; code >>= 4) reversed += digits[code & 15];
  text += '\\';
  text += letter;
  text.append(reversed.rbegin(), reversed.rend());
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto [code, bytes] = first_of(text);
    if (bytes == 0)
      append_escape(result, 'x', static_cast<unsigned char>(text.front()), 2);
    else if (!acts(code))
      result += text.substr(0, bytes);
    else if (const char letter = letter_of(code); letter != '\0')
      result += {'\\', letter};
    else if (code < 0x80)
      append_escape(result, 'x', code, 2);
    else
      append_escape(result, 'u', code, 4);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return result;
}

std::string excerpt(std::string_view text, std::size_t most) {
  std::string beginning = printable(text.substr(0, most + 1));
  if (beginning.size() <= most) return beginning;
  const std::string rest = " ... (" + std::to_string(text.size()) + " bytes)";
  std::size_t end = most - rest.size();
  while ((static_cast<unsigned char>(beginning[end]) & 0xc0) == 0x80) --end;
  return beginning.substr(0, end) + rest;
}

namespace {

void make_printable(Fact& fact) {
  for (FactValue& value : fact.values)
    if (auto* text = std::get_if<std::string>(&value)) *text = excerpt(*text);
  for (Fact& part : fact.parts) make_printable(part);
}

}  // namespace

CaseReport printable(CaseReport report) {
  const auto make = [](std::string& text) { text = printable(std::string_view(text)); };
  const auto shorten = [](std::string& text) { text = excerpt(text); };
  make(report.id);
  make(report.operator_name);
  make(report.command_line);
  make(report.note);
  make(report.violated_requirement);
  if (report.outputs_file) make(*report.outputs_file);
  for (std::string& requirement : report.accepted_requirements) make(requirement);
  for (auto* texts : {&report.fields, &report.digests})
    for (auto& [name, value] : *texts) make(name), make(value);
  shorten(report.implementation);
  shorten(report.verdict.evidence);
  make_printable(report.verdict.fact);
  const auto tell = [&](Finding& finding) {
    make(finding.tensor);
    shorten(finding.text);
    make_printable(finding.fact);
    if (finding.message) shorten(*finding.message);
    if (finding.again) make(finding.again->before), shorten(finding.again->trouble);
    if (!finding.pattern) return;
    for (AxisPlace& place : finding.pattern->places) make(place.axis);
    for (std::string& quantity : finding.pattern->deviation.quantities) make(quantity);
  };
  for (Finding& finding : report.findings) tell(finding);
  for (TensorReport& tensor : report.tensors) {
    make(tensor.name);
    make(tensor.controls);
    tell(tensor.worst_at);
    if (tensor.errors) shorten(tensor.errors->cells), shorten(tensor.errors->by_head);
    for (auto* numbers : {&tensor.terms, &tensor.yardsticks})
      for (auto& [name, value] : *numbers) make(name);
  }
  sort_out_regimes(report);
  constexpr std::size_t most_metrics = 100;
  if (const std::size_t count = report.metrics.size(); count > most_metrics) {
    report.metrics.resize(most_metrics);
    report.findings.push_back(
        {.rule = FindingRule::note, .fact = {FactKind::metrics_left_out, most_metrics, count}});
  }
  for (spec::Metric& metric : report.metrics) {
    shorten(metric.name);
    shorten(metric.unit);
  }
  return report;
}

std::string counted(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + ' ' + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace assay::conformance
