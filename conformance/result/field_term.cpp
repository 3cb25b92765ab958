#include "assay/conformance/result/field_term.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

namespace assay::conformance {
namespace {

using Numbers = std::vector<double>;

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
char small(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}
bool is_blank(char letter) { return letter == ' ' || letter == '\t' || letter == '\n'; }
/// Returns whether a name may contain this character. Names of regimes (branches of a kernel's
/// tiling) contain a dot: "key_tile.tail".
bool is_name(char letter) {
  return (small(letter) >= 'a' && small(letter) <= 'z') || letter == '_' || letter == '.' ||
         is_digit(letter);
}

/// Reads a search text from left to right.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  std::size_t place() const { return at_; }
  bool at_end() const { return at_ == text_.size(); }
  char next() const { return at_end() ? '\0' : text_[at_]; }
  std::string_view rest() const { return text_.substr(at_); }
  void skip(std::size_t letters) { at_ += letters; }
  void skip_blanks() {
    while (is_blank(next())) ++at_;
  }
  bool take(std::string_view word) {
    if (!rest().starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  template <class Is>
  std::string take_while(Is is) {
    const std::size_t begin = at_;
    while (!at_end() && is(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  std::string take_name() { return is_digit(next()) || next() == '.' ? "" : take_while(is_name); }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

/// Parses a decimal number, or "inf".
std::optional<double> number(std::string_view text) {
  if (text == "inf") return HUGE_VAL;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  // The text must end with a digit or a dot. Otherwise std::from_chars would accept words such as
  // "nan" and "infinity".
  const bool is_number = fault == std::errc() && end == text.data() + text.size() &&
                         (is_digit(text.back()) || text.back() == '.');
  return is_number ? std::optional(value) : std::nullopt;
}

std::string_view value_of(const CaseFields& fields, std::string_view name) {
  for (const auto& [own, value] : fields)
    if (own == name) return value;
  return {};
}

std::vector<std::string_view> items_of(std::string_view text) {
  std::vector<std::string_view> items;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    items.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return items;
}

/// For a length field such as seq_q, returns the value of the field with all lengths, such as
/// lengths_q. With packed sequences, seq_q has only the longest length. If all lengths are equal,
/// lengths_q is empty.
std::string_view list_of(const CaseFields& fields, std::string_view name) {
  const auto other = [&](std::string_view own, std::string_view wanted) -> std::string_view {
    if (!name.starts_with(own)) return {};
    const std::string_view end = name.substr(own.size());
    for (const auto& [known, value] : fields)
      if (known.starts_with(wanted) && std::string_view(known).substr(wanted.size()) == end)
        return value;
    return {};
  };
  const std::string_view own = value_of(fields, name);
  if (const std::string_view lengths = other("seq", "lengths"); !lengths.empty()) return lengths;
  return own.empty() ? other("lengths", "seq") : own;
}

/// Returns the numbers in a field, such as 7, 7, 3 for "2x7,3"; empty if the value is not a list of
/// numbers.
Numbers numbers_of(const CaseFields& fields, std::string_view name) {
  constexpr double most = 4096;
  const std::string_view list = list_of(fields, name);
  Numbers all;
  if (list.empty()) return all;
  for (const std::string_view item : items_of(list)) {
    const std::size_t sign = item.find('x');
    const auto times = sign == item.npos ? 1 : number(item.substr(0, sign));
    const auto one = number(sign == item.npos ? item : item.substr(sign + 1));
    if (!times || !one) return {};
    all.insert(all.end(), static_cast<std::size_t>(std::clamp(*times, 1.0, most)), *one);
  }
  return all;
}

/// Returns the kinds of strides in a field, such as columns and padded for "dq:columns,dk:padded".
std::vector<std::string_view> strides_of(const CaseFields& fields) {
  std::vector<std::string_view> all;
  for (const char* tensors : {"inputs", "outputs"})
    for (const std::string_view item : items_of(value_of(fields, tensors)))
      if (!item.empty()) all.push_back(item.substr(item.find(':') + 1));
  return all;
}

std::string in_small_letters(std::string text) {
  std::ranges::transform(text, text.begin(), small);
  return text;
}

/// A comparison in a search text, without its right side.
struct Head {
  bool is_negated;
  std::string field, divided_by;
  double divisor;
  std::string sign;
};

std::optional<Head> head_at(Cursor& cursor) {
  Head head{
      .is_negated = cursor.take("-"), .field = {}, .divided_by = {}, .divisor = 0, .sign = {}};
  head.field = cursor.take_name();
  if (head.field.empty()) return {};
  if (cursor.take("/") && (head.divided_by = cursor.take_name()).empty()) return {};
  cursor.skip_blanks();
  if (cursor.take("%")) {
    cursor.skip_blanks();
    const auto divisor = number(cursor.take_while(is_digit));
    if (!divisor || *divisor == 0) return {};
    head.divisor = *divisor;
    cursor.skip_blanks();
  }
  for (const char* sign : {"==", "!=", "<=", ">=", "=", "<", ">"})
    if (cursor.take(sign)) {
      head.sign = sign;
      cursor.skip_blanks();
      return head;
    }
  return {};
}

/// Parses values that are joined by | without spaces. Stops at a character that no value contains.
/// Returns an empty list if a quote is not closed.
std::vector<std::string> values_at(Cursor& cursor) {
  std::vector<std::string> values;
  do {
    if (!values.empty()) cursor.skip(1);
    if (cursor.take("\"")) {
      values.push_back(cursor.take_while([](char letter) { return letter != '"'; }));
      if (!cursor.take("\"")) return {};
    } else {
      values.push_back(cursor.take_while([](char letter) {
        return !is_blank(letter) &&
               std::string_view("&|!()\"").find(letter) == std::string_view::npos;
      }));
    }
    if (cursor.next() != '|') break;
    Cursor after(cursor.rest().substr(1));
    if (after.at_end() || is_blank(after.next()) || after.next() == '|' || head_at(after)) break;
  } while (true);
  for (std::string& value : values) value = in_small_letters(std::move(value));
  return values;
}

/// Splits a text such as "2*heads_kv" into a factor and a field name.
std::pair<double, std::string> multiple_of(const std::string& value) {
  const std::size_t digits = value.find_first_not_of("0123456789");
  if (digits == 0 || digits == value.npos || value[digits] != '*') return {1, value};
  return {number(value.substr(0, digits)).value_or(1), value.substr(digits + 1)};
}

/// Calls visit(a, b) for the numbers of two lists at each index. If a list has only one number,
/// this number is used at every index.
template <class Visit>
void each_pair(const Numbers& some, const Numbers& others, const Visit& visit) {
  if (some.empty() || others.empty()) return;
  const bool has_one = some.size() == 1 || others.size() == 1;
  const std::size_t places =
      has_one ? std::max(some.size(), others.size()) : std::min(some.size(), others.size());
  for (std::size_t k = 0; k < places; ++k)
    visit(some[some.size() == 1 ? 0 : k], others[others.size() == 1 ? 0 : k]);
}

bool is_field(const CaseFields& fields, std::string_view name) {
  return std::ranges::any_of(fields, [&](const auto& field) { return field.first == name; });
}

using Comparison = FieldTerm::Comparison;

bool compares_numbers(Comparison comparison, double value, double limit) {
  switch (comparison) {
    case Comparison::equal:
      return value == limit;
    case Comparison::less:
      return value < limit;
    case Comparison::at_most:
      return value <= limit;
    case Comparison::greater:
      return value > limit;
    case Comparison::at_least:
      return value >= limit;
  }
  return false;
}

/// Compares two fields. Two lists are equal if all their numbers are equal. Any other comparison is
/// true if it is true for at least one pair of numbers. Returns nothing if the value is not a field
/// name.
std::optional<bool> compares_fields(const FieldTerm& term, const CaseFields& fields,
                                    const std::string& wanted) {
  const auto [times, other] = multiple_of(wanted);
  if (!is_field(fields, other)) return {};
  std::size_t holding = 0, pairs = 0;
  each_pair(numbers_of(fields, term.field), numbers_of(fields, other),
            [&](double own, double limit) {
              ++pairs;
              if (compares_numbers(term.comparison, own, times * limit)) ++holding;
            });
  if (pairs == 0) return {};
  return term.comparison == Comparison::equal ? holding == pairs : holding > 0;
}

/// Returns the numbers to compare: the numbers of the field or, if the term says so, their
/// quotients or remainders.
Numbers compared_numbers(const FieldTerm& term, const CaseFields& fields) {
  Numbers all = numbers_of(fields, term.field);
  if (!term.divided_by.empty()) {
    Numbers quotients;
    each_pair(all, numbers_of(fields, term.divided_by),
              [&](double above, double below) { quotients.push_back(above / below); });
    all = std::move(quotients);
  }
  if (term.divisor > 0)
    for (double& one : all) one = std::fmod(one, term.divisor);
  return all;
}

bool compares_text(Comparison comparison, std::string_view text, std::optional<double> limit,
                   const std::string& wanted) {
  if (comparison == Comparison::equal && std::ranges::equal(text, wanted, {}, small, small))
    return true;
  const auto value = limit ? number(text) : std::nullopt;
  return value && compares_numbers(comparison, *value, *limit);
}

bool compares_with(const FieldTerm& term, const CaseFields& fields, const std::string& wanted) {
  const Comparison comparison = term.comparison;
  const auto limit = number(wanted);
  const auto is_within = [&](double value) {
    return limit && compares_numbers(comparison, value, *limit);
  };
  const auto any_number = [&](const auto& is) {
    return std::ranges::any_of(compared_numbers(term, fields), is);
  };
  if (term.divisor > 0 || !term.divided_by.empty()) return any_number(is_within);
  if (limit && term.field.starts_with("lengths") && any_number(is_within)) return true;
  if (!limit) {
    if (const auto decided = compares_fields(term, fields, wanted)) return *decided;
    const std::size_t dots = comparison == Comparison::equal ? wanted.find("..") : wanted.npos;
    if (dots != wanted.npos) {
      const auto first = number(wanted.substr(0, dots)), last = number(wanted.substr(dots + 2));
      if (first && last) return any_number([&](double x) { return *first <= x && x <= *last; });
    }
  }
  if (term.field != "strides")
    return compares_text(comparison, value_of(fields, term.field), limit, wanted);
  return std::ranges::any_of(strides_of(fields), [&](std::string_view text) {
    return compares_text(comparison, text, limit, wanted);
  });
}

/// A value that contains one of these characters must be quoted.
constexpr std::string_view signs_of_search = " \t\n&|!()";

}  // namespace

std::optional<FieldTerm::Read> FieldTerm::read(std::string_view text) {
  Cursor cursor(text);
  const auto head = head_at(cursor);
  if (!head) return {};
  const bool is_unequal = head->sign == "!=";
  FieldTerm term{.field = head->field,
                 .comparison = is_unequal || head->sign == "=="
                                   ? Comparison::equal
                                   : *spec::spellings_of<Comparison>.parse(head->sign),
                 .values = values_at(cursor),
                 .divided_by = head->divided_by,
                 .divisor = head->divisor,
                 .is_negated = head->is_negated != is_unequal};
  if (term.values.empty()) return {};
  return Read(std::move(term), cursor.place());
}

std::string FieldTerm::text() const {
  const bool is_unequal = is_negated && comparison == Comparison::equal;
  std::string text = (is_negated && !is_unequal ? "-" : "") + field;
  if (!divided_by.empty()) text += "/" + divided_by;
  if (divisor > 0) text += fmt::format("%{}", divisor);
  text += is_unequal ? "!=" : spec::to_string(comparison);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const bool is_quoted = values[k].find_first_of(signs_of_search) != std::string::npos;
    text += fmt::format("{0}{1}{2}{1}", k == 0 ? "" : "|", is_quoted ? "\"" : "", values[k]);
  }
  return text;
}

bool FieldTerm::can_be_read() const {
  const auto is_readable = [](const std::string& name) {
    return name.empty() || Cursor(name).take_name() == name;
  };
  return !field.empty() && is_readable(field) && is_readable(divided_by) &&
         std::ranges::none_of(
             values, [](const std::string& value) { return value.find('"') != std::string::npos; });
}

std::vector<std::string> FieldTerm::fields() const {
  if (divided_by.empty()) return {field};
  return {field, divided_by};
}

std::vector<std::string> FieldTerm::read_fields() const {
  std::vector<std::string> names = {field, divided_by};
  for (const std::string& value : values) names.push_back(multiple_of(value).second);
  if (field == "strides") names.insert(names.end(), {"inputs", "outputs"});
  // Packed sequences have a longest length and a list of lengths; list_of() reads both.
  for (std::size_t k = 0, count = names.size(); k < count; ++k)
    for (const auto& [own, other] : {std::pair("seq", "lengths"), std::pair("lengths", "seq")})
      if (names[k].starts_with(own))
        names.push_back(other + names[k].substr(std::string_view(own).size()));
  return names;
}

bool FieldTerm::holds(const CaseFields& fields) const {
  return is_negated != std::ranges::any_of(values, [&](const std::string& wanted) {
           return compares_with(*this, fields, wanted);
         });
}

std::string compared_name(std::string_view text) {
  Cursor cursor(text);
  const auto head = head_at(cursor);
  return head ? head->field : "";
}

}  // namespace assay::conformance
