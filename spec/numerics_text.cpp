#include <algorithm>
#include <charconv>
#include <concepts>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/spec/numerics.hpp"
#include "assay/spec/numerics/limits.hpp"

namespace assay::spec {
namespace {

/// Splits a text at any of `separators`; drops empty words.
std::vector<std::string_view> words_of(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of(separators);
    if (end != 0) words.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
  return words;
}

/// Splits a text at commas; keeps empty items.
std::vector<std::string_view> items_of(std::string_view text) {
  std::vector<std::string_view> items;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find(',');
    items.push_back(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
  return items;
}

[[noreturn]] void refuse(std::string_view item, const std::string& wanted) {
  throw std::invalid_argument("numerics '" + std::string(item) + "': expected " + wanted);
}

template <class Member>
void read_member(std::string_view item, std::string_view text, Member& member) {
  if constexpr (std::same_as<Member, bool>) {
    if (text != "true" && text != "false") refuse(item, "true or false");
    member = text == "true";
  } else if constexpr (std::same_as<Member, double>) {
    const bool hex = text.starts_with("0x");
    const std::string_view digits = hex ? text.substr(2) : text;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), member,
                        hex ? std::chars_format::hex : std::chars_format::general);
    if (error != std::errc() || end != digits.data() + digits.size() || !is_share(member))
      refuse(item, share_choices);
  } else {
    const auto value = spellings_of<Member>.parse(text);
    if constexpr (std::same_as<Member, DType>) {
      if (!value || !is_rounded_to(*value)) refuse(item, rounded_to_choices);
    } else if (!value) {
      refuse(item, spellings_of<Member>.choices());
    }
    member = *value;
  }
}

/// Parses "field=value" and sets that field.
void read_field(std::string_view item, Numerics& numerics) {
  const std::size_t equals = item.find('=');
  const std::string_view name = item.substr(0, equals);
  bool known = false;
  std::string names;
  visit_fields(numerics, [&](std::string_view field, auto& member) {
    names += (names.empty() ? "" : ", ") + std::string(field);
    if (field != name) return;
    read_member(item, item.substr(equals + 1), member);
    known = true;
  });
  if (!known) refuse(item, "a preset, or one of the fields " + names);
}

/// Parses a text like "ascend_a2,order=fixed".
Numerics stated_numerics(std::string_view text, DType io, std::string_view operator_name) {
  Numerics numerics;
  bool first = true;
  std::vector<std::string_view> fields;
  for (const std::string_view item : items_of(text)) {
    if (item.empty()) refuse(text, "a preset or field=value, separated by commas");
    if (const std::size_t equals = item.find('='); equals != std::string_view::npos) {
      fields.push_back(item.substr(0, equals));
      if (std::count(fields.begin(), fields.end(), fields.back()) > 1)
        refuse(text, "field '" + std::string(fields.back()) + "' once");
      read_field(item, numerics);
    } else if (first) {
      numerics = numerics_preset(item, io, operator_name);
    } else {
      refuse(item, "field=value after the preset");
    }
    first = false;
  }
  return numerics;
}

}  // namespace

Numerics numerics_from_text(std::string_view text, DType io, std::string_view operator_name) {
  Numerics numerics;
  for (const std::string_view word : words_of(text, " \t;")) {
    const std::size_t colon = word.find(':');
    if (colon == std::string_view::npos) {
      numerics = stated_numerics(word, io, operator_name);
      continue;
    }
    const auto dtype = spellings_of<DType>.parse(word.substr(0, colon));
    if (!dtype)
      refuse(word, "one of the types " + spellings_of<DType>.choices() + " before the colon");
    // Parses the text for every type, not only for `io`, to report every error.
    const Numerics stated = stated_numerics(word.substr(colon + 1), *dtype, operator_name);
    if (*dtype == io) numerics = stated;
  }
  return numerics;
}

}  // namespace assay::spec
