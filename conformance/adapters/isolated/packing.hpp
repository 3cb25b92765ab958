#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/implementation.hpp"
#include "assay/spec/text_enum.hpp"

/// Serialization of the messages between judge and worker. Both ends are the same program, so
/// messages have no version number.
namespace assay::adapters {

template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// Thrown for invalid bytes in a message: the sender does not follow the protocol of a worker.
class Nonsense : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The last enumerator of an enumeration that has no table of names; specialised next to each such
/// enumeration.
template <class Enum>
inline constexpr auto last_of = nullptr;

/// Returns whether the number is a valid enumerator. Every status is valid, since a kernel may
/// return its own.
template <class Enum>
requires std::is_enum_v<Enum>
constexpr bool is_enumerator(Enum value) {
  if constexpr (std::is_same_v<Enum, spec::Status>)
    return true;
  else if constexpr (spec::Spelled<Enum>)
    return spec::to_string(value) != "?";
  else
    return value <= last_of<Enum>;
}

/// A struct of spec whose members visit_fields lists.
template <class T>
concept Fielded = std::is_class_v<T> && requires(T& value) {
  visit_fields(value, [](auto&&...) {});
};

/// Serializes values: appends them to a string of bytes.
class Packer {
 public:
  template <Plain T>
  void add(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void add(const std::string& value) {
    add(value.size());
    text_ += value;
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add(values.size());
    for (const T& value : values) add(value);
  }
  template <class T>
  void add(const std::optional<T>& value) {
    add(value.has_value());
    if (value) add(*value);
  }
  void add(const spec::Parameter& p) {
    add(p.present), add(p.dtype), add(p.format), add(p.shape), add(p.strides), add(p.offset);
  }
  void add(const spec::Metric& m) { add(m.name), add(m.value), add(m.unit); }
  template <Fielded T>
  void add(const T& value) {
    visit_fields(value, [&](const auto&, const auto& member, const auto&...) { add(member); });
  }
  template <class Op>
  void add(const spec::Call<Op>& call) {
    add(call.entry_point), add(call.product), add(call.parameters), add(call.attributes);
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Deserializes values from a string of bytes, in the order in which they were added. Errors:
/// Nonsense if the bytes end early or hold an invalid value.
class Unpacker {
 public:
  explicit Unpacker(std::string text) : text_(std::move(text)) {}

  template <class T>
  T take() {
    T value{};
    take(value);
    return value;
  }

  /// Reads a value without consuming it.
  template <Plain T>
  T peek() {
    const std::size_t before = at_;
    const T value = take<T>();
    at_ = before;
    return value;
  }

  template <Plain T>
  void take(T& value) {
    const char* const from = bytes(sizeof value);
    if constexpr (std::is_same_v<T, bool>) {
      if (static_cast<unsigned char>(*from) > 1) throw Nonsense("a truth value is neither 0 nor 1");
    }
    std::memcpy(&value, from, sizeof value);
    if constexpr (std::is_enum_v<T>) {
      if (!is_enumerator(value)) throw Nonsense("an enumerator has an undefined value");
    }
  }
  void take(std::string& value) {
    const auto size = take<std::size_t>();
    value.assign(bytes(size), size);
  }
  template <class T>
  void take(std::vector<T>& values) {
    values.clear();
    const auto count = take<std::size_t>();
    if (count > text_.size() - at_)  // each value takes at least one byte
      throw Nonsense("a list of " + std::to_string(count) + " values is announced but incomplete");
    for (std::size_t k = 0; k < count; ++k) take(values.emplace_back());
  }
  template <class T>
  void take(std::optional<T>& value) {
    value.reset();
    if (take<bool>()) take(value.emplace());
  }
  void take(spec::Parameter& p) {
    take(p.present), take(p.dtype), take(p.format), take(p.shape), take(p.strides), take(p.offset);
  }
  void take(spec::Metric& m) { take(m.name), take(m.value), take(m.unit); }
  template <Fielded T>
  void take(T& value) {
    visit_fields(value, [&](const auto&, auto& member, const auto&...) { take(member); });
  }
  template <class Op>
  void take(spec::Call<Op>& call) {
    take(call.entry_point), take(call.product), take(call.parameters), take(call.attributes);
  }
  /// Errors: Nonsense if bytes are left after the last value.
  void finish() const {
    if (at_ != text_.size())
      throw Nonsense(std::to_string(text_.size() - at_) + " bytes are left after the answer");
  }

 private:
  const char* bytes(std::size_t size) {
    if (size > text_.size() - at_) throw Nonsense("it ends early");
    at_ += size;
    return text_.data() + (at_ - size);
  }

  std::string text_;
  std::size_t at_ = 0;
};

}  // namespace assay::adapters
