#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "assay/fixtures/encoding.hpp"

/// This file converts the messages between judge and worker to bytes and back.
namespace assay::adapters {

using fixtures::Nonsense;

/// Serializes values: appends them to a string of bytes.
class Packer : public fixtures::Encoder<Packer> {
 public:
  void bytes(const void* from, std::size_t size) {
    text_.append(static_cast<const char*>(from), size);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Deserializes values from a string of bytes, in the order in which they were packed. Errors:
/// Nonsense if the bytes end early or contain an invalid value.
class Unpacker : public fixtures::Decoder<Unpacker> {
 public:
  explicit Unpacker(std::string text) : text_(std::move(text)) {}

  /// Reads a value without consuming it.
  template <fixtures::Plain T>
  T peek() {
    const std::size_t before = at_;
    const T value = take<T>();
    at_ = before;
    return value;
  }
  /// Checks that all bytes were read. Errors: Nonsense if bytes are left after the last value.
  void finish() const {
    if (left() != 0) throw Nonsense(std::to_string(left()) + " bytes are left after the answer");
  }

  void bytes(void* to, std::size_t size) {
    if (size > left()) throw Nonsense("it ends early");
    text_.copy(static_cast<char*>(to), size, at_);
    at_ += size;
  }
  void allow(std::uint64_t count, std::size_t sent, std::size_t /*held*/) const {
    if (count > left() / sent)
      throw Nonsense(std::to_string(count) +
                     " values should follow, but the message ends too early");
  }

 private:
  std::size_t left() const { return text_.size() - at_; }

  std::string text_;
  std::size_t at_ = 0;
};

}  // namespace assay::adapters
