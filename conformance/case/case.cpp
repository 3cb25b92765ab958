#include "case/case.hpp"

#include <algorithm>

#include "assay/conformance/inputs/random.hpp"

namespace assay::conformance {
namespace detail {

std::vector<std::string_view> items_of(std::string_view text) {
  std::vector<std::string_view> items;
  if (text.empty()) return items;
  for (std::size_t comma = text.find(','); comma != text.npos; comma = text.find(',')) {
    items.push_back(text.substr(0, comma));
    text.remove_prefix(comma + 1);
  }
  items.push_back(text);
  return items;
}

}  // namespace detail

std::string list_text(const std::vector<std::int64_t>& values) {
  std::string text;
  for (auto run = values.begin(); run != values.end();) {
    const auto end = std::find_if(run, values.end(), [&](std::int64_t v) { return v != *run; });
    if (!text.empty()) text += ',';
    if (end - run > 1) text += detail::number_text(end - run) + 'x';
    text += detail::number_text(*run);
    run = end;
  }
  return text;
}

std::string replay_command(const std::string& command_line, const std::string& implementation) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./:,=@%";
  std::string word = implementation;
  if (implementation.find_first_not_of(plain) != std::string::npos) {
    word = "'";
    for (const char letter : implementation)
      word += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
    word += '\'';
  }
  return "assay run " + command_line + " --implementation=" + word;
}

std::string case_id(std::string_view command_line) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char letter : command_line)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string id;
  for (std::uint64_t bits = Random(hash, 0).bits(0); id.size() < 12; bits >>= 4)
    id += digits[bits & 0xf];
  return id;
}

std::string_view requirement_named_in(std::string_view way) { return way.substr(0, way.find(':')); }

void refuse(std::string_view field, const std::string& value, const std::string& accepted) {
  throw std::invalid_argument("--" + std::string(field) + "=" + value + ": accepted: " + accepted);
}

}  // namespace assay::conformance
